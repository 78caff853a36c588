# SPDX-License-Identifier: Apache-2.0
"""How often intervals by unit cover the truth, beside those that take rows as independent.

python bench/units.py [--sets 200]

Each unit has a hit rate of its own (beta-binomial, intraclass correlation 0.1 or 0.3); truth varies by row. The true
values are those of a million rows. Sizes are 10 rows each, or log-normal with a mean of about 9.
"""

from __future__ import annotations

import argparse

import numpy as np

import assay

MEASURES = ("accuracy", "recall", "f1", "matthews_corrcoef", "auroc", "average_precision")


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


def main() -> None:
    """Print coverage by setting and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200)
    sets = parser.parse_args().sets
    print(f"{'units':>6} {'sizes':>8} {'icc':>4}  " + "  ".join(f"{name[:17]:>17}" for name in MEASURES))
    for icc in (0.1, 0.3):
        truth = {name: [] for name in MEASURES}
        for seed in range(4):
            rows, _ = draw(np.random.default_rng([99, seed]), 25_000, unequal=False, icc=icc)
            large = assay.assess(**rows, positive=1, measures=list(MEASURES))
            for name in MEASURES:
                truth[name].append(large[name].value)
        true = {name: float(np.mean(values)) for name, values in truth.items()}
        for units in (20, 50, 200):
            for unequal in (False, True):
                covered = {name: [0, 0, 0] for name in MEASURES}
                for seed in range(sets):
                    rows, unit = draw(
                        np.random.default_rng([seed, units, unequal, int(icc * 10)]), units, unequal=unequal, icc=icc
                    )
                    alone = assay.assess(**rows, positive=1, measures=list(MEASURES))
                    by_unit = assay.assess(**rows, positive=1, measures=list(MEASURES), unit=unit)
                    for name in MEASURES:
                        for place, found in enumerate((by_unit[name], alone[name])):
                            if found.low is not None:
                                covered[name][place] += found.low <= true[name] <= found.high
                        covered[name][2] += by_unit[name].low is not None
                cells = [
                    f"{100 * c[0] / max(c[2], 1):5.1f} ({100 * c[1] / sets:5.1f})".rjust(17) for c in covered.values()
                ]
                print(f"{units:>6} {'unequal' if unequal else '10':>8} {icc:>4}  " + "  ".join(cells), flush=True)
    print("by unit (as independent rows), percent of the sets that had an interval")


if __name__ == "__main__":
    main()
