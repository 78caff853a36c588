# SPDX-License-Identifier: Apache-2.0
"""Models on different rows: held to a margin, and compared by the scores of all classes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import assay
from assay.assess.record.verification import verify
from assay.inference.intervals.proportion import recovered, wilson
from assay.inference.tests_catalogue import find_test
from assay.tally.labels.confusion import Confusion
from assay.tally.paired.different_rows import Apart
from tests import flat

rng = np.random.default_rng(11)
K = ("cat", "cow", "dog")


def _classes(n, gain):
    truth = rng.integers(0, 3, n)
    s = rng.normal(size=(n, 3)) + np.eye(3)[truth] * gain
    p = np.exp(s) / np.exp(s).sum(axis=1, keepdims=True)
    return [K[i] for i in truth], p, [K[i] for i in p.argmax(axis=1)]


PARTS = {"A": _classes(160, 2.0), "B": _classes(220, 1.0)}


def _apart(rows) -> Apart:
    confusions = tuple(Confusion.from_cells({(1, 1): a, (1, 0): b}, labels=(0, 1)) for a, b in rows)
    return Apart(models=("A", "B"), labels=(0, 1), confusions=confusions)


@pytest.mark.parametrize("rows", [((56, 14), (48, 32)), ((90, 10), (91, 9)), ((40, 0), (35, 5)), ((20, 5), (40, 1))])
@pytest.mark.parametrize("margin", [0.02, 0.1, 0.3])
def test_a_margin_is_met_where_the_one_sided_bounds_of_newcombe_say_so(rows, margin):
    ends = [wilson(a, a + b, 0.90) for a, b in rows]
    low, high = recovered(rows[0][0] / sum(rows[0]), ends[0], rows[1][0] / sum(rows[1]), ends[1])
    t = _apart(rows)
    found = find_test("apart_non_inferiority")(t, margin=margin)
    assert (found.p <= 0.05) == (low >= -margin)
    assert (find_test("apart_equivalence")(t, margin=margin).p <= 0.05) == (low >= -margin and high <= margin)
    wide = [wilson(a, a + b, 0.95) for a, b in rows]
    assert (found.effect.interval.low, found.effect.interval.high) == pytest.approx(
        recovered(rows[0][0] / sum(rows[0]), wide[0], rows[1][0] / sum(rows[1]), wide[1])
    )
    assert found.alternative == "greater"
    assert f"margin {margin:g}" in found.notes[-1]


def test_a_measure_that_should_be_low_is_held_to_its_margin_the_other_way():
    t = _apart(((95, 5), (70, 30)))
    better = find_test("apart_non_inferiority")(t, margin=0.05, measure="misclassification_rate")
    assert better.effect.value == pytest.approx(-0.25)
    assert better.p < 0.001
    worse = find_test("apart_non_inferiority")(t.only("B", "A"), margin=0.05, measure="misclassification_rate")
    assert worse.p > 0.9


def test_margins_are_asked_of_accuracy_and_area_and_verified():
    y = {"A": rng.integers(0, 2, 300), "B": rng.integers(0, 2, 200)}
    s = {m: one + rng.normal(size=len(one)) for m, one in y.items()}
    given = {"truth": y, "predicted": {m: (one > 0.5).astype(int) for m, one in s.items()}, "score": s}
    c = flat.compare(**given, positive=1, independent=True, margin=0.2)
    margins = [one for one in c.findings if one.test == "apart_non_inferiority"]
    assert [one.about for one in margins] == ["accuracy", "auroc"]
    assert all("different rows" in one.label for one in margins)
    assert verify(c.record).holds
    both = flat.compare(**given, positive=1, independent=True, margin=0.3, equivalence=True)
    assert both["apart_equivalence"].p <= 0.05
    with pytest.raises(assay.PlanError, match="one-sided"):
        flat.compare(**given, positive=1, independent=True, margin=0.2, level=0.6)
    more = {"truth": {**y, "C": y["A"]}, "predicted": {**given["predicted"], "C": given["predicted"]["A"]}}
    with pytest.raises(assay.PlanError, match="more than two models"):
        flat.compare(**more, positive=1, independent=True, margin=0.2)


def test_scores_of_all_classes_are_compared_by_the_intervals_of_both(tmp_path):
    c = assay.compare(
        truth={m: one[0] for m, one in PARTS.items()},
        score={m: dict(zip(K, one[1].T, strict=True)) for m, one in PARTS.items()},
        tests=assay.TestSettings(independent=True),
        measures=["log_loss_multiclass", "top_k_accuracy(k=2)"],
    )
    assert [one.about for one in c.findings] == ["auroc_macro", "log_loss_multiclass", "top_k_accuracy(k=2)"]
    for one in c.findings:
        for model, effect in zip("AB", one.more, strict=True):
            truth, p, _ = PARTS[model]
            columns = dict(zip(K, p.T, strict=True))
            own = assay.assess(
                truth=truth, score=columns, scores=assay.ScoreSettings(kind="probability"), measures=[one.about]
            )[one.about]
            assert effect.value == pytest.approx(own.value)
            assert (effect.interval.low, effect.interval.high) == pytest.approx((own.low, own.high))
    assert c["auroc_macro"].p < 0.01
    assert c["log_loss_multiclass"].effect.value < 0
    assert [place.model for place in c.ranking] == ["A", "B"]
    assert verify(c.record).holds
    assert dict(assay.load(c.save(tmp_path / "c.json")).record) == dict(c.record)
    assert "different rows" in c.report(tmp_path / "c.md").read_text()


def test_classes_of_columns_may_come_in_any_order_and_must_be_the_same():
    truth = {m: one[0] for m, one in PARTS.items()}
    plain = {m: dict(zip(K, one[1].T, strict=True)) for m, one in PARTS.items()}
    turned = {"A": plain["A"], "B": {label: plain["B"][label] for label in K[::-1]}}
    a, b = (
        assay.compare(truth=truth, score=s, tests=assay.TestSettings(independent=True, margin=0.1))
        for s in (turned, plain)
    )
    assert a.findings == b.findings
    assert [one.test for one in a.findings] == ["apart_difference", "apart_non_inferiority"]
    other = {"A": plain["A"], "B": dict(zip(("cat", "cow", "cod"), PARTS["B"][1].T, strict=True))}
    with pytest.raises(assay.AssayError):
        assay.compare(truth=truth, score=other, tests=assay.TestSettings(independent=True))


def test_tables_with_a_score_of_every_class_and_predictions(tmp_path):
    paths = []
    for m, (truth, p, called) in PARTS.items():
        frame = pd.DataFrame({"y": truth, "p": called, **dict(zip(K, p.T, strict=True))})
        paths.append(tmp_path / f"{m}.csv")
        frame.to_csv(paths[-1], index=False)
    c = assay.compare(
        *paths, truth="y", predicted="p", score=dict(zip(K, K, strict=True)), tests=assay.TestSettings(independent=True)
    )
    assert {"accuracy", "auroc_macro", "f1_macro"} <= {one.about for one in c.findings}
    assert verify(c.record).holds
