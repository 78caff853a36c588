# SPDX-License-Identifier: Apache-2.0
"""Measures of scores against worked numbers, scikit-learn, hmeasure, SciPy, statsmodels and R pROC."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.stats import ks_2samp
from sklearn import metrics

from assay.inference.intervals.auc import delong_variance
from assay.measures import REGISTRY, parse
from assay.tally.labels.one_vs_rest import Binary
from assay.tally.scores.row_probabilities import RowScores
from assay.tally.scores.score_tally import Scores
from assay.tally.scores.true_class_ranks import Ranks
from assay.tasks.classification.measures.expected_costs import decision_curve
from assay.tasks.classification.measures.roc_hull import _pooled

EIGHT = ([1, 1, 0, 1, 0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2])
HAND = (
    [0] * 8 + [1] * 8,
    [0.0, 0.01, 0.02, 0.03, 0.2, 0.6, 0.66, 0.7, 0.3, 0.35, 0.36, 0.42, 0.5, 0.8, 0.82, 0.99],
)
UNEVEN = (
    [1, 1, 0, 1, 1, 0, 1, 1, 1, 0],
    [0.84901876, 0.10282827, 0.43752488, 0.46004468, 0.90878931,
     0.79177719, 0.5297229, 0.13803906, 0.73166264, 0.22959056],
)  # fmt: skip
PROC = json.loads((Path(__file__).parent / "proc.json").read_text(encoding="utf-8"))
PEERS = {
    "scikit-learn": {
        "auroc", "gini_coefficient", "partial_auroc_standardised", "average_precision", "auprc_trapezoid", "log_loss",
        "brier_score", "auroc_macro", "auroc_weighted", "auroc_micro", "auroc_one_vs_one", "mean_average_precision",
        "average_precision_weighted", "average_precision_micro", "top_k_accuracy", "log_loss_multiclass",
        "brier_score_multiclass", "area_cumulative_response",
    },
    "pROC": {"auroc", "partial_auroc", "partial_auroc_standardised"},
    "hmeasure": {"h_measure"},
    "SciPy": {"kolmogorov_smirnov"},
    "statsmodels": {"calibration_slope", "calibration_intercept"},
    "worked": {
        "auroc", "average_precision", "h_measure", "log_loss", "brier_score", "area_cumulative_response",
        "equal_error_rate", "lift_at", "net_benefit", "spherical_score", "spiegelhalter_z", "auprc_davis_goadrich",
        "auroc_convex_hull", "expected_calibration_error", "maximum_calibration_error", "adaptive_calibration_error",
        "brier_miscalibration", "brier_discrimination", "brier_uncertainty", "spherical_score_multiclass",
        "top_label_calibration_error", "expected_calibration_error_macro",
    },
}  # fmt: skip


def table(y, s):
    return Scores.binary(s, y).one_vs_rest(1)


def value(name, t):
    return parse(name)(t).value


def sample(seed, *, ties=False):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 400))
    y = rng.random(n) < 0.4
    y[:2] = [True, False]
    q = 1 / (1 + np.exp(-(rng.normal(size=n) + y * rng.choice([0.0, 1.0, 2.5]))))
    return y, np.clip(np.round(q, 1), 0.05, 0.95) if ties else q


def test_every_measure_of_scores_has_an_origin_besides_its_formula():
    named = set().union(*PEERS.values())
    assert {m.name for m in REGISTRY if m.from_scores} == named


# ---------------------------------------------------------------- worked numbers


def test_schlosser_eq_46_and_47_on_eight_rows():
    t = table(*EIGHT)
    assert value("auroc", t) == 0.75
    assert value("average_precision", t) == pytest.approx(0.8303571428571428, abs=1e-15)
    x, y = t.fp[::-1] / 4, t.tp[::-1] / 4
    assert np.append(y, 0).mean() == pytest.approx(0.6111111111111112)
    assert (y / (y + x)).mean() == pytest.approx(0.6985119047619048)
    assert value("area_cumulative_response", t) == 0.25 + 0.5 * 0.75


def test_the_h_measure_of_hand():
    t = table(*HAND)
    assert value("h_measure(alpha=2, beta=2)", t) == pytest.approx(0.537109375, abs=1e-12)
    assert value("h_measure", t) == pytest.approx(0.5343824633180568, abs=1e-12)
    assert value("auroc", t) == 0.765625
    assert value("h_measure", table(*UNEVEN)) == pytest.approx(0.1831094651207935, abs=1e-12)
    package = parse("h_measure").with_(alpha=2, beta=1 + 3 / 7)
    assert package(table(*UNEVEN)).value == pytest.approx(0.18889596344769588, abs=1e-12)


@pytest.mark.parametrize("rounds", [64, 2, 0])
def test_the_hull_is_isotonic_regression_by_rounds_and_one_by_one(rounds, monkeypatch):
    monkeypatch.setattr("assay.tasks.classification.measures.roc_hull.ROUNDS", rounds)
    draw = np.random.default_rng(5)
    noise = draw.binomial(9, np.linspace(0.1, 0.9, 400), (3, 400)) * (draw.random((3, 400)) < 0.8)
    risen = np.arange(1.0, 401)[None]  # a last part below all others pools backwards, one part a round
    for pos, neg in ((noise, noise[::-1, ::-1]), (risen, np.append(np.full((1, 399), 400.0), [[1e9]], axis=1))):
        hulls = _pooled(pos.astype(float), neg.astype(float))
        assert hulls.tables == len(pos)
        for number, (p, q) in enumerate(zip(pos, neg, strict=True)):
            rows, own = p + q > 0, hulls.table == number
            fit = isotonic_regression(p[rows] / (p + q)[rows], weights=(p + q)[rows]).x
            shares = hulls.pos[own] / (hulls.pos + hulls.neg)[own]
            assert np.all(np.diff(shares) > 0)
            assert np.unique(fit.round(12)) == pytest.approx(np.unique(shares.round(12)))
            assert (hulls.pos[own].sum(), hulls.neg[own].sum()) == (p.sum(), q.sum())


def test_delongs_variance_of_two_small_rankings():
    y = [1, 1, 1, 1, 0, 0, 0, 0, 0]
    a = table(y, [0.9, 0.8, 0.6, 0.55, 0.7, 0.5, 0.4, 0.3, 0.2])
    b = table(y, [0.6, 0.9, 0.5, 0.3, 0.55, 0.5, 0.45, 0.2, 0.1])
    assert (value("auroc", a), value("auroc", b)) == (0.9, 0.775)
    assert delong_variance(a) == pytest.approx(0.013333333333333336, abs=1e-16)
    assert delong_variance(b) == pytest.approx(0.030625, abs=1e-16)


def test_cross_entropy_counts_both_classes():
    y, q = [1, 0, 1, 1, 0], [0.9, 0.2, 0.6, 0.5, 0.4]
    assert value("log_loss", table(y, q)) == pytest.approx(0.40866049901279256, abs=1e-15)
    assert value("brier_score", table(y, q)) == pytest.approx(0.124, abs=1e-15)
    assert -sum(math.log(s) for s, own in zip(q, y, strict=True) if own) == pytest.approx(1.3093333199837622)


def test_funds_photographs_at_three_thresholds():
    t = table([1, 1, 0, 0], [0.9, 0.3, 0.6, 0.1])
    assert t.at(0.5) == Binary.of(tp=1, fp=1, fn=1, tn=1)
    assert t.at(0.75) == Binary.of(tp=1, fp=0, fn=1, tn=2)
    assert t.at(0.25) == Binary.of(tp=2, fp=1, fn=0, tn=1)
    assert t.at(0.3) == t.at(0.25)


def test_annex_b_rates_are_a_curve_and_its_tie_is_one_point():
    points = [(0, 0), (0.0, 0.18), (0.02, 0.68), (0.03, 0.75), (0.14, 0.96), (0.59, 1.0), (1, 1)]
    x, y = (np.array([p[i] for p in points]) for i in range(2))
    assert np.trapezoid(y, x) == pytest.approx(0.9608, abs=1e-12)
    # The smallest sizes the printed rates fit: 28 positives and 58 negatives, laid out as rows.
    tp, fp = [5, 19, 21, 27, 28], [0, 1, 2, 8, 34]
    rows = [
        s
        for s, (a, b) in zip((0.99, 0.9, 0.7, 0.3, 0.01), zip([0, *tp], tp, strict=False), strict=True)
        for _ in range(b - a)
    ]
    outside = [
        s
        for s, (a, b) in zip((0.99, 0.9, 0.7, 0.3, 0.01), zip([0, *fp], fp, strict=False), strict=True)
        for _ in range(b - a)
    ]
    t = table([1] * 28 + [0] * 58, rows + outside + [0.0] * (58 - 34))
    for threshold, (_, rate_fp), (_, rate_tp) in zip(
        (0.99, 0.9, 0.7, 0.3, 0.01), enumerate(x[1:-1]), enumerate(y[1:-1]), strict=True
    ):
        cells = t.at(threshold)
        assert round(float(cells.fp) / 58, 2) == rate_fp
        assert round(float(cells.tp) / 28, 2) == rate_tp
    tie = table([1, 1, 1, 1, 0, 1, 0], [1.0, 0.96, 0.94, 0.86, 0.03, 0.03, 0.0])
    assert len(tie.score) == 6
    assert (tie.tp[1], tie.fp[1]) == (5, 1)


def test_small_tables_by_hand():
    t = table(*EIGHT)
    # At 0.5 and below the curve meets the diagonal of equal errors: one of four positives and one of four negatives.
    assert value("equal_error_rate", t) == 0.25
    assert value("lift_at(share=0.25)", t) == 2
    assert value("net_benefit(threshold=0.5)", t) == (3 - 2) / 8
    assert value("auroc_convex_hull", t) == 0.25 * 0.625 + 0.5 * 0.875 + 0.25
    assert value("brier_uncertainty", t) == 0.25
    half = table([1, 0], [0.75, 0.25])
    assert value("spherical_score", half) == pytest.approx(0.75 / math.sqrt(0.625))
    assert value("spiegelhalter_z", half) == pytest.approx(-0.25 / math.sqrt(2 * 0.25 * 0.1875))
    assert value("expected_calibration_error(bins=2)", half) == 0.25
    assert value("maximum_calibration_error(bins=2)", half) == 0.25
    assert value("adaptive_calibration_error(bins=1)", half) == 0.0
    assert value("brier_miscalibration", half) == 0.0625
    assert value("brier_discrimination", half) == 0.25
    assert value("auprc_davis_goadrich", table([1, 0], [0.5, 0.5])) == 0.5


# ---------------------------------------------------------------- peers


@pytest.mark.parametrize("seed", range(12))
def test_scikit_learn_agrees_on_two_classes(seed):
    y, q = sample(seed, ties=seed % 2 == 0)
    t = table(y, q)
    near = {"abs": 1e-12}
    assert value("auroc", t) == pytest.approx(metrics.roc_auc_score(y, q), **near)
    assert value("gini_coefficient", t) == pytest.approx(2 * metrics.roc_auc_score(y, q) - 1, **near)
    assert value("average_precision", t) == pytest.approx(metrics.average_precision_score(y, q), **near)
    assert value("log_loss", t) == pytest.approx(metrics.log_loss(y, q), **near)
    assert value("brier_score", t) == pytest.approx(metrics.brier_score_loss(y, q), **near)
    share = y.mean()
    area = share / 2 + (1 - share) * metrics.roc_auc_score(y, q)
    assert value("area_cumulative_response", t) == pytest.approx(area, **near)
    for limit in (0.1, 0.37, 0.9):
        ours = parse("partial_auroc_standardised").with_(max_fpr=limit)(t).value
        assert ours == pytest.approx(metrics.roc_auc_score(y, q, max_fpr=limit), **near)
    precision, recall, _ = metrics.precision_recall_curve(y, q)
    precision, recall = precision[:-1][::-1], recall[:-1][::-1]
    theirs = metrics.auc([0, *recall], [precision[0], *precision])
    assert value("auprc_trapezoid", t) == pytest.approx(theirs, **near)
    x, height, _ = metrics.roc_curve(y, q, drop_intermediate=False)
    assert (t.fp[::-1] / t.negatives).tolist() == x[1:].tolist()
    assert (t.tp[::-1] / t.positives).tolist() == height[1:].tolist()
    assert value("kolmogorov_smirnov", t) == pytest.approx(ks_2samp(q[y], q[~y], alternative="less").statistic, **near)


@pytest.mark.parametrize("seed", range(4))
def test_scikit_learn_agrees_on_many_classes(seed):
    rng = np.random.default_rng(seed)
    k = 3 + seed % 3
    q = np.round(rng.dirichlet(np.ones(k), 300), 2 if seed % 2 else 12)
    q[:, -1] = 1 - q[:, :-1].sum(axis=1)
    q = np.abs(q)
    y = np.array([rng.choice(k, p=0.6 * row / row.sum() + 0.4 / k) for row in q])
    t, one_hot = Scores.per_class(q, y, range(k)), np.eye(k)[y]
    near = {"abs": 1e-12}
    assert value("auroc_macro", t) == pytest.approx(metrics.roc_auc_score(one_hot, q), **near)
    assert value("auroc_weighted", t) == pytest.approx(metrics.roc_auc_score(one_hot, q, average="weighted"), **near)
    assert value("auroc_micro", t) == pytest.approx(metrics.roc_auc_score(one_hot, q, average="micro"), **near)
    assert value("auroc_one_vs_one", t) == pytest.approx(metrics.roc_auc_score(y, q, multi_class="ovo"), **near)
    for name, average in (("mean_average_precision", "macro"), ("average_precision_weighted", "weighted")):
        assert value(name, t) == pytest.approx(metrics.average_precision_score(one_hot, q, average=average), **near)
    micro = metrics.average_precision_score(one_hot, q, average="micro")
    assert value("average_precision_micro", t) == pytest.approx(micro, **near)
    clear = rng.dirichlet(np.ones(k), 300)
    exact = Scores.per_class(clear, y, range(k))
    assert value("log_loss_multiclass", exact) == pytest.approx(metrics.log_loss(y, clear), **near)
    theirs = metrics.brier_score_loss(y, clear, scale_by_half=False)
    assert value("brier_score_multiclass", exact) == pytest.approx(theirs, **near)
    assert value("top_k_accuracy(k=2)", Ranks.of(clear, y)) == metrics.top_k_accuracy_score(y, clear, k=2)


def test_rows_of_many_classes_by_hand():
    """Four rows in three classes; the first and the last are called right."""
    q = [[0.8, 0.0, 0.6], [0.2, 0.2, 0.6], [0.6, 0.0, 0.8], [0.0, 0.6, 0.8]]
    y = [0, 1, 0, 2]
    t = RowScores.of(q, y)
    # The lengths of the rows are 1, the root of 0.44, 1 and 1.
    assert value("spherical_score_multiclass", t) == pytest.approx((2.2 + 0.2 / 0.44**0.5) / 4, abs=1e-15)
    # Largest: 0.8 right, 0.6 wrong, 0.8 wrong, 0.8 right; the two bins miss by 2 - 2.4 and by 0 - 0.6.
    assert value("top_label_calibration_error(bins=5)", t) == pytest.approx(1.0 / 4, abs=1e-15)
    # One bin for each class: it misses by 2 - 1.6, by 1 - 0.8 and by 1 - 2.8, over four rows.
    by_class = Scores.per_class(np.array(q), y, "abc")
    assert value("expected_calibration_error_macro(bins=1)", by_class) == pytest.approx(2.4 / 4 / 3, abs=1e-15)


@pytest.mark.parametrize("seed", range(10))
def test_hmeasure_agrees(seed):
    import hmeasure

    y, q = sample(seed, ties=seed % 2 == 0)
    theirs = hmeasure.h_score(y.astype(int), q, severity_ratio=-1)
    assert value("h_measure", table(y, q)) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("name", PROC["columns"])
def test_r_proc_agrees_on_area_variance_and_partial_areas(name):
    column = PROC["columns"][name]
    t = table(PROC["truth"], column["score"])
    area, variance = value("auroc", t), delong_variance(t)
    assert area == pytest.approx(column["auroc"][0], abs=1e-14)
    assert variance == pytest.approx(column["variance"][0], abs=1e-15)
    reach = 1.959963984540054 * math.sqrt(variance)
    assert (area - reach, area + reach) == pytest.approx((column["low"][0], column["high"][0]), abs=1e-12)
    for form, ours in (("partial", "partial_auroc"), ("standardised", "partial_auroc_standardised")):
        for limit, theirs in column[form].items():
            assert parse(ours).with_(max_fpr=float(limit))(t).value == pytest.approx(theirs[0], abs=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_statsmodels_fits_the_same_line(seed):
    import statsmodels.api as sm

    y, q = sample(seed)
    logit = np.log(q / (1 - q))
    line = sm.GLM(y.astype(float), sm.add_constant(logit), family=sm.families.Binomial()).fit(tol=1e-12)
    assert value("calibration_slope", table(y, q)) == pytest.approx(line.params[1], abs=1e-7)
    large = sm.GLM(y.astype(float), np.ones(len(y)), family=sm.families.Binomial(), offset=logit).fit(tol=1e-12)
    assert value("calibration_intercept", table(y, q)) == pytest.approx(large.params[0], abs=1e-7)


def test_the_decision_curve_is_the_net_benefit_at_each_threshold():
    t = table(*EIGHT)
    ours, everyone = decision_curve(t, [0.25, 0.5, 0.95])
    assert ours.tolist() == pytest.approx([value(f"net_benefit(threshold={x})", t) for x in (0.25, 0.5, 0.95)])
    assert everyone[1] == 0
