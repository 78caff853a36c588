# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest

from assay.assess.assess import assess
from assay.assess.assessment import Assessment
from assay.assess.decide.criteria import EXIT, Verdict
from assay.assess.decide.decision import decide
from assay.assess.decide.references import Paired
from assay.assess.record.record import Record, schema
from assay.core.errors import PlanError
from assay.inference.intervals.proportion import wilson
from assay.inference.multiplicity import holm
from assay.tally.census import Census
from assay.tally.paired.joint_cells import PairedLabels
from assay.tasks.classification import CLASSIFICATION
from assay.tasks.classification.settings import Settings
from assay.tasks.classification.tally import Classified
from tests import flat


def two(hits, positives, right, negatives, **more):
    """An assessment of a table of four cells."""
    cells = [[right, negatives - right], [positives - hits, hits]]
    return flat.assess(confusion=cells, orientation="rows=truth", labels=["no", "yes"], positive="yes", **more)


def verdicts(assessment, *criteria, **more):
    return [str(one.verdict) for one in decide(assessment, criteria, **more)]


def test_a_guarded_criterion_passes_fails_or_is_open_by_its_interval():
    a = two(90, 100, 90, 100)
    low, high = wilson(90, 100, 0.95)
    for limit, wanted in ((low - 0.001, "pass"), (low + 0.001, "inconclusive"), (high - 0.001, "inconclusive"),
                          (high + 0.001, "fail")):  # fmt: skip
        assert verdicts(a, f"recall >= {limit}") == [wanted]
        mirrored = {"pass": "fail", "fail": "pass"}.get(wanted, wanted)
        assert verdicts(a, f"recall <= {limit}") == [mirrored]


def test_the_limit_itself_belongs_to_the_good_side_only_with_an_equals_sign():
    a = two(100, 100, 50, 100)
    assert verdicts(a, "recall >= 1 simple", "recall > 1 simple") == ["pass", "fail"]
    assert verdicts(a, "false_negative_rate <= 0 simple", "false_negative_rate < 0 simple") == ["pass", "fail"]


def test_guarded_rejection_gives_the_benefit_of_the_doubt_and_simple_looks_at_the_value():
    a = two(90, 100, 90, 100)
    assert verdicts(a, "recall >= 0.92") == ["inconclusive"]
    assert verdicts(a, "recall >= 0.92 guarded rejection") == ["pass"]
    assert verdicts(a, "recall >= 0.92 simple") == ["fail"]
    assert verdicts(a, "recall >= 0.99 guarded rejection") == ["fail"]


@pytest.mark.parametrize("rule", ["", "simple", "guarded acceptance", "guarded rejection"])
@pytest.mark.parametrize("side", [">=", "<=", ">", "<"])
def test_an_undefined_value_never_passes(rule, side):
    a = assess(truth=[0, 0, 0, 0], predicted=[0, 0, 0, 0], labels=[0, 1], positive=1)
    found = decide(a, [f"recall {side} 0.5 {rule}"])[0]
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "undefined" in found.why


def test_a_guarded_criterion_without_an_interval_is_never_decided():
    a = assess(truth=["a"] * 5, predicted=["a"] * 5)
    assert verdicts(a, "f1_macro >= 0.5", "f1_macro >= 0.5 simple") == ["inconclusive", "pass"]


def test_counts_are_facts_that_need_no_interval():
    found = decide(two(90, 100, 90, 100), ["true_positives >= 90", "true_positives >= 91", "recall >= 0.8"])
    assert [str(one.verdict) for one in found] == ["pass", "fail", "pass"]
    assert found[0].false_pass == 0
    assert found[2].family == 1


def test_a_family_is_decided_exactly_as_holm_decides_its_p_values():
    rng = np.random.default_rng(5)
    from scipy.optimize import brentq

    for _ in range(60):
        hits, limit = int(rng.integers(70, 99)), rng.uniform(0.7, 0.95, 4).round(3)
        a = two(hits, 100, 90, 100)
        share = hits / 100

        def p(bound, hits=hits, share=share):
            """One minus the level at which the Wilson interval just reaches the bound."""
            end = 0 if share > bound else 1
            reach = lambda level: wilson(hits, 100, level)[end] - bound  # noqa: E731
            return 1 - brentq(reach, 1e-9, 1 - 1e-12) if reach(1 - 1e-12) * reach(1e-9) < 0 else float(share == bound)

        decided = [q <= 0.05 for q in holm([p(x) for x in limit])]
        found = decide(a, [f"recall >= {x}" for x in limit])
        assert [one.verdict is not Verdict.INCONCLUSIVE for one in found] == decided


