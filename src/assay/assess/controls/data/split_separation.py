# SPDX-License-Identifier: Apache-2.0
"""Controls that keep training, validation and test apart (samples, subjects, time), and results without what leaked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.assess.controls.control_declaration import WORST, Inquiry, Outcome, Verdict, control, no_evidence, settle
from assay.core.text import counted, figure, listed
from assay.measures import parse
from assay.tally.data.feature_counts import described, values_of
from assay.tally.data.image_hashes import near_pictures
from assay.tally.data.near_duplicates import Naming, Near, near_numbers, near_texts
from assay.tally.labels.confusion import Confusion
from assay.tasks.classification.estimates import View
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
            yield no_evidence(f"the plan names no file of {lacking} data", part=part)
            continue
        outcomes = [_shared(q, a, ours[a], b, theirs[b]) for a in ours for b in theirs]
        outcome = min(outcomes, key=lambda one: WORST.index(one.verdict))
        yield replace(outcome, part=part, inputs=q.digests(*ours, *theirs))


LIKE: Final = {"same_content": "coincide", "nearly_same": "but for case, spaces or late digits"}


def _shared(q: Inquiry, a: str, mine: SplitRows, b: str, other: SplitRows) -> Outcome:
    """Ids first, then contents, then near-duplicates."""
    leaked, facts, shared = _leaks(q, mine, other)
    facts["splits"] = [a, b]
    bad = [f"{counted(n, 'row')} of {a} {'is' if n == 1 else 'are'} in {b} by {by}" for by, n in shared.items()]
    alike = near(q, mine, other) if not bad else {}
    facts |= {"near": alike} if alike else {}
    left = without(q, a, mine, list(leaked.values())) if a in q.of_role("test") else {}
    facts |= {"without": left} if left else {}
    words = _nearly(alike, facts)
    looked = [f"{by}s" for by in leaked if by != "near"] + [f"near {kind}" for kind in alike]
    only = f" (only {looked[0]} were compared)" if len(looked) == 1 else ""
    nearly_same = f"of {a} nearly the same as rows of {b}: {', '.join(words)}"
    return settle(
        (not looked, "no-evidence", "neither ids nor features are declared, so nothing can be compared"),
        (bad, "fail", "; ".join(bad) + told_without(left)),
        (words, "suspect", nearly_same + told_without(left)),
        (True, "pass", f"no row of {a} is in {b} by {' or '.join(looked)}{only}"),
        facts=facts,
    )


def _leaks(q: Inquiry, mine: SplitRows, other: SplitRows) -> tuple[dict[str, Shared], dict[str, Any], dict[str, int]]:
    """What two splits share by id and by content, facts about it, and the rows that nothing excuses."""
    column, features = q.plan.columns.id, q.plan.columns.features or []
    facts: dict[str, Any] = {}
    leaked: dict[str, Shared] = {}
    if column is not None and mine.has(column) and other.has(column):
        leaked["id"] = mine.shared(other, column)
        facts |= {"rows": mine.rows(), "shared_ids": leaked["id"].rows}
    if features and mine.has(*features) and other.has(*features):
        leaked |= {"content": mine.shared(other, *features), "near": mine.shared(other, *features, nearly=True)}
        exactly, nearly = leaked["content"].rows, max(0, leaked["near"].rows - leaked["content"].rows)
        facts |= {"rows": mine.rows(), "same_content": exactly, "nearly_same": nearly}
        if exactly and q.signed(q.plan.leakage.coincide):
            facts["distinct_contents"] = mine.distinct(*features)
    excused = ("near", "content") if "distinct_contents" in facts else ("near",)
    return leaked, facts, {by: one.rows for by, one in leaked.items() if one.rows and by not in excused}


def _nearly(alike: Mapping[str, Mapping[str, Any]], facts: Mapping[str, Any]) -> list[str]:
    """How many rows nearly equal one of the other split, by content and by kind of content."""
    folded = facts if "distinct_contents" in facts or facts.get("nearly_same") else {}
    words = [f"{counted(n, 'row')} {how}" for name, how in LIKE.items() if (n := folded.get(name))]
    return words + [f"{counted(one['rows'], 'row')} by their {kind}" for kind, one in alike.items() if one["rows"]]


@control("CHK-GROUP")
def groups(q: Inquiry) -> Outcome:
    """Looks for subjects that have samples in training and in test."""
    column, stated = q.plan.columns.subject, q.signed(q.plan.leakage.distinct_subjects)
    train, test = q.of_role("train"), q.of_role("test")
    if column is None:
        return settle(
            (stated, "declared", "stated: no two samples share a subject"),
            (True, "no-evidence", "no subject column is declared, and nothing stated"),
        )
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
    tail = told_without(left) + ("; the plan states the contrary" if stated else "")
    are = f"{'is' if subjects == 1 else 'are'} in training too{tail}"
    return settle(
        (subjects, "fail", f"{counted(subjects, 'subject')} with {counted(rows, 'test row')} {are}"),
        (True, "pass", "no subject of the test data is in the training data"),
        facts=facts,
        inputs=q.digests(*train, *test),
    )


@control("CHK-TIME")
def times(q: Inquiry) -> Outcome:
    """Looks for training samples that are later than test samples."""
    column = q.plan.columns.time
    train, test = q.of_role("train"), q.of_role("test")
    if column is None or not train or not test:
        return no_evidence("no time column is declared, or training or test data are not there")
    if not all(one.has(column) for one in (*train.values(), *test.values())):
        return no_evidence("a split has no time column")
    spans = {name: one.span(column) for name, one in {**train, **test}.items()}
    if unread := [name for name, span in spans.items() if span is None]:
        return no_evidence(f"not every value is a time in {listed(unread)}")
    last = max(span[1] for name, span in spans.items() if span and name in train)
    first = min(span[0] for name, span in spans.items() if span and name in test)
    late: Verdict = "fail" if "out-of-time" in (q.plan.purpose.aims or ()) else "suspect"
    return settle(
        (last < first, "pass", f"training ends {last}, test begins {first}"),
        (True, late, f"training goes on to {last}, test begins {first}"),
        facts={"last_training": last, "first_test": first},
        inputs=q.digests(*train, *test),
    )


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
    models = {model: own for (model, where), own in q.assessments.items() if where == split and affected}
    return {model: _model(q, model, rows, affected, own) for model, own in models.items()}


def told_without(models: Mapping[str, Any]) -> str:
    """The measure that leads, of every model, with all rows and without; nothing where there is no value."""
    words = []
    for model, comparison in models.items():
        if isinstance(comparison, Mapping) and comparison["measures"]:
            name, pair = next(iter(comparison["measures"].items()))
            values = {key: figure(value) if value is not None else "undefined" for key, value in pair.items()}
            rows = counted(comparison["rows"], "row")
            words.append(f"{name} of {model} is {values['without']} ({rows}), not {values['all']}")
    return f"; without them {', '.join(words)}" if words else ""


def _model(
    q: Inquiry, model: str, rows: SplitRows, affected: Sequence[Shared], assessment: Assessment
) -> dict[str, Any] | str:
    plan = q.plan
    truth, predicted = plan.columns.truth, plan.models[model].predicted
    if plan.columns.weight is not None:
        return "rows are weighted, and leaked ones are left out only where they count as one each"
    beside = plan.models[model].predictions is None and None not in (truth, predicted) and rows.has(truth, predicted)
    cells = rows.table(str(truth), str(predicted), without=affected) if beside else None
    if cells is None:
        return "its labels do not stand beside the truth, so rows cannot be left out"
    known = {str(label): label for label in assessment.labels}
    counts: dict[tuple[Label, Label], int] = {}
    for cell, n in cells.items():
        if None not in cell and all(str(one) in known for one in cell):
            pair = known[str(cell[0])], known[str(cell[1])]
            counts[pair] = counts.get(pair, 0) + n
    if not counts:
        return "no row is left"
    tally = Confusion.from_cells(counts, labels=assessment.labels)
    again = View(Classified(confusion=tally, positive=assessment.positive), assessment.settings)
    names = [one.title for one in chosen(plan.metrics.measures) or () if not one.from_scores]
    lead = plan.metrics.primary or (names[0] if names else "accuracy")
    names = list(dict.fromkeys([*([] if parse(lead).from_scores else [parse(lead).title]), *names]))
    values = {name: {"all": assessment[name].value, "without": again[name].value} for name in names}
    return {"rows": tally.rows, "measures": values}
