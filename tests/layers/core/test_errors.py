# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import inspect
import re
from functools import cache

import pytest

import run
from assay.core import errors
from assay.core.errors import CODES, AssayError

KINDS = [c for c in vars(errors).values() if inspect.isclass(c) and issubclass(c, AssayError)]
NAMES = {kind.__name__ for kind in KINDS}
SOURCES = sorted((run.ROOT / "src").rglob("*.py"))


def _name(function):
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _texts(node):
    """The texts an argument can be: one, or either branch of a choice; None where it is passed on from elsewhere."""
    if isinstance(node, ast.IfExp):
        return [*_texts(node.body), *_texts(node.orelse)]
    return [node.value if isinstance(node, ast.Constant) else None]


@cache
def made():
    """Every place in the source where an error is made: file, line, the codes it can carry, its keywords."""
    calls = ((path, node) for path in SOURCES for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    return [
        (path.relative_to(run.ROOT).as_posix(), node.lineno, _texts(node.args[0]), node)
        for path, node in calls
        if isinstance(node, ast.Call) and _name(node.func) in NAMES and node.args
    ]


def literal():
    """The places with a code that is written out."""
    return [(path, line, code) for path, line, codes, _ in made() for code in codes if code is not None]


def texts_beside(path):
    tree = ast.parse((run.ROOT / path).read_text(encoding="utf-8"))
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_every_code_that_is_raised_is_declared():
    assert len(literal()) > 40
    assert not [f"{path}:{line}: {code}" for path, line, code in literal() if code not in CODES]


def test_a_code_that_is_passed_on_stands_beside_the_error_and_is_declared():
    for path, line, codes, _ in made():
        if None in codes:
            assert texts_beside(path) & set(CODES), f"{path}:{line}: no declared code in the file"


def test_every_declared_code_is_used_somewhere():
    used = {code for _, _, code in literal()}
    for path in SOURCES:
        if path.name != "errors.py":
            used |= texts_beside(path.relative_to(run.ROOT).as_posix()) & set(CODES)
    assert not set(CODES) - used


def test_every_error_tells_what_to_do():
    silent = [f"{path}:{line}" for path, line, _, node in made() if not {k.arg for k in node.keywords} & {"fix", None}]
    assert not silent


@pytest.mark.parametrize("code", CODES)
def test_a_code_is_lower_case_words_and_its_sentence_ends(code):
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code)
    assert CODES[code].endswith(".")
    assert CODES[code][0].isupper()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_error_has_an_exit_code_and_stands_in_the_tree(kind):
    assert kind.exit_code in (2, 4, 5)
    assert kind.__name__ in errors.__doc__


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("PlanError", 2),
        ("RowsError", 4),
        ("UnknownLabel", 4),
        ("MissingColumn", 4),
        ("OutOfRange", 4),
        ("UnpairedRows", 4),
        ("EngineError", 5),
        ("RecordError", 2),
        ("AssayError", 5),
    ],
)
def test_the_exit_code_says_whose_turn_it_is(kind, code):
    assert getattr(errors, kind).exit_code == code


def test_an_undeclared_code_is_a_fault_of_ours():
    with pytest.raises(KeyError, match="nonsense"):
        AssayError("nonsense", "something is wrong")


def test_an_error_shows_its_five_lines_in_order():
    error = AssayError("no-rows", "there is nothing", where="a.csv", found="0 rows", known="1 or more", fix="give rows")
    assert str(error) == (
        "error[E-NO-ROWS]: there is nothing\n"
        "  where  a.csv\n"
        "  found  0 rows\n"
        "  known  1 or more\n"
        "  fix    give rows\n"
        "  read   assay explain E-NO-ROWS"
    )


def test_lines_that_have_nothing_to_say_are_left_out():
    error = AssayError("no-rows", "there is nothing", fix="give rows")
    assert list(error.lines()) == ["fix", "read"]
    assert "where" not in str(error)


def test_machines_get_the_same_facts():
    error = errors.UnpairedRows("rows-unmatched", "3 and 4 rows", where="predicted", fix="give pairs")
    assert error.to_json() == {
        "error": "rows-unmatched",
        "kind": "UnpairedRows",
        "what": "3 and 4 rows",
        "where": "predicted",
        "fix": "give pairs",
        "read": "assay explain E-ROWS-UNMATCHED",
    }
    assert error.args == ("3 and 4 rows",)
