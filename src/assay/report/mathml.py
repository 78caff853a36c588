# SPDX-License-Identifier: Apache-2.0
"""The formula of a measure as MathML, made from the text that is declared and executed, so that both say the same."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cache
from typing import Final
from xml.sax.saxutils import escape

GREEK: Final = {"beta": "β", "alpha": "α", "gamma": "γ"}
COMPARED: Final = {ast.Eq: "=", ast.NotEq: "≠", ast.Gt: "&gt;", ast.Lt: "&lt;", ast.GtE: "≥", ast.LtE: "≤"}
CLASSES: Final = "classes"
"""What an index runs over where nothing is said."""
TRUTH, SUM, PRODUCT, ATOM = 0, 1, 2, 3
"""How tightly a part holds together; a looser one inside a tighter one gets brackets."""
TIMES: Final = "·"
JOINED: Final[dict[type[ast.operator], tuple[str, int, int]]] = {
    ast.Mult: (TIMES, PRODUCT, PRODUCT), ast.Add: ("+", SUM, SUM), ast.Sub: ("−", SUM, PRODUCT),
}  # fmt: skip
"""Operators that stand between two parts: how tightly the whole holds, and how tightly what follows must."""


@cache
def mathml(formula: str) -> str:
    """A formula as an element `math`; nothing where the text is not a formula of ours.

    >>> mathml("TP / n")
    '<math><mfrac><mi>TP</mi><mi>n</mi></mfrac></math>'
    """
    try:
        tree = ast.parse(formula, mode="eval").body
        return f"<math>{_drawn(tree)[0]}</math>"
    except (SyntaxError, _UnknownError):  # a Record from elsewhere may bring any text, which is shown as it is
        return ""


class _UnknownError(Exception):
    """A part of Python that formulas do not use."""


def _drawn(node: ast.expr) -> tuple[str, int]:  # noqa: C901, PLR0911  one case for each kind of node
    """A part as MathML, and how tightly it holds together."""
    match node:
        case ast.Name(id=name):
            return _named(name), ATOM
        case ast.Constant(value=str(text)):
            return f"<mtext>{escape(text)}</mtext>", ATOM
        case ast.Constant(value=value):
            return f"<mn>{value!r}</mn>", ATOM
        case ast.BinOp():
            return _binary(node)
        case ast.UnaryOp(op=ast.USub(), operand=part):
            return f"<mo>−</mo>{_inside(part, PRODUCT)}", SUM
        case ast.Compare():
            return _compared(node)
        case ast.IfExp():
            return _either(node)
        case ast.Subscript(value=part, slice=index):
            place = "<mtext>next</mtext>" if isinstance(index, ast.Slice) else _whole(index)
            return f"<msub>{_inside(part, ATOM)}{place}</msub>", ATOM
        case ast.List(elts=elements):
            parts = (part.value if isinstance(part, ast.Starred) else part for part in elements)
            return "<mo>&#8746;</mo>".join(_drawn(part)[0] for part in parts), SUM
        case ast.Call(func=function, args=given, keywords=named):
            return _called(function.id if isinstance(function, ast.Name) else "", given, named)
    raise _UnknownError


def _binary(node: ast.BinOp) -> tuple[str, int]:
    left, right, kind = node.left, node.right, type(node.op)
    if kind is ast.Div:
        return f"<mfrac>{_whole(left)}{_whole(right)}</mfrac>", ATOM
    if kind is ast.Pow:
        return f"<msup>{_inside(left, ATOM)}{_whole(right)}</msup>", ATOM
    if kind not in JOINED:
        raise _UnknownError
    sign, tight, after = JOINED[kind]
    sign = "" if sign == TIMES and not isinstance(right, ast.Constant) else f"<mo>{sign}</mo>"
    return f"{_inside(left, tight)}{sign}{_inside(right, after)}", tight


def _compared(node: ast.Compare) -> tuple[str, int]:
    compared = zip(node.ops, node.comparators, strict=True)
    more = (f"<mo>{COMPARED[type(sign)]}</mo>{_inside(other, SUM)}" for sign, other in compared)
    return f"{_inside(node.left, SUM)}{''.join(more)}", TRUTH


def _either(node: ast.IfExp) -> tuple[str, int]:
    cases = (node.body, f"<mtext>if\u00a0</mtext>{_drawn(node.test)[0]}"), (node.orelse, "<mtext>else</mtext>")
    rows = (f"<mtr><mtd>{_drawn(value)[0]}</mtd><mtd>{when}</mtd></mtr>" for value, when in cases)
    return f"<mrow><mo>{{</mo><mtable>{''.join(rows)}</mtable></mrow>", ATOM


def _called(name: str, given: Sequence[ast.expr], named: Sequence[ast.keyword]) -> tuple[str, int]:
    """A function of something."""
    match name, given:
        case (("sum" | "max" | "min"), [over]):
            return _gathered(name, over)
        case "sqrt", [part, *_]:
            return f"<msqrt>{_drawn(part)[0]}</msqrt>", ATOM
        case "abs", [part, *_]:
            return _bracketed(_drawn(part)[0], "|", "|"), ATOM
        case "integral", [curve, low, high]:
            return f"<msubsup><mo>∫</mo>{_whole(low)}{_whole(high)}</msubsup>{_whole(curve)}", PRODUCT
        case "expected", [ast.Lambda(args=over, body=body), *_]:
            letters = "".join(_named(letter.arg) for letter in over.args)
            return _row(f"<msub><mi>E</mi>{letters}</msub>", _bracketed(_drawn(body)[0], "[", "]")), ATOM
    parts = [_drawn(part)[0] for part in given]
    parts += [f"{_named(part.arg or '')}<mo>=</mo>{_drawn(part.value)[0]}" for part in named]
    return _row(f"<mi>{escape(name.replace('_', ' '))}</mi>", _bracketed("<mo>,</mo>".join(parts))), ATOM


def _inside(node: ast.expr, at_least: int) -> str:
    """A part inside another, in brackets if it would fall apart there."""
    text, tight = _drawn(node)
    if tight == TRUTH:  # 1 where it holds and 0 where not, as Iverson writes it
        return _bracketed(text, "[", "]")
    return text if tight >= at_least else _bracketed(text)


def _bracketed(text: str, left: str = "(", right: str = ")") -> str:
    return f"<mrow><mo>{left}</mo>{text}<mo>{right}</mo></mrow>"


def _row(*parts: str) -> str:
    return f"<mrow>{''.join(parts)}</mrow>"


def _whole(node: ast.expr) -> str:
    """A part that stands alone, as one element."""
    text, tight = _drawn(node)
    return text if tight == ATOM else _inside(node, ATOM) if tight == TRUTH else _row(text)


def _named(name: str) -> str:
    first, _, rest = name.partition("_")
    shown = GREEK.get(first, first)
    return f"<msub><mi>{shown}</mi><mi>{escape(rest.replace('_', ' '))}</mi></msub>" if rest else f"<mi>{shown}</mi>"


def _gathered(name: str, over: ast.expr) -> tuple[str, int]:
    """A sum, or the largest or smallest of several; over all classes where nothing else is said."""
    sign = "<mo>∑</mo>" if name == "sum" else f"<mi>{name}</mi>"
    if not isinstance(over, ast.GeneratorExp):
        what = _inside(over, PRODUCT)
        indexed = f"<msub>{what}<mi>i</mi></msub>" if isinstance(over, ast.Name) else what
        return f"<munder>{sign}<mi>i</mi></munder>{indexed}", PRODUCT
    below = "<mo>,</mo>".join(map(_ranged, over.generators))
    below += "".join(f"<mo>,</mo>{_drawn(test)[0]}" for one in over.generators for test in one.ifs)
    return f"<munder>{sign}{_row(below)}</munder>{_inside(over.elt, PRODUCT)}", PRODUCT


def _ranged(one: ast.comprehension) -> str:
    """What runs over what; pairs of two lists run over both at once."""
    target, over = one.target, one.iter
    names: Sequence[ast.expr] = target.elts if isinstance(target, ast.Tuple) else [target]
    shown = "<mo>,</mo>".join(_drawn(name)[0] for name in names)
    if isinstance(over, ast.Name) and over.id == CLASSES:
        return shown
    zipped = isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "zip"
    lists = over.args if isinstance(over, ast.Call) and zipped else [over]
    return f"{shown}<mo>∈</mo>{'<mo>,</mo>'.join(_drawn(each)[0] for each in lists)}"
