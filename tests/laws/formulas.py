# SPDX-License-Identifier: Apache-2.0
"""Reads the formula a measure prints, in exact arithmetic, and says where it has no value."""

from __future__ import annotations

import ast
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import inf

from assay.tally.labels.one_vs_rest import Binary

DIGITS = 60


class NoValueError(ArithmeticError):
    """A division by zero that the measure does not declare infinite."""


def formula_value(measure, table):
    """What the printed formula gives: a Fraction, infinity, or None where it divides by zero."""
    names = _names(measure, table)
    names["over"] = _division(infinite=measure.infinite)
    try:
        return eval(_code(measure.formula), {"__builtins__": {}, **names})  # noqa: S307  our own declarations
    except NoValueError:
        return None


class _Exact(ast.NodeTransformer):
    """Division as a call that may be infinite, decimals as fractions."""

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div):
            return node
        return ast.Call(func=ast.Name("over", ast.Load()), args=[node.left, node.right], keywords=[])

    def visit_Constant(self, node):
        if not isinstance(node.value, float):
            return node
        return ast.Call(func=ast.Name("Fraction", ast.Load()), args=[ast.Constant(str(node.value))], keywords=[])


@cache
def _code(formula):
    tree = ast.fix_missing_locations(_Exact().visit(ast.parse(formula, mode="eval")))
    return compile(tree, f"<{formula}>", "eval")


def _division(*, infinite):
    def over(a, b):
        if b == inf:
            return Fraction(0)
        if b != 0:
            return a if a == inf else Fraction(a) / Fraction(b)
        if infinite and a > 0:
            return inf
        raise NoValueError

    return over


class _Shares:
    """Pairs of true and predicted shares; without rows there are none to be had."""

    def __init__(self, actual, called, n):
        self._pairs = list(zip(actual, called, strict=True))
        self._n = n

    def __iter__(self):
        if not self._n:
            raise NoValueError
        return ((Fraction(r) / Fraction(self._n), Fraction(c) / Fraction(self._n)) for r, c in self._pairs)


def _names(measure, table):
    given = {name: Fraction(x) for name, x in measure.given.items() if isinstance(x, (int, float, Fraction))}
    common = {
        "sum": sum, "max": max, "min": min, "abs": abs, "zip": zip, "Fraction": Fraction,
        "ln": _ln, "sqrt": _sqrt, "exp": _exp,
    }  # fmt: skip
    if isinstance(table, Binary):
        cells = {"TP": table.tp, "FP": table.fp, "FN": table.fn, "TN": table.tn}
        return {**common, **given, **cells, "n": table.n}
    actual, called, hits = (list(x) for x in (table.actual, table.called, table.hits))
    n = sum(actual)
    weights = measure.given.get("weights")
    return {
        **common,
        **given,
        "n": n,
        "K": table.k,
        "classes": range(table.k),
        "R": actual,
        "C": called,
        "TP": hits,
        "FP": [c - h for c, h in zip(called, hits, strict=True)],
        "FN": [r - h for r, h in zip(actual, hits, strict=True)],
        "TN": [n - r - c + h for r, c, h in zip(actual, called, hits, strict=True)],
        "shares": _Shares(actual, called, n),
        "w": None if weights is None else [Fraction(weights[label]) for label in table.labels],
    }


def _decimal(x):
    return Decimal(Fraction(x).numerator) / Decimal(Fraction(x).denominator)


def _ln(x):
    if x == inf:
        return inf
    with localcontext(prec=DIGITS):
        return Fraction(_decimal(x).ln())


def _exp(x):
    with localcontext(prec=DIGITS):
        return Fraction(_decimal(x).exp())


def _sqrt(x):
    with localcontext(prec=DIGITS):
        return Fraction(_decimal(x).sqrt())
