# SPDX-License-Identifier: Apache-2.0
"""Tests beside R, pROC and autorank, whose values were made once (make/r_tests.R, make/autorank_values.py), and the
rest beside SciPy or their own definition; no declared test is without such a reference."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.stats as ss

import assay
from assay.inference import multiplicity
from assay.inference.tests import anova, contingency, mcnemar, means, ranks, several_ranks, strata
from assay.inference.tests.delong import delong, delong_many, delong_pairs
from assay.inference.tests.independent_models import apart_difference, delong_unpaired
from assay.inference.tests.variance import bartlett, shapiro_wilk, variance_f
from assay.inference.tests_catalogue import every_test, find_test
from assay.tally.contingency_tables import Channels, Outcomes, Strata, Successes, Table
from assay.tally.labels.confusion import Confusion
from assay.tally.paired.different_rows import Apart
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit
from assay.tally.real_values import Blocks, Groups, Pairs, Sample
from tests.block_rows import blocks_of

HERE = Path(__file__).parent
R = json.loads((HERE / "r_tests.json").read_text(encoding="utf-8"))
AUTORANK = json.loads((HERE / "autorank.json").read_text(encoding="utf-8"))
near = pytest.approx


def table(rows):
    return Table(rows=tuple(map(tuple, rows)))


@pytest.mark.parametrize("case", R["area"])
def test_areas_equal_proc(case):
    t = PairedScores.of(np.array(case["truth"]) == 1, {"A": case["a"], "B": case["b"]})
    found = delong(t)
    assert [one.value for one in found.more] == near(case["areas"], rel=1e-12)
    if case["z"] == "NaN" or found.effect.interval is None:
        assert found.p == 1.0
        return
    assert (found.statistic, found.p) == near((case["z"], case["p"]), rel=1e-9)
    assert (found.effect.interval.low, found.effect.interval.high) == near(case["interval"], rel=1e-9)
    gap = case["areas"][0] - case["areas"][1]
    error = gap / case["z"] if gap else float(found.effect.interval.high) / ss.norm.ppf(0.975)
    assert find_test("auroc_non_inferiority")(t, margin=0.1).p == near(ss.norm.sf((gap + 0.1) / error), rel=1e-8)
    both = max(ss.norm.sf((gap + 0.1) / error), ss.norm.cdf((gap - 0.1) / error))
    assert find_test("auroc_equivalence")(t, margin=0.1).p == near(both, rel=1e-8)


@pytest.mark.parametrize("case", R["area"])
def test_areas_of_different_rows_equal_proc(case):
    y, first = np.array(case["truth"]) == 1, case["first"]
    parts = ((y[:first], case["a"][:first], "A"), (y[first:], case["b"][first:], "B"))
    scores = tuple(PairedScores.of(truth, {name: column}) for truth, column, name in parts)
    found = delong_unpaired(Apart(models=("A", "B"), labels=(0, 1), scores=scores))
    if case["apart_d"] in ("NaN", "Inf", "-Inf"):
        assert found.statistic.code == "zero-variance"
        return
    assert (found.statistic, found.p) == near((case["apart_d"], case["apart_p"]), rel=1e-9)
    assert found.df == near((case["apart_df"],), rel=1e-9)


@pytest.mark.parametrize("case", R["area"])
def test_square_and_add_of_areas_follows_its_definition(case):
    """Zou and Donner 2008, eq. 11 and 12, from pROC's areas, Newcombe's ends found by search, a kernel's covariance."""
    from assay.inference.tests.auc_beyond_delong import area_difference, area_differences

    y, scores = np.array(case["truth"]) == 1, np.array([case["a"], case["b"]])
    kernel = np.sign(scores[:, y][:, :, None] - scores[:, ~y][:, None, :]) / 2 + 0.5
    m, n = kernel.shape[1:]
    spread = np.cov(kernel.mean(axis=2)) / m + np.cov(kernel.mean(axis=1)) / n
    t = PairedScores.of(y, {"A": case["a"], "B": case["b"]})
    found = area_difference(t)
    assert area_differences.pairs(t)[0].p == found.p
    if found.effect.interval is None:
        assert case["z"] == "NaN" or ss.rankdata(case["a"]).tolist() == ss.rankdata(case["b"]).tolist()
        return
    both = spread[0, 0] * spread[1, 1]
    gap_variance = spread[0, 0] + spread[1, 1] - 2 * spread[0, 1]
    r = spread[0, 1] / math.sqrt(both) if both > 1e-20 and gap_variance > 1e-15 else 0.0

    def ends(i, level):
        x, v, few, z = case["areas"][i], spread[i, i], min(m, n), ss.norm.ppf((1 + level) / 2)
        size = (m + n) / 2 - 1

        def smooth(a):
            return a * (1 - a) * (1 + size * (1 - a) / (2 - a) + size * a / (1 + a)) / (m * n)

        if not 0 < x < 1 or v < 1e-15:
            grid = np.linspace(0, 1, 200_001)
            inside = grid[np.abs(x - grid) <= z * np.sqrt(smooth(grid))]
            return x, inside.min(), inside.max()
        wrong = few * min(x, 1 - x)
        if few < 50 or wrong < 2:
            parts = kernel.mean(axis=2)[i].var(ddof=1) / m, kernel.mean(axis=1)[i].var(ddof=1) / n
            rows = min(5, max((few / 20) ** 2, 0.2 / wrong))
            z = ss.t.ppf((1 + level) / 2, rows + v**2 / (parts[0] ** 2 / (m - 1) + parts[1] ** 2 / (n - 1)))
            v = (few * v + rows * smooth(x)) / (few + rows)
        reach = z * math.sqrt(v) / (x * (1 - x))
        return x, ss.logistic.cdf(ss.logistic.ppf(x) - reach), ss.logistic.cdf(ss.logistic.ppf(x) + reach)

    def added(level):
        (x, low_x, high_x), (v, low_v, high_v) = ends(0, level), ends(1, level)
        a, b, c, d = x - low_x, high_v - v, high_x - x, v - low_v
        reach = [math.sqrt(max(p * p + q * q - 2 * r * p * q, 0)) for p, q in ((a, b), (c, d))]
        return max(x - v - reach[0], -1), min(x - v + reach[1], 1)

    assert (found.effect.interval.low, found.effect.interval.high) == near(added(0.95), abs=2e-5)
    low, high = added(0.90)
    for size in (0.05, 0.2):
        assert (find_test("area_non_inferiority")(t, margin=size).p <= 0.05) == (low > -size)
        assert (find_test("area_equivalence")(t, margin=size).p <= 0.05) == (low > -size and high < size)


