# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
import pytest

from assay.core.errors import RowsError
from assay.tally.batches import keep_units_whole, run_kernel


@dataclass(frozen=True)
class Total:
    """A toy tally: how many units, and the sum of their squares as a whole number."""

    units: int
    squares: int

    def __add__(self, other):
        return Total(self.units + other.units, self.squares + other.squares)

    def to_json(self):
        return {"units": self.units, "squares": self.squares}

    @classmethod
    def from_json(cls, content):
        return cls(content["units"], content["squares"])


def count_squares(batch):
    values = batch["value"].astype(np.int64)
    return Total(len(values), int((values * values).sum()))


def count_units(batch):
    return Total(len(np.unique(batch["image"])), len(batch["image"]))


def batches(rows=1000, size=64):
    values = np.arange(rows)
    return [{"value": values[start : start + size]} for start in range(0, rows, size)]


EXPECTED = Total(1000, sum(i * i for i in range(1000)))


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_sum_does_not_depend_on_the_number_of_threads(workers):
    assert run_kernel(count_squares, batches(), workers=workers) == EXPECTED


def test_memory_is_bounded_by_the_batches_in_flight():
    lock, alive, most = threading.Lock(), set(), []

    def produce():
        for number, batch in enumerate(batches()):
            with lock:
                alive.add(number)
                most.append(len(alive))
            yield {**batch, "number": np.array([number])}

    def consume(batch):
        partial = count_squares(batch)
        with lock:
            alive.discard(int(batch["number"][0]))
        return partial

    run_kernel(consume, produce(), workers=2)
    assert max(most) <= 4


def test_progress_counts_every_batch_once_and_never_runs_backwards():
    seen = []
    run_kernel(count_squares, batches(), workers=3, progress=seen.append)
    assert seen == list(range(1, 17))


def test_an_error_of_a_kernel_is_raised_and_stops_the_rest():
    started = []

    def fail(batch):
        started.append(batch)
        msg = "broken"
        raise ValueError(msg)

    with pytest.raises(ValueError, match="broken"):
        run_kernel(fail, batches(), workers=2)
    assert len(started) < 16


def test_no_batches_are_no_rows():
    with pytest.raises(RowsError) as caught:
        run_kernel(count_squares, [])
    assert caught.value.code == "no-rows"


def test_units_are_never_cut():
    images = np.repeat(np.arange(40), np.arange(40) % 7 + 1)
    parts = [{"image": images[start : start + 5]} for start in range(0, len(images), 5)]
    whole = list(keep_units_whole(parts, "image"))
    assert np.concatenate([part["image"] for part in whole]).tolist() == images.tolist()
    assert run_kernel(count_units, whole) == Total(40, len(images))
