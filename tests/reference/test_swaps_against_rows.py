# SPDX-License-Identifier: Apache-2.0
"""score_permutation, subject_permutation and weighted_permutation beside swapping and resampling rows by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats as ss
from scipy.sparse import csr_array
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    brier_score_loss,
    f1_score,
    log_loss,
    roc_auc_score,
)

from assay.inference.units.class_score_units import judge_units
from assay.inference.units.judgement import _pool
from assay.inference.units.permutation_and_bootstrap import (
    class_score_permutation,
    score_permutation,
    subject_permutation,
    weighted_permutation,
)
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit

N = 60
rng = np.random.default_rng(21)
Y = np.arange(N) % 3 == 0
A, B = (np.round(1 / (1 + np.exp(-rng.normal(size=N) - gain * (2 * Y - 1))), 2) for gain in (0.9, 0.4))
WHO = rng.integers(0, 12, N)
W = rng.integers(1, 4, N) / 2


def average_precision(y, s):
    """By definition, tie by tie: thousands of calls of scikit-learn would take half a minute."""
    total, last = 0.0, 0.0
    for cut in np.unique(s)[::-1]:
        called = s >= cut
        recall = (called & y).sum() / y.sum()
        total, last = total + (recall - last) * (called & y).sum() / called.sum(), recall
    return total


def brier(y, s):
    return float(((s - y) ** 2).mean())


def f1(y, p):
    return 2 * float((y & p).sum()) / float(y.sum() + p.sum())


def accuracy(y, p, w):
    return float(((y == p) * w).sum() / w.sum())


def test_measures_by_hand_are_those_of_scikit_learn():
    for s in (A, B, np.round(A, 1)):
        assert average_precision(Y, s) == pytest.approx(average_precision_score(Y, s), rel=1e-12)
        assert brier(Y, s) == pytest.approx(brier_score_loss(Y, s), rel=1e-12)
        assert f1(Y, s > 0.5) == pytest.approx(f1_score(Y, s > 0.5), rel=1e-12)
        assert accuracy(Y, s > 0.5, W) == pytest.approx(accuracy_score(Y, s > 0.5, sample_weight=W), rel=1e-12)


def swapped(a, b, measure, by=None, times=1500):
    by = np.arange(N) if by is None else by
    out = []
    for _ in range(times):
        flip = (rng.random(by.max() + 1) < 0.5)[by]
        out.append(measure(np.where(flip, b, a)) - measure(np.where(flip, a, b)))
    return np.array(out)


@pytest.mark.parametrize(
    ("name", "measure", "ranks"),
    [("average_precision", average_precision, True), ("brier_score", brier, False)],
)
def test_swaps_of_scores_are_swaps_of_rows(name, measure, ranks):
    t = PairedScores.of(Y, {"A": A, "B": B})
    a, b = (ss.rankdata(A), ss.rankdata(B)) if ranks else (A, B)
    found = score_permutation(t, measure=name)
    gap = measure(Y, A) - measure(Y, B)
    assert found.effect.value == pytest.approx(gap, rel=1e-12)
    by_hand = swapped(a, b, lambda s: measure(Y, s))
    assert ss.ks_2samp(judge_units(t, name).swapped(3000, 1), by_hand).pvalue > 0.001
    assert found.p == pytest.approx((np.abs(by_hand) >= abs(gap) - 1e-12).mean(), abs=0.05)
    drawn = [measure(Y[at], A[at]) - measure(Y[at], B[at]) for at in rng.integers(0, N, (800, N))]
    assert ss.ks_2samp(judge_units(t, name).resampled(3000, 1, stratified=False), drawn).pvalue > 0.001


def test_joined_neighbours_spread_as_single_scores_do(monkeypatch):
    from assay.inference.units import class_score_units as units

    y = rng.random(1500) < 0.3
    a, b = rng.normal(size=(2, 1500)) + y
    t = PairedScores.of(y, {"A": a, "B": b})
    joined = judge_units(t, "average_precision")
    monkeypatch.setattr(units, "NEIGHBOURHOODS", 10_000)
    single = judge_units(t, "average_precision")
    assert joined.exact == single.exact
    for way in ("swapped", "resampled"):
        more = {} if way == "swapped" else {"stratified": False}
        spreads = [getattr(one, way)(600, 1, **more).std() for one in (joined, single)]
        assert spreads[0] == pytest.approx(spreads[1], rel=0.1)


def test_swaps_of_subjects_and_of_weighted_rows_are_swaps_of_rows():
    a, b = A > 0.5, B > 0.5
    columns = {"truth": Y.tolist(), "labels": (False, True), "models": ("A", "B"), "calls": [a.tolist(), b.tolist()]}
    by_subject = PerUnit.of(**columns, subject=WHO.tolist())
    by_hand = swapped(a, b, lambda p: f1(Y, p), WHO)
    ours = judge_units(by_subject, "f1", positive=True).swapped(3000, 1)
    assert ss.ks_2samp(ours, by_hand).pvalue > 0.001
    gap = f1(Y, a) - f1(Y, b)
    found = subject_permutation(by_subject, measure="f1", positive=True)
    assert found.effect.value == pytest.approx(gap)
    assert found.p == pytest.approx((np.abs(by_hand) >= abs(gap) - 1e-12).mean(), abs=0.05)
    members = [np.flatnonzero(s == WHO) for s in np.unique(WHO)]
    drawn = []
    for pick in rng.integers(0, len(members), (800, len(members))):
        at = np.concatenate([members[i] for i in pick])
        drawn.append(f1(Y[at], a[at]) - f1(Y[at], b[at]))
    assert (
        ss.ks_2samp(judge_units(by_subject, "f1", positive=True).resampled(3000, 1, stratified=False), drawn).pvalue
        > 0.001
    )
    weighted = PerUnit.of(**columns, weight=W)
    by_hand = swapped(a, b, lambda p: accuracy(Y, p, W))
    ours = judge_units(weighted, "accuracy", positive=True).swapped(3000, 1)
    assert ss.ks_2samp(ours, by_hand).pvalue > 0.001
    gap = accuracy(Y, a, W) - accuracy(Y, b, W)
    assert weighted_permutation(weighted).effect.value == pytest.approx(gap)


def test_swaps_of_rows_of_class_scores_are_swaps_of_rows():
    truth = np.arange(N) % 3
    a, b = (rng.normal(size=(N, 3)) + gain * np.eye(3)[truth] for gain in (1.5, 0.7))
    rows = {"truth": truth.tolist(), "labels": (0, 1, 2), "models": ("A", "B")}
    places = [ss.rankdata(one, axis=0) for one in (a, b)]
    chances = [np.exp(one) / np.exp(one).sum(axis=1, keepdims=True) for one in (a, b)]
    hand = {
        "auroc_macro": (places, a, b, lambda s: _areas(truth, s).mean()),
        "log_loss_multiclass": (chances, *chances, lambda s: -np.log(s[np.arange(N), truth]).mean()),
    }
    peers = {
        "auroc_macro": roc_auc_score(truth, chances[0], multi_class="ovr"),
        "log_loss_multiclass": log_loss(truth, chances[0]),
    }
    for name, (ready, first, second, measure) in hand.items():
        judged = judge_units(PerUnit.of(**rows, scores={"A": first, "B": second}), name, None)
        assert judged.exact[0] == pytest.approx(measure(ready[0]), rel=1e-12)
        if name == "log_loss_multiclass":
            assert judged.exact[0] == pytest.approx(peers[name], rel=1e-9)
        flips = rng.random((800, N, 1)) < 0.5
        by_hand = [measure(np.where(one, *ready[::-1])) - measure(np.where(one, *ready)) for one in flips]
        assert ss.ks_2samp(judged.swapped(3000, 1), by_hand).pvalue > 0.001
        found = class_score_permutation(PerUnit.of(**rows, scores={"A": first, "B": second}), measure=name)
        gap = measure(ready[0]) - measure(ready[1])
        assert found.effect.value == pytest.approx(gap)
        assert found.p == pytest.approx((np.abs(by_hand) >= abs(gap) - 1e-12).mean(), abs=0.05)
    of_chances = judge_units(PerUnit.of(**rows, scores={"A": chances[0], "B": chances[1]}), "auroc_macro", None)
    assert of_chances.exact[0] == pytest.approx(peers["auroc_macro"], rel=1e-12)
    picks = rng.integers(0, N, (800, N))
    drawn = [_areas(truth[at], a[at]).mean() - _areas(truth[at], b[at]).mean() for at in picks]
    judged = judge_units(PerUnit.of(**rows, scores={"A": a, "B": b}), "auroc_macro", None)
    assert ss.ks_2samp(judged.resampled(3000, 1, stratified=False), drawn).pvalue > 0.001


def _areas(truth, scores):
    own = truth[:, None] == np.arange(3)
    ranks = ss.rankdata(scores, axis=0)
    m = own.sum(axis=0)
    return ((ranks * own).sum(axis=0) - m * (m + 1) / 2) / (m * (len(truth) - m))


def test_units_that_swaps_move_alike_are_pooled_without_changing_the_mean_or_the_spread_of_the_swaps():
    draw = np.random.default_rng(6)
    moved = draw.integers(-1, 2, (80, 3)).astype(float)
    moved = moved[moved.any(axis=1)]
    count = draw.integers(1, 9, len(moved))
    kinds, sums, turned = _pool(csr_array(moved), count)
    kinds = kinds.toarray()
    assert len(kinds) == len(np.unique(np.concatenate([moved, -moved]), axis=0)) / 2
    assert sums.sum() == count.sum()
    assert (turned + sums @ kinds / 2).tolist() == (count @ moved / 2).tolist()
    assert ((kinds.T * sums) @ kinds).tolist() == ((moved.T * count) @ moved).tolist()


def test_leaving_out_one_unit_is_leaving_out_its_row():
    judged = judge_units(PairedScores.of(Y, {"A": A, "B": B}), "brier_score")
    found = np.repeat(judged.without(0, len(judged.count)), judged.count)
    rows = [np.arange(N) != left for left in range(N)]
    by_hand = [brier(Y[some], A[some]) - brier(Y[some], B[some]) for some in rows]
    assert sorted(found) == pytest.approx(sorted(by_hand), rel=1e-9)


def test_an_end_that_skewness_moves_beyond_all_draws_is_the_last_draw(monkeypatch):
    judged, draws = judge_units(PairedScores.of(Y, {"A": A, "B": B}), "brier_score"), np.linspace(-1, 1, 1001)
    for skew, at in ((0.6, 1), (-0.6, 0)):
        # One unit so far off brings a skewness of one over six times the root of how often it is there.
        pull, often = np.array([np.sign(skew)]), np.array([1 / (6 * abs(skew)) ** 2])
        monkeypatch.setattr(judged, "_pulls", lambda pull=pull, often=often: (pull, often))
        assert judged.bca(0.0, draws, 0.95)[at] == pytest.approx((-1, 1)[at], abs=2e-3)
