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
        self.test, self.chosen = prose(finding["title"]), prose(finding["chosen"])
        self.about = prose(SPOKEN.get(finding["about"], str(finding["about"]).replace("_", " ")))
        self.pair = " and ".join(models)
        self.minus = " minus ".join(models) if len(models) == 2 else ""  # noqa: PLR2004  the difference of two
        self.share = effect.get("unit") == "share"
        self.effect, self.interval = self._amount(self.value), self._ends(self.low, self.high)
        self.p = "undefined" if finding["p"] is None else str(finding["p_shown"]).removeprefix("= ")
        adjusted = finding.get("adjusted")
        self.adjusted = p_shown(adjusted["p"]).removeprefix("= ") if adjusted else ""
        self.significant, self.margin = finding.get("significant"), is_margin(finding)
        self.state, self.mark = STATES[self.significant]
        self.label = sentences.sentence(prose(finding.get("label") or ""))
        self.power = ""
        least = real((finding.get("least_detectable") or {}).get("value"))
        if self.significant is False and least is not None:
            size = self._amount(least)
            self.power = f"a difference of {size} would have been detected with a chance of {percent(POWER)}"
        self.notes = tuple(prose(note) for note in finding["notes"])
        self.checks = tuple(prose(f"{HOLDS[c['holds']]} {c['assumes']}: {c['seen']}") for c in finding["checks"])
        self.counts = tuple((prose(k), f"{v:,}") for k, v in finding["counts"].items())
        corrected = f", {adjusted['by']}-adjusted {self.adjusted}" if adjusted else ""
        tested = f"undefined, {finding['undefined']}" if finding["p"] is None else f"{finding['p_shown']}{corrected}"
        told = self._told(finding, *models) if self.minus and "minus" in str(effect["name"]) else ""
        told = told or f"{sentences.FINDINGS[self.state]}: {effect['name']} {self.effect}"
        self.sentence = prose(f"{told}, {finding['title']}: p {tested}.")
        """Who is ahead by how much, how sure that is, and by which test."""

    def _told(self, finding: Mapping[str, Any], ahead: str, behind: str) -> str:
        """Which of two models is ahead by how much; nothing where there is no value."""
        if self.value is None:
            return ""
        effect, models, ends = finding["effect"], (ahead, behind), self.interval
        if self.value < 0:
            ahead, behind = behind, ahead
            ends = self._ends(*(None if end is None else -end for end in (self.high, self.low)))
        sure = f", {percent(float(effect.get('level', 0.95)))} interval {ends}" if ends else ""
        size = self._amount(abs(self.value)) if self.value else ""
        what = _ahead(str(finding["about"]), effect, ahead=ahead, behind=behind, size=size)
        by_margin = [says for ending, says in sentences.MARGINS.items() if str(finding["test"]).endswith(ending)]
        alone = finding["p"] is not None and finding["p"] <= 1 - float(finding["level"])
        not_shown = "Not significant after correction: " if alone else f"{sentences.FINDINGS['open']}: "
        lead = "" if self.significant or self.value == 0 else not_shown
        lead = by_margin[0][self.state].format(*models) if by_margin else lead
        named = not what.startswith(models)  # a name keeps its spelling, a measure opens the sentence
        return f"{lead}{what if lead or not named else what[:1].upper() + what[1:]}{sure}"

    def _amount(self, value: float | None) -> str:
        if value is None:
            return "undefined"
        return f"{value * POINTS:.1f} points" if self.share else figure(value)

    def _ends(self, low: float | None, high: float | None) -> str:
        return "" if None in (low, high) else " to ".join(self._amount(x).removesuffix(" points") for x in (low, high))


def _ahead(about: str, effect: Mapping[str, Any], *, size: str, **models: str) -> str:
    """Who is ahead in a measure; by nothing, where there is no size."""
    rank = "mean rank" if "mean rank" in str(effect["name"]) else ""
    name = SPOKEN.get(about, about.replace("_", " "))
    if not size:
        return sentences.AHEAD["equal"].format(name=name or rank or "their mean", **models)
    says = sentences.AHEAD.get(about or rank) or sentences.AHEAD[rank]
    return says.format(name=name or "mean", size=size, **models)


def is_margin(finding: Mapping[str, Any]) -> bool:
    """Whether a finding was held to a margin, so that significance speaks of no difference."""
    return str(finding["test"]).endswith(tuple(sentences.MARGINS))
