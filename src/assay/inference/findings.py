# SPDX-License-Identifier: Apache-2.0
"""A finding: what a test asked, how large the effect is, how surprising it would be by chance, and why this test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from assay.core.shown import Shown, TableRows
from assay.core.text import figure
from assay.core.values import Undefined
from assay.inference.estimates import Interval, real_to_json
from assay.inference.tail_probabilities import (
    ALTERNATIVES,
    CERTAIN,
    Alternative,
    Tail,
    chi_squared,
    fisher_f,
    normal,
    shown,
    student,
)

Real: TypeAlias = float | Undefined
Bounds: TypeAlias = tuple[float, float]
POINTS = 100
"""A difference of shares is told in points, hundredths of the whole."""
TAILS: Final[Mapping[str, Callable[..., Tail]]] = {"t": student, "z": normal, "F": fisher_f}
"""Distributions by the name of the statistic; others follow chi-squared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """How large a difference is: its name, its value or why there is none, and its interval or why there is none."""

    name: str
    value: Real
    interval: Interval | None = None
    no_interval: str | None = None
    share: bool = False

    @classmethod
    def of(cls, name: str, value: Real, found: Interval | str | None, *, share: bool = False) -> Effect:
        """With an interval, or the reason why there is none."""
        ends, reason = (found, None) if isinstance(found, Interval) else (None, found)
        return cls(name=name, value=value, interval=ends, no_interval=reason, share=share)

    @classmethod
    def between(cls, name: str, value: Real, ends: Bounds, level: float, method: str, *, share: bool = False) -> Effect:
        """With an interval from one end to the other."""
        interval = Interval(low=ends[0], high=ends[1], level=level, method=method)
        return cls(name=name, value=value, interval=interval, share=share)

    @classmethod
    def around(cls, name: str, value: float, reach: float, level: float, method: str) -> Effect:
        """With an interval that reaches as far to both sides."""
        return cls.between(name, value, (value - reach, value + reach), level, method)

    def __str__(self) -> str:
        """In words.

        >>> str(Effect(name="difference", value=0.0543, share=True))
        '+5.4 points'
        """
        if isinstance(self.value, Undefined):
            return f"undefined: {self.value.reason}"
        head = f"{self.value * POINTS:+.1f} points" if self.share else figure(self.value)
        if self.interval is None:
            return head
        low, high = self.interval.low, self.interval.high
        ends = f"{low * POINTS:+.1f} to {high * POINTS:+.1f}" if self.share else f"{figure(low)} to {figure(high)}"
        return f"{head}, {self.interval.level * POINTS:g} % interval {ends}"

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        out: dict[str, object] = {"name": self.name, **_real("value", self.value)}
        if self.share:
            out["unit"] = "share"
        if self.interval is not None:
            out |= self.interval.to_json()
        elif self.no_interval:
            out |= {"low": None, "high": None, "no_interval": self.no_interval}
        return out


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One assumption of a test, whether the data bear it out, and what was seen; None means nobody can tell."""

    assumes: str
    holds: bool | None
    seen: str

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {"assumes": self.assumes, "holds": self.holds, "seen": self.seen}


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjusted:
    """A p value after correction for the other questions of its family."""

    p: float
    by: str
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Shown):
    """The answer of one test; `.p` is None where it is undefined, and `.reason` says why."""

    PUBLIC = (
        "about", "adjusted_p", "alternative", "checks", "chosen", "counts", "detectable", "df", "effect", "label",
        "level", "models", "more", "n", "notes", "p", "p_shown", "reason", "significant", "statistic",
        "statistic_name", "test", "title", "to_json",
    )  # fmt: skip
    chance: Tail | Undefined
    effect: Effect
    statistic: Real
    statistic_name: str
    df: tuple[float, ...] = ()
    test: str = ""
    title: str = ""
    about: str = ""
    models: tuple[str, ...] = ()
    n: int = 0
    level: float = 0.95
    alternative: Alternative = "two-sided"
    counts: Mapping[str, int | float] = field(default_factory=dict)
    more: tuple[Effect, ...] = ()
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()
    least: Real | None = None
    adjusted: Adjusted | None = None
    chosen: str = ""
    label: str = ""

    @property
    def p(self) -> float | None:
        """The p value, or None."""
        return None if isinstance(self.chance, Undefined) else self.chance.p

    @property
    def log10_p(self) -> float | None:
        """Its decimal logarithm, which is known even below the smallest double."""
        return None if isinstance(self.chance, Undefined) else self.chance.log10

    @property
    def reason(self) -> str | None:
        """Why there is no p value, or None."""
        return self.chance.reason if isinstance(self.chance, Undefined) else None

    @property
    def adjusted_p(self) -> float | None:
        """The p value that counts: corrected where the finding belongs to a family."""
        return self.p if self.adjusted is None else self.adjusted.p

    @property
    def alpha(self) -> float:
        """The error rate that goes with the confidence level, written as people write it."""
        return round(1 - self.level, 12)

    @property
    def significant(self) -> bool | None:
        """Whether the p value that counts is at most alpha; None where there is none."""
        return None if self.adjusted_p is None else self.adjusted_p <= self.alpha

    @property
    def p_shown(self) -> str:
        """The p value as printed."""
        if isinstance(self.chance, Undefined):
            return f"p undefined: {self.chance.reason}"
        return f"p {self.chance}"

    def note_disagreement(self) -> tuple[str, ...]:
        """A note where p and the interval of a difference do not agree about 0."""
        ends = self.effect.interval
        if self.p is None or ends is None or self.alternative != "two-sided" or " minus " not in self.effect.name:
            return ()
        if (self.p <= self.alpha) != (ends.low <= 0 <= ends.high):
            return ()
        side, other = ("significant", "holds 0") if self.p <= self.alpha else ("not significant", "leaves 0 out")
        note = f"p and the interval disagree: p is {side}, and the interval ({ends.method}) {other}"
        return (f"{note}; they come from different methods, so read the difference as undecided",)

    def said(self, **changed: object) -> Finding:
        """The same finding with some parts set."""
        return replace(self, **changed)  # type: ignore[arg-type]

    def __str__(self) -> str:
        """A few lines for people."""
        head = f"{self.title or self.test}   {self.p_shown} ({self.alternative})"
        if self.adjusted is not None:
            head += f", {self.adjusted.by}-adjusted {shown(self.adjusted.p).removeprefix('= ')}"
        lines = {"effect": f"{self.effect.name}: {self.effect}"}
        if self.counts:
            lines["from"] = f"{self.n:,} rows: " + ", ".join(f"{k} {v:,}" for k, v in self.counts.items())
        if self.chosen:
            lines["chosen"] = self.chosen
        if self.label:
            lines["label"] = self.label
        if told := self.detectable():
            lines["power"] = told
        lines |= {f"note {i + 1}" if i else "note": note for i, note in enumerate(self.notes)}
        return "\n".join([head, *(f"  {name:<8} {text}" for name, text in lines.items())])

    def __repr__(self) -> str:
        """Test, models and p in one line."""
        return f"<Finding: {' and '.join(self.models)}, {self.about or self.test}: {self.effect}, {self.p_shown}>"

    def _table(self) -> TableRows:
        row = (self.title or self.test, " and ".join(self.models), self.about or "", str(self.effect), self.p_shown)
        return self.chosen or self.test, ("test", "models", "about", "effect", "p"), [row]

    def detectable(self) -> str | None:
        """For a finding that is not significant: the difference it would have found four times in five."""
        if self.significant is not False or self.least is None:
            return None
        if isinstance(self.least, Undefined):
            return f"what could have been detected is not known: {self.least.reason}"
        size = f"{self.least * POINTS:.1f} points" if self.effect.share else figure(self.least)
        return f"a difference of {size} would have been detected with a chance of 80 %; smaller ones may exist"

    def to_json(self) -> dict[str, object]:
        """As in a Record; p is a number above 0 or null with its reason."""
        out: dict[str, object] = {
            "test": self.test,
            "title": self.title,
            "about": self.about,
            "models": list(self.models),
            "n": self.n,
            "alternative": self.alternative,
            "level": self.level,
            "effect": self.effect.to_json(),
            "statistic": {"name": self.statistic_name, **_real("value", self.statistic), "df": list(self.df)},
        }
        if isinstance(self.chance, Undefined):
            out |= {"p": None, "undefined": self.chance.reason, "undefined_code": self.chance.code}
        else:
            out |= {"p": self.chance.p, "log10_p": self.chance.log10, "p_shown": str(self.chance)}
        if self.adjusted is not None:
            out["adjusted"] = {"p": self.adjusted.p, "by": self.adjusted.by, "of": self.adjusted.of}
        out["significant"] = self.significant
        out["counts"] = dict(self.counts)
        out["more"] = [one.to_json() for one in self.more]
        out["checks"] = [one.to_json() for one in self.checks]
        out["least_detectable"] = None if self.least is None else _real("value", self.least)
        return out | {"chosen": self.chosen, "label": self.label or None, "notes": list(self.notes)}


def no_number(effect: str, why: Undefined, statistic: str, /, **said: Any) -> Finding:  # noqa: ANN401  parts of a finding
    """The finding where there is nothing to compute; `said` are parts of it that are known all the same."""
    plain = {"chance": why, "effect": Effect(name=effect, value=why), "statistic": why, "least": why}
    return Finding(statistic_name=statistic, **{**plain, **said})


def refer_statistic(
    name: str, value: Real, *df: float, alternative: Alternative = "two-sided", differs: bool = False
) -> dict[str, Any]:
    """Parts of a finding: a statistic and its p, which is 1 where nothing differs, and undefined without rows.

    >>> str(refer_statistic("chi-squared", 8.17, 1)["chance"])
    '= 0.00426'
    """
    if isinstance(value, Undefined):
        chance = value if differs or value.code == "n=0" else CERTAIN
    else:
        sided = {} if alternative == "two-sided" else {"alternative": alternative}
        chance = TAILS.get(name, chi_squared)(value, *df, **sided)
    return {"chance": chance, "statistic": value, "statistic_name": name, "df": df, "alternative": alternative}


def _real(name: str, value: Real) -> dict[str, object]:
    if isinstance(value, Undefined):
        return {name: None, "undefined": value.reason}
    return {name: real_to_json(float(value))}


__all__ = ["ALTERNATIVES", "Adjusted", "Check", "Effect", "Finding", "Real", "no_number", "refer_statistic"]
