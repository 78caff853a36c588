# SPDX-License-Identifier: Apache-2.0
"""Questions that are decided together: Holm's procedure on intervals, the strictest level first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from assay.core.errors import PlanError
from assay.core.text import visible
from assay.inference.power import alpha_of

CORRECTIONS: Final = ("holm", "none")
Found = TypeVar("Found")


def stepped(
    places: Sequence[int],
    level: float,
    correction: str,
    judge: Callable[[float, Sequence[int]], Mapping[int, Found]],
    settled: Callable[[Found], bool],
) -> dict[int, Found]:
    """Judge every place at the level of Holm's step; those that settle leave the family, and the rest is asked anew.

    >>> stepped([0, 1], 0.95, "holm", lambda level, open_: dict.fromkeys(open_, round(level, 3)), lambda _: False)
    {0: 0.975, 1: 0.975}
    """
    if correction not in CORRECTIONS:
        raise PlanError(
            "option-unknown",
            f"correction = {visible(repr(correction))} is not a correction of criteria",
            known=", ".join(CORRECTIONS),
            fix="choose one of them",
        )
    outcomes: dict[int, Found] = {}
    open_ = list(places)
    while open_:
        judged = judge(1 - alpha_of(level) / (len(open_) if correction == "holm" else 1), open_)
        closed = [place for place in open_ if settled(judged[place])]
        outcomes |= {place: judged[place] for place in closed or open_}
        open_ = [place for place in open_ if place not in closed] if closed else []
    return outcomes
