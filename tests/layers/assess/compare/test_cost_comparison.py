# SPDX-License-Identifier: Apache-2.0
"""Models compared by stated costs: whose mistakes cost less, held against a computation row by row."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import assay
from assay.app.cli import cli
from assay.assess.record.verification import verify
from assay.inference.intervals.proportion import wilson
from assay.inference.units.cost_difference import cost_permutation, priced_units
from assay.tally.paired.joint_cells import PairedLabels
from tests import flat

rng = np.random.default_rng(7)
N, K = 240, ("cat", "cow", "dog")
Y = rng.integers(0, 3, N)
CALLS = {m: np.where(rng.random(N) < right, Y, rng.integers(0, 3, N)) for m, right in (("A", 0.9), ("B", 0.6))}
PRICE = np.array([[0, 1, 2], [1, 0, 0.5], [10, 4, 0]])
COSTS = {(K[i], K[j]): PRICE[i, j] for i in range(3) for j in range(3) if i != j}
GIVEN = {"truth": [K[i] for i in Y], "predicted": {m: [K[i] for i in c] for m, c in CALLS.items()}}
PAID = {m: PRICE[Y, c] for m, c in CALLS.items()}


def test_the_difference_is_that_of_the_rows_and_its_chance_that_of_swapped_rows():
    found = flat.compare(**GIVEN, costs=COSTS)["mean_cost"]
    gap = PAID["A"] - PAID["B"]
    assert found.test == "cost_permutation"
    assert found.effect.value == pytest.approx(gap.mean(), abs=1e-15)
    signs = np.random.default_rng(1).integers(0, 2, (20_000, N)) * 2 - 1
    far = (np.abs(signs @ gap) >= abs(gap.sum()) - 1e-9).mean()
    assert found.p == pytest.approx(far, abs=0.01)
    drawn = gap[np.random.default_rng(2).integers(0, N, (4000, N))].mean(axis=1)
    assert (found.effect.interval.low, found.effect.interval.high) == pytest.approx(
        np.quantile(drawn, [0.025, 0.975]), abs=0.12
    )
    assert found.effect.interval.method == "score of differences in cost"
    for one, m in zip(found.more, "AB", strict=True):
        own = assay.assess(truth=GIVEN["truth"], predicted=GIVEN["predicted"][m], costs=COSTS)["mean_cost"]
        assert (one.value, one.interval.low, one.interval.high) == (own.value, own.low, own.high)


def test_few_rows_have_the_p_of_all_swaps():
    cells = {("a", "a", "b"): 3, ("b", "b", "a"): 1, ("a", "b", "a"): 1, ("b", "b", "b"): 4}
    t = PairedLabels.from_cells(cells, models=("A", "B"))
    costs = {("a", "a"): 0, ("b", "b"): 0, ("a", "b"): 5, ("b", "a"): 1}
    gaps = np.array([-5] * 3 + [-1] + [5])
    every = [abs(np.dot(s, gaps)) for s in itertools.product((1, -1), repeat=5)]
    exact = np.mean(np.array(every) >= abs(gaps.sum()) - 1e-9)
    assert cost_permutation(t, costs=costs, draws=9999).p == pytest.approx(exact, abs=0.02)


def test_one_price_for_one_mistake_gives_wilsons_ends_where_only_one_model_errs():
    """Differences are then 0 or 1 rows' worth; the other sign was never seen, yet its price is on the list."""
    t = PairedLabels.from_cells({(0, 1, 0): 10, (0, 0, 0): 90}, models=("A", "B"), labels=(0, 1))
    found = cost_permutation(t, costs={(0, 0): 0, (1, 1): 0, (0, 1): 1, (1, 0): 1}, draws=199).effect.interval
    low, high = wilson(10, 100, 0.95)
    assert found.high == pytest.approx(high, abs=0.01)
    assert -0.05 < found.low < low


def test_cost_leads_ranks_verifies_and_is_told(tmp_path):
    c = flat.compare(**GIVEN, costs=COSTS)
    assert c.findings[0].about == "mean_cost"
    assert [(place.model, place.measure) for place in c.ranking] == [("A", "mean_cost"), ("B", "mean_cost")]
    assert c.ranking[0].ahead_of == ("B",)
    assert verify(c.record).holds
    assert dict(assay.load(c.save(tmp_path / "c.json")).record) == dict(c.record)
    assert "Mistakes of B cost" in str(c)
    assert "Mistakes of B cost" in c.report(tmp_path / "c.md").read_text()
    changed = json.loads(c.record.to_text())
    changed["findings"][0]["effect"]["value"] = 0.0
    assert not verify(assay.Record(changed)).holds


