# SPDX-License-Identifier: Apache-2.0
"""Reads the rows of any table into tables of sums by unit: of one model with its groups, or of several models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeAlias, TypeVar, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.labels import Label, in_order
from assay.core.task import Counted, Request, Tally, find_task
from assay.tally.batches import Column, open_batches
from assay.tally.by_group import MISSING, Grouped
from assay.tally.unit_table import UnitModels, UnitTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.task import Role
    from assay.tasks.by_unit import UnitTask

    Rows: TypeAlias = slice | NDArray[np.bool_]

T = TypeVar("T", bound=Tally)
UNIT, GROUP, MODEL = "unit", "group ", " of model "
"""Names of columns in a batch, which no role can have."""


@dataclass(frozen=True)
class Parts(Generic[T]):
    """A tally, and those of each level of each group; a task says which kind of tally."""

    KIND: ClassVar[type]
    tally: T
    grouped: Grouped[Any] = field(default_factory=Grouped)

    def __add__(self, other: Self) -> Self:
        """Both together."""
        return replace(self, tally=self.tally + other.tally, grouped=self.grouped + other.grouped)

    def to_json(self) -> dict[str, object]:
        """As it travels between machines."""
        return {**self.tally.to_json(), "groups": self.grouped.to_json()}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """The inverse of `to_json`."""
        read = cast("Any", cls.KIND).from_json
        return cls(read(content), Grouped.from_json(content["groups"], read))


class UnitParts(Parts[UnitTable]):
    """A table of units, and those of each level of each group."""

    KIND = UnitTable


def read_units(task: UnitTask, request: Request) -> Counted:
    """Read one model."""
    columns = role_columns(task.roles, request) | side_columns(request)
    kernel = partial(count_batch, task.name, dict(request.options), tuple(request.group))
    with open_batches(request, columns) as batches:
        parts = batches.run(kernel, UnitParts)
        return Counted(
            tally=parts.tally, census=batches.census, groups=ordered_levels(parts.grouped), notes=batches.notes,
            data=batches.about,
        )  # fmt: skip


def read_unit_models(task: UnitTask, request: Request, models: Mapping[str, Mapping[str, object]]) -> Counted:
    """Read several models on the same rows."""
    columns = role_columns([role for role in task.roles if not role.by_model], request) | side_columns(request)
    for model, given in models.items():
        own = Request(given={**request.given, **given}, options=request.options)
        for role, column in role_columns([role for role in task.roles if role.by_model], own).items():
            columns[f"{role}{MODEL}{model}"] = column
    kernel = partial(count_models, task.name, dict(request.options), tuple(models))
    with open_batches(request, columns) as batches:
        paired = batches.run(kernel, UnitModels)
        return Counted(tally=paired, census=batches.census, notes=batches.notes, data=batches.about)


def role_columns(roles: Sequence[Role], request: Request) -> dict[str, Column]:
    """The columns of roles that were given; a required one that was not is an error."""
    missing = str(request.options.get("missing", "error"))
    columns = {}
    for role in roles:
        if request.given.get(role.name) is not None:
            columns[role.name] = Column(request.given[role.name], role.kind, cast("Any", missing))
        elif role.required:
            raise lacking_role(role.name, f"{role.name} holds {role.holds}")
    return columns


def lacking_role(role: str, known: str) -> PlanError:
    """The error of a column that was not given."""
    fix = f"give {role}=... (--{role} COLUMN)"
    return PlanError("role-missing", f"no {role} is given", where=role, known=known, fix=fix)


def side_columns(request: Request) -> dict[str, Column]:
    """The columns of the unit and of groups."""
    columns = {} if request.unit is None else {UNIT: Column(request.unit, "label")}
    return columns | {f"{GROUP}{name}": Column(given, "label", "keep") for name, given in request.group.items()}


def count_batch(
    task_name: str, options: Mapping[str, object], factors: tuple[str, ...], batch: Mapping[str, NDArray[Any]]
) -> UnitParts:
    """Count a batch of rows: the kernel of every task whose units are rows or groups of rows."""
    task = cast("UnitTask", find_task(task_name))
    sums = task.kernel(batch, options)
    units = batch.get(UNIT)

    def count(rows: Rows) -> UnitTable:
        own = sums[rows]
        if units is None:
            return UnitTable.build(task.sums.NAMES, own)
        ids, added = add_by_unit(own, units[rows])
        return UnitTable.build(task.sums.NAMES, added, rows=len(own), ids=ids)

    return UnitParts(count(slice(None)), count_levels(batch, factors, count))


def count_levels(batch: Mapping[str, NDArray[Any]], factors: Sequence[str], count: Callable[[Rows], T]) -> Grouped[T]:
    """Count the rows of each level of each group once more."""
    grouped: dict[str, dict[Label, T]] = {}
    for factor in factors:
        levels = batch[f"{GROUP}{factor}"].tolist()
        places: dict[Label | None, int] = {}
        codes = np.fromiter((places.setdefault(level, len(places)) for level in levels), np.intp, len(levels))
        grouped[factor] = {
            MISSING if level is None else level: count(codes == place) for level, place in places.items()
        }
    return Grouped(factors=grouped)


def add_by_unit(sums: NDArray[np.float64], units: NDArray[Any]) -> tuple[list[str], NDArray[np.float64]]:
    """Add up the rows of each unit."""
    places: dict[str, int] = {}
    codes = np.fromiter((places.setdefault(str(unit), len(places)) for unit in units), np.intp, len(units))
    added = np.zeros((len(places), sums.shape[1]))
    order = np.lexsort((*sums.T, codes))  # sums of a unit do not depend on the order of its rows
    np.add.at(added, codes[order], sums[order])
    return list(places), added


def count_models(
    task_name: str, options: Mapping[str, object], models: tuple[str, ...], batch: Mapping[str, NDArray[Any]]
) -> UnitModels:
    """Count a batch of rows for several models."""
    task = cast("UnitTask", find_task(task_name))
    shared = {name: values for name, values in batch.items() if MODEL not in name}
    by_model = []
    for model in models:
        end = f"{MODEL}{model}"
        own = {name.removesuffix(end): values for name, values in batch.items() if name.endswith(end)}
        by_model.append(task.kernel({**shared, **own}, options))
    stacked = np.stack(by_model, axis=1)
    if UNIT not in batch:
        return UnitModels.build(models, task.sums.NAMES, stacked)
    ids, added = add_by_unit(stacked.reshape(len(stacked), -1), batch[UNIT])
    shaped = added.reshape(-1, *stacked.shape[1:])
    return UnitModels.build(models, task.sums.NAMES, shaped, rows=len(stacked), ids=ids)


def ordered_levels(grouped: Grouped[Any]) -> dict[str, dict[Label, object]]:
    """Groups with their levels in order, rows without a level last."""
    ordered: dict[str, dict[Label, object]] = {}
    for factor, levels in grouped.factors.items():
        known = list(in_order(level for level in levels if level != MISSING))
        ordered[factor] = {level: levels[level] for level in [*known, *([MISSING] if MISSING in levels else [])]}
    return ordered
