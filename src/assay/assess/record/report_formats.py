# SPDX-License-Identifier: Apache-2.0
"""Writing a Record as a report: which kinds there are, and which one a path or a name means."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assay.assess.record.record import Record
from assay.core.errors import PlanError, unknown_choice
from assay.core.text import visible
from assay.rows.temporary_files import write_whole

RENDERERS: dict[str, Callable[[Record], str]] = {}
"""Filled by the report layer: ending (".html"), kind ("cyclonedx") or display ("text/plain") -> text of a Record."""

BINARY: dict[str, Callable[[Record], bytes]] = {}
"""The same for files that are not text (".pdf")."""

INTO: dict[str, Callable[[Record, str], str]] = {}
"""Kinds that become a part of a text which may be there already ("modelcard")."""

PLOTTERS: dict[str, Callable[[Record, str], Any]] = {}
"""The function of the report layer, under "plot", that draws a chart of a Record by name."""

LARGEST = 16 * 2**20
"""Bytes of a text that a report may be written into."""


def kinds() -> list[str]:
    """Every kind a file can be written as, by name."""
    return sorted({name.lstrip(".") for name in (*RENDERERS, *BINARY, *INTO) if "/" not in name})


def kind_of(path: str | os.PathLike[str], kind: str | None = None) -> str:
    """The kind that is meant: the one named, else the longest known ending of the path."""
    renderers = {**RENDERERS, **BINARY, **INTO}
    if kind is not None:
        report_kind = next((name for name in (kind, f".{kind}") if name in renderers and "/" not in name), None)
        if report_kind is None:
            raise unknown_choice(kind, kinds(), f'no report is of the kind "{visible(kind)}"')
        return report_kind
    name = Path(path).name.lower()
    endings = [name[i:] for i, letter in enumerate(name) if letter == "."]
    for ending in endings:
        if ending in renderers:
            return ending
    ending, known = Path(path).suffix.lower(), sorted(name for name in renderers if name.startswith("."))
    what = f'no report ends in "{visible(ending) if ending else ""}"'
    raise unknown_choice(ending, known, what, where=visible(os.fspath(path)))


def rendered(record: Record, path: str | os.PathLike[str], kind: str | None = None) -> bytes:
    """What a report would hold; nothing is written."""
    report_kind = kind_of(path, kind)
    if report_kind in BINARY:
        return BINARY[report_kind](record)
    text = INTO[report_kind](record, _standing(path)) if report_kind in INTO else RENDERERS[report_kind](record)
    return text.encode("utf-8", "surrogatepass")


def write_report(record: Record, path: str | os.PathLike[str], kind: str | None = None) -> Path:
    """Write a Record as a report, whole or not at all."""
    return write_whole(path, rendered(record, path, kind))


def _standing(path: str | os.PathLike[str]) -> str:
    """The text that is there already; none where there is no file, or no path at all."""
    goal = Path(path)
    if not os.fspath(path):
        return ""
    cause = None
    try:
        if goal.stat().st_size <= LARGEST:
            return goal.read_bytes().decode("utf-8")
        why = "too large to be a text a report belongs into"
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        why = "not UTF-8 text"
    except OSError as error:
        why, cause = "not to be read", error.strerror
    fix = "give the README.md of a model: a text that can be read and written"
    raise PlanError("out-exists", f"{visible(goal)} is {why}", where=visible(goal), found=cause, fix=fix)


class Plots:
    """Charts of a result: each shows itself in a notebook, and has `.data` (tidy columns) and `.save("roc.png")`."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def roc(self) -> Any:  # noqa: ANN401  a Plot of the report layer
        """The ROC curve of each class, or of each model of a comparison."""
        return PLOTTERS["plot"](self._record, "roc")

    def precision_recall(self) -> Any:  # noqa: ANN401
        """The precision-recall curve of each class."""
        return PLOTTERS["plot"](self._record, "precision_recall")

    def reliability(self) -> Any:  # noqa: ANN401
        """The share of positives by bin of predicted probability."""
        return PLOTTERS["plot"](self._record, "reliability")

    def confusion(self) -> Any:  # noqa: ANN401
        """The confusion matrix."""
        return PLOTTERS["plot"](self._record, "confusion")

    def intervals(self) -> Any:  # noqa: ANN401
        """The headline measures with their intervals; of a comparison the differences between models."""
        return PLOTTERS["plot"](self._record, "intervals")

    def figure(self, title: str) -> Any:  # noqa: ANN401
        """A chart of the report of any task by its title, such as "Predicted and true"; another title lists them all.

        title: as it stands above the chart
        """
        return PLOTTERS["plot"](self._record, title)


class Result:
    """What assessments and comparisons share: a Record that is saved, reported and shown."""

    @property
    def record(self) -> Record:
        """The Record of it all."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the Record as JSON.

        path: the file
        """
        return self.record.save(path)

    def report(self, path: str | os.PathLike[str], kind: str | None = None) -> Path:
        """Write a report.

        path: the file; its ending says which kind: .html .pdf .md .json .csv .parquet .cdx.json
        kind: the kind, where the ending does not say it, such as "modelcard"
        """
        return write_report(self.record, path, kind)

    @property
    def plot(self) -> Plots:
        """Charts by name: `plot.roc()`, `.precision_recall()`, `.reliability()`, `.confusion()`, `.intervals()`."""
        return Plots(self.record)

    def __str__(self) -> str:
        """The summary a terminal shows."""
        return RENDERERS["text/plain"](self.record) if "text/plain" in RENDERERS else repr(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """What a notebook shows."""
        del include, exclude
        shown = ("text/html", "text/markdown", "text/plain")
        return {kind: RENDERERS[kind](self.record) for kind in shown if kind in RENDERERS}
