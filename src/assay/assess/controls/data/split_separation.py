# SPDX-License-Identifier: Apache-2.0
"""Controls that keep training, validation and test apart (samples, subjects, time), and results without what leaked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.assess.controls.control_declaration import Inquiry, Outcome, Verdict, control, no_evidence
from assay.core.text import counted, figure, listed
from assay.measures import parse
from assay.tally.census import Census
from assay.tally.data.feature_counts import described, values_of
from assay.tally.data.image_hashes import near_pictures
from assay.tally.data.near_duplicates import Naming, Near, near_numbers, near_texts
from assay.tally.labels.confusion import Confusion
from assay.tasks.classification.settings import chosen
from assay.tasks.classification.tally import Classified

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.core.labels import Label
    from assay.tally.data.split_counts import Shared, SplitRows

PAIRS: Final = (("test", "train"), ("validation", "train"), ("validation", "test"))


@control("CHK-OVERLAP")
def overlap(q: Inquiry) -> Iterator[Outcome]:
    """Looks for samples that two splits share, by id and by content, and near-duplicates."""
    for mine, other in PAIRS:
        part = f"{mine}/{other}"
        ours, theirs = q.of_role(mine), q.of_role(other)
        if not ours or not theirs:
            lacking = mine if not ours else other
            yield Outcome(part=part, verdict="no-evidence", says=f"the plan names no file of {lacking} data")
            continue
        outcomes = [_shared(q, a, ours[a], b, theirs[b]) for a in ours for b in theirs]
        verdict, said, facts = min(outcomes, key=lambda one: ("fail", "suspect", "no-evidence", "pass").index(one[0]))
        yield Outcome(part=part, verdict=verdict, says=said, facts=facts, inputs=q.digests(*ours, *theirs))


LIKE: Final = {"same_content": "coincide", "nearly_same": "but for case, spaces or late digits"}


def _both_have(mine: SplitRows, other: SplitRows, *columns: str) -> bool:
    return mine.has(*columns) and other.has(*columns)


def _shared(q: Inquiry, a: str, mine: SplitRows, b: str, other: SplitRows) -> tuple[Verdict, str, dict[str, Any]]:
    """Ids first, then contents, then near-duplicates."""
    column, features = q.plan.columns.id, q.plan.columns.features or []
    facts: dict[str, Any] = {"splits": [a, b]}
    looked, bad = [], []
    leaked: list[Shared] = []
    if column is not None and _both_have(mine, other, column):
        leaked.append(mine.shared(other, column))
        facts |= {"rows": mine.rows(), "shared_ids": leaked[-1].rows}
        looked.append("ids")
        bad += _in_both(leaked[-1].rows, a, b, "id")
    folded = False
    if features and _both_have(mine, other, *features):
        exactly, nearly = mine.shared(other, *features), mine.shared(other, *features, nearly=True)
        leaked += [exactly, nearly]
        facts |= {"rows": mine.rows(), "same_content": exactly.rows, "nearly_same": max(0, nearly.rows - exactly.rows)}
        looked.append("contents")
        coincide = bool(exactly.rows) and q.signed(q.plan.leakage.coincide)
        folded = bool(facts["nearly_same"]) or coincide
        if coincide:
            facts["distinct_contents"] = mine.distinct(*features)
        else:
            bad += _in_both(exactly.rows, a, b, "content")
    alike = near(q, mine, other) if not bad else {}
    facts |= {"near": alike} if alike else {}
    if not looked and not alike:
        return "no-evidence", "neither ids nor features are declared, so nothing can be compared", facts
    left = without(q, a, mine, leaked) if a in q.of_role("test") else {}
    facts |= {"without": left} if left else {}
    if bad:
        return "fail", "; ".join(bad) + told_without(left), facts
    if words := _nearly(alike, facts if folded else {}):
        return "suspect", f"of {a} nearly the same as rows of {b}: {', '.join(words)}{told_without(left)}", facts
    looked += [f"near {kind}" for kind in alike]
    only = "" if len(looked) > 1 else f" (only {looked[0]} were compared)"
    return "pass", f"no row of {a} is in {b} by {' or '.join(looked)}{only}", facts


def _nearly(alike: Mapping[str, Mapping[str, Any]], facts: Mapping[str, Any]) -> list[str]:
    """How many rows nearly equal one of the other split, by content and by kind of content."""
    words = [f"{counted(n, 'row')} {how}" for name, how in LIKE.items() if (n := facts.get(name))]
    return words + [f"{counted(one['rows'], 'row')} by their {kind}" for kind, one in alike.items() if one["rows"]]


def _in_both(n: int, a: str, b: str, by: str) -> list[str]:
    return [f"{counted(n, 'row')} of {a} {_are(n)} in {b} by {by}"] if n else []


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


@control("CHK-GROUP")
def groups(q: Inquiry) -> Outcome:
    """Looks for subjects that have samples in training and in test."""
    column = q.plan.columns.subject
    train, test = q.of_role("train"), q.of_role("test")
    if column is None:
        stated = q.signed(q.plan.leakage.distinct_subjects)
        said = (
            "stated: no two samples share a subject" if stated else "no subject column is declared, and nothing stated"
        )
        return Outcome("declared" if stated else "no-evidence", said)
    if not train or not test or not all(one.has(column) for one in (*train.values(), *test.values())):
        return no_evidence("training or test data with the subject column are not there")
    rows = subjects = 0
    left: dict[str, Any] = {}
    for name, mine in test.items():
        overlaps = [mine.shared(other, column) for other in train.values()]
        rows += sum(one.rows for one in overlaps)
        subjects += sum(one.distinct for one in overlaps)
        left |= {f"{model} on {name}": one for model, one in without(q, name, mine, overlaps).items()}
    facts = {"shared_subjects": subjects, "affected_rows": rows} | ({"without": left} if left else {})
    message = (
        f"{counted(subjects, 'subject')} with {counted(rows, 'test row')} {_are(subjects)} in training too"
        if subjects
        else "no subject of the test data is in the training data"
    )
    inputs = q.digests(*train, *test)
    contradicted = subjects and q.signed(q.plan.leakage.distinct_subjects)
    tail = "; the plan states the contrary" if contradicted else ""
    verdict: Verdict = "fail" if subjects else "pass"
    return Outcome(verdict, message + told_without(left) + tail, facts=facts, inputs=inputs)


@control("CHK-TIME")
def times(q: Inquiry) -> Outcome:
    """Looks for training samples that are later than test samples."""
    column = q.plan.columns.time
    train, test = q.of_role("train"), q.of_role("test")
    ordered = "out-of-time" in (q.plan.purpose.aims or ())
    if column is None or not train or not test:
        return no_evidence("no time column is declared, or training or test data are not there")
    every = (*train.values(), *test.values())
    if not all(one.has(column) for one in every):
        return no_evidence("a split has no time column")
    spans = {name: one.span(column) for name, one in {**train, **test}.items()}
    if None in spans.values():
        unread = [name for name, span in spans.items() if span is None]
        return no_evidence(f"not every value is a time in {listed(unread)}")
    last = max(span[1] for name, span in spans.items() if span and name in train)
    first = min(span[0] for name, span in spans.items() if span and name in test)
    facts = {"last_training": last, "first_test": first}
    inputs = q.digests(*train, *test)
    if last < first:
        return Outcome("pass", f"training ends {last}, test begins {first}", facts=facts, inputs=inputs)
    said = f"training goes on to {last}, test begins {first}"
    return Outcome("fail" if ordered else "suspect", said, facts=facts, inputs=inputs)


@control("CHK-TESTSET-SAME")
def same_test_set(q: Inquiry) -> Outcome:
    """Looks for models that met different test data."""
    if len(q.predictions) < 2:  # noqa: PLR2004
        return no_evidence("fewer than two models have predictions")
    columns = [one for one in (q.plan.columns.id, q.plan.columns.truth, q.plan.columns.weight) if one is not None]
    if q.ran_here or all(name in q.plan.models and q.plan.models[name].joined for name in q.predictions):
        columns = [str(q.plan.columns.id)]  # the truth is that of the split for all of them
    inputs = {name: one.sha256 for name, one in q.predictions.items()}
    if len(set(inputs.values())) == 1:
        return Outcome("pass", "all models have their predictions in one file of test rows", inputs=inputs)
    if not all(one.has(*columns) for one in q.predictions.values()):
        return no_evidence(f"not every file has {listed(columns)}", inputs=inputs)
    digests = {name: one.hashes(*columns).digest for name, one in q.predictions.items()}
    if len(set(digests.values())) > 1:
        return Outcome("fail", "the models did not meet the same test rows", facts=digests, inputs=inputs)
    if q.plan.columns.id is None:
        said = "the true labels are equally many in every file; without ids nobody can see that the rows are the same"
        return Outcome("declared", said, facts=digests, inputs=inputs)
    return Outcome("pass", "ids and true labels are the same for all models", facts=digests, inputs=inputs)


CONTINUOUS: Final = 100
"""Different values from which a number counts as measured; the codes of few values coincide all the time."""
BY_CHANCE: Final = 0.01
"""Pairs that may coincide by chance alone, expected, before the tolerance is made smaller."""
DENSITY: Final = 0.56
"""Chance that two draws of a normal distribution differ by less than a tolerance, per standard deviation of it."""


def near(q: Inquiry, mine: SplitRows, other: SplitRows) -> dict[str, dict[str, Any]]:
    """By kind of content, the rows of one split that nearly equal a row of the other; empty where nothing fits."""
    matches: dict[str, dict[str, Any]] = {}
    columns, limits = q.plan.columns, q.plan.checks
    both = [column for column in mine.columns if other.has(column)]
    naming = Naming.of(mine, columns.id) if columns.id in both else None
    texts = [column for column in columns.texts or () if column in both]
    if texts:
        near_rows = near_texts(mine, other, texts, limits.similarity, naming)
        matches["texts"] = {**near_rows.to_json(), "similarity": limits.similarity}
    features = [column for column in columns.features or () if column not in texts and column in both]
    reach = {} if texts else _reach(mine, other, features, limits.near)
    if reach:
        same = [column for column in features if column not in reach]
        numbers: Near = near_numbers(mine, other, reach, same, naming)
        matches["numbers"] = {**numbers.to_json(), "reach": reach}
    if columns.picture in both:
        folder = Path(q.loaded.folder)
        alike = near_pictures(
            mine, other, columns.picture, folder=folder, distance=limits.picture_distance, naming=naming
        )
        matches["pictures"] = {**alike.to_json(), "distance": limits.picture_distance}
    return matches


def _reach(mine: SplitRows, other: SplitRows, features: list[str], tolerance: float) -> dict[str, float]:
    """How far apart the numbers of each measured feature may lie; the less, the fewer features and the more rows."""
    spreads: dict[str, float] = {}
    for feature in features:
        if all(one.numeric and one.distinct >= CONTINUOUS for one in (described(s, feature) for s in (mine, other))):
            values = values_of(other, feature)
            spread = float(np.std(values[np.isfinite(values)]))
            if spread > 0 and np.isfinite(spread):
                spreads[feature] = spread
    if not spreads:
        return {}
    pairs = max(1, mine.rows()) * max(1, other.rows())
    chance = (BY_CHANCE / pairs) ** (1 / len(spreads)) / DENSITY
    return {feature: spread * min(tolerance, chance) for feature, spread in spreads.items()}


def without(q: Inquiry, split: str, rows: SplitRows, shared: Sequence[Shared]) -> dict[str, Any]:
    """By model: the measures of the plan on all rows and on those that no other data set has, or why there are none."""
    affected = [one for one in shared if one.rows]
    if not affected:
        return {}
    comparisons: dict[str, Any] = {}
    for (model, own), assessment in q.assessments.items():
        if own == split:
            comparisons[model] = _model(q, model, rows, affected, assessment)
    return comparisons


def told_without(found: Mapping[str, Any]) -> str:
    """The measure that leads, of every model, with all rows and without; nothing where there is no value."""
    told = list(_told(found))
    return f"; without them {', '.join(told)}" if told else ""


def _told(found: Mapping[str, Any]) -> Iterator[str]:
    for model, comparison in found.items():
        if isinstance(comparison, Mapping) and comparison["measures"]:
            name, pair = next(iter(comparison["measures"].items()))
            values = [figure(value) if value is not None else "undefined" for value in (pair["all"], pair["without"])]
            yield f"{name} of {model} is {values[1]} ({counted(comparison['rows'], 'row')}), not {values[0]}"


def _model(
    q: Inquiry, model: str, rows: SplitRows, affected: Sequence[Shared], assessment: Assessment
) -> dict[str, Any] | str:
    plan = q.plan
    truth, predicted = plan.columns.truth, plan.models[model].predicted
    if plan.columns.weight is not None:
        return "rows are weighted, and leaked ones are left out only where they count as one each"
    if truth is None or predicted is None or plan.models[model].predictions is not None:
        return "its labels do not stand beside the truth, so rows cannot be left out"
    cells = rows.table(truth, predicted, without=affected) if rows.has(truth, predicted) else None
    if cells is None:
        return "its labels do not stand beside the truth, so rows cannot be left out"
    known = {str(label): label for label in assessment.labels}
    counts: dict[tuple[Label, Label], int] = {}
    for cell, n in cells.items():
        if None not in cell and all(str(one) in known for one in cell):
            pair = known[str(cell[0])], known[str(cell[1])]
            counts[pair] = counts.get(pair, 0) + n
    left = sum(counts.values())
    if not left:
        return "no row is left"
    again = counted_again(assessment, Confusion.from_cells(counts, labels=assessment.labels))
    names = [one.title for one in chosen(plan.metrics.measures) or () if not one.from_scores]
    lead = plan.metrics.primary or (names[0] if names else "accuracy")
    names = list(dict.fromkeys([*([] if parse(lead).from_scores else [parse(lead).title]), *names]))
    values = {name: {"all": assessment[name].value, "without": again[name].value} for name in names}
    return {"rows": left, "measures": values}


def counted_again(model: Assessment, tally: Confusion) -> Assessment:
    """An assessment as it would be of other cells."""
    return type(model)(
        model.contract,
        Classified(confusion=tally, positive=model.positive),
        model.settings,
        census=Census(read=tally.rows, scored=tally.rows),
        found_in={"python": ""},
    )
