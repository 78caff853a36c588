# SPDX-License-Identifier: Apache-2.0
"""Controls of the numbers themselves: balance of classes, baselines, strata, and an example with known answers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.assess.controls.control_declaration import Inquiry, Outcome, control, no_evidence, settle
from assay.core.text import counted, figure, listed, phrases, quoted
from assay.core.traits import HIGHER, LOWER
from assay.inference.intervals.proportion import wilson
from assay.inference.tests.mcnemar import test_outcomes
from assay.measures import Measure, parse
from assay.tally.contingency_tables import Outcomes
from assay.tally.data.feature_counts import numbers_by
from assay.tally.labels.confusion import Confusion
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from assay.tally.scores.score_tally import Scores
from assay.tasks.classification.settings import chosen

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.inference.findings import Finding
    from assay.tally.data.split_counts import SplitRows
    from assay.tally.scores.ranked_table import Ranked

TABLE_A1: Final = ((400, 150, 14), (23, 3800, 144), (13, 355, 65))
"""Table A.1 of the standard, predictions down; with the printed counts of Table A.2 for classes A, B and C."""
TABLE_A2: Final = {
    "true_positives": (400, 3800, 65),
    "true_negatives": (4364, 492, 4373),
    "false_positives": (164, 167, 368),
    "false_negatives": (36, 505, 158),
}
TABLE_A4: Final = {
    "average_accuracy": "90.61",
    "precision_macro": "60.57",
    "precision_weighted": "89.98",
    "precision_micro": "85.92",
    "recall_macro": "69.72",
    "recall_weighted": "85.92",
    "recall_micro": "85.92",
    "specificity_macro": "87.76",
    "specificity_weighted": "77.36",
    "specificity_micro": "92.96",
    "f1_macro": "63.90",
    "f1_weighted": "87.60",
    "f1_micro": "85.92",
}
"""Per cent, as Table A.4 prints them."""


@control("CHK-IMBALANCE")
def imbalance(q: Inquiry) -> Iterator[Outcome]:
    """Looks for classes of very different size."""
    if q.assessment is None:
        yield no_evidence("nothing was counted")
        return
    sizes = [float(n) for n in q.assessment.confusion.multiclass().actual]
    total, limit = sum(sizes), q.plan.checks.imbalance_ratio
    shares = [n / total for n in sizes]
    entropy = -sum(s * math.log(s) for s in shares if s) / math.log(len(sizes)) if len(sizes) > 1 else 0.0
    ratio = max(sizes) / min(sizes) if min(sizes) else None
    balanced = ratio is not None and ratio <= limit
    facts = {"ratio": ratio, "largest_share": max(shares), "entropy": entropy, "balanced": balanced}
    shown = "a class has no rows" if ratio is None else f"largest to smallest class {figure(ratio)}"
    said = f"{shown}: {'reasonably balanced' if balanced else 'unbalanced'} (at most {limit:g} counts as balanced)"
    yield Outcome("pass", said, facts=facts, thresholds={"imbalance_ratio": limit})
    primary = q.plan.metrics.primary
    if q.assessment.positive is None:
        return
    low, high = q.plan.checks.prevalence
    prevalence = shares[list(q.assessment.labels).index(q.assessment.positive)]
    outside = not low <= prevalence <= high
    wrong = outside and primary is not None and primary.casefold() in ("auroc", "auc")
    yield Outcome(
        "fail" if wrong else "pass" if primary else "no-evidence",
        f"prevalence {figure(prevalence)}, primary measure {quoted(primary) if primary else 'not stated'}",
        part="auroc",
        facts={"prevalence": prevalence, "primary": primary},
        thresholds={"prevalence": [low, high]},
    )


@control("CHK-BASELINE")
def baseline(q: Inquiry) -> Iterator[Outcome]:
    """Looks for values no better than a guess, and trivial guesses as the only comparison."""
    if q.assessment is None:
        yield no_evidence("nothing was counted")
        return
    wanted = ("no_information_rate", "stratified_chance_accuracy", "uniform_chance_accuracy")
    values = {name: q.assessment[name].value for name in wanted}
    shown = ", ".join(
        f"{name.replace('_', ' ')} {figure(value)}" for name, value in values.items() if value is not None
    )
    yield Outcome("pass", f"accuracy of trivial guesses: {shown}", facts=values)
    yield from _guesses(q, q.assessment)
    yield _beats(q.assessment, values["no_information_rate"])
    kinds = ("model", "human", "published")
    others = [name for name, one in q.plan.models.items() if name != q.model and one.kind in kinds]
    yield settle(
        (others, "pass", f"compared with {listed(others)}"),
        (True, "fail", "trivial guesses are the only comparison"),
        part="comparator",
        facts={"comparators": others},
    )


def _guesses(q: Inquiry, assessment: Assessment) -> Iterator[Outcome]:
    """Every planned measure beside that of trivial guesses."""
    if beside := guessed(q, assessment):
        first, sides = next(iter(beside.items()))
        values = [f"{name} {figure(side['value'])}" for name, side in sides.items() if side["value"] is not None]
        said = f"{first} of trivial guesses: {phrases(values)}"
        lost = {measure: [name for name in own if own[name]["beaten"] is False] for measure, own in beside.items()}
        lost = {measure: names for measure, names in lost.items() if names}  # not told apart, or on the wrong side
        lines = [f"{measure} ({', '.join(names)})" for measure, names in lost.items()]
        tail = f"; not told apart, or worse: {phrases(lines)}" if lost else "; every planned measure lies beyond them"
        lead = parse(q.plan.metrics.primary or first).title
        odd = (lead if lead in beside else first) in lost
        yield Outcome("suspect" if odd else "pass", said + tail, part="guesses", facts=beside)


def _beats(assessment: Assessment, largest: float | None) -> Outcome:
    """Accuracy against the share of the largest class."""
    accuracy = assessment["accuracy"]
    ends = {"accuracy": accuracy.value, "low": accuracy.low, "high": accuracy.high}
    facts: dict[str, object] = {**ends, "largest_class": largest}
    if accuracy.value is None or largest is None:
        return no_evidence("accuracy has no value here", part="beats", facts=facts)
    if assessment.confusion.weighted:
        return no_evidence("rows are weighted, so no row is a row", part="beats", facts=facts)
    finding = _against_majority(assessment)
    gap, interval = finding.effect.value, finding.effect.interval
    facts |= {"test": finding.test, "p": finding.p, "difference": gap if isinstance(gap, float) else None}
    facts |= {} if interval is None else {"difference_low": interval.low, "difference_high": interval.high}
    side = gap if finding.significant and isinstance(gap, (int, float)) else 0.0
    words = f"the share of the largest class, {figure(largest)} ({finding.title}: {finding.effect}, {finding.p_shown})"
    start = f"accuracy {figure(accuracy.value)} is"
    return settle(
        (side > 0, "pass", f"{start} above {words}"),
        (side < 0, "fail", f"{start} below {words}"),
        (True, "suspect", f"{start} not told apart from {words}"),
        part="beats",
        facts=facts,
    )


def _against_majority(model: Assessment) -> Finding:
    """McNemar's test of the model against always calling the largest class: both answer every row."""
    found = model.confusion.multiclass()
    sizes, hits = [int(n) for n in found.actual], [int(n) for n in found.hits]
    most = sizes.index(max(sizes))
    right = sum(hits)
    table = Outcomes(
        both=hits[most],
        only_a=right - hits[most],
        only_b=sizes[most] - hits[most],
        neither=sum(sizes) - right - sizes[most] + hits[most],
        models=("the model", "the largest class"),
    )
    return test_outcomes(table, model.settings.wanted.level)


