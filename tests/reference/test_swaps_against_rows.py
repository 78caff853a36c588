# SPDX-License-Identifier: Apache-2.0
"""score_permutation, subject_permutation and weighted_permutation beside swapping and resampling rows by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats as ss
from sklearn.metrics import accuracy_score, average_precision_score, brier_score_loss, f1_score

from assay.inference.swapping import score_permutation, subject_permutation, weighted_permutation
from assay.inference.units import of_rows, of_scores
from assay.tally.pairedrows import PairedRows
from assay.tally.pairedscores import PairedScores

N = 60
rng = np.random.default_rng(21)
Y = np.arange(N) % 3 == 0
A, B = (np.round(1 / (1 + np.exp(-rng.normal(size=N) - gain * (2 * Y - 1))), 2) for gain in (0.9, 0.4))
WHO = rng.integers(0, 12, N)
W = rng.integers(1, 4, N) / 2


def swapped(a, b, measure, by=None, times=1500):
    by = np.arange(N) if by is None else by
    out = []
    for _ in range(times):
        flip = (rng.random(by.max() + 1) < 0.5)[by]
        out.append(measure(np.where(flip, b, a)) - measure(np.where(flip, a, b)))
    return np.array(out)


@pytest.mark.parametrize(
    ("name", "measure", "ranks"),
    [("average_precision", average_precision_score, True), ("brier_score", brier_score_loss, False)],
)
def test_swaps_of_scores_are_swaps_of_rows(name, measure, ranks):
    t = PairedScores.of(Y, {"A": A, "B": B})
    a, b = (ss.rankdata(A), ss.rankdata(B)) if ranks else (A, B)
    found = score_permutation(t, measure=name)
    gap = measure(Y, A) - measure(Y, B)
    assert found.effect.value == pytest.approx(gap, rel=1e-12)
    by_hand = swapped(a, b, lambda s: measure(Y, s))
    assert ss.ks_2samp(of_scores(t, name).swapped(3000, 1), by_hand).pvalue > 0.001
    assert found.p == pytest.approx((np.abs(by_hand) >= abs(gap) - 1e-12).mean(), abs=0.05)
    drawn = [measure(Y[at], A[at]) - measure(Y[at], B[at]) for at in rng.integers(0, N, (800, N))]
    assert ss.ks_2samp(of_scores(t, name).resampled(3000, 1, stratified=False), drawn).pvalue > 0.001


def test_joined_neighbours_spread_as_single_scores_do(monkeypatch):
    from assay.inference import units

    y = rng.random(1500) < 0.3
    a, b = rng.normal(size=(2, 1500)) + y
    t = PairedScores.of(y, {"A": a, "B": b})
    joined = of_scores(t, "average_precision")
    monkeypatch.setattr(units, "NEIGHBOURHOODS", 10_000)
    single = of_scores(t, "average_precision")
    assert joined.values() == single.values()
    for way in ("swapped", "resampled"):
        more = {} if way == "swapped" else {"stratified": False}
        spreads = [getattr(one, way)(600, 1, **more).std() for one in (joined, single)]
        assert spreads[0] == pytest.approx(spreads[1], rel=0.1)


def test_swaps_of_subjects_and_of_weighted_rows_are_swaps_of_rows():
    a, b = A > 0.5, B > 0.5
    columns = {"truth": Y.tolist(), "labels": (False, True), "models": ("A", "B"), "calls": [a.tolist(), b.tolist()]}
    by_subject = PairedRows.of(**columns, subject=WHO.tolist())
    by_hand = swapped(a, b, lambda p: f1_score(Y, p), WHO)
    ours = of_rows(by_subject, "f1", positive=True).swapped(3000, 1)
    assert ss.ks_2samp(ours, by_hand).pvalue > 0.001
    gap = f1_score(Y, a) - f1_score(Y, b)
    found = subject_permutation(by_subject, measure="f1", positive=True)
    assert found.effect.value == pytest.approx(gap)
    assert found.p == pytest.approx((np.abs(by_hand) >= abs(gap) - 1e-12).mean(), abs=0.05)
    members = [np.flatnonzero(s == WHO) for s in np.unique(WHO)]
    drawn = []
    for pick in rng.integers(0, len(members), (800, len(members))):
        at = np.concatenate([members[i] for i in pick])
        drawn.append(f1_score(Y[at], a[at]) - f1_score(Y[at], b[at]))
    assert (
        ss.ks_2samp(of_rows(by_subject, "f1", positive=True).resampled(3000, 1, stratified=False), drawn).pvalue > 0.001
    )
    weighted = PairedRows.of(**columns, weight=W)
    by_hand = swapped(a, b, lambda p: accuracy_score(Y, p, sample_weight=W))
    ours = of_rows(weighted, "accuracy", positive=True).swapped(3000, 1)
    assert ss.ks_2samp(ours, by_hand).pvalue > 0.001
    gap = accuracy_score(Y, a, sample_weight=W) - accuracy_score(Y, b, sample_weight=W)
    assert weighted_permutation(weighted).effect.value == pytest.approx(gap)
