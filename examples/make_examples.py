# SPDX-License-Identifier: Apache-2.0
"""Makes the two bundled example files; invented people and bottles, realistic shares and confusions."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

HOME = Path(__file__).parent.parent / "src" / "assay" / "app" / "examples"


def screening(rng: np.random.Generator) -> list[list[str]]:
    """A screening test: 1,200 people at three sites, one in six ill, the camera of site C a little worse.

    The score is the probability of disease the system states: it calls disease from 0.4 on.
    """
    rows, spread = [["id", "truth", "predicted", "sex", "site", "score"]], np.random.default_rng(3)
    for i in range(1200):
        sex, site = rng.choice(["female", "male"]), rng.choice(["A", "B", "C"], p=[0.5, 0.35, 0.15])
        ill = rng.random() < (0.19 if sex == "male" else 0.14)
        found = rng.random() < ((0.90 if site != "C" else 0.78) if ill else (0.06 if site != "C" else 0.13))
        # Who is called rightly is called with more certainty; everybody stays on their side of the threshold.
        sure = spread.gamma(2.2 if ill == found else 1.1, 0.75)
        score = 1 / (1 + 1.5 * np.exp(-sure if found else sure))
        shown = f"{min(max(score, 0.4), 0.999) if found else max(min(score, 0.399), 0.001):.3f}"
        called = "disease" if found else "healthy"
        rows.append([f"p{i:04d}", "disease" if ill else "healthy", called, str(sex), str(site), shown])
    return rows


def waste(rng: np.random.Generator) -> list[list[str]]:
    """A waste sorter: 1,500 items of six materials, unevenly frequent, paper and cardboard easily confused."""
    names = ["cardboard", "glass", "metal", "paper", "plastic", "trash"]
    shares = [0.20, 0.18, 0.13, 0.26, 0.19, 0.04]
    confused = np.array(
        [
            [0.88, 0.00, 0.01, 0.09, 0.01, 0.01],
            [0.00, 0.90, 0.03, 0.00, 0.06, 0.01],
            [0.00, 0.05, 0.89, 0.00, 0.05, 0.01],
            [0.08, 0.00, 0.01, 0.87, 0.03, 0.01],
            [0.01, 0.07, 0.04, 0.03, 0.84, 0.01],
            [0.08, 0.04, 0.04, 0.17, 0.21, 0.46],
        ]
    )
    rows = [["item", "material", "sorted_as", "camera"]]
    for i in range(1500):
        material = int(rng.choice(6, p=shares))
        called = int(rng.choice(6, p=confused[material]))
        rows.append([str(i + 1), names[material], names[called], str(rng.choice(["belt 1", "belt 2"]))])
    return rows


def main() -> None:
    """Write both files."""
    HOME.mkdir(parents=True, exist_ok=True)
    for name, rows in (("screening", screening(np.random.default_rng(1))), ("waste", waste(np.random.default_rng(2)))):
        with (HOME / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
