# SPDX-License-Identifier: Apache-2.0
"""Controls of the data sets: what they hold, how alike they are, the population they stand for, channel effects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from assay.assess.controls.control_declaration import Inquiry, Outcome, Verdict, control, no_evidence, settle
from assay.assess.controls.data import association
from assay.assess.controls.data.association import Cells, associated
from assay.assess.plan.plan_answers import splits_of
from assay.core.text import counted, figure, listed, quoted
from assay.inference.tail_probabilities import shown
from assay.tally.data.feature_counts import described, numbers_by
from assay.tally.data.split_counts import SplitRows

MEASURED = 20
"""Different numbers from which a channel counts as measured, not as a code."""
CONFLICT = ("groups", "rows", "least_errors")


@control("CHK-MANIFEST")
def manifest(q: Inquiry) -> Iterator[Outcome]:
    """Looks for size, composition, missing values, time span and digests of every data set."""
    verdicts: list[Verdict] = []
    for role in ("train", "validation", "test"):
        names = list(splits_of(q.loaded, role))
        facts = {name: _described(q, q.splits[name]) for name in names if name in q.splits}
        lacking = [name for name in names if name not in q.splits]
        unsaid = [name for name in names if not q.signed(q.plan.data[name].source)]
        verdict: Verdict = "no-evidence" if not names or lacking or unsaid else "pass"
        if not names:
            said = f"the plan names no {role} data"
        elif lacking:
            said = f"no file was counted for {listed(lacking)}"
        else:
            sizes = ", ".join(f"{name}: {counted(facts[name]['rows'], 'row')}" for name in names)
            said = sizes + (f"; no source is stated for {listed(unsaid)}" if unsaid else "")
        verdicts += [verdict] if names else []
        yield Outcome(part=role, verdict=verdict, says=said, facts=facts, inputs=q.digests(*names))
    whole: Verdict = "pass" if verdicts and set(verdicts) == {"pass"} else "no-evidence"
    count = counted(len(q.splits), "data set")
    yield Outcome(whole, f"{count} counted and described" if verdicts else "the plan names no data")


def _described(q: Inquiry, split: SplitRows) -> dict[str, Any]:
    facts: dict[str, Any] = {"rows": split.rows(), "columns": len(split.columns), "sha256": split.sha256}
    facts["missing"] = {name: n for name, n in split.missing().items() if n}
    if split.has(q.plan.columns.truth):
        classes = split.table(str(q.plan.columns.truth))
        facts["classes"] = None if classes is None else {str(key[0]): n for key, n in classes.items()}
    if split.has(q.plan.columns.time):
        facts["span"] = split.span(str(q.plan.columns.time))
    return facts


@control("CHK-CLASS-DIST")
def class_shares(q: Inquiry) -> Iterator[Outcome]:
    """Looks for class shares that differ between splits."""
    truth = q.plan.columns.truth
    there = {name: one for name, one in q.splits.items() if one.has(truth)}
    if truth is None or len(there) < 2:  # noqa: PLR2004
        yield no_evidence("fewer than two splits with true labels were counted")
        return
    tables = {name: split.table(truth) or {} for name, split in there.items()}
    cells: dict[tuple[Any, ...], int] = {
        (name, label): n for name, table in tables.items() for (label,), n in table.items() if label is not None
    }
    labels = {label for _, label in cells}
    missing = sorted(f"{label} in {name}" for name in there for label in labels if (name, label) not in cells)
    relation, limits = associated(cells), q.plan.checks
    inputs = q.digests(*there)
    if relation is None:
        yield no_evidence("there is only one class", inputs=inputs)
        return
    gap, strength = relation.largest_share_gap, relation.cramers_v
    apart = relation.p < limits.alpha and (strength >= limits.association or gap >= limits.share_gap)
    shares = f"largest gap of a class share {figure(gap)}, V {figure(strength)}, p {shown(relation.p)}"
    yield settle(
        (missing, "fail", f"classes without rows: {', '.join(missing[:8])}"),
        (True, "fail" if apart else "pass", shares),
        facts={**relation.to_json(), "missing": missing, "tests": [relation.test]},
        thresholds={"alpha": limits.alpha, "cramers_v": limits.association, "share_gap": limits.share_gap},
        inputs=inputs,
    )
    yield from _features_of_splits(q)


def _features_of_splits(q: Inquiry) -> Iterator[Outcome]:
    """Features of the training data against those of the other splits."""
    train, others = q.of_role("train"), {**q.of_role("validation"), **q.of_role("test")}
    pairs = {f"{a} and {b}": (train[a], others[b]) for a in train for b in others}
    if pairs and q.plan.columns.features:
        yield association.alike(q, q.plan.columns.features, pairs)


@control("CHK-POPULATION")
def population(q: Inquiry) -> Iterator[Outcome]:
    """Looks for shares of classes, quantiles and levels of features that depart from the declared population."""
    shares, truth = q.plan.population.classes, q.plan.columns.truth
    splits = {**q.of_role("test"), **q.of_role("train")}
    parts = [] if (declared := association.as_declared(q, splits)) is None else [declared]
    if q.reference is not None:
        pairs = {f"{name} and reference": (one, q.reference) for name, one in splits.items()}
        parts.append(association.alike(q, q.plan.columns.features or [], pairs))
    yield from parts
    odd = "".join(f"; features {one.says}" for one in parts if one.verdict == "fail")
    there = {name: one for name, one in splits.items() if one.has(truth)}
    outcome = no_evidence("no shares of the classes are declared")
    if shares and truth is not None:
        facts = {name: association.compare_levels(split, truth, shares) for name, split in there.items()}
        outcome = replace(association.judge_alike(q, "", facts), inputs=q.digests(*there))
    elif q.signed(q.plan.population.absent):
        outcome = Outcome("declared", "stated: no reference is known")
    yield replace(outcome, verdict="fail" if odd else outcome.verdict, says=outcome.says + odd)


@control("CHK-LABEL-CONFLICT")
def label_conflicts(q: Inquiry) -> Outcome:
    """Looks for samples alike in every feature that carry different labels."""
    features, truth = q.plan.columns.features, q.plan.columns.truth
    there = {name: one for name, one in q.splits.items() if features and one.has(truth, *features)}
    if not features or truth is None or not there:
        return no_evidence("no features are declared, or no split has them")
    conflicts = {name: one.conflicts(features, truth) for name, one in there.items()}
    rows = sum(one.rows for one in conflicts.values())
    least = sum(one.least_errors for one in conflicts.values())
    odd = f"{counted(rows, 'row')} with equal features and different labels; no model can be right on"
    return settle(
        (rows, "suspect", f"{odd} {least:,} of them"),
        (True, "pass", "rows with equal features carry equal labels"),
        facts={name: {key: getattr(one, key) for key in CONFLICT} for name, one in conflicts.items()},
        inputs=q.digests(*there),
    )


@control("CHK-CHANNEL")
def channels(q: Inquiry) -> Iterator[Outcome]:
    """Looks for channels that tell the class."""
    truth, columns = q.plan.columns.truth, q.channels()
    facts: dict[str, Any] = {}
    tests, constant = set[str](), list[str]()
    for name, split in q.splits.items():
        for channel, column in columns.items():
            if truth is None or not split.has(truth, column):
                continue
            cells, relation = _channel(split, column, truth)
            if relation is None:
                constant.append(f"{channel} in {name}")
                continue
            tests.add(relation.test)
            guess = dict(zip(("guess_above_chance", "guess_low"), association.guessed_by(cells), strict=True))
            facts[f"{channel} in {name}"] = relation.to_json() | guess
    answered = [f for f in ("acquisition", "preprocessing", "person", "environment") if q.says(f"channels.{f}")]
    if not facts:
        if constant or (len(answered) == 4 and not columns):  # noqa: PLR2004
            yield Outcome("declared", "stated: every channel is constant", facts={"constant": constant})
        else:
            yield no_evidence("no channel column is declared, or no split has it")
        yield _reported(q, [])
        return
    limits = q.plan.checks

    def large(fact: dict[str, Any]) -> bool:
        guesses = fact["guess_above_chance"] >= limits.excess and fact["guess_low"] > 0
        return bool(fact["cramers_v"] >= limits.association or guesses)

    flagged = association.flag(facts, limits.alpha, large)
    parts = {name: (figure(facts[name]["cramers_v"]), figure(facts[name]["guess_above_chance"])) for name in flagged}
    bad = [f"{name} (V {strength}, guess {excess} above chance)" for name, (strength, excess) in parts.items()]
    yield settle(
        (bad, "fail", f"the class shows in {'; '.join(bad)}"),
        (True, "pass", f"{counted(len(facts), 'table')}, none tells the class"),
        facts={**facts, "tests": sorted(tests)},
        thresholds={"alpha": limits.alpha, "cramers_v": limits.association, "excess": limits.excess},
        inputs=q.digests(*q.splits),
    )
    yield _reported(q, bad)


def _channel(split: SplitRows, column: str, truth: str) -> tuple[Cells, association.Association | None]:
    """The table of a channel and the class with its association; a measured channel is cut into parts for the guess."""
    short = described(split, column)
    if short.numeric and short.distinct > MEASURED:
        values, codes, labels = numbers_by(split, column, truth)
        return association.quantile_cells(values, codes), association.associated_numbers(values, codes, len(labels))
    cells = {key: n for key, n in (split.table(column, truth) or {}).items() if None not in key}
    return cells, associated(cells) if cells else None


def _reported(q: Inquiry, bad: list[str]) -> Outcome:
    """Whether effects that were found are stated, and none is denied."""
    stated = str(q.plan.channels.known_effects or "")
    denied = stated.strip().casefold().startswith(("none", "no "))
    return settle(
        (not q.says("channels.known_effects"), "no-evidence", "the plan does not speak of channel effects"),
        (bad and denied, "fail", f"the plan states {quoted(stated)}; found: {'; '.join(bad)}"),
        (True, "pass", f"reported: {quoted(stated)}"),
        part="reported",
    )
