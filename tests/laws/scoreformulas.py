# SPDX-License-Identifier: Apache-2.0
"""Reads the formula a measure of scores prints by brute force over rows, pairs and thresholds."""

from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction
from math import inf

import numpy as np
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import beta as beta_distribution

from assay.measures import parse
from tests.laws.formulas import NoValueError, _code, _division


def value_on_rows(measure, rows):
    """What the printed formula gives for (score, is positive) rows; None where it has no value."""
    positives, negatives = ([s for s, y in rows if bool(y) is which] for which in (True, False))
    try:
        return _run(measure, _two_classes(measure, positives, negatives))
    except NoValueError:
        return None


def value_on_classes(measure, matrix, truth):
    """The same for a matrix of scores and class numbers."""
    k, n = len(matrix[0]) if len(matrix) else 3, len(matrix)
    held = list(zip(matrix, truth, strict=True))
    pooled = [(row[i], y == i) for row, y in held for i in range(k)]

    def two(i, j):
        if i == "pooled":
            return pooled
        return [(row[i], y == i) for row, y in held if j is None or y in (i, j)]

    def of_two(base):
        def value(i, j=None):
            found = value_on_rows(base, two(i, j))
            if found is None:
                raise NoValueError
            return found

        return value

    top = [(max(row), max(row) == row[y] and list(row).index(max(row)) == y) for row, y in held]
    sides = ([s for s, right in top if right is which] for which in (True, False))
    given = {name: x for name, x in measure.given.items() if name != "undefined"}
    base = {} if measure.base is None else {measure.base: of_two(parse(measure.base).with_(**given))}
    names = {
        **base,
        "top": _two_classes(measure, *sides)["groups"],
        "directions": [(Fraction(row[y]), sum(Fraction(s) ** 2 for s in row)) for row, y in held],
        "pooled": "pooled",
        "classes": range(k),
        "K": k,
        "n": n,
        "size": [sum(y == i for y in truth) for i in range(k)],
        "own": [Fraction(row[y]) for row, y in held],
        "others": [Fraction(row[i]) for row, y in held for i in range(k) if i != y],
        "ranks": [
            (sum(s > row[y] for s in row), sum(s == row[y] for i, s in enumerate(row) if i != y)) for row, y in held
        ],
    }
    return _run(measure, names)


def _run(measure, names):
    given = {name: x for name, x in measure.given.items() if x is not None}
    defaults = {name: x for name, x in measure.parameters.items() if isinstance(x, (int, str))}
    common = {
        "sum": sum, "max": _largest, "min": min, "abs": abs, "zip": zip, "Fraction": Fraction,
        "ln": _ln, "sqrt": lambda x: Fraction(math.sqrt(x)), "over": _division(infinite=measure.infinite),
    }  # fmt: skip
    try:
        code = _code(measure.formula)
        return eval(code, {"__builtins__": {}, **common, **defaults, **given, **names})  # noqa: S307  our declarations
    except NoValueError:
        return None


def _largest(*some):
    found = list(some[0]) if len(some) == 1 else list(some)
    if not found:
        raise NoValueError
    return max(found)


def _ln(x):
    return -inf if x == 0 else math.log(x)


def _over(a, b):
    if not b:
        raise NoValueError
    return Fraction(a) / b


def _at_least(scores, threshold):
    return sum(s >= threshold for s in scores)


def _clip(measure, scores):
    clip = measure.given.get("clip")
    return [min(max(s, clip), 1 - clip) for s in scores] if clip else scores


def _two_classes(measure, positives, negatives):
    p, n = len(positives), len(negatives)
    thresholds = [inf, *sorted({*positives, *negatives}, reverse=True)]
    counts = [(_at_least(positives, t), _at_least(negatives, t)) for t in thresholds]

    def rates():
        return [(_over(fp, n), _over(tp, p)) for tp, fp in counts]

    def recall_precision():
        points = [(_over(tp, p), Fraction(tp, tp + fp)) for tp, fp in counts[1:]]
        return [(_over(0, p), points[0][1]), *points] if points else _over(0, p)

    def gains():
        return [(_over(tp + fp, p + n), _over(tp, p)) for tp, fp in counts]

    def expected(loss):
        if not p or not n:
            raise NoValueError
        share = p / (p + n)
        a, b = measure.given.get("alpha") or 1 + share, measure.given.get("beta") or 2 - share
        weight = beta_distribution(a, b)
        # The loss bends where two thresholds cost the same: c (FP - FP') = (1 - c) (TP - TP').
        steps = [(b[0] - a[0], b[1] - a[1]) for a in counts for b in counts]
        points = sorted({0.0, 1.0, share, *(tp / (tp + fp) for tp, fp in steps if tp > 0 and fp > 0)})
        parts = [quad(lambda c: float(loss(c)) * weight.pdf(c), lo, hi)[0] for lo, hi in zip(points, points[1:])]  # noqa: B905,RUF007
        return math.fsum(parts)

    def groups(bins, binning):
        edges = _edges(sorted(positives + negatives), bins, binning)
        found = []
        for i in range(len(edges) - 1):
            last = i == len(edges) - 2
            inside = [s for s in positives + negatives if edges[i] <= s < edges[i + 1] or (last and s == edges[-1])]
            hit = [s for s in positives if edges[i] <= s < edges[i + 1] or (last and s == edges[-1])]
            if inside:
                found.append((len(hit), sum(map(Fraction, inside)), len(inside)))
        return found

    lazily = _Lazily({"roc": rates, "pr": recall_precision, "gains": gains, "recalibrated": lambda: None})
    return {
        "X": [Fraction(s) for s in _clip(measure, positives)],
        "Y": [Fraction(s) for s in _clip(measure, negatives)],
        "P": p,
        "N": n,
        "n": p + n,
        "T": thresholds,
        "TP": lambda t: _at_least(positives, t),
        "FP": lambda t: _at_least(negatives, t),
        "counts": counts,
        "integral": _integral,
        "hull": _upper_hull,
        "crossing": _crossing,
        "between": _between,
        "at": _height,
        "expected": expected,
        "groups": groups,
        "logistic": _logistic,
        "scores": "scores",
        "prevalence": "prevalence",
        "brier": lambda what: _brier(what, positives, negatives),
        **lazily.of(measure.formula),
    }


