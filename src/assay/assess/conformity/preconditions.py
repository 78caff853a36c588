# SPDX-License-Identifier: Apache-2.0
"""When a requirement row applies (yes, no with the reason, or unknown), and what rows ask of significance tests.

A row is n/a only where something rules it out; silence of plan and data leaves it without evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeAlias

from assay.assess.conformity.clauses import When
from assay.assess.controls.control_declaration import Checked, Inquiry, Verdict
from assay.assess.plan.plan_answers import FAMILIES, OF_TASKS, splits_of
from assay.core.text import listed, phrases, quoted
from assay.inference.decision_words import RESAMPLED, Kind
from assay.inference.tests_catalogue import tests_meant
from assay.measures import REGISTRY

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
    by_split = checked["CHK-TEST"].outcome.facts if "CHK-TEST" in checked else {}
    told = by_split.get(record.get("plan", {}).get("split"))
    of_split: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    named = {str(entry["test"]): entry for entry in of_split.get("named", ())}
    compared = list(_compared(record, named))
    screens = [
        Use(test=str(test), values=str(Kind.INDEPENDENT), control=check.control.id)
        for check in checked.values()
        for test in check.outcome.facts.get("tests", ())
    ]
    screens += [
        Use(test=str(finding["test"]), values=str(Kind.LABELS), control="CHK-TEST")
        for channel in of_split.get("by_channel", {}).values()
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


@dataclass(frozen=True, slots=True)
class Applies:
    """Whether a row applies; None where nobody can tell."""

    holds: bool | None
    why: str


Condition: TypeAlias = Callable[[Inquiry], Applies]
SILENT: Final = Applies(None, "the plan does not tell whether this applies")
WEIGHTED_F: Final = frozenset(m.name for m in REGISTRY if m.name.startswith(("f_beta", "f_0_5", "f2", "f_weighted")))
"""Measures with a weight between precision and recall."""
CROSS_VALIDATION: Final = ("k-fold", "repeated-k-fold", "leave-one-out", "nested", "5x2")


def applies(when: When, q: Inquiry, uses: Sequence[Use]) -> Applies:
    """Whether everything holds that a row presupposes: one part that does not is enough to rule it out."""
    parts = [CONDITIONS[name](q) for name in when.conditions]
    if when.tests:
        parts.append(_made_or_planned(q, uses, when.tests))
    ruled_out = next((one for one in parts if one.holds is False), None)
    return ruled_out or next((one for one in parts if one.holds is None), parts[0])


def _shown(seen: object, why: str) -> Applies:
    """What data or statements can show, but whose absence shows nothing."""
    return Applies(holds=True, why=why) if seen else SILENT


def _task(q: Inquiry, wanted: str) -> Applies:
    kind = q.kind
    return SILENT if kind is None else Applies(kind == wanted, f"the task is {kind}")


def _aim(q: Inquiry, wanted: str) -> Applies:
    aims = q.plan.purpose.aims
    if not aims or not q.loaded.signed:
        return SILENT
    return Applies(wanted in aims, f"the aims are {', '.join(aims)}")


def _comparison(q: Inquiry) -> Applies:
    models = [name for name, one in q.plan.models.items() if one.kind in ("model", "human")]
    if len(models) > 1:
        return Applies(holds=True, why=f"the plan names {len(models)} models")
    return _aim(q, "comparison")


def _stated(q: Inquiry, section: str, name: str, says: str, *wanted: object) -> Applies:
    """A field of a signed plan: whether it is one of those wanted, or holds at all where none are named."""
    value = getattr(getattr(q.plan, section), name)
    if value is None or not q.loaded.signed:
        return SILENT
    return Applies(value in wanted if wanted else bool(value), f"{says} {value}")


def _validation(q: Inquiry) -> Applies:
    if splits_of(q.loaded, "validation"):
        return Applies(holds=True, why="there are validation data")
    if q.plan.tuning.scheme == "none" and q.loaded.signed:
        return Applies(holds=False, why="stated: no choice was made on validation data")
    return SILENT


def _tests(q: Inquiry) -> Applies:
    if q.findings or q.plan.tests.chosen:
        return Applies(holds=True, why="tests are planned or made")
    if q.signed(q.plan.tests.none):
        return Applies(holds=False, why=f"stated: no test is made, {quoted(q.plan.tests.none)}")
    if len(q.plan.models) == 1 and q.assessment is not None:
        return Applies(holds=False, why="one model was assessed, and nothing is compared")
    return SILENT


def _made_or_planned(q: Inquiry, uses: Sequence[Use], wanted: Sequence[str]) -> Applies:
    """Whether one of some tests was made or planned; the tests of comparisons rule others out."""
    if made := sorted({one.test for one in uses if one.test in wanted}):
        return Applies(holds=True, why=f"made or planned: {', '.join(made)}")
    others = sorted({one.test for one in uses if not one.control})
    if others and q.loaded.signed:
        return Applies(holds=False, why=f"other tests were chosen: {', '.join(others)}")
    every = _tests(q)
    return every if every.holds is False else SILENT


def _many_models(q: Inquiry) -> Applies:
    n = len([one for one in q.plan.models.values() if one.counted])
    return Applies(n > 2, f"{n} models are compared") if n else SILENT  # noqa: PLR2004


def _average(q: Inquiry, wanted: str) -> Applies:
    if q.kind == "binary":
        return Applies(holds=False, why="the task is binary")
    planned = q.planned()
    if not planned:
        return SILENT
    used = any(m.average == wanted for m in planned)
    return Applies(used, f"{'a' if used else 'no'} {wanted} average is planned")


def _f_beta(q: Inquiry) -> Applies:
    planned = q.planned()
    if not planned:
        return SILENT
    used = [m.title for m in planned if m.name in WEIGHTED_F]
    return Applies(bool(used), f"planned: {', '.join(used)}" if used else "no measure with such a weight is planned")


def _cost(q: Inquiry, wanted: str) -> Applies:
    scope = q.plan.cost.scope or []
    if wanted in scope:
        return Applies(holds=True, why=f"{wanted} is in scope")
    if q.signed(q.plan.cost.out_of_scope):
        return Applies(holds=False, why=f"not in scope: {quoted(q.plan.cost.out_of_scope)}")
    return SILENT


def _human(q: Inquiry) -> Applies:
    kinds = {one.kind for one in q.plan.models.values()}
    return SILENT if not kinds else Applies("human" in kinds, f"comparators: {', '.join(sorted(kinds))}")


def _channels(q: Inquiry) -> Applies:
    if columns := q.channels():
        return Applies(holds=True, why=f"channels: {', '.join(columns)}")
    stated = all(q.says(f"channels.{family}") for family in FAMILIES)
    return Applies(holds=False, why="stated: every channel is constant") if stated else SILENT


def _correction(q: Inquiry, *wanted: str) -> Applies:
    correction, every = q.plan.tests.correction, _tests(q)
    if every.holds is False:
        return every
    if correction is None or not q.loaded.signed:
        return SILENT
    return Applies(correction in wanted, f"the correction is {correction}")


CONDITIONS: Final[dict[str, Condition]] = {
    **{kind: partial(_task, wanted=kind) for kind in OF_TASKS},
    **{aim: partial(_aim, wanted=aim) for aim in ("assessment", "out-of-time", "cv-comparison")},
    **{average: partial(_average, wanted=average) for average in ("macro", "micro", "weighted")},
    **{amount: partial(_cost, wanted=amount) for amount in ("throughput", "efficiency")},
    "comparison": _comparison,
    "design": lambda q: _stated(q, "purpose", "stage", "the stage is", "design-development"),
    "verification": lambda q: _stated(q, "purpose", "stage", "the stage is", "verification-validation"),
    "cross-validation": lambda q: _stated(q, "tuning", "scheme", "the validation scheme is", *CROSS_VALIDATION),
    "nested": lambda q: _stated(q, "tuning", "scheme", "the validation scheme is", "nested"),
    "validation": _validation,
    "several-splits": lambda q: _shown(len(q.plan.data) > 1, "there are several data sets"),
    "tests": _tests,
    "no tests": lambda q: replace(made, holds=not made.holds) if (made := _tests(q)).holds is not None else SILENT,
    "three or more models": _many_models,
    "f-beta": _f_beta,
    "simulated": lambda q: _stated(q, "environment", "simulated", "stated: simulated is"),
    "interactive": lambda q: _stated(q, "use", "interactive", "stated: interactive is"),
    "human": _human,
    "annotators": lambda q: _shown(
        q.annotations is not None or q.plan.ground_truth.annotators, "there are annotations"
    ),
    "channels": _channels,
    "costs": lambda q: _shown(q.signed(q.plan.use.costs), "costs are stated"),
    "step-down": lambda q: _correction(q, "holm"),
    "false-discovery": lambda q: _correction(q, "benjamini-hochberg", "benjamini-yekutieli"),
}