@pytest.mark.parametrize("more", [{"subject": [i // 4 for i in range(N)]}, {"weight": rng.integers(1, 4, N) / 2}])
def test_subjects_and_weights_are_kept_together(more):
    c = flat.compare(**GIVEN, costs=COSTS, draws=999, **more)
    found = c["mean_cost"]
    heavy = np.asarray(more.get("weight", np.ones(N)))
    assert found.effect.value == pytest.approx(np.average(PAID["A"] - PAID["B"], weights=heavy), abs=1e-12)
    assert found.effect.interval.low < found.effect.value < found.effect.interval.high
    assert found.p < 0.05
    assert verify(c.record).holds
    assert c.ranking[0].measure == "mean_cost"


def test_different_rows_and_several_models_are_compared_by_cost_too():
    apart = {"truth": dict.fromkeys("AB", GIVEN["truth"]), "predicted": GIVEN["predicted"], "independent": True}
    c = flat.compare(**apart, costs=COSTS)
    assert c["mean_cost"].test == "apart_difference"
    assert c["mean_cost"].p < 0.05
    assert verify(c.record).holds
    three = {**GIVEN["predicted"], "C": GIVEN["predicted"]["B"]}
    many = assay.compare(
        truth=GIVEN["truth"], predicted=three, costs=COSTS, intervals=assay.IntervalSettings(draws=999)
    )
    about = [one for one in many.findings if one.about == "mean_cost"]
    assert [one.models for one in about] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert about[0].adjusted.of == 3
    assert about[2].p == 1.0


def test_the_model_against_itself_costs_the_same():
    same = {"A": GIVEN["predicted"]["A"], "B": GIVEN["predicted"]["A"]}
    found = assay.compare(truth=GIVEN["truth"], predicted=same, costs=COSTS)["mean_cost"]
    assert (found.effect.value, found.p) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"costs": {("cat", "cow"): 1}}, "no stated cost"),
        ({"costs": {**COSTS, ("cat", "cod"): 1}}, "not a class"),
        ({"costs": {**COSTS, ("cat", "cow"): -1}}, "not a number of 0 or above"),
        ({"costs": None, "measures": ["mean_cost"]}, "needs what each mistake costs"),
        ({"predicted": None, "score": {m: PAID[m] for m in "AB"}, "truth": (Y == 0).tolist(),
          "costs": {(True, False): 1, (False, True): 1}}, "costs are of predictions"),
    ],
)  # fmt: skip
def test_costs_that_cannot_be_compared_are_refused(changed, says):
    with pytest.raises(assay.AssayError, match=says):
        flat.compare(**{**GIVEN, "costs": COSTS, **changed})
    with pytest.raises(assay.PlanError, match="compare_values does not take costs"):
        assay.compare_values(values={"A": [1.0, 2.0], "B": [2.0, 3.0]}, costs=COSTS)


def test_the_command_takes_costs_as_the_assessment_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"y": (Y == 0).astype(int), **{m: (c == 0).astype(int) for m, c in CALLS.items()}})
    frame.to_csv("rows.csv", index=False)
    typed = ["compare", "rows.csv", "--truth", "y", "--predicted", "A=A", "--predicted", "B=B", "--json", "--quiet"]
    found = CliRunner().invoke(cli, [*typed, "--cost", "1", "0", "10", "--cost", "0", "1", "1"])
    assert found.exit_code == 0, found.output
    record = json.loads(found.stdout)
    assert record["findings"][0]["about"] == "mean_cost"
    assert record["plan"]["costs"] == [["0", "1", 1.0], ["1", "0", 10.0]]
    (tmp_path / "costs.csv").write_text("truth,predicted,cost\n1,0,10\n0,1,1\n")
    again = CliRunner().invoke(cli, [*typed, "--costs", "costs.csv"])
    assert json.loads(again.stdout)["findings"] == record["findings"]
    lost = CliRunner().invoke(cli, [*typed, "--cost", "1", "0", "10"])
    assert "no stated cost" in str(lost.exception)


def test_units_of_cells_and_of_rows_are_the_same():
    from assay.tally.paired.per_unit import PerUnit

    calls = [GIVEN["predicted"][m] for m in "AB"]
    rows = PerUnit.of(truth=GIVEN["truth"], labels=K, models=("A", "B"), calls=calls)
    cells: dict[tuple, int] = {}
    for cell in zip(GIVEN["truth"], *calls, strict=True):
        cells[cell] = cells.get(cell, 0) + 1
    t = PairedLabels.from_cells(cells, models=("A", "B"), labels=K)
    full = {**COSTS, **{(k, k): 0.0 for k in K}}
    a, b = priced_units(t, full), priced_units(rows, full)
    assert a.exact == pytest.approx(b.exact)
    assert a.disputed == b.disputed
    assert np.sort(a.swapped(500, 1)).mean() == pytest.approx(0, abs=0.05)
