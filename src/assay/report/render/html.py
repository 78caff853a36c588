# SPDX-License-Identifier: Apache-2.0
"""The report as one HTML file: no request, light and dark, on screen and on paper; a script only moves a threshold."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from markupsafe import Markup, escape

from assay.assess.record import Record
from assay.report import colours as shades
from assay.report import sentences
from assay.report import sentences_scores as scoresentences
from assay.report.assessment_document import Classes, Document, Factor, read
from assay.report.blocks import decisions as verdicts
from assay.report.blocks.claims import INTRODUCED
from assay.report.blocks.conformity import LIMITS, UNMET
from assay.report.blocks.curves import Scoring
from assay.report.charts.data_timeline import timeline
from assay.report.charts.svg import Point, axis, bar, forest
from assay.report.estimate_rows import Entry
from assay.report.mathml import mathml

if TYPE_CHECKING:
    from jinja2 import Template

    from assay.report.blocks.confusion_matrix import Cell

FEW: Final = 3
TILTED: Final = 7
"""More columns than this, or a long name, and the heads of the matrix stand upright."""
DENSE: Final = 15
LONG: Final = 12
_STYLED: Final = re.compile(r'<(?:svg|[a-z]+ class="(?:so|gr|iv|pt|tk|rf|bs|ln|ln2|bd|mk|ct|up|dn|hs|hd)")[^>]*>')
"""Start tags of charts whose colours the style sheet sets."""
_FRAME: Final = re.compile(r'<g class="fr">.*?</g></g>')
_SAID: Final = re.compile(
    r' (?:xmlns|font-family|width(?=="\d+" h)|height(?=="\d+" f)|(?:stroke|fill)(?:-opacity)?)="(?!none")[^"]*"'
    r'| font-size="(?:10.5|13)"| font-weight="600"'
)
"""What they need not say: a style sheet does, or the view box."""


STYLE, SCRIPT, POLICY = "\0style", "\0script", "\0policy"
"""Stand where style, script and policy go until the rest of the page is known; no text from outside has a NUL."""
_CLOSED: Final = re.compile(r"</(?:t[dhr]|thead|tbody|d[dt]|li)>\s*")
"""End tags that HTML leaves to what follows; in a page of hundreds of rows they are a twelfth of it."""
_BROKEN: Final = re.compile(r"\n(?=<(?:t[rh]|tbody|thead|table|div|d[ldt]|li|ul|section|h[23]|p|details|figure)\b)")
"""Breaks before what begins a line anyway."""
_TAG: Final = re.compile(r"<(?:tr|t[dh]|a) [^<>]*>")
"""Tags of tables and links, of which a page has thousands; charts stay XML, so that they can be taken out."""
_QUOTED: Final = re.compile(r'="([\w#.-]+)"(?=[ >])')
"""Values of attributes that need no quotes; not before a slash, which would become part of them."""
_UNIT: Final = re.compile(r"(?<=\d) (?=% interval|points (?:more|less|would)|%; smaller)")
"""Where a number meets its unit in a sentence of ours; a label of somebody else is left as it is."""
_CLASSES: Final = re.compile(r'class="([^"]*)"')
_RULE: Final = re.compile(r"([^{}@]+)\{([^{}]*)\}")
_SELECTOR: Final = re.compile(r"(?:[^,(]|\([^)]*\))+")
_CLASS: Final = re.compile(r"\.([A-Za-z][\w-]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plots:
    """Charts of the same rows, one for each measure."""

    charts: tuple[Markup, ...]
    shown: int
    cut: bool


def render(record: Record) -> str:
    """The whole page."""
    document = read(record)
    moves = document.scoring is not None and document.scoring.now is not None and bool(document.scoring.curves)
    return framed(
        "assessment.html",
        document,
        script=slider() if moves else "",
        sections=_sections(document),
        w=scoresentences,
        charts=_charts(document.scoring),
        timeline=drawn(timeline(document.sources.splits)),
        matrix_class=_matrix_class(document.matrix.labels),
        class_plots=_class_plots(document.classes),
        factors=[(factor, _factor_plots(factor)) for factor in document.factors if factor.levels],
        bar=lambda one: _bar(one, document),
        formula=_formula,
        place={one.measure: f"g{i}" for i, one in enumerate(document.glossary)},
        shade=_shade,
        limits=LIMITS,
        unmet_named=UNMET,
        claims_introduced=INTRODUCED,
    )


def framed(name: str, document: object, *, script: str = "", **more: object) -> str:
    """A page of ours by the name of its template: what every page has, and of the style what this one uses."""
    page = template(name).render(
        d=document,
        s=sentences,
        v=verdicts,
        style=Markup(STYLE),  # noqa: S704  our own text
        script=Markup(SCRIPT) if script else "",  # noqa: S704  our own text
        policy=POLICY,
        version=version(),
        coded=_coded,
        **more,
    )
    page = _framed_once(page)
    used = {one for names in _CLASSES.findall(page) for one in names.split()}
    style = worn(stylesheet(), used)
    filled = {POLICY: str(escape(policy(style, script))), STYLE: style, SCRIPT: script}
    return re.sub("|".join(filled), lambda found: filled[found[0]], _brief(page))


def _framed_once(page: str) -> str:
    """A page in which charts with the same frame, grid and numbers at the axes, share one; a page holds dozens."""
    seen: dict[str, str] = {}

    def frame(found: re.Match[str]) -> str:
        if (name := seen.get(found[0])) is not None:
            return f'<use href="#{name}"/>'
        seen[found[0]] = name = f"fr{len(seen)}"
        return found[0].replace('<g class="fr">', f'<g id="{name}">', 1)

    return _FRAME.sub(frame, page)


def _brief(page: str) -> str:
    """A page without what HTML does not need (some end tags, breaks, quotes around words), whose units stay put."""
    brief = _BROKEN.sub("", _CLOSED.sub("", page))
    return _UNIT.sub("\N{NO-BREAK SPACE}", _TAG.sub(lambda tag: _QUOTED.sub(r"=\1", tag[0]), brief))


def worn(style: str, used: AbstractSet[str]) -> str:
    """The rules of a style sheet that can apply where only some classes are used.

    >>> worn(".a{x:1}.b,p{x:2}@media print{.b .a{x:3}}", {"a"})
    '.a{x:1}p{x:2}@media print{}'
    """

    def kept(rule: re.Match[str]) -> str:
        selectors = [one for one in _SELECTOR.findall(rule[1]) if set(_CLASS.findall(one)) <= used]
        return f"{','.join(selectors)}{{{rule[2]}}}" if selectors else ""

    return _RULE.sub(kept, style)


def drawn(svg: str) -> Markup:
    """A chart for a page: what the style sheet says anyway is left out, because a page holds dozens of charts."""
    return Markup(_STYLED.sub(_bare, svg))  # noqa: S704  escaped where it was drawn


def _bare(found: re.Match[str]) -> str:
    return _SAID.sub("", found.group())


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
    text = files("assay.report.render").joinpath("slider.js").read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines() if not line.lstrip().startswith("//"))
    return "\n".join(line for line in lines if line)


@cache
def stylesheet() -> str:
    """All the CSS: colours of both themes, the page, the shades of the matrix."""
    text = files("assay.report.render").joinpath("page.css").read_text(encoding="utf-8")
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
def template(name: str) -> Template:
    """A template of the folder `pages`."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    place = Environment(
        loader=PackageLoader("assay.report.render", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return place.get_template(name)


def _sections(document: Document) -> list[tuple[str, str]]:
    every = [
        ("decisions", "Decisions", document.verdicts),
        ("claims", "Claims", document.claims),
        ("comparison", "Against the other models", document.contests),
        ("headline", sentences.HEADLINE, document.headline),
        ("matrix", "Confusion matrix", True),
        ("classes", "Class by class", document.classes),
        ("scores", "Scores and thresholds", document.scoring),
        ("averages", "Averages", document.averages),
        ("measures", "All measures", True),
        ("groups", "Group by group", document.factors),
        ("conformity", "Conformity", document.statement),
        ("controls", "Controls", document.statement),
        ("plan", "The plan", document.statement),
        ("data", document.sources.title, True),
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


def _formula(text: str) -> Markup:
    """A formula as it is written by hand; as it was declared where that cannot be."""
    return Markup(mathml(text)) or Markup("<code>{}</code>").format(text)  # noqa: S704  escaped there


def _bar(one: Entry, document: Document) -> Markup:
    return drawn(bar(one, document.baseline if one.about.measure == "accuracy" else None))


def _plots(rows: Sequence[tuple[Point, ...]], *, by: str, wholes: Sequence[Entry | None], total: int) -> Plots:
    """One chart a measure; measures of the same range share an axis, so that they can be compared."""
    charts = []
    columns = list(zip(*rows, strict=True))
    for points, whole in zip(columns, wholes, strict=True):
        alike = [p.entry for column in columns for p in column if p.entry.about.span == points[0].entry.about.span]
        svg = forest(points, by=by, scale=axis(alike), whole=whole)
        charts.append(drawn(svg))
    return Plots(charts=tuple(charts), shown=len(rows), cut=len(rows) < total)


@dataclass(frozen=True, slots=True, kw_only=True)
class Charts:
    """Charts of scores."""

    curves: tuple[tuple[Markup, Markup, Markup], ...]
    """Of each class ROC, precision-recall and error rates, the last empty where nothing can be drawn."""
    reliability: Markup | None
    decision: Markup | None
    histogram: Markup | None
    top: Markup | None
    """Of several classes: the reliability of the largest probability of a row."""
    reliabilities: tuple[Markup, ...]
    decisions: tuple[Markup, ...]
    gains: tuple[Markup, ...]


def _charts(found: Scoring | None) -> Charts | None:
    if found is None:
        return None
    from assay.report.charts import score_charts as charts

    place = found.now.place if found.now is not None else None
    cut = found.now.value if found.now is not None else None
    alone = len(found.curves) == 1 and bool(found.curves[0].gains)
    several = found.curves if len(found.curves) > 1 else ()
    axis = found.errors
    curves = (
        (charts.roc(one, place), charts.precision_recall(one, place), charts.det(one, axis, place) if axis else "")
        for one in found.curves
    )
    return Charts(
        curves=tuple((drawn(a), drawn(b), drawn(c)) for a, b, c in curves),
        reliability=drawn(charts.reliability(found.bins)) if found.bins else None,
        decision=drawn(charts.decision(found.decision)) if found.decision else None,
        histogram=drawn(charts.histogram(found.histogram, cut)) if found.histogram else None,
        top=drawn(charts.top_label(found.top)) if found.top else None,
        reliabilities=tuple(drawn(charts.reliability(one.bins, one.label)) for one in several if one.bins),
        decisions=tuple(drawn(charts.decision(one.decision, one.label)) for one in several if one.decision),
        gains=tuple(drawn(draw(found.curves[0])) for draw in (charts.gains, charts.lift)) if alone else (),
    )


def _class_plots(classes: Classes | None) -> Plots:
    if classes is None or not classes.columns:
        return Plots(charts=(), shown=0, cut=False)
    rows = [tuple(Point(label=row.label, entry=one) for one in row.entries) for row in classes.rows if row.plotted]
    return _plots(rows, by="class", wholes=[None] * len(classes.columns), total=len(classes.rows))


def _factor_plots(factor: Factor) -> Plots:
    rows = [
        tuple(Point(label=level.label, entry=level.entries[i], small=level.small) for i in factor.charted)
        for level in factor.levels
        if level.plotted
    ]
    return _plots(rows, by=factor.name, wholes=[factor.whole[i] for i in factor.charted], total=len(factor.levels))
