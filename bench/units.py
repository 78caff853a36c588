# SPDX-License-Identifier: Apache-2.0
"""How often intervals by unit cover the truth, beside those that take rows as independent; and what units cost.

python bench/units.py [--sets 200] [--units 20 50 200 500] [--measures accuracy f1_macro] [--alone] [--cost]

Each unit has an effect of its own on the scores of its rows; truth varies by row. The true values are those of a
million rows. Sizes are 10 rows each, or log-normal with a mean of about 9.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import assay

MEASURES = ("accuracy", "recall", "f1", "matthews_corrcoef", "f1_macro", "auroc", "average_precision")
SCORED = ("auroc", "average_precision")


def draw(
    rng: np.random.Generator, units: int, *, unequal: bool, icc: float
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Rows of some units: truth, prediction, score, unit."""
    sizes = np.maximum(1, rng.lognormal(1.9, 0.8, units)).astype(int) if unequal else np.full(units, 10)
    unit = np.repeat(np.arange(units), sizes)
    spread = np.sqrt(icc / (1 - icc))
    truth = (rng.random(len(unit)) < 0.3).astype(int)
    score = rng.normal(size=len(unit)) + 1.7 * truth + rng.normal(size=units)[unit] * spread
    return {"truth": truth, "predicted": (score > 1.0).astype(int), "score": score}, unit


def cover(sets: int, units: list[int], measures: list[str], *, alone: bool) -> None:
    """Print coverage by setting and measure."""
    print(f"{'units':>6} {'sizes':>8} {'icc':>4}  " + "  ".join(f"{name[:17]:>17}" for name in measures), flush=True)
    columns = ["truth", "predicted", *(["score"] if set(measures) & set(SCORED) else [])]
    for icc in (0.1, 0.3):
        true = dict.fromkeys(measures, 0.0)
        for seed in range(4):
            rows, _ = draw(np.random.default_rng([99, seed]), 25_000, unequal=False, icc=icc)
            large = assay.assess(**{name: rows[name] for name in columns}, positive=1, measures=measures)
            true = {name: value + large[name].value / 4 for name, value in true.items()}
        for size in units:
            for unequal in (False, True):
                covered = {name: [0, 0, 0, 0] for name in measures}
                for seed in range(sets):
                    rng = np.random.default_rng([seed, size, unequal, int(icc * 10)])
                    rows, unit = draw(rng, size, unequal=unequal, icc=icc)
                    rows = {name: rows[name] for name in columns}
                    found = [assay.assess(**rows, positive=1, measures=measures, unit=unit)]
                    found += [assay.assess(**rows, positive=1, measures=measures)] if alone else []
                    for name in measures:
                        for place, one in enumerate(found):
                            if one[name].low is not None:
                                covered[name][place] += one[name].low <= true[name] <= one[name].high
                                covered[name][place + 2] += 1
                cells = []
                for own, other, n, m in covered.values():
                    beside = f" ({100 * other / max(m, 1):.1f})" if alone else ""
                    cells.append(f"{100 * own / max(n, 1):.1f}{beside}{'' if n == sets else f' of {n}'}")
                kind = "unequal" if unequal else "10"
                print(f"{size:>6} {kind:>8} {icc:>4}  " + "  ".join(f"{cell:>17}" for cell in cells), flush=True)


def cost(rows: int = 1_000_000, units: int = 10_000) -> None:
    """Print processor time with and without units, beside one more group-by of the same rows."""
    rng = np.random.default_rng(1)
    unit, truth = rng.integers(0, units, rows), rng.integers(0, 2, rows)
    predicted = np.where(rng.random(rows) < 0.85, truth, 1 - truth)
    score = rng.normal(size=rows) + truth

    def timed(run: object) -> float:
        start = time.process_time()
        run()  # type: ignore[operator]
        return time.process_time() - start

    def assessed(**more: object) -> None:
        a = assay.assess(truth=truth, predicted=predicted, positive=1, **more)  # type: ignore[arg-type]
        dict(a.record)

    for name, given in (("labels", {}), ("labels and scores", {"score": score, "measures": ["accuracy", "auroc"]})):
        plain, by_unit, again = (
            min(timed(run) for _ in range(3))
            for run in (
                lambda given=given: assessed(**given),
                lambda given=given: assessed(**given, unit=unit),
                lambda: np.unique(unit * 4 + truth * 2 + predicted, return_counts=True),
            )
        )
        print(f"{name}: {plain:.2f} s, by unit {by_unit:.2f} s, one group-by of them {again:.2f} s")


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--units", type=int, nargs="+", default=[20, 50, 200, 500])
    parser.add_argument("--measures", nargs="+", default=list(MEASURES))
    parser.add_argument("--alone", action="store_true", help="beside the intervals of independent rows")
    parser.add_argument("--cost", action="store_true", help="processor time instead of coverage")
    asked = parser.parse_args()
    if asked.cost:
        cost()
    else:
        cover(asked.sets, asked.units, asked.measures, alone=asked.alone)


if __name__ == "__main__":
    main()
