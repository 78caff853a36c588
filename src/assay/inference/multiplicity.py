# SPDX-License-Identifier: Apache-2.0
"""Many questions at once: p values corrected over a declared family, and how fast errors pile up without."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

from assay.core.errors import PlanError, unknown_choice
from assay.core.text import visible
from assay.inference.findings import Adjusted, Finding

Corrected: TypeAlias = list[float]
Found = TypeVar("Found")
STEPPED: Final = ("holm", "none")
"""Corrections of criteria that are decided by intervals."""
FAILURES: Final = (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError)
"""What somebody else's object raises that is not what it was taken for."""


def bonferroni(p: Sequence[float]) -> Corrected:
    """Every p times the number of questions (T-27).

    >>> bonferroni([0.01, 0.04])
    [0.02, 0.08]
    """
    return [min(1.0, len(p) * x) for x in p]


def holm(p: Sequence[float]) -> Corrected:
    """Holm's step-down, which is the procedure that TS 4213 prints in 7.10.2 (T-28, E-TS-02).

    >>> holm([0.01, 0.02, 0.03, 0.005])
    [0.03, 0.04, 0.04, 0.02]
    """
    m, adjusted_p, highest = len(p), [0.0] * len(p), 0.0
    for place, i in enumerate(_ascending(p)):
        highest = max(highest, min(1.0, (m - place) * p[i]))
        adjusted_p[i] = highest
    return adjusted_p


def benjamini_hochberg(p: Sequence[float]) -> Corrected:
    """False discovery rate where the questions are independent or positively dependent (T-29).

    >>> benjamini_hochberg([0.01, 0.04])
    [0.02, 0.04]
    """
    return _step_up(p, 1.0)


def benjamini_yekutieli(p: Sequence[float]) -> Corrected:
    """False discovery rate under any dependence (T-30).

    >>> [round(x, 3) for x in benjamini_yekutieli([0.01, 0.04])]
    [0.03, 0.06]
    """
    return _step_up(p, sum(1 / i for i in range(1, len(p) + 1)))


def sidak(p: Sequence[float]) -> Corrected:
    """The chance of one such p or a smaller one among independent questions (T-31).

    >>> [round(x, 4) for x in sidak([0.05, 0.05])]
    [0.0975, 0.0975]
    """
    return [min(1.0, -math.expm1(len(p) * math.log1p(-x))) if x < 1 else 1.0 for x in p]


def family_wise_error(alpha: float, questions: int) -> float:
    """The chance of at least one false rejection among independent true hypotheses (TS 4213, 7.10.1).

    >>> round(family_wise_error(0.05, 20), 3)
    0.642
    """
    return 1 - (1 - alpha) ** questions


CORRECTIONS: Final[dict[str, tuple[Callable[[Sequence[float]], Corrected], str]]] = {
    "holm": (holm, "Holm"),
    "bonferroni": (bonferroni, "Bonferroni"),
    "fdr_bh": (benjamini_hochberg, "Benjamini-Hochberg"),
    "fdr_by": (benjamini_yekutieli, "Benjamini-Yekutieli"),
    "sidak": (sidak, "Šidák"),
}
"""By canonical name: the procedure, and whose it is."""
ALIASES: Final = {
    "ts-7.10.2": "holm",
    "benjamini-hochberg": "fdr_bh",
    "benjamini-yekutieli": "fdr_by",
    "bh": "fdr_bh",
    "by": "fdr_by",
    "šidák": "sidak",
}
"""Other spellings, as they are compared: lower case, with hyphens."""


def correction(name: str) -> str:
    """The canonical name of a correction; the one printed in 7.10.2 is Holm's.

    >>> correction("ts-7.10.2")
    'holm'
    """
    folded = str(name).strip().casefold().replace("_", "-").replace(" ", "-")
    canonical = ALIASES.get(folded, folded.replace("-", "_"))
    if canonical in CORRECTIONS:
        return canonical
    raise unknown_choice(name, [*CORRECTIONS, *ALIASES], f'there is no correction "{visible(name)}"')


def _real(number: float) -> float:
    """A number; numpy would drop the imaginary part of a complex one with no more than a warning."""
    kind = type(number).__name__
    if "complex" in kind:
        msg = f"{number!r} is complex"
        raise TypeError(msg)
    return math.nan if kind == "MaskedConstant" else float(number)


def adjust(p: Iterable[float], method: str = "holm") -> list[float]:
    """Correct p values for being several: holm, bonferroni, sidak, benjamini-hochberg, benjamini-yekutieli.

    p: the p values of one family
    method: the correction, by either of its names (fdr_bh is benjamini-hochberg)

    >>> adjust([0.01, 0.02, 0.03, 0.005], method="holm")
    [0.03, 0.04, 0.04, 0.02]
    """
    name = correction(method)
    try:
        values = [_real(x) for x in p]
    except FAILURES as error:
        raise PlanError("value-not-finite", "p values are numbers", found=visible(error), fix="give a list") from error
    if not all(0 <= x <= 1 for x in values):
        wrong = next(x for x in values if not 0 <= x <= 1)
        raise PlanError("value-out-of-domain", f"{wrong!r} is not a p value", known="0 to 1", fix="give p values only")
    return CORRECTIONS[name][0](values)


def adjusted(findings: Sequence[Finding], by: str = "holm") -> list[Finding]:
    """The findings of one family with corrected p values; a family of one needs none, undefined ones count as asked.

    A question that was asked but has no p still belongs to the family, so that it cannot shrink it.
    """
    correct, shown = CORRECTIONS[correction(by)]
    if len(findings) < 2:  # noqa: PLR2004  alone
        return list(findings)
    corrected = correct([1.0 if one.p is None else one.p for one in findings])
    return [
        one if one.p is None else one.said(adjusted=Adjusted(p=p, by=shown, of=len(findings)))
        for one, p in zip(findings, corrected, strict=True)
    ]


def stepped(
    places: Sequence[int],
    level: float,
    correction: str,
    judge: Callable[[float, Sequence[int]], Mapping[int, Found]],
    settled: Callable[[Found], bool],
) -> dict[int, Found]:
    """Judge every place at the level of Holm's step; those that settle leave the family, and the rest is asked anew.

    >>> stepped([0, 1], 0.95, "holm", lambda level, open_: dict.fromkeys(open_, round(level, 3)), lambda _: False)
    {0: 0.975, 1: 0.975}
    """
    if correction not in STEPPED:
        what = f"correction = {visible(repr(correction))} is not a correction of criteria"
        raise PlanError("option-unknown", what, known=", ".join(STEPPED), fix="choose one of them")
    outcomes: dict[int, Found] = {}
    open_ = list(places)
    while open_:
        judged = judge(1 - round(1 - level, 12) / (len(open_) if correction == "holm" else 1), open_)
        closed = [place for place in open_ if settled(judged[place])]
        outcomes |= {place: judged[place] for place in closed or open_}
        open_ = [place for place in open_ if place not in closed] if closed else []
    return outcomes


def _ascending(p: Sequence[float]) -> list[int]:
    return sorted(range(len(p)), key=p.__getitem__)


def _step_up(p: Sequence[float], factor: float) -> Corrected:
    m, adjusted_p, lowest = len(p), [0.0] * len(p), 1.0
    for place, i in reversed(list(enumerate(_ascending(p), start=1))):
        lowest = min(lowest, m * factor * p[i] / place)
        adjusted_p[i] = lowest
    return adjusted_p
