# SPDX-License-Identifier: Apache-2.0
"""Tallies that sites share, and merging them, from the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.app.messages import say_line, tell_line, tell_summary
from assay.app.option_types import Command, Input, row, with_options
from assay.app.options import of_output, of_rows

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.assess.record.record import Record

ENDING = ".tally.json"


@click.command(cls=Command)
@click.argument("predictions", type=Input())
@of_rows
@with_options(
    row("--site", "NAME", "What this site is called in the merged result [default: the file's name]"),
    row(
        "--smallest-cell",
        "INTEGER",
        "Fewest rows a cell may hold; levels of groups with smaller ones are pooled, 1 lets every cell out.",
        type=int,
        default=10,
    ),
    row("--out -o", "PATH", "The tally file [default: NAME.tally.json]; none with --json.", type=click.Path()),
)
@of_output
def tally(
    predictions: str,
    *,
    site: str | None,
    smallest_cell: int,
    out: str | None,
    as_json: bool,
    quiet: bool,
    **given: Any,  # noqa: ANN401  options by name
) -> None:
    """Count a file of predictions into a tally that may be shared: no rows, no ids, no small cells."""
    from assay.app.commands.run_command import run_file

    name = site if site is not None else _stem(predictions)
    content = run_file(predictions, quiet=quiet, **given).tally(site=name, smallest_cell=smallest_cell)
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
    written = None if as_json else content.save(out or f"{safe}{ENDING}")
    if as_json:
        click.echo(content.to_text(), nl=False)
    if quiet:
        return
    for line in _said(content):
        tell_line(line)
    if written is not None:
        say_line(f"tally    {written}")
        say_line(f"next     assay merge {written} OTHER{ENDING} -o pooled.json --report pooled.html")


@click.command(cls=Command)
@click.argument("tallies", nargs=-1, required=True, type=click.Path())
@with_options(
    row("--out -o", "PATH", "The Record of all rows together.", default="pooled.json", type=click.Path()),
    row("--report", "PATH", "Also write a report; its ending says which kind.", type=click.Path()),
)
@of_output
def merge(tallies: tuple[str, ...], *, out: str, report: str | None, as_json: bool, quiet: bool) -> None:
    """Merge tallies or Records of several sites: exactly the Record of all their rows together."""
    import assay.report  # noqa: F401  it introduces the kinds
    from assay.app.commands.report_command import write_files
    from assay.assess.record.report_formats import kind_of, rendered

    places = [] if report is None else [Path(report)]
    for place in places:
        kind_of(place)
    merged = _merged(tallies)
    write_files(
        {path: rendered(merged.record, path) for path in places} | {Path(out): merged.record.to_text().encode()}
    )
    if as_json:
        click.echo(merged.record.to_text(), nl=False)
    if quiet:
        return
    tell_summary(merged)
    say_line(f"record   {out}")
    for place in places:
        say_line(f"report   {place}")
    if not places:
        say_line(f"next     assay merge {' '.join(tallies)} -o {out} --report pooled.html")


def _said(content: Record) -> Iterator[str]:
    """What is in a tally, for people who must decide whether it may leave."""
    from assay.core.text import counted, listed

    cells = content["tallies"]["confusion"]["cells"]
    labels = listed(content["labels"], most=6)
    yield f"{counted(content['samples'], 'row')} counted into {counted(len(cells), 'cell')} of {labels}"
    for factor, levels in content["tallies"]["groups"].items():
        yield f"group {factor}: {listed([one['level'] for one in levels], most=6)}"
    for note in content["notes"]:
        yield f"note     {note}"
    yield f"smallest {content['plan']['data']['smallest_cell']} rows a cell; ids, scores and file names are not in it"


def _merged(paths: Sequence[str]) -> Assessment:
    """Merge tally files and Records; one without a site's name is called by its file."""
    import assay
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
    from assay.rows.databases.database import shown

    name = Path(shown(path)).name
    return name.removesuffix(ENDING) if name.endswith(ENDING) else Path(name).stem
