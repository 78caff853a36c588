# SPDX-License-Identifier: Apache-2.0
"""Two models in every level of a channel: what the levels hold, and what the tests say of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from assay.assess.compare.model_columns import Given, channels, together
from assay.assess.compare.questions.label_questions import of_channels
from assay.assess.compare.questions.request import Asked
from assay.tally.paired.joint_cells import PairedLabels

if TYPE_CHECKING:
    from assay.assess.compare.comparison import Comparison
    from assay.assess.compare.questions.request import Answer

ASKED: Final = ("level", "draws", "seed", "stratified")
"""What of a comparison shapes the answer about channels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByChannel:
    """The tallies of every level, and the answer that they give."""

    levels: Mapping[str, PairedLabels]
    asked: Asked

    @property
    def answer(self) -> Answer:
        """Whether one model is ahead within the channels, and as far in each."""
        return of_channels(self.levels, self.asked)

    def to_json(self) -> dict[str, Any]:
        """As facts of a control: enough to compute the findings again."""
        return {
            "levels": [{"channel": name, "paired": one.to_json()} for name, one in self.levels.items()],
            "asked": {name: getattr(self.asked, name) for name in ASKED},
            "findings": [one.to_json() for one in self.answer.findings],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> ByChannel:
        """The inverse of `to_json`; findings are computed, not read."""
        levels = {one["channel"]: PairedLabels.from_json(one["paired"]) for one in content["levels"]}
        return cls(levels=levels, asked=Asked(**{name: content["asked"][name] for name in ASKED}))


def by_channel(comparison: Comparison, given: Mapping[str, Any], channel: str) -> ByChannel:
    """The compared models in every level of a column of their table."""
    columns = Given(
        channel=channel,
        truth=given.get("truth"),
        predicted=given.get("predicted"),
        reading=given.get("reading"),
        engine=given.get("engine"),
        limits=given.get("limits"),
    )
    return ByChannel(levels=channels(together(given["data"], columns), comparison.labels), asked=comparison.asked)
