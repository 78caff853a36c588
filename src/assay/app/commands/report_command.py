# SPDX-License-Identifier: Apache-2.0
"""Writing reports from the command line: of a Record in a file, or beside the files of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import click

import assay.report  # noqa: F401  it introduces the kinds
from assay.app.messages import tell_end, tell_name, tell_summary
from assay.assess.record.record import Record, open_tallies
from assay.assess.record.report_formats import Result, kind_of, rendered, write_report
from assay.core.errors import PlanError
from assay.core.text import visible
from assay.rows.temporary_files import write_together

STDOUT = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a run writes and prints, as its options say."""

    out: str
    reports: tuple[str, ...] = ()
    bare: bool = False
    as_json: bool = False
    as_short: bool = False
    quiet: bool = False

    @classmethod
    def taken_from(cls, given: dict[str, Any]) -> Self:
        """The options about output, taken out of all; a mistyped ending must not cost a count."""
        output = cls(**{field.name: given.pop(field.name) for field in fields(cls) if field.name in given})
        for path in output.reports:
            kind_of(path)
        return output

    def finish(self, results: Mapping[str, Result], next_command: str) -> None:
        """Write the files of every result, in a folder of its own where it has a name, then print what is asked for."""
        made: dict[Path, bytes] = {}
        for name, result in results.items():
            folder = Path(self.out) / name.replace(" ", "-")
            # Reports of one model among several stand in its folder, or each would replace the one before.
            more = [Path(path) if len(results) == 1 else folder / Path(path).name for path in self.reports]
            page = [] if self.bare else [folder / "report.html"]
            made |= {path: rendered(result.record, path) for path in [*page, *more, folder / "record.json"]}
        write_files(made)
        if self.as_json or self.as_short:
            printed = {name: short(one.record) if self.as_short else dict(one.record) for name, one in results.items()}
            text = json.dumps(printed.get("", printed), ensure_ascii=False, allow_nan=False, indent=1)
            whole = results[""].record.to_text() if "" in results and not self.as_short else f"{text}\n"
            click.echo(whole, nl=False)
        if not self.quiet:
            for name, result in results.items():
                if name:
                    tell_name(name)
                tell_summary(result)
            tell_end(results.values(), made, next_command)


def write_files(made: Mapping[Path, bytes]) -> None:
    """Write files that were made before, all of them or none, in folders that need not be there yet."""
    fresh: list[Path] = []
    try:
        for folder in dict.fromkeys(path.parent for path in made):
            fresh += [one for one in (folder, *folder.parents) if not one.exists()]
            folder.mkdir(parents=True, exist_ok=True)
        write_together(made)
    except OSError as error:
        what = f"cannot make the folder {visible(folder)}"
        where = visible(folder)
        raise PlanError("out-exists", what, where=where, found=error.strerror, fix="give another --out") from error
    finally:
        for folder in sorted(fresh, key=lambda one: -len(one.parts)):
            with suppress(OSError):  # it holds something
                folder.rmdir()


def short(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a script asks first of a Record: values of all rows with their intervals, findings, and what was decided."""
    kept: dict[str, Any] = {name: record[name] for name in ("kind", "task", "samples", "positive") if name in record}
    kept |= {"level": next((one["level"] for one in record["estimates"] if "level" in one), None)}
    values = [one for one in record["estimates"] if one.get("class") is None and one.get("slice") is None]
    if record["kind"] == "comparison":
        models = record["models"]
        kept["models"] = {name: _values([one for one in values if one["model"] == name]) for name in models}
        told = ("test", "about", "models", "effect", "p", "p_adjusted", "significant")
        kept["findings"] = [{name: one[name] for name in told if name in one} for one in record["findings"]]
        kept["ranking"] = record["ranking"]
    else:
        kept["estimates"] = _values(values)
    decided = ("criterion", "verdict", "value", "low", "high")
    kept["decisions"] = [{name: one[name] for name in decided if name in one} for one in record["decisions"]]
    if record["plan"].get("given") == "plan":
        kept["conformity"] = record["conformity"]["overall"]
    return kept


def _values(estimates: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    told = ("value", "low", "high", "undefined")
    return {one["measure"]: {name: one[name] for name in told if name in one} for one in estimates}


def report_file(record: str, out: str, kind: str | None) -> bytes | None:
    """Write a Record of a file in another form; for standard output hand the content back instead."""
    if out == STDOUT and kind is None:
        what = "standard output has no ending, so the kind must be named"
        raise PlanError("option-unknown", what, fix="add --kind md, for one")
    kind_of(out, kind)
    content = Record.load(record)
    if content.get("kind") == "tally":
        what = "the file is the tally of a site, which has no estimates"
        fix = f"assay merge {visible(record)} -o record.json, then report record.json"
        raise PlanError("role-clash", what, where=visible(record), fix=fix)
    with open_tallies(content, visible(record)):
        if out == STDOUT:
            return rendered(content, "", kind)
        write_report(content, out, kind)
    return None
