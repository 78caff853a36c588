# SPDX-License-Identifier: Apache-2.0
"""Boxes of a Spark table give the Record of the same boxes here, also when a worker dies while they are matched."""

from __future__ import annotations

import threading

import numpy as np
import pandas as pd
import pytest

import assay
from tests.engines.spark.test_lost_worker import PARTS, ROWS, await_both

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

COLUMNS = {
    "image": "id div 8",
    "label": "id div 4 % 3",
    "x": "double(id * 7 % 40 + 10 * (id % 2))",
    "y": "double(id * 3 % 30)",
    "w": "double(20 + id % 9)",
    "h": "double(24 + id % 5)",
    "score": "CASE WHEN id % 4 < 2 THEN NULL ELSE double(id * 13 % 97) / 97 END",
}


def slow_boxes(spark, milliseconds):
    """Boxes whose rows take their time on the workers."""
    sleep = f"reflect('java.lang.Thread', 'sleep', bigint({milliseconds})) IS NULL"
    parts = [f"{text} AS {name}" for name, text in COLUMNS.items()]
    parts[0] = f"CASE WHEN {sleep} THEN {COLUMNS['image']} ELSE {COLUMNS['image']} END AS image"
    return spark.range(0, ROWS, 1, PARTS).selectExpr(*parts)


def boxes_here():
    ids = np.arange(ROWS)
    score = np.where(ids % 4 < 2, np.nan, ids * 13 % 97 / 97)
    return pd.DataFrame(
        {"image": ids // 8, "label": ids // 4 % 3, "x": ids * 7 % 40 + 10.0 * (ids % 2), "y": ids * 3 % 30 * 1.0,
         "w": 20.0 + ids % 9, "h": 24.0 + ids % 5, "score": score}
    )  # fmt: skip


class Killer(threading.Thread):
    """Kills a worker once some tasks of the second stage over all rows are done: the first one only looks for gaps."""

    def __init__(self, session, act):
        super().__init__(daemon=True)
        self.tracker, self.act, self.over = session.sparkContext.statusTracker(), act, threading.Event()
        self.stages, self.acted, self.failed = [], False, 0

    def run(self):
        while not self.over.wait(0.05):
            for number in self.tracker.getActiveStageIds():
                stage = self.tracker.getStageInfo(number)
                if stage is None or stage.numTasks != PARTS:
                    continue
                if number not in self.stages:
                    self.stages.append(number)
                self.failed = max(self.failed, stage.numFailedTasks)
                if number != self.stages[0] and 2 <= stage.numCompletedTasks < PARTS - 2 and not self.acted:
                    self.acted = True
                    self.act()


def test_a_worker_killed_while_boxes_are_matched_does_not_change_the_record(cluster, classic):
    await_both(classic)
    killer = Killer(classic, lambda: cluster.kill_worker("worker1"))
    killer.start()
    try:
        a = assay.detection(data=slow_boxes(classic, 8))
    finally:
        killer.over.set()
        killer.join()
        cluster.replace_worker("worker1")
    assert killer.acted
    assert killer.failed
    here = assay.detection(data=boxes_here())
    assert a.counts == here.counts
    for part in ("estimates", "tallies", "samples", "units", "rows", "labels", "figures"):
        assert a.record[part] == here.record[part]
