# SPDX-License-Identifier: Apache-2.0
"""The levels of a group in an assessment: their estimates, and which of these a Record lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from assay.assess.tidy import Levels
from assay.core.text import quoted
from assay.inference.estimates import MOST_LEVELS, Estimate, Estimates

if TYPE_CHECKING:
    from assay.core.labels import Label
    from assay.core.task import Tally, Task
    from assay.measures.declare import Measure

MOST_LISTED: Final = 1000
"""Levels of a group up to which a Record lists every measure of each; beyond, the leading ones."""
FEW: Final = 16
"""Levels worked out at a time where each may take more than the least number of draws, so that these stay small."""
MANY: Final = 64
"""The same where each takes the least number."""


def view_levels(contract: Task, settings: object, factor: str, tallies: Mapping[Label, Tally]) -> Levels:
    """The estimates of each level, computed when asked for."""
    views: dict[Label, Estimates] = {}
    for level, tally in tallies.items():
        views[level] = view = cast("Estimates", contract.estimates(tally, settings, {factor: level}))
        view.beside = len(tallies)
    return Levels(views, factor)


class ListedLevels:
    """What a Record lists of the levels of one group."""

    def __init__(self, levels: Levels, contract: Task, settings: Any) -> None:  # noqa: ANN401  those of the task
        self._levels, self._leading = levels, contract.headline
        self._short = len(levels) > MOST_LISTED and settings.measures is None

    @property
    def steps(self) -> int:
        """How often `done` is called."""
        return len(self._levels) if self._short else sum(view.steps for view in self._levels.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said where measures are left out."""
        if not self._short:
            return ()
        factor, size = quoted(self._levels.factor), len(self._levels)
        said = f"group {factor} has {size:,} levels; of more than {MOST_LISTED:,} only the leading measures are listed"
        return (f"{said}, and all others are computed when asked for: by_group[{factor}]",)

    def estimates(self, done: Callable[[], None]) -> list[Estimate]:
        """The estimates, some levels at a time; what they were drawn from is forgotten before the next."""
        views, level_estimates = list(self._levels.values()), []
        size = FEW if len(views) <= MOST_LEVELS else MANY
        for start in range(0, len(views), size):
            block = views[start : start + size]
            block[0].work_out(block, self._measures(block[0]))
            for view in block:
                if self._short:
                    level_estimates += [view[measure.title] for measure in self._measures(view)]
                    done()
                else:
                    level_estimates += view.listed(done)
                view.release()
        return level_estimates

    def _measures(self, view: Estimates) -> list[Measure]:
        return [m for m in view.measures if not self._short or m.name in self._leading]
