# SPDX-License-Identifier: Apache-2.0
"""The levels of a group: their estimates, which of these a Record lists, and how far measures lie apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from assay.assess.tidy import Levels
from assay.core.arrays import keep_freed_memory
from assay.core.text import quoted
from assay.inference.estimates import MOST_LEVELS, Estimate, Estimates, real_to_json

if TYPE_CHECKING:
    from assay.core.labels import Label
    from assay.core.task import Tally, Task
    from assay.inference.tests.strata import Heterogeneity
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
        keep_freed_memory()
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The spread of one measure over the levels, with the two levels at its ends."""

    factor: str
    found: Heterogeneity
    lowest: tuple[Label, float]
    highest: tuple[Label, float]
    left_out: tuple[Label, ...]

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "factor": self.factor,
            **self.found.to_json(),
            "lowest": {"level": self.lowest[0], "value": real_to_json(self.lowest[1])},
            "highest": {"level": self.highest[0], "value": real_to_json(self.highest[1])},
            "left_out": list(self.left_out),
        }


def differences(levels: Levels, seed: int) -> list[Difference]:
    """How far each measure lies apart between the levels; counts and measures without spread cannot be compared."""
    from assay.inference.tests.strata import heterogeneity

    names = list(levels)
    out = []
    for measure in levels[names[0]].measures:
        if measure.family == "counts":
            continue
        estimates = [levels[name][measure.title] for name in names]
        spread = heterogeneity(estimates, seed=seed)
        if spread is None:
            continue
        lowest, highest = ((names[i], float(estimates[i].value or 0.0)) for i in (spread.lowest, spread.highest))
        out.append(
            Difference(
                factor=levels.factor,
                found=spread,
                lowest=lowest,
                highest=highest,
                left_out=tuple(names[i] for i in spread.left_out),
            )
        )
    return out