def test_apart_difference_of_shares_is_newcombes_interval():
    rows = ((56, 14), (48, 32))  # Newcombe 1998, table II, row (a): 56/70 and 48/80, method 10
    confusions = [Confusion.from_cells({(1, 1): a, (1, 0): b, (0, 0): 1}) for a, b in rows]
    t = Apart(models=("A", "B"), labels=(0, 1), confusions=tuple(confusions))
    found = apart_difference(t, measure="recall", positive=1)
    assert (found.effect.interval.low, found.effect.interval.high) == near((0.0524, 0.3339), abs=5e-5)


@pytest.mark.parametrize("rows", [((56, 14), (48, 32)), ((90, 10), (91, 9)), ((40, 0), (35, 5)), ((9, 3), (11, 1))])
def test_margins_on_different_rows_agree_with_newcombes_interval_of_statsmodels(rows):
    from statsmodels.stats.proportion import confint_proportions_2indep

    from assay.inference.tests_catalogue import find_test

    (a, b), (c, d) = rows
    confusions = [Confusion.from_cells({(1, 1): x, (1, 0): y}, labels=(0, 1)) for x, y in rows]
    t = Apart(models=("A", "B"), labels=(0, 1), confusions=tuple(confusions))
    low, high = confint_proportions_2indep(a, a + b, c, c + d, method="newcomb", alpha=0.10)
    z = ss.norm.ppf(0.95)
    gap = a / (a + b) - c / (c + d)
    for margin in (0.02, 0.15, 0.4):
        below, above = (gap + margin) * z / (gap - low), (margin - gap) * z / (high - gap)
        assert find_test("apart_non_inferiority")(t, margin=margin).p == near(ss.norm.sf(below), rel=1e-9)
        assert find_test("apart_equivalence")(t, margin=margin).p == near(ss.norm.sf(min(below, above)), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_costs_are_swapped_as_scipy_swaps_the_costs_of_rows(seed):
    from assay.inference.units.cost_difference import cost_permutation
    from assay.tally.paired.joint_cells import PairedLabels

    rng = np.random.default_rng(seed)
    price = np.array([[0.0, 1.5, 1.0], [2.0, 0.0, 0.25], [7.0, 3.0, 0.0]])
    y, a, b = rng.integers(0, 3, (3, 12))
    cells = {}
    for cell in zip(y.tolist(), a.tolist(), b.tolist(), strict=True):
        cells[cell] = cells.get(cell, 0) + 1
    found = cost_permutation(
        PairedLabels.from_cells(cells, models=("A", "B"), labels=(0, 1, 2)),
        costs={(i, j): price[i, j] for i in range(3) for j in range(3)},
    )
    exact = ss.permutation_test(
        (price[y, a], price[y, b]), lambda x, y, axis: (x - y).mean(axis=axis), permutation_type="samples",
        n_resamples=np.inf, vectorized=True,
    )  # fmt: skip
    assert found.effect.value == near(exact.statistic, abs=1e-12)
    assert found.p == near(exact.pvalue, abs=0.02)


@pytest.mark.parametrize("kind", ["unit_non_inferiority", "unit_equivalence"])
def test_margins_by_units_are_t_tests_with_the_spread_of_draws(kind):
    rng = np.random.default_rng(8)
    y, a, b = rng.integers(0, 2, (3, 400))
    t = PerUnit.of(truth=y.tolist(), labels=(0, 1), models=("A", "B"), calls=[a.tolist(), b.tolist()],
                      subject=list(range(400)))  # fmt: skip
    gap = (a == y).astype(float) - (b == y)
    found = find_test(kind)(t, margin=0.1)
    want = ss.ttest_1samp(gap, -0.1).statistic
    other = -ss.ttest_1samp(gap, 0.1).statistic
    want = want if kind == "unit_non_inferiority" else min(want, other)
    assert found.statistic == near(want, rel=0.03)
    assert found.p == near(ss.t.sf(found.statistic, 399), rel=1e-9)


@pytest.mark.parametrize("case", R["ranks"])
def test_rank_tests_equal_r(case):
    found = ranks.wilcoxon(Pairs.of(case["d"], np.zeros(len(case["d"]))))
    assert found.p == near(case["p"], rel=1e-12)
    assert found.effect.value == near(case["estimate"], rel=1e-9)
    assert (found.effect.interval.low, found.effect.interval.high) == near(case["interval"], rel=1e-9)
    apart = ranks.mann_whitney(Groups.of({"A": case["a"], "B": case["b"]}))
    assert apart.p == near(case["apart_p"], rel=1e-9)


@pytest.mark.parametrize("case", R["spread"])
def test_spreads_equal_r(case):
    t = Groups.of({"A": case["a"], "B": case["b"]})
    found = variance_f(t)
    assert (found.statistic, found.p) == near((case["f"], case["p"]), rel=1e-9)
    assert (found.effect.interval.low, found.effect.interval.high) == near(case["interval"], rel=1e-9)
    assert bartlett(t).p == near(case["bartlett"], rel=1e-9)


@pytest.mark.parametrize("case", R["measured"])
def test_analyses_of_variance_equal_r(case):
    x = np.array(case["x"])
    t = blocks_of(x.tolist())
    plain, corrected = anova.repeated_measures_anova(t), anova.greenhouse_geisser(t)
    assert (plain.statistic, plain.p) == near((case["f"], case["p"]), rel=1e-9)
    assert corrected.p == near(case["gg"], rel=1e-9)
    groups = Groups.of(dict(zip("ABCD", x.T, strict=True)))
    if len(x) == 5:  # the distribution of the studentised range takes its time
        assert [one.p for one in anova.tukey.pairs(groups)] == near(case["tukey_p"], rel=1e-5)
    welch = anova.welch_anova(groups)
    assert (welch.statistic, welch.p) == near((case["welch_f"], case["welch_p"]), rel=1e-9)
    assert several_ranks.friedman(t).p == near(case["friedman"], rel=1e-9)
    davenport = several_ranks.iman_davenport(t)
    assert (davenport.statistic, davenport.p) == near((case["davenport_f"], case["davenport_p"]), rel=1e-9)


@pytest.mark.parametrize("case", R["counts"])
def test_counts_equal_r(case):
    four = table(case["four"])
    fisher = contingency.fisher_exact(four)
    assert fisher.p == near(case["fisher_p"], rel=1e-9)
    assert contingency.chi_squared_association(table(case["wide"])).p == near(case["chi"], rel=1e-9)
    drawn = contingency.fisher_monte_carlo(table(case["wide"]), draws=4000)
    assert drawn.p == near(case["wide_p"], abs=4 * math.sqrt(0.25 / 4000))
    by = np.array(case["strata"])
    stack = strata.cochran_mantel_haenszel(Strata(tables={str(s): table(by[:, :, s].tolist()) for s in range(3)}))
    assert (stack.p, stack.effect.value) == near((case["mantel_p"], case["mantel_odds"]), rel=1e-8)
    shares = [(x, n - x) for x, n in zip(case["hits"], case["of"], strict=True)]
    assert contingency.two_shares(table(shares)).p == near(case["shares_p"], rel=1e-9)
    one = contingency.exact_binomial(Successes(successes=case["hits"][0], n=case["of"][0], against=0.5))
    assert one.p == near(case["binomial_p"], rel=1e-9)
    (a, b), (c, d) = case["four"]
    t = Outcomes(both=a, only_a=b, only_b=c, neither=d)
    if b != c:
        assert mcnemar.mcnemar_continuity(t).p == near(case["mcnemar"], rel=1e-9)
    assert mcnemar.mcnemar_plain(t).p == near(case["mcnemar_plain"], rel=1e-9)


@pytest.mark.parametrize("case", R["many"])
def test_corrections_equal_r_and_statsmodels(case):
    from statsmodels.stats.multitest import multipletests

    ours = {
        "bonferroni": multiplicity.bonferroni,
        "holm": multiplicity.holm,
        "BH": multiplicity.benjamini_hochberg,
        "BY": multiplicity.benjamini_yekutieli,
    }
    for name, correct in ours.items():
        assert correct(case["p"]) == near(case[name], rel=1e-12), name
    assert multiplicity.sidak(case["p"]) == near(multipletests(case["p"], method="sidak")[1].tolist(), rel=1e-9)


@pytest.mark.parametrize("case", AUTORANK)
def test_the_same_test_gives_the_number_of_autorank(case):
    """Its Wilcoxon test is one-sided in the direction the data show, which is half of the two-sided p value."""
    x = np.array(case["values"])
    t = blocks_of(x.tolist())
    if case["omnibus"] == "ttest":
        assert means.paired_t(Pairs.of(x[:, 0], x[:, 1])).p == near(case["p"], rel=1e-9)
    elif case["omnibus"] == "wilcoxon":
        ours = ranks.wilcoxon(Pairs.of(x[:, 1], x[:, 0]), alternative="greater").p
        assert ours == near(case["p"], rel=1e-9)
    elif case["omnibus"] == "anova":
        assert anova.repeated_measures_anova(t).p == near(case["p"], rel=1e-8)
    else:
        assert several_ranks.friedman(t).p == near(case["p"], rel=1e-9)
        assert several_ranks.ranked(t).mean(axis=0).tolist() == near(case["mean_ranks"], rel=1e-12)
        assert several_ranks.critical_difference(t, 0.95) == near(case["cd"], rel=1e-3)  # a table of three decimals


FAMILY = {
    "paired_t": "ttest",
    "wilcoxon": "wilcoxon",
    "greenhouse_geisser": "anova",
    "iman_davenport": "friedman",
    "friedman_permutation": "friedman",
}


@pytest.mark.parametrize("case", [one for one in AUTORANK if len(one["values"]) >= 20])
def test_the_choice_is_that_of_autorank_where_there_are_enough_items(case):
    """Below 20 items the table keeps to ranks, because a passed check of normality says nothing there."""
    x = np.array(case["values"]).T
    found = assay.compare_values(values={f"m{i}": one for i, one in enumerate(x)})
    assert FAMILY[found.findings[0].test] == case["omnibus"]


def test_items_too_few_to_judge_are_ranked_whatever_autorank_does():
    few = [one for one in AUTORANK if len(one["values"]) < 20]
    assert {one["omnibus"] for one in few} == {"ttest", "anova"}
    for case in few:
        found = assay.compare_values(values={f"m{i}": one for i, one in enumerate(np.array(case["values"]).T)})
        assert FAMILY[found.findings[0].test] in ("wilcoxon", "friedman")


@pytest.mark.parametrize("seed", range(6))
def test_several_areas_equal_the_quadratic_form(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(40) % 2 == 0
    s = np.round(rng.normal(size=(3, 40)) + y, 1)
    t = PairedScores.of(y, dict(zip("ABC", s, strict=True)))
    above = (s[:, y, None] > s[:, None, ~y]) + 0.5 * (s[:, y, None] == s[:, None, ~y])
    area, spread = above.mean(axis=(1, 2)), np.cov(above.mean(axis=2)) / 20 + np.cov(above.mean(axis=1)) / 20
    c = np.array([[1, -1, 0], [0, 1, -1]])
    chi = (c @ area) @ np.linalg.solve(c @ spread @ c.T, c @ area)
    found = delong_many(t)
    assert (found.statistic, found.p) == near((chi, ss.chi2.sf(chi, 2)), rel=1e-8)
    for one, (a, b) in zip(delong_pairs.pairs(t), itertools.combinations(range(3), 2), strict=True):
        z = (area[a] - area[b]) / math.sqrt(spread[a, a] + spread[b, b] - 2 * spread[a, b])
        assert one.p == near(2 * ss.norm.sf(abs(z)), rel=1e-8)


def test_friedmans_test_by_permutation_agrees_with_all_permutations():
    x = np.random.default_rng(3).normal(size=(4, 3)) + np.array([0, 0.4, 0.9])
    places = np.argsort(np.argsort(x, axis=1), axis=1)
    orders = np.array(list(itertools.permutations(range(3))))
    sums = np.array([orders[list(pick)].sum(axis=0) for pick in itertools.product(range(6), repeat=4)])
    far = (sums**2).sum(axis=1) >= (places.sum(axis=0) ** 2).sum()
    assert several_ranks.friedman_permutation(blocks_of(x.tolist()), draws=9999).p == near(far.mean(), abs=0.02)


@pytest.mark.parametrize("seed", range(4))
def test_the_control_the_fit_the_channels_and_normality_equal_scipy(seed):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(9, 4)), 1)
    mean = ss.rankdata(-x, axis=1).mean(axis=0)
    t = Blocks.of(dict(zip("ABCD", x.T, strict=True)))
    for one, k in zip(several_ranks.against_control.pairs(t, control="A"), (1, 2, 3), strict=True):
        z = (mean[k] - mean[0]) / math.sqrt(4 * 5 / (6 * 9))
        assert one.p == near(2 * ss.norm.sf(abs(z)), rel=1e-9)
    seen, share = rng.integers(5, 30, 4), np.array([1, 2, 3, 4])
    found = contingency.chi_squared_fit(Table(rows=(tuple(seen.tolist()), tuple(share.tolist()))))
    assert found.p == near(ss.chisquare(seen, share / share.sum() * seen.sum()).pvalue, rel=1e-9)
    cells = rng.integers(1, 20, (3, 2))
    by = {str(i): Outcomes(both=9, only_a=int(b), only_b=int(c), neither=3) for i, (b, c) in enumerate(cells)}
    ours = mcnemar.channel_heterogeneity(Channels(by=by, models=("A", "B")))
    assert ours.p == near(ss.chi2_contingency(cells, correction=False).pvalue, rel=1e-9)
    assert shapiro_wilk(Sample.of(x[:, 0])).p == near(ss.shapiro(x[:, 0]).pvalue, rel=1e-9)


