# SPDX-License-Identifier: Apache-2.0
"""Which tests an assessment made or planned, and what requirement rows may ask of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from assay.assess.controls.claim_checks import RESAMPLED
from assay.assess.controls.control_declaration import Checked, Verdict
from assay.core.text import listed, phrases
from assay.inference.decision_words import Kind
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
    told_of = _told(checked.get("CHK-TEST"), record)
    named = {str(one["test"]): one for told in told_of for one in told.get("named", ())}
    compared = list(_compared(record, named))
    screens = [
        Use(test=str(test), values=str(Kind.INDEPENDENT), control=one.control.id)
        for one in checked.values()
        for test in one.outcome.facts.get("tests", ())
    ]
    screens += [
        Use(test=str(finding["test"]), values=str(Kind.LABELS), control="CHK-TEST")
        for told in told_of
        for channel in told.get("by_channel", {}).values()
        for finding in channel["findings"]
    ]
    values, models = (compared[0].values, compared[0].models) if compared else ("", 0)
    made = {one.test for one in compared}
    for word in dict.fromkeys([*chosen, *named]):
        meant = tests_meant(word)
        if made & {one.name for one in meant}:
            continue
        why = str(named[word]["why"]) if word in named and named[word]["admitted"] is False else ""
        compared += [Use(test=one.name, ran=False, values=values, models=models, refused=why) for one in meant]
    return (*compared, *screens)


def _told(checked: Checked | None, record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What the control of tests tells of the test split of a Record."""
    own = record.get("plan", {}).get("split")
    facts = {} if checked is None else checked.outcome.facts
    return [told for split, told in facts.items() if isinstance(told, Mapping) and split == own]


def _compared(record: Mapping[str, Any], named: Mapping[str, Mapping[str, Any]]) -> Iterator[Use]:
    """The tests of the comparisons of a Record, whose findings stand one after the other."""
    findings = iter(record.get("findings", ()))
    by_name = {one.name: told for word, told in named.items() for one in tests_meant(word)}
    for part in record.get("comparisons", ()):
        for answer in part["answers"]:
            for _ in range(answer["findings"]):
                finding = next(findings, None)
                if finding is None:
                    return
                told = by_name.get(finding["test"], {"admitted": True, "why": ""})
                yield Use(
                    test=finding["test"],
                    values=answer["values"],
                    models=len(part["models"]),
                    about=finding["about"],
                    refused=told["why"] if told["admitted"] is False else "",
                    by_hand=told["why"] if told["admitted"] is None else "",
                    assumed=tuple((one["assumes"], one["holds"], one["seen"]) for one in finding["checks"]),
                    disputes=sum(n for name, n in finding["counts"].items() if name.startswith("only ")),
                )


Told: TypeAlias = tuple[Verdict, str]
Ask: TypeAlias = Callable[[Sequence[Use]], Told]


def _names(uses: Iterable[Use]) -> str:
    return listed(sorted({one.test for one in uses}))


def _made(uses: Sequence[Use]) -> Told:
    ran = [one for one in uses if one.ran]
    return ("pass", f"made: {_names(ran)}") if ran else ("no-evidence", "no such test was made")


def _admissible(uses: Sequence[Use]) -> Told:
    if refused := [one for one in uses if one.refused]:
        return "fail", f"not admissible: {phrases([f'{one.test} ({one.refused})' for one in refused])}"
    if not any(one.ran for one in uses):
        return "no-evidence", f"planned and not made: {_names(uses)}"
    if by_hand := [one for one in uses if one.by_hand]:
        return "declared", f"chosen by hand: {phrases([f'{one.test} ({one.by_hand})' for one in by_hand])}"
    controls = sorted({one.control for one in uses if one.control})
    return "pass", f"{_names(uses)}: admissible for these values" + (f", by {listed(controls)}" if controls else "")


def _assumptions(uses: Sequence[Use]) -> Told:
    ran = [one for one in uses if one.ran]
    if not ran:
        return "no-evidence", f"not made, so nothing was assumed: {_names(uses)}"
    every = [(one.test, *told) for one in ran for told in one.assumed]
    if broken := [f"{test}: {assumes} ({seen})" for test, assumes, holds, seen in every if holds is False]:
        return "suspect", f"the data speak against an assumption of {phrases(broken)}"
    if open_ := [f"{test}: {assumes} ({seen})" for test, assumes, holds, seen in every if holds is None]:
        return "no-evidence", f"cannot be told from these data: {phrases(open_)}"
    return "pass", f"the data bear out what {_names(ran)} rests on" if every else f"{_names(ran)} assumes no shape"


def _two_models(uses: Sequence[Use]) -> Told:
    most = max(one.models for one in uses)
    return ("fail" if most > 2 else "pass"), f"{_names(uses)} with {most} models"  # noqa: PLR2004


def _several_groups(uses: Sequence[Use]) -> Told:
    few = [one for one in uses if not one.control and one.models < 3]  # noqa: PLR2004
    return (
        ("fail", f"{_names(few)} with fewer than three groups") if few else ("pass", f"{_names(uses)}: three or more")
    )


def _no_folds(uses: Sequence[Use]) -> Told:
    folds = [one for one in uses if one.values in RESAMPLED]
    return ("fail", f"{_names(folds)} on {folds[0].values}") if folds else ("pass", f"{_names(uses)}: no folds")


def _other_data(uses: Sequence[Use]) -> Told:
    folds = [one for one in uses if one.ran and one.values in RESAMPLED]
    if folds:
        return "suspect", f"{_names(folds)} rests on {folds[0].values}, which depend on each other"
    ran = [one for one in uses if one.ran and not one.control]
    return ("pass", f"{_names(ran)}: no values of resampling") if ran else ("no-evidence", "no models were compared")


def _small_tables(uses: Sequence[Use]) -> Told:
    small = [one for one in uses if one.ran and one.disputes < FEW_DISPUTES]
    coarse = [one for one in small if one.test not in ("mcnemar_exact", "mcnemar_midp")]
    if coarse:
        return "suspect", f"{_names(coarse)} with fewer than {FEW_DISPUTES} rows in dispute"
    if not any(one.ran for one in uses):
        return "no-evidence", f"planned and not made: {_names(uses)}"
    return "pass", f"small tables by {_names(small)}" if small else f"no table with fewer than {FEW_DISPUTES} disputes"


def _both_classes(uses: Sequence[Use]) -> Told:
    about = {one.about for one in uses if one.ran}
    lacking = {"recall", "specificity"} - about
    return ("no-evidence", f"not compared by itself: {listed(sorted(lacking))}") if lacking else (
        "pass", "recall and specificity are each compared"
    )  # fmt: skip


def _obeyed(uses: Sequence[Use]) -> Told:
    refused = [one for one in uses if one.refused]
    if refused:
        return "fail", f"planned and not admissible: {phrases([f'{one.test} ({one.refused})' for one in refused])}"
    lost = [one for one in uses if not one.ran]
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
    asked = [one for one in uses if not wanted or one.test in wanted]
    return ASKS[what](asked) if asked else ("no-evidence", "no such test was made or planned")
