# SPDX-License-Identifier: Apache-2.0
"""Every test against an independent program on random input: ties, zeros and tiny samples included."""

from __future__ import annotations

import itertools
import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.stats as ss
from sklearn import metrics

from assay.inference.tail_probabilities import Tail
from assay.inference.tests import anova, contingency, mcnemar, means, ranks, several_ranks, strata, variance
from assay.inference.tests.delong import areas, delong
from assay.inference.tests_catalogue import find_test
from assay.inference.units.class_score_units import judge_units
from assay.inference.units.permutation_and_bootstrap import mean_permutation, paired_bootstrap, paired_permutation
from assay.tally.contingency_tables import Calls, Outcomes, Patterns, Strata, Table
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.real_values import FiveByTwo, Folds, Groups, Halved, Pairs
from tests.block_rows import blocks_of

SEEDS = range(12)
near = pytest.approx


def values(seed, n=None, rows=2):
    """Paired values of several kinds: continuous, coarse (ties and zeros), shifted, tiny."""
    rng = np.random.default_rng(seed)
    n = n or (5, 8, 13, 30, 60, 120)[seed % 6]
    x = rng.normal(size=(rows, n)) + 0.3 * np.arange(rows)[:, np.newaxis]
    return np.round(x, 1) if seed % 2 else x


