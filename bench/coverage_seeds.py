# SPDX-License-Identifier: Apache-2.0
"""How much the bounds of intervals move with the seed, for `bench/coverage.py`."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from coverage_truths import truths

from assay.core.values import Number
from assay.inference.estimates import Interval
from assay.inference.intervals.interval_choice import Uncertainty, Wanted
from assay.inference.resampling import stream
from assay.measures import REGISTRY
from assay.tally.labels.confusion import Confusion
from assay.tally.labels.one_vs_rest import Binary

SETTINGS = ((2, 50), (2, 1000), (3, 50), (10, 200), (10, 1000), (50, 1000))


def steadiness(seeds: int, seed: int, names: Callable[[int], tuple[str, ...]]) -> list[dict]:
    """How much bounds move with the seed, as a share of the width, on one table a setting; with all draws as shipped."""
    found = []
    for k, n in SETTINGS:
        for truth in truths(k)[:: 1 if k > 2 else 4]:
            table = stream(seed, 7, k, n).multinomial(n, truth.cells.ravel()).reshape(k, k)
            rows, columns = np.nonzero(table)
            tally = Confusion.from_codes(tuple(range(k)), rows, columns, table[rows, columns], rows=n)
            exact = tally.multiclass()
            engines = [Uncertainty(tally, Wanted(seed=s), positive=1 if k == 2 else None) for s in range(seeds)]
            for name in names(k):
                measure = REGISTRY.find(name)
                result = measure(exact.one_vs_rest().at(1) if measure.takes is Binary else exact)
                if not (isinstance(result, Number) and math.isfinite(result.value)):
                    continue
                drawn = [f for e in engines if isinstance(f := e.overall(measure, result), Interval) and f.draws]
                if len(drawn) < seeds:
                    continue
                low, high = np.array([(f.low, f.high) for f in drawn]).T
                worst = max(low.std(ddof=1), high.std(ddof=1)) / (high - low).mean()
                found.append(
                    {
                        "k": k,
                        "n": n,
                        "truth": truth.name,
                        "measure": name,
                        "error": round(100 * float(worst), 3),
                        "draws": round(float(np.mean([f.draws for f in drawn if f.draws]))),
                    }
                )
        print(f"seeds: K = {k}, n = {n}", flush=True)
    return found
