# SPDX-License-Identifier: Apache-2.0
"""How far each measure lies apart between the levels of a group, such as sites whose tallies were merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.core.labels import Label
from assay.inference.estimates import Estimates, real_to_json
from assay.inference.tests.strata import Heterogeneity, heterogeneity
from assay.tasks.classification.settings import Settings


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


def differences(levels: Mapping[Label, Estimates], factor: str, settings: Settings) -> list[Difference]:
    """One entry for each measure of the whole table that can be compared; counts and measures without spread cannot."""
    names = list(levels)
    first = levels[names[0]]
    out = []
    for measure in first.measures:
        if measure.family == "counts":
            continue
        estimates = [levels[name][measure.title] for name in names]
        spread = heterogeneity(estimates, seed=settings.wanted.seed)
        if spread is None:
            continue
        lowest, highest = ((names[i], float(estimates[i].value or 0.0)) for i in (spread.lowest, spread.highest))
        out.append(
            Difference(
                factor=factor,
                found=spread,
                lowest=lowest,
                highest=highest,
                left_out=tuple(names[i] for i in spread.left_out),
            )
        )
    return out
