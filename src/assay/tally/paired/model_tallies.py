# SPDX-License-Identifier: Apache-2.0
"""Several models on the same test data, where each keeps a tally of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar, cast

from assay.tally.base import Digested


class Stored(Protocol):
    """A tally that a Record holds."""

    def to_json(self) -> dict[str, object]:
        """As in a Record."""

    @classmethod
    def from_json(cls, content: Mapping[str, object], /) -> Self:
        """The inverse of `to_json`."""


Own = TypeVar("Own", bound=Stored)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelTallies(Digested, Generic[Own]):
    """By model: its tally."""

    models: Mapping[str, Own]

    def table(self, model: str) -> Own:
        """The tally of one model."""
        return self.models[model]

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {"models": {model: tally.to_json() for model, tally in self.models.items()}}

    @classmethod
    def read(cls, kind: type[Own], content: Mapping[str, object]) -> ModelTallies[Own]:
        """The inverse of `to_json`, for tallies of a kind."""
        parts = cast("Mapping[str, Mapping[str, object]]", content["models"])
        return cls(models={model: kind.from_json(part) for model, part in parts.items()})