def test_more_criteria_never_make_one_easier_and_no_correction_leaves_each_alone():
    a = two(90, 100, 90, 100)
    low, _ = wilson(90, 100, 0.95)
    alone = f"recall >= {low - 0.001}"
    others = [f"recall >= {0.9 + i / 1000}" for i in range(9)]
    assert verdicts(a, alone) == ["pass"]
    assert verdicts(a, alone, *others)[0] == "inconclusive"
    assert verdicts(a, alone, *others, correction="none")[0] == "pass"
    assert decide(a, [alone, *others])[0].false_pass == pytest.approx(0.0025)


def test_the_verdict_of_all_is_the_worst_and_the_exit_codes_follow():
    a = two(90, 100, 90, 100)
    for criteria, wanted, code in (
        (["recall >= 0.5", "recall >= 0.99"], "fail", 1),
        (["recall >= 0.5", "recall >= 0.9"], "inconclusive", 3),
        (["recall >= 0.5"], "pass", 0),
        ([], "inconclusive", 3),
    ):
        found = decide(a, criteria)
        assert (str(found.verdict), found.exit_code) == (wanted, code)
    assert EXIT[Verdict.FAIL] == 1


def test_classes_and_groups_can_be_named_or_taken_each():
    rng = np.random.default_rng(2)
    truth = rng.choice(["cat", "dog", "owl"], 900)
    called = np.where(rng.random(900) < 0.9, truth, "cat")
    a = assess(truth=truth, predicted=called, group={"camera": rng.integers(1, 4, 900)})
    found = decide(a, ["recall[class=*] >= 0.5", "f1_macro{camera=*} >= 0.5", "recall[class=dog]{camera=2} >= 0.5"])
    assert [str(one.criterion) for one in found] == [
        *(f"recall[class={x}] >= 0.5" for x in ("cat", "dog", "owl")),
        *(f"f1_macro{{camera={x}}} >= 0.5" for x in (1, 2, 3)),
        "recall[class=dog]{camera=2} >= 0.5",
    ]
    assert found[3].value == a.by_group["camera"][1]["f1_macro"].value
    assert found[6].value == a.by_group["camera"][2].by_class["dog"]["recall"].value
    for text, told in (
        ("recall >= 0.5", "recall[class=cat]"),
        ("f1_macro[class=cat] >= 0.5", "f1[class=cat]"),
        ("recall[class=cta] >= 0.5", '"cat"'),
        ("f1_macro{camrea=1} >= 0.5", '"camera"'),
        ("f1_macro{camera=7} >= 0.5", "no level"),
    ):
        with pytest.raises(PlanError) as error:
            decide(a, [text])
        assert told in str(error.value)


def test_as_many_rows_as_are_said_to_be_needed_do_decide_four_times_in_five():
    rng = np.random.default_rng(11)
    found = decide(two(90, 100, 90, 100), ["recall >= 0.88"])[0]
    assert found.verdict is Verdict.INCONCLUSIVE
    positives = found.needed.rows // 2
    hits = rng.binomial(positives, 0.9, 2000)
    passed = np.mean([wilson(int(x), positives, 0.95)[0] >= 0.88 for x in hits])
    assert 0.77 < passed < 0.83


def test_rows_at_the_limit_are_never_enough():
    found = decide(two(90, 100, 90, 100), ["recall >= 0.9"])[0]
    assert found.needed.rows is None
    assert "at the limit" in found.needed.why


def test_weighted_rows_and_measures_that_are_no_shares_get_a_number_of_rows_too():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 200)
    called = np.where(rng.random(200) < 0.85, truth, 1 - truth)
    a = assess(truth=truth, predicted=called, weight=rng.choice([0.5, 1.0, 2.0], 200))
    value = a["matthews_corrcoef"].value
    for one in decide(a, [f"matthews_corrcoef >= {value - 0.01}", f"recall >= {a['recall'].value - 0.01}"]):
        assert one.verdict is Verdict.INCONCLUSIVE
        assert one.needed.rows > 200


def test_non_inferiority_passes_fails_or_is_open_by_the_interval_of_the_difference():
    reference = two(900, 1000, 900, 1000)
    text = "recall non-inferior margin 0.03"
    for hits, wanted in ((930, "pass"), (905, "pass"), (890, "inconclusive"), (860, "fail")):
        a = two(hits, 1000, 900, 1000).accept(text, against=reference)
        assert str(a.decisions.verdict) == wanted
    found = a.decisions[0].to_json()
    assert found["reference"]["pairing"] == "unpaired"
    assert "unpaired" in found["why"]


