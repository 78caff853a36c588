# SPDX-License-Identifier: Apache-2.0
"""Which interval a measure of scores gets: ranks in closed form, everything else from draws of scores.

The choice rests on simulated coverage (`bench/scorecoverage.py`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.values import Number, Share, Undefined
from assay.inference.estimates import Interval
from assay.inference.intervals.auc import area_interval, delong_variance
from assay.inference.intervals.functions_of_counts import ALLOWED, built
from assay.inference.intervals.proportion import (
    normal_quantile,
    of_shares,
    recovered,
    student_quantile,
    wilson,
)
from assay.inference.intervals.score_draws import ScoreDraws, draws_of
from assay.measures import REGISTRY
from assay.measures.score_averages import tables
from assay.tally.calibration_bins import gaps
from assay.tally.scores.ranked_table import Ranked
from assay.tally.scores.row_probabilities import RIGHT, RowScores
from assay.tally.scores.score_tally import own_losses
from assay.tally.scores.true_class_ranks import Ranks

if TYPE_CHECKING:
    from assay.core.arrays import Floats
    from assay.core.values import Value
    from assay.inference.intervals.interval_choice import Found, Wanted
    from assay.measures.declare import Measure
    from assay.tally.calibration_bins import Binning
    from assay.tally.scores.score_tally import Scores

    Counted: TypeAlias = Ranked | Scores | Ranks | RowScores

WEIGHTED: Final = "no interval for weighted rows: weights are not counts"
REACHING: Final = ("h_measure", "auroc_convex_hull", "brier_discrimination")
"""Values that take the best of many thresholds, so that chance alone lifts them; the draws show by how much."""
DISTANCES: Final = (
    "expected_calibration_error",
    "adaptive_calibration_error",
    "maximum_calibration_error",
    "top_label_calibration_error",
)
SHRUNK: Final = np.linspace(0.0, 3.0, 121)
"""How large the true gaps may be as a multiple of the observed ones."""
FEW, MOST = 10, 0.7
"""Ends of average precision move towards the quantiles of the draws: by ten over the rows of the smaller class."""
MIDDLE: Final = (0.158655, 0.841345)
"""Between these shares of its draws a normal one lies within one spread of the middle."""
SAME: Final = 1e-12
"""Differences of values up to this are rounding, not difference."""
GRID: Final = 2048
"""Recalls at which precision is averaged."""
ONE_ROW: Final = "no interval: a class with one row has no spread to see"
NO_SPREAD: Final = "the method sees no way for the value to vary, so an interval would have no width"
CLUSTERED: Final = "no interval: the pooled scores of a row depend on each other, and the tally does not hold rows"
MISCALIBRATION: Final = "no interval: chance alone makes this part about as large as it is; see the calibration error"
SHARED: Final = "no interval: the errors of the classes share their rows, and chance widens each; see class by class"


class ScoreUncertainty:
    """Intervals for the values of one tally of scores; the draws are made once and shared by all measures."""

    def __init__(self, tally: Counted, wanted: Wanted) -> None:
        self._tally, self._wanted = tally, wanted
        self._errors: dict[tuple[str, str], float] = {}

    def interval(self, measure: Measure, result: Value) -> Found:
        """The interval of a value, or the reason why there is none."""
        if isinstance(result, Undefined):
            return "the value is undefined"
        if isinstance(self._tally, Ranked):
            return self._of_table(self._tally, measure, cast("Number", result))
        if self._tally.weighted:
            return WEIGHTED
        if isinstance(self._tally, Ranks):
            return self._of_share(cast("Share", result))
        if isinstance(self._tally, RowScores):
            return self._of_rows(self._tally, measure, cast("Number", result))
        return self._of_classes(self._tally, measure, cast("Number", result))

    def _of_table(self, t: Ranked, measure: Measure, result: Number) -> Found:
        if not t.exact:
            return WEIGHTED
        if measure.name in ("auroc", "gini_coefficient"):
            area = result.value if measure.name == "auroc" else (result.value + 1) / 2
            low, high, method = area_interval(t, area, self._wanted.level)
            ends = (low, high) if measure.name == "auroc" else (2 * low - 1, 2 * high - 1)
            return built(self._wanted, measure, result.value, ends, method)
        if measure.name == "brier_miscalibration":
            return MISCALIBRATION
        if math.isinf(result.value):
            return "the value is infinite, and no draw of these rows could make it finite"
        if measure.name in ("average_precision", "lift_at"):
            return self._of_few(t, measure, result) or self._drawn(t, measure, result)
        return self._of_gaps(t, measure, result) if measure.name in DISTANCES else self._drawn(t, measure, result)

    def _of_few(self, t: Ranked, measure: Measure, result: Number) -> Found | None:
        """The interval, or why there is none, where draws of few positives say nothing; else None."""
        if min(float(t.positives), float(t.negatives)) < 2:  # noqa: PLR2004  its draws only repeat that row
            return ONE_ROW
        if measure.name == "average_precision" and result.value >= 1 - SAME:
            return self._of_perfect(t, measure)
        if measure.name == "lift_at" and float(t.positives) < FEW:
            return self._of_lift(t, measure, result.value)
        return None

    def _drawn(self, t: Ranked, measure: Measure, result: Number) -> Found:
        """Value plus and minus quantiles of the spread of the draws, on a scale without ends."""
        size = self._size
        drawn = self._draws.values(measure, size)
        undefined = int(np.isnan(drawn).sum())
        if undefined > ALLOWED * size:
            return f"{undefined:,} of {size:,} draws are undefined"
        if measure.name == "kolmogorov_smirnov":
            return self._of_best(t, measure, result.value, drawn[~np.isnan(drawn)])
        if any(
            abs(result.value - end) <= SAME for end in measure.range
        ):  # all draws are there, too, but for rounding and pooled neighbours
            return NO_SPREAD
        if measure.name in REACHING:
            return self._reaching(t, measure, result.value, drawn[~np.isnan(drawn)])
        scale = _scale(t, measure)
        on = scale.there(drawn[~np.isnan(drawn)])
        with np.errstate(over="ignore"):  # a spread beyond float64 is told below
            middle, spread = float(scale.there(np.array(result.value))), self._spread(measure, on)
        if not spread > SAME or np.isinf(spread):
            return "the draws spread further than float64 holds" if np.isinf(spread) else NO_SPREAD
        reach = self._quantile(t, measure) * spread
        ends = (float(scale.back(middle - reach)), float(scale.back(middle + reach)))
        notes = (f"{undefined:,} of {size:,} draws are undefined and were left out",) if undefined else ()
        method = f"{scale.name} draws on scores"
        if measure.name == "average_precision":
            few = min(MOST, FEW / max(min(float(t.positives), float(t.negatives)), 1.0))
            # With few rows of a class these ends lie too far off, and the quantiles of the draws not far enough.
            tail = (1 - self._wanted.level) / 2
            low, high = np.quantile(drawn[~np.isnan(drawn)], [tail, 1 - tail])
            ends = ends[0] + few * (float(low) - ends[0]), ends[1] + few * (float(high) - ends[1])
            method += ", moved towards their quantiles"
        return built(self._wanted, measure, result.value, ends, method, draws=size, notes=notes)

    def _of_perfect(self, t: Ranked, measure: Measure) -> Found:
        """An average precision of 1: down to that of the lowest area that the area of 1 is compatible with.

        Both classes are taken to be normal with equal variances, which ties average precision to the area.
        """
        from scipy.special import ndtr, ndtri

        low, _, _ = area_interval(t, 1.0, self._wanted.level)
        share = float(t.positives) / float(t.n)
        found = (np.arange(GRID) + 0.5) / GRID
        alarms = ndtr(ndtri(found) - np.sqrt(2) * ndtri(low))
        lowest = float((share * found / (share * found + (1 - share) * alarms)).mean())
        return built(self._wanted, measure, 1.0, (lowest, 1.0), "newcombe score of the area, as average precision")

    def _of_lift(self, t: Ranked, measure: Measure, value: float) -> Found:
        """Lift is the share of the positives that are called, over the share of rows called, which is given."""
        called, positives = float(cast("float", measure.given["share"])), float(t.positives)
        top = np.array([min(value * called, 1.0) * positives])
        low, high = of_shares(top, np.array([positives]), self._wanted.level, "wilson")
        ends = float(low[0]) / called, float(high[0]) / called
        return built(self._wanted, measure, value, ends, "wilson of the positives called")

    def _spread(self, measure: Measure, on: Floats) -> float:
        """The spread of draws on a scale; of average precision that of their middle two thirds.

        With few positives some draws put all of them first, which the logit scale throws far out.
        """
        if measure.name != "average_precision":
            return float(on.std())
        low, high = np.quantile(on, MIDDLE)
        return float(high - low) / 2 or float(on.std())  # nearly every draw may be the same

    def _quantile(self, t: Ranked, measure: Measure) -> float:
        """How many spreads an end lies off: Student's for curves, whose smaller class decides how well it is known.

        With ten positives average precision is then covered in 94 to 97 % of tables, and in 91 % with the normal one.
        """
        share, fewest = (1 + self._wanted.level) / 2, min(float(t.positives), float(t.negatives))
        if measure.family != "curves" or fewest < 2:  # noqa: PLR2004  one row has no spread
            return normal_quantile(share)
        return student_quantile(share, fewest - 1)

    def _of_best(self, t: Ranked, measure: Measure, value: float, drawn: Floats) -> Found:
        """Newcombe's interval of the two rates at the best threshold, moved down by what choosing it adds by chance.

        The draws show that; the upper end moves by half of it, because with few positives the draws show too much.
        """
        fp, tp = t.corners
        positives, negatives = int(t.positives), int(t.negatives)
        best = int(np.argmax(tp / positives - fp / negatives))
        found, alarms = int(tp[best]), int(fp[best])
        of_rates = (wilson(found, positives, self._wanted.level), wilson(alarms, negatives, self._wanted.level))
        low, high = recovered(found / positives, of_rates[0], alarms / negatives, of_rates[1])
        added = max(float(drawn.mean()) - value, 0.0)
        ends = (low - added, high - added / 2)
        return built(self._wanted, measure, value, ends, "newcombe at the best threshold, debiased", draws=len(drawn))

    def _reaching(self, t: Ranked, measure: Measure, value: float, drawn: Floats) -> Found:
        """Value less what chance adds to the draws, plus and minus normal quantiles of their spread.

        Chance has lifted the value more than it lifts the draws, which start higher; the lower end takes it off twice.
        Near the upper end of the range the logit scale reaches further, and then it counts.
        """
        z, scale = normal_quantile((1 + self._wanted.level) / 2), _scale(t, measure)
        added, spread = max(float(drawn.mean()) - value, 0.0), float(drawn.std())
        on = scale.there(drawn)
        middle = 2 * float(scale.there(np.array(value))) - float(on.mean())
        bent = scale.back(middle - z * float(on.std())), scale.back(middle + z * float(on.std()))
        low, high = value - 2 * added - z * spread, value - added + z * spread
        ends = (max(min(low, bent[0]), measure.range[0]), max(high, bent[1]))
        return built(self._wanted, measure, value, ends, "debiased draws on scores", draws=len(drawn))

    def _of_gaps(self, t: Ranked, measure: Measure, result: Number) -> Found:
        """The calibration errors that would make the observed one unsurprising.

        The observed gaps, made smaller or larger by one factor, are taken for the true ones; chance is added from the
        draws. A plain bootstrap adds chance to gaps that chance has already widened, and covers as rarely as never.
        """
        bins = cast("int", measure.given.get("bins", measure.parameters["bins"]))
        name = measure.given.get("binning", measure.parameters.get("binning", "mass"))
        binning = cast("Binning", name)
        own, rows = gaps(self._draws.centre, bins, binning)
        chance = np.concatenate([gaps(one, bins, binning)[0] - own for one in self._draws.blocks(self._size)])
        largest = measure.name == "maximum_calibration_error"
        weight = 1 / rows if largest else np.full(len(rows), 1 / float(t.n))
        total = np.max if largest else np.sum
        simulated_errors = np.stack([total(np.abs(share * own + chance) * weight, axis=-1) for share in SHRUNK])
        tail = (1 - self._wanted.level) / 2
        low, high = np.quantile(simulated_errors, [tail, 1 - tail], axis=1)
        value = result.value
        least = SHRUNK[int(np.argmax(high >= value))]
        most = SHRUNK[int(np.flatnonzero(low <= value)[-1])] if (low <= value).any() else 1.0
        # Where the gaps are large against chance the value varies evenly around the truth, and further up than that.
        same = simulated_errors[int(np.flatnonzero(SHRUNK == 1)[0])]
        even = value + normal_quantile(1 - tail) * float(same.std())
        ends = (float(least) * value, max(float(most) * value if value else float(high[0]), even))
        return built(self._wanted, measure, value, ends, "inverted draws on scores", draws=self._size)

    def _of_share(self, result: Share) -> Found:
        level, of = self._wanted.level, int(result.denominator)
        # Tied places count in part, and Wilson's interval takes parts.
        low, high = wilson(float(result.numerator), of, level)
        return Interval(low=low, high=high, level=level, method="wilson")

    def _of_classes(self, t: Scores, measure: Measure, result: Number) -> Found:
        if measure.average == "micro":
            return CLUSTERED
        if measure.base in DISTANCES:
            return SHARED
        error = self._error_of_rows(t, measure) if measure.average is None else self._error_of_mean(t, measure)
        known = measure.name == "log_loss_multiclass"
        return self._normal(measure, result.value, error, t.rows, "" if known else ", classes taken as fully dependent")

    def _of_rows(self, t: RowScores, measure: Measure, result: Number) -> Found:
        if measure.name == "top_label_calibration_error":
            sure = ScoreUncertainty(t.top.one_vs_rest(RIGHT), self._wanted)
            return sure.interval(measure, result)
        table = t.direction.one_vs_rest(RIGHT)
        error = _error(table.score, table.pos + table.neg) if t.rows > 1 else None
        return self._normal(measure, result.value, error, t.rows)

    def _normal(self, measure: Measure, value: float, error: float | None, rows: int, more: str = "") -> Found:
        """Value plus and minus normal quantiles of its standard error, on a scale without ends."""
        if error is None:
            return ONE_ROW
        if math.isinf(value):
            return "the value is infinite, and no draw of these rows could make it finite"
        scale = _Scale(measure.range, 1 / (20 * rows))
        inside = min(max(value, scale.lowest), scale.highest)
        reach = normal_quantile((1 + self._wanted.level) / 2) * error * scale.slope(inside)
        middle = float(scale.there(np.array(inside)))
        ends = (float(scale.back(middle - reach)), float(scale.back(middle + reach)))
        return built(self._wanted, measure, value, ends, f"{scale.name} normal{more}")

    def _error_of_rows(self, t: Scores, measure: Measure) -> float | None:
        """The standard error of a mean over rows; of squares summed over classes at most the sum of those by class."""
        if t.rows < 2:  # noqa: PLR2004  one row has no spread
            return None
        if measure.name == "log_loss_multiclass":
            lost = own_losses(t)
            return _error(lost.value, lost.count)
        parts = []
        for label in t.scored:
            table = t.one_vs_rest(label)
            losses = np.concatenate([(1 - table.score) ** 2, table.score**2])
            parts.append(_error(losses, np.concatenate([table.pos, table.neg])))
        return math.fsum(parts)

    def _error_of_mean(self, t: Scores, measure: Measure) -> float | None:
        """At most the mean of the standard errors of the classes, because they share their rows."""
        base = REGISTRY.find(cast("str", measure.base))
        every = tables(t, cast("str", measure.average))
        kept = [(name, table, weight) for name, table, weight in every if table.positives and weight]
        if any(min(float(table.positives), float(table.negatives)) < 2 for _, table, _ in kept):  # noqa: PLR2004
            return None
        errors = [weight * self._error_of_class(base, name, table) for name, table, weight in kept]
        return math.fsum(errors) / math.fsum(weight for *_, weight in kept) if kept else None

    def _error_of_class(self, base: Measure, name: str, table: Ranked) -> float:
        """The standard error of one class against the rest, or against another; averages of several kinds share it."""
        if (base.title, name) not in self._errors:
            self._errors[base.title, name] = (
                math.sqrt(delong_variance(table))
                if base.name == "auroc"
                else float(np.nanstd(draws_of(table, self._wanted.seed).values(base, self._size)))
            )
        return self._errors[base.title, name]

    @property
    def _size(self) -> int:
        # A spread needs fewer draws than a tail: with half of them it is known to 2 %.
        return max(500, self._wanted.draws // 2)

    @property
    def _draws(self) -> ScoreDraws:
        return draws_of(cast("Ranked", self._tally), self._wanted.seed)


class _Scale:
    """A scale on which a value has no ends: logit between two ends, logarithm above zero, as it is elsewhere."""

    def __init__(self, ends: tuple[float, float], margin: float) -> None:
        self._low, self._high = ends
        bounded, positive = math.isfinite(self._low) and math.isfinite(self._high), self._low == 0
        self.name = "logit" if bounded else "log" if positive else "plain"
        # Draws at an end of the range are moved off it by as much as part of a row weighs.
        span = self._high - self._low if bounded else 1.0
        self.lowest = self._low + margin * span if self.name != "plain" else -math.inf
        self.highest = self._high - margin * span if self.name == "logit" else math.inf

    def there(self, values: Floats) -> Floats:
        """From the value to the scale."""
        if self.name == "plain":
            return values
        inside = np.clip(values, self.lowest, self.highest)
        above = inside - self._low
        return np.log(above) if self.name == "log" else np.log(above / (self._high - inside))

    def back(self, place: float) -> float:
        """From the scale to the value."""
        if self.name == "plain":
            return place
        if self.name == "log":
            return math.exp(min(place, 700.0))
        return self._low + (self._high - self._low) / (1 + math.exp(min(-place, 700.0)))

    def slope(self, value: float) -> float:
        """How fast the scale moves with the value."""
        if self.name == "plain":
            return 1.0
        return 1 / (value - self._low) + (1 / (self._high - value) if self.name == "logit" else 0.0)


def _scale(t: Ranked, measure: Measure) -> _Scale:
    ends = measure.range
    if measure.name == "lift_at":
        ends = (0.0, 1 / float(cast("float", measure.given["share"])))  # all positives are among the rows called
    return _Scale(ends, 1 / (20 * min(float(t.positives), float(t.negatives)) + 20))


def _error(values: Floats, count: Floats) -> float:
    held = count > 0
    values, count = values[held], count[held]
    n = float(count.sum())
    mean = float((values * count).sum()) / n
    if math.isinf(mean):
        return math.nan  # a chance of zero was given to what happened, and the loss has no spread
    return math.sqrt(float((count * (values - mean) ** 2).sum()) / (n - 1) / n)
