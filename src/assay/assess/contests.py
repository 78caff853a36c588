# SPDX-License-Identifier: Apache-2.0
"""The models of a plan against each other, on every test split: which tests ran, and which named ones were refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.assess.comparing import compare
from assay.core.errors import PlanError, RowsError
from assay.inference.catalogue import every_test
from assay.inference.power import alpha_of
from assay.rows.reading import Reading

if TYPE_CHECKING:
    from assay.assess.comparison import Comparison
    from assay.assess.plan.loading import LoadedPlan

ALPHA: Final = 0.05
CORRECTIONS: Final = {"benjamini-hochberg": "fdr_bh", "benjamini-yekutieli": "fdr_by"}
"""What a plan calls a correction, where the table of corrections calls it otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A test that the plan names: whether the table admits it, and why or why not; None where nobody can tell."""

    test: str
    admitted: bool | None
    why: str

    def to_json(self) -> dict[str, object]:
        """As facts of a control."""
        return {"test": self.test, "admitted": self.admitted, "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """The models on one test split: the comparison, or why there is none, and what became of the named tests."""

    models: tuple[str, ...]
    comparison: Comparison | None
    why_not: str = ""
    named: tuple[Named, ...] = ()
    channels: Mapping[str, Comparison] | None = None

    @property
    def findings(self) -> tuple[dict[str, Any], ...]:
        """Every finding, as in a Record."""
        return () if self.comparison is None else tuple(one.to_json() for one in self.comparison.findings)


def contest(loaded: LoadedPlan, paths: Mapping[str, Path], channels: Sequence[str]) -> Contest:
    """Compare the models whose predictions lie at these paths, as the plan asks."""
    plan, models = loaded.plan, tuple(paths)
    given: dict[str, Any] = {
        "truth": plan.columns.truth,
        "id": plan.columns.id,
        "positive": plan.task.positive,
        "labels": plan.task.classes,
        "level": alpha_of(plan.tests.alpha or ALPHA),
        "correction": CORRECTIONS.get(plan.tests.correction or "", "holm"),
        "reading": Reading(delimiter=plan.reading.delimiter, decimal=plan.reading.decimal),
        "spelled": True,
    }
    together = len(set(paths.values())) == 1
    given["data"] = str(paths[models[0]]) if together else {name: str(path) for name, path in paths.items()}
    for role in ("predicted", "score"):
        columns = {name: getattr(plan.models[name], role) for name in models}
        if None not in columns.values():
            given[role] = columns
    if plan.task.type == "multiclass":
        given.pop("score", None)
    try:
        found = compare(**given)
        by_channel = {one: compare(**given, channel=one) for one in channels if together and "predicted" in given}
    except (PlanError, RowsError) as error:  # told in the Record: without a comparison there is no evidence
        return Contest(models=models, comparison=None, why_not=error.what)
    named = tuple(_named(name, found, given, plan.tests.justification) for name in plan.tests.chosen or ())
    return Contest(models=models, comparison=found, named=named, channels=by_channel)


def _named(name: str, found: Comparison, given: Mapping[str, Any], because: str | None) -> Named:
    """Whether a test that the plan names is one the table gives for these values."""
    for answer in found.answers:
        every = [one for one in (answer.choice.test, *answer.choice.beside, answer.choice.after) if one is not None]
        ran = {one.test for one in answer.findings} | {one.name for one in every}
        family = {one.family for one in every_test() if one.name in ran}
        if name in ran | family or any(name in one.also for one in every):
            return Named(test=name, admitted=True, why=answer.choice.why)
    try:
        forced = compare(**given, test=name, because=because)
    except (PlanError, RowsError) as error:
        return Named(test=name, admitted=False, why=f"{error.what}; {error.found or error.fix or ''}".rstrip("; "))
    except TypeError:  # it takes values of another kind than labels or scores of one test set
        return Named(test=name, admitted=False, why="it takes values of another kind than these predictions")
    return Named(test=name, admitted=None, why=forced.answers[0].choice.label or forced.answers[0].choice.why)
