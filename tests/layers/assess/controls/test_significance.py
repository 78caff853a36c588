# SPDX-License-Identifier: Apache-2.0
"""Significance tests of a plan, what wrong labels do to them, and what they could have shown."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from scipy.stats import binom
from statsmodels.stats.multitest import multipletests

from assay.assess.assess import assess
from assay.assess.compare.plan_comparison import Entrant
from assay.assess.conformity.plan_run import match
from assay.assess.conformity.plan_sources import Held
from assay.assess.controls import Inquiry
from assay.assess.decide.plan_results import comparison_digest
from assay.assess.plan.checked_plan import planned
from assay.rows.files.formats import Reading
from tests.layers.assess.controls.looking import SIGNED, look, opened


def rows_of(both, only_a, only_b, neither):
    """Truth, calls of A and of B: 1 is the truth of every second row."""
    out = []
    for n, right_a, right_b in ((both, 1, 1), (only_a, 1, 0), (only_b, 0, 1), (neither, 0, 0)):
        out += [(t, t if right_a else 1 - t, t if right_b else 1 - t) for t in (i % 2 for i in range(n))]
    return out


@pytest.fixture
def inquiry(tmp_path):
    def made(rows, annotated=None, sections=None, columns=("a", "b"), models=None):
        names = models or {one.upper(): {"predicted": one} for one in columns}
        text = f"id,y,{','.join(columns)}\n" + "".join(f"{i},{','.join(map(str, row))}\n" for i, row in enumerate(rows))
        test = opened(tmp_path, text, "test.csv")
        document = {
            "plan": SIGNED,
            "task": {"type": "binary", "classes": [0, 1], "positive": 1},
            "columns": {"truth": "y", "id": "id"},
            "data": {"test": {"path": "test.csv"}},
            "models": names,
            **(sections or {}),
        }
        notes = None
        if annotated is not None:
            lines = "".join(f"{i},{','.join(map(str, row))}\n" for i, row in enumerate(annotated))
            notes = opened(tmp_path, "id,r1,r2\n" + lines, "annotations.csv")
            truth = {**document.get("ground_truth", {}), "annotations": "annotations.csv", "annotators": ["r1", "r2"]}
            document["ground_truth"] = truth
        loaded = replace(planned(document, tmp_path))
        first = next(iter(names))
        seen = assess(
            data=str(tmp_path / "test.csv"),
            truth="y",
            predicted=columns[0],
            positive=1,
            level=0.95,
            reading=Reading(spelled=True),
        )
        held = Held(places=(str(tmp_path / "test.csv"),))
        found = match(
            loaded,
            [
                Entrant(name=name, split="test", model=one, rows=held, truth=None, assessment=seen)
                for name, one in loaded.plan.models.items()
            ],
        )
        compared = [c.comparison.record["findings"] for c in found.values() if c.comparison is not None]
        return Inquiry(
            loaded=loaded, splits={"test": test}, contests=found, assessment=seen, model=first, split="test",
            annotations=notes, findings=tuple(one for findings in compared for one in findings),
        )  # fmt: skip

    return made


def test_the_test_the_table_gives_is_admissible(inquiry):
    asked = inquiry(rows_of(300, 40, 15, 45))
    found = look("CHK-TEST", asked)
    assert found.verdict == "pass"
    assert "mcnemar_midp" in found.says
    held = asked.contests["test"].comparison.record
    assert held["findings"][0]["test"] == "mcnemar_midp"
    assert found.facts["test"]["comparison"] == comparison_digest(held, held["findings"])


@pytest.mark.parametrize(
    ("name", "verdict"),
    [("mcnemar", "pass"), ("mcnemar_midp", "pass"), ("chi_squared_association", "fail"), ("paired_t", "fail")],
)
def test_a_named_test_is_held_against_the_table(inquiry, name, verdict):
    sections = {"tests": {"chosen": [name], "justification": "we always do"}}
    found = look("CHK-TEST", inquiry(rows_of(300, 40, 15, 45), sections=sections))
    assert found.verdict == verdict
    assert [one["test"] for one in found.facts["test"]["named"]] == [name]


def test_a_sibling_chosen_with_a_reason_is_marked_as_chosen_by_hand(inquiry):
    sections = {"tests": {"chosen": ["mcnemar_exact"], "justification": "more conservative"}}
    found = look("CHK-TEST", inquiry(rows_of(300, 40, 15, 45), sections=sections))
    assert found.verdict in ("pass", "declared")
    bare = {"tests": {"chosen": ["bhapkar"]}}
    assert look("CHK-TEST", inquiry(rows_of(300, 40, 15, 45), sections=bare)).verdict == "fail"


def test_families_are_corrected_unless_the_plan_forbids_it(inquiry):
    rows = [(t, a, b, a if i % 7 else 1 - a) for i, (t, a, b) in enumerate(rows_of(300, 60, 15, 45))]
    several = inquiry(rows, columns=("a", "b", "c"))
    found = look("CHK-MULT", several)
    assert found.verdict == "pass"
    family = found.facts["test, accuracy"]
    assert family["questions"] > 1
    assert family["correction"] == ["Holm"]
    none = inquiry(rows, columns=("a", "b", "c"), sections={"tests": {"correction": "none"}})
    assert look("CHK-MULT", none).verdict == "fail"
    by = inquiry(rows, columns=("a", "b", "c"), sections={"tests": {"correction": "benjamini-hochberg"}})
    assert look("CHK-MULT", by).facts["test, accuracy"]["correction"] == ["Benjamini-Hochberg"]


def test_power_is_told_and_held_against_the_difference_that_matters(inquiry):
    rows = rows_of(300, 40, 15, 45)
    found = look("CHK-POWER", inquiry(rows))
    assert found.verdict == "pass"
    least = found.facts["test"]["detectable"]
    assert 0.02 < least < 0.08
    for difference, verdict in ((least * 0.9, "suspect"), (least * 1.1, "pass")):
        sections = {"tests": {"difference": difference}}
        again = look("CHK-POWER", inquiry(rows, sections=sections))
        assert again.verdict == verdict
        assert (again.facts["test"]["rows_needed"] > 400) == (verdict == "suspect")
    ahead = {"data": {"test": {"path": "test.csv", "rows": 4000}}}
    assert look("CHK-POWER", inquiry(rows, sections=ahead)).facts["test"]["detectable_as_planned"] < least / 2


def test_without_a_comparison_there_is_no_evidence_and_the_reason_is_told(inquiry):
    one = inquiry(rows_of(300, 40, 15, 45), models={"A": {"predicted": "a"}})
    for id in ("CHK-TEST", "CHK-MULT", "CHK-POWER"):
        assert (look(id, one).verdict, look(id, one).says) == ("no-evidence", "no models were compared")
    broken = inquiry([*rows_of(300, 40, 15, 45), ("", 1, 1)][:400], models=None)
    held = broken.contests["test"]
    assert held.comparison is not None
    lost = inquiry(rows_of(30, 4, 1, 5), models={"A": {"predicted": "a"}, "B": {"predicted": "nowhere"}})
    assert "nowhere" in look("CHK-TEST", lost).says


def annotated(rows, rate, rng):
    return [[t if rng.random() >= rate else 1 - t for _ in range(2)] for t, *_ in rows]


def test_a_clear_difference_stands_and_a_narrow_one_is_turned_by_a_few_labels(inquiry):
    rng = random.Random(7)
    clear = rows_of(300, 80, 10, 10)
    found = look("CHK-GT-IMPACT", inquiry(clear, annotated(clear, 0.01, rng)))
    told = found.facts["conclusions"]["A against B"]
    assert found.verdict == "pass"
    assert told["same"] == 1
    narrow = rows_of(300, 23, 10, 67)
    found = look("CHK-GT-IMPACT", inquiry(narrow, annotated(narrow, 0.1, rng)))
    told = found.facts["conclusions"]["A against B"]
    assert found.verdict == "suspect"
    assert told["same"] < 0.95
    # One label of a row only A gets right, given to B: 22 against 11 is no longer significant, and 16 against 17 turns.
    ps = [binom.cdf(10 + k, 33, 0.5) + binom.cdf(9 + k, 33, 0.5) for k in range(3)]
    assert told["p"] == pytest.approx(ps[0])
    assert told["fewest_labels"] == 1
    assert ps[0] < 0.05 < ps[1]
    assert told["fewest_to_reverse_ranking"] == 7


def test_relabelling_leaves_an_acceptance_criterion_on_its_side(inquiry):
    rows = rows_of(300, 40, 15, 45)  # A is right in 340 of 400
    sections = {"metrics": {"accept": ["accuracy >= 0.8 simple"]}, "ground_truth": {"error_rate": 0.01}}
    found = look("CHK-GT-IMPACT", inquiry(rows, sections=sections, models={"A": {"predicted": "a"}}))
    told = found.facts["conclusions"]["accuracy >= 0.8 simple"]
    assert told == {"value": 0.85, "same": 1}
    assert found.verdict == "pass"
    spread = found.facts["value"]
    assert (spread["low"] + spread["high"]) / 2 == pytest.approx(0.99 * 0.85 + 0.01 * 0.15, abs=0.003)


def test_a_criterion_about_gaps_between_groups_is_not_relabelled(inquiry):
    sections = {"metrics": {"accept": ["gap(recall, sex) <= 0.5"]}, "ground_truth": {"error_rate": 0.01}}
    found = look(
        "CHK-GT-IMPACT", inquiry(rows_of(300, 40, 15, 45), sections=sections, models={"A": {"predicted": "a"}})
    )
    assert found.facts["conclusions"] == {}


def test_without_annotations_or_a_declared_rate_nothing_is_shown(inquiry):
    assert look("CHK-GT-IMPACT", inquiry(rows_of(30, 4, 1, 5))).verdict == "no-evidence"
    assert look("CHK-GT-IMPACT", Inquiry(loaded=planned({}))).verdict == "no-evidence"


def test_of_several_models_the_relabelled_p_values_are_corrected_as_the_family_is(inquiry):
    rng = random.Random(5)
    rows = [(t, a, b, a if rng.random() < 0.9 else 1 - a) for t, a, b in rows_of(300, 30, 14, 56)]
    rate = {"ground_truth": {"error_rate": 0.02}}
    told = look("CHK-GT-IMPACT", inquiry(rows, columns=("a", "b", "c"), sections=rate)).facts["conclusions"]
    ps = {}
    for x, y in ((1, 2), (1, 3), (2, 3)):
        only = [sum(row[x] == row[0] != row[y] for row in rows), sum(row[y] == row[0] != row[x] for row in rows)]
        n, k = sum(only), min(only)
        ps[x, y] = binom.cdf(k, n, 0.5) + binom.cdf(k - 1, n, 0.5)
    peer = dict(zip(ps, multipletests(list(ps.values()), method="holm")[1], strict=True))
    for name, pair in (("A against B", (1, 2)), ("A against C", (1, 3))):
        assert told[name]["p"] == pytest.approx(ps[pair], rel=1e-9)
        assert told[name]["p_adjusted"] == pytest.approx(peer[pair], rel=1e-9)
    alone = look("CHK-GT-IMPACT", inquiry([row[:3] for row in rows], sections=rate)).facts["conclusions"]["A against B"]
    assert alone["p_adjusted"] == alone["p"]
    assert told["A against B"]["significant"] <= alone["significant"]


def test_weighted_rows_are_not_relabelled(inquiry):
    weighted = assess(truth=[0, 1] * 20, predicted=[0, 1] * 20, weight=[1.0, 2.0] * 20)
    counted = inquiry(rows_of(300, 40, 15, 45), models={"A": {"predicted": "a"}})
    assert "rows are weighted" in look("CHK-GT-IMPACT", replace(counted, assessment=weighted)).says
