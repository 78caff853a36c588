# SPDX-License-Identifier: Apache-2.0
"""Gaps and ratios of a statistic over groups, with intervals that hold for all pairs of groups at once.

Two groups: the ends of both are squared and added (of Wilson's ends this is Newcombe's interval), or Koopman's score
interval of the ratio. More groups: the same at the level of the studentised range, and the gap lies between the largest
lower and the largest upper end. Draws of the gap itself are never used: they cover a gap of 0 in no case.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from typing import cast

import numpy as np

from assay.core.labels import Label
from assay.core.text import counted, quoted
from assay.fairness.disparity import Disparity, Equality, Form, LeftOut, Pair
from assay.fairness.group_statistics import Ends, GroupValue, as_estimate
from assay.inference.intervals.proportion import Bounds, koopman, recovered
from assay.inference.tail_probabilities import fisher_f, range_quantile
from assay.inference.tests.strata import heterogeneity


def measure_gap(
    name: str,
    factor: str,
    groups: Sequence[GroupValue],
    level: float,
    *,
    form: Form = "gap",
    reference: Label | None = None,
    families: int = 1,
    denominators: tuple[str, ...] = (),
) -> Disparity:
    """The largest gap, or the smallest ratio, of a statistic over groups.

    `families` is how many such statistics must hold together (Šidák). With a reference, each other group is compared
    with it.
    """
    has_value = [group for group in groups if group.value is not None]
    judged = [group for group in has_value if group.judged]
    used = judged if len(judged) > 1 else has_value
    blank = Disparity(
        name=name, factor=factor, form=form, value=None, level=level, groups=tuple(groups),
        left_out=tuple(_left_out(groups, used)), denominators=denominators,
    )  # fmt: skip
    couples = _couples(used, reference)
    reason = _why_none(groups, used, reference) if not couples else _why_no_ratio(used) if form == "ratio" else ""
    if reason:
        return replace(blank, reason=reason)
    within = simultaneous_level(level ** (1 / families), len(used), len(couples), all_pairs=reference is None)
    made = [pair for x, y in couples if (pair := _pair(x, y, within, form)) is not None]
    least_sure = next((group for group in used if group.ends is None), None)
    whole = _whole(blank, made, form)
    if least_sure is not None or any(pair.low is None for pair in made):
        why = "no interval" if least_sure is None else f"group {quoted(least_sure.level)}: {least_sure.no_ends}"
        whole = replace(whole, low=None, high=None, no_interval=why)
    return replace(whole, equality=ask_equality(name, used, level), method=_method(used, form, families))


def simultaneous_level(level: float, groups: int, pairs: int, *, all_pairs: bool) -> float:
    """The level of each group's ends so that all pairs hold together: studentised range, or Šidák for a reference.

    >>> round(simultaneous_level(0.95, 5, 10, all_pairs=True), 4)
    0.9936
    """
    if pairs == 1:
        return level
    return math.erf(_range(level, groups) / 2) if all_pairs else level ** (1 / pairs)


def combine(name: str, parts: Mapping[str, Disparity], level: float) -> Disparity:
    """Several statistics that must all be equal: the largest gap of any of them, each shown; undefined if one is."""
    lost = [f"{title}: {part.reason}" for title, part in parts.items() if part.value is None]
    first = next(iter(parts.values()))
    left_out = {(g.level, g.reason): g for part in parts.values() for g in part.left_out}
    base = replace(
        first,
        name=name,
        level=level,
        groups=(),
        pairs=(),
        parts=dict(parts),
        left_out=tuple(left_out.values()),
        equality=_combined_test(list(parts.values())),
        denominators=tuple(word for part in parts.values() for word in part.denominators),
    )
    if lost:
        return replace(base, value=None, low=None, high=None, worst=None, reason="; ".join(lost))
    worst = max(parts.values(), key=lambda part: cast("float", part.value))
    unsure = next((part.no_interval for part in parts.values() if part.low is None), "")
    ends = [(p.low, p.high) for p in parts.values() if p.low is not None and p.high is not None]
    return replace(
        base,
        value=worst.value,
        worst=worst.worst,
        low=None if unsure else max(low for low, _ in ends),
        high=None if unsure else max(high for _, high in ends),
        no_interval=unsure,
    )


def ask_equality(name: str, groups: Sequence[GroupValue], level: float) -> Equality | None:
    """Whether chance explains the spread: chi-squared, drawn tables where counts are small, or Cochran's Q."""
    if all(group.error is not None for group in groups):
        return _welch(groups)
    answer = heterogeneity([as_estimate(group, name, level) for group in groups])
    if answer is None:
        return None
    return Equality(test=answer.method, statistic=answer.statistic, df=answer.freedom, p=answer.p)


def _welch(groups: Sequence[GroupValue]) -> Equality | None:
    """Welch's analysis of variance of group means (1951)."""
    if any(not group.error for group in groups):
        return None
    k, weights = len(groups), np.array([1 / cast("float", group.error) ** 2 for group in groups])
    means, sizes = np.array([group.value for group in groups]), np.array([group.denominator for group in groups])
    total = weights.sum()
    centre = (weights * means).sum() / total
    spread = float((weights * (means - centre) ** 2).sum()) / (k - 1)
    correction = float(((1 - weights / total) ** 2 / (sizes - 1)).sum())
    statistic = spread / (1 + 2 * (k - 2) * correction / (k * k - 1))
    below = (k * k - 1) / (3 * correction)
    return Equality(
        test="Welch's analysis of variance", statistic=statistic, df=k - 1, p=fisher_f(statistic, k - 1, below).p
    )


@lru_cache(maxsize=256)
def _range(level: float, groups: int) -> float:
    return range_quantile(level, groups)


