# SPDX-License-Identifier: Apache-2.0
"""A run in a Spark frame gives the tally of the same run in a dictionary."""

from __future__ import annotations

import pytest

import assay
from tests.tasks.retrieval.test_laws import sample

pytestmark = [pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")]


def test_spark_gives_the_same_record(classic):
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