@pytest.mark.parametrize(("b", "c", "n"), [(30, 18, 200), (4, 4, 25), (0, 7, 60), (9, 2, 30)])
def test_paired_shares_and_their_margins_follow_their_definition(b, c, n):
    """The score test with the most likely shares under the margin, found by search instead of by formula."""
    from scipy.optimize import minimize_scalar

    t = Outcomes(both=n - b - c - 5, only_a=b, only_b=c, neither=5)
    d = np.r_[np.ones(b), -np.ones(c), np.zeros(n - b - c)]
    wald = d.mean() / (d.std() / math.sqrt(n))
    assert mcnemar.paired_shares(t).p == near(2 * ss.norm.sf(abs(wald)), rel=1e-9)

    def score(margin):
        def unlikely(q):
            with np.errstate(divide="ignore", invalid="ignore"):
                p = q + margin, q, 1 - 2 * q - margin
                return -sum(k * math.log(max(x, 1e-300)) for k, x in zip((b, c, n - b - c), p, strict=True) if k)

        low = max(0.0, -margin)
        q = minimize_scalar(unlikely, bounds=(low, (1 - margin) / 2), method="bounded", options={"xatol": 1e-13}).x
        return (b - c - n * margin) / math.sqrt(n * (2 * q + margin - margin**2))

    lower, upper = ss.norm.sf(score(-0.1)), ss.norm.cdf(score(0.1))
    assert find_test("share_non_inferiority")(t, margin=0.1).p == near(lower, rel=1e-4)
    assert find_test("share_equivalence")(t, margin=0.1).p == near(max(lower, upper), rel=1e-4)
    x = np.random.default_rng(b).normal(size=n)
    ours = find_test("mean_non_inferiority")(Pairs.of(x, np.zeros(n)), margin=0.2)
    assert ours.p == near(ss.ttest_1samp(x, -0.2, alternative="greater").pvalue, rel=1e-9)


def test_every_declared_test_stands_beside_a_reference():
    told = "".join(one.read_text(encoding="utf-8") for one in HERE.glob("test_*.py"))
    assert [one.name for one in every_test() if not re.search(rf"\b{one.name}\b", told)] == []
    ids = {one.spec for one in every_test()}
    covered = {f"T-{i:02d}" for i in range(1, 37)} - {"T-07"}  # T-07 is reserved
    corrections = {"T-27", "T-28", "T-29", "T-30", "T-31"}  # tested above, no tests of a tally
    assert covered - ids - corrections == {"T-15"}  # McNemar by class: the golden values of Rainio et al.


def test_marginal_homogeneity_of_two_classes_is_mcnemars_test():
    from assay.tally.contingency_tables import Calls

    calls = Calls(rows=((20, 9), (3, 15)), labels=(0, 1))
    plain = mcnemar.mcnemar_plain(Outcomes(both=20, only_a=9, only_b=3, neither=15))
    assert mcnemar.bowker(calls).p == near(plain.p)
    assert mcnemar.stuart_maxwell(calls).p == near(plain.p)
