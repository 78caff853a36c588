# SPDX-License-Identifier: Apache-2.0
"""Compares detectors on the same images: swaps of whole images, half samples for intervals, and who finds what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.text import counted, quoted
from assay.core.values import Undefined
from assay.inference.findings import Effect, Finding
from assay.inference.multiplicity import holm
from assay.inference.power import least_student
from assay.inference.resampling import stream
from assay.inference.tail_probabilities import Tail, shown
from assay.tally.base import ModelTallies
from assay.tasks.detection.box_values import BoxValues, draw_values
from assay.tasks.detection.count_notes import rare_classes, refuse_rare
from assay.tasks.detection.intervals import BIASED, FEWEST, HalfSamples, correct_interval, draw_differences
from assay.tasks.detection.kernel.box_matches import AREAS
from assay.tasks.detection.tally import Boxes, join_parts

if TYPE_CHECKING:
    from assay.inference.estimates import Interval
    from assay.measures.declare import Measure, Tally
    from assay.tasks.detection.kernel.boxes import Whole
    from assay.tasks.task_settings import TaskSettings

EFFORT: Final = 600_000_000
"""Detections times swaps that a comparison may visit."""
LEAST_SWAPS: Final = 499
PLACE: Final = 25
SAME: Final = 1e-7
"""Single precision: differences this near are the same."""
RARE: Final = "some classes have objects in fewer than 5 images: the interval may cover less than it states"
LISTED: Final = 100
"""Classes whose differences are listed."""


def compare_pair(
    paired: ModelTallies[Boxes], pair: tuple[str, str], measures: Sequence[Measure], settings: TaskSettings
) -> Iterator[Finding]:
    """A finding for each measure; that of map also lists the classes and who finds which objects."""
    halves = tuple(HalfSamples(paired.models[model], settings.wanted) for model in pair)
    areas = [0, *(place for place in (1, 2, 3) if any(m.title.endswith(AREAS[place]) for m in measures))]
    swapped, swaps = swap_images(halves, settings, areas)
    counts = count_found(*(half.tally for half in halves))
    for measure in measures:
        finding = _compare(measure, pair, halves, swapped, swaps)
        if measure.title == "map":
            more, notes = _compare_classes(measure, halves, swapped, pair)
            finding = replace(finding, more=more, notes=(*finding.notes, *notes))
        yield replace(finding, counts=counts)


def swap_images(
    halves: Sequence[HalfSamples], settings: TaskSettings, areas: Sequence[int]
) -> tuple[tuple[BoxValues, BoxValues], int]:
    """Values of both detectors after random swaps of all detections of a unit."""
    first, second = (half.tally for half in halves)
    size = len(first.images)
    both = join_parts(
        [
            replace(first, images=tuple(range(0, 2 * size, 2)), units=None),
            replace(second, images=tuple(range(1, 2 * size, 2)), units=None),
        ],
        tuple(range(2 * size)),
        first.classes,
    )
    swaps = int(max(LEAST_SWAPS, min(settings.swaps, EFFORT // max(1, len(both.score)))))
    units = halves[0].units
    flips = stream(settings.wanted.seed, PLACE).integers(0, 2, size=(halves[0].size, swaps), dtype=np.int8)[units]
    weights = np.empty((2 * size, swaps))
    weights[0::2], weights[1::2] = 1 - flips, flips
    return (draw_values(both, weights, areas), draw_values(both, 1 - weights, areas)), swaps


def _compare(
    measure: Measure,
    pair: tuple[str, str],
    halves: Sequence[HalfSamples],
    swapped: tuple[BoxValues, BoxValues],
    swaps: int,
) -> Finding:
    """The difference of a measure, its interval, and how far swaps take it."""
    half = halves[0]
    about: dict[str, Any] = {
        "test": "unit_permutation", "title": "permutation test of images", "about": measure.title, "models": pair,
        "n": half.size, "level": half.level, "statistic_name": "difference",
    }  # fmt: skip
    values = [measure(cast("Tally", part.values)) for part in halves]
    name = f"{pair[0]} minus {pair[1]}"
    if isinstance(values[0], Undefined) or isinstance(values[1], Undefined):
        reason = next(value for value in values if isinstance(value, Undefined))
        return Finding(chance=reason, effect=Effect(name=name, value=reason), statistic=reason, **about)
    difference = values[0].value - values[1].value
    moved = [measure.values(cast("Tally", part)) for part in swapped]
    gaps = np.abs(moved[0] - moved[1])
    reached = halves[0].base_value(measure) - halves[1].base_value(measure)
    far = int((gaps >= abs(reached) - SAME).sum())
    interval, error = difference_interval(measure, halves, difference, None)
    share = tuple(map(float, measure.range)) == (0.0, 1.0)
    return Finding(
        chance=Tail.of((1 + far) / (1 + swaps)),
        effect=_effect(name, difference, interval, share=share),
        statistic=difference,
        least=least_student(error, half.size - 1, half.level) if error > 0 else None,
        notes=(
            f"{swaps:,} random swaps of images, seed {half.seed}; p = (1 + as far) / (1 + drawn)",
            *([RARE] if measure.family == BIASED and len(rare_classes(half.tally)) else []),
        ),
        chosen="map is not a mean over images, so the detections of whole images are swapped",
        **about,
    )


def _effect(name: str, value: float, interval: Interval | str, *, share: bool) -> Effect:
    fields: dict[str, Any] = {"no_interval": interval} if isinstance(interval, str) else {"interval": interval}
    return Effect(name=name, value=value, share=share, **fields)


def difference_interval(
    measure: Measure, halves: Sequence[HalfSamples], difference: float, label: int | None
) -> tuple[Interval | str, float]:
    """The interval of a difference from the same half samples of both, or why there is none, and the spread."""
    half = halves[0]
    if half.size < FEWEST:
        return f"only {counted(half.size, 'image')}; an interval needs {FEWEST} or more", 0.0
    if reason := refuse_rare(half.tally, label, means=measure.family == BIASED):
        return reason, 0.0
    gaps = draw_differences(halves, measure, label)
    spread = float(gaps.std(ddof=1)) if len(gaps) > half.draws / 2 else 0.0
    if not spread:
        return "the half samples do not differ", 0.0
    interval, _ = correct_interval(halves, measure, label, difference, spread, ends=(-np.inf, np.inf))
    return interval, spread


def _compare_classes(
    measure: Measure, halves: Sequence[HalfSamples], swapped: tuple[BoxValues, BoxValues], pair: tuple[str, str]
) -> tuple[tuple[Effect, ...], tuple[str, ...]]:
    """The difference of AP in each class with its interval, and the classes that differ after Holm's correction."""
    tally = halves[0].tally
    labels = np.flatnonzero(tally.objects_by_class[:, 0])[:LISTED]
    precisions = [part.precisions(None)[:, :, 0].mean(axis=-1) for part in swapped]
    own = [half.values.precisions(None)[:, 0].mean(axis=-1) for half in halves]
    base = [half.base.precisions(None)[0, :, 0].mean(axis=-1) for half in halves]
    effects, chances = [], []
    for label in labels:
        difference = float(own[0][label] - own[1][label])
        gaps = np.abs(precisions[0][:, label] - precisions[1][:, label])
        reached = abs(float(base[0][label] - base[1][label]))
        chances.append((1 + int((gaps >= reached - SAME).sum())) / (1 + len(gaps)))
        interval, _ = difference_interval(measure, halves, difference, int(label))
        name = f"AP of {quoted(tally.classes[label])}: {pair[0]} minus {pair[1]}"
        effects.append(_effect(name, difference, interval, share=True))
    alpha = 1 - halves[0].level
    corrected = holm(chances) if chances else []
    differing = [
        f"{quoted(tally.classes[label])} (p {shown(float(p))})"
        for label, p in zip(labels, corrected, strict=True)
        if p <= alpha
    ]
    text = ", ".join(differing[:8]) or "none"
    return tuple(effects), (f"classes that differ after Holm over {len(labels)} classes: {text}",)


def count_found(first: Boxes, second: Boxes) -> dict[str, int]:
    """Objects that both, one or none of two detectors hit at the operating point."""
    most = 1 + max(int(tally.target.max(initial=0)) for tally in (first, second))
    sets = [_found_objects(tally, most) for tally in (first, second)]
    both = np.intersect1d(sets[0], sets[1])
    objects = int(first.objects[:, 2].sum())
    only = [len(part) - len(both) for part in sets]
    return {
        "objects found by both": len(both),
        "only the first": only[0],
        "only the second": only[1],
        "neither": objects - len(both) - sum(only),
    }


def _found_objects(tally: Boxes, most: int) -> Whole:
    """Objects that are hit at the operating point, as numbers that two detectors share."""
    sure = (tally.score[tally.detection] >= tally.rules.confidence) & (tally.target > 0)
    image = tally.image[tally.detection[sure]].astype(np.int64)
    return np.unique(image * most + tally.target[sure])
