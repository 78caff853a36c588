# SPDX-License-Identifier: Apache-2.0
"""Coverage of latency intervals in queues, and how often CHK-LATENCY passes a model at its limit.

    python bench/latency.py [--repeats 400] [--runs 10] [--answers 20000] [--loads 0.5 0.7 0.9] [--seed 4213]

Times are those of an M/M/1 queue, whose time in the system is exponential: share and percentile are known exactly.
"""

from __future__ import annotations

import argparse
import math

import numpy as np

from assay.assess.controls.cost import pass_level
from assay.inference.intervals.proportion import wilson
from assay.inference.units.run_intervals import percentile_interval, share_interval
from assay.tally.data.durations import add_runs, count_run

SERVICE = 0.01
"""Seconds an answer takes on average when nobody waits."""
WARM = 4_000
"""Answers until the queue has forgotten that it was empty."""


def simulate_queue(load: float, runs: int, answers: int, rng: np.random.Generator) -> np.ndarray:
    """Nanoseconds in an M/M/1 queue by Lindley's recursion, runs by answers."""
    size = answers + WARM
    service = rng.exponential(SERVICE, (runs, size))
    gaps = rng.exponential(SERVICE / load, (runs, size))
    walk = np.cumsum(service[:, :-1] - gaps[:, 1:], axis=1)
    walk = np.concatenate([np.zeros((runs, 1)), walk], axis=1)
    waits = walk - np.minimum.accumulate(walk, axis=1)
    return np.rint((waits + service)[:, WARM:] * 1e9).astype(np.int64)


def study(
    load: float, share: float, *, runs: int, answers: int, repeats: int, rng: np.random.Generator
) -> dict[str, float]:
    """Percent of repeats: coverage of the share and the percentile, passes and failures at the limit."""
    limit = -math.log(1 - share) / (1 - load) * SERVICE
    hits = dict.fromkeys(("share", "none", "percentile", "open", "pass", "fail", "wilson passes"), 0)
    for _ in range(repeats):
        times = simulate_queue(load, runs, answers, rng)
        tallies = [count_run(f"{place:02}", row, [round(limit * 1e9)]) for place, row in enumerate(times)]
        durations = add_runs(tallies, [round(limit * 1e9)])
        interval = share_interval(durations, 0, 0.95)
        hits["wilson passes"] += wilson(durations.within(), durations.rows, 0.95)[0] >= share
        if isinstance(interval, str):
            hits["none"] += 1
        else:
            hits["share"] += interval.low <= share <= interval.high
            strict = share_interval(durations, 0, pass_level(0.95))
            hits["pass"] += not isinstance(strict, str) and strict.low >= share
            hits["fail"] += interval.high < share
        bracket = percentile_interval(durations, share, 0.95, waits=True)
        if not isinstance(bracket, str):
            hits["percentile"] += bracket.low <= limit <= bracket.high
            hits["open"] += math.isinf(bracket.high)
    return {name: 100 * count / repeats for name, count in hits.items()}


def main() -> None:
    """Print one row for each load and share."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--answers", type=int, default=20_000)
    parser.add_argument("--loads", type=float, nargs="+", default=(0.5, 0.7, 0.9))
    parser.add_argument("--seed", type=int, default=4213)
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    print(f"M/M/1, {asked.runs} runs x {asked.answers:,} answers, {asked.repeats} repeats, nominal 95 %; all in %")
    print("load  limit  share  no interval  percentile  (open above)  passes at its limit  fails  passes by Wilson")
    for share in (0.95, 0.99):
        for load in asked.loads:
            row = study(load, share, runs=asked.runs, answers=asked.answers, repeats=asked.repeats, rng=rng)
            print(
                f"{load:4}  {share:5}  {row['share']:5.1f}  {row['none']:11.1f}  {row['percentile']:10.1f}  {row['open']:12.1f}"
                f"  {row['pass']:19.1f}  {row['fail']:5.1f}  {row['wilson passes']:16.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
