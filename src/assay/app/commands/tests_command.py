# SPDX-License-Identifier: Apache-2.0
"""Tests of significance explained for people and for machines, from their declarations alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.inference.declare import Significance


def declaration(one: Significance) -> dict[str, object]:
    """Everything that is declared of a test, for machines."""
    return {
        "name": one.name,
        "family": one.family,
        "title": one.title,
        "also": list(one.also),
        "asks": one.asks,
        "null": one.null,
        "effect": one.effect,
        "assumes": list(one.assumes),
        "never": list(one.never),
        "source": [str(source) for source in one.source],
        "specification": one.spec,
        "errata": list(one.errata),
        "takes": one.takes.__name__,
        "pairwise": one.pairwise,
    }


def explained(one: Significance) -> str:
    """A test on a few lines."""
    lines = [
        f"{one.name}   {one.title}",
        f"  asks     {one.asks}",
        f"  null     {one.null}",
        f"  effect   {one.effect}",
    ]
    lines += [f"  assumes  {text}" for text in one.assumes]
    lines += [f"  never    {text}" for text in one.never]
    lines += [f"  source   {source}" for source in one.source]
    lines += [f"  errata   {', '.join(one.errata)}"] if one.errata else []
    return "\n".join(lines)


def listing(every: Sequence[Significance]) -> str:
    """One line a test."""
    return "\n".join(f"{one.name:<26} {one.asks}" for one in every)
