# SPDX-License-Identifier: Apache-2.0
"""Estimates of detection: every measure of all classes, and the main ones of each class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast

from assay.core.labels import Label
from assay.core.text import counted, listed
from assay.core.values import Undefined
from assay.inference.estimates import Estimate, Estimates, Interval
from assay.measures.declare import Measure, parse
from assay.tasks.detection.count_notes import FEW, describe_lonely_classes, describe_ties, rare_classes, refuse_rare
from assay.tasks.detection.intervals import BIASED, HalfSamples
from assay.tasks.detection.measures import BY_CLASS

if TYPE_CHECKING:
    from assay.core.registry import Registry
    from assay.measures.declare import Tally
    from assay.tasks.detection.tally import Boxes
    from assay.tasks.task_settings import TaskSettings


class BoxEstimates(Estimates):
    """Estimates of one tally; half samples of the images are drawn when the first interval is asked for."""

    def __init__(
        self, registry: Registry[Measure], tally: Boxes, settings: TaskSettings, slice_: Mapping[str, Label] | None
    ) -> None:
        self.registry, self.tally, self.settings = registry, tally, settings
        self.slice = dict(slice_ or {})
        self.halves = HalfSamples(tally, settings.wanted)
        self._estimates: dict[tuple[str, int | None], Estimate] = {}

    @cached_property
    def measures(self) -> Sequence[Measure]:
        """The measures asked for, or all that need no parameter."""
        asked = self.settings.measures
        if asked is not None:
            return list(asked)
        rare = [parse(f'map_of(frequency="{kind}")', self.registry) for kind in "rcf" if self.tally.frequency]
        return [*(measure for measure in self.registry if not measure.needs), *rare]

    @cached_property
    def class_measures(self) -> Sequence[Measure]:
        """Those of each class; the first is its AP."""
        known = {measure.title for measure in self.measures}
        chosen = [parse(name, self.registry) for name in BY_CLASS]
        return [measure for measure in chosen if measure.title in known]

    @cached_property
    def by_class(self) -> Mapping[Label, Mapping[str, Estimate]]:
        """Estimates of every class."""
        return {label: ClassEstimates(self, place) for place, label in enumerate(self.tally.classes)}

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of a measure, by name, symbol or alias."""
        return self.estimate(parse(name, self.registry), None)

    def __iter__(self) -> Iterator[str]:
        """The names of the measures."""
        return iter([measure.title for measure in self.measures])

    def __len__(self) -> int:
        """How many there are."""
        return len(self.measures)

    def listed(self, done: Callable[[], None] = lambda: None) -> list[Estimate]:
        """What a Record lists."""
        estimates = [self.estimate(measure, None) for measure in self.measures]
        if not self.slice:
            places = range(len(self.tally.classes)) if len(self.tally.classes) > 1 else range(0)
            estimates += [self.estimate(measure, place) for place in places for measure in self.class_measures]
        done()
        return estimates

    def speaks_of_class(self, measure: Measure) -> bool:
        """Whether a class may be named for it."""
        return measure.name in BY_CLASS

    def class_sizes(self) -> dict[str, str]:
        """Objects by class."""
        counts = self.tally.objects_by_class[:, 0].tolist()
        return {str(label): f"{count:,}" for label, count in zip(self.tally.classes, counts, strict=True)}

    def estimate(self, measure: Measure, label: int | None) -> Estimate:
        """The estimate of a measure of all classes or of one."""
        key = (measure.title, label)
        if key not in self._estimates:
            self._estimates[key] = self._estimate(measure, label)
        return self._estimates[key]

    def _estimate(self, measure: Measure, label: int | None) -> Estimate:
        values = self.halves.values if label is None else self.halves.values.of_class(label)
        value = measure(cast("Tally", values))
        interval: Interval | str = "the value is undefined"
        if not isinstance(value, Undefined):
            interval = self._refuse(measure, label) or self.halves.interval(measure, label)
        return Estimate(
            measure=measure.title,
            result=value,
            interval=interval if isinstance(interval, Interval) else None,
            no_interval=interval if isinstance(interval, str) else None,
            n=self.halves.size,
            label=None if label is None else self.tally.classes[label],
            slice=self.slice,
            notes=tuple(self._notes(measure)) if label is None else (),
        )

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


class ClassEstimates(Mapping[str, Estimate]):
    """The estimates of one class."""

    def __init__(self, view: BoxEstimates, place: int) -> None:
        self.view, self.place = view, place

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of a measure; "ap" is the average precision of the class."""
        name = {"ap": "map", "ap_50": "map_50", "ap_75": "map_75"}.get(name.lower(), name)
        return self.view.estimate(parse(name, self.view.registry), self.place)

    def __iter__(self) -> Iterator[str]:
        """The names of the measures."""
        return iter([measure.title for measure in self.view.class_measures])

    def __len__(self) -> int:
        """How many there are."""
        return len(self.view.class_measures)
