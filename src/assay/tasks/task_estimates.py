# SPDX-License-Identifier: Apache-2.0
"""Estimates of one tally of any task but classification: by measure and by class, computed when asked for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from assay.core.labels import Label
from assay.inference.estimates import Estimate, Estimates
from assay.measures.declare import Measure, parse

if TYPE_CHECKING:
    from assay.core.registry import Registry
    from assay.tasks.task_settings import TaskSettings


class TaskEstimates(Estimates):
    """A task says how one measure is estimated; names, caching and what a Record lists follow."""

    def __init__(
        self, task: Any, tally: Any, settings: TaskSettings, slice_: Mapping[str, Label] | None = None  # noqa: ANN401
    ) -> None:  # fmt: skip
        self.task, self.tally, self.settings, self.slice = task, tally, settings, dict(slice_ or {})
        self._estimates: dict[tuple[str, Label | None], Estimate] = {}

    @property
    def registry(self) -> Registry[Measure]:
        """The measures of the task."""
        return cast("Registry[Measure]", self.task.registry)

    @abstractmethod
    def _estimate(self, measure: Measure) -> Estimate:
        """The estimate of all classes together."""

    def _class_estimate(self, measure: Measure, label: Label) -> Estimate:
        """The estimate of one class, where there are classes."""
        raise NotImplementedError

    @cached_property
    def measures(self) -> Sequence[Measure]:
        """The measures asked for, or all that need no parameter."""
        if self.settings.measures is not None:
            return list(self.settings.measures)
        return [measure for measure in self.registry if not measure.needs]

    @property
    def lists_classes(self) -> bool:
        """Whether a Record lists every class."""
        return False

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of a measure, by name, symbol or alias."""
        return self.find(parse(name, self.registry))

    def class_estimate(self, name: str, label: Label) -> Estimate:
        """The same of one class."""
        return self.find(parse(name, self.registry), label)

    def find(self, measure: Measure, label: Label | None = None) -> Estimate:
        """The estimate of a measure of all classes or of one, computed once."""
        key = (measure.title, label)
        if key not in self._estimates:
            new = self._estimate(measure) if label is None else self._class_estimate(measure, label)
            self._estimates[key] = new
        return self._estimates[key]

    def listed(self, done: Callable[[], None] = lambda: None) -> list[Estimate]:
        """What a Record lists: the whole, then class by class."""
        estimates = [self.find(measure) for measure in self.measures]
        if self.lists_classes:
            estimates += [self.find(measure, label) for label in self.by_class for measure in self.class_measures]
        done()
        return estimates
