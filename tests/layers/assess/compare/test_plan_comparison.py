# SPDX-License-Identifier: Apache-2.0
"""Plans with several models compare them of their own accord."""

from __future__ import annotations

import json
import random
from contextlib import contextmanager

import pytest

from assay.assess.assess import assess
from assay.assess.compare.compare import compare, compare_values
from assay.assess.conformity.plan_run import run_planned
from assay.assess.plan.checked_plan import load_plan
from assay.assess.record.record import Record, sealed
from assay.assess.record.verification import verify
from assay.core.errors import PlanError
from tests import flat

pytestmark = pytest.mark.usefixtures("one_engine")
HEAD = """[plan]
assessor = "Ada"
date = 2026-01-31
[task]
type = "binary"
classes = ["no", "yes"]
positive = "yes"
[columns]
truth = "truth"
id = "id"
"""
ONE = '[data.test]\npath = "test.csv"\n[models.A]\npredicted = "a"\n[models.B]\npredicted = "b"\n'


def rows(n=160, seed=7):
    chance = random.Random(seed)
    found = []
    for i in range(n):
        yes = chance.random() < 0.5
        scores = [min(1.0, max(0.0, chance.gauss(0.65 if yes else 0.35, spread))) for spread in (0.15, 0.3)]
        found.append(
            {
                "id": f"patient-{i:03}",
                "truth": "yes" if yes else "no",
                "a": "yes" if scores[0] >= 0.5 else "no",
                "b": "yes" if scores[1] >= 0.4 else "no",
                "sa": f"{scores[0]:.6f}",
                "sb": f"{scores[1]:.6f}",
            }
        )
    return found


