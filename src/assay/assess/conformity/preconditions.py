# SPDX-License-Identifier: Apache-2.0
"""When a requirement row applies: yes, no with the reason, or unknown where plan and data are silent.

A row is n/a only where something rules it out; silence leaves it without evidence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from assay.assess.controls.evidence import Inquiry
from assay.assess.plan.plan_answers import splits_of
from assay.core.text import quoted
from assay.tasks.classification.settings import chosen


@dataclass(frozen=True, slots=True)
class Applies:
    """Whether a row applies; None where nobody can tell."""

    holds: bool | None
    why: str


Condition: TypeAlias = Callable[[Inquiry], Applies]
SILENT: Final = Applies(None, "the plan does not tell whether this applies")
CROSS_VALIDATION: Final = ("k-fold", "repeated-k-fold", "leave-one-out", "nested", "5x2")


def applies(name: str, q: Inquiry) -> Applies:
    """Whether a condition of the catalogue holds."""
    if name.startswith("test "):
        return _test(q, name.removeprefix("test "))
    return CONDITIONS[name](q)


def is_known(name: str) -> bool:
    """Whether there is such a condition."""
    return name.startswith("test ") or name in CONDITIONS


def _kind(q: Inquiry) -> str | None:
    """The task as found, else as declared: a declaration that the data contradict is judged by its own row."""
    return str(q.assessment.task) if q.assessment is not None else q.plan.task.type


def _task(wanted: str) -> Condition:
    def asked(q: Inquiry) -> Applies:
        kind = _kind(q)
        return SILENT if kind is None else Applies(kind == wanted, f"the task is {kind}")

    return asked


def _classification(q: Inquiry) -> Applies:
    kind = _kind(q)
    return SILENT if kind is None else Applies(holds=False, why=f"the task is {kind} classification")


def _aim(wanted: str) -> Condition:
    def asked(q: Inquiry) -> Applies:
        aims = q.plan.purpose.aims
        if not aims or not q.loaded.signed:
            return SILENT
        return Applies(wanted in aims, f"the aims are {', '.join(aims)}")

    return asked


def _comparison(q: Inquiry) -> Applies:
    models = [name for name, one in q.plan.models.items() if one.kind in ("model", "human")]
    if len(models) > 1:
        return Applies(holds=True, why=f"the plan names {len(models)} models")
    return _aim("comparison")(q)


def _stage(wanted: str) -> Condition:
    def asked(q: Inquiry) -> Applies:
        stage = q.plan.purpose.stage
        return SILENT if stage is None or not q.loaded.signed else Applies(stage == wanted, f"the stage is {stage}")

    return asked


def _scheme(*wanted: str) -> Condition:
    def asked(q: Inquiry) -> Applies:
        scheme = q.plan.tuning.scheme
        if scheme is None or not q.loaded.signed:
            return SILENT
        return Applies(scheme in wanted, f"the validation scheme is {scheme}")

    return asked


def _validation(q: Inquiry) -> Applies:
    if splits_of(q.loaded, "validation"):
        return Applies(holds=True, why="there are validation data")
    if q.plan.tuning.scheme == "none" and q.loaded.signed:
        return Applies(holds=False, why="stated: no choice was made on validation data")
    return SILENT


def _several_splits(q: Inquiry) -> Applies:
    several = len(q.plan.data) > 1
    return Applies(holds=True, why="there are several data sets") if several else SILENT


def _both(*conditions: Condition) -> Condition:
    def asked(q: Inquiry) -> Applies:
        found = [one(q) for one in conditions]
        ruled_out = next((one for one in found if one.holds is False), None)
        return ruled_out or next((one for one in found if one.holds is None), found[0])

    return asked


def _tests(q: Inquiry) -> Applies:
    if q.findings or q.plan.tests.chosen:
        return Applies(holds=True, why="tests are planned or made")
    if q.signed(q.plan.tests.none):
        return Applies(holds=False, why=f"stated: no test is made, {quoted(q.plan.tests.none)}")
    return SILENT


def _test(q: Inquiry, word: str) -> Applies:
    made = [str(one.get("test", "")) for one in q.findings] + list(q.plan.tests.chosen or ())
    if any(word in name.casefold() for name in made):
        return Applies(holds=True, why=f"a test of this kind is made: {word}")
    if made and q.loaded.signed:
        return Applies(holds=False, why=f"other tests were chosen: {', '.join(sorted(set(made)))}")
    every = _tests(q)
    return every if every.holds is False else SILENT


def _average(wanted: str) -> Condition:
    def asked(q: Inquiry) -> Applies:
        if _kind(q) == "binary":
            return Applies(holds=False, why="the task is binary")
        planned = chosen(q.plan.metrics.measures)
        if not planned:
            return SILENT
        used = any(m.average == wanted for m in planned)
        return Applies(used, f"{'a' if used else 'no'} {wanted} average is planned")

    return asked


def _f_beta(q: Inquiry) -> Applies:
    planned = chosen(q.plan.metrics.measures)
    if not planned:
        return SILENT
    used = [m.title for m in planned if m.title.startswith(("f_beta", "f_0", "f2", "f_weighted"))]
    return Applies(bool(used), f"planned: {', '.join(used)}" if used else "no measure with such a weight is planned")


def _flag(section: str, name: str, says: str) -> Condition:
    def asked(q: Inquiry) -> Applies:
        value = getattr(getattr(q.plan, section), name)
        return SILENT if value is None or not q.loaded.signed else Applies(bool(value), f"stated: {says} {value}")

    return asked


def _cost(wanted: str) -> Condition:
    def asked(q: Inquiry) -> Applies:
        scope = q.plan.cost.scope or []
        if wanted in scope:
            return Applies(holds=True, why=f"{wanted} is in scope")
        if q.signed(q.plan.cost.out_of_scope):
            return Applies(holds=False, why=f"not in scope: {quoted(q.plan.cost.out_of_scope)}")
        return SILENT

    return asked


def _human(q: Inquiry) -> Applies:
    kinds = {one.kind for one in q.plan.models.values()}
    return SILENT if not kinds else Applies("human" in kinds, f"comparators: {', '.join(sorted(kinds))}")


def _annotators(q: Inquiry) -> Applies:
    given = q.annotations is not None or bool(q.plan.ground_truth.annotators)
    return Applies(holds=True, why="there are annotations") if given else SILENT


def _costs(q: Inquiry) -> Applies:
    return Applies(holds=True, why="costs are stated") if q.signed(q.plan.use.costs) else SILENT


def _false_discovery(q: Inquiry) -> Applies:
    correction = q.plan.tests.correction
    if correction is None or not q.loaded.signed:
        every = _tests(q)
        return every if every.holds is False else SILENT
    return Applies(correction.startswith("benjamini"), f"the correction is {correction}")


CONDITIONS: Final[dict[str, Condition]] = {
    "binary": _task("binary"),
    "multiclass": _task("multiclass"),
    "multilabel": _task("multilabel"),
    "segmentation": _classification,
    "detection": _classification,
    "regression": _classification,
    "assessment": _aim("assessment"),
    "out-of-time": _aim("out-of-time"),
    "cv-comparison": _aim("cv-comparison"),
    "comparison": _comparison,
    "design": _stage("design-development"),
    "verification": _stage("verification-validation"),
    "cross-validation": _scheme(*CROSS_VALIDATION),
    "nested": _scheme("nested"),
    "cross-validated comparison": _both(_scheme(*CROSS_VALIDATION), _comparison),
    "validation": _validation,
    "several-splits": _several_splits,
    "tests": _tests,
    "macro": _average("macro"),
    "micro": _average("micro"),
    "weighted": _average("weighted"),
    "f-beta": _f_beta,
    "simulated": _flag("environment", "simulated", "simulated is"),
    "interactive": _flag("use", "interactive", "interactive is"),
    "throughput": _cost("throughput"),
    "efficiency": _cost("efficiency"),
    "human": _human,
    "annotators": _annotators,
    "costs": _costs,
    "false-discovery": _false_discovery,
}
