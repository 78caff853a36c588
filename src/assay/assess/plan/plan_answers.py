# SPDX-License-Identifier: Apache-2.0
"""What a plan answers: paths such as "purpose.stage", for every model, for every split of a role, or either of two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from assay.assess.conformity.clauses import Row
from assay.assess.plan.checked_plan import LoadedPlan, stated
from assay.assess.plan.document import ROLES
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


def splits_of(plan: LoadedPlan, role: str) -> dict[str, Any]:
    """The splits that play a role, by name."""
    return {name: one for name, one in plan.plan.data.items() if (one.role or name) == role}


def channel_columns(plan: Plan) -> dict[str, str]:
    """Channel columns, by what they are called."""
    found = {}
    for family in FAMILIES:
        one = getattr(plan.channels, family)
        if one is not None and one.column is not None:
            found[family] = str(one.column)
    return found | {column: column for column in plan.channels.other or ()}


def _one(plan: LoadedPlan, path: str) -> Answer:
    if "@validation" in path and plan.plan.tuning.scheme == "none":
        return Answer(path=path, given=("tuning.scheme",), lacking=())
    given: list[str] = []
    lacking: list[str] = []
    for place, value in _places(plan, plan.document, path.split("."), ()):
        (given if stated(value) or _empty_list(place, value) else lacking).append(".".join(place))
    return Answer(path=path, given=tuple(given), lacking=tuple(lacking))


def _empty_list(place: tuple[str, ...], value: object) -> bool:
    """No preprocessing at all is an answer; elsewhere an empty list says nothing."""
    return place[-1] == "preprocessing" and value == []


def _places(
    plan: LoadedPlan,
    node: Any,  # noqa: ANN401  plain values
    parts: list[str],
    before: tuple[str, ...],
) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not parts:
        yield before, node
        return
    head, *rest = parts
    table = node if isinstance(node, dict) else {}
    if head == "*":
        models = before == ("models",)
        names = [name for name, one in table.items() if not models or one.get("kind", "model") == "model"]
    elif head.startswith("@") and head[1:] in ROLES:
        names = list(splits_of(plan, head[1:]))
    else:
        names = [head]
    if not names:
        yield (*before, head, *rest), None
    for name in names:
        yield from _places(plan, table.get(name), rest, (*before, name))
