# SPDX-License-Identifier: Apache-2.0
"""What the tests of regression share."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import assay.tasks.regression.roles as reading
import assay.tasks.regression.tally as tallies
from assay.core.task import Request, find_task
from assay.tasks.task_settings import TaskSettings

CASES = json.loads((Path(__file__).parent / "cases.json").read_text())
TASK = find_task("regression")


def count(truth, predicted, *, unit=None, group=None, options=None, **given):
    request = Request(
        given={"truth": truth, "predicted": predicted, **given}, options=options or {}, unit=unit, group=group or {}
    )
    return TASK.read(request)


def estimate(truth, predicted, *, level=0.95, **more):
    from assay.inference.intervals.interval_choice import Wanted

    return TASK.estimates(count(truth, predicted, **more).tally, TaskSettings(wanted=Wanted(level=level)))


@contextmanager
def held_rows(limit):
    """Let tallies hold fewer rows, so that the form of very many rows is reached."""
    before = tallies.HELD_ROWS
    tallies.HELD_ROWS = reading.HELD_ROWS = limit
    try:
        yield
    finally:
        tallies.HELD_ROWS = reading.HELD_ROWS = before


def draw_rows(rows, seed=1, *, offset=0.0):
    rng = np.random.default_rng(seed)
    truth = rng.gamma(3.0, 10.0, size=rows) + 1 + offset
    return truth, truth + rng.normal(size=rows) * 5
