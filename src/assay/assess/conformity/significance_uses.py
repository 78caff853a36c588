# SPDX-License-Identifier: Apache-2.0
"""Which tests an assessment made or planned, and what requirement rows may ask of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from assay.assess.controls.control_declaration import Checked, Verdict
from assay.core.text import listed, phrases
from assay.inference.decision_words import RESAMPLED, Kind
from assay.inference.tests_catalogue import tests_meant

FEW_DISPUTES: Final = 25
"""Rows in dispute below which McNemar's table is small (tests.md, T-14)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A declared test that was made, or that the plan names."""

    test: str
    ran: bool = True
    values: str = ""
    """The kind of values it was given, or would have been."""
    models: int = 0
    about: str = ""
    refused: str = ""
    """Why it is not admissible here."""
    by_hand: str = ""
    """How it differs from the table's choice, where the plan chose it with a reason."""
    assumed: tuple[tuple[str, bool | None, str], ...] = ()
    """Every assumption, whether the data bear it out, and what was seen."""
    disputes: float = 0
    """Rows that only one of two models got right."""
    control: str = ""
    """The control that made it on independent rows; nothing where models were compared."""


def uses_of(chosen: Iterable[str], checked: Mapping[str, Checked], record: Mapping[str, Any]) -> tuple[Use, ...]:
    """Every test of a Record: made in comparisons, made by controls, refused, or planned and not made."""
    facts_of_split = _told(checked.get("CHK-TEST"), record)
    named = {str(entry["test"]): entry for split_facts in facts_of_split for entry in split_facts.get("named", ())}
    compared = list(_compared(record, named))
    screens = [
        Use(test=str(test), values=str(Kind.INDEPENDENT), control=check.control.id)
        for check in checked.values()
        for test in check.outcome.facts.get("tests", ())
    ]
    screens += [
        Use(test=str(finding["test"]), values=str(Kind.LABELS), control="CHK-TEST")
        for split_facts in facts_of_split
        for channel in split_facts.get("by_channel", {}).values()
        for finding in channel["findings"]
    ]
    values, models = (compared[0].values, compared[0].models) if compared else ("", 0)
    made = {use.test for use in compared}
    for word in dict.fromkeys([*chosen, *named]):
        meant = tests_meant(word)
        if made & {test.name for test in meant}:
            continue
        why = str(named[word]["why"]) if word in named and named[word]["admitted"] is False else ""
        compared += [Use(test=test.name, ran=False, values=values, models=models, refused=why) for test in meant]
    return (*compared, *screens)


