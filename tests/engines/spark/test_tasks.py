# SPDX-License-Identifier: Apache-2.0
"""Rows in a Spark frame give the Record of the same rows here."""

from __future__ import annotations

import numpy as np
import pytest

import assay
from tests.tasks.retrieval.test_laws import sample

pytestmark = [pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")]


def test_spark_gives_the_same_record_of_retrieval(classic):
    truth, run = sample(1, queries=20)
    rows = [(q, d, s) for q, part in run.items() for d, s in part.items()] + [("other", "d1", 1.0)]
    grades = [(q, d, float(g)) for q, part in truth.items() for d, g in part.items()]
    frame = classic.createDataFrame(rows, "query string, document string, score double").repartition(5)
    judged = classic.createDataFrame(grades, "query string, document string, grade double")
    here = assay.retrieval(truth, {**run, "other": {"d1": 1.0}})
    there = assay.retrieval(judged, frame)
    assert there.counts == here.counts
    assert there.record["estimates"] == here.record["estimates"]
    assert there.census == here.census


@pytest.mark.parametrize("rows", [500, 210_000])
def test_spark_gives_the_same_record_of_regression(classic, rows):
    number = np.arange(rows)
    truth = number % 1000 / 8 + 1
    predicted = truth + (number * 7 % 13 - 6) / 16
    frame = classic.range(0, rows, numPartitions=3).selectExpr(
        "id % 1000 / 8d + 1 AS truth", "id % 1000 / 8d + 1 + (id * 7 % 13 - 6) / 16d AS predicted"
    )
    here = assay.regression(truth, predicted)
    there = assay.regression(data=frame, truth="truth", predicted="predicted")
    assert there.counts == here.counts
    for part in ("estimates", "figures", "counts"):
        assert there.record.get(part) == here.record.get(part)
    assert there.census == here.census
