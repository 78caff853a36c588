# SPDX-License-Identifier: Apache-2.0
"""One estimate of a Record, ready to be shown: text for people, and numbers for charts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Final, cast

from assay.core.blocks import Cell
from assay.core.errors import PlanError, RecordError
from assay.core.json_text import Count, count_from_json
from assay.core.registry import Declared, Registry
from assay.core.task import find_task
from assay.core.text import SHOWN, figure, visible

LONGEST: Final = 1200
"""A note or reason longer than this is cut; names are cut much earlier, by `visible`."""
INFINITE: Final = {"inf": math.inf, "-inf": -math.inf}
UNDEFINED: Final = "undefined"
PARAMETERS: Final = re.compile(r"[@(].*", re.DOTALL)
"""What a name says beyond that of the measure: `ndcg@10`, `f_beta(beta=2)`."""
SPOKEN: Final = {
    "matthews_corrcoef": "Matthews correlation",
    "cohen_kappa": "Cohen's kappa",
    "youden_index": "Youden index",
    "fowlkes_mallows": "Fowlkes-Mallows",
    "jaccard": "Jaccard index",
    "gini_impurity": "Gini impurity",
    "jensen_shannon": "Jensen-Shannon divergence",
    "kl_truth_pred": "KL, truth from predicted",
    "kl_pred_truth": "KL, predicted from truth",
    "csmf_accuracy": "CSMF accuracy",
    "cccsmf_accuracy": "chance-corrected CSMF accuracy",
    "likelihood_ratio_positive": "positive likelihood ratio",
    "likelihood_ratio_negative": "negative likelihood ratio",
    "auroc": "AUROC",
    "auroc_macro": "AUROC, macro",
    "auroc_weighted": "AUROC, weighted",
    "auroc_micro": "AUROC, micro",
    "auroc_one_vs_one": "AUROC, pairs of classes",
    "auroc_convex_hull": "AUROC of the convex hull",
    "partial_auroc": "partial AUROC",
    "partial_auroc_standardised": "partial AUROC, standardised",
    "gini_coefficient": "Gini coefficient",
    "h_measure": "H-measure",
    "kolmogorov_smirnov": "Kolmogorov-Smirnov statistic",
    "auprc_trapezoid": "AUPRC by trapezoids",
    "auprc_davis_goadrich": "AUPRC by Davis and Goadrich",
    "brier_score": "Brier score",
    "brier_score_multiclass": "Brier score, all classes",
    "brier_miscalibration": "Brier score: miscalibration",
    "brier_discrimination": "Brier score: discrimination",
    "brier_uncertainty": "Brier score: uncertainty",
    "log_loss_multiclass": "log loss, all classes",
    "spiegelhalter_z": "Spiegelhalter's z",
}
"""Names that read badly with their underscores taken away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a measure is called in a Record and by people, and what else is declared of it."""

    measure: str
    name: str
    symbol: str = ""
    says: str = ""
    formula: str = ""
    also: tuple[str, ...] = ()
    range: tuple[float, float] = (-math.inf, math.inf)
    range_shown: str = ""
    better: str = ""
    chance: str | None = None
    source: tuple[object, ...] = ()
    family: str = ""
    unit: str = ""
    base: str | None = None
    average: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One number with its interval, or the reasons why one or both are missing."""

    about: About
    value: float | None
    shown: str
    reason: str
    low: float | None
    high: float | None
    interval: str
    missing: str
    method: str
    n: str
    parts: str
    notes: tuple[str, ...]

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return self.value is not None

    @property
    def endless(self) -> bool:
        """Whether the value is infinite."""
        return self.value is not None and math.isinf(self.value)

    @property
    def short(self) -> str:
        """The interval with a dash, for charts."""
        return self.interval.replace(" to ", "–")

    @property
    def so(self) -> str:
        """The interval, or why there is none."""
        return self.interval or self.missing


def spoken(name: str, symbol: str = "") -> str:
    """The name of a measure as people say it.

    >>> spoken("negative_predictive_value", "NPV"), spoken("f_0_5", "F0.5"), spoken("cohen_kappa", "κ")
    ('negative predictive value', 'F0.5', "Cohen's kappa")
    """
    if name in SPOKEN:
        return SPOKEN[name]
    plain = name.replace("_", "").casefold()
    return symbol if plain == symbol.replace(".", "").casefold() else name.replace("_", " ")


def no_interval(why: str) -> str:
    """Why there is no interval.

    >>> no_interval("a constant, not an estimate"), no_interval("no interval for weighted rows")
    ('no interval: a constant, not an estimate', 'no interval for weighted rows')
    """
    return why if why.startswith("no interval") else f"no interval: {why}"


def number_cell(entry: Entry | None) -> Cell:
    """A value with its interval, or the reason why it has none."""
    if entry is None:
        return Cell("–", tone="soft")
    return replace(value_cell(entry), below=entry.short, why=entry.reason)


