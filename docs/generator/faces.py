# SPDX-License-Identifier: Apache-2.0
"""The two faces other programs meet: the command line and the Record."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import click

from assay.app.cli import cli
from assay.assess.assess import assess
from assay.assess.record.record import schema, sealed
from assay.core.text import twelve_digits
from generator.markdown import block, plain, sentences, table

WIDTH = 100
"""Columns the help is laid out for."""

TYPES = ("count", "label", "real", "sha256")
MEANINGS = {
    "scores.kind": "What was stated of the scores; `any` and `logit` are only ranked.",
    "scores.thresholds": "Thresholds that were stated or chosen; the first decides where predictions were not given.",
    "scores.thresholds[].value": "A row is called positive when its score is at or above it.",
    "scores.thresholds[].from": "`stated`, or the rule that chose it and the rows it was chosen on.",
    "scores.thresholds[].optimistic": "Whether it was chosen on the rows it is judged on.",
    "scores.columns": "How many columns of scores there are: one, or one for each class.",
    "scores.form": "Whether scores were counted one by one or in bins that keep their order.",
    "scores.distinct": "Distinct scores, or occupied bins.",
    "scores.tied_pairs": "Share of pairs of a positive and a negative with the same score; `null` for several classes.",
    "scores.rescaled": "Rows whose probabilities were divided by their sum.",
    "scores.rescaled.rows": "How many they are.",
    "scores.rescaled.farthest": "How far from 1 their probabilities added up at most.",
    "scores.called.tp": "Positives that were called so.",
    "scores.called.fp": "Negatives that were called positive.",
    "scores.called.fn": "Positives that were not called so.",
    "scores.called.tn": "Negatives that were not called positive.",
    "scores.top_label.binning": "How the bins were cut.",
    "scores.top_label.bins": "The bins.",
    "tallies.scores.rescaled": "As in `scores`.",
    "tallies.scores.by_row.kind": "What it is.",
    "tallies.scores.by_row.version": "Version of the tally's form.",
    "tallies.scores.by_row.top": "The largest probability of each row.",
    "tallies.scores.by_row.direction": "The probability of the true class over the length of all.",
    "curves": "What a report draws.",
    "curves[].class": "The class that counts as positive; `null` for the positive class of two, and for all pooled.",
    "curves[].positives": "Rows of this class.",
    "curves[].negatives": "All other rows.",
    "curves[].points": "Threshold, true positives, false positives.",
    "curves[].band": "Bands around the curves, where scores are counted one by one.",
    "curves[].band.method": "How the bands were made.",
    "curves[].band.level": "Their confidence level.",
    "curves[].band.draws": "How many draws they rest on.",
    "curves[].band.seed": "The seed of the draws.",
    "curves[].band.roc": "False positive rate; lowest and highest true positive rate there; the same for all at once.",
    "curves[].band.pr": "Recall; lowest and highest precision there; the same for all at once.",
    "curves[].histogram": "Rows by score, for two classes.",
    "curves[].histogram.edges": "Between neighbouring edges lies a bar.",
    "curves[].histogram.positives": "Positives in each bar.",
    "curves[].histogram.negatives": "Negatives in each bar.",
    "curves[].reliability": "By bin: low and high edge, rows, mean score, share of positives, its interval.",
    "curves[].decision": "Threshold, net benefit of the scores, net benefit of calling every row positive.",
    "operating_points[].threshold": "A row is called positive when its score is at or above it.",
    "operating_points[].from": "`stated`, or the rule that chose it and the rows it was chosen on.",
    "operating_points[].tp": "Positives called positive.",
    "operating_points[].fp": "Negatives called positive.",
    "operating_points[].fn": "Positives called negative.",
    "operating_points[].tn": "Negatives called negative.",
    "tallies.scores.whole": "All rows.",
    "tallies.scores.whole.kind": "Scores one by one, or in bins.",
    "tallies.scores.whole.version": "Version of the tally's form.",
    "tallies.scores.whole.labels": "True classes, in order.",
    "tallies.scores.whole.rows": "Rows that were counted.",
    "tallies.scores.whole.columns": "For each column, the scores of each true class with their counts.",
    "tallies.scores.ranks": "Rows by how many classes score higher than the true one and how many the same.",
    "kind": "What the Record is about.",
    "task": "Two classes with a positive one, or several.",
    "rows.read": "Rows in the input; a row of truth and its prediction in another file are one.",
    "rows.scored": "Rows with a true and a predicted label.",
    "rows.excluded": "Rows left out, by reason.",
    "rows.unmatched": "Rows on one side only.",
    "labels": "The classes, in order.",
    "positive": "The positive class; null with several classes.",
    "estimates": "Every value: first of all rows, then of each class, then of each group.",
    "estimates[].measure": "The measure, with its parameters.",
    "estimates[].class": "The class it speaks of; null for the whole table.",
    "estimates[].slice": "The group it speaks of, as {factor: level}; null for all rows.",
    "estimates[].value": "The value; null where it is undefined.",
    "estimates[].undefined": "Why there is no value.",
    "estimates[].undefined_code": "The same as a short code.",
    "estimates[].low": "The lower end of the interval; null where there is none.",
    "estimates[].high": "The upper end of the interval; null where there is none.",
    "estimates[].level": "The confidence level of the interval.",
    "estimates[].interval": "The method of the interval.",
    "estimates[].no_interval": "Why there is no interval.",
    "estimates[].draws": "How many draws the interval rests on.",
    "estimates[].seed": "The seed of the draws.",
    "estimates[].n": "What the value rests on: the denominator of a share, otherwise all rows or their weight.",
    "estimates[].numerator": "What was counted, for a share.",
    "estimates[].denominator": "Out of how many, for a share.",
    "estimates[].notes": "What a reader should know of the value.",
    "estimates[].interval_notes": "What a reader should know of the interval.",
    "findings": "Results of significance tests; this version has none.",
    "controls": "What the controls found; empty where no plan was followed.",
    "controls[].check": "The control, as the requirements call it.",
    "controls[].part": "Which of several answers of the control; null for the main one.",
    "controls[].version": "Version of the control.",
    "controls[].verdict": "pass, fail, suspect, declared, no-evidence or n/a.",
    "controls[].says": "What was found, in a sentence.",
    "controls[].facts": "The figures it rests on.",
    "controls[].thresholds": "The thresholds it was held against.",
    "controls[].inputs": "Digests of what it looked at.",
    "controls[].at": "When it looked, in UTC.",
    "conformity": "Conformity with ISO/IEC TS 4213:2022.",
    "conformity.overall": "The verdict; an assessment without a plan demonstrates nothing.",
    "conformity.says": "Which rows decide it.",
    "conformity.profile": "The requirement profile it was judged by.",
    "conformity.document": "The document the profile stands for.",
    "conformity.counts": "Rows by verdict.",
    "conformity.deviations": "Rows below a shall that failed.",
    "conformity.unjustified": "Those of them without a justification in the plan.",
    "conformity.rows": "Every requirement row; empty where no plan was followed.",
    "conformity.rows[].id": "The row.",
    "conformity.rows[].clause": "Its clause.",
    "conformity.rows[].strength": "How strongly it is asked for.",
    "conformity.rows[].demand": "What it asks for, in our words.",
    "conformity.rows[].verdict": "Its verdict.",
    "conformity.rows[].says": "Why.",
    "conformity.rows[].evidence": "What the verdict rests on, part by part; the worst part decides.",
    "conformity.rows[].evidence[].kind": "A statement, a check, a measure, a part of the Record, or a precondition.",
    "conformity.rows[].evidence[].name": "Which one.",
    "conformity.rows[].evidence[].verdict": "Its verdict.",
    "conformity.rows[].evidence[].says": "What it says.",
    "conformity.rows[].answer": "The assessor's answer or justification.",
    "decisions": "What was decided about each acceptance criterion, and at which risk.",
    "comparisons[].task": "The task.",
    "comparisons[].samples": "Rows that every model answered.",
    "comparisons[].rows": "The row accounting of the comparison.",
    "comparisons[].labels": "The classes.",
    "comparisons[].positive": "The positive class, or null.",
    "comparisons[].models": "The models, in order.",
    "comparisons[].estimates": "Values of each model on these rows.",
    "comparisons[].answers": "Each question, why its test was chosen, and how many findings belong to it.",
    "comparisons[].ranking": "The models from best to worst, and whom each is ahead of by more than chance.",
    "comparisons[].test_data": "How rows were paired, and the digest of ids and truth where they were matched by id.",
    "comparisons[].notes": "What a reader should know.",
    "claims[].claim": "The claim in one line.",
    "claims[].words": "The claim in the words of the plan, or null.",
    "claims[].model": "The model it speaks of.",
    "claims[].measure": "The measure it speaks of.",
    "claims[].class": "The class it speaks of, or null.",
    "claims[].slice": "The group and level it speaks of, or null.",
    "claims[].relation": "What is claimed of the value.",
    "claims[].reference": "The other model, or null where a number is claimed.",
    "claims[].about": "What a difference is credited to, or null.",
    "claims[].answer": "What came of it.",
    "claims[].why": "Why, in a sentence.",
    "claims[].value": "The value of the model.",
    "claims[].reference_value": "The value of the other model.",
    "claims[].difference": "The value of the model minus that of the other.",
    "claims[].high": "The other end.",
    "claims[].level": "The level of the interval, by Holm's procedure over the family.",
    "claims[].interval": "The method of the interval.",
    "claims[].pairing": "Whether both models were compared on the same rows.",
    "claims[].n": "The samples the value rests on.",
    "claims[].n_by_class": "Samples of each class.",
    "claims[].family": "How many claims were answered together.",
    "claims[].needed": "Rows that would decide an open claim.",
    "ledger.name": "The name of the ledger.",
    "ledger.entered": "Whether this run was entered.",
    "ledger.why_not": "Why it was not, or null.",
    "ledger.altered_lines": "Lines whose line before is not the one they were written after.",
    "ledger.models": "Models that met these test data.",
    "ledger.first_look": "When somebody first looked at them.",
    "ledger.plan_registered_at": "When this plan was first entered, before anything was counted.",
    "ledger.earlier_plans": "Plans that were entered before this one.",
    "ledger.earlier_plans[].digest": "The digest of what it declared.",
    "ledger.earlier_plans[].at": "When it was entered.",
    "ledger.earlier_plans[].changed": "Sections in which this plan differs from it.",
    "decisions[].criterion": "The criterion, as it is typed.",
    "decisions[].measure": "The measure it speaks of.",
    "decisions[].class": "The class it speaks of, or null.",
    "decisions[].slice": "The group and level it speaks of, or null.",
    "decisions[].rule": "How doubt is dealt with.",
    "decisions[].side": "Which side of the limit is good.",
    "decisions[].limit": "The limit of the value.",
    "decisions[].margin": "The largest loss that does not matter.",
    "decisions[].verdict": "What was decided.",
    "decisions[].why": "Why, in a sentence.",
    "decisions[].value": "The value it rests on.",
    "decisions[].low": "Lower end of its interval, at the level of the decision.",
    "decisions[].high": "Upper end.",
    "decisions[].level": "Confidence level after correction for the other criteria.",
    "decisions[].interval": "Method of the interval.",
    "decisions[].n": "What the value is a share of, or the rows.",
    "decisions[].risk.false_pass": "Of a wrong pass.",
    "decisions[].risk.false_fail": "Of a wrong fail.",
    "decisions[].needed": "Rows that would decide it, where it is open.",
    "decisions[].reference.pairing": "Whether both were counted on the same rows.",
    "decisions[].reference.name": "What the reference is called.",
    "decisions[].reference.value": "Its value.",
    "heterogeneity[].factor": "The group that tells the sites apart.",
    "heterogeneity[].measure": "The measure.",
    "heterogeneity[].parts": "How many sites have a value and an interval.",
    "heterogeneity[].statistic": "Pearson's statistic for shares, Cochran's Q for other measures.",
    "heterogeneity[].df": "Its degrees of freedom.",
    "heterogeneity[].p": "The chance of such a spread if all sites shared one value.",
    "heterogeneity[].i_squared": "The share of the spread that chance does not explain.",
    "heterogeneity[].method": "How p was found.",
    "heterogeneity[].lowest": "The site with the lowest value.",
    "heterogeneity[].highest": "The site with the highest value.",
    "heterogeneity[].lowest.level": "The site.",
    "heterogeneity[].lowest.value": "Its value.",
    "heterogeneity[].highest.level": "The site.",
    "heterogeneity[].highest.value": "Its value.",
    "heterogeneity[].left_out": "Sites without a value or an interval.",
    "tallies": "The counts every value follows from.",
    "tallies.confusion": "The counts of all rows.",
    "tallies.confusion.kind": "What kind of tally it is.",
    "tallies.confusion.version": "Version of this kind of tally.",
    "tallies.confusion.orientation": "The first index of a cell is the truth.",
    "tallies.confusion.labels": "The classes the indices count.",
    "tallies.confusion.rows": "Rows, whatever their weight.",
    "tallies.confusion.weighted": "Whether cells are sums of weights.",
    "tallies.groups": "The counts by factor and level.",
    "tallies.groups.*[].level": "The level.",
    "tallies.groups.*[].confusion": "The counts of its rows.",
    "tallies.groups.*[].scores": "The scores of its rows.",
    "plan": "What was asked for.",
    "plan.given": "Where the plan came from.",
    "plan.level": "The confidence level.",
    "plan.intervals": "How intervals are made.",
    "plan.intervals.shares": "The interval of shares.",
    "plan.intervals.cells": "The interval of everything else.",
    "plan.intervals.draws": "How many draws.",
    "plan.intervals.seed": "The seed of the draws.",
    "plan.missing": "What happens to rows without a label.",
    "plan.unknown": "What happens to predicted labels that are not a class.",
    "plan.unmatched": "What happens to rows whose id is on one side only.",
    "plan.undefined": "What a class without a value does to an average.",
    "plan.measures": "The measures asked for; null for all that fit.",
    "plan.data": "Where the rows came from: columns, files, and how truth and predictions met by id (no id itself).",
    "plan.digest": "The digest of the plan.",
    "environment": "Where and with what the rows were counted.",
    "environment.counted_at": "When, in UTC.",
    "environment.python": "The version of Python.",
    "environment.packages": "The versions of the packages that count.",
    "errata": "The entries of the errata register that the measures follow.",
    "notes": "What a reader should know of the whole.",
    "digests": "What the Record is checked against when it is loaded.",
    "digests.tallies": "The digest of the tallies.",
    "digests.files": "The digest of each file that was read.",
    "digests.record": "The digest of everything else in the Record.",
}
"""What a field means, where the schema itself does not say it."""


def commands_page() -> list[str]:
    """The help of every command."""
    lines = [
        "# Command line",
        "",
        "Results go to standard output; progress, notes and errors go to standard error.",
        "`NO_COLOR` is honoured, and only a terminal gets colours.",
        "The exit codes are listed with the [errors](errors.md#exit-codes).",
    ]
    every = [("assay", cli), *((f"assay {name}", found) for name, found in cli.commands.items())]
    for words, command in every:
        if isinstance(command, click.Group) and command is not cli:
            every += [(f"{words} {name}", found) for name, found in command.commands.items()]
    for words, command in every:
        context = click.Context(command, info_name=words, terminal_width=WIDTH, **cli.context_settings)
        lines += ["", f"## {words}", "", *block("text", command.get_help(context).rstrip())]
    return lines


def record_page() -> list[str]:
    """The fields of a Record, and a small one."""
    whole = schema()
    small = assess(
        truth=["cat", "cat", "dog"], predicted=["cat", "dog", "dog"], positive="cat", measures=["recall", "precision"]
    )
    cut_short = {"counted_at": "2026-01-31T12:00:00+00:00", "python": "3.11.0", "packages": {}}
    # Ends of intervals differ in the last bits between processors, and so would the digest of the whole.
    estimates = [
        {name: twelve_digits(value) if isinstance(value, float) else value for name, value in one.items()}
        for one in small.record["estimates"]
    ]
    content = {**small.record, "estimates": estimates, "environment": cut_short}
    shown = json.dumps(sealed(content), indent=1, ensure_ascii=False)
    flat = re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda found: f"[{' '.join(found.group(1).split())}]", shown)
    types = [(f"`{name}`", _type(whole, whole["$defs"][name]), _said(whole["$defs"][name])) for name in TYPES]
    return [
        "# Record",
        "",
        *sentences(whole["description"]),
        "`assay schema` prints the JSON Schema; `.save()` and `assay run` write Records that follow it.",
        "",
        "## Fields",
        "",
        "`[]` stands for each entry of a list, `*` for each name of an object.",
        "",
        *table(("field", "type", "always there", "meaning"), _fields(whole, whole, "", {})),
        "",
        "## Types",
        "",
        *table(("name", "type", "meaning"), types),
        "",
        "## Example",
        "",
        "Three rows, two measures; the environment is cut short.",
        "",
        *block("json", flat),
    ]


def unexplained() -> list[str]:
    """The fields that nobody says the meaning of."""
    whole = schema()
    return [field for field, _, _, meaning in _fields(whole, whole, "", {}) if not meaning]


def _fields(
    whole: dict[str, Any], part: dict[str, Any], path: str, told: dict[str, str]
) -> Iterator[tuple[str, str, str, str]]:
    """Field, type, whether it is always there, meaning; a part that was told before is not told again."""
    needed = part.get("required", ())
    known = part.get("properties", {})
    for name in [*known, *(name for name in needed if name not in known)]:
        one, here = known.get(name, {}), f"{path}.{name}" if path else name
        reference = one.get("$ref", "")
        before = told.get(reference)
        kind = f"as `{before}`" if before else _type(whole, one)
        yield (
            f"`{here}`",
            kind,
            "yes" if name in needed else "",
            plain(one.get("description") or MEANINGS.get(here, "")),
        )
        if reference and reference.rsplit("/", 1)[1] not in TYPES:
            told.setdefault(reference, here)
        if not before:
            yield from _inside(whole, _resolved(whole, one), here, told)


def _inside(
    whole: dict[str, Any], target: dict[str, Any], here: str, told: dict[str, str]
) -> Iterator[tuple[str, str, str, str]]:
    yield from _fields(whole, target, here, told)
    for key, mark in (("items", "[]"), ("additionalProperties", ".*")):
        one = target.get(key)
        if isinstance(one, dict) and one.get("$ref", "") not in told:
            if "$ref" in one and one["$ref"].rsplit("/", 1)[1] not in TYPES:
                told[one["$ref"]] = here + mark
            yield from _inside(whole, _resolved(whole, one), here + mark, told)


def _resolved(whole: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = whole["$defs"][part["$ref"].rsplit("/", 1)[1]] if "$ref" in part else part
    return found


def _said(part: dict[str, Any]) -> str:
    return plain(part.get("description", ""))


def _type(whole: dict[str, Any], part: dict[str, Any]) -> str:
    if "$ref" in part:
        name = part["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#types)" if name in TYPES else _type(whole, _resolved(whole, part))
    if "anyOf" in part:
        return " or ".join(_type(whole, one) for one in part["anyOf"])
    if "const" in part or "enum" in part:
        return ", ".join(f"`{json.dumps(value)}`" for value in part.get("enum", [part.get("const")]))
    kinds = part.get("type", "anything")
    shown = " or ".join(kinds) if isinstance(kinds, list) else kinds.replace("array", "list")
    if "pattern" in part:
        return f"{shown} like `{part['pattern']}`"
    return f"{shown} of {_type(whole, part['items'])}" if "items" in part else shown