@pytest.mark.parametrize("seed", SEEDS)
def test_paired_t_equals_scipy(seed):
    a, b = values(seed)
    found, peer = means.paired_t(Pairs.of(a, b)), ss.ttest_rel(a, b)
    assert (found.statistic, found.p) == near((peer.statistic, peer.pvalue), rel=1e-9)
    assert (found.effect.interval.low, found.effect.interval.high) == near(tuple(peer.confidence_interval()), rel=1e-8)
    assert means.paired_t(Pairs.of(a, b), alternative="greater").p == near(
        ss.ttest_rel(a, b, alternative="greater").pvalue, rel=1e-9
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_welch_equals_scipy(seed):
    a, b = values(seed)
    found = means.welch_t(Groups.of({"A": a, "B": b[: max(3, len(b) // 2)]}))
    peer = ss.ttest_ind(a, b[: max(3, len(b) // 2)], equal_var=False)
    assert (found.statistic, found.p, found.df[0]) == near((peer.statistic, peer.pvalue, peer.df), rel=1e-9)


def enumerated_wilcoxon(d):
    d = d[d != 0]
    r = ss.rankdata(np.abs(d))
    sums = np.array(
        [sum(x for x, s in zip(r, signs, strict=True) if s) for signs in itertools.product((0, 1), repeat=len(r))]
    )
    seen = r[d > 0].sum()
    return min(1.0, 2 * min((sums <= seen + 1e-9).mean(), (sums >= seen - 1e-9).mean()))


@pytest.mark.parametrize("seed", SEEDS)
def test_wilcoxon_is_exact_with_ties_where_scipy_is_not(seed):
    a, b = values(seed, n=9)
    d = np.round(a - b, 6)
    assert ranks.wilcoxon(Pairs.of(d, np.zeros(9))).p == near(enumerated_wilcoxon(d), rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("zeros", ["wilcox", "pratt"])
def test_wilcoxon_in_its_normal_form_equals_scipy(seed, zeros):
    a, b = values(seed, n=80)
    d = np.round(a - b, 1)
    test = ranks.wilcoxon if zeros == "wilcox" else ranks.wilcoxon_pratt
    found = test(Pairs.of(d, np.zeros(80)))
    peer = ss.wilcoxon(d, zero_method=zeros, correction=False, method="approx")
    assert (found.statistic, found.p) == near((peer.statistic, peer.pvalue), rel=1e-9)


def test_wilcoxon_without_ties_equals_scipys_exact_form():
    a, b = values(2, n=30)
    assert ranks.wilcoxon(Pairs.of(a, b)).p == near(ss.wilcoxon(a, b, method="exact").pvalue, rel=1e-12)


def test_hodges_lehmann_found_by_halving_equals_all_pairwise_means():
    d = np.random.default_rng(1).normal(size=2500)
    found = ranks.wilcoxon(Pairs.of(d, np.zeros(2500)))
    at = np.triu_indices(2500)
    assert found.effect.value == near(np.median((d[at[0]] + d[at[1]]) / 2), abs=1e-12)


@pytest.mark.parametrize("n", [8, 15, 40, 90])
def test_hodges_lehmann_and_its_interval_stand_at_places_of_all_pairwise_means_in_order(n):
    d = np.random.default_rng(n).normal(size=n)
    at = np.triu_indices(n)
    means = np.sort((d[at[0]] + d[at[1]]) / 2)
    effect = ranks.wilcoxon(Pairs.of(d, np.zeros(n))).effect
    assert effect.value == near(np.median(means), abs=1e-12)
    low, high = np.searchsorted(means, [effect.interval.low - 1e-12, effect.interval.high - 1e-12])
    assert (means[low], means[high]) == near((effect.interval.low, effect.interval.high), abs=1e-12)
    assert low == len(means) - 1 - high
    expected = n * (n + 1) / 4 - ss.norm.ppf(0.975) * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    assert low == near(expected, abs=2)


@pytest.mark.parametrize("seed", SEEDS)
def test_sign_test_equals_scipy(seed):
    a, b = values(seed)
    wins, losses = int((a > b).sum()), int((a < b).sum())
    found = ranks.sign_test(Pairs.of(a, b))
    assert found.p == near(min(1.0, ss.binomtest(wins, wins + losses).pvalue), rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_mann_whitney_equals_scipy(seed):
    a, b = values(seed)
    tied = len(np.unique(np.r_[a, b])) < 2 * len(a)
    found = ranks.mann_whitney(Groups.of({"A": a, "B": b}))
    small = len(a) ** 2 <= 400
    form = "exact" if small else "asymptotic"
    peer = ss.mannwhitneyu(a, b, method=form, use_continuity=False)  # its exact form does not know of ties
    assert found.statistic == near(peer.statistic, rel=1e-9)
    if not (tied and small):
        assert found.p == near(peer.pvalue, rel=1e-9)


@pytest.mark.parametrize(
    ("first", "second"), [("00122", "11233"), ("0", "0112223"), ("1122333", "22"), ("0000", "1111")]
)
def test_rank_sums_with_ties_are_those_of_all_ways_to_draw_them(first, second):
    a, b = (np.array(list(map(float, part))) for part in (first, second))
    pooled = ss.rankdata(np.r_[a, b])
    sums = np.array([sum(drawn) for drawn in itertools.combinations(pooled, len(a))])
    above, below = (float(hits.mean()) for hits in (sums >= pooled[: len(a)].sum(), sums <= pooled[: len(a)].sum()))
    expected = {"greater": above, "less": below, "two-sided": min(1.0, 2 * min(above, below))}
    for alternative, p in expected.items():
        found = ranks.mann_whitney(Groups.of({"A": a, "B": b}), alternative=alternative)
        assert found.p == near(p, rel=1e-12)
        assert found.notes == ("null distribution: exact, ties and all",)


@pytest.mark.parametrize("seed", SEEDS)
def test_anova_kruskal_and_variance_tests_equal_scipy(seed):
    x = values(seed, rows=3)
    groups = {"A": x[0], "B": x[1, : max(3, x.shape[1] // 2)], "C": x[2]}
    t, arrays = Groups.of(groups), list(groups.values())
    for ours, peer in (
        (anova.one_way_anova, ss.f_oneway(*arrays)),
        (several_ranks.kruskal_wallis, ss.kruskal(*arrays)),
        (variance.bartlett, ss.bartlett(*arrays)),
        (variance.levene, ss.levene(*arrays, center="mean")),
        (variance.brown_forsythe, ss.levene(*arrays, center="median")),
    ):
        found = ours(t)
        assert (found.statistic, found.p) == near((peer.statistic, peer.pvalue), rel=1e-8), ours.name
    assert variance.pitman_morgan(Pairs.of(x[0], x[1])).p == near(
        ss.pearsonr(x[0] + x[1], x[0] - x[1]).pvalue, rel=1e-7
    )
    if seed > 2:  # SciPy integrates for seconds
        return
    peer = ss.tukey_hsd(*arrays)
    for one, (a, b) in zip(anova.tukey.pairs(t), itertools.combinations(range(3), 2), strict=True):
        assert one.p == near(peer.pvalue[a, b], rel=1e-6, abs=1e-9)
        ends = peer.confidence_interval()
        assert (one.effect.interval.low, one.effect.interval.high) == near((ends.low[a, b], ends.high[a, b]), rel=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_welch_anova_equals_statsmodels(seed):
    from statsmodels.stats.oneway import anova_oneway

    x = values(seed, rows=3)
    found = anova.welch_anova(Groups.of(dict(zip("ABC", x, strict=True))))
    peer = anova_oneway(list(x), use_var="unequal")
    assert (found.statistic, found.p) == near((peer.statistic, peer.pvalue), rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_repeated_measures_anova_equals_statsmodels(seed):
    import pandas as pd
    from statsmodels.stats.anova import AnovaRM

    x = values(seed, rows=4)
    long = pd.DataFrame([(j, k, x[k, j]) for k in range(4) for j in range(x.shape[1])], columns=["item", "model", "v"])
    peer = AnovaRM(long, "v", "item", within=["model"]).fit().anova_table
    found = anova.repeated_measures_anova(blocks_of(x.T.tolist()))
    assert (found.statistic, found.p) == near((peer["F Value"].iloc[0], peer["Pr > F"].iloc[0]), rel=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_friedman_and_its_pairs_equal_scipy_and_scikit_posthocs(seed):
    import scikit_posthocs as sp

    x = values(seed, rows=4)
    t = blocks_of(x.T.tolist())
    peer = ss.friedmanchisquare(*x)
    found = several_ranks.friedman(t)
    assert (found.statistic, found.p) == near((peer.statistic, peer.pvalue), rel=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nemenyi, conover = sp.posthoc_nemenyi_friedman(x.T), sp.posthoc_conover_friedman(x.T)
    pairs = list(itertools.combinations(range(4), 2))
    for one, (a, b) in zip(several_ranks.nemenyi.pairs(t), pairs, strict=True):
        assert one.p == near(float(nemenyi.iloc[a, b]), abs=2e-3)  # scikit-posthocs rounds its range distribution
    for one, (a, b) in zip(several_ranks.conover.pairs(t), pairs, strict=True):
        assert one.p == near(float(conover.iloc[a, b]), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_dunn_equals_scikit_posthocs(seed):
    import scikit_posthocs as sp

    x = values(seed, rows=3)
    peer = sp.posthoc_dunn(list(x))
    found = several_ranks.dunn.pairs(Groups.of(dict(zip("ABC", x, strict=True))))
    for one, (a, b) in zip(found, itertools.combinations(range(3), 2), strict=True):
        assert one.p == near(float(peer.iloc[a, b]), rel=1e-9)
        assert one.p == near(2 * ss.norm.sf(abs(one.statistic)), rel=1e-9)
        assert np.sign(one.statistic) == np.sign(one.effect.value)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_a_ratio_of_variances_at_an_end_of_its_interval_is_just_not_rejected(level):
    a, b = values(2, n=40)
    interval = variance.pitman_morgan(Pairs.of(a, 2 * b), level=level).effect.interval
    assert interval.low < a.var() / (2 * b).var() < interval.high
    for end in (interval.low, interval.high):
        assert variance.pitman_morgan(Pairs.of(a / math.sqrt(end), 2 * b)).p == near(1 - level, rel=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_five_by_two_equals_mlxtend(seed):
    """mlxtend fits the models itself, so it gets two that only look ten differences up."""
    from mlxtend.evaluate import combined_ftest_5x2cv, paired_ttest_5x2cv

    d = np.random.default_rng(seed).normal(size=(5, 2))

    class Told:
        def __init__(self, side):
            self.side, self.calls = side, 0

        def fit(self, x, y):
            pass

        def score(self, *_):
            value = d.ravel()[self.calls] if self.side else 0.0
            self.calls += 1
            return value

    x, y = np.arange(20).reshape(-1, 1), np.arange(20) % 2

    def scorer(model, x, y):
        return model.score(x, y)

    for test, peer in ((means.five_by_two_t, paired_ttest_5x2cv), (means.five_by_two_f, combined_ftest_5x2cv)):
        statistic, p = peer(estimator1=Told(1), estimator2=Told(0), X=x, y=y, scoring=scorer, random_seed=1)
        found = test(FiveByTwo.of(d.tolist()))
        assert (found.statistic, found.p) == near((statistic, p), rel=1e-9)


@pytest.mark.parametrize("case", json.loads(Path(__file__).with_name("baycomp.json").read_text()))
def test_the_corrected_t_equals_baycomp(case):
    """Its Bayesian posterior is the same t distribution; the values were made by make/baycomp_values.py."""
    folds = Folds.of(Pairs.of(case["a"], case["b"]), test_over_train="1/9")
    found = means.corrected_resampled_t(folds, alternative="greater")
    assert 1 - found.p == near(case["first_better"], rel=1e-6)


def test_halves_of_a_plain_mean_have_the_standard_error_of_scipys_t_test():
    """Of a mean of rows, all splits into halves together give exactly the variance of the mean."""
    rows = np.array([0.3, -0.1, 0.4, 0.2, -0.3, 0.5, 0.1, 0.0])
    values, every = [rows.mean()], set(range(len(rows)))
    for half in itertools.combinations(range(len(rows)), len(rows) // 2):
        values += [rows[list(half)].mean(), rows[list(every - set(half))].mean()]
    found = means.half_sample_t(Halved.of(Pairs.of(values, [0.0] * len(values))))
    peer = ss.ttest_1samp(rows, 0.0)
    assert found.statistic == pytest.approx(peer.statistic, rel=1e-12)
    assert found.p == pytest.approx(2 * ss.t.sf(abs(peer.statistic), 70), rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_mcnemar_equals_statsmodels_and_mlxtend(seed):
    import mlxtend.evaluate
    from statsmodels.stats.contingency_tables import mcnemar as peer

    cells = np.random.default_rng(seed).integers(0, (3, 12, 60)[seed % 3], size=4)
    if cells[1] + cells[2] == 0:
        cells[1] = 1
    t = Outcomes(both=cells[0], only_a=cells[1], only_b=cells[2], neither=cells[3])
    table = cells.reshape(2, 2)
    assert mcnemar.mcnemar_exact(t).p == near(min(1.0, peer(table, exact=True).pvalue), rel=1e-12)
    assert mcnemar.mcnemar_plain(t).p == near(peer(table, exact=False, correction=False).pvalue, rel=1e-12)
    if cells[1] != cells[2]:  # with b = c both peers correct below zero and square
        assert mcnemar.mcnemar_continuity(t).p == near(peer(table, exact=False, correction=True).pvalue, rel=1e-12)
        assert mcnemar.mcnemar_continuity(t).p == near(mlxtend.evaluate.mcnemar(table)[1], rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_tables_of_counts_equal_scipy_and_statsmodels(seed):
    import statsmodels.stats.contingency_tables as peer

    rng = np.random.default_rng(seed)
    table = rng.integers(1, 30, size=(2 + seed % 3, 2 + seed % 2))
    found = contingency.chi_squared_association(Table(rows=tuple(map(tuple, table.tolist()))))
    other = ss.chi2_contingency(table, correction=False)
    assert (found.statistic, found.p) == near((other.statistic, other.pvalue), rel=1e-10)
    four = rng.integers(0, 15, size=(2, 2)) + np.array([[1, 0], [0, 1]])
    assert contingency.fisher_exact(Table(rows=tuple(map(tuple, four.tolist())))).p == near(
        ss.fisher_exact(four).pvalue, rel=1e-9
    )
    square = rng.integers(0, 20, size=(4, 4)) + 1
    calls = Calls(rows=tuple(map(tuple, square.tolist())), labels=(0, 1, 2, 3))
    theirs = peer.SquareTable(square, shift_zeros=False)
    assert mcnemar.bowker(calls).p == near(theirs.symmetry().pvalue, rel=1e-10)
    assert mcnemar.stuart_maxwell(calls).p == near(theirs.homogeneity().pvalue, rel=1e-9)
    tables = [rng.integers(1, 30, (2, 2)) for _ in range(3)]
    stack = strata.cochran_mantel_haenszel(
        Strata(tables={str(i): Table(rows=tuple(map(tuple, one.tolist()))) for i, one in enumerate(tables)})
    )
    theirs = peer.StratifiedTable(tables)
    assert stack.p == near(theirs.test_null_odds(correction=False).pvalue, rel=1e-9)
    assert stack.effect.value == near(theirs.oddsratio_pooled, rel=1e-10)
    equal_odds = float(theirs.test_equal_odds().pvalue)
    assert [check.seen for check in stack.checks] == [f"Breslow-Day p {Tail.of(equal_odds)}"]
    assert [check.holds for check in stack.checks] == [equal_odds > 0.05]


@pytest.mark.parametrize("seed", SEEDS)
def test_cochrans_q_equals_statsmodels(seed):
    from statsmodels.stats.contingency_tables import cochrans_q as peer

    x = np.random.default_rng(seed).integers(0, 2, size=((6, 20, 100)[seed % 3], 2 + seed % 3))
    counts = {}
    for row in x.astype(bool).tolist():
        counts[tuple(row)] = counts.get(tuple(row), 0) + 1
    found = mcnemar.cochran_q(Patterns(models=tuple("ABCD"[: x.shape[1]]), counts=counts))
    assert found.p == near(peer(x).pvalue, rel=1e-10)


def slow_delong(positives, negatives):
    """The quadratic definition, term by term."""
    k, m, n = len(positives), positives.shape[1], negatives.shape[1]
    psi = (positives[:, :, None] > negatives[:, None, :]) + 0.5 * (positives[:, :, None] == negatives[:, None, :])
    theta, v10, v01 = psi.mean(axis=(1, 2)), psi.mean(axis=2), psi.mean(axis=1)
    s10 = (v10 - theta[:, None]) @ (v10 - theta[:, None]).T / (m - 1)
    s01 = (v01 - theta[:, None]) @ (v01 - theta[:, None]).T / (n - 1)
    return theta.reshape(k), s10 / m + s01 / n


@pytest.mark.parametrize("seed", SEEDS)
def test_delong_equals_its_quadratic_definition_with_ties(seed):
    rng = np.random.default_rng(seed)
    positives, negatives = rng.normal(size=(3, 17)) + 0.7, rng.normal(size=(3, 23))
    if seed % 2:
        positives, negatives = np.round(positives), np.round(negatives)
    t = PairedScores(models=("A", "B", "C"), positives=positives, negatives=negatives)
    theta, covariance = slow_delong(positives, negatives)
    found = areas(t)
    assert found.area.tolist() == near(theta.tolist(), abs=1e-14)
    assert found.covariance.ravel().tolist() == near(covariance.ravel().tolist(), abs=1e-15)
    two = delong(t.only("A", "B"))
    z = (theta[0] - theta[1]) / math.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert two.p == near(2 * ss.norm.sf(abs(z)), rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_equivalence_of_means_equals_statsmodels(seed):
    from statsmodels.stats.weightstats import ttost_paired

    a, b = values(seed)
    found = find_test("mean_equivalence")(Pairs.of(a, b), margin=0.5)
    assert found.p == near(ttost_paired(a, b, -0.5, 0.5)[0], rel=1e-9)


def test_swaps_of_items_agree_with_scipys_permutation_test():
    a, b = values(4, n=12)
    peer = ss.permutation_test((a, b), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf)
    assert mean_permutation(Pairs.of(a, b), draws=19_999).p == near(peer.pvalue, abs=0.012)


def test_swaps_of_items_do_not_depend_on_how_many_are_held_at_once(monkeypatch):
    t = Pairs.of(*values(4, n=12))
    expected = mean_permutation(t, draws=199).p
    monkeypatch.setattr("assay.inference.units.permutation_and_bootstrap.HELD", 12 * 7)
    assert mean_permutation(t, draws=199).p == expected


def test_draws_of_joint_cells_agree_with_resampling_rows():
    from sklearn.metrics import f1_score

    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 200)
    a, b = np.where(rng.random(200) < 0.85, y, 1 - y), np.where(rng.random(200) < 0.75, y, 1 - y)
    cells = {}
    for cell in zip(y.tolist(), a.tolist(), b.tolist(), strict=True):
        cells[cell] = cells.get(cell, 0) + 1
    t = PairedLabels.from_cells(cells, models=("A", "B"))
    found = paired_bootstrap(t, measure="f1", positive=1)

    def f1(truth, called):
        """Row by row of a table of resamples, because scikit-learn takes one at a time."""
        hits = np.sum(truth * called, axis=-1)
        return 2 * hits / (truth.sum(-1) + called.sum(-1))

    assert f1(y, a) == near(f1_score(y, a))
    assert found.effect.value == near(f1_score(y, a) - f1_score(y, b))
    at = rng.integers(0, 200, (20_000, 200))
    low, high = np.quantile(f1(y[at], a[at]) - f1(y[at], b[at]), [0.025, 0.975])
    assert (found.effect.interval.low, found.effect.interval.high) == near((low, high), abs=0.02)
    swap = rng.random((20_000, 200)) < 0.5
    swapped = f1(y, np.where(swap, b, a)) - f1(y, np.where(swap, a, b))
    by_rows = np.mean(np.abs(swapped) >= abs(found.effect.value) - 1e-12)
    assert paired_permutation(t, measure="f1", positive=1).p == near(by_rows, abs=0.005)


def test_pooled_swaps_of_several_classes_agree_with_swapping_rows():
    from sklearn.metrics import f1_score

    rng = np.random.default_rng(6)
    y = rng.integers(0, 4, 150)
    a, b = (np.where(rng.random(150) < share, y, rng.integers(0, 4, 150)) for share in (0.6, 0.5))
    cells = {}
    for cell in zip(y.tolist(), a.tolist(), b.tolist(), strict=True):
        cells[cell] = cells.get(cell, 0) + 1
    joint = judge_units(PairedLabels.from_cells(cells, models=("A", "B")), "f1_macro", None)
    ours = joint.swapped(4000, 1)
    theirs = []
    for _ in range(300):
        swap = rng.random(150) < 0.5
        one, two = np.where(swap, b, a), np.where(swap, a, b)
        theirs.append(f1_score(y, one, average="macro") - f1_score(y, two, average="macro"))
    assert ss.ks_2samp(ours, theirs).pvalue > 0.001
    drawn = joint.resampled(4000, 1, stratified=False)
    theirs = []
    for _ in range(300):
        at = rng.integers(0, 150, 150)
        theirs.append(f1_score(y[at], a[at], average="macro") - f1_score(y[at], b[at], average="macro"))
    assert ss.ks_2samp(drawn, theirs).pvalue > 0.001


def test_very_many_cells_get_fewer_draws_and_say_so():
    rng = np.random.default_rng(8)
    cells = {(int(t), int(p), int(q)): 1 for t, p, q in rng.integers(0, 200, (15_000, 3))}
    joint = judge_units(PairedLabels.from_cells(cells, models=("A", "B")), "accuracy", None)
    assert joint.affordable(9999) == (1 << 27) // len(cells)
    assert joint.affordable(500) == 500
    assert not joint.jackknifed


def test_swaps_of_ranks_agree_with_all_swaps_and_areas_of_scikit_learn():
    """auroc_permutation and, for three models, auroc_permutations, against every one of the 2**n swaps."""
    rng = np.random.default_rng(2005)
    truth = np.arange(10) % 2
    scores = {name: rng.normal(size=10) + truth * shift for name, shift in (("A", 1.6), ("B", 0.1), ("C", 0.8))}
    ranks = {name: ss.rankdata(column) for name, column in scores.items()}

    def area(column):
        return (ss.rankdata(column)[truth == 1].sum() - 15) / 25

    for column in ranks.values():  # called for each swap, scikit-learn alone would take half a minute
        assert area(column) == pytest.approx(metrics.roc_auc_score(truth, column))

    def all_swaps(a, b):
        seen = abs(area(a) - area(b))
        swaps = (np.array(bits, dtype=bool) for bits in itertools.product((False, True), repeat=10))
        gaps = [abs(area(np.where(s, b, a)) - area(np.where(s, a, b))) for s in swaps]
        return float(np.mean(np.array(gaps) >= seen - 1e-12))

    t = PairedScores.of((truth == 1).tolist(), scores)
    pair = find_test("auroc_permutation")(t.only("A", "B"), draws=20_000)
    assert pair.p == pytest.approx(all_swaps(ranks["A"], ranks["B"]), abs=0.015)
    for finding in find_test("auroc_permutations").pairs(t, draws=20_000):
        a, b = finding.models
        assert finding.p == pytest.approx(all_swaps(ranks[a], ranks[b]), abs=0.015)
