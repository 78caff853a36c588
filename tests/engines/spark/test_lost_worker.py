# SPDX-License-Identifier: Apache-2.0
"""A worker that dies in the middle of a job, or runs a task twice, leaves no trace in the tally."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import assay
from tests import flat
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

ROWS, PARTS = 480, 12
ROLES = {"truth": "y", "predicted": "p", "group": "g", "draws": 100}


def slow(spark, milliseconds):
    """Rows that take their time on the workers: each one sleeps."""
    sleep = f"reflect('java.lang.Thread', 'sleep', bigint({milliseconds}))"
    return spark.range(0, ROWS, 1, PARTS).selectExpr(
        f"CASE WHEN {sleep} IS NULL THEN id % 3 ELSE id % 3 END AS y",
        "(id * 7) % 5 % 3 AS p",
        "id % 2 AS g",
    )


@pytest.fixture(scope="module")
def expected():
    ids = np.arange(ROWS)
    return assay.assess(
        truth=ids % 3, predicted=(ids * 7) % 5 % 3, group={"g": ids % 2}, intervals=assay.IntervalSettings(draws=100)
    )


def demand_same(found, expected):
    assert found.confusion.to_json() == expected.confusion.to_json()
    assert found.grouped.to_json() == expected.grouped.to_json()
    assert found.census == expected.census


class Watch(threading.Thread):
    """Looks at the tasks of the driver while it counts for a classic session or for the Connect server."""

    def __init__(self, session, act=lambda: None):
        super().__init__(daemon=True)
        self.tracker, self.act = session.sparkContext.statusTracker(), act
        self.over = threading.Event()
        self.acted, self.failed, self.twice = False, 0, False

    def run(self):
        while not self.over.wait(0.05):
            stages = [self.tracker.getStageInfo(stage) for stage in self.tracker.getActiveStageIds()]
            for stage in stages:
                if stage is None or stage.numTasks != PARTS:
                    continue
                self.failed = max(self.failed, stage.numFailedTasks)
                self.twice |= stage.numActiveTasks + stage.numCompletedTasks > stage.numTasks
                if 2 <= stage.numCompletedTasks < PARTS - 2 and not self.acted:
                    self.acted = True
                    self.act()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


def await_both(session):
    """Wait until both workers take part: the test before may have killed one."""
    tracker = session.sparkContext._jsc.sc().statusTracker()
    wait_until(lambda: len(tracker.getExecutorInfos()) == 3)  # one is the driver; no worker has room for two


def test_a_worker_killed_in_the_middle_of_a_job_does_not_change_the_tally(cluster, classic, spark, expected):
    for milliseconds in (8, 40, 160):  # on a busy machine the worker may die between two tasks, so that none fails
        await_both(classic)
        with Watch(classic, lambda: cluster.kill_worker("worker1")) as watch:
            try:
                found = flat.assess(data=slow(spark, milliseconds), **ROLES)
            finally:
                watch.over.set()
                cluster.replace_worker("worker1")
        demand_same(found, expected)
        if watch.failed:
            break
    assert watch.acted
    assert watch.failed


def test_a_task_that_runs_twice_is_counted_once(classic, expected):
    for milliseconds in (60, 120, 240):  # the scheduler may find a slow task too late to run it again
        await_both(classic)
        wait = f"CASE WHEN spark_partition_id() = 3 THEN {milliseconds} ELSE 1 END"
        with Watch(classic) as watch:
            found = flat.assess(data=slow(classic, wait), **ROLES)
        demand_same(found, expected)
        if watch.twice:
            break
    assert watch.twice
