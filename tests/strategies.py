# SPDX-License-Identifier: Apache-2.0
"""Tables, rows and labels the law tests draw from, and every measure with parameters that make it ready to call."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from math import inf, sqrt

from hypothesis import settings
from hypothesis import strategies as st

from assay.core.values import Undefined
from assay.measures import REGISTRY, Measure
from assay.tally.labels.confusion import Confusion
from assay.tally.labels.one_vs_rest import Binary, Multiclass

FEW = settings(max_examples=15)
SOME = settings(max_examples=min(60, settings.default.max_examples))
MANY = settings(max_examples=min(75, settings.default.max_examples))
HUGE = 2**40

# ---------------------------------------------------------------- counts and tables

small = st.integers(0, 6)
moderate = st.one_of(st.just(0), small, st.integers(0, 2**20))
counts = st.one_of(st.just(0), small, st.integers(0, 2000), st.integers(0, HUGE))
weights = st.one_of(
    st.just(Fraction(0)),
    st.builds(Fraction, st.integers(0, 50), st.integers(1, 12)),
    st.floats(2.0**-20, 1e6).map(Fraction),  # tinier ones have a test of their own, in test_scaling.py
)
amounts = st.one_of(counts, weights)


def square(k, cells=counts):
    return st.lists(st.lists(cells, min_size=k, max_size=k), min_size=k, max_size=k)


def matrices(cells=counts, least=1, most=8):
    """K x K counts with rows = truth; some classes are emptied on either side, so that margins vanish often."""

    @st.composite
    def drawn(draw):
        k = draw(st.integers(least, most))
        matrix = draw(square(k, draw(st.sampled_from([cells, small]))))
        never_true = draw(st.sets(st.integers(0, k - 1), max_size=k)) if draw(st.booleans()) else set()
        never_called = draw(st.sets(st.integers(0, k - 1), max_size=k)) if draw(st.booleans()) else set()
        return [
            [0 if i in never_true or j in never_called else c for j, c in enumerate(r)] for i, r in enumerate(matrix)
        ]

    return drawn()


def four(cells=counts):
    """tp, fp, fn, tn."""
    return st.tuples(cells, cells, cells, cells)


def binary(cells):
    tp, fp, fn, tn = cells
    return Binary.of(tp=tp, fp=fp, fn=fn, tn=tn)


def confusion_of(matrix, labels=None, *, weighted=False):
    names = tuple(range(len(matrix))) if labels is None else tuple(labels)
    cells = {(names[i], names[j]): c for i, row in enumerate(matrix) for j, c in enumerate(row)}
    return Confusion.from_cells(cells, labels=names, weighted=weighted)


def _first_of_its_kind(matrix):
    """Whether no other order of the classes writes the matrix with smaller numbers first."""
    k = len(matrix)
    return all([[matrix[i][j] for j in order] for i in order] >= matrix for order in permutations(range(k)))


# Every four-cell table from these counts, and every small matrix up to the order of its classes:
# all the ways in which a margin can vanish.
FOUR_CORNERS = tuple(product((0, 1, 2, 5), repeat=4))
CORNERS = tuple(
    matrix
    for k, each in ((1, (0, 1, 3)), (2, (0, 1, 3)), (3, (0, 1)))
    for cells in product(each, repeat=k * k)
    if _first_of_its_kind(matrix := [list(cells[i * k : (i + 1) * k]) for i in range(k)])
)

# ---------------------------------------------------------------- measures, ready to call


@dataclass(frozen=True)
class Case:
    """A measure and the parameters it is tried with, which may depend on the classes of the table."""

    measure: Measure
    given: tuple[tuple[str, object], ...] = ()

    def ready(self, k):
        given = {name: value(k) if callable(value) else value for name, value in self.given}
        return self.measure.with_(**given) if given else self.measure

    def __call__(self, table):
        return self.ready(table_size(table))(table)

    def __str__(self):
        shown = ", ".join(f"{name}={getattr(value, '__name__', value)}" for name, value in self.given)
        return f"{self.measure.name}({shown})" if shown else self.measure.name


def roots(k):
    return {i: sqrt(i + 2) for i in range(k)}


def first_only(k):
    return {i: sqrt(2) if i == 0 else 0 for i in range(k)}


_BETAS = [{"beta": 0}, {"beta": 0.5}, {"beta": 3}]
PARAMETERS = {
    "f_beta": _BETAS,
    "f_beta_macro": _BETAS,
    "f_beta_micro": _BETAS,
    "f_beta_weighted": _BETAS,
    "f_weighted": [
        {"w_precision": 1, "w_recall": 2},
        {"w_precision": 0.3, "w_recall": 0},
        {"w_precision": 0, "w_recall": 2},
    ],
    "expected_cost": [{"cost_fp": 1, "cost_fn": 2.5}, {"cost_fp": 0, "cost_fn": 1}],
    "average_class_accuracy": [{"weight": 0.3}, {"weight": 0}, {"weight": 1}],
    "balanced_accuracy_weighted": [{"weights": roots}, {"weights": first_only}],
    "skill_score": [{"reference": 0.25}, {"reference": 0}, {"reference": 1}],
    "relative_improvement_factor": [{"reference": 0.25}, {"reference": 0}, {"reference": 1}],
}
CASES = [Case(m, tuple(given.items())) for m in REGISTRY if m.from_labels for given in PARAMETERS.get(m.name, [{}])]
BINARY_CASES = [case for case in CASES if case.measure.takes is Binary]
MULTICLASS_CASES = [case for case in CASES if case.measure.takes is Multiclass]


def on_every_measure(check, cells, matrix):
    """Try a law on every measure with one table of each kind, and tell of all that break it."""
    broken = []
    for case in CASES:
        table = binary(cells) if case.measure.takes is Binary else Multiclass.of(matrix)
        if refuses(case.ready(table_size(table)), table):
            continue
        try:
            check(case, table)
        except AssertionError as error:
            broken.append(f"{case}: {error}")
    assert not broken, "\n".join(broken)


def on_every_corner(check, case):
    """Try a law on every small table a measure takes."""
    for table in corners(case):
        if not refuses(case.ready(table_size(table)), table):
            check(case, table)


def table_size(table):
    return getattr(table, "k", 2)


def corners(case):
    return map(binary, FOUR_CORNERS) if case.measure.takes is Binary else map(Multiclass.of, CORNERS)


def refuses(ready, table):
    """Whether a measure refuses a table: the weighted balanced accuracy does, given the class sizes (E-SCH-03)."""
    if ready.name != "balanced_accuracy_weighted" or table.k == 1:
        return False
    weights_, sizes = ([Fraction(x) for x in xs] for xs in (ready.given["weights"].values(), table.actual))
    defined = all(r for w, r in zip(weights_, sizes, strict=True) if w)
    return defined and all(w * sum(sizes) == r * sum(weights_) for w, r in zip(weights_, sizes, strict=True))


def plain(result):
    """A result as a float, or None where it is undefined."""
    return None if isinstance(result, Undefined) else result.value


def same(a, b, within=1e-15):
    """Equal as results: both undefined, both infinite, or apart by no more than rounding."""
    if a is None or b is None:
        return a is b
    if inf in (a, b) or -inf in (a, b):
        return a == b
    return abs(a - b) <= within * max(1.0, abs(a), abs(b))


# ---------------------------------------------------------------- rows

LABELS = ("a", "b", "c")
rows = st.lists(
    st.tuples(
        st.sampled_from(LABELS),
        st.sampled_from(LABELS),
        st.sampled_from(["north", "south", None]),
        st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0**-60, 1e15]),
    ),
    min_size=1,
    max_size=40,
).filter(lambda part: any(weight for *_, weight in part))
