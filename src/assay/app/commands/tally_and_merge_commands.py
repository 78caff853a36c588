# SPDX-License-Identifier: Apache-2.0
"""Tallies that sites share, and merging them, from the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import assay
from assay.app.commands.run_command import run_file
from assay.core.text import counted, listed
from assay.rows.databases.database import shown

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.assess.record.record import Record

ENDING = ".tally.json"


def tally_file(
    path: str,
    *,
    site: str | None,
    smallest_cell: int,
    out: str | None,
    quiet: bool,
    **given: Any,  # noqa: ANN401  options by name
) -> tuple[Record, Path | None]:
    """Count a file and write its tally; `out` is a path, "" for a name made from the site's, None to write nothing."""
    name = site if site is not None else _stem(path)
    content = run_file(path, quiet=quiet, **given).tally(site=name, smallest_cell=smallest_cell)
    if out is None:
        return content, None
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
    return content, content.save(out or f"{safe}{ENDING}")


def said(content: Record, written: Path | None) -> Iterator[str]:
    """What is in a tally, for people who must decide whether it may leave."""
    cells = content["tallies"]["confusion"]["cells"]
    labels = listed(content["labels"], most=6)
    yield f"{counted(content['samples'], 'row')} counted into {counted(len(cells), 'cell')} of {labels}"
    for factor, levels in content["tallies"]["groups"].items():
        yield f"group {factor}: {listed([one['level'] for one in levels], most=6)}"
    for note in content["notes"]:
        yield f"note     {note}"
    yield f"smallest {content['plan']['data']['smallest_cell']} rows a cell; ids, scores and file names are not in it"
    if written is not None:
        yield f"tally    {written}"
        yield f"next     assay merge {written} OTHER{ENDING} -o pooled.json --report pooled.html"


def merge_files(paths: Sequence[str]) -> Assessment:
    """Merge tally files and Records; one without a site's name is called by its file."""
    from assay.assess.record.record import Record

    parts, sites = [], {}
    for path in paths:
        content = Record.load(path)
        if content.get("site") or content["plan"]["data"].get("sites"):
            parts.append(content)
        else:
            name = _stem(path)
            sites[path if name in sites else name] = content
    return assay.merge(*parts, sites=sites)


def _stem(path: str) -> str:
    name = Path(shown(path)).name
    return name.removesuffix(ENDING) if name.endswith(ENDING) else Path(name).stem
