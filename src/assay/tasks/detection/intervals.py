# SPDX-License-Identifier: Apache-2.0
"""Estimates of detection, with intervals from half samples: one set of draws gives spread and bias of every measure.

Average precision of a sample is too high, for the envelope takes the luckiest precision; a half sample shows by how
much. Coverage: `docs/why/detection-coverage.md`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.core.labels import Label
from assay.core.text import counted, figure, listed
from assay.core.values import Undefined
from assay.inference.estimates import ByClass, Estimate, Interval, build_estimate
from assay.inference.intervals.proportion import student_quantile
from assay.inference.resampling import stream
from assay.inference.unit_intervals import scale_of
from assay.measures.declare import Measure, parse
from assay.tasks.by_unit import TaskEstimates
from assay.tasks.detection.box_values import BoxValues, draw_values, mean_of_draws, read_values
from assay.tasks.detection.count_notes import FEW, describe_lonely_classes, describe_ties, rare_classes, refuse_rare
from assay.tasks.detection.measures import BY_CLASS

if TYPE_CHECKING:
    from assay.inference.intervals.interval_choice import Wanted
    from assay.measures.declare import Tally
    from assay.tasks.detection.kernel.boxes import Floats, Whole
    from assay.tasks.detection.tally import Boxes

FEWEST: Final = 20
"""Images (or units) below which there is no interval."""
DRAWS: Final = 400
"""Half samples that are drawn at most: 200 halves, each with its other half."""
PLACE: Final = 24
"""Names the stream of random numbers."""
EXTRAPOLATION: Final = 2.0
"""Bias of AP in units of what halving adds: 1.5 to 2.5 in the coverage study; a bias that falls with n^-0.585 has 2."""
DOUBT: Final = 0.6
"""What is unknown of that number, added to the spread."""
BIASED: Final = "average precision"
"""The family of measures whose bias is taken off."""
FEWEST_FREE: Final = 2.0
"""Least degrees of freedom that a spread is given."""
SHOWN_BIAS: Final = 0.1
"""Parts of the spread from which on a bias is worth a note."""


class HalfSamples:
    """Draws of half of the images of a tally, and intervals from them."""

    def __init__(self, tally: Boxes, wanted: Wanted) -> None:
        self.tally, self.level, self.seed = tally, wanted.level, wanted.seed
        self.draws = 2 * (min(wanted.draws, DRAWS) // 2)

    @cached_property
    def values(self) -> BoxValues:
        """The values of the tally."""
        return read_values(self.tally)

    @cached_property
    def units(self) -> Whole:
        """The unit of each image."""
        names = self.tally.units
        if names is None:
            return np.arange(len(self.tally.images))
        codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
        return np.array([codes[name] for name in names], dtype=np.int64)

    @property
    def size(self) -> int:
        """How many units there are."""
        return int(self.units.max(initial=-1)) + 1

    @cached_property
    def weights(self) -> Floats:
        """Images by draws: 1 where an image is drawn; every second draw is the other half of the one before."""
        return half_weights(self.units, self.draws, self.seed)

    @cached_property
    def drawn(self) -> BoxValues:
        """The values of all draws."""
        return draw_values(self.tally, self.weights)

    @cached_property
    def base(self) -> BoxValues:
        """The values of the whole sample, computed as those of draws are."""
        return draw_values(self.tally, np.ones((len(self.tally.images), 1)))

    def base_value(self, measure: Measure, label: int | None = None) -> float:
        """The value of the whole sample that draws are held against."""
        return float(measure.values(cast("Tally", self.base.of_class(label)))[0])

    @cached_property
    def averaged(self) -> BoxValues:
        """Each value by class averaged over the draws in which the class occurs."""
        return mean_of_draws(self.drawn)

    def interval(self, measure: Measure, label: int | None = None) -> Interval | str:
        """The interval of a measure of all classes or of one, or the reason why there is none."""
        if self.size < FEWEST:
            return f"only {counted(self.size, 'image' if self.tally.units is None else 'unit')}; needs {FEWEST} or more"
        value = measure(cast("Tally", self.values.of_class(label)))
        if isinstance(value, Undefined):
            return "the value is undefined"
        known = draw_differences([self], measure, label)
        if len(known) < self.draws / 2:
            return "fewer than half of the half samples have a value"
        spread = float(known.std(ddof=1))
        if not spread:
            return "no half sample differs from another, so the spread is unknown"
        if measure.family == BIASED:
            interval, bias = correct_interval([self], measure, label, value.value, spread, ends=(0.0, 1.0))
            return replace(interval, notes=tuple(self._describe_bias(measure, bias, spread)))
        return self._plain(measure, value.value, spread)

    def _describe_bias(self, measure: Measure, bias: float, spread: float) -> Iterator[str]:
        if abs(bias) > SHOWN_BIAS * spread:
            way = "high" if bias > 0 else "low"
            size = counted(len(self.tally.images), "image")
            yield f"{measure.title} from {size} is about {figure(abs(bias))} too {way}; the interval allows for it"

    def _plain(self, measure: Measure, value: float, spread: float) -> Interval | str:
        """Without bias, on the scale of the measure."""
        scale = scale_of(measure)
        slope = {"logit": value * (1 - value), "log": value}.get(scale.name, 1.0)
        if slope <= 0:
            return "the value is at an end of its range"
        reach = student_quantile((1 + self.level) / 2, self.size - 1) * spread / slope
        middle = float(scale.to(np.array(value)))
        return Interval(
            low=scale.back(middle - reach),
            high=scale.back(middle + reach),
            level=self.level,
            method=f"half samples of images, {scale.name} scale, Student's t",
            draws=self.draws,
            seed=self.seed,
        )


def draw_differences(halves: Sequence[HalfSamples], measure: Measure, label: int | None) -> Floats:
    """The values of a measure in the draws that have one, or differences of those of two detectors."""
    drawn = [measure.values(cast("Tally", half.drawn.of_class(label))) for half in halves]
    values = drawn[0] - drawn[1] if len(drawn) > 1 else drawn[0]
    return values[~np.isnan(values)]


def count_freedom(halves: Sequence[HalfSamples], measure: Measure) -> float:
    """Degrees of freedom of a mean over classes, or of a difference of two, after Satterthwaite.

    The AP of a class varies as the images that hold it do; where few do, the spread itself is uncertain.
    """
    most, tally = halves[0].size - 1.0, halves[0].tally
    if not len(rare_classes(tally)):
        return most
    images = np.bincount(tally.objects[:, 1], minlength=len(tally.classes))
    labels = np.flatnonzero(images)
    spreads = np.zeros(len(labels))
    for place, label in enumerate(labels.tolist()):
        known = draw_differences(halves, measure, label)
        spreads[place] = known.var(ddof=1) if len(known) > 1 else 0.0
    if not spreads.any():
        return most
    free = spreads.sum() ** 2 / float((spreads**2 / np.maximum(images[labels] - 1, 1)).sum())
    return float(np.clip(free, FEWEST_FREE, most))


def half_weights(units: Whole, draws: int, seed: int) -> Floats:
    """Images by draws for half samples of units, in pairs of a half and the rest."""
    size, rng = int(units.max(initial=-1)) + 1, stream(seed, PLACE)
    weights = np.zeros((size, draws))
    for pair in range(draws // 2):
        order = rng.permutation(size)
        weights[order[: size // 2], 2 * pair] = 1.0
        weights[order[size // 2 :], 2 * pair + 1] = 1.0
    return weights if np.array_equal(units, np.arange(size)) else weights[units]


def correct_interval(
    halves: Sequence[HalfSamples],
    measure: Measure,
    label: int | None,
    value: float,
    spread: float,
    *,
    ends: tuple[float, float],
) -> tuple[Interval, float]:
    """The interval around a value, or a difference of two, without its bias; and the bias.

    It is widened to hold the value itself. Only average precision is biased: `rise` is what halving the sample adds.
    """
    half, biased, rise = halves[0], measure.family == BIASED, 0.0
    means = [measure(cast("Tally", part.averaged.of_class(label))) for part in halves] if biased else []
    if means and not any(isinstance(mean, Undefined) for mean in means):
        averages, bases = [mean.value for mean in means], [part.base_value(measure, label) for part in halves]  # type: ignore[union-attr]
        rise = averages[0] - sum(averages[1:]) - (bases[0] - sum(bases[1:]))
    free = count_freedom(halves, measure) if biased and label is None else half.size - 1.0
    middle = value - EXTRAPOLATION * rise
    reach = student_quantile((1 + half.level) / 2, free) * math.hypot(spread, DOUBT * rise)
    interval = Interval(
        low=max(ends[0], min(value, middle - reach)),
        high=min(ends[1], max(value, middle + reach)),
        level=half.level,
        method="half samples of images, bias extrapolated, Student's t",
        draws=half.draws,
        seed=half.seed,
    )
    return interval, EXTRAPOLATION * rise


class BoxEstimates(TaskEstimates):
    """Estimates of one tally; half samples of the images are drawn when the first interval is asked for."""

    tally: Boxes

    @cached_property
    def halves(self) -> HalfSamples:
        """The half samples, which all measures share."""
        return HalfSamples(self.tally, self.settings.wanted)

    @cached_property
    def measures(self) -> Sequence[Measure]:
        """The measures asked for, or all that need no parameter."""
        rare = [parse(f'map_of(frequency="{kind}")', self.registry) for kind in "rcf" if self.tally.frequency]
        return [*super().measures, *(() if self.settings.measures is not None else rare)]

    @cached_property
    def class_measures(self) -> Sequence[Measure]:
        """Those of each class; the first is its AP."""
        known = {measure.title for measure in self.measures}
        chosen = [parse(name, self.registry) for name in BY_CLASS]
        return [measure for measure in chosen if measure.title in known]

    @cached_property
    def by_class(self) -> Mapping[Label, Mapping[str, Estimate]]:
        """Estimates of every class."""
        return ByClass(self, self.tally.classes)

    @property
    def lists_classes(self) -> bool:
        """Whether a Record lists every class."""
        return not self.slice and len(self.tally.classes) > 1

    def class_estimate(self, name: str, label: Label) -> Estimate:
        """The estimate of a measure of one class; "ap" is its average precision."""
        alias = {"ap": "map", "ap_50": "map_50", "ap_75": "map_75"}
        return super().class_estimate(alias.get(name.lower(), name), label)

    def speaks_of_class(self, measure: Measure) -> bool:
        """Whether a class may be named for it."""
        return measure.name in BY_CLASS

    def class_sizes(self) -> dict[str, str]:
        """Objects by class."""
        counts = self.tally.objects_by_class[:, 0].tolist()
        return {str(label): f"{count:,}" for label, count in zip(self.tally.classes, counts, strict=True)}

    def _class_estimate(self, measure: Measure, label: Label) -> Estimate:
        return replace(self._estimate(measure, self.tally.classes.index(label)), label=label)

    def _estimate(self, measure: Measure, place: int | None = None) -> Estimate:
        value = measure(cast("Tally", self.halves.values.of_class(place)))
        interval: Interval | str = "the value is undefined"
        if not isinstance(value, Undefined):
            refused = refuse_rare(self.tally, place, means=measure.family == BIASED)
            interval = refused or self.halves.interval(measure, place)
        notes = tuple(self._notes()) if place is None and measure.title == "map" else ()
        return build_estimate(measure.title, value, interval, self.halves.size, slice=self.slice, notes=notes)

    def _notes(self) -> Iterator[str]:
        """What belongs to a mean over classes."""
        yield from describe_lonely_classes(self.tally)
        rare = rare_classes(self.tally).tolist()
        if rare:
            names = listed([self.tally.classes[place] for place in rare], most=5)
            yield (
                f"{counted(len(rare), 'class', 'classes')} with objects in fewer than {FEW} images ({names}): "
                "the interval may cover less than it states"
            )
        yield from describe_ties(self.tally)