def save(path, table, *columns):
    columns = columns or tuple(table[0])
    lines = [",".join(columns), *(",".join(row[name] for name in columns) for row in table)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def planned(folder, text, metrics=""):
    path = folder / "plan.toml"
    path.write_text(f'{HEAD}[metrics]\nmeasures = ["accuracy", "recall"]\n{metrics}{text}', encoding="utf-8")
    return dict(run_planned(load_plan(path)))


@pytest.fixture
def table(tmp_path):
    found = rows()
    save(tmp_path / "test.csv", found)
    return found


def expected(table, **more):
    names = {"A": "a", "B": "b"}
    return flat.compare(
        truth=[row["truth"] for row in table],
        predicted={name: [row[column] for row in table] for name, column in names.items()},
        positive="yes",
        labels=["no", "yes"],
        **more,
    )


def facts(findings):
    return [(one["test"], one["about"], one["p"], one["effect"]["value"]) for one in findings]


def test_the_findings_are_those_of_compare_and_both_records_hold_them(table, tmp_path):
    found = planned(tmp_path, ONE)
    for one in found.values():
        record = one.record
        assert facts(record["findings"]) == facts(expected(table).record["findings"])
        assert record["comparisons"][0]["models"] == ["A", "B"]
        assert verify(Record(json.loads(record.to_text()))).mismatches == ()


def test_models_in_files_of_their_own_and_thresholds_are_matched_by_id(table, tmp_path):
    shuffled = table[::-1]
    save(tmp_path / "a.csv", table, "id", "truth", "sa")
    save(tmp_path / "b.csv", shuffled, "id", "truth", "sb")
    text = '[data.test]\npath = "test.csv"\n'
    text += '[models.A]\npredictions = "a.csv"\nscore = "sa"\nthreshold = 0.5\n'
    text += '[models.B]\npredictions = "b.csv"\nscore = "sb"\nthreshold = 0.4\n'
    record = planned(tmp_path, text)["A"].record
    labels = facts(expected(table).record["findings"])
    assert facts(record["findings"])[: len(labels)] == labels
    assert record["findings"][-1]["test"] == "delong"
    assert verify(Record(json.loads(record.to_text()))).mismatches == ()


def test_truth_elsewhere_is_joined_where_the_files_are_read_whatever_else_a_model_has(table, tmp_path):
    save(tmp_path / "a.csv", table[::-1], "id", "sa")
    save(tmp_path / "b.csv", table, "id", "truth", "b")
    text = '[data.test]\npath = "test.csv"\n'
    text += '[models.A]\npredictions = "a.csv"\njoined = true\nscore = "sa"\nthreshold = 0.5\n'
    text += '[models.B]\npredictions = "b.csv"\npredicted = "b"\n'
    record = planned(tmp_path, text)["A"].record
    assert facts(record["findings"]) == facts(expected(table).record["findings"])
    assert verify(Record(json.loads(record.to_text()))).mismatches == ()


def test_thresholds_of_one_table_are_compared_where_it_is_read(table, tmp_path):
    text = '[data.test]\npath = "test.csv"\n[models.A]\nscore = "sa"\nthreshold = 0.5\n'
    record = planned(tmp_path, text + '[models.B]\npredicted = "b"\n')["B"].record
    assert facts(record["findings"]) == facts(expected(table).record["findings"])
    assert verify(Record(json.loads(record.to_text()))).mismatches == ()


def test_labels_in_files_of_their_own_are_matched_where_the_files_are_read(table, tmp_path):
    for name, own in (("a", table), ("b", table[::-1])):
        (tmp_path / name).mkdir()
        save(tmp_path / name / "out.csv", own, "id", "truth", name)
    text = '[data.test]\npath = "test.csv"\n'
    text += '[models.A]\npredictions = "a/out.csv"\npredicted = "a"\n'
    text += '[models.B]\npredictions = "b/out.csv"\npredicted = "b"\n'
    record = planned(tmp_path, text)["B"].record
    assert facts(record["findings"]) == facts(expected(table).record["findings"])
    assert verify(Record(json.loads(record.to_text()))).mismatches == ()


def test_rows_that_cannot_be_paired_are_told_and_nothing_is_compared(table, tmp_path):
    save(tmp_path / "a.csv", table, "id", "truth", "a")
    save(tmp_path / "b.csv", table[1:], "id", "truth", "b")
    text = '[data.test]\npath = "test.csv"\n'
    text += '[models.A]\npredictions = "a.csv"\npredicted = "a"\n[models.B]\npredictions = "b.csv"\npredicted = "b"\n'
    record = planned(tmp_path, text)["A"].record
    assert record["findings"] == []
    assert "not run on the same rows" in record["plan"]["not_compared"]
    assert "patient-000" not in record.to_text()
    said = next(one["says"] for one in record["controls"] if one["check"] == "CHK-SIG")
    assert "not run on the same rows" in said


def in_units(tmp_path, table, columns, more="", **given):
    """The plan's findings, and those of compare() on the same columns."""
    for i, row in enumerate(table):
        row |= {"who": f"s{i // 4}", "alone": f"s{i}", "w": f"{1 + i % 3}.5"}
    save(tmp_path / "test.csv", table)
    names = {"who": "subject", "alone": "subject", "w": "weight"}
    text = ONE.replace("[data.test]", more + "[data.test]")
    plan = tmp_path / "plan.toml"
    roles = "".join(f'{names[one]} = "{one}"\n' for one in columns)
    plan.write_text(f'{HEAD}{roles}[metrics]\nmeasures = ["accuracy"]\n{text}', encoding="utf-8")
    record = dict(run_planned(load_plan(plan)))["A"].record
    return record, expected(table, **given).record["findings"]


def test_weights_and_subjects_with_several_rows_are_handed_to_the_comparison(table, tmp_path):
    table = table[:80]
    weights = [1.5 + i % 3 for i in range(len(table))]
    who = [f"s{i // 4}" for i in range(len(table))]
    for columns, given in (
        (["w"], {"weight": weights}),
        (["who", "w"], {"subject": who, "weight": weights}),
        (["alone"], {}),  # one row a subject: rows are as good, and have more tests
    ):
        record, findings = in_units(tmp_path, [dict(row) for row in table], columns, **given)
        assert facts(record["findings"]) == facts(findings), columns
        assert verify(Record(json.loads(record.to_text()))).mismatches == ()
        assert '"s1"' not in record.to_text()


def test_subjects_are_matched_with_models_in_files_of_their_own(table, tmp_path):
    table = table[:60]
    for i, row in enumerate(table):
        row |= {"who": f"s{i // 4}"}
    save(tmp_path / "test.csv", table)
    save(tmp_path / "a.csv", table, "id", "a")
    save(tmp_path / "b.csv", table[::-1], "id", "b")
    text = HEAD + 'subject = "who"\n[metrics]\nmeasures = ["accuracy"]\n[data.test]\npath = "test.csv"\n'
    for name in "ab":
        text += f'[models.{name.upper()}]\npredictions = "{name}.csv"\npredicted = "{name}"\njoined = true\n'
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    record = dict(run_planned(load_plan(tmp_path / "plan.toml")))["A"].record
    who = [f"s{i // 4}" for i in range(len(table))]
    assert facts(record["findings"]) == facts(expected(table, subject=who).record["findings"])


def test_a_claim_about_another_model_is_answered_by_subjects_where_they_have_several_rows(table, tmp_path):
    claim = '[[claims]]\nmodel = "A"\nat_least = "B"\nmeasure = "accuracy"\nmargin = 0.1\n'
    record, findings = in_units(tmp_path, table, ["who"], claim, subject=[f"s{i // 4}" for i in range(len(table))])
    (told,) = record["claims"]
    effect = next(one["effect"] for one in findings if one["about"] == "accuracy")
    assert told["pairing"] == "paired"
    assert (told["low"], told["high"]) == pytest.approx((effect["low"], effect["high"]), abs=0.02)
    assert verify(Record(json.loads(record.to_text()))).mismatches == ()


def test_no_path_of_the_machine_stands_in_a_record(table, tmp_path):
    del table
    assert str(tmp_path) not in planned(tmp_path, ONE)["A"].record.to_text()
    path = str(tmp_path / "test.csv")
    c = compare(data=path, truth="truth", predicted={"A": "a", "B": "b"}, positive="yes")
    assert c.record["plan"]["data"]["from"] == "test.csv"
    assert list(c.record["plan"]["data"]["files"]) == ["test.csv"]
    assert str(tmp_path) not in c.record.to_text()


def test_an_engine_that_a_plan_names_counts_and_compares(table, tmp_path):
    del table
    own = planned(tmp_path, ONE)["A"].record
    other = planned(tmp_path, ONE + '[reading]\nengine = "duckdb"\n')["A"].record
    assert other["tallies"] == own["tallies"]
    assert facts(other["findings"]) == facts(own["findings"])


def test_levels_of_a_channel_are_compared_and_computed_again(table, tmp_path):
    for i, row in enumerate(table):
        row |= {"site": "NS"[i % 2]}
    save(tmp_path / "test.csv", table)
    scored = ONE.replace('"a"', '"a"\nscore = "sa"').replace('"b"', '"b"\nscore = "sb"')
    record = planned(tmp_path, scored + '[channels]\nother = ["site"]\n')["A"].record
    place, held = next((i, one) for i, one in enumerate(record["controls"]) if one["check"] == "CHK-TEST")
    told = held["facts"]["test"]["by_channel"]["site"]
    wanted = expected(table, channel=[row["site"] for row in table])
    (channels,) = (one for one in wanted.answers if one.question == "channels")
    assert told["findings"] == [one.to_json() for one in channels.findings]
    content = json.loads(record.to_text())
    content["controls"][place]["facts"]["test"]["by_channel"]["site"]["findings"][0]["p"] *= 0.5
    assert [one.path for one in verify(Record(sealed(content))).mismatches] == [
        f"controls[{place}].facts.test.by_channel.site.findings[0].p"
    ]
    content = json.loads(record.to_text())
    content["comparisons"][0]["test_data"]["pairing"] = "by hand"
    assert [one.path for one in verify(Record(sealed(content))).mismatches][-1] == (
        f"controls[{place}].facts.test.comparison"
    )


@pytest.mark.usefixtures("table")
def test_a_stated_reason_keeps_tests_away(tmp_path):
    record = planned(tmp_path, ONE + '[tests]\nnone = "a second plan compares"\n')["B"].record
    assert record["findings"] == []
    assert record["plan"]["not_compared"] == "stated: a second plan compares"


def test_the_test_a_plan_names_is_run_and_says_why(table, tmp_path):
    text = ONE + '[tests]\nchosen = ["mcnemar_exact"]\njustification = "few rows disagree"\n'
    record = planned(tmp_path, text)["A"].record
    assert record["findings"][0]["test"] == "mcnemar_exact"
    assert (
        facts(record["findings"])[0]
        == facts(expected(table, test="mcnemar_exact", because="few").record["findings"])[0]
    )


@pytest.mark.usefixtures("table")
def test_a_test_that_is_not_admissible_gives_way_unless_the_plan_overrides_the_table(tmp_path):
    text = ONE + '[tests]\nchosen = ["two_shares"]\njustification = "habit"\n'
    for more, test, label in (("", "mcnemar", False), ("override = true\n", "two_shares", True)):
        record = planned(tmp_path, text + more)["A"].record
        assert record["findings"][0]["test"].startswith(test)
        assert bool(record["findings"][0]["label"]) is label
        held = next(one for one in record["controls"] if one["check"] == "CHK-TEST")
        assert held["verdict"] == "fail"
        assert "not admissible: two_shares" in held["says"]


def near_one(tmp_path):
    """Two models that rank nearly every pair right, where the table squares and adds intervals."""
    found = rows(300)
    for row in found:
        row |= {"sa": "0.9" if row["truth"] == "yes" else "0.1"}
    save(tmp_path / "test.csv", found)
    return ONE.replace('"a"', '"a"\nscore = "sa"').replace('"b"', '"b"\nscore = "sb"')


@pytest.mark.parametrize(
    ("reason", "test", "verdict"), [("", "area_difference", "fail"), ("as published", "delong", "declared")]
)
def test_a_planned_test_runs_with_its_reason_and_is_never_taken_for_another_of_its_family(
    tmp_path, reason, test, verdict
):
    text = near_one(tmp_path) + '[tests]\nchosen = ["delong"]\n' + (f'justification = "{reason}"\n' if reason else "")
    record = planned(tmp_path, text)["A"].record
    assert [one["test"] for one in record["findings"] if one["about"] == "auroc"] == [test]
    held = next(one for one in record["controls"] if one["check"] == "CHK-TEST")
    assert held["verdict"] == verdict
    rows_ = {one["id"]: one["verdict"] for one in record["conformity"]["rows"]}
    assert (rows_["R-7.1-5"] == "fail") is (verdict == "fail")
    assert ("R-7.1-5" in record["conformity"]["deviations"]) is (verdict == "fail")
    assert verify(Record(json.loads(record.to_text()))).mismatches == ()


@pytest.mark.usefixtures("table")
def test_a_test_of_scores_is_refused_where_there_are_none(tmp_path):
    record = planned(tmp_path, ONE + '[tests]\nchosen = ["delong"]\njustification = "x"\n')["A"].record
    held = next(one for one in record["controls"] if one["check"] == "CHK-TEST")
    assert held["verdict"] == "fail"
    assert "there are none" in held["says"]


@pytest.mark.parametrize("by", ["a column", "a fold table"])
def test_folds_are_compared_fold_by_fold(table, tmp_path, by):
    for i, row in enumerate(table):
        row["fold"] = str(i % 5)
    save(tmp_path / "folds.csv", table, "id", "fold")
    save(tmp_path / "test.csv", table, *(table[0] if by == "a column" else [one for one in table[0] if one != "fold"]))
    scheme = '[tuning]\nscheme = "k-fold"\nfolds = "folds.csv"\n'
    record = planned(tmp_path, ONE + scheme)["A"].record
    values = {
        model: [sum(row["truth"] == row[column] for row in table[f::5]) / len(table[f::5]) for f in range(5)]
        for model, column in (("A", "a"), ("B", "b"))
    }
    want = compare_values(values=values, per="fold", folds=5, rows=len(table))
    assert facts(record["findings"]) == facts(want.record["findings"])
    assert [one["test"] for one in record["findings"]] == ["corrected_resampled_t"]
    assert verify(Record(json.loads(record.to_text()))).mismatches == ()


@pytest.mark.usefixtures("table")
def test_folds_of_other_rows_leave_the_test_set_to_mcnemar_unless_algorithms_are_judged(tmp_path):
    (tmp_path / "folds.csv").write_text("id,fold\nx,1\ny,2\n", encoding="utf-8")
    scheme = '[tuning]\nscheme = "k-fold"\nfolds = "folds.csv"\n'
    assert planned(tmp_path, ONE + scheme)["A"].record["findings"][0]["test"].startswith("mcnemar")
    record = planned(tmp_path, ONE + scheme + '[purpose]\nestimand = "algorithm"\n')["A"].record
    assert record["findings"] == []
    assert "nothing tells the fold of each test row" in record["plan"]["not_compared"]


@pytest.mark.usefixtures("table")
def test_two_tests_for_one_question_are_refused(tmp_path):
    with pytest.raises(PlanError) as error:
        planned(tmp_path, ONE + '[tests]\nchosen = ["mcnemar_exact", "mcnemar_plain"]\njustification = "both"\n')
    assert "2 tests are chosen by hand for one question" in str(error.value)


@pytest.mark.usefixtures("table")
def test_non_inferiority_to_a_reference_record_is_decided_by_the_plan(tmp_path):
    better = assess(truth=["no", "yes"] * 200, predicted=["no", "yes"] * 200, positive="yes")
    better.save(tmp_path / "reference.json")
    text = '[data.test]\npath = "test.csv"\n[models.A]\npredicted = "a"\n'
    held = 'against = "reference.json"\naccept = ["recall non-inferior margin 0.02", "recall >= 0.5"]\n'
    one = planned(tmp_path, text, held)[""]
    verdicts = {str(x.criterion): str(x.verdict) for x in one.decisions}
    assert verdicts == {"recall non-inferior margin 0.02": "fail", "recall >= 0.5": "pass"}
    told = one.record["decisions"][0]["reference"]
    assert (told["name"], told["pairing"]) == ("reference.json", "unpaired")
    assert one.record["plan"]["accept"]["against"]["digest"] == better.record["digests"]["record"]
    assert one.record["decisions"][0]["family"] == 2
    assert verify(Record(json.loads(one.record.to_text()))).mismatches == ()


@pytest.mark.usefixtures("table")
def test_controls_tell_how_far_they_are_as_counting_does(tmp_path):
    heard = []

    @contextmanager
    def watching(what):
        heard.append((what, []))
        yield lambda done, total: heard[-1][1].append((done, total))

    (tmp_path / "plan.toml").write_text(HEAD + ONE, encoding="utf-8")
    run_planned(load_plan(tmp_path / "plan.toml"), watching=watching, working=watching)
    names = [what for what, _ in heard]
    assert len(names) == 5, "two models, each read and worked out, then the controls"
    assert names[1::2] == ["A", "B"]
    assert all(calls and calls[-1][0] == calls[-1][1] for _, calls in heard)


def test_the_costs_of_a_plan_hold_for_its_comparisons(table, tmp_path):
    stated = "[metrics.costs.yes]\nno = 10.0\n[metrics.costs.no]\nyes = 1.0\n"
    record = planned(tmp_path, ONE, stated)["A"].record
    want = expected(table, costs={("yes", "no"): 10, ("no", "yes"): 1})
    assert record["comparisons"][0]["answers"][0]["question"] == "cost"
    assert facts(record["findings"]) == facts([one.to_json() for one in want.findings])
    assert verify(record).holds
