# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from assay.assess.assess import assess
from assay.assess.compare.compare import compare
from assay.assess.decide.claims import Answer, Claim, Contenders, answered
from assay.assess.decide.criteria import spoken_of
from assay.assess.decide.plan_results import standing_of
from assay.assess.plan.checked_plan import planned
from assay.assess.record.record import Record, sealed
from assay.assess.record.verification import verify
from assay.core.errors import PlanError
from assay.inference import decision_words
from tests.layers.assess.examples import example


def claim(**given):
    document = {"models": {"A": {"predicted": "a"}, "B": {"predicted": "b"}}, "claims": [given]}
    return Claim.of_plan(planned(document).plan.claims[0])


def two(n=400, a=0.9, b=0.9, seed=1):
    """Two models that are right so often, on the same rows."""
    rng = np.random.default_rng(seed)
    truth = np.array(["ill", "well"])[(np.arange(n) % 2)]
    other = {"ill": "well", "well": "ill"}
    calls = {}
    for name, right in (("A", a), ("B", b)):
        calls[name] = [x if rng.random() < right else other[x] for x in truth]
    models = {name: assess(truth=truth, predicted=one, positive="ill") for name, one in calls.items()}
    comparison = compare(truth=list(truth), predicted=calls, positive="ill")
    return Contenders(models=models, paired=comparison.paired), comparison


def answer(found, *claims, correction="holm"):
    return [str(one.answer) for one in answered(claims, found, correction)]


def test_a_claim_about_a_number_is_answered_by_the_interval():
    found, _ = two()
    recall = found.models["A"]["recall"]
    low, high = proportion_confint(recall.numerator, recall.denominator, method="wilson")
    for limit, word in ((low - 0.001, "supported"), (high + 0.001, "contradicted"), (recall.value, "not decidable")):
        assert answer(found, claim(model="A", measure="recall", at_least=float(limit))) == [word]
    one = answered([claim(model="A", measure="recall", at_least=float(low) - 0.001)], found)[0]
    assert (one.interval.low, one.interval.high) == pytest.approx((low, high))
    assert answer(found, claim(model="A", measure="false_negative_rate", at_most=float(1 - low) + 0.001)) == [
        "supported"
    ]


def test_the_family_is_corrected_by_holm():
    found, _ = two()
    recall = found.models["A"]["recall"]
    low, _ = proportion_confint(recall.numerator, recall.denominator, method="wilson")
    strict, _ = proportion_confint(recall.numerator, recall.denominator, alpha=0.025, method="wilson")
    near = claim(model="A", measure="recall", at_least=float((low + strict) / 2))
    open_ = claim(model="B", measure="recall", at_least=float(found.models["B"]["recall"].value))
    easy = claim(model="B", measure="recall", at_least=0.2)
    assert answer(found, near) == ["supported"]
    assert answer(found, near, open_) == ["not decidable", "not decidable"], "two open questions share the risk"
    assert answer(found, near, easy) == ["supported", "supported"], "one that settles gives its share back"
    assert answer(found, near, open_, correction="none") == ["supported", "not decidable"]
    told = answered([near, open_], found)[0].to_json()
    assert told["family"] == 2
    assert told["risk"] == 0.0125
    assert told["level"] == pytest.approx(0.975)


def test_models_on_the_same_rows_are_compared_in_pairs():
    found, comparison = two(a=0.95, b=0.8)
    better = answered([claim(model="A", measure="accuracy", better_than="B")], found)[0]
    assert better.answer is Answer.SUPPORTED
    assert better.pairing == "paired"
    right, only_a, only_b, wrong = comparison.paired.outcomes("A", "B").counts.values()
    assert mcnemar([[right, only_a], [only_b, wrong]], exact=True).pvalue < 0.05
    apart = answered([claim(model="A", measure="accuracy", better_than="B")], Contenders(models=found.models))[0]
    assert apart.pairing == "unpaired"
    assert apart.answer is Answer.SUPPORTED


@pytest.mark.parametrize(
    ("stated", "word"),
    [
        ({"model": "A", "at_least": "B"}, "supported"),
        ({"model": "B", "at_least": "A"}, "contradicted"),
        ({"model": "B", "at_least": "A", "margin": 0.3}, "supported"),
        ({"model": "A", "better_than": "B"}, "supported"),
        ({"model": "A", "better_than": "B", "margin": 0.3}, "contradicted"),
        ({"model": "B", "better_than": "A"}, "contradicted"),
        ({"model": "A", "equivalent_to": "B", "margin": 0.3}, "supported"),
        ({"model": "A", "equivalent_to": "B", "margin": 0.02}, "contradicted"),
        ({"model": "A", "equivalent_to": "B", "margin": 0.15}, "not decidable"),
    ],
)
def test_every_relation_has_three_answers(stated, word):
    found, _ = two(a=0.95, b=0.8, seed=3)
    for measure in ("accuracy", "error_rate"):  # of errors fewer are better, and the answers stay
        assert answer(found, claim(measure=measure, **stated)) == [word], measure


def test_an_open_claim_says_how_many_rows_would_decide_it():
    found, _ = two(n=200)
    one = answered([claim(model="A", measure="accuracy", better_than="B")], found)[0]
    assert one.answer is Answer.OPEN
    assert one.needed.rows > 200
    assert "would decide 4 times in 5" in one.needed.why


