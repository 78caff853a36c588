# SPDX-License-Identifier: Apache-2.0
"""Tallies of times in seconds, by order of request."""

from __future__ import annotations

import numpy as np

from assay.tally.data.durations import add_runs, count_run, split_runs, to_nanoseconds


def count_durations(seconds, runs=None, *, bounds=()):
    """The tally of some times; NaN is an answer that never came."""
    times, limits = to_nanoseconds(np.asarray(seconds, dtype=float)), [round(bound * 1e9) for bound in bounds]
    places = {"": np.arange(len(times))} if runs is None else split_runs(runs)
    return add_runs([count_run(name, times[rows], limits) for name, rows in places.items()], limits)
