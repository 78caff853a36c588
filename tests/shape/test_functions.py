# SPDX-License-Identifier: Apache-2.0
"""Functions are short and simple: at most 60 lines below the docstring, at most 20 by McCabe's count; names tell."""

from __future__ import annotations

import ast
import inspect
from collections import defaultdict
from functools import cache
from typing import NamedTuple

import pytest

import assay
import run

LONGEST = 60
"""Lines of a body. Parameters and docstring are not counted: they are read as a table."""
MOST_BRANCHES = 20
MOST_PARAMETERS = 20
NOT_YET: set[str] = set()
"""Functions with more branches, by the count below, that wait for their own change; the list only shrinks."""
WEAK = {"one", "found", "held", "told", "every"}
KEYWORDS = {
    "core/errors.py: __init__",
    "assess/conformity/ledger.py: _unreadable",
}
"""Where `found` is the keyword of an error: what was found in place of what was expected."""
PACKAGE = run.ROOT / "src" / "assay"


class Seen(NamedTuple):
    """What is seen of one function."""

    name: str
    lines: int
    branches: int
    weak: bool


def scopes(node):
    """The functions below a node, methods and inner ones too; they stand among statements."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            if isinstance(child, ast.FunctionDef):
                yield child
            yield from scopes(child)


@cache
def functions():
    """Every function of the package, looked at once."""
    seen = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for scope in scopes(ast.parse(path.read_text(encoding="utf-8"))):
            nodes, name = list(ast.walk(scope)), f"{path.relative_to(PACKAGE).as_posix()}: {scope.name}"
            seen.append(Seen(name, length(scope), branches(nodes), is_weak(scope, nodes)))
    assert len(seen) > 5000
    return seen


def length(function):
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def branches(nodes):
    """The paths through a function: statements that branch, handlers, comprehensions, and, or, and conditions."""
    found = 1
    for one in nodes:
        match one:
            case ast.BoolOp(values=values):
                found += len(values) - 1
            case ast.comprehension(ifs=ifs):
                found += 1 + len(ifs)
            case ast.Match(cases=cases):
                found += len(cases) - 1
            case ast.If() | ast.IfExp() | ast.For() | ast.While() | ast.ExceptHandler() | ast.Assert():
                found += 1
    return found


def is_weak(scope, nodes):
    """Whether a name that says nothing is bound here and stands in more than three lines."""
    lines = defaultdict(list)
    for node in nodes:
        if isinstance(node, (ast.Name, ast.arg)):
            lines[node.id if isinstance(node, ast.Name) else node.arg].append(node.lineno)
    wide = {name for name in WEAK & set(lines) if max(lines[name]) - min(lines[name]) >= 3}
    if not wide:
        return False
    given = {node.arg for node in ast.walk(scope.args) if isinstance(node, ast.arg)}
    stored = (node for node in own_nodes(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return bool(wide & (given | {node.id for node in stored}))


def own_nodes(scope):
    """The nodes of a function without those of comprehensions and functions within it."""
    inner = (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    waiting = list(scope.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, inner):
            waiting += ast.iter_child_nodes(node)


def test_no_function_is_long():
    assert not {seen.name: seen.lines for seen in functions() if seen.lines > LONGEST}


def test_no_function_has_many_branches():
    complex_ = {seen.name: seen.branches for seen in functions() if seen.branches > MOST_BRANCHES}
    assert set(complex_) <= NOT_YET, complex_


def test_a_local_name_carries_its_kind():
    """Words that name nothing may stand in scopes of three lines."""
    assert {seen.name for seen in functions() if seen.weak} == KEYWORDS


@pytest.mark.parametrize("function", [assay.assess, assay.compare, assay.compare_values], ids=lambda one: one.__name__)
def test_public_functions_take_few_parameters_and_describe_each(function):
    parameters = inspect.signature(function).parameters
    assert len(parameters) <= MOST_PARAMETERS
    described = {name.strip() for line in function.__doc__.splitlines() for name in line.partition(": ")[0].split(",")}
    assert set(parameters) <= described


@pytest.mark.parametrize(
    "settings", [assay.Reading, assay.Limits, assay.IntervalSettings, assay.ScoreSettings, assay.TestSettings]
)
def test_settings_describe_each_field(settings):
    described = {name.strip() for line in settings.__doc__.splitlines() for name in line.partition(": ")[0].split(",")}
    assert set(inspect.signature(settings).parameters) <= described
