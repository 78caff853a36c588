# SPDX-License-Identifier: Apache-2.0
"""The findings of a comparison as people read them: who is ahead by how much, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from assay.assess.declarations import POWER, p_shown
from assay.core.blocks.estimate_rows import SPOKEN, prose, real
from assay.core.text import figure, percent, visible
from assay.report import sentences

POINTS: Final = 100
STATES: Final = {True: ("shown", "●"), False: ("open", "○"), None: ("unknown", "∅")}
"""What significance comes to, as sentences are kept by it, and its mark."""
HOLDS: Final = {True: "✓", False: "✗", None: "?"}


class FindingText:
    """One finding of a Record as people read it, and its numbers to draw."""

    def __init__(self, finding: Mapping[str, Any]) -> None:
        effect, models = finding["effect"], [visible(model) for model in finding["models"]]
        self.value, self.low, self.high = (real(effect.get(k)) for k in ("value", "low", "high"))
        self.bounded = None not in (self.value, self.low, self.high)
        self.sentence, self.test, self.chosen = sentence(finding), prose(finding["title"]), prose(finding["chosen"])
        self.about = prose(SPOKEN.get(finding["about"], str(finding["about"]).replace("_", " ")))
        self.pair = " and ".join(models)
        self.minus = " minus ".join(models) if len(models) == 2 else ""  # noqa: PLR2004  the difference of two
        self.share = effect.get("unit") == "share"
        self.effect = _amount(self.value, effect)
        self.interval = _ends(self.low, self.high, effect)
        self.p = "undefined" if finding["p"] is None else str(finding["p_shown"]).removeprefix("= ")
        self.adjusted = _adjusted(finding)
        self.significant, self.margin = finding.get("significant"), is_margin(finding)
        self.mark = STATES[self.significant][1]
        self.label = sentences.sentence(prose(finding.get("label") or ""))
        self.power = ""
        least = real((finding.get("least_detectable") or {}).get("value"))
        if self.significant is False and least is not None:
            size = _amount(least, effect)
            self.power = f"a difference of {size} would have been detected with a chance of {percent(POWER)}"
        self.notes = tuple(prose(note) for note in finding["notes"])
        self.checks = tuple(prose(f"{HOLDS[c['holds']]} {c['assumes']}: {c['seen']}") for c in finding["checks"])
        self.counts = tuple((prose(k), f"{v:,}") for k, v in finding["counts"].items())


def sentence(finding: Mapping[str, Any]) -> str:
    """A finding in one plain sentence: who is ahead by how much, how sure that is, and by which test."""
    models, effect, p = [visible(m) for m in finding["models"]], finding["effect"], _p(finding)
    value, low, high = (real(effect.get(k)) for k in ("value", "low", "high"))
    state, _ = STATES[finding.get("significant")]
    if len(models) != 2 or value is None or "minus" not in str(effect["name"]):  # noqa: PLR2004
        return prose(f"{sentences.FINDINGS[state]}: {effect['name']} {_amount(value, effect)}, {p}.")
    ahead, behind = models
    if value < 0:
        ahead, behind = behind, ahead
        value, low, high = -value, None if high is None else -high, None if low is None else -low
    ends = _ends(low, high, effect)
    sure = f", {percent(float(effect.get('level', 0.95)))} interval {ends}" if ends else ""
    size = _amount(value, effect) if value else ""
    what = _ahead(str(finding["about"]), effect, ahead=ahead, behind=behind, size=size)
    by_margin = [says for ending, says in sentences.MARGINS.items() if str(finding["test"]).endswith(ending)]
    alone = finding["p"] is not None and finding["p"] <= 1 - float(finding["level"])
    not_shown = "Not significant after correction: " if alone else f"{sentences.FINDINGS['open']}: "
    lead = "" if finding.get("significant") or value == 0 else not_shown
    lead = by_margin[0][state].format(*models) if by_margin else lead
    named = not what.startswith((ahead, behind))  # a name keeps its spelling, a measure opens the sentence
    return prose(f"{lead}{what if lead or not named else what[:1].upper() + what[1:]}{sure}, {p}.")


def _ahead(about: str, effect: Mapping[str, Any], *, size: str, **models: str) -> str:
    """Who is ahead in a measure; by nothing, where there is no size."""
    rank = "mean rank" if "mean rank" in str(effect["name"]) else ""
    name = SPOKEN.get(about, about.replace("_", " "))
    if not size:
        return sentences.AHEAD["equal"].format(name=name or rank or "their mean", **models)
    says = sentences.AHEAD.get(about or rank) or sentences.AHEAD[rank]
    return says.format(name=name or "mean", size=size, **models)


def _amount(value: float | None, effect: Mapping[str, Any]) -> str:
    if value is None:
        return "undefined"
    return f"{value * POINTS:.1f} points" if effect.get("unit") == "share" else figure(value)


def _ends(low: float | None, high: float | None, effect: Mapping[str, Any]) -> str:
    return "" if None in (low, high) else " to ".join(_amount(x, effect).removesuffix(" points") for x in (low, high))


def _adjusted(finding: Mapping[str, Any]) -> str:
    return p_shown(finding["adjusted"]["p"]).removeprefix("= ") if finding.get("adjusted") else ""


def _p(finding: Mapping[str, Any]) -> str:
    if finding["p"] is None:
        return f"{finding['title']}: p undefined, {finding['undefined']}"
    adjusted = f", {finding['adjusted']['by']}-adjusted {_adjusted(finding)}" if finding.get("adjusted") else ""
    return f"{finding['title']}: p {finding['p_shown']}{adjusted}"


def is_margin(finding: Mapping[str, Any]) -> bool:
    """Whether a finding was held to a margin, so that significance speaks of no difference."""
    return str(finding["test"]).endswith(tuple(sentences.MARGINS))