def _left_out(groups: Sequence[GroupValue], used: Sequence[GroupValue]) -> Iterable[LeftOut]:
    for group in groups:
        if group.value is None:
            yield LeftOut(level=group.level, rows=group.rows, reason=group.reason)
        elif not group.judged:
            few, kept = "too few rows to be judged", ", counted all the same: no two groups have enough"
            yield LeftOut(level=group.level, rows=group.rows, reason=few + kept if group in used else few)


def _couples(used: Sequence[GroupValue], reference: Label | None) -> list[tuple[GroupValue, GroupValue]]:
    if reference is None:
        return list(combinations(used, 2))
    own = [group for group in used if group.level == reference]
    return [(group, own[0]) for group in used if own and group.level != reference]


def _why_none(groups: Sequence[GroupValue], used: Sequence[GroupValue], reference: Label | None) -> str:
    lost = "; ".join(f"group {quoted(g.level)}: {g.reason}" for g in groups if g.value is None)
    if reference is not None and len(used) > 1:
        return f"the reference {quoted(reference)} has no value" + (f" ({lost})" if lost else "")
    have = counted(len(used), "group has", "groups have") if used else "no group has"
    return f"{have} a value, and a gap needs two" + (f" ({lost})" if lost else "")


def _why_no_ratio(used: Sequence[GroupValue]) -> str:
    if any(cast("float", group.value) < 0 for group in used):
        return "a ratio of negative values says nothing"
    return "" if any(group.value for group in used) else "0 / 0: the value is 0 in every group"


def _pair(x: GroupValue, y: GroupValue, level: float, form: Form) -> Pair | None:
    a, b = cast("float", x.value), cast("float", y.value)
    if form == "gap":
        pair = Pair(first=x.level, second=y.level, value=a - b)
        if x.ends is None or y.ends is None:
            return pair
        low, high = recovered(a, x.ends(level), b, y.ends(level))
        return replace(pair, low=low, high=high)
    if a > b:
        x, y, a, b = y, x, b, a
    if not b:
        return None  # 0 / 0 of two groups; others decide
    pair = Pair(first=x.level, second=y.level, value=a / b)
    if x.ends is None or y.ends is None:
        return pair
    ends = _ratio_ends(x, y, level)
    return pair if ends is None else replace(pair, low=ends[0], high=ends[1])


def _ratio_ends(x: GroupValue, y: GroupValue, level: float) -> Bounds | None:
    if x.counts is not None and y.counts is not None:
        above, above_of, below, below_of = (np.array([float(count)]) for count in (*x.counts, *y.counts))
        lows, highs = koopman(above, above_of, below, below_of, level)
        return float(lows[0]), float(highs[0])
    a, b = cast("float", x.value), cast("float", y.value)
    of_a, of_b = cast("Ends", x.ends)(level), cast("Ends", y.ends)(level)
    if a <= 0 or b <= 0:
        return None
    logs = [tuple(math.log(end) if end > 0 else -math.inf for end in ends) for ends in (of_a, of_b)]
    low, high = recovered(math.log(a), cast("Bounds", logs[0]), math.log(b), cast("Bounds", logs[1]))
    return math.exp(low), math.exp(min(high, 700.0))


def _whole(blank: Disparity, pairs: Sequence[Pair], form: Form) -> Disparity:
    """The gap from the pairs: largest lower end, clipped at no difference, and largest upper end."""
    if form == "gap":
        far = max(pairs, key=lambda pair: abs(pair.value))
        worst = (far.first, far.second) if far.value >= 0 else (far.second, far.first)
        sided = [_upward(pair) for pair in pairs if pair.low is not None]
        low = max((low for low, _ in sided), default=0.0)
        high = max((max(high, -low) for low, high in sided), default=0.0)
        return replace(blank, value=abs(far.value), low=max(0.0, low), high=high, worst=worst, pairs=tuple(pairs))
    far = min(pairs, key=lambda pair: pair.value)
    folded = [_fold(p) for p in pairs if p.low is not None]
    return replace(
        blank,
        value=far.value,
        low=min((low for low, _ in folded), default=0.0),
        high=min((high for _, high in folded), default=1.0),
        worst=(far.second, far.first),
        pairs=tuple(pairs),
    )


def _upward(pair: Pair) -> Bounds:
    """Ends of the larger minus the smaller."""
    low, high = cast("float", pair.low), cast("float", pair.high)
    return (low, high) if pair.value >= 0 else (-high, -low)


def _fold(pair: Pair) -> Bounds:
    """Ends of the smaller over the larger: a ratio above 1 is turned over."""
    low, high = cast("float", pair.low), cast("float", pair.high)
    return min(low, 1 / high if high > 1 else low), min(1.0, high)


def _method(used: Sequence[GroupValue], form: Form, families: int) -> str:
    shares = all(group.counts is not None for group in used)
    own = ("Newcombe" if form == "gap" else "Koopman") if shares else "ends of both groups squared and added"
    many = "" if len(used) == 2 else ", all pairs at once (studentised range)"  # noqa: PLR2004  one pair
    return own + many + (f", Šidák over {families} statistics" if families > 1 else "")


def _combined_test(parts: Sequence[Disparity]) -> Equality | None:
    """The smallest p of parts that rest on different rows (Šidák)."""
    tests = [part.equality for part in parts if part.equality is not None]
    if len(tests) < len(parts):
        return None
    least = min(tests, key=lambda test: test.p)
    p = -math.expm1(len(tests) * math.log1p(-least.p)) if least.p < 1 else 1.0
    return replace(least, p=p, test=f"{least.test}; smallest p of {len(tests)} statistics (Šidák)")
