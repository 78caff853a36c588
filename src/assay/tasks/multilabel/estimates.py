# SPDX-License-Identifier: Apache-2.0
"""Estimates of label sets: rows, or units, are what varies; the slots of a row are never taken as independent."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.text import counted, quoted
from assay.core.values import Share, Undefined, Value
from assay.inference.estimates import ByClass, Estimate, Interval, build_estimate
from assay.inference.intervals.proportion import fitting, of_share, student_quantile
from assay.inference.unit_intervals import FEW, FEWEST, jackknife_interval, scale_of
from assay.measures.declare import Measure, parse
from assay.tally.labels.one_vs_rest import Binary
from assay.tasks.by_unit import TaskEstimates
from assay.tasks.multilabel.measures import FREQUENCIES, LABELS, ORDER
from assay.tasks.multilabel.score_measures import tables_of
from assay.tasks.multilabel.table import LabelTable, read_products, read_sums, read_table, stack_tables
from assay.tasks.multilabel.tally import MOST_LABELS, SAMPLE, LabelSets

if TYPE_CHECKING:
    from assay.core.arrays import Floats
    from assay.inference.intervals.interval_choice import Found
    from assay.tally.scores.ranked_table import Ranked
    from assay.tally.unit_table import UnitTable
    from assay.tasks.task_settings import TaskSettings


LABEL_MEASURES: Final = ("precision", "recall", "f1", "jaccard", "specificity", "prevalence", "predicted_positive_rate")
SCORE_MEASURES: Final = ("auroc", "average_precision")
CALIBRATION: Final = ("brier_score", "expected_calibration_error")
LISTED: Final = 200
"""Labels up to which a Record lists every label estimate; beyond, they are computed from the tally when asked for."""
STEP: Final = 1e-4
"""Relative step of a numeric derivative; its error is about the square of it."""
AREAS: Final = {"auroc_macro": "auroc", "average_precision_macro": "average_precision", "auroc_micro": None}
"""Areas over labels, and the measure of one label that they average."""
SHARED_ROWS: Final = "labels share their rows, and their scores vary together; see label by label"
ANY_DEPENDENCE: Final = "mean of the intervals of the labels, wide enough for labels that vary together"


class LabelEstimates(TaskEstimates):
    """Measures of one tally of label sets."""

    tally: LabelSets

    @cached_property
    def table(self) -> LabelTable:
        """What measures read."""
        return read_table(self.tally)

    @cached_property
    def measures(self) -> Sequence[Measure]:
        """The measures asked for, or all that the columns allow."""
        if self.settings.measures is not None:
            return list(self.settings.measures)
        return [measure for measure in self.registry if self.tally.scores or measure.family != ORDER]

    @cached_property
    def class_measures(self) -> list[Measure]:
        """The measures of one label."""
        names: tuple[str, ...] = LABEL_MEASURES
        if self.tally.scores:
            names += SCORE_MEASURES + (CALIBRATION if self.settings.options.get("scores") == "probability" else ())
        return [parse(name) for name in names]

    @cached_property
    def by_class(self) -> Mapping[Label, Mapping[str, Estimate]]:
        """Label -> measure -> estimate of that label alone."""
        return ByClass(self, self.tally.labels, ("label", "labels"))

    @property
    def lists_classes(self) -> bool:
        """Whether a Record lists every label."""
        return self.settings.measures is None and not self.slice and len(self.tally.labels) <= LISTED

    def class_estimate(self, name: str, label: Label) -> Estimate:
        """The estimate of a measure of two classes: the label, and its absence."""
        return self.find(parse(name), label)

    def class_sizes(self) -> dict[str, str]:
        """How often each label is true."""
        true = self.tally.counts[0] + self.tally.counts[2]
        return {str(label): str(n) for label, n in zip(self.tally.labels, true.tolist(), strict=True)}

    def _estimate(self, measure: Measure) -> Estimate:
        value = measure(cast("Any", self.table))
        return self._made(measure, value, self._interval(measure, value), None, self.tally.independent)

    def _interval(self, measure: Measure, value: Value) -> Found:
        level = self.settings.wanted.level
        if isinstance(value, Undefined):
            return "the value is undefined"
        if math.isinf(value.value):
            return "the value is infinite"
        if measure.name in AREAS:
            return self._area(AREAS[measure.name])
        if self.tally.units is not None:
            return self._by_units(measure, lambda sums: stack_tables(self.tally.labels, sums))
        if isinstance(value, Share):
            return self._share(value)
        return linear_interval(measure, self.tally, value.value, level)

    def _area(self, name: str | None) -> Found:
        """The interval of a mean of areas: no mean varies more than one of labels that all vary together."""
        if name is None:
            return SHARED_ROWS
        intervals = [self.class_estimate(name, label) for label in self.tally.labels]
        if lost := [estimate for estimate in intervals if estimate.interval is None]:
            return f"no interval of {quoted(lost[0].label)}: {lost[0].no_interval}"
        low, high = (
            math.fsum(getattr(estimate, end) for estimate in intervals) / len(intervals) for end in ("low", "high")
        )
        return Interval(low=low, high=high, level=self.settings.wanted.level, method=ANY_DEPENDENCE)

    def _share(self, value: Share) -> Interval:
        wanted, top, of = self.settings.wanted, int(value.numerator), int(value.denominator)
        low, high = of_share(top, of, wanted.level, wanted.shares)
        return Interval(low=low, high=high, level=wanted.level, method=fitting(wanted.shares, of))

    def _by_units(self, measure: Measure, read: Callable[[Floats], object]) -> Found:
        units = cast("UnitTable", self.tally.units)
        return jackknife_interval(measure, units, cast("Any", read), self.settings.wanted.level)

    def _class_estimate(self, measure: Measure, label: Label) -> Estimate:
        place = self.tally.labels.index(label)
        if measure.from_scores:
            return self._from_scores(measure, label)
        tp, fp, fn = (int(n) for n in self.tally.counts[:, place])
        cells = {"tp": tp, "fp": fp, "fn": fn, "tn": self.tally.rows - tp - fp - fn}
        value = measure(Binary.of(**cells))
        if isinstance(value, Undefined):
            named = value.named(positive=quoted(label), negative=f"without {quoted(label)}")
            return self._made(measure, named, "the value is undefined", label, self.tally.independent)
        if self.tally.units is not None:
            interval_or_reason = self._by_units(
                measure, lambda sums: _binary_stack(sums, place, len(self.tally.labels))
            )
        elif isinstance(value, Share):
            interval_or_reason = self._share(value)
        else:
            interval_or_reason = _four_cells(cells, measure, value, self.settings)
        n = int(value.denominator) if isinstance(value, Share) else self.tally.independent
        return self._made(measure, value, interval_or_reason, label, n)

    @cached_property
    def _ranked(self) -> dict[Any, Ranked]:
        return tables_of(self.table)

    def _from_scores(self, measure: Measure, label: Label) -> Estimate:
        from assay.inference.intervals.score_intervals import ScoreUncertainty

        if not self.tally.scores:
            raise PlanError("measure-unfit", f"{measure.name} needs scores", fix="give score=... (--score)")
        value = measure(self._ranked[label])
        if isinstance(value, Undefined):
            value = value.named(positive=quoted(label), negative=f"without {quoted(label)}")
            interval_or_reason: Found = "the value is undefined"
        elif self.tally.units is not None:
            interval_or_reason = "rows belong together, and scores are not kept by unit"
        else:
            interval_or_reason = ScoreUncertainty(self._ranked[label], self.settings.wanted).interval(measure, value)
        return self._made(measure, value, interval_or_reason, label, self.tally.independent)

    def _made(self, measure: Measure, value: Value, interval_or_reason: Found, label: Label | None, n: int) -> Estimate:
        return build_estimate(measure.title, value, interval_or_reason, n, label=label, slice=self.slice)


def linear_interval(measure: Measure, tally: LabelSets, value: float, level: float) -> Found:
    """The interval of a smooth function of sums over rows: linearised variance, scale of the measure, Student's t."""
    rows = tally.rows
    if rows < FEWEST:
        return f"only {counted(rows, 'row')}; an interval needs {FEWEST} or more"
    by_label = measure.family in (LABELS, FREQUENCIES)
    sample, cross = read_products(tally)
    if by_label and cross is None:
        return f"more than {MOST_LABELS} labels: how labels go together is not kept"
    products = sample if cross is None or not by_label else cross
    sums, first = read_sums(tally), len(SAMPLE) if by_label else 0
    places = slice(first, first + len(products))

    def values(moved: Floats) -> Floats:
        stack = np.tile(sums, (len(moved), 1))
        stack[:, places] = moved
        return measure.values(cast("Any", stack_tables(tally.labels, stack)))

    _, slope = find_slopes(values, sums[places])
    if not np.isfinite(slope).all():
        return "the value is undefined near these counts"
    total = float(slope @ sums[places])
    variance = rows / (rows - 1) * (float(slope @ products @ slope) - total * total / rows)
    scale = scale_of(measure)
    apart = STEP * (min(value, 1 - value) if 0 < value < 1 else value)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle, below, above = scale.to(np.array([value, value - apart, value + apart]))
    if not np.isfinite(middle):
        return "the value is at an end of its range"
    if not variance > 0:
        return "no row differs from the others, so the spread is unknown"
    stretch = (above - below) / (2 * apart)
    reach = student_quantile((1 + level) / 2, rows - 1) * math.sqrt(variance) * stretch
    return Interval(
        low=scale.back(float(middle - reach)),
        high=scale.back(float(middle + reach)),
        level=level,
        method=f"linearised over {rows:,} rows, {scale.name} scale, Student's t",
        notes=(f"only {counted(rows, 'row')}: the interval may be too narrow",) if rows < FEW else (),
    )


