# SPDX-License-Identifier: Apache-2.0
"""The kernel that runs here runs on the workers of a cluster, and gives the same tally."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from assay.tally.batches import run_kernel, run_kernel_on_spark
from tests.layers.tally.test_kernels import Total, count_squares, count_units

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


@pytest.fixture(autouse=True)
def _tests_travel_by_value():
    """Workers have the package, not its tests."""
    from pyspark import cloudpickle

    module = sys.modules[Total.__module__]
    cloudpickle.register_pickle_by_value(module)
    yield
    cloudpickle.unregister_pickle_by_value(module)


def test_a_kernel_gives_the_same_tally_on_a_cluster(spark):
    frame = spark.range(0, 5000, numPartitions=7).withColumnRenamed("id", "value")
    here = run_kernel(count_squares, [{"value": np.arange(5000)}])
    assert run_kernel_on_spark(count_squares, frame, ["value"], Total) == here


def test_rows_of_one_unit_meet_in_one_batch(spark):
    frame = spark.range(0, 5000, numPartitions=7).selectExpr("cast(id % 137 as int) as image")
    assert run_kernel_on_spark(count_units, frame, ["image"], Total, unit="image") == Total(137, 5000)


def test_a_task_reads_a_spark_frame_as_any_other_table(spark):
    import pandas as pd

    from assay.core.task import Request
    from assay.tally.batches import Column, open_batches

    rows = pd.DataFrame({"v": [*range(100), None], "w": [0.5] * 101})
    columns = {"value": Column("v", missing="drop"), "weight": Column("w")}
    with open_batches(Request(given={}, data=spark.createDataFrame(rows)), columns) as batches:
        assert batches.run(count_squares, Total) == run_kernel(count_squares, [{"value": np.arange(100.0)}])
        assert batches.census.excluded == {"value is missing": 1}
