# SPDX-License-Identifier: Apache-2.0
"""What holds of every tally of efficiency."""

from __future__ import annotations

import json

import numpy as np
import pytest

import assay
from assay.assess.conformity.plan_run import run_planned
from assay.assess.plan.checked_plan import load_plan
from assay.assess.record.verification import verify
from assay.core.values import Undefined
from assay.tasks.efficiency.tally import Costs, Measured

RUNS, SIZE = 8, 120
STATED = {"bound": 0.05, "objective": "in_time", "resource": "seconds"}


def table(seed=1, runs=RUNS, size=SIZE, scale=0.01, first=0):
    rng = np.random.default_rng(seed)
    scheduled = np.concatenate([np.cumsum(rng.exponential(0.02, size)) for _ in range(runs)])
    latency = rng.gamma(2, scale, runs * size)
    latency[rng.random(runs * size) < 0.01] = np.nan
    return {
        "run": np.repeat(np.arange(first, first + runs), size), "scheduled": scheduled, "latency": latency,
        "correct": (rng.random(runs * size) < 0.9).astype(int), "joules": rng.gamma(3, 0.1, runs * size),
    }  # fmt: skip


def select(rows, kept):
    return {name: column[kept] for name, column in rows.items()}


def test_merging_equals_pooling():
    one, two = table(1), table(2, first=RUNS)
    both = {name: np.concatenate([one[name], two[name]]) for name in one}
    merged = assay.merge(*(assay.efficiency(latencies=part, **STATED) for part in (one, two)))
    assert merged.counts == assay.efficiency(latencies=both, **STATED).counts


def test_the_order_of_rows_does_not_matter():
    rows = table(3)
    shuffled = select(rows, np.random.default_rng(1).permutation(RUNS * SIZE))
    first, second = (assay.efficiency(latencies=part, **STATED).counts for part in (rows, shuffled))
    assert first == second


def test_a_record_loads_verifies_and_stays_small(tmp_path):
    assessment = assay.efficiency(latencies=table(4), **STATED)
    again = assay.load(assessment.save(tmp_path / "record.json"))
    assert again.counts == assessment.counts
    assert verify(again.record).holds
    assert len(json.dumps(assessment.record["tallies"])) < 20_000
    assert len(json.dumps(assessment.record["figures"])) < 30_000


@pytest.mark.parametrize("measure", [m for m in Costs.MEASURES if m.formula.isascii() and "rank" not in m.formula],
                         ids=lambda measure: measure.name)  # fmt: skip
def test_the_printed_formula_is_what_is_computed(measure):
    tally = assay.efficiency(
        latencies=table(5), **STATED, price=["second=2"], depth=4, parameters=7, training_energy=3.0
    ).counts
    costs = tally.costs(tally.table.total())
    names = {name: getattr(costs, name) for name in Costs.NAMES} | {
        "answered": costs.answered, "depth": 4, "parameters": 7, "training_joules": 3.0,
        "objective": costs.asked - costs.late, "resource": costs.span, "cost": 2 * costs.span,
    }  # fmt: skip
    value = measure(costs)
    if isinstance(value, Undefined):
        assert measure.name == "energy_net"
    else:
        assert value.value == pytest.approx(eval(measure.formula, {}, names))  # noqa: S307  our own declarations


def test_intervals_hold_their_value_and_say_their_units():
    assessment = assay.efficiency(latencies=table(6), **STATED)
    for name in ("latency_mean", "p50", "p90", "latency_compliance", "throughput", "joules_per_inference"):
        estimate = assessment[name]
        assert estimate.low <= estimate.value <= estimate.high, name
        assert "8 " in estimate.interval.method
    assert assessment["latency_max"].interval is None


def test_fewer_than_five_runs_have_no_interval_of_throughput():
    assessment = assay.efficiency(latencies=table(7, runs=3), **STATED)
    assert "3 units" in assessment["throughput"].no_interval
    assert "3 runs" in assessment["p99"].no_interval


def test_a_single_stream_without_dependence_has_order_statistics():
    times = np.random.default_rng(8).gamma(4, 0.01, 500)
    single = assay.efficiency(latencies={"latency": times}, scenario="single-stream")
    assert single["p50"].interval.method == "order statistics, single stream"
    assert assay.efficiency(latencies={"latency": times}, scenario="server")["p50"].interval is None
    drifting = np.sort(times)
    assert "depend" in assay.efficiency(latencies={"latency": drifting}, scenario="single-stream")["p50"].no_interval


def test_models_are_compared_run_by_run():
    fast, slow = table(9), table(9)
    slow["latency"] = slow["latency"] * 1.5
    comparison = assay.compare(task="efficiency", latencies={"fast": fast, "slow": slow}, bound=0.05)
    finding = comparison["latency_mean"]
    assert finding.test == "paired_t"
    assert finding.effect.value == pytest.approx(1 / 1.5, rel=1e-6)
    assert comparison.ranking[0].model == "fast"
    assert "paired" in finding.chosen
    share = comparison["latency_compliance"].effect
    runs = [[run.late(0) / run.asked for run in m.durations.runs] for m in comparison.counts.models.values()]
    assert share.value == pytest.approx(np.mean(np.array(runs[1]) - np.array(runs[0])))
    sections = list(comparison.task.comparison_blocks(comparison.record))
    assert [part.id for part in sections] == ["pareto"]


def test_models_with_other_runs_are_compared_unpaired():
    comparison = assay.compare(
        task="efficiency", latencies={"A": table(10), "B": table(11, runs=6)}, measures=["latency_mean"]
    )
    assert comparison["latency_mean"].test == "welch_t"


def test_a_comparison_loads_again(tmp_path):
    comparison = assay.compare(task="efficiency", latencies={"A": table(10), "B": table(11)})
    again = assay.load(comparison.save(tmp_path / "comparison.json"))
    assert [finding.p for finding in again.findings] == [finding.p for finding in comparison.findings]


def test_runs_alone_have_values():
    rows = table(12)
    assessment = assay.efficiency(latencies=rows, **STATED)
    values = assessment.contract.unit_values(assessment.counts)
    assert values["3"]["latency_mean"] == pytest.approx(np.nanmean(rows["latency"][3 * SIZE : 4 * SIZE]), rel=1e-6)


def test_tallies_of_different_models_are_not_added():
    a, b = (assay.efficiency(latencies=table(1), parameters=n).counts for n in (1, 2))
    with pytest.raises(assay.PlanError, match="different models"):
        a + b
    assert Measured.from_json(json.loads(json.dumps(a.to_json()))) == a


def test_a_plan_states_bound_and_criteria(tmp_path):
    rows = table(13)
    lines = zip(*(column.tolist() for column in rows.values()), strict=True)
    text = "\n".join(",".join("" if value != value else str(value) for value in line) for line in lines)  # noqa: PLR0124
    (tmp_path / "times.csv").write_text(f"{','.join(rows)}\n{text}\n")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        '[task]\ntype = "efficiency"\n[task.given]\nlatencies = "times.csv"\n[task.options]\nbound = "200ms"\n'
        '[metrics]\naccept = ["latency_compliance >= 0.9", "p50 <= 0.001"]\n'
    )
    ((_, assessment),) = run_planned(load_plan(plan), ledger=False)
    assert [str(decision.verdict) for decision in assessment.decisions] == ["pass", "fail"]
    assert assessment.counts.facts["bound"] == 0.2