def find_slopes(values: Callable[[Floats], Floats], at: Floats) -> tuple[float, Floats]:
    """The value of a function of sums at a point, and its derivatives there by central differences."""
    step, size = np.maximum(np.abs(at) * STEP, STEP), len(at)
    found = values(np.vstack([at, at + np.diag(step), at - np.diag(step)]))
    return float(found[0]), (found[1 : size + 1] - found[size + 1 :]) / (2 * step)


def _four_cells(cells: Mapping[str, int], measure: Measure, value: Value, settings: TaskSettings) -> Found:
    from assay.inference.intervals.interval_choice import Uncertainty
    from assay.tally.labels.confusion import Confusion

    by_pair: dict[tuple[Label, Label], int] = {
        (1, 1): cells["tp"],
        (0, 1): cells["fp"],
        (1, 0): cells["fn"],
        (0, 0): cells["tn"],
    }
    confusion = Confusion.from_cells(cast("Any", by_pair), labels=(0, 1))
    return Uncertainty(confusion, settings.wanted, positive=1).overall(measure, value)


def _binary_stack(sums: Floats, place: int, size: int) -> Binary:
    tp, fp, fn = (sums[..., len(SAMPLE) + kind * size + place] for kind in range(3))
    rows = sums[..., SAMPLE.index("n")]
    return Binary(tp=tp, fp=fp, fn=fn, tn=rows - tp - fp - fn)
