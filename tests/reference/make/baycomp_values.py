# SPDX-License-Identifier: Apache-2.0
"""Writes tests/reference/baycomp.json with baycomp 1.0.3; run by hand.

The package ships a folder called tests, which would hide ours, so it is not installed with the test tools.
"""

import json
from pathlib import Path

import numpy as np


def main():
    from baycomp import CorrelatedTTest

    cases = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        a = np.round(rng.normal(0.8, 0.05, 10), 4)
        b = np.round(a + rng.normal(0.01, 0.02, 10), 4)
        probabilities = CorrelatedTTest.probs(a, b, rope=0, runs=1)
        cases.append({"a": a.tolist(), "b": b.tolist(), "first_better": float(probabilities[0])})
    Path(__file__).resolve().parent.parent.joinpath("baycomp.json").write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main()
