# SPDX-License-Identifier: Apache-2.0
"""What a plan answers: paths such as "purpose.stage", for every model, for every split of a role, or either of two."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from assay.assess.conformity.clauses import Row
from assay.assess.plan.checked_plan import LoadedPlan, stated
from assay.assess.plan.document import table
from assay.assess.plan.fields import Plan

FAMILIES: Final = ("acquisition", "preprocessing", "person", "environment")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Whether a path is answered, and where; `lacking` names the places that say nothing."""

    path: str
    given: tuple[str, ...]
    lacking: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """Whether every place that was asked says something."""
        return bool(self.given) and not self.lacking


def answer(plan: LoadedPlan, path: str) -> Answer:
    """What a plan says at a path; of alternatives the first one that is answered.

    >>> from assay.assess.plan.checked_plan import planned
    >>> answer(planned({"use": {"intended": "triage"}}), "use.system|use.intended").given
    ('use.intended',)
    """
    found = [_one(plan, way) for way in path.split("|")]
    return replace(next((one for one in found if one.whole), found[0]), path=path)


def answered_rows(plan: LoadedPlan, rows: tuple[Row, ...]) -> dict[str, tuple[Answer, ...]]:
    """Row -> its answers, for every row that wants a statement."""
    return {row.id: tuple(answer(plan, path) for path in row.states) for row in rows if row.states}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAnswer:
    """A field that says nothing yet, and the requirement rows that wait for it."""

    path: str
    rows: tuple[str, ...]
    shall: tuple[str, ...]
    """Those of the rows without which nothing conforms."""


CHECK_NEEDS: Final = {
    "CHK-TESTSET-SAME": ("columns.id",),
    "CHK-OVERLAP": ("columns.id", "columns.features", "data.@train.path"),
    "CHK-LEDGER": ("tuning.ledger",),
    "CHK-ACCEL": ("run.artefacts|run.command",),
    "CHK-BASIS": ("metrics.averaging_basis|metrics.multilabel_basis",),
}
"""What the controls of shall rows read from a plan before they can pass."""
OF_TASKS: Final = ("binary", "multiclass", "multilabel", "segmentation", "detection", "regression")


def open_answers(plan: LoadedPlan, rows: tuple[Row, ...]) -> list[OpenAnswer]:
    """What a plan leaves open, first what most shall rows wait for, then what most rows do."""
    waiting: dict[str, list[Row]] = {}
    for row in rows:
        if not _may_apply(plan, row) or row.id in plan.plan.not_applicable:
            continue
        needs = [path for check in row.checks if row.strength == "shall" for path in CHECK_NEEDS.get(check.id, ())]
        for path in dict.fromkeys((*row.states, *needs)):
            if not answer(plan, path).whole:
                waiting.setdefault(path, []).append(row)
    if not plan.signed:
        stated_rows = [row for row in rows if row.states and _may_apply(plan, row)]
        identity = plan.plan.plan
        waiting |= {f"plan.{name}": stated_rows for name in ("assessor", "date") if not stated(getattr(identity, name))}
    answers = [
        OpenAnswer(
            path=path,
            rows=tuple(row.id for row in own),
            shall=tuple(row.id for row in own if row.strength == "shall"),
        )
        for path, own in waiting.items()
    ]
    return sorted(answers, key=lambda one: (-len(one.shall), -len(one.rows), one.path))


def _may_apply(plan: LoadedPlan, row: Row) -> bool:
    """Whether nothing in the plan rules a row out."""
    wanted, kind = set(row.when.conditions if row.when is not None else ()), plan.plan.task.type
    if kind is not None and wanted & set(OF_TASKS) and kind not in wanted:
        return False
    if kind == "binary" and wanted & {"macro", "micro", "weighted"}:
        return False
    models = [one for one in plan.plan.models.values() if one.kind in ("model", "human")]
    if "comparison" in wanted and len(models) < 2 and "comparison" not in (plan.plan.purpose.aims or ()):  # noqa: PLR2004
        return False
    return not ("validation" in wanted and plan.plan.tuning.scheme == "none")


def splits_of(plan: LoadedPlan, role: str) -> dict[str, Any]:
    """The splits that play a role, by name."""
    return {name: one for name, one in plan.plan.data.items() if (one.role or name) == role}


def channel_columns(plan: Plan) -> dict[str, str]:
    """Channel columns, by what they are called."""
    families = {family: getattr(plan.channels, family) for family in FAMILIES}
    columns = {family: str(own.column) for family, own in families.items() if own and own.column is not None}
    return columns | {column: column for column in plan.channels.other or ()}


def _one(plan: LoadedPlan, path: str) -> Answer:
    if "@validation" in path and plan.plan.tuning.scheme == "none":
        return Answer(path=path, given=("tuning.scheme",), lacking=())
    places: list[tuple[str, ...]] = [()]
    for part in path.split("."):
        places = [(*place, name) for place in places for name in _names(plan, place, part)]
    given: list[str] = []
    lacking: list[str] = []
    for *above, last in places:
        value = table(plan.document, *above).get(last)
        nothing_done = last == "preprocessing" and value == []  # elsewhere an empty list says nothing
        (given if stated(value) or nothing_done else lacking).append(".".join((*above, last)))
    return Answer(path=path, given=tuple(given), lacking=tuple(lacking))


def _names(plan: LoadedPlan, place: tuple[str, ...], part: str) -> list[str]:
    """What a part of a path means: `@ROLE` the splits of the role, `*` every entry; itself where there are none."""
    names = list(splits_of(plan, part[1:])) if part.startswith("@") else []
    if part == "*":
        entries = table(plan.document, *place).items()
        names = [name for name, entry in entries if place != ("models",) or entry.get("kind", "model") == "model"]
    return names or [part]
