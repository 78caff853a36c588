# SPDX-License-Identifier: Apache-2.0
"""Functions are short and simple: at most 60 lines below the docstring, at most 20 by McCabe's count."""

from __future__ import annotations

import ast
import inspect

import pytest

import assay
import run

LONGEST = 60
"""Lines of a body. Parameters and docstring are not counted: they are read as a table."""
MOST_BRANCHES = 20
MOST_PARAMETERS = 20
NOT_YET: set[str] = set()
"""Functions with more branches, by the count below, that wait for their own change; the list only shrinks."""
SOURCES = sorted((run.ROOT / "src").rglob("*.py"))


def functions():
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                yield f"{path.relative_to(run.ROOT / 'src' / 'assay').as_posix()}: {node.name}", node


def length(function):
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def branches(node):
    """The paths through a function: statements that branch, handlers, comprehensions, and, or, and conditions."""
    found = 1
    for one in ast.walk(node):
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


def test_no_function_is_long():
    long = {name: lines for name, node in functions() if (lines := length(node)) > LONGEST}
    assert not long


def test_no_function_has_many_branches():
    complex_ = {name: count for name, node in functions() if (count := branches(node)) > MOST_BRANCHES}
    assert set(complex_) <= NOT_YET, complex_


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