def value_cell(entry: Entry) -> Cell:
    """A value alone."""
    return Cell(entry.shown) if entry.defined else Cell(f"∅ {entry.shown}", tone="warn")


def prose(text: object) -> str:
    """A note or reason that may hold names from outside: invisible characters shown, length bounded."""
    whole = str(text)
    kept = whole if len(whole) <= LONGEST else f"{whole[:LONGEST]}…"
    # `visible` cuts a name at 256 characters; a sentence is longer, so it goes through in pieces.
    return "".join(visible(kept[i : i + SHOWN]) for i in range(0, len(kept), SHOWN))


def real(content: object) -> float | None:
    """A number of a Record: infinities are written as text, a missing one as null."""
    if content is None:
        return None
    if isinstance(content, str) and content in INFINITE:
        return INFINITE[content]
    if isinstance(content, bool) or not isinstance(content, (int, float)):
        raise RecordError(
            "record-unreadable", f"a value is written as {visible(repr(content))}", fix="restore the file"
        )
    return float(content)


def amount(count: Count) -> str:
    """A count of rows, or a sum of weights, as people read it.

    >>> from fractions import Fraction
    >>> amount(1200), amount(Fraction(9, 2)), amount(Fraction(1, 3))
    ('1,200', '4.5', '0.333')
    """
    if isinstance(count, int) or count.denominator == 1:
        return f"{int(count):,}"
    value = float(count)
    short = f"{value:,.6g}"
    return (
        short if math.isclose(float(short.replace(",", "")), value) and len(short) <= len("1,000.5") else figure(value)
    )


def share(part: Count | float, whole: Count | float) -> float | None:
    """A part of a whole; nothing when the whole is empty."""
    return float(part) / float(whole) if whole else None


def in_hundred(part: Count | float, whole: Count | float = 1) -> str:
    """A part of a whole in percent, never a false 0 or 100.

    >>> in_hundred(0.731), in_hundred(1, 10_000), in_hundred(9999, 10_000), in_hundred(1)
    ('73 %', '<1 %', '>99 %', '100 %')
    """
    value = share(part, whole) or 0.0
    rounded = round(value * 100)
    if rounded == 0 and value > 0:
        return "<1 %"
    return ">99 %" if rounded == 100 and value < 1 else f"{rounded} %"  # noqa: PLR2004  percent


@cache
def about(title: str, task: str) -> About:
    """The declaration of a measure of a task; a Record from elsewhere may name one we do not know."""
    try:
        registry = cast("Registry[Declared]", find_task(task).registry)
        measure = registry.find(PARAMETERS.sub("", title))
    except PlanError:
        return About(measure=visible(title), name=visible(title))
    known = About(measure=title, **{field.name: getattr(measure, field.name) for field in fields(About)[1:]})
    name = spoken(known.name, known.symbol)
    if known.base is not None and known.base in registry and known.name == f"{known.base}_{known.average}":
        name = f"{spoken(known.base, registry.find(known.base).symbol)}, {known.average}"
    return replace(known, name=name + title.removeprefix(known.name))


def entry(estimate: Mapping[str, object], task: str) -> Entry:
    """An estimate of a Record, ready to be shown."""
    known = about(str(estimate["measure"]), task)
    value, low, high = (real(estimate.get(name)) for name in ("value", "low", "high"))
    parts = ""
    if estimate.get("denominator") is not None:
        top, of = (amount(count_from_json(estimate[name])) for name in ("numerator", "denominator"))
        parts = f"{top} of {of}"
    counts = known.family == "counts"
    digits = _digits(known.range, (value, low, high))
    return Entry(
        about=known,
        value=value,
        shown=UNDEFINED if value is None else _whole(value) if counts else figure(value, digits=digits),
        reason=prose(estimate.get("undefined", "no reason is recorded")) if value is None else "",
        low=low,
        high=high,
        interval="" if low is None or high is None else " to ".join(figure(end, digits=digits) for end in (low, high)),
        missing=prose(estimate.get("no_interval") or ("the value is undefined" if value is None else "not recorded")),
        method=visible(estimate.get("interval") or "none"),
        n=amount(count_from_json(estimate["n"])),
        parts=parts,
        notes=tuple(
            prose(note)
            for key in ("notes", "interval_notes")
            for note in cast("Sequence[object]", estimate.get(key, ()))
        ),
    )


def _digits(span: tuple[float, float], values: Iterable[float | None]) -> int:
    """Three digits after the point, or more where a measure without an upper limit is small, as a latency is."""
    size = max((abs(value) for value in values if value is not None and math.isfinite(value)), default=0.0)
    small = 1e-6 < size < 0.1 and math.isinf(span[1])  # noqa: PLR2004  below, the form is scientific
    return 2 - math.floor(math.log10(size)) if small else 3


def _whole(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else figure(value)
