# SPDX-License-Identifier: Apache-2.0
"""Coverage of the intervals of detection: samples of images from a pool, whose own values are the truth.

    python bench/detection_coverage.py [--runs 200]

Prints the table of docs/why/detection-coverage.md. The percentile bootstrap of map stands beside ours.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from assay.core.task import find_task
from assay.inference.intervals.interval_choice import Wanted
from assay.measures.declare import parse
from assay.tasks.detection.average_precision import draw_precisions, mean_defined
from assay.tasks.detection.box_values import BoxValues, draw_values, read_values
from assay.tasks.detection.compare import difference_interval
from assay.tasks.detection.intervals import BoxEstimates, HalfSamples
from assay.tasks.detection.kernel.boxes import BoxTable, Scenes
from assay.tasks.detection.kernel.scene_counts import count_scenes
from assay.tasks.detection.tally import Boxes, Rules
from assay.tasks.task_settings import TaskSettings

POOL = 20_000
SIZES = (50, 200, 1000)
DRAWS = 200
TASK = find_task("detection")
MEASURES = {name: parse(name, TASK.registry) for name in ("map", "map_50", "ar_100", "precision", "recall")}
POPULATIONS = {
    "5 classes, alike in number": (5, 30.0),
    "20 classes, alike in number": (20, 30.0),
    "20 classes, some rare": (20, 0.8),
    "80 classes": (80, 2.0),
}


class QuickHalves(HalfSamples):
    """Half samples without the areas small, medium and large."""

    @cached_property
    def drawn(self) -> BoxValues:
        """Draws of all areas together."""
        return draw_values(self.tally, self.weights, (0,))

    @cached_property
    def base(self) -> BoxValues:
        """The same of the whole sample."""
        return draw_values(self.tally, np.ones((len(self.tally.images), 1)), (0,))


def make_pool(classes: int, evenness: float, *, worse: bool = False) -> Boxes:
    """A pool of images with about four objects and thirty detections each."""
    rng = np.random.default_rng(5)
    popular = rng.dirichlet(np.full(classes, evenness))
    image = np.repeat(np.arange(POOL), rng.poisson(4, POOL))
    usual = rng.choice(classes, (POOL, 3), p=popular)
    label = usual[image, rng.integers(0, 3, len(image))]
    size = np.exp(rng.normal(4, 0.9, len(image)))
    box = np.column_stack([rng.uniform(0, 600, len(image)), rng.uniform(0, 440, len(image)), size, size])
    near = np.repeat(np.arange(len(image)), rng.poisson(1.6, len(image)))
    quality = rng.beta(2, 2.4 if worse else 2, len(near))
    moved = box[near] + (1 - quality)[:, None] * rng.normal(0, 0.25, (len(near), 4)) * size[near, None]
    moved[:, 2:] = np.maximum(moved[:, 2:], 2)
    wrong = rng.random(len(near)) < 0.12
    rest = max(0, 30 * POOL - len(near))
    where = rng.integers(0, POOL, rest)
    often = rng.random(rest) < 0.5
    others = np.where(often, usual[where, rng.integers(0, 3, rest)], rng.integers(0, classes, rest))
    alarms = np.column_stack([rng.uniform(0, 600, (rest, 2)), np.exp(rng.normal(3.8, 0.8, (rest, 2)))])
    score = np.concatenate([np.clip(quality * 0.8 + rng.normal(0, 0.12, len(near)), 0.01, 1), rng.beta(1, 8, rest)])
    scenes = Scenes(
        images=tuple(range(POOL)),
        classes=tuple(range(classes)),
        objects=BoxTable(
            image=image, label=label, box=box, area=size**2,
            crowd=rng.random(len(image)) < 0.01,
        ),
        detections=BoxTable(
            image=np.concatenate([image[near], where]),
            label=np.concatenate([np.where(wrong, rng.integers(0, classes, len(near)), label[near]), others]),
            box=np.vstack([moved, alarms]), score=score,
        ),
    )  # fmt: skip
    return count_scenes(scenes, Rules(confidence=0.3))


@dataclass
class Tally:
    """Intervals that held the truth, by name."""

    held: dict[str, list[bool]] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    values: list[float] = field(default_factory=list)

    def add(self, name: str, low: float | None, high: float | None, true: float) -> None:
        """Count one interval."""
        if low is None or high is None:
            self.refused[name] = self.refused.get(name, 0) + 1
        else:
            self.held.setdefault(name, []).append(bool(low <= true <= high))

    def shown(self, name: str) -> str:
        """Coverage in per cent, and the share of samples without an interval."""
        kept, lost = self.held.get(name, []), self.refused.get(name, 0)
        part = f"{100 * np.mean(kept):.1f}" if kept else "–"
        return part + (f" ({100 * lost / (lost + len(kept)):.0f} % refused)" if lost else "")


def percentile(sample: Boxes, rng: np.random.Generator) -> tuple[float, float]:
    """The bootstrap that is usually recommended."""
    size = len(sample.images)
    weights = np.stack([np.bincount(rng.integers(0, size, size), minlength=size) for _ in range(DRAWS)], axis=1)
    values = mean_defined(draw_precisions(sample, weights.astype(np.float64)), (1, 2, 3))
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def study(pool: Boxes, other: Boxes, size: int, runs: int, seed: int) -> tuple[Tally, float]:
    """Coverage at one size, and the mean error of map."""
    rng, tally = np.random.default_rng(seed), Tally()
    view, second = read_values(pool), read_values(other)
    true = {name: measure(view).value for name, measure in MEASURES.items()}
    gap = true["map"] - MEASURES["map"](second).value
    by_class = view.precisions(None)[:, 0].mean(axis=1)
    for run in range(runs):
        images = np.sort(rng.choice(POOL, size, replace=False))
        sample = pool.select_images(images)
        settings = TaskSettings(wanted=Wanted(draws=DRAWS, seed=run))
        view = BoxEstimates(TASK, sample, settings)
        view.halves = QuickHalves(sample, settings.wanted)
        for name in MEASURES:
            tally.add(name, view[name].low, view[name].high, true[name])
        tally.values.append(view["map"].value)
        for label in range(min(5, len(by_class))):
            estimate = view.by_class[label]["ap"]
            tally.add("class", estimate.low, estimate.high, by_class[label])
        tally.add("percentile", *percentile(sample, rng), true["map"])
        halves = (view.halves, QuickHalves(other.select_images(images), settings.wanted))
        difference = halves[0].base_value(MEASURES["map"]) - halves[1].base_value(MEASURES["map"])
        interval, _ = difference_interval(MEASURES["map"], halves, difference, None)
        ends = (None, None) if isinstance(interval, str) else (interval.low, interval.high)
        tally.add("difference", *ends, gap)
    return tally, float(np.mean(tally.values)) - true["map"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--population", choices=list(POPULATIONS), action="append")
    parser.add_argument("--size", type=int, choices=SIZES, action="append")
    given = parser.parse_args()
    names = ("percentile", "map", "map_50", "class", "ar_100", "precision", "recall", "difference")
    print("| population | images | bias of map |", *(f"{name} |" for name in names))
    for population, (classes, evenness) in POPULATIONS.items():
        if given.population and population not in given.population:
            continue
        pool, other = make_pool(classes, evenness), make_pool(classes, evenness, worse=True)
        for size in given.size or SIZES:
            began = time.process_time()
            tally, bias = study(pool, other, size, given.runs if size < SIZES[-1] else given.runs // 2, size)
            print(f"| {population} | {size} | {bias:+.4f} |", *(f"{tally.shown(name)} |" for name in names), flush=True)
            print(f"{time.process_time() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
