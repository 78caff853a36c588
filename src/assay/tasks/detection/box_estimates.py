# SPDX-License-Identifier: Apache-2.0
"""Estimates of detection: every measure of all classes, and the main ones of each class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

from assay.core.labels import Label
from assay.core.text import counted, listed
from assay.core.values import Undefined
from assay.inference.estimates import ByClass, Estimate, Interval, build_estimate
from assay.measures.declare import Measure, parse
from assay.tasks.detection.count_notes import FEW, describe_lonely_classes, describe_ties, rare_classes, refuse_rare
from assay.tasks.detection.intervals import BIASED, HalfSamples
from assay.tasks.detection.measures import BY_CLASS
from assay.tasks.task_estimates import TaskEstimates

if TYPE_CHECKING:
    from assay.measures.declare import Tally
    from assay.tasks.detection.tally import Boxes


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

    def _estimate(self, measure: Measure) -> Estimate:
        return self._made(measure, None)

    def _class_estimate(self, measure: Measure, label: Label) -> Estimate:
        return replace(self._made(measure, self.tally.classes.index(label)), label=label)

    def _made(self, measure: Measure, place: int | None) -> Estimate:
        value = measure(cast("Tally", self.halves.values.of_class(place)))
        interval: Interval | str = "the value is undefined"
        if not isinstance(value, Undefined):
            interval = self._refuse(measure, place) or self.halves.interval(measure, place)
        notes = tuple(self._notes(measure)) if place is None else ()
        return build_estimate(measure.title, value, interval, self.halves.size, slice=self.slice, notes=notes)

    def _refuse(self, measure: Measure, label: int | None) -> str | None:
        """Why there is no interval."""
        return refuse_rare(self.tally, label, means=measure.family == BIASED)

    @cached_property
    def _rare(self) -> frozenset[int]:
        return frozenset(rare_classes(self.tally).tolist())

    def _notes(self, measure: Measure) -> Iterator[str]:
        """What belongs to every mean over classes."""
        if measure.title != "map":
            return
        yield from describe_lonely_classes(self.tally)
        if self._rare:
            names = listed([self.tally.classes[place] for place in sorted(self._rare)], most=5)
            yield (
                f"{counted(len(self._rare), 'class', 'classes')} with objects in fewer than {FEW} images ({names}): "
                "the interval may cover less than it states"
            )
        yield from describe_ties(self.tally)
