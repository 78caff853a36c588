# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import re
from collections import Counter
from xml.etree import ElementTree as ET

import pytest

from assay.measures import REGISTRY
from assay.report.mathml import GREEK, mathml

UNWRITTEN = {"zip", "sum", "sqrt", "abs", "classes", "integral", "expected"}
"""Names that become signs, or go without saying."""


def parts(formula):
    """Divisions, powers, roots and names of the declared text."""
    nodes = list(ast.walk(ast.parse(formula, mode="eval")))
    names = [one.id for one in nodes if isinstance(one, ast.Name)]
    return {
        "mfrac": sum(isinstance(one, ast.Div) for one in nodes),
        "msup": sum(isinstance(one, ast.Pow) for one in nodes),
        "msqrt": names.count("sqrt"),
        "numbers": Counter(str(one.value) for one in nodes if isinstance(one, ast.Constant) and one.value != "mass"),
        "names": {name.partition("_")[0] for name in names} - UNWRITTEN,
    }


@pytest.mark.parametrize("name", [one.name for one in REGISTRY])
def test_the_drawn_formula_has_every_division_power_root_number_and_name_of_the_executed_one(name):
    formula = REGISTRY.find(name).formula
    tree = ET.fromstring(mathml(formula))  # noqa: S314  our own text
    wanted, tags = parts(formula), Counter(one.tag for one in tree.iter())
    assert {tag: tags[tag] for tag in ("mfrac", "msup", "msqrt")} == {t: wanted[t] for t in ("mfrac", "msup", "msqrt")}
    numbers = Counter(one.text for one in tree.iter("mn"))
    slices = len(re.findall(r"\[1:\]", formula))
    assert numbers == wanted["numbers"] - Counter({"1": slices})
    shown = " ".join(one.text or "" for one in tree.iter() if one.tag in ("mi", "mtext"))
    assert [one for one in wanted["names"] if GREEK.get(one, one) not in shown] == []


@pytest.mark.parametrize(
    ("formula", "drawn"),
    [
        ("a - (b - c)", "<mi>a</mi><mo>−</mo><mrow><mo>(</mo><mi>b</mi><mo>−</mo><mi>c</mi><mo>)</mo></mrow>"),
        ("a*(b + c)", "<mi>a</mi><mrow><mo>(</mo><mi>b</mi><mo>+</mo><mi>c</mi><mo>)</mo></mrow>"),
        ("(a + b) / c", "<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac>"),
        ("(x > y)/2", "<mfrac><mrow><mo>[</mo><mi>x</mi><mo>&gt;</mo><mi>y</mi><mo>]</mo></mrow><mn>2</mn></mfrac>"),
        ("sum(TP)", "<munder><mo>∑</mo><mi>i</mi></munder><msub><mi>TP</mi><mi>i</mi></msub>"),
    ],
)
def test_what_falls_apart_gets_brackets(formula, drawn):
    assert mathml(formula) == f"<math>{drawn}</math>"


@pytest.mark.parametrize("text", ["", "no formula", "<b>x</b>", "a if", "[x async for x in y]", "lambda: 0"])
def test_what_is_no_formula_of_ours_is_not_drawn(text):
    assert mathml(text) == ""
