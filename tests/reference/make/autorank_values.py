# SPDX-License-Identifier: Apache-2.0
"""Writes tests/reference/autorank.json with autorank 1.3.0; run by hand.

It needs baycomp, which ships a folder called tests that would hide ours, so neither is installed with the test tools.
"""

import json
import warnings
from pathlib import Path

import numpy as np


def main():
    import pandas as pd
    from autorank import autorank

    cases = []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        n, k = (24, 30, 40, 12)[seed % 4], 2 + seed // 2 % 3
        level = rng.normal(size=(n, 1))
        x = level + rng.normal(size=(n, k)) if seed % 2 else rng.exponential(size=(n, k)) ** 2 - 2 * level.clip(0)
        x = np.round(x + 0.3 * np.arange(k), 1 if seed % 3 == 1 else 6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = autorank(pd.DataFrame(x), alpha=0.05, verbose=False)
        cases.append(
            {
                "values": x.tolist(),
                "omnibus": found.omnibus,
                "posthoc": found.posthoc,
                "p": float(found.pvalue),
                "cd": None if found.cd is None else float(found.cd),
                "mean_ranks": found.rankdf["meanrank"].sort_index().tolist(),
            }
        )
    Path(__file__).resolve().parent.parent.joinpath("autorank.json").write_text(json.dumps(cases) + "\n")


if __name__ == "__main__":
    main()
