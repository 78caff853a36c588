# SPDX-License-Identifier: Apache-2.0
"""Stated costs: in every form they can have, through Record and report, and refused where they are not costs."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.app.cli import cli
from assay.assess.record.verification import verify
from assay.core.errors import PlanError
from assay.inference.intervals.proportion import wilson
from assay.measures import parse
from assay.report.report_document import Document
from assay.tally.labels.confusion import Priced
from tests import flat
from tests.strategies import FEW, confusion_of, matrices, weights

TRUTH, CALLED = list("aaabbbccccab"), list("aabbbaccacab")
COSTS = {("a", "b"): 1, ("a", "c"): 1, ("b", "a"): 2, ("b", "c"): 2.5, ("c", "a"): 5, ("c", "b"): 4}
NESTED = {a: {b: COSTS[a, b] for b in "abc" if a != b} for a in "abc"}


def assessed(**given):
    return flat.assess(**{"truth": TRUTH, "predicted": CALLED, "costs": COSTS, "measures": ["accuracy"], **given})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("y,p\n" + "".join(f"{a},{b}\n" for a, b in zip(TRUTH, CALLED, strict=True)))
    (tmp_path / "square.csv").write_text("truth,a,b,c\na,,1,1\nb,2,0,2.5\nc,5,4,\n")
    (tmp_path / "long.csv").write_text(
        "truth,predicted,cost\n" + "".join(f"{a},{b},{c}\n" for (a, b), c in COSTS.items())
    )
    (tmp_path / "nested.json").write_text(json.dumps(NESTED))
    return tmp_path


def test_the_mean_cost_is_the_mean_over_rows():
    rows = [COSTS.get(pair, 0) for pair in zip(TRUTH, CALLED, strict=True)]
    one = assessed()["mean_cost"]
    assert one.value == np.mean(rows)
    assert one.low < one.value < one.high
    assert one.interval.method == "score of costs"


def test_every_form_of_a_matrix_says_the_same(folder):
    import pandas as pd

    frame = pd.DataFrame([[0, 1, 1], [2, 0, 2.5], [5, 4, 0]], index=list("abc"), columns=list("abc"))
    forms = (NESTED, frame, folder / "square.csv", "long.csv", "nested.json")
    assert {json.dumps(assessed(costs=one).record["plan"]["costs"]) for one in (COSTS, *forms)} == {
        json.dumps([[a, b, float(c)] for (a, b), c in sorted(COSTS.items())])
    }


def test_a_record_holds_the_costs_and_is_verified_with_them(tmp_path):
    a = assessed(group={"half": [0] * 6 + [1] * 6})
    again = assay.load(a.save(tmp_path / "a.json"))
    assert again["mean_cost"].value == a["mean_cost"].value
    assert again.record["digests"] == a.record["digests"]
    assert verify(a.record).holds
    assert a.by_group["half"][0]["mean_cost"].value == 3 / 6
    forged = json.loads(json.dumps(dict(a.record)))
    forged["plan"]["costs"][0][2] = 100.0
    assert any("estimates" in one.path for one in verify(assay.Record(forged)).mismatches)


def test_merged_parts_have_the_cost_of_all_rows():
    parts = [assay.assess(truth=TRUTH[i::2], predicted=CALLED[i::2], labels=list("abc"), costs=COSTS) for i in (0, 1)]
    merged = assay.merge(*parts)
    assert merged["mean_cost"].value == assessed()["mean_cost"].value
    with pytest.raises(PlanError, match="different settings"):
        assay.merge(assessed(), assessed(costs=None))


def test_costs_and_their_mean_stand_in_every_report(tmp_path):
    a = assessed()
    assert [one.about.measure for one in Document(a.record).headline][-1] == "mean_cost"
    for name in ("report.html", "report.md"):
        text = a.report(tmp_path / name).read_text(encoding="utf-8")
        assert "Stated costs of a row" in text
        assert "mean cost" in text
    assert "mean_cost" in str(a)


def test_without_costs_there_is_no_mean_cost_and_asking_says_what_to_state():
    plain = assessed(costs=None)
    assert "mean_cost" not in list(plain)
    for ask in (lambda: plain["mean_cost"], lambda: assessed(costs=None, measures=["mean_cost"])):
        with pytest.raises(PlanError) as told:
            ask()
        assert told.value.code == "measure-needs"
        assert "--cost" in told.value.typed
    assert list(assessed(measures=["recall_macro"])) == ["recall_macro", "mean_cost"]
    assert list(assessed(costs=None, measures=["cost", "accuracy"])) == ["accuracy"]
    assert "mean_cost" in list(assessed(measures=None))


def test_two_classes_have_the_expected_cost_of_their_two_costs():
    y, p = [1, 1, 0, 0, 1, 0, 1], [1, 0, 0, 1, 0, 0, 1]
    a = assay.assess(truth=y, predicted=p, costs={(0, 1): 1, (1, 0): 5})
    assert a["mean_cost"].value == a["expected_cost(cost_fp=1, cost_fn=5)"].value
    m = assay.from_confusion_matrix(confusion=[[2, 1], [2, 2]], orientation="rows=truth", costs={(0, 1): 1, (1, 0): 5})
    assert m["mean_cost"].value == a["mean_cost"].value


def test_a_criterion_can_be_held_against_the_mean_cost():
    assert assessed().accept("mean_cost <= 4.5").decisions.verdict == "pass"


def test_models_are_compared_by_cost_only_where_costs_are_stated():
    with pytest.raises(PlanError, match="needs what each mistake costs"):
        assay.compare(truth=TRUTH, predicted={"A": CALLED, "B": TRUTH}, measures=["mean_cost"])


@pytest.mark.parametrize(
    ("costs", "what", "told"),
    [
        ({("a", "b"): 1}, "5 mistakes have no stated cost", '"a" called "c"'),
        ({**COSTS, ("a", "bb"): 1}, 'a cost is stated for "bb", which is not a class', 'did you mean "b"?'),
        ({**COSTS, ("a", "b"): -1}, "1 cost is not a number of 0 or above", '-1 for "a" called "b"'),
        ({**COSTS, ("a", "b"): float("nan")}, "1 cost is not a number", "nan"),
        ({**COSTS, ("a", "b"): float("inf")}, "1 cost is not a number", "inf"),
        ({**COSTS, ("a", "b"): "5"}, "1 cost is not a number", "'5'"),
        ({**COSTS, ("a", "b"): True}, "1 cost is not a number", "True"),
        (dict.fromkeys(COSTS, 0), "every cost is 0", "state what mistakes cost"),
        ({"a": 5}, "stated for one class", "'a': 5"),
        ([[0, 1], [1, 0]], "not a table", "[[0, 1], [1, 0]]"),
        ({}, "not a table", "{}"),
    ],
)
def test_what_is_no_matrix_of_costs_is_refused(costs, what, told):
    with pytest.raises(PlanError, match=what) as error:
        assessed(costs=costs)
    assert error.value.code == "costs-invalid"
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("truth", "costs", "fix"),
    [
        ([0, 1, 1], {"0": {"1": 1.0}, "1": {"0": 5.0}}, "write the label as the number 0, as the data do"),
        (["0", "1", "1"], {0: {1: 1.0}, 1: {0: 5.0}}, 'write the label as text "0", as the data do'),
        ([False, True], {"False": {"True": 1.0}, "True": {"False": 5.0}}, "write the label as the value False"),
    ],
)
def test_a_label_of_another_type_is_told_apart_from_the_class_that_reads_like_it(truth, costs, fix):
    with pytest.raises(PlanError, match="which is not a class") as error:
        assay.assess(truth=truth, predicted=truth, positive=truth[1], costs=costs)
    assert fix in error.value.fix


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("c.csv", "x,a,b\na,0\n", "row 2 has 2 fields"),
        ("c.csv", "", "not a table of costs"),
        ("c.csv", "truth,predicted,cost\na,b,1\na,b,2\n", "stands twice"),
        ("c.csv", "x,a,b,c\na,0,x,1\nb,1,0,1\nc,1,1,0\n", "1 cost is not a number"),
        ("c.json", "{", "not JSON"),
        ("none.csv", None, "cannot be read"),
    ],
)
def test_a_file_that_holds_no_costs_is_refused(tmp_path, name, text, what):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(PlanError, match=what):
        assessed(costs=tmp_path / name)


def test_costs_on_the_command_line_and_in_a_plan(folder):
    def ran(*words):
        done = CliRunner().invoke(cli, ["run", *words, "--json", "--quiet"], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return {one["measure"]: one for one in json.loads(done.stdout)["estimates"]}["mean_cost"]

    roles = ("rows.csv", "--truth", "y", "--predicted", "p", "--measure", "accuracy")
    typed = [word for (a, b), cost in COSTS.items() for word in ("--cost", a, b, str(cost))]
    wanted = assessed()["mean_cost"].to_json()
    assert ran(*roles, *typed) == ran(*roles, "--costs", "square.csv") == wanted
    plan = '[task]\nclasses = ["a", "b", "c"]\n[columns]\ntruth = "y"\n[data.test]\npath = "rows.csv"\n'
    plan += '[models.A]\npredicted = "p"\n[metrics]\nmeasures = ["accuracy"]\n'
    tables = "".join(
        f"[metrics.costs.{a}]\n" + "".join(f"{b} = {float(c)}\n" for b, c in row.items()) for a, row in NESTED.items()
    )
    (folder / "plan.toml").write_text(plan + tables)
    assert ran("plan.toml") == wanted
    for broken, told in (
        (plan + tables.replace("c = 2.5\n", ""), "1 mistake has no stated cost"),
        (plan.replace('"accuracy"', '"mean_cost"'), "needs what each mistake costs"),
    ):
        (folder / "plan.toml").write_text(broken)
        with pytest.raises(PlanError, match=told):
            CliRunner().invoke(cli, ["run", "plan.toml"], catch_exceptions=False)


# ---------------------------------------------------------------- laws


def priced(matrix, costs, *, weighted=False):
    return Priced.of(confusion_of(matrix, weighted=weighted), costs)


def drawn_costs(k):
    return {(i, j): 0 if i == j else 1 + (3 * i + j) % 4 for i in range(k) for j in range(k)}


@FEW
@given(matrix=matrices(least=2))
def test_the_printed_formula_is_the_mean_cost(matrix):
    one, t = parse("mean_cost"), priced(matrix, drawn_costs(len(matrix)))
    assert one.formula == "sum(c*m for c, m in costs) / n"
    n = sum(map(sum, matrix))
    by_hand = sum(
        Fraction(drawn_costs(len(matrix))[i, j]) * c for i, row in enumerate(matrix) for j, c in enumerate(row)
    )
    assert one(t).value == float(by_hand / n) if n else one(t).reason == "there are no rows"


@FEW
@given(matrix=matrices(weights, least=2))
def test_doubling_weights_leaves_the_mean_cost(matrix):
    costs = drawn_costs(len(matrix))
    once, twice = (
        parse("mean_cost")(priced([[t * c for c in row] for row in matrix], costs, weighted=True)) for t in (1, 2)
    )
    assert getattr(once, "value", None) == getattr(twice, "value", None)


@FEW
@given(right=st.integers(0, 400), wrong=st.integers(0, 400), cost=st.floats(0.01, 1e6))
def test_with_one_cost_of_all_mistakes_the_interval_is_wilsons(right, wrong, cost):
    if right + wrong < 4:
        return
    a = assay.from_confusion_matrix(
        confusion=[[right, wrong], [0, 0]], orientation="rows=truth", costs={(0, 1): cost, (1, 0): cost}
    )
    found, (low, high) = a["mean_cost"], wilson(wrong, right + wrong, 0.95)
    assert found.low == pytest.approx(cost * low, abs=1e-8 * cost)
    assert found.high == pytest.approx(cost * high, abs=1e-8 * cost)


def test_a_method_for_counts_leaves_the_interval_of_a_mean_cost_alone_and_says_so():
    plain, one = assessed()["mean_cost"], assessed(cells="bca")["mean_cost"]
    assert (one.low, one.high) == (plain.low, plain.high)
    assert one.interval.notes == ("bca is for counts; a mean cost has the score interval",)


def test_a_dear_mistake_that_was_never_seen_is_reckoned_with():
    cheap = assay.assess(truth=[0] * 30, predicted=[0] * 30, labels=[0, 1], positive=1, costs={(0, 1): 1, (1, 0): 1})
    dear = assay.assess(truth=[0] * 30, predicted=[0] * 30, labels=[0, 1], positive=1, costs={(0, 1): 1, (1, 0): 50})
    assert cheap["mean_cost"].value == dear["mean_cost"].value == 0
    assert dear["mean_cost"].high == pytest.approx(50 * cheap["mean_cost"].high)


def test_weighted_rows_of_equal_weight_are_as_sure_as_rows():
    plain, alike = assessed()["mean_cost"], assessed(weight=[3] * len(TRUTH))["mean_cost"]
    assert (alike.low, alike.high) == pytest.approx((plain.low, plain.high), rel=1e-9)
    twice = {"truth": TRUTH * 2, "predicted": CALLED * 2}
    some, every = assessed(**twice, weight=[1] * 12 + [5] * 12)["mean_cost"], assessed(**twice)["mean_cost"]
    assert some.value == every.value
    assert some.high - some.low > every.high - every.low
