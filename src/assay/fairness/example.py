# SPDX-License-Identifier: Apache-2.0
"""The bundled example: COMPAS decile scores of 7,214 defendants by race, as counts.

Counts of the table that ProPublica published in 2016. A decile of 5 or more is called positive; the truth is a new
charge within two years. The file holds counts, so the rows are written out here: counts are not weights.
"""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import Final

CALLED: Final = 5
"""The decile from which a defendant is called medium or high risk."""


def read_compas() -> dict[str, list[int | str]]:
    """One row for each defendant: truth, predicted, score and race.

    >>> columns = read_compas()
    >>> len(columns["truth"]), sum(columns["predicted"])
    (7214, 3317)
    """
    columns: dict[str, list[int | str]] = {name: [] for name in ("truth", "predicted", "score", "race")}
    with (files("assay.fairness") / "examples" / "compas_race.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            decile, count = int(row["decile_score"]), int(row["count"])
            values = (int(row["two_year_recid"]), int(decile >= CALLED), decile, row["race"])
            for column, value in zip(columns.values(), values, strict=True):
                column.extend([value] * count)
    return columns
