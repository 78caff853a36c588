# SPDX-License-Identifier: Apache-2.0
"""All measures of M-CST-01 to 14, worked by hand on six requests of two runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

import assay

TABLE = {
    "run": ["a", "a", "a", "a", "b", "b"],
    "scheduled": [0.0, 1.0, 2.0, 3.0, 0.0, 2.0],
    "answered": [0.5, 1.25, 3.0, 3.25, 1.0, 2.5],  # 0.5, 0.25, 1, 0.25 and 1, 0.5 seconds
    "correct": [1, 1, 0, 1, 0, 1],
    "joules": [2.0, 2.0, 2.0, 2.0, 3.0, 1.0],
}
STATED = {
    "bound": 0.5, "objective": "correct", "resource": "joules", "parameters": 1200, "depth": 3,
    "training_energy": 5000.0, "price": ["second=0.1", "joule=0.01", "run=1"],
}  # fmt: skip
BY_HAND = {
    "latency_mean": 3.5 / 6,  # M-CST-01
    "throughput": 4 / 5.75,  # M-CST-02: four in time; the runs took 3.25 and 2.5 seconds
    "latency_compliance": 4 / 6,  # M-CST-03
    "p50": 0.5,  # M-CST-04: the third of 0.25, 0.25, 0.5, 0.5, 1, 1
    "latency_max": 1.0,
    "efficiency": 4 / 12,  # M-CST-05: correct answers for each joule
    "energy": 6.0,  # M-CST-06: 12 joules in two runs
    "average_power": 12 / 5.75,  # M-CST-07
    "performance_per_watt": 6 / 12,  # M-CST-08
    "joules_per_inference": 12 / 6,  # M-CST-09
    "joules_per_correct_inference": 12 / 4,  # M-CST-10
    "model_depth": 3,  # M-CST-11
    "parameter_count": 1200,  # M-CST-12
    "processing_time": 2.875,  # M-CST-13
    "processing_time_and_cost": (0.575 + 0.12 + 2) / 2,  # M-CST-13: seconds, joules and runs at their prices
    "training_energy": 5000,  # M-CST-14
}


@pytest.mark.parametrize("name", BY_HAND)
def test_a_measure_is_what_it_is_by_hand(name):
    assert assay.efficiency(latencies=TABLE, **STATED)[name].value == pytest.approx(BY_HAND[name], rel=1e-12)


def test_every_measure_of_the_specification_is_declared():
    declared = {spec for measure in assay.efficiency(latencies=TABLE).measures for spec in measure.spec}
    assert declared >= {f"M-CST-{number:02}" for number in range(1, 15)}


@pytest.mark.parametrize(("share", "expected"), [(0.5, 5), (0.9, 9), (0.95, 100), (0.99, 100)])
def test_percentiles_are_by_nearest_rank(share, expected):
    times = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 100]) / 1000
    many = assay.efficiency(latencies={"latency": np.repeat(times, 10)})
    assert many[f"latency_percentiles(share={share})"].value == pytest.approx(expected / 1000)


def test_percentiles_are_refused_below_the_answers_that_carry_them():
    few = assay.efficiency(latencies={"latency": np.arange(1, 100) / 1000})
    assert few["p99"].reason == "99 answers do not carry it; it needs 100"
    assert few["p95"].value == 0.095
    enough = assay.efficiency(latencies={"latency": np.arange(1, 101) / 1000})
    assert enough["p99"].value == 0.099


@pytest.mark.parametrize("seed", range(3))
def test_percentiles_lie_within_a_bin_of_numpys_inverted_distribution(seed):
    times = np.random.default_rng(seed).gamma(2, 0.02, 4000)
    found = assay.efficiency(latencies={"latency": times, "run": np.arange(4000) % 8})
    for name, share in {"p50": 0.5, "p90": 0.9, "p99": 0.99}.items():
        exact = np.quantile(np.rint(times * 1e9), share, method="inverted_cdf") / 1e9
        assert exact <= found[name].value <= exact * (1 + 2**-7)


def test_an_answer_exactly_at_the_bound_keeps_it():
    found = assay.efficiency(latencies={"latency": [0.02, 0.021]}, bound="20ms")
    assert (found["latency_compliance"].numerator, found["latency_compliance"].denominator) == (1, 2)


def test_failed_requests_are_late_and_have_no_time():
    table = {"latency": [0.01] * 95 + [math.nan] * 5}
    found = assay.efficiency(latencies=table, bound=1.0)
    assert found["latency_compliance"].value == 0.95
    assert found["latency_mean"].value == pytest.approx(0.01)
    assert found["p95"].value == 0.01
    assert found["p99"].reason == "so many requests failed that it falls among them"
    assert any("5 requests failed" in note for note in found.notes)


def test_joules_without_a_correct_answer_are_infinite():
    table = {**TABLE, "correct": [0] * 6}
    assert assay.efficiency(latencies=table, **STATED)["joules_per_correct_inference"].value == math.inf


def test_an_external_meter_is_integrated_over_each_run(tmp_path):
    meter = tmp_path / "meter.csv"
    watts = [10.0, 10.0, 30.0, 30.0, 30.0, 10.0, 10.0]
    meter.write_text("time,watt\n" + "".join(f"{second},{watt}\n" for second, watt in enumerate(watts, -2)))
    table = {"run": [1, 1], "scheduled": [0.0, 1.0], "answered": [0.5, 2.0]}
    found = assay.efficiency(latencies=table, energy=str(meter))
    assert found["energy"].value == pytest.approx(60.0)
    idle = (10 * 1 + (10 + 30) / 2 * 1) / 2 / 2 + (20 * 1 + 10 * 1) / 2 / 2  # trapezoids before and after, 2 s each
    assert found["energy_net"].value == pytest.approx(60.0 - idle * 2)
    assert found["average_power"].value == pytest.approx(30.0)


def test_without_a_meter_there_is_no_number():
    found = assay.efficiency(latencies={"latency": [0.1] * 10})
    for name in ("energy", "average_power", "performance_per_watt", "joules_per_inference"):
        assert found[name].reason.startswith("no evidence: no meter")
    assert found["throughput"].reason == "the times at which requests were made and answered are not known"
    assert found["efficiency"].reason == "no objective and resource are declared"
    assert found["processing_time_and_cost"].reason == "no price is declared"
