# SPDX-License-Identifier: Apache-2.0
"""Answers within their time."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from assay.core.errors import RowsError
from assay.tally.durations import Durations, durations
from tests.layers.assess.controls.looking import asked, look, opened


def timed(folder, times, **cost):
    text = "milliseconds\n" + "".join(f"{one}\n" for one in times)
    plan = {"models": {"A": {"predicted": "p"}}, "cost": {"latency_ms": 100.0, "percentile": 0.9, **cost}}
    return look("CHK-LATENCY", asked(plan, latencies={"A": opened(folder, text)}))


def test_the_share_within_the_bound_decides_by_its_interval(tmp_path):
    fast = [50 + i / 100 for i in range(200)]
    found = timed(tmp_path, fast)
    assert found.verdict == "pass"
    assert (found.facts["A"]["low"], found.facts["A"]["high"]) == pytest.approx(
        proportion_confint(200, 200, method="wilson")
    )
    assert timed(tmp_path, fast + [150.0] * 20).verdict == "suspect"  # nine in ten, as far as these answers can tell
    assert timed(tmp_path, fast + [150.0] * 60).verdict == "fail"
    cold = [900.0] * 40 + fast
    assert timed(tmp_path, cold).verdict == "fail"
    assert timed(tmp_path, cold, warm_up=40).verdict == "pass"


def test_a_coarse_clock_and_few_answers_show_little(tmp_path):
    assert timed(tmp_path, [50 + 10 * (i % 3) for i in range(200)]).verdict == "suspect"
    assert timed(tmp_path, [50.0] * 10).verdict == "no-evidence"
    other = look("CHK-LATENCY", asked({"cost": {"latency_ms": 1.0}}, latencies={"A": opened(tmp_path, "t\n1\n")}))
    assert other.verdict == "no-evidence"
    unbound = look("CHK-LATENCY", asked(latencies={"A": opened(tmp_path, "milliseconds\n1\n")}))
    assert (unbound.verdict, unbound.says) == ("no-evidence", "no latency bound is declared")


def test_percentiles_are_those_of_numpys_inverted_distribution():
    times = np.sort(np.random.default_rng(6).gamma(2, 20, 333))
    found = Durations(times=times)
    for share in (0.01, 0.5, 0.95, 0.99, 1.0):
        assert found.at(share) == np.quantile(times, share, method="inverted_cdf")


def test_a_time_that_is_none_is_an_error(tmp_path):
    for text in ("milliseconds\nsoon\n", "milliseconds\n-1\n"):
        with pytest.raises(RowsError):
            durations(opened(tmp_path, text), "milliseconds")
