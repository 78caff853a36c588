# SPDX-License-Identifier: Apache-2.0
"""The settings of an assessment or comparison of any task but classification, checked once; and measures by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.core.errors import PlanError
from assay.core.text import visible
from assay.inference.intervals.interval_choice import Wanted
from assay.inference.multiplicity import correction
from assay.inference.resampling import SEED
from assay.measures.declare import Measure, parse
from assay.tally.labels.confusion import Priced

if TYPE_CHECKING:
    from assay.core.registry import Registry

SWAPS = 9999
"""Random swaps of a permutation test, unless stated otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSettings:
    """Choices that shape the numbers; all of them are written into the Record."""

    wanted: Wanted = field(default_factory=Wanted)
    measures: tuple[Measure, ...] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options of the task that are not at their defaults for nothing: all of them."""
    correction: str = "holm"
    margin: float | None = None
    equivalence: bool = False
    control: str | None = None
    swaps: int = SWAPS

    def __post_init__(self) -> None:
        """Only corrections that exist, and a margin above 0."""
        object.__setattr__(self, "correction", correction(self.correction))
        if self.margin is not None and not self.margin > 0:
            raise PlanError(
                "option-unknown", f"margin = {self.margin!r} is not a margin", known="numbers above 0", fix="state one"
            )

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "level": self.wanted.level,
            "intervals": {"draws": self.wanted.draws, "seed": self.wanted.seed, "swaps": self.swaps},
            "measures": None if self.measures is None else [measure.title for measure in self.measures],
            "options": plain(self.options),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any], registry: Registry[Measure]) -> TaskSettings:
        """The inverse of `to_json`."""
        intervals = content["intervals"]
        return cls(
            wanted=Wanted(level=content["level"], draws=intervals["draws"], seed=intervals.get("seed", SEED)),
            measures=choose_measures(content["measures"], registry),
            options=content.get("options", {}),
            correction=content.get("correction", "holm"),
            margin=content.get("margin"),
            equivalence=bool(content.get("equivalence", False)),
            control=content.get("control"),
            swaps=int(intervals.get("swaps", SWAPS)),
        )


def plain(value: object) -> Any:  # noqa: ANN401  JSON
    """An option as JSON can hold it: paths and arrays by their kind only, for their contents are data."""
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return value.item()
    return visible(type(value).__name__)


def choose_measures(
    names: Iterable[str | Measure] | str | None, registry: Registry[Measure]
) -> tuple[Measure, ...] | None:
    """Measures by name, family or object; None means all that the task lists unasked."""
    if names is None:
        return None
    names = [names] if isinstance(names, (str, Measure)) else names
    families: dict[str, list[Measure]] = {}
    for measure in registry:
        families.setdefault(measure.family, []).append(measure)
    chosen: list[Measure] = []
    for name in names:
        if isinstance(name, Measure):
            chosen.append(name)
        elif name in families and name not in registry:
            chosen += [measure for measure in families[name] if not measure.needs and measure.takes is not Priced]
        else:
            chosen.append(parse(name, registry))
    for measure in chosen:
        if measure.needs:
            raise PlanError(
                "measure-needs",
                f"{measure.name} needs {' and '.join(measure.needs)}",
                fix=f'write "{measure.name}({measure.needs[0]}=...)"',
            )
    return tuple({measure.title: measure for measure in chosen}.values())
