# SPDX-License-Identifier: Apache-2.0
"""What may leave a site whose rows may not: its tally, without ids, file names or small cells."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Final

from assay.assess.record import KINDS, VERSION, Record, sealed
from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label
from assay.core.text import counted, quoted
from assay.tally.base import digest
from assay.tally.confusion import Confusion
from assay.tally.grouped import Grouped

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment

SMALLEST: Final = 10
"""Rows a cell must hold to leave a site, unless another number is stated; 5, 10 and 11 are common in data-use rules."""
POOLED: Final = "(pooled)"
"""The level that holds what levels with small cells hold together."""
SHOWN: Final = 3


def site_tally(assessment: Assessment, *, site: str | None = None, smallest_cell: int = SMALLEST) -> Record:
    """The tally of an assessment as a file to share: counts and settings, nothing about single rows."""
    if smallest_cell < 1:
        raise PlanError(
            "option-unknown",
            f"the smallest cell is {smallest_cell}",
            where="smallest_cell",
            known="1 lets every cell out, 10 hides cells of 1 to 9 rows",
            fix="state a whole number from 1",
        )
    if site is not None and not site.strip():
        raise PlanError("option-unknown", "the name of the site is empty", where="site", fix="name it, or leave it out")
    grouped, notes = _protected(assessment, smallest_cell)
    if assessment.scores is not None:
        notes = [*notes, "scores stay at the site: which row has which score can be told from their tally"]
    tallies = {"confusion": assessment.confusion.to_json(), "groups": grouped.to_json()}
    plan = {"given": "site tally", **assessment.settings.to_json(), "data": {"smallest_cell": smallest_cell}}
    whole = assessment.record
    content: dict[str, Any] = {
        "assay": VERSION,
        "kind": "tally",
        "site": site,
        **{part: whole[part] for part in KINDS["tally"] if part in whole and part not in {"assay", "kind"}},
        "tallies": tallies,
        "plan": {**plan, "digest": digest(plan)},
        "notes": [*(note for note in assessment.notes if note not in assessment.about_files), *notes],
        "digests": {"tallies": digest(tallies), "files": {}},
    }
    return Record(sealed(content))


def pooled(assessment: Assessment, smallest: int) -> Assessment:
    """The same assessment without small cells in its groups: levels that have them are counted together."""
    if smallest <= 1:
        return assessment
    grouped, notes = _grouped(assessment, smallest)
    if assessment.scores is not None and assessment.scores.groups:
        notes.append("scores of single groups are left out: which row has which score can be told from their tally")
    return assessment.regrouped(grouped, tuple(notes))


def _protected(assessment: Assessment, smallest: int) -> tuple[Grouped, list[str]]:
    whole = assessment.confusion
    if smallest == 1:
        return assessment.grouped, []
    _demand_unweighted(whole)
    if small := _small(whole, smallest):
        first = "; ".join(f"{quoted(t)} called {quoted(p)}" for t, p in small[:SHOWN])
        more = f" and {len(small) - SHOWN:,} more" if len(small) > SHOWN else ""
        raise RowsError(
            "cell-too-small",
            f"{counted(len(small), 'cell')} of the whole table {'holds' if len(small) == 1 else 'hold'} "
            f"fewer than {smallest} rows",
            found=first + more,
            fix="share more rows at once, declare fewer classes, or if your rules allow it state a smaller number: "
            "smallest_cell=1 (--smallest-cell 1) lets every cell out",
        )
    return _grouped(assessment, smallest)


def _demand_unweighted(whole: Confusion) -> None:
    if whole.weighted:
        raise PlanError(
            "tally-mismatch",
            "a weighted tally does not say how many rows each cell holds",
            where="smallest_cell",
            fix="if your rules allow it, let every cell out: smallest_cell=1 (--smallest-cell 1)",
        )


def _grouped(assessment: Assessment, smallest: int) -> tuple[Grouped, list[str]]:
    """The groups without small cells, and what was done to them."""
    _demand_unweighted(assessment.confusion)
    factors, notes = {}, []
    for name, levels in assessment.grouped.factors.items():
        factors[name], hidden = _pooled(levels, smallest)
        if hidden:
            notes.append(
                f"group {quoted(name)}: {counted(hidden, 'level')} with cells below {smallest} rows, or needed to "
                f"hide one, {'is' if hidden == 1 else 'are'} counted together as {quoted(POOLED)}"
            )
    return Grouped(factors=factors), notes


def _small(table: Confusion, smallest: int) -> list[tuple[Label, Label]]:
    return [pair for pair, count in table.cells().items() if 0 < count < smallest]


def _pooled(levels: Mapping[Label, Confusion], smallest: int) -> tuple[dict[Label, Confusion], int]:
    """Levels without small cells as they are, the others as one; levels still add up to the whole.

    Were one level just left out, it would be the whole minus the others; so what is hidden is itself published as a
    sum, and as many further levels join it, smallest first, as that sum needs to have no small cell.
    """
    hidden: dict[Label, Confusion] = {level: table for level, table in levels.items() if _small(table, smallest)}
    if not hidden:
        return dict(levels), 0
    rest = sorted((level for level in levels if level not in hidden), key=lambda level: levels[level].rows)
    while rest and (len(hidden) == 1 or _small(_sum(hidden), smallest)):
        level = rest.pop(0)
        hidden[level] = levels[level]
    shown = {level: table for level, table in levels.items() if level not in hidden}
    name = POOLED
    while name in shown:  # somebody's own level may be called so
        name = f"({name})"
    return {**shown, name: _sum(hidden)}, len(hidden)


def _sum(tables: Mapping[Any, Confusion]) -> Confusion:
    return reduce(add, tables.values())
