# SPDX-License-Identifier: Apache-2.0
"""The files of a plan that controls look into, each opened once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from assay.assess.conformity.plan_sources import Held, of_split, places
from assay.assess.plan.checked_plan import LoadedPlan
from assay.tally.data.split_counts import SplitRows

if TYPE_CHECKING:
    from assay.rows.limits import Limits

Progress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFiles:
    """Rows of splits and models, and what a plan names beside them."""

    splits: Mapping[str, SplitRows]
    predictions: Mapping[str, SplitRows]
    annotations: SplitRows | None
    folds: SplitRows | None
    reference: SplitRows | None
    folds_of: Mapping[str, SplitRows]
    latencies: Mapping[str, SplitRows]

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
            folds_of=there({name: beside(model.folds) for name, model in plan.models.items()}),
            latencies=there({name: beside(model.latencies) for name, model in plan.models.items()}),
        )
