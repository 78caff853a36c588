# SPDX-License-Identifier: Apache-2.0
"""Statistics without an assessment: a declared test from counts or columns, p values, raters, rows before data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label, in_order
from assay.core.text import counted, listed, visible
from assay.inference.declare import Significance
from assay.inference.intervals.rater_agreement import coefficients, kappas
from assay.inference.multiplicity import FAILURES
from assay.rows.columns import Coded, coded
from assay.tally.contingency_tables import Calls, Channels, Outcomes, Patterns, Ratings, Strata, Successes, Table
from assay.tally.labels.confusion import Confusion
from assay.tally.labels.label_cells import Codes
from assay.tally.paired.different_rows import Apart
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit
from assay.tally.real_values import Blocks, FiveByTwo, Folds, Groups, Halved, Pairs, Sample

if TYPE_CHECKING:
    from assay.inference.findings import Finding

TWO: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What a test is made from: counts, values, or columns by role."""

    table: Any = None
    values: Any = None
    truth: Any = None
    predicted: Any = None
    score: Any = None
    positive: Any = None
    unit: Any = None
    weight: Any = None
    against: Any = None
    test_over_train: Any = None

    def labels(self, column: object) -> list[Label]:
        """A column of labels, none of them missing."""
        labels = _decode(coded(column, "labels"))
        if None in labels:
            raise RowsError("missing-label", "a row has no label", fix="leave such rows out of every column")
        return cast("list[Label]", labels)

    @property
    def calls(self) -> dict[str, list[Label]]:
        """The predictions of each model."""
        return {str(name): self.labels(column) for name, column in self.predicted.items()}

    @property
    def columns(self) -> dict[str, Any]:
        """Values by name; columns without names are A, B, C."""
        if isinstance(self.values, Mapping):
            return {str(name): column for name, column in self.values.items()}
        return {chr(ord("A") + place): column for place, column in enumerate(self.values)}

    def pair(self) -> Pairs:
        """Two columns of values."""
        (first, a), (second, b) = self.columns.items()
        return Pairs.of(a, b, models=(first, second))


def run_test(
    name: str,
    *,
    table: object = None,
    values: object = None,
    truth: object = None,
    predicted: object = None,
    score: object = None,
    positive: Label | None = None,
    unit: object = None,
    weight: object = None,
    **options: Any,  # noqa: ANN401  parameters of the test
) -> Finding | tuple[Finding, ...]:
    """Run one declared test on counts or columns; a test of every two models gives a finding for each.

    name: the name of a test, or another name of it; `assay.test("?")` lists them in its error
    table: counts: rows of a contingency table; [[both, only A], [only B, neither]] right for tests of two models
    values: columns of numbers by name, one a model or group; or two columns of labels for a contingency table
    truth, predicted, score: columns; predictions and scores by model, truth by model where rows differ
    positive, unit, weight: the positive class, what rows belong to, and what they weigh
    options: the parameters of the test, such as level, alternative, margin, measure, against, test_over_train

    >>> round(run_test("fisher_exact", table=[[8, 2], [1, 5]]).p, 4)
    0.035
    """
    from assay.inference.tests_catalogue import every_test, find_test

    if not isinstance(name, str):
        what = f"a test is named by text, not by a {type(name).__name__}"
        raise PlanError("test-unknown", what, fix='give "mcnemar_exact"')
    wanted = find_test(name)
    check_level(options.get("level", 0.95))
    own = {key: options.pop(key) for key in ("against", "test_over_train") if key in options}
    inputs = Inputs(
        table=table, values=values, truth=truth, predicted=predicted, score=score, positive=positive, unit=unit,
        weight=weight, **own,
    )  # fmt: skip
    if isinstance(options.get("measure"), str):
        from assay.measures import parse

        options["measure"] = parse(options["measure"])
    if positive is not None and "positive" in wanted.parameters:
        options["positive"] = positive
    _check_read(wanted, inputs, every_test())
    tally = _tally(wanted, inputs)
    return wanted.pairs(tally, **options) if wanted.pairwise else wanted(tally, **options)


test = run_test
"""The public name."""


def _check_read(wanted: Significance, inputs: Inputs, tests: Iterable[Significance]) -> None:
    """Refuse what a test would pass over, such as units where rows count as independent."""
    for role, kind in READ_BY.items():
        if getattr(inputs, role) is not None and wanted.takes is not kind:
            what = f"{wanted.name} does not read {role}="
            readers = listed(test.name for test in tests if test.takes is kind)
            raise PlanError("test-refused", what, where=role, known=f"read by {readers}", fix=f"leave {role}= out")


def _tally(wanted: Significance, inputs: Inputs) -> Any:  # noqa: ANN401  as the test takes it
    build, needs = KINDS[wanted.takes]
    try:
        return build(inputs)
    except FAILURES as error:
        given = [key for key in inputs.__dataclass_fields__ if getattr(inputs, key) is not None]
        what = f"{wanted.name} cannot be made from what is given"
        found = f"{', '.join(given) or 'nothing'}: {visible(error)}"
        fix = f"write assay.test({wanted.name!r}, {needs})"
        raise PlanError("test-needs", what, found=found, known=needs, fix=fix) from error


