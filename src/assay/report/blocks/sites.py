# SPDX-License-Identifier: Apache-2.0
"""How far merged sites lie apart, as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.assess.record import Record
from assay.core.text import chance_shown, figure, listed, visible
from assay.report import sentences
from assay.report.estimate_rows import About, about, in_hundred, prose, real


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One measure over the sites: its ends, and whether chance explains them."""

    about: About
    lowest: str
    highest: str
    p: str
    beyond_chance: str
    method: str
    left_out: str


def spreads(record: Record, factor: str, titles: Sequence[str]) -> tuple[Spread, ...]:
    """The spreads of some measures over a factor, in their order; nothing for a Record that was not merged."""
    found = {one["measure"]: one for one in record.get("heterogeneity", ()) if one["factor"] == factor}
    return tuple(
        Spread(
            about=about(title),
            lowest=_end(one["lowest"]),
            highest=_end(one["highest"]),
            p=chance_shown(float(one["p"])),
            beyond_chance=in_hundred(float(one["i_squared"])),
            method=prose(one["method"]),
            left_out=sentences.without_value(listed(one["left_out"], most=3)) if one["left_out"] else "",
        )
        for title in titles
        if (one := found.get(title)) is not None
    )


def _end(end: dict[str, object]) -> str:
    value = real(end["value"])
    return f"{'?' if value is None else figure(value)} ({visible(end['level'])})"
