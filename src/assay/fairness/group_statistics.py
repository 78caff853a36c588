# SPDX-License-Identifier: Apache-2.0
"""The value of a statistic in each group, with its ends at any confidence level, or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.values import Number, Share, Undefined
from assay.inference.estimates import Estimate, Estimates, Interval, real_to_json
from assay.inference.intervals.proportion import SHARES, Bounds, fitting, normal_quantile, of_share
from assay.inference.unit_intervals import LINEAR, Scale, scale_of

if TYPE_CHECKING:
    from assay.core.values import Amount
    from assay.tally.labels.one_vs_rest import Binary

Ends: TypeAlias = Callable[[float], Bounds]
"""The ends of a value at a confidence level."""
NO_ROWS: Final = "there are no rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupValue:
    """A statistic of one group; `reason` says why there is no value, `no_ends` why it has no interval."""

    level: Label
    rows: int
    value: float | None
    reason: str = ""
    ends: Ends | None = None
    no_ends: str = ""
    counts: tuple[int, int] | None = None
    """Numerator and denominator, where the value is a share of independent rows."""
    error: float | None = None
    """Standard error of a mean."""
    judged: bool = True
    """Whether the group has enough rows."""

    @property
    def denominator(self) -> int:
        """What the value rests on."""
        return self.counts[1] if self.counts is not None else self.rows

    def to_json(self, level: float) -> dict[str, object]:
        """As in a Record."""
        out: dict[str, object] = {"level": self.level, "n": self.rows, "judged": self.judged}
        if self.value is None:
            return out | {"value": None, "undefined": self.reason}
        out["value"] = real_to_json(self.value)
        if self.counts is not None:
            out |= {"numerator": self.counts[0], "denominator": self.counts[1]}
        if self.ends is None:
            return out | {"low": None, "high": None, "no_interval": self.no_ends}
        low, high = self.ends(level)
        return out | {"low": real_to_json(low), "high": real_to_json(high)}


def value_of_measure(estimates: Estimates, name: str, level: Label, rows: int) -> GroupValue:
    """A measure of one group as its task estimates it."""
    try:
        return value_of_estimate(estimates[name], level, rows, _scale(estimates, name))
    except PlanError as error:
        if error.code in ("measure-unknown", "measure-ambiguous"):
            raise
        return GroupValue(level=level, rows=rows, value=None, reason=error.what)


def value_of_estimate(estimate: Estimate, level: Label, rows: int, scale: Scale = LINEAR) -> GroupValue:
    """An estimate whose interval can be asked for at any level."""
    result, interval = estimate.result, estimate.interval
    if isinstance(result, Undefined):
        return GroupValue(level=level, rows=rows, value=None, reason=result.reason)
    value = result.value
    if not math.isfinite(value):
        return GroupValue(level=level, rows=rows, value=None, reason="the value is infinite")
    if isinstance(result, Share) and interval is not None and interval.method in SHARES:
        return value_of_share(int(result.numerator), int(result.denominator), level, rows, interval.method)
    if interval is None:
        return GroupValue(level=level, rows=rows, value=value, no_ends=estimate.no_interval or "no interval")
    return GroupValue(level=level, rows=rows, value=value, ends=_stretched(value, estimate, scale))


def value_of_share(top: int, of: int, level: Label, rows: int, method: str = "wilson") -> GroupValue:
    """A share of independent rows."""
    if not of:
        return GroupValue(level=level, rows=rows, value=None, reason="the denominator is zero")
    name = "wilson" if method == "clopper-pearson" and fitting("wilson", of) == method else method
    return GroupValue(
        level=level, rows=rows, value=top / of, counts=(top, of), ends=lambda share: of_share(top, of, share, name)
    )


def fn_share_of_errors(table: Binary, level: Label, rows: int, *, weighted: bool) -> GroupValue:
    """False negatives as a share of all errors."""
    top, of = table.fn, table.fn + table.fp
    if not of:
        return GroupValue(level=level, rows=rows, value=None, reason="there are no errors")
    if weighted:
        return GroupValue(level=level, rows=rows, value=float(top) / float(of), no_ends="rows are weighted")
    return value_of_share(int(top), int(of), level, rows)


def fn_over_fp(table: Binary, level: Label, rows: int, *, weighted: bool) -> GroupValue:
    """False negatives for each false positive; its ends are the odds of the ends of the share."""
    if not table.fp:
        return GroupValue(level=level, rows=rows, value=None, reason="there are no false positives")
    share = fn_share_of_errors(table, level, rows, weighted=weighted)

    def ends(wanted: float) -> Bounds:
        low, high = cast("Ends", share.ends)(wanted)
        return low / (1 - low), math.inf if high == 1 else high / (1 - high)

    value = float(table.fn) / float(table.fp)
    return GroupValue(
        level=level, rows=rows, value=value, ends=None if share.ends is None else ends, no_ends=share.no_ends
    )


CELLS: Final[Mapping[str, Callable[..., GroupValue]]] = {
    "fn_share_of_errors": fn_share_of_errors,
    "fn_over_fp": fn_over_fp,
}
"""Statistics of four cells that are not measures of one group alone."""


def _scale(estimates: Estimates, name: str) -> Scale:
    return next((scale_of(measure) for measure in estimates.measures if name in (measure.title, measure.name)), LINEAR)


def _stretched(value: float, estimate: Estimate, scale: Scale) -> Ends:
    """Ends at another level: the distances on the scale of the measure grow as normal quantiles do."""
    import numpy as np

    low, high, own = cast("float", estimate.low), cast("float", estimate.high), cast("float", estimate.level)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = scale.to(np.array([value, low, high]))
    if not np.isfinite(at).all():
        at, scale = np.array([value, low, high]), LINEAR
    z = normal_quantile((1 + own) / 2)

    def ends(level: float) -> Bounds:
        grow = normal_quantile((1 + level) / 2) / z
        return scale.back(float(at[0] - grow * (at[0] - at[1]))), scale.back(float(at[0] + grow * (at[2] - at[0])))

    return ends


def as_estimate(group: GroupValue, name: str, level: float) -> Estimate:
    """A value as the test of heterogeneity reads it: counts where rows are independent, else a number with ends."""
    interval = None
    if group.ends is not None:
        low, high = group.ends(level)
        interval = Interval(low=low, high=high, level=level, method="group")
    plain = Number(cast("Amount", group.value))
    result = plain if group.counts is None else Share(*cast("tuple[Amount, Amount]", group.counts))
    return Estimate(measure=name, result=result, interval=interval, no_interval=group.no_ends or None, n=group.rows)
