# SPDX-License-Identifier: Apache-2.0
"""The findings of a comparison as people read them: who is ahead by how much, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from assay.assess.declarations import POWER, p_shown
from assay.core.blocks.estimate_rows import SPOKEN, prose, real
from assay.core.text import figure, percent, visible
from assay.report import sentences

POINTS: Final = 100
BY_MARGIN: Final[Mapping[str, Mapping[bool | None, str]]] = {
    "non_inferiority": {
        True: "{0} is not worse than {1} by the margin: ",
        False: "That {0} is good enough is not shown: ",
        None: "Whether {0} is good enough cannot be said: ",
    },
    "equivalence": {
        True: "{0} and {1} are equal within the margin: ",
        False: "Equality within the margin is not shown: ",
        None: "Whether the models are equal within the margin cannot be said: ",
    },
}
"""What tests against a margin say of two models, by their names and by whether they are significant."""


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
        self.effect = "undefined" if self.value is None else _amount(self.value, effect)
        ends = (
            "" if self.low is None or self.high is None else f"{_size(self.low, effect)} to {_size(self.high, effect)}"
        )
        self.interval = ends
        adjusted = finding.get("adjusted")
        self.p = "undefined" if finding["p"] is None else str(finding["p_shown"]).removeprefix("= ")
        self.adjusted = "" if not adjusted else p_shown(adjusted["p"]).removeprefix("= ")
        self.significant, self.margin = finding.get("significant"), is_margin(finding)
        self.mark = {True: "●", False: "○", None: "∅"}[self.significant]
        self.label = sentences.sentence(prose(finding.get("label") or ""))
        self.power = ""
        least = real((finding.get("least_detectable") or {}).get("value"))
        if self.significant is False and least is not None:
            size = _amount(least, effect)
            self.power = f"a difference of {size} would have been detected with a chance of {percent(POWER)}"
        self.notes = tuple(prose(note) for note in finding["notes"])
        self.checks = tuple(
            prose(f"{'✓' if c['holds'] else '?' if c['holds'] is None else '✗'} {c['assumes']}: {c['seen']}")
            for c in finding["checks"]
        )
        self.counts = tuple((prose(k), f"{v:,}") for k, v in finding["counts"].items())


def sentence(finding: Mapping[str, Any]) -> str:
    """A finding in one plain sentence: who is ahead by how much, how sure that is, and by which test."""
    models = [visible(m) for m in finding["models"]]
    effect, p = finding["effect"], _p(finding)
    value = real(effect.get("value"))
    if len(models) != 2 or value is None or "minus" not in str(effect["name"]):  # noqa: PLR2004
        return prose(f"{_global(finding)}, {p}.")
    low, high = real(effect.get("low")), real(effect.get("high"))
    ahead, behind = models
    if value < 0:
        ahead, behind = behind, ahead
        value, low, high = -value, None if high is None else -high, None if low is None else -low
    ends = (
        ""
        if low is None or high is None
        else f", {percent(float(effect.get('level', 0.95)))} interval {_size(low, effect)} to {_size(high, effect)}"
    )
    what = _ahead(str(finding["about"]), ahead, behind, _amount(value, effect), effect, equal=value == 0)
    lead = _by_margin(finding, models) or ("" if finding.get("significant") or value == 0 else _not_shown(finding))
    named = not what.startswith((ahead, behind))  # a name keeps its spelling, a measure opens the sentence
    return prose(f"{lead}{what if lead or not named else what[:1].upper() + what[1:]}{ends}, {p}.")


def _by_margin(finding: Mapping[str, Any], models: Sequence[str]) -> str:
    """What a test against a margin shows or does not; nothing for other tests."""
    says = next((says for ending, says in BY_MARGIN.items() if str(finding["test"]).endswith(ending)), {})
    return says.get(finding.get("significant"), "").format(*models)


def _not_shown(finding: Mapping[str, Any]) -> str:
    alone = finding["p"] is not None and finding["p"] <= 1 - float(finding["level"])
    return "Not significant after correction: " if alone else "No difference is shown: "


def _global(finding: Mapping[str, Any]) -> str:
    effect = finding["effect"]
    value = real(effect.get("value"))
    size = "undefined" if value is None else _amount(value, effect)
    words = {True: "The models differ", False: "No difference is shown", None: "Nothing can be said"}
    found = words[finding.get("significant")]
    return f"{found}: {effect['name']} {size}"


def _ahead(about: str, ahead: str, behind: str, size: str, effect: Mapping[str, Any], *, equal: bool) -> str:
    if equal:
        unnamed = "mean rank" if "mean rank" in str(effect["name"]) else "their mean"
        named = SPOKEN.get(about, about.replace("_", " ")) or unnamed
        return f"{ahead} and {behind} are equal in {named}"
    known = {
        "accuracy": f"{ahead} is right on {size} more of the rows than {behind}",
        "recall": f"{ahead} finds {size} more of the positives than {behind}",
        "specificity": f"{ahead} leaves out {size} more of the negatives than {behind}",
        "mean_cost": f"mistakes of {ahead} cost {size} more a row than those of {behind}",
        "auroc": f"{ahead} ranks positives above negatives better than {behind}: AUROC higher by {size}",
    }
    if about in known:
        return known[about]
    if "mean rank" in str(effect["name"]):
        return f"{behind} ranks better than {ahead}: mean rank lower by {size}"
    name = SPOKEN.get(about, about.replace("_", " ")) or "mean"
    return f"{name} of {ahead} is higher than that of {behind} by {size}"


def _amount(value: float, effect: Mapping[str, Any]) -> str:
    return f"{value * POINTS:.1f} points" if effect.get("unit") == "share" else figure(value)


def _size(value: float, effect: Mapping[str, Any]) -> str:
    return _amount(value, effect).removesuffix(" points")


def _p(finding: Mapping[str, Any]) -> str:
    name = str(finding["title"])
    if finding["p"] is None:
        return f"{name}: p undefined, {finding['undefined']}"
    text = f"{name}: p {finding['p_shown']}"
    if finding.get("adjusted"):
        text += f", {finding['adjusted']['by']}-adjusted {p_shown(finding['adjusted']['p']).removeprefix('= ')}"
    return text


def is_margin(finding: Mapping[str, Any]) -> bool:
    """Whether a finding was held to a margin, so that significance speaks of no difference."""
    return str(finding["test"]).endswith(tuple(BY_MARGIN))