def _told(checked: Checked | None, record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What the control of tests tells of the test split of a Record."""
    own = record.get("plan", {}).get("split")
    facts = {} if checked is None else checked.outcome.facts
    return [split_facts for split, split_facts in facts.items() if isinstance(split_facts, Mapping) and split == own]


def _compared(record: Mapping[str, Any], named: Mapping[str, Mapping[str, Any]]) -> Iterator[Use]:
    """The tests of the comparisons of a Record, whose findings stand one after the other."""
    findings = iter(record.get("findings", ()))
    by_name = {test.name: entry for word, entry in named.items() for test in tests_meant(word)}
    for part in record.get("comparisons", ()):
        for answer in part["answers"]:
            for _ in range(answer["findings"]):
                finding = next(findings, None)
                if finding is None:
                    return
                entry = by_name.get(finding["test"], {"admitted": True, "why": ""})
                yield Use(
                    test=finding["test"],
                    values=answer["values"],
                    models=len(part["models"]),
                    about=finding["about"],
                    refused=entry["why"] if entry["admitted"] is False else "",
                    by_hand=entry["why"] if entry["admitted"] is None else "",
                    assumed=tuple((check["assumes"], check["holds"], check["seen"]) for check in finding["checks"]),
                    disputes=sum(n for name, n in finding["counts"].items() if name.startswith("only ")),
                )


Told: TypeAlias = tuple[Verdict, str]
Ask: TypeAlias = Callable[[Sequence[Use]], Told]


def _names(uses: Iterable[Use]) -> str:
    return listed(sorted({use.test for use in uses}))


def _made(uses: Sequence[Use]) -> Told:
    ran = [use for use in uses if use.ran]
    return ("pass", f"made: {_names(ran)}") if ran else ("no-evidence", "no such test was made")


def _admissible(uses: Sequence[Use]) -> Told:
    if refused := [use for use in uses if use.refused]:
        return "fail", f"not admissible: {phrases([f'{use.test} ({use.refused})' for use in refused])}"
    if not any(use.ran for use in uses):
        return "no-evidence", f"planned and not made: {_names(uses)}"
    if by_hand := [use for use in uses if use.by_hand]:
        return "declared", f"chosen by hand: {phrases([f'{use.test} ({use.by_hand})' for use in by_hand])}"
    controls = sorted({use.control for use in uses if use.control})
    return "pass", f"{_names(uses)}: admissible for these values" + (f", by {listed(controls)}" if controls else "")


def _assumptions(uses: Sequence[Use]) -> Told:
    ran = [use for use in uses if use.ran]
    if not ran:
        return "no-evidence", f"not made, so nothing was assumed: {_names(uses)}"
    assumptions = [(use.test, *assumption) for use in ran for assumption in use.assumed]
    if broken := [f"{test}: {assumes} ({seen})" for test, assumes, holds, seen in assumptions if holds is False]:
        return "suspect", f"the data speak against an assumption of {phrases(broken)}"
    if open_ := [f"{test}: {assumes} ({seen})" for test, assumes, holds, seen in assumptions if holds is None]:
        return "no-evidence", f"cannot be told from these data: {phrases(open_)}"
    return (
        "pass",
        f"the data bear out what {_names(ran)} rests on" if assumptions else f"{_names(ran)} assumes no shape",
    )


def _two_models(uses: Sequence[Use]) -> Told:
    most = max(use.models for use in uses)
    return ("fail" if most > 2 else "pass"), f"{_names(uses)} with {most} models"  # noqa: PLR2004


def _several_groups(uses: Sequence[Use]) -> Told:
    few = [use for use in uses if not use.control and use.models < 3]  # noqa: PLR2004
    return (
        ("fail", f"{_names(few)} with fewer than three groups") if few else ("pass", f"{_names(uses)}: three or more")
    )


def _no_folds(uses: Sequence[Use]) -> Told:
    folds = [use for use in uses if use.values in RESAMPLED]
    return ("fail", f"{_names(folds)} on {folds[0].values}") if folds else ("pass", f"{_names(uses)}: no folds")


def _other_data(uses: Sequence[Use]) -> Told:
    folds = [use for use in uses if use.ran and use.values in RESAMPLED]
    if folds:
        return "suspect", f"{_names(folds)} rests on {folds[0].values}, which depend on each other"
    ran = [use for use in uses if use.ran and not use.control]
    return ("pass", f"{_names(ran)}: no values of resampling") if ran else ("no-evidence", "no models were compared")


def _small_tables(uses: Sequence[Use]) -> Told:
    small = [use for use in uses if use.ran and use.disputes < FEW_DISPUTES]
    coarse = [use for use in small if use.test not in ("mcnemar_exact", "mcnemar_midp")]
    if coarse:
        return "suspect", f"{_names(coarse)} with fewer than {FEW_DISPUTES} rows in dispute"
    if not any(use.ran for use in uses):
        return "no-evidence", f"planned and not made: {_names(uses)}"
    return "pass", f"small tables by {_names(small)}" if small else f"no table with fewer than {FEW_DISPUTES} disputes"


def _both_classes(uses: Sequence[Use]) -> Told:
    about = {use.about for use in uses if use.ran}
    lacking = {"recall", "specificity"} - about
    return ("no-evidence", f"not compared by itself: {listed(sorted(lacking))}") if lacking else (
        "pass", "recall and specificity are each compared"
    )  # fmt: skip


def _obeyed(uses: Sequence[Use]) -> Told:
    refused = [use for use in uses if use.refused]
    if refused:
        return "fail", f"planned and not admissible: {phrases([f'{use.test} ({use.refused})' for use in refused])}"
    lost = [use for use in uses if not use.ran]
    return ("no-evidence", f"planned and not made: {_names(lost)}") if lost else ("pass", "every planned test was made")


ASKS: Final[dict[str, Ask]] = {
    "made": _made,
    "admissible": _admissible,
    "assumptions": _assumptions,
    "two models": _two_models,
    "several groups": _several_groups,
    "no folds": _no_folds,
    "other data": _other_data,
    "small tables": _small_tables,
    "both classes": _both_classes,
    "obeyed": _obeyed,
}
"""What a row may ask of tests."""


def ask(what: str, of: Iterable[str], uses: Iterable[Use]) -> Told:
    """What comes of asking something of some tests, or of all."""
    wanted = set(of)
    asked = [use for use in uses if not wanted or use.test in wanted]
    return ASKS[what](asked) if asked else ("no-evidence", "no such test was made or planned")
