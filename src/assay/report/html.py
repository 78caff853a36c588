# SPDX-License-Identifier: Apache-2.0
"""The report as one HTML file: no request, light and dark, on screen and on paper; a script only moves a threshold."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from assay.assess.record import Record
from assay.report import scoresentences, sentences, shades
from assay.report.document import Classes, Document, Factor, read
from assay.report.entries import Entry
from assay.report.figures import Point, axis, bar, forest
from assay.report.scoring import Scoring
from assay.report.statement import LIMITS

if TYPE_CHECKING:
    from jinja2 import Template

    from assay.report.confusion import Cell

FEW: Final = 3
TILTED: Final = 7
"""More columns than this, or a long name, and the heads of the matrix stand upright."""
DENSE: Final = 15
LONG: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Plots:
    """Charts of the same rows, one for each measure."""

    charts: tuple[Markup, ...]
    shown: int
    cut: bool


def render(record: Record) -> str:
    """The whole page."""
    document = read(record)
    style = stylesheet()
    moves = document.scoring is not None and document.scoring.now is not None and bool(document.scoring.curves)
    script = slider() if moves else ""
    return _template().render(
        d=document,
        s=sentences,
        w=scoresentences,
        style=Markup(style),  # noqa: S704  our own file
        script=Markup(script),  # noqa: S704  our own file
        policy=policy(style, script),
        charts=_charts(document.scoring),
        version=version(),
        sections=_sections(document),
        matrix_class=_matrix_class(document.matrix.labels),
        class_plots=_class_plots(document.classes),
        factors=[(factor, _factor_plots(factor)) for factor in document.factors if factor.levels],
        bar=lambda one: _bar(one, document),
        shade=_shade,
        coded=_coded,
        limits=LIMITS,
    )


def policy(style: str, script: str = "") -> str:
    """What a browser may do with the page: use this style and this script, show data images, and nothing else."""
    may_run = f" script-src 'sha256-{_digest(script)}';" if script else ""
    return (
        f"default-src 'none'; style-src 'sha256-{_digest(style)}';{may_run}"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def slider() -> str:
    """The script that moves the threshold; the page is complete without it."""
    text = files("assay.report").joinpath("slider.js").read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines() if not line.lstrip().startswith("//"))
    return "\n".join(line for line in lines if line)


@cache
def stylesheet() -> str:
    """All the CSS: colours of both themes, the page, the shades of the matrix."""
    text = files("assay.report").joinpath("page.css").read_text(encoding="utf-8")
    page = "".join(line.strip() for line in text.splitlines())
    light = f":root{{{shades.LIGHT.variables()}}}"
    dark = f":root{{{shades.DARK.variables()}}}{shades.rules(shades.DARK)}"
    return f"{light}{page}{shades.rules(shades.LIGHT)}@media screen and (prefers-color-scheme:dark){{{dark}}}"


@cache
def version() -> str:
    """The version of assay that draws the page."""
    try:
        return version_of("assay")
    except PackageNotFoundError:
        return "from source"


@cache
def _template() -> Template:
    from jinja2 import DictLoader, Environment, StrictUndefined

    text = files("assay.report").joinpath("page.html").read_text(encoding="utf-8")
    place = Environment(
        loader=DictLoader({"page.html": text}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return place.get_template("page.html")


def _sections(document: Document) -> list[tuple[str, str]]:
    every = [
        ("decisions", "Decisions", document.verdicts),
        ("headline", sentences.HEADLINE, document.headline),
        ("matrix", "Confusion matrix", True),
        ("classes", "Class by class", document.classes),
        ("scores", "Scores and thresholds", document.scoring),
        ("averages", "Averages", document.averages),
        ("measures", "All measures", True),
        ("groups", "Group by group", document.factors),
        ("conformity", "Conformity", document.statement),
        ("controls", "Controls", document.statement),
        ("rows", "Row accounting", True),
        ("notes", "Notes", document.notes),
        ("method", "How it was computed", True),
    ]
    return [(id_, name) for id_, name, there in every if there]


def _matrix_class(labels: Sequence[str]) -> str:
    if len(labels) <= FEW:
        return " few"
    tilt = " tilt" if len(labels) > TILTED or max(map(len, labels)) > LONG else ""
    return tilt + (" dense" if len(labels) > DENSE else "")


def _shade(cell: Cell) -> str:
    return shades.shade(cell.share, right=cell.right)


def _coded(text: str) -> Markup:
    """Our own prose with names between backticks, which become code."""
    parts = text.split("`")
    shown = (Markup("<code>{}</code>").format(part) if i % 2 else Markup.escape(part) for i, part in enumerate(parts))
    return Markup("").join(shown)


def _bar(one: Entry, document: Document) -> Markup:
    return Markup(bar(one, document.baseline if one.about.measure == "accuracy" else None))  # noqa: S704  escaped there


def _plots(rows: Sequence[tuple[Point, ...]], *, by: str, wholes: Sequence[Entry | None], total: int) -> Plots:
    """One chart a measure; measures of the same range share an axis, so that they can be compared."""
    charts = []
    columns = list(zip(*rows, strict=True))
    for points, whole in zip(columns, wholes, strict=True):
        alike = [p.entry for column in columns for p in column if p.entry.about.span == points[0].entry.about.span]
        svg = forest(points, by=by, scale=axis(alike), whole=whole)
        charts.append(Markup(svg))  # noqa: S704  escaped there
    return Plots(charts=tuple(charts), shown=len(rows), cut=len(rows) < total)


@dataclass(frozen=True, slots=True, kw_only=True)
class Charts:
    """Charts of scores."""

    curves: tuple[tuple[Markup, Markup], ...]
    reliability: Markup | None
    decision: Markup | None
    histogram: Markup | None
    top: Markup | None
    """Of several classes: the reliability of the largest probability of a row."""
    reliabilities: tuple[Markup, ...]
    decisions: tuple[Markup, ...]


def _charts(found: Scoring | None) -> Charts | None:
    if found is None:
        return None
    from assay.report import charts

    place = found.now.place if found.now is not None else None
    cut = found.now.value if found.now is not None else None
    several = found.curves if len(found.curves) > 1 else ()
    pairs = ((_inline(charts.roc(one, place)), _inline(charts.precision_recall(one, place))) for one in found.curves)
    return Charts(
        curves=tuple(pairs),
        reliability=_inline(charts.reliability(found.bins)) if found.bins else None,
        decision=_inline(charts.decision(found.decision)) if found.decision else None,
        histogram=_inline(charts.histogram(found.histogram, cut)) if found.histogram else None,
        top=_inline(charts.top_label(found.top)) if found.top else None,
        reliabilities=tuple(_inline(charts.reliability(one.bins, one.label)) for one in several if one.bins),
        decisions=tuple(_inline(charts.decision(one.decision, one.label)) for one in several if one.decision),
    )


def _inline(svg: str) -> Markup:
    """A chart inside the page, which has its font and needs no name of its language."""
    for spare in (' xmlns="http://www.w3.org/2000/svg"', ' font-family="system-ui, sans-serif"'):
        svg = svg.replace(spare, "", 1)
    return Markup(svg)  # noqa: S704  escaped there


def _class_plots(classes: Classes | None) -> Plots:
    if classes is None or not classes.columns:
        return Plots(charts=(), shown=0, cut=False)
    rows = [tuple(Point(label=row.label, entry=one) for one in row.entries) for row in classes.rows if row.plotted]
    return _plots(rows, by="class", wholes=[None] * len(classes.columns), total=len(classes.rows))


def _factor_plots(factor: Factor) -> Plots:
    rows = [
        tuple(Point(label=level.label, entry=one, small=level.small) for one in level.entries)
        for level in factor.levels
        if level.plotted
    ]
    return _plots(rows, by=factor.name, wholes=factor.whole, total=len(factor.levels))