class _Lazily:
    """Names that are computed only for a formula that uses them, because they may have no value."""

    def __init__(self, makers):
        self._makers = makers

    def of(self, formula):
        return {name: make() for name, make in self._makers.items() if re.search(rf"\b{name}\b", formula)}


def _integral(points, low, high):
    low, high, area = Fraction(low), Fraction(high), Fraction(0)
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        a, b = max(x0, low), min(x1, high)
        if a < b:
            ya, yb = (y0 + (y1 - y0) * (x - x0) / (x1 - x0) for x in (a, b))
            area += (b - a) * (ya + yb) / 2
    return area


def _upper_hull(points):
    hull = []
    for point in sorted(points):
        while len(hull) > 1 and _turn(hull[-2], hull[-1], point) >= 0:
            hull.pop()
        hull.append(point)
    return hull


def _turn(o, a, b):
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def _crossing(points):
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        before, after = x0 - (1 - y0), x1 - (1 - y1)
        if before <= 0 <= after:
            part = -before / (after - before) if after != before else 0
            return x0 + part * (x1 - x0)
    raise NoValueError


def _between(a, b):
    (tp0, fp0), (tp1, fp1) = a, b
    if tp1 == tp0:
        return 0.0
    slope = (fp1 - fp0) / (tp1 - tp0)
    return quad(
        lambda tp: tp / (tp + fp0 + slope * (tp - tp0)) if tp else 1 / (1 + slope) if not fp0 else 0.0, tp0, tp1
    )[0]


def _height(points, place):
    place = Fraction(place)
    found = [
        y0 + (y1 - y0) * (place - x0) / (x1 - x0)
        for (x0, y0), (x1, y1) in itertools.pairwise(points)
        if x0 <= place <= x1 and x0 < x1
    ]
    if not found:
        raise NoValueError
    return max(found)


def _edges(ordered, bins, binning):
    if binning == "width":
        return [i / bins for i in range(bins + 1)]
    n, edges, last = len(ordered), [0.0], None
    for s in sorted(set(ordered)):
        middle = Fraction(sum(x < s for x in ordered) * 2 + ordered.count(s), 2)
        place = min(int(middle * bins / n), bins - 1)
        if last is not None and place != last:
            edges.append(s)
        last = place
    return sorted({*edges, 1.0})


def _logistic(positives, negatives, slope=None):
    if not positives or not negatives:
        raise NoValueError
    q = np.array([float(s) for s in [*positives, *negatives]])
    y = np.array([1.0] * len(positives) + [0.0] * len(negatives))
    if (q <= 0).any() or (q >= 1).any() or (slope is None and len(set(q)) == 1):
        raise NoValueError
    x = np.log(q / (1 - q))
    if slope is None and (max(x[y == 0]) <= min(x[y == 1]) or max(x[y == 1]) <= min(x[y == 0])):
        raise NoValueError

    def loss(line):
        z = line[0] + (slope if slope is not None else line[1]) * x
        return float(np.sum(np.logaddexp(0, z) - y * z))

    start = [0.0] if slope is not None else [0.0, 1.0]
    found = minimize(loss, start, method="BFGS", options={"gtol": 1e-9}).x
    return (float(found[0]), slope if slope is not None else float(found[1]))


def _brier(what, positives, negatives):
    n = len(positives) + len(negatives)
    if not n:
        raise NoValueError
    if what == "prevalence":
        share = Fraction(len(positives), n)
        return share * (1 - share)
    if what == "scores":
        return (sum((1 - Fraction(s)) ** 2 for s in positives) + sum(Fraction(s) ** 2 for s in negatives)) / n
    # The best rising step function: pool neighbours while their shares of positives fall.
    blocks = []
    for s in sorted({*positives, *negatives}):
        blocks.append([positives.count(s), positives.count(s) + negatives.count(s)])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]:
            top = blocks.pop()
            blocks[-1] = [blocks[-1][0] + top[0], blocks[-1][1] + top[1]]
    return sum(Fraction(p * (m - p), m) for p, m in blocks) / n
