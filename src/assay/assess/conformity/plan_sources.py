# SPDX-License-Identifier: Apache-2.0
"""Where the rows of a plan lie: files of its folder, tables of databases, or truth here and predictions there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.assess.plan.checked_plan import LoadedPlan
from assay.core.text import counted, visible
from assay.rows.databases.database import is_server, shown
from assay.rows.files.formats import Reading
from assay.tally.data.split_counts import SplitRows

if TYPE_CHECKING:
    from assay.assess.plan.datasets import Split
    from assay.assess.plan.model_fields import Model
    from assay.rows.limits import Limits


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

    def selected(self, truth: Held | None) -> dict[str, Any]:
        """Which tables of databases hold these rows, and the truth if that is elsewhere."""
        tables = {"table": self.table, "query": self.query}
        return tables if truth is None else {**tables, "truth_table": truth.table, "truth_query": truth.query}

    def reading(self, loaded: LoadedPlan, *, pinned: bool = True, truth: Held | None = None) -> Reading:
        """How these rows are read, and the truth if that is elsewhere."""
        stated = {name: getattr(loaded.plan.reading, name) for name in ("delimiter", "decimal", "max_rows")}
        return Reading(**stated, sha256=self.pinned if pinned else None, **self.selected(truth))


def of_split(loaded: LoadedPlan, split: Split) -> Held | None:
    """Where a data set lies; None where the plan does not say."""
    if split.path is None:
        return None
    return Held(places=places(loaded, split.path), table=split.table, query=split.query, pinned=split.sha256)


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


Progress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFiles:
    """Rows of splits and models, and what a plan names beside them."""

    splits: Mapping[str, SplitRows] = field(default_factory=dict)
    predictions: Mapping[str, SplitRows] = field(default_factory=dict)
    annotations: SplitRows | None = None
    folds: SplitRows | None = None
    reference: SplitRows | None = None
    fold_tables: Mapping[str, SplitRows] = field(default_factory=dict)
    latencies: Mapping[str, SplitRows] = field(default_factory=dict)

    @classmethod
    def of(
        cls, loaded: LoadedPlan, predictions: Mapping[str, Held], limits: Limits | None, progress: Progress | None
    ) -> PlanFiles:
        """Those of a plan; `progress` hears how far reading is."""
        plan, known = loaded.plan, {}

        def at(source: Held | None) -> SplitRows | None:
            if source is None:
                return None
            if source.places not in known:
                reading = source.reading(loaded)
                known[source.places] = SplitRows.of(source.data, reading=reading, limits=limits, progress=progress)
            return known[source.places]

        def beside(place: str | None) -> SplitRows | None:
            return None if place is None else at(Held(places=places(loaded, place)))

        def there(each: Mapping[str, SplitRows | None]) -> dict[str, SplitRows]:
            return {name: one for name, one in each.items() if one is not None}

        return cls(
            splits=there({name: at(of_split(loaded, one)) for name, one in plan.data.items()}),
            predictions=there({model: at(held) for model, held in predictions.items()}),
            annotations=beside(plan.ground_truth.annotations),
            folds=beside(plan.tuning.folds),
            reference=beside(plan.population.sample),
            fold_tables=there({name: beside(model.folds) for name, model in plan.models.items()}),
            latencies=there({name: beside(model.latencies) for name, model in plan.models.items()}),
        )
