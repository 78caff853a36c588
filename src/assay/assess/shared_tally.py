# SPDX-License-Identifier: Apache-2.0
"""What may leave a site whose rows may not: its tally, without ids, file names or small cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Final

from assay.assess.record.record import OF_TALLY, VERSION, Record, sealed
from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.task import Tally
from assay.core.text import counted, quoted
from assay.tally.base import digest
from assay.tally.by_group import Grouped, free_name

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment

SMALLEST: Final = 10
"""Rows a cell must hold to leave a site, unless another number is stated; 5, 10 and 11 are common in data-use rules."""
POOLED: Final = "(pooled)"
"""The level that holds what levels with small cells hold together."""


def site_tally(assessment: Assessment, *, site: str | None = None, smallest_cell: int = SMALLEST) -> Record:
    """The tally of an assessment as a file to share: counts and settings, nothing about single rows."""
    if smallest_cell < 1:
        what, known = f"the smallest cell is {smallest_cell}", "1 lets every cell out, 10 hides cells of 1 to 9 rows"
        raise PlanError("option-unknown", what, where="smallest_cell", known=known, fix="state a whole number from 1")
    if site is not None and not site.strip():
        raise PlanError("option-unknown", "the name of the site is empty", where="site", fix="name it, or leave it out")
    whole, notes = assessment.contract.shareable(assessment.counts, smallest_cell)
    grouped, hidden = _grouped(assessment, smallest_cell)
    tallies = {**whole.to_json(), "groups": grouped.to_json()}
    plan = {"given": "site tally", **assessment.settings.to_json(), "data": {"smallest_cell": smallest_cell}}
    record = assessment.record
    content: dict[str, Any] = {
        "assay": VERSION,
        "kind": "tally",
        "site": site,
        **{part: record[part] for part in OF_TALLY if part in record and part not in {"assay", "kind"}},
        "tallies": tallies,
        "plan": {**plan, "digest": digest(plan)},
        "notes": [*(note for note in assessment.notes if note not in assessment.about_files), *notes, *hidden],
        "digests": {"tallies": digest(tallies), "files": {}},
    }
    return Record(sealed(content))


def pooled(assessment: Assessment, smallest: int) -> Assessment:
    """The same assessment without small cells in its groups: levels that have them are counted together."""
    if smallest <= 1:
        return assessment
    grouped, notes = _grouped(assessment, smallest)
    tallies = (tally for levels in assessment.grouped.factors.values() for tally in levels.values())
    left_out = {f"groups: {note}": None for tally in tallies for note in assessment.contract.shareable(tally, 1)[1]}
    return assessment.regrouped(grouped, (*notes, *left_out))


def _grouped(assessment: Assessment, smallest: int) -> tuple[Grouped[Any], list[str]]:
    """The groups without small cells and without scores, and notes of what was done."""
    contract, factors, notes = assessment.contract, {}, []
    hidden: dict[str, list[Label]] = {}
    for name, levels in assessment.grouped.factors.items():
        shown = {level: contract.shareable(tally, 1)[0] for level, tally in levels.items()}
        factors[name], hidden[name] = _pooled(shown, lambda tally: bool(contract.small_cells(tally, smallest)))
        if n := len(hidden[name]):
            notes.append(
                f"group {quoted(name)}: {counted(n, 'level')} with cells below {smallest} rows, or needed to "
                f"hide one, {'is' if n == 1 else 'are'} counted together as {quoted(POOLED)}"
            )
    for name in [name for name in factors if hidden[name] and given_away(name, hidden, assessment.grouped.factors)]:
        del factors[name]
        notes.append(f"group {quoted(name)} is left out: with its margins, a cell below {smallest} rows would show")
    return Grouped(factors=factors), notes


def given_away(name: str, hidden: Mapping[str, Sequence[Label]], factors: Mapping[str, Mapping[Label, object]]) -> bool:
    """Whether a hidden level of a crossed group follows from what is shown of the groups it crosses.

    Every shown level of a crossed group is a sum of its cells, and so is what was pooled; a hidden cell is given away
    where these sums determine it.

    >>> levels = {"a": {"x": 0, "y": 0}, "b": {"u": 0, "v": 0}}
    >>> given_away("a:b", {"a": [], "b": [], "a:b": ["x:u", "y:v"]}, levels)
    True
    >>> given_away("a:b", {"a": [], "b": [], "a:b": ["x:u", "x:v", "y:u", "y:v"]}, levels)
    False
    """
    import numpy as np

    from assay.fairness.settings import CROSSED, split_level

    parts = name.split(CROSSED)
    if len(parts) < 2 or not all(part in factors for part in parts):  # noqa: PLR2004  a crossing
        return False
    cells = [split_level(str(level)) for level in hidden[name]]
    sums = [[1.0] * len(cells)]
    for place, part in enumerate(parts):
        pooled_levels = {str(level) for level in hidden[part]}
        shown = {str(level) for level in factors[part]} - pooled_levels
        sums += [[float(cell[place] == level) for cell in cells] for level in sorted(shown)]
        sums.append([float(cell[place] in pooled_levels) for cell in cells])
    matrix = np.array(sums)
    rank = np.linalg.matrix_rank(matrix)
    return any(np.linalg.matrix_rank(np.vstack([matrix, row])) == rank for row in np.eye(len(cells)))


def _pooled(levels: Mapping[Label, Tally], is_small: Callable[[Tally], bool]) -> tuple[dict[Label, Tally], list[Label]]:
    """Levels without small cells as they are, the others as one; levels still add up to the whole.

    Were one level just left out, it would be the whole minus the others; so what is hidden is itself published as a
    sum, and as many further levels join it, smallest first, as that sum needs to have no small cell.
    """
    hidden = {level: tally for level, tally in levels.items() if is_small(tally)}
    if not hidden:
        return dict(levels), []
    rest = sorted((level for level in levels if level not in hidden), key=lambda level: levels[level].rows)
    while rest and (len(hidden) == 1 or is_small(reduce(add, hidden.values()))):
        level = rest.pop(0)
        hidden[level] = levels[level]
    shown = {level: tally for level, tally in levels.items() if level not in hidden}
    return {**shown, free_name(POOLED, shown): reduce(add, hidden.values())}, list(hidden)
