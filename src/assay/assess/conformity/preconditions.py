# SPDX-License-Identifier: Apache-2.0
"""When a requirement row applies: yes, no with the reason, or unknown where plan and data are silent.

A row is n/a only where something rules it out; silence leaves it without evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeAlias

from assay.assess.conformity.clauses import When
from assay.assess.conformity.significance_uses import Use
from assay.assess.controls.control_declaration import Inquiry
from assay.assess.plan.plan_answers import FAMILIES, OF_TASKS, splits_of
from assay.core.text import quoted
from assay.measures import REGISTRY


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