def test_a_claim_on_a_measure_that_is_blind_on_one_side_has_its_counterpart_beside_it():
    found, _ = two()
    told = answered([claim(model="A", measure="recall", at_least=0.5)], found)[0].to_json()
    assert set(told["beside"]) == {"precision", "specificity"}
    assert told["n"] == 200
    assert told["n_by_class"] == {"ill": "200", "well": "200"}


def test_a_star_claims_each_class():
    found, _ = two()
    assert len(answered([claim(model="A", measure="recall[class=*]", at_least=0.5)], found)) == 2


@given(low=st.floats(-1, 1), width=st.floats(0, 1), margin=st.floats(0, 0.9))
@settings(max_examples=60)
def test_no_interval_both_supports_and_contradicts_and_wider_ones_only_open(low, width, margin):
    from assay.assess.decide.claims import Relation, _placed

    for relation in (Relation.NOT_WORSE, Relation.BETTER, Relation.EQUIVALENT):
        one = Claim(model="A", of=spoken_of("recall"), relation=relation, limit=margin, reference="B")
        narrow, _ = _placed(one, low, low + width)
        wide, _ = _placed(one, low - 0.1, low + width + 0.1)
        assert wide in (narrow, Answer.OPEN)


def test_claims_come_back_from_json():
    for stated in ({"at_least": 0.5}, {"at_most": 0.5}, {"better_than": "B"}, {"equivalent_to": "B", "margin": 0.1}):
        one = claim(model="A", measure="recall[class=ill]{sex=f}", about="algorithm", words="w", **stated)
        assert Claim.from_json(one.to_json()) == one


def test_a_model_that_was_not_counted_cannot_be_claimed_about():
    found, _ = two()
    with pytest.raises(PlanError) as error:
        answered([claim(model="C", measure="recall", at_least=0.5)], found)
    assert "nothing was counted" in str(error.value)


def test_the_record_holds_claims_and_findings_and_is_verified_from_its_tallies():
    found, comparison = two(a=0.95, b=0.8)
    stated = [
        claim(model="A", measure="accuracy", better_than="B"),
        claim(model="B", measure="recall", at_least=0.5),
        claim(model="A", measure="recall", at_least=0.9),
    ]
    one = found.models["A"].beside(standing_of("A", found.models, compared=[comparison], claims=stated))
    record = Record(dict(one.record))
    assert [x["answer"] for x in record["claims"]] == answer(found, *stated)
    assert record["findings"] == comparison.record["findings"]
    held = verify(record)
    assert held.mismatches == ()
    assert held.checked["claims"] > 50
    assert held.checked["comparisons"] > 50
    for part, key, value in (
        ("claims", "answer", "contradicted"),
        ("claims", "difference", 0.5),
        ("findings", "p", 0.5),
    ):
        changed = [{**record[part][0], key: value}, *record[part][1:]]
        told = verify(Record(sealed({**record, part: changed})))
        assert f"{part}[0].{key}" in {x.path for x in told.mismatches}


def test_areas_are_compared_by_delong_where_scores_are_paired():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 300)
    scores = {"A": truth + rng.normal(0, 0.6, 300), "B": truth + rng.normal(0, 1.2, 300)}
    models = {
        name: assess(truth=truth, score=one, threshold=0.5, measures=["auroc", "recall"])
        for name, one in scores.items()
    }
    comparison = compare(truth=truth, score=scores)
    found = Contenders(models=models, scores=comparison.scores)
    one = answered([claim(model="A", measure="auroc", better_than="B")], found)[0]
    assert one.answer is Answer.SUPPORTED
    assert one.pairing == "paired"
    effect = comparison["delong"].effect
    assert (one.interval.low, one.interval.high) == pytest.approx((effect.interval.low, effect.interval.high))


def test_the_worked_example_compares_its_models_and_answers_its_claims():
    for part in example("clean"):
        record = part.judged().record
        assert len(record["findings"]) >= 2
        assert record["plan"]["not_compared"] is None
        assert [one["answer"] for one in record["claims"]] == ["supported", "not decidable"]
        by = {
            f"{one['check']}:{one['part']}": one["verdict"] for one in record["controls"] if one["check"] == "CHK-CLAIM"
        }
        assert by == {
            "CHK-CLAIM:answers": "suspect", "CHK-CLAIM:accuracy": "pass", "CHK-CLAIM:estimand": "pass",
            "CHK-CLAIM:credit": "pass",
        }  # fmt: skip
        assert next(one["verdict"] for one in record["controls"] if one["check"] == "CHK-SIG") == "pass"


def test_claims_about_very_many_subjects_are_answered_by_the_large_sample_test(monkeypatch):
    monkeypatch.setattr(decision_words, "MANY_UNITS", 300)
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 1200)
    calls = {name: np.where(rng.random(1200) < right, truth, 1 - truth) for name, right in (("A", 0.9), ("B", 0.8))}
    models = {name: assess(truth=truth, predicted=one) for name, one in calls.items()}
    summed = compare(truth=truth, predicted=calls, unit=np.arange(1200) // 3)
    for measure in ("accuracy", "recall"):
        asked = claim(model="A", measure=measure, better_than="B")
        one = answered([asked], Contenders(models=models, rows=summed.rows))[0]
        assert (one.answer, one.pairing) == (Answer.SUPPORTED, "paired")
        want = summed[measure].effect.interval
        assert (one.interval.low, one.interval.high) == (want.low, want.high)
    standing = standing_of("A", models, compared=[summed], claims=[claim(model="A", measure="recall", better_than="B")])
    assert standing.answers(models["A"])[0].answer is Answer.SUPPORTED
