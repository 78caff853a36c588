# SPDX-License-Identifier: Apache-2.0
"""Where the rows of a plan lie: files of its folder, tables of databases, or truth here and predictions there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.text import counted, visible
from assay.rows.databases.database import is_server, shown
from assay.rows.files.formats import Reading

if TYPE_CHECKING:
    from assay.assess.plan.checked_plan import LoadedPlan
    from assay.assess.plan.datasets import Split
    from assay.assess.plan.model_fields import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Rows by their place: one path or several, a pattern, a folder, a table of a database."""

    places: tuple[str, ...]
    table: str | None = None
    query: str | None = None
    pinned: str | Mapping[str, str] | None = None

    @property
    def data(self) -> str | list[str]:
        """As the counting functions take it."""
        return self.places[0] if len(self.places) == 1 else list(self.places)

    @property
    def name(self) -> str:
        """What errors and people call it."""
        if len(self.places) > 1:
            return counted(len(self.places), "file")
        return visible(shown(self.places[0]) if is_server(self.places[0]) else Path(self.places[0]).name)

    def reading(self, loaded: LoadedPlan, *, pinned: bool = True, truth: Held | None = None) -> Reading:
        """How these rows are read, and the truth if that is elsewhere."""
        settings = loaded.plan.reading
        return Reading(
            delimiter=settings.delimiter,
            decimal=settings.decimal,
            max_rows=settings.max_rows,
            sha256=self.pinned if pinned else None,
            table=self.table,
            query=self.query,
            truth_table=None if truth is None else truth.table,
            truth_query=None if truth is None else truth.query,
        )


def of_split(loaded: LoadedPlan, split: Split) -> Held | None:
    """Where a data set lies; None where the plan does not say."""
    if split.path is None:
        return None
    return Held(places=places(loaded, split.path), table=split.table, query=split.query, pinned=_pins(split.sha256))


def of_model(loaded: LoadedPlan, model: Model, split: Split) -> tuple[Held, Held | None]:
    """Where the predictions of a model lie, and the truth if that is elsewhere."""
    rows = of_split(loaded, split)
    if model.predictions is None and rows is not None:
        return rows, None
    own = Held(places=places(loaded, model.predictions or ""))
    return own, rows if model.joined else None


def places(loaded: LoadedPlan, given: str | list[str]) -> tuple[str, ...]:
    """Paths from the folder of the plan; addresses of servers as they are."""
    every = [given] if isinstance(given, str) else given
    return tuple(one if is_server(one) else str(loaded.folder / one) for one in every)


def _pins(given: str | Mapping[str, str] | None) -> str | dict[str, str] | None:
    return given if given is None or isinstance(given, str) else dict(given)
