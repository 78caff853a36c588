# SPDX-License-Identifier: Apache-2.0
"""How often the interval of a mean cost holds the truth, beside the delta method.

    python bench/costs.py [--tables 2000]

Prints the table of docs/why/score-coverage.md.
"""

from __future__ import annotations

import argparse
import math
from fractions import Fraction

import numpy as np

from assay.core.values import Undefined
from assay.inference.estimates import Interval
from assay.inference.intervals.bounded_means import cost_interval
from assay.inference.intervals.interval_choice import Wanted
from assay.measures import parse
from assay.tally.labels.confusion import Priced

SEED = 4213
TRUTHS = {
    "one price, 10 % wrong": ((0, 1), (0.9, 0.1)),
    "a miss of 5 % costs 10": ((0, 1, 10), (0.85, 0.1, 0.05)),
    "a miss of 1 % costs 10": ((0, 1, 10), (0.94, 0.05, 0.01)),
    "a miss of 1 % costs 100": ((0, 1, 100), (0.89, 0.1, 0.01)),
    "four prices": ((0, 1, 2, 5), (0.7, 0.15, 0.1, 0.05)),
    "eleven prices, 40 % wrong": (tuple(range(11)), (0.6, *[0.04] * 10)),
    "2 % wrong": ((0, 1, 5), (0.98, 0.015, 0.005)),
}
METHODS = ("ours", "delta")


def delta(costs: tuple[int, ...], rows: list[int]) -> tuple[float, float]:
    """The mean cost plus and minus 1.96 standard errors, within the costs; none where no spread is seen."""
    n = sum(rows)
    mean = float(np.dot(costs, rows)) / n
    reach = 1.959964 * math.sqrt(float(np.dot((np.array(costs) - mean) ** 2, rows))) / n
    return (max(mean - reach, 0.0), mean + reach) if reach else (math.nan, math.nan)


def main(tables: int) -> None:
    """The table of results."""
    measure, rng = parse("mean_cost"), np.random.default_rng(SEED)
    print(f"| rows | setting | true | {' | '.join(METHODS)} |\n|---|---|---|{'---|' * len(METHODS)}")
    for name, (costs, shares) in TRUTHS.items():
        truth = float(np.dot(costs, shares))
        for n in (30, 100, 400):
            hits, width = dict.fromkeys(METHODS, 0), dict.fromkeys(METHODS, 0.0)
            for drawn in rng.multinomial(n, shares, size=tables).tolist():
                t = Priced(cost=tuple(map(Fraction, costs)), count=tuple(drawn))
                value = measure(t)
                if isinstance(value, Undefined):
                    raise TypeError(value.reason)
                found = cost_interval(t, measure, value, Wanted())
                ours = (found.low, found.high) if isinstance(found, Interval) else (math.nan, math.nan)
                for method, (low, high) in zip(METHODS, (ours, delta(costs, drawn)), strict=True):
                    hits[method] += low <= truth <= high
                    width[method] += 0.0 if math.isnan(high - low) else high - low
            cells_ = [f"{100 * hits[m] / tables:.1f} ({width[m] / tables:.3g})" for m in METHODS]
            print(f"| {n} | {name} | {truth:.3g} | {' | '.join(cells_)} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=2000)
    main(**vars(parser.parse_args()))
