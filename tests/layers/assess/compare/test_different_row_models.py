# SPDX-License-Identifier: Apache-2.0
"""Models on different rows, and batches of one model: only on a stated word, and every output says so."""

from __future__ import annotations

import jsonschema
import numpy as np
import pandas as pd
import pytest
import scipy.stats as ss

import assay
from assay.assess.record.record import schema
from assay.assess.record.verification import verify
from assay.inference.tests.independent_models import apart_difference
from assay.tally.labels.confusion import Confusion
from assay.tally.paired.different_rows import Apart
from tests import flat

rng = np.random.default_rng(5)
SIZES = {"jan": 240, "feb": 300, "mar": 180}
GAINS = {"jan": 1.8, "feb": 1.7, "mar": 0.6}
Y = {name: rng.integers(0, 2, n) for name, n in SIZES.items()}
S = {name: Y[name] * GAINS[name] + rng.normal(size=SIZES[name]) for name in SIZES}
P = {name: (S[name] > 0.7).astype(int) for name in SIZES}
TWO = {"truth": {m: Y[m] for m in ("jan", "mar")}, "predicted": {m: P[m] for m in ("jan", "mar")},
       "score": {m: S[m] for m in ("jan", "mar")}, "positive": 1, "independent": True}  # fmt: skip


def table(name):
    return pd.DataFrame({"y": Y[name], "p": P[name], "s": S[name]})


def test_different_rows_are_refused_unless_that_is_said():
    tables = {m: table(m).assign(id=[f"{m}{i}" for i in range(SIZES[m])]) for m in ("jan", "mar")}
    with pytest.raises(assay.UnpairedRows) as error:
        assay.compare(data=tables, truth="y", predicted="p", id="id", positive=1)
    assert "independent=True" in error.value.fix
    assert "--independent" in error.value.typed
    c = assay.compare(
        data={m: table(m) for m in tables},
        truth="y",
        predicted="p",
        positive=1,
        tests=assay.TestSettings(independent=True),
    )
    assert all("tested on different rows" in one.label for one in c.findings)
    assert all("different rows" in one.choice.label for one in c.answers)


def test_the_tests_are_those_of_independent_samples(tmp_path):
    c = flat.compare(**TWO, measures=["f1", "average_precision"])
    assert [(one.about, one.test) for one in c.findings] == [
        ("accuracy", "two_shares"), ("recall", "two_shares"), ("specificity", "two_shares"),
        ("auroc", "delong_unpaired"), ("f1", "apart_difference"), ("average_precision", "apart_difference"),
    ]  # fmt: skip
    right = [int((P[m] == Y[m]).sum()) for m in ("jan", "mar")]
    pooled = sum(right) / (SIZES["jan"] + SIZES["mar"])
    z = (right[0] / 240 - right[1] / 180) / np.sqrt(pooled * (1 - pooled) * (1 / 240 + 1 / 180))
    assert c["accuracy"].p == pytest.approx(2 * ss.norm.sf(abs(z)))
    assert {one.adjusted.of for one in c.answers[1].findings} == {2}
    jsonschema.validate(dict(c.record), schema("comparison"))
    assert dict(assay.load(c.save(tmp_path / "c.json")).record) == dict(c.record)
    assert verify(c.record).holds
    for ending in ("html", "md"):
        assert "5.3.5" in c.report(tmp_path / f"c.{ending}").read_text()
    assert "different rows" in str(c)
    assert [place.model for place in c.ranking] == ["jan", "mar"]


def test_batches_are_held_against_the_first_and_corrected():
    tables = {m: table(m) for m in SIZES}
    c = assay.compare(
        data=tables,
        truth="y",
        predicted="p",
        score="s",
        positive=1,
        tests=assay.TestSettings(independent=True, control="jan"),
    )
    about = [one for one in c.findings if one.about == "auroc"]
    assert [one.models for one in about] == [("feb", "jan"), ("mar", "jan")]
    assert about[1].significant
    assert about[1].p < about[0].p
    assert about[0].adjusted.of == 2
    every = assay.compare(data=tables, truth="y", predicted="p", positive=1, tests=assay.TestSettings(independent=True))
    assert len([one for one in every.findings if one.about == "accuracy"]) == 3


def test_few_rows_get_fishers_test_with_the_difference_as_effect():
    c = assay.compare(
        truth={"A": [1, 0] * 3, "B": [1, 0] * 4},
        positive=1,
        tests=assay.TestSettings(independent=True),
        predicted={"A": [1, 0] * 3, "B": [0, 0] * 4},
    )
    assert c["accuracy"].test == "fisher_exact"
    assert c["accuracy"].p == pytest.approx(ss.fisher_exact([[6, 0], [4, 4]])[1])
    assert c["accuracy"].effect.value == pytest.approx(0.5)