def _square(cells: Any, models: Sequence[str] = ("A", "B")) -> Outcomes:  # noqa: ANN401
    (both, only_a), (only_b, neither) = cells
    return Outcomes(both=both, only_a=only_a, only_b=only_b, neither=neither, models=(models[0], models[1]))


def _paired(inputs: Inputs) -> PairedLabels:
    truth, calls = inputs.labels(inputs.truth), inputs.calls
    cells = Counter(zip(truth, *calls.values(), strict=True))
    return PairedLabels.from_cells(cells, models=tuple(calls))


def _outcomes(inputs: Inputs) -> Outcomes:
    if inputs.table is not None:
        return _square(inputs.table)
    first, second = inputs.calls
    return _paired(inputs).outcomes(first, second)


def _crossed(inputs: Inputs) -> Table:
    if inputs.table is not None:
        return Table(rows=tuple(map(tuple, inputs.table)))
    down, across = (inputs.labels(column) for column in inputs.columns.values())
    cells = Counter(zip(down, across, strict=True))
    rows, columns = in_order(set(down)), in_order(set(across))
    return Table(rows=tuple(tuple(cells[a, b] for b in columns) for a in rows))


def _calls(inputs: Inputs) -> Calls:
    if inputs.table is not None:
        return Calls(rows=tuple(map(tuple, inputs.table)), labels=tuple(range(len(inputs.table))))
    (first, a), (second, b) = inputs.calls.items()
    names, cells = in_order({*a, *b}), Counter(zip(a, b, strict=True))
    rows = tuple(tuple(cells[x, y] for y in names) for x in names)
    return Calls(rows=rows, labels=tuple(names), models=(first, second))


def _patterns(inputs: Inputs) -> Patterns:
    if inputs.table is not None:
        counts = {tuple(map(bool, right)): n for right, n in inputs.table.items()}
        return Patterns(models=tuple("ABCDEFGHIJ"[: len(next(iter(counts)))]), counts=counts)
    return _paired(inputs).patterns()


def _scored(inputs: Inputs) -> PairedScores:
    truth = inputs.labels(inputs.truth)
    if inputs.positive not in truth:
        fix = "give positive=, one of the known labels"
        raise PlanError("unknown-positive", "no row is truly positive", known=listed(set(truth)), fix=fix)
    return PairedScores.of([label == inputs.positive for label in truth], dict(inputs.score))


def _rows(inputs: Inputs) -> PerUnit:
    truth, names = inputs.labels(inputs.truth), tuple(inputs.predicted or inputs.score)
    own = set(truth) | {label for column in (inputs.calls.values() if inputs.predicted else ()) for label in column}
    scores = {name: np.asarray(matrix, dtype=np.float64) for name, matrix in (inputs.score or {}).items()}
    return PerUnit.of(
        truth=truth, labels=tuple(in_order(own)), models=names,
        calls=list(inputs.calls.values()) if inputs.predicted else None, scores=scores or None,
        subject=None if inputs.unit is None else inputs.labels(inputs.unit),
        weight=None if inputs.weight is None else np.asarray(inputs.weight, dtype=np.float64),
    )  # fmt: skip


def _apart(inputs: Inputs) -> Apart:
    truths = {str(name): inputs.labels(column) for name, column in inputs.truth.items()}
    names, classes = tuple(truths), in_order({label for column in truths.values() for label in column})
    if inputs.score is not None:
        yes = {name: [label == inputs.positive for label in column] for name, column in truths.items()}
        scores = tuple(PairedScores.of(yes[name], {name: inputs.score[name]}) for name in names)
        return Apart(models=names, labels=tuple(classes), scores=scores)
    confusions = []
    for name in names:
        cells = Counter(zip(truths[name], inputs.calls[name], strict=True))
        confusions.append(Confusion.from_cells(cast("Any", cells), labels=classes, rows=len(truths[name])))
    return Apart(models=names, labels=tuple(classes), confusions=tuple(confusions))