def test_of_a_measure_where_low_is_good_worse_is_higher():
    reference = two(900, 1000, 900, 1000)
    text = "false_negative_rate non-inferior margin 0.03"
    assert str(two(940, 1000, 900, 1000).accept(text, against=reference).decisions.verdict) == "pass"
    assert str(two(840, 1000, 900, 1000).accept(text, against=reference).decisions.verdict) == "fail"


def test_a_reference_of_other_classes_or_none_at_all_is_refused():
    a = two(90, 100, 90, 100)
    with pytest.raises(PlanError, match="needs a reference"):
        a.accept("recall non-inferior margin 0.02")
    other = assess(truth=[0, 1], predicted=[0, 1])
    with pytest.raises(PlanError, match="positive class"):
        a.accept("recall non-inferior margin 0.02", against=other)


def test_a_level_the_reference_never_saw_is_not_decided():
    def grouped(levels):
        return assess(truth=[0, 1] * 50, predicted=[0, 1] * 50, group={"sex": levels * (100 // len(levels))})

    a = grouped(["f", "m"]).accept("recall{sex=*} non-inferior margin 0.5", against=grouped(["m", "m"]))
    assert [str(one.verdict) for one in a.decisions] == ["inconclusive", "pass"]
    assert "no rows with sex" in a.decisions[0].why


def test_decisions_stand_in_the_record_and_come_back_from_it(tmp_path):
    reference = two(880, 1000, 900, 1000, level=0.9)
    a = two(900, 1000, 900, 1000).accept(
        "recall >= 0.8", "recall non-inferior margin 0.05", "f1 >= 0.99 simple", against=reference, name="old"
    )
    record = a.record
    jsonschema.validate(dict(record), schema())
    assert [one["verdict"] for one in record["decisions"]] == ["pass", "pass", "fail"]
    assert record["plan"]["accept"]["criteria"][1] == "recall non-inferior margin 0.05"
    assert record["decisions"][1]["reference"]["name"] == "old"
    a.save(tmp_path / "a.json")
    back = Assessment.from_record(Record.load(tmp_path / "a.json"))
    assert json.loads(back.record.to_text()) == json.loads(record.to_text())
    assert two(90, 100, 90, 100).record["decisions"] == []


def test_criteria_that_cannot_be_read_are_told_before_anything_else_happens():
    with pytest.raises(PlanError, match="no criterion"):
        two(90, 100, 90, 100).accept()
    with pytest.raises(PlanError, match="not a correction"):
        two(90, 100, 90, 100).accept("recall >= 0.5", correction="hlom")


def paired(cells, positive="yes"):
    """The first model of a paired tally, and its reference."""
    tally = PairedLabels.from_cells(cells, models=("new", "old"), labels=("no", "yes"))
    counts = Classified(confusion=tally.confusion("new"), positive=positive)
    new = Assessment(CLASSIFICATION, counts, Settings(), census=Census(read=tally.n, scored=tally.n))
    return new, Paired(tally=tally, positive=positive)


def test_a_few_rows_without_any_dispute_show_nothing_and_many_do():
    for rows, wanted in ((3, "inconclusive"), (60, "inconclusive"), (2000, "pass")):
        new, against = paired({("yes", "yes", "yes"): rows, ("no", "no", "no"): rows})
        for measure in ("recall", "accuracy", "f1", "matthews_corrcoef"):
            found = new.accept(f"{measure} non-inferior margin 0.02", against=against).decisions[0]
            assert (str(found.verdict), found.reference["pairing"]) == (wanted, "paired"), measure


def test_on_the_same_rows_a_smaller_loss_is_found():
    cells = {("yes", "yes", "yes"): 850, ("yes", "no", "yes"): 40, ("yes", "yes", "no"): 5, ("yes", "no", "no"): 105,
             ("no", "no", "no"): 1000}  # fmt: skip
    new, against = paired(cells)
    for measure in ("recall", "f1"):
        assert str(new.accept(f"{measure} non-inferior margin 0.02", against=against).decisions.verdict) == "fail"
    counts = Classified(confusion=against.tally.confusion("old"), positive="yes")
    old = Assessment(CLASSIFICATION, counts, Settings(), census=new.census)
    unpaired = new.accept("recall non-inferior margin 0.02", against=old).decisions[0]
    assert "unpaired" in unpaired.why
    width = unpaired.reference["difference_high"] - unpaired.reference["difference_low"]
    found = new.accept("recall non-inferior margin 0.02", against=against).decisions[0].reference
    assert found["difference_high"] - found["difference_low"] < width
