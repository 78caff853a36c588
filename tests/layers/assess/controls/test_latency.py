# SPDX-License-Identifier: Apache-2.0
"""Answers within their time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, t

from assay.core.errors import RowsError
from tests.layers.assess.controls.looking import asked, look, opened


def timed(folder, times, runs=None, **cost):
    rows = (
        [f"{time}" for time in times]
        if runs is None
        else [f"{time},{run}" for time, run in zip(times, runs, strict=True)]
    )
    text = "\n".join(["milliseconds" if runs is None else "milliseconds,run", *rows, ""])
    plan = {"models": {"A": {"predicted": "p"}}, "cost": {"latency_ms": 100.0, "percentile": 0.9, **cost}}
    return look("CHK-LATENCY", asked(plan, latencies={"A": opened(folder, text)}))


def test_independent_answers_decide_by_their_interval(tmp_path):
    rng = np.random.default_rng(5)
    fast = (50 + rng.random(400) * 10).tolist()
    outcome = timed(tmp_path, fast)
    assert outcome.verdict == "pass"
    worth = outcome.facts["A"]["independent_answers"]
    assert outcome.facts["A"]["low"] == pytest.approx(beta.ppf(0.025, worth, 1), rel=1e-3)
    assert outcome.facts["A"]["high"] == 1.0
    slow = fast + [150.0 + i for i in range(120)]
    assert timed(tmp_path, rng.permutation(slow).tolist()).verdict == "fail"
    cold = [900.0 + i for i in range(90)] + fast
    assert timed(tmp_path, cold).verdict != "pass"
    assert timed(tmp_path, cold, warm_up=90).verdict == "pass"


def test_runs_are_the_units(tmp_path):
    rng = np.random.default_rng(5)
    late = np.array([2, 0, 5, 1, 9, 3, 0, 4, 30, 6])
    times = np.concatenate([np.r_[rng.uniform(50, 60, 200 - k), rng.uniform(150, 160, k)] for k in late])
    outcome = timed(tmp_path, times.tolist(), np.repeat(np.arange(10), 200))
    kept = 2000 - late.sum() - (200 - late)
    logit = np.log(kept / (1800 - kept)) - np.log((2000 - late.sum()) / late.sum())
    low = np.log((2000 - late.sum()) / late.sum()) - t.ppf(0.975, 9) * np.sqrt(0.9 * (logit**2).sum())
    assert outcome.facts["A"]["low"] <= 1 / (1 + np.exp(-low)) + 1e-12
    assert outcome.facts["A"]["runs"] == 10
    assert "10 runs" in outcome.says


def test_answers_that_wait_for_each_other_are_suspect(tmp_path):
    rng = np.random.default_rng(5)
    waits = 50 + np.abs(np.cumsum(rng.normal(size=3000))) / 3  # a queue that grows and empties
    outcome = timed(tmp_path, waits.tolist())
    assert outcome.verdict == "suspect"
    assert "answers depend on each other" in outcome.says


def test_answers_that_never_came_are_late(tmp_path):
    rng = np.random.default_rng(5)
    times = ["" if i % 5 == 0 else f"{50 + value * 10}" for i, value in enumerate(rng.random(400))]
    rows = "milliseconds,run\n" + "".join(f"{time},{i % 8}\n" for i, time in enumerate(times))
    plan = {"models": {"A": {"predicted": "p"}}, "cost": {"latency_ms": 100.0, "percentile": 0.9}}
    outcome = look("CHK-LATENCY", asked(plan, latencies={"A": opened(tmp_path, rows)}))
    assert outcome.verdict == "fail"
    assert outcome.facts["A"]["failed"] == 80
    assert outcome.facts["A"]["percentiles"]["90"] is None


def test_a_coarse_clock_and_few_answers_show_little(tmp_path):
    rng = np.random.default_rng(5)
    assert timed(tmp_path, rng.permutation([50 + 10 * (i % 3) for i in range(200)]).tolist()).verdict == "suspect"
    assert timed(tmp_path, [50.0] * 10).verdict == "no-evidence"
    other = look("CHK-LATENCY", asked({"cost": {"latency_ms": 1.0}}, latencies={"A": opened(tmp_path, "t\n1\n")}))
    assert other.verdict == "no-evidence"
    unbound = look("CHK-LATENCY", asked(latencies={"A": opened(tmp_path, "milliseconds\n1\n")}))
    assert (unbound.verdict, unbound.says) == ("no-evidence", "no latency bound is declared")


def test_a_time_below_zero_or_without_a_number_is_an_error(tmp_path):
    for time in ("soon", "-1"):
        with pytest.raises(RowsError):
            timed(tmp_path, [time])


def costed(folder, header, rows, **cost):
    text = "\n".join([header, *rows, ""])
    plan = {"models": {"A": {"predicted": "p"}}, "cost": {"latency_ms": 100.0, **cost}}
    inquiry = asked(plan, latencies={"A": opened(folder, text)})
    return {part: look("CHK-COST", inquiry, part) for part in ("latency", "throughput", "efficiency", "energy")}


def test_the_cost_of_computing_passes_and_fails_on_what_was_measured(tmp_path):
    rng = np.random.default_rng(5)
    header = "milliseconds,run,scheduled,correct,joules"
    draws = [
        (50 + 5 * rng.random(), i % 8, (i // 8) * 0.1 + rng.random() / 50, 1, 0.4 + rng.random() / 5)
        for i in range(400)
    ]
    rows = [",".join(f"{value:.6g}" for value in row) for row in draws]
    kept = costed(tmp_path, header, rows, throughput=9.0, joules=0.6, objective="correct", resource="joules")
    assert {part: outcome.verdict for part, outcome in kept.items()} == dict.fromkeys(kept, "pass")
    assert kept["energy"].facts["A"]["value"] == pytest.approx(np.mean([float(f"{row[4]:.6g}") for row in draws]))
    broken = costed(tmp_path, header, rows, throughput=20.0, joules=0.1)
    assert (broken["throughput"].verdict, broken["energy"].verdict) == ("fail", "fail")
    assert broken["efficiency"].verdict == "no-evidence"
    assert "no objective" in broken["efficiency"].says


def test_cost_that_was_not_measured_is_declared_or_has_no_evidence(tmp_path):
    rng = np.random.default_rng(5)
    plain = costed(tmp_path, "milliseconds", [f"{50 + value}" for value in rng.random(50)], energy="not measured")
    assert plain["latency"].verdict == "pass"
    assert plain["throughput"].verdict == "no-evidence"
    assert plain["energy"].verdict == "declared"
    assert look("CHK-COST", asked({"cost": {"not_measured": "a file"}}), "latency").verdict == "declared"
    assert look("CHK-COST", asked(), "energy").verdict == "no-evidence"