@control("CHK-COVERAGE")
def coverage(q: Inquiry) -> Outcome:
    """Looks for declared strata with too few test rows."""
    strata = q.plan.use.strata or ()
    if not strata or q.assessment is None:
        return no_evidence("the plan declares no strata")
    small, sizes = [], {}
    for stratum in strata:
        rows, name = _rows_of(q, stratum.column, str(stratum.level)), f"{stratum.column} = {stratum.level}"
        hidden = rows < (q.plan.fairness.smallest_cell or 0)
        shown = f"fewer than {q.plan.fairness.smallest_cell} rows" if hidden else counted(rows, "row")
        low, high = wilson(rows // 2, rows, q.plan.intervals.level) if rows else (0.0, 1.0)
        told: dict[str, object] = {"rows": shown if hidden else rows, "wanted": stratum.minimum}
        sizes[name] = told if hidden else {**told, "half_width_of_a_share": (high - low) / 2}
        if rows < stratum.minimum:
            small.append(f"{name}: {shown} of {stratum.minimum}")
    said = f"too few rows in {'; '.join(small)}" if small else f"{counted(len(strata), 'stratum', 'strata')} covered"
    return Outcome("fail" if small else "pass", said, facts={"strata": sizes})


def _rows_of(q: Inquiry, column: str, level: str) -> int:
    """The test rows of a level; where small groups are pooled, only the file still tells them apart."""
    levels = {} if q.assessment is None else q.assessment.grouped.factors.get(column, {})
    rows = next((tally.rows for name, tally in levels.items() if str(name) == level), None)
    split = q.splits.get(q.split)
    if rows is not None or q.plan.fairness.smallest_cell is None or split is None or not split.has(column):
        return int(rows or 0)
    return sum(n for (name,), n in (split.table(column) or {}).items() if str(name) == level)


@control("CHK-OPP")
def operating_points(q: Inquiry) -> Outcome:
    """Looks for declared operating points without counts."""
    there = [float(one["threshold"]) for one in q.points if one.get("threshold") is not None]
    if not there:
        return no_evidence("there are no scores, so there is no operating point but the labels' own")
    if lacking := [point for point in q.plan.metrics.operating_points or () if point not in there]:
        return Outcome("fail", f"not counted at {listed(lacking)}", facts={"lacking": lacking})
    return Outcome("pass", f"counted at {listed(there)}", facts={"thresholds": there})


@control("CHK-THRESH")
def threshold(q: Inquiry) -> Outcome:
    """Looks for a decision threshold chosen on test data."""
    used = next((one for one in q.points if one.get("in_force")), None)
    if used is None:
        return no_evidence("no threshold of a score is in force")
    model, facts = q.plan.models.get(q.model), {"threshold": used.get("threshold"), "from": used.get("from")}
    if used.get("optimistic"):
        return Outcome("fail", "the threshold was chosen on the rows it is judged by", facts=facts)
    if model is not None and model.threshold_from is not None:
        said = f"chosen by {model.threshold_rule} on {quoted(model.threshold_from)}"
        return Outcome("pass", said, facts=facts, inputs=q.digests(model.threshold_from))
    if isinstance(used.get("threshold"), (int, float)) and (best := betrayed(q, float(used["threshold"]))):
        words = f"the threshold is the best one for {listed(best)} on the test data, but not where choices were made"
        return Outcome("suspect", words, facts={**facts, "best_on_test_only": best})
    if q.signed(q.plan.tuning.test_unused):
        return Outcome("declared", "stated: the test data were not used to choose it", facts=facts)
    return no_evidence("nobody says where the threshold comes from", facts=facts)


@control("CHK-KNOWN")
def known_answers(q: Inquiry) -> Outcome:
    """Looks for formulas that do not give the figures the standard prints."""
    del q
    wrong = _differing()
    said = f"differs from the printed example: {listed(wrong)}" if wrong else "Tables A.2 and A.4 come out as printed"
    return Outcome("fail" if wrong else "pass", said, facts={"differing": list(wrong)})


@cache
def _differing() -> tuple[str, ...]:
    confusion = Confusion.from_cells(
        {("ABC"[t], "ABC"[p]): n for p, row in enumerate(TABLE_A1) for t, n in enumerate(row)}, labels=("A", "B", "C")
    )
    table = confusion.multiclass()
    wrong = [
        f"{name} of {label}"
        for name, printed in TABLE_A2.items()
        for label, n, value in zip("ABC", printed, parse(name).values(table.one_vs_rest()), strict=True)
        if value != n
    ]
    values = {name: float(parse(name).values(table)) for name in TABLE_A4}
    return (*wrong, *(name for name, text in TABLE_A4.items() if f"{100 * values[name]:.2f}" != text))


DISTINCT: Final = 20
"""Different scores from which on it is not coincidence to hit the best threshold."""
CLOSE: Final = 1e-12


def betrayed(q: Inquiry, threshold: float) -> list[str]:
    """What a stated threshold is best for on the test data, but not on the data that choices were made on."""
    model, truth = q.plan.models.get(q.model), q.plan.columns.truth
    score = None if model is None else model.score
    tuned = q.plan.tuning.data
    known = None if tuned is None else q.splits.get(tuned)
    elsewhere = list(q.of_role("validation").values()) if known is None else [known]
    test = q.splits.get(q.split)
    positive = None if q.assessment is None else q.assessment.positive
    if not isinstance(score, str) or truth is None or test is None or positive is None or not elsewhere:
        return []
    if not all(one.has(score, truth) for one in (test, *elsewhere)):
        return []
    here, distinct = _best(test, score, truth, str(positive), threshold)
    if distinct < DISTINCT:
        return []
    there = {name for one in elsewhere for name in _best(one, score, truth, str(positive), threshold)[0]}
    return [name for name in here if name not in there]


def _best(split: SplitRows, score: str, truth: str, positive: str, threshold: float) -> tuple[list[str], int]:
    values, codes, labels = numbers_by(split, score, truth)
    if positive not in labels or len(labels) != 2:  # noqa: PLR2004
        return [], 0
    ranked = Scores.binary(values, codes == labels.index(positive)).one_vs_rest(1)
    return best_for(ranked, threshold), len(ranked.score)


def best_for(ranked: Ranked, threshold: float) -> list[str]:
    """Criteria that no other threshold of these scores serves better.

    >>> ranked = Scores.binary(np.array([0.1, 0.4, 0.6, 0.9]), np.array([False, False, True, True])).one_vs_rest(1)
    >>> best_for(ranked, 0.5)
    ['accuracy', "Youden's index"]
    """
    p, n = float(ranked.positives), float(ranked.negatives)
    if not p or not n:
        return []

    def values(tp: Any, fp: Any) -> dict[str, Any]:  # noqa: ANN401  a number or one for each threshold
        return {"accuracy": (tp + n - fp) / (p + n), "Youden's index": tp / p - fp / n}

    here, cells = ranked.at(threshold), (np.append(ranked.tp, 0), np.append(ranked.fp, 0))
    return [name for name, own in values(here.tp, here.fp).items() if own >= values(*cells)[name].max() - CLOSE]


GUESSES: Final = ("majority", "stratified", "uniform")


def guessed(q: Inquiry, model: Assessment) -> dict[str, dict[str, Any]]:
    """By planned measure: the value of each guess on these classes, and how far the model lies from it."""
    planned = [measure for measure in chosen(q.plan.metrics.measures) or () if not measure.from_scores]
    fitting = (Multiclass,) if model.positive is None else (Binary, Multiclass)
    tables = _guessed_tables(model)
    guesses: dict[str, dict[str, Any]] = {}
    for measure in planned or [parse("accuracy")]:
        if measure.better in (HIGHER, LOWER) and measure.takes in fitting:
            values = zip(GUESSES, np.ravel(values_on(measure, tables, model)), strict=True)
            guesses[measure.title] = {name: _gap_to(measure, model[measure.title], float(x)) for name, x in values}
    return guesses


def _guessed_tables(model: Assessment) -> Multiclass:
    """Rows by true and by called class, as each guess is expected to give them."""
    actual = np.array([float(n) for n in model.confusion.multiclass().actual])
    k = len(actual)
    calls = (np.eye(k)[int(actual.argmax())], actual / actual.sum(), np.full(k, 1 / k))
    cells = np.stack([np.outer(actual, share) for share in calls])
    hits = cells.diagonal(axis1=1, axis2=2)
    return Multiclass(hits=hits, actual=cells.sum(axis=2), called=cells.sum(axis=1), labels=model.labels)


def values_on(measure: Measure, tables: Multiclass, model: Assessment, label: str | None = None) -> Any:  # noqa: ANN401
    """The values of a measure on other tables of the classes of a model; of one class, the positive one by itself."""
    if measure.takes is not Binary:
        return measure.values(tables)
    at = [str(own) for own in model.labels].index(str(model.positive) if label is None else label)
    of = tables.one_vs_rest()
    return measure.values(Binary(tp=of.tp[..., at], fp=of.fp[..., at], fn=of.fn[..., at], tn=of.tn[..., at]))


def _gap_to(measure: Measure, estimate: Any, guess: float) -> dict[str, Any]:  # noqa: ANN401  an estimate
    """The model's value minus the guess, with the interval of the value: the guess is fixed by the classes."""
    if not np.isfinite(guess) or estimate.value is None:
        value = guess if np.isfinite(guess) else None
        return {"value": value, "difference": None, "low": None, "high": None, "beaten": None}
    ends = [None if one is None else float(one) - guess for one in (estimate.low, estimate.high)]
    better = ends[0] is not None and ends[0] > 0 if measure.better is HIGHER else ends[1] is not None and ends[1] < 0
    return {"value": guess, "difference": float(estimate.value) - guess, "low": ends[0], "high": ends[1],
            "beaten": bool(better)}  # fmt: skip