def _five_by_two(inputs: Inputs) -> FiveByTwo:
    gaps = inputs.pair().difference.fractions()
    return FiveByTwo.of([gaps[2 * i : 2 * i + 2] for i in range(len(gaps) // 2)])


def _strata(inputs: Inputs) -> Strata:
    return Strata(tables={str(name): Table(rows=tuple(map(tuple, own))) for name, own in inputs.table.items()})


_LABELS: Final = 'truth=[...], predicted={"A": [...], "B": [...]}'
_PAIRS: Final = 'values={"A": [...], "B": [...]}'
KINDS: Final[Mapping[type, tuple[Callable[[Inputs], Any], str]]] = {
    Outcomes: (_outcomes, f"table=[[both, only_a], [only_b, neither]]  or  {_LABELS}"),
    Table: (_crossed, 'table=[[3, 1], [1, 3]]  or  values={"group": [...], "outcome": [...]}'),
    Calls: (_calls, 'table=K rows of K counts  or  predicted={"A": [...], "B": [...]}'),
    Patterns: (_patterns, f"table={{(True, False, True): 5, ...}}  or  {_LABELS}"),
    Strata: (_strata, 'table={"stratum": [[3, 1], [1, 3]], ...}'),
    Channels: (
        lambda inputs: Channels(by={str(name): _square(own) for name, own in inputs.table.items()}),
        'table={"channel": [[both, only_a], [only_b, neither]], ...}',
    ),
    Successes: (
        lambda inputs: Successes(successes=inputs.table[0], n=inputs.table[1], against=inputs.against),
        "table=(successes, n), against=0.5",
    ),
    Pairs: (Inputs.pair, _PAIRS),
    Blocks: (lambda inputs: Blocks.of(inputs.columns), 'values={"A": [...], "B": [...], "C": [...]}'),
    Groups: (lambda inputs: Groups.of(inputs.columns), _PAIRS),
    Folds: (lambda inputs: Folds.of(inputs.pair(), test_over_train=inputs.test_over_train),
            f"{_PAIRS}, test_over_train=0.25"),
    FiveByTwo: (_five_by_two, f"{_PAIRS} with ten values each, run by run"),
    Halved: (lambda inputs: Halved.of(inputs.pair()), f"{_PAIRS}: of all rows, then of both halves of each split"),
    Sample: (lambda inputs: Sample.of(inputs.values), "values=[...]"),
    PairedScores: (_scored, 'truth=[...], score={"A": [...], "B": [...]}, positive=LABEL'),
    PairedLabels: (_paired, _LABELS),
    PerUnit: (_rows, f"{_LABELS}, unit=[...] or weight=[...]"),
    Apart: (_apart, 'truth={"A": [...], "B": [...]}, predicted={"A": [...], "B": [...]}'),
}  # fmt: skip
"""By the tally that a test takes: how it is made, and how that is typed."""
READ_BY: Final[Mapping[str, type]] = {
    "unit": PerUnit, "weight": PerUnit, "against": Successes, "test_over_train": Folds,
}  # fmt: skip
"""What tests of one kind read and all others would pass over."""


def check_level(level: object) -> None:
    """Refuse a confidence level that is none."""
    real = isinstance(level, (int, float, np.floating)) and not isinstance(level, bool)
    if not real or not 0 < cast("float", level) < 1:
        what = f"level = {visible(repr(level)[:40])} is not a confidence level"
        raise PlanError("value-out-of-domain", what, where="level", known="between 0 and 1", fix="give 0.95")


def agreement(
    ratings: Mapping[str, object] | Sequence[object],
    *,
    order: Sequence[Label] | None = None,
    level: float = 0.95,
) -> dict[str, dict[str, object]]:
    """How far raters agree: Fleiss' kappa, Krippendorff's alpha, Gwet's AC, and Cohen's kappa of two.

    ratings: a column for each rater, by name or in a list; None where one said nothing
    order: the labels in their order, if they have one; then weighted coefficients are there as well
    level: the confidence level of the intervals

    >>> round(agreement([["a", "a", "b", "b"], ["a", "a", "b", "a"]])["cohen_kappa"]["value"], 3)
    0.5
    """
    check_level(level)
    try:
        given = ratings.values() if isinstance(ratings, Mapping) else list(ratings)
        columns = [coded(column, f"rater {place}") for place, column in enumerate(given, start=1)]
    except FAILURES as error:
        raise RowsError("column-type", "the ratings cannot be read", found=visible(error), fix=_RATINGS) from error
    sizes = {len(column) for column in columns}
    if len(columns) < TWO or len(sizes) != 1:
        found = f"{counted(len(columns), 'rater')}, {listed(sorted(sizes))} items"
        raise RowsError("rows-unmatched", "agreement needs two raters of the same items", found=found, fix=_RATINGS)
    cells = Counter(zip(*map(_decode, columns), strict=True))
    tally = _ratings(cells, order)
    pairs = {key: n for key, n in cells.items() if None not in key}
    two, ordered = len(columns) == TWO, order is not None
    first = kappas(pairs, tally.labels, level, ordered=ordered) if two and pairs else {}
    rest = coefficients(tally, level, ordered=ordered, raters=TWO if two else 3)
    return {f"cohen_kappa{tail}": kappa for tail, kappa in first.items()} | rest


def _decode(column: Coded) -> list[Label | None]:
    """The label of each row, None where it has none."""
    return list(Codes.of_column(column))


_RATINGS: Final = 'give a column for each rater: {"reader 1": ["a", "b"], "reader 2": ["a", "a"]}'


def _ratings(cells: Mapping[tuple[Label | None, ...], int], order: Sequence[Label] | None) -> Ratings:
    seen = {label for cell in cells for label in cell if label is not None}
    if order is not None and not (isinstance(order, (list, tuple)) and all(isinstance(x, (str, int)) for x in order)):
        raise PlanError("option-unknown", "order is a list of labels", where="order", fix='give ["low", "high"]')
    if order is not None and not seen <= set(order):
        strange = listed(sorted(seen - set(order), key=str))
        raise RowsError("label-not-declared", f"{strange} is not among the ordered labels", fix="list every label")
    return Ratings.from_cells(cells, labels=order)