def test_p_and_interval_of_a_difference_agree_at_the_stated_level():
    cells = {(1, 1): 60, (1, 0): 30, (0, 1): 20, (0, 0): 90}
    other = {(1, 1): 70, (1, 0): 18, (0, 1): 15, (0, 0): 97}
    t = Apart(models=("A", "B"), labels=(0, 1), confusions=tuple(map(Confusion.from_cells, (cells, other))))
    for level in (0.8, 0.9, 0.95, 0.99):
        for name in ("f1", "matthews_corrcoef", "recall"):
            found = apart_difference(t, measure=name, positive=1, level=level)
            inside = found.effect.interval.low <= 0 <= found.effect.interval.high
            assert inside == (found.p > 1 - level)
    alike = apart_difference(t.only("A", "A"), measure="f1", positive=1)
    assert (alike.effect.value, alike.p) == (0.0, 1.0)


def test_unbalanced_classes_mark_accuracy_here_too():
    truth = {m: [1] * 20 + [0] * 180 for m in "AB"}
    called = {"A": [1] * 10 + [0] * 190, "B": [1] * 15 + [0] * 180 + [1] * 5}
    c = assay.compare(truth=truth, predicted=called, positive=1, tests=assay.TestSettings(independent=True))
    assert c.findings[0].about == "balanced_accuracy"
    assert "accuracy must not decide" in c["accuracy"].label
    assert "different rows" in c["accuracy"].label


def test_several_classes_on_different_rows():
    y = {m: rng.integers(0, 3, 90) for m in "AB"}
    p = {m: np.where(rng.random(90) < 0.7, y[m], 0) for m in "AB"}
    c = assay.compare(truth=y, predicted=p, tests=assay.TestSettings(independent=True))
    assert {one.about for one in c.findings} >= {"accuracy", "f1_macro", "matthews_corrcoef"}
    assert verify(c.record).holds


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"truth": Y["jan"]}, "a truth each"),
        ({"subject": [0]}, "unit speaks of rows that are alike"),
        ({"id": {"jan": [1], "mar": [2]}}, "id speaks"),
        ({"predicted": {"jan": P["jan"], "feb": P["feb"]}}, "different models"),
        ({"predicted": {"jan": P["jan"][:5], "mar": P["mar"]}}, "has 5"),
        ({"predicted": {"jan": [None, *P["jan"][1:].tolist()], "mar": P["mar"]}}, "1 row has no label"),
        ({"score": {"jan": np.c_[S["jan"], S["jan"]], "mar": S["mar"]}}, "same number of score columns"),
        ({"test": "mcnemar_exact", "because": "habit"}, "not admissible"),
        ({"test": "mcnemar_exact", "because": "habit", "override": True}, "no values to take"),
        ({"control": "may"}, "there is no model"),
        ({"measures": ["auroc_macro"]}, "scores of all classes"),
    ],
)
def test_what_different_rows_do_not_allow_is_refused(changed, says):
    with pytest.raises(assay.AssayError, match=says):
        flat.compare(**{**TWO, **changed})


@pytest.mark.parametrize(
    "more", [{"subject": [i // 4 for i in range(240)]}, {"weight": [1 + i % 2 for i in range(240)]}]
)
def test_margins_are_tested_for_subjects_and_weights(more):
    other = np.where(rng.random(240) < 0.03, 1 - P["jan"], P["jan"])
    given = {"truth": Y["jan"], "predicted": {"A": P["jan"], "B": other}, "positive": 1, **more}
    c = flat.compare(**given, score={"A": S["jan"], "B": S["jan"] + 0.1 * rng.normal(size=240)}, margin=0.1)
    found = [one for one in c.findings if one.test == "unit_non_inferiority"]
    assert [one.about for one in found] == ["accuracy", "auroc"]
    assert all(one.p < 0.01 for one in found)
    assert flat.compare(**given, margin=0.2, equivalence=True)["unit_equivalence"].p < 0.01
    assert flat.compare(**given, margin=0.0001, equivalence=True)["unit_equivalence"].p > 0.4
    assert verify(c.record).holds
    same = flat.compare(**{**given, "predicted": {"A": P["jan"], "B": P["jan"]}}, margin=0.1)
    assert same["unit_non_inferiority"].p is None
    assert "no variance" in same["unit_non_inferiority"].reason


def test_a_margin_of_one_row_a_subject_is_that_of_a_t_test():
    y, a = Y["feb"], P["feb"]
    b = np.where(rng.random(300) < 0.1, 1 - a, a)
    c = assay.compare(
        truth=y, predicted={"A": a, "B": b}, positive=1, subject=list(range(300)), tests=assay.TestSettings(margin=0.05)
    )
    gap = (a == y).astype(float) - (b == y)
    want = ss.ttest_1samp(gap, -0.05, alternative="greater")
    assert c["unit_non_inferiority"].statistic == pytest.approx(want.statistic, rel=0.03)
    assert c["unit_non_inferiority"].df == (299.0,)
