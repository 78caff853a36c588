# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc

import numpy as np
import pytest
from scipy.stats import norm

from assay.core.values import Number, Undefined
from assay.inference.estimates import Interval
from assay.inference.intervals import score_draws as scoredraws
from assay.inference.intervals.interval_choice import Wanted
from assay.inference.intervals.score_draws import CELLS, KEPT, ScoreDraws, draws_of, joined
from assay.inference.intervals.score_intervals import NO_SPREAD, ScoreUncertainty
from assay.measures import parse
from assay.tally.scores.ranked_table import Ranked
from assay.tally.scores.score_tally import Scores
from assay.tally.scores.true_class_ranks import Ranks
from tests import flat
from tests.scorecases import RANKED_CASES, SCORES_CASES

FEWER = Wanted(draws=1000)


def sample(n=300, seed=1, shift=1.2):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    return 1 / (1 + np.exp(-(rng.normal(size=n) + shift * truth - 0.5))), truth


def table(*given, **named):
    return Scores.binary(*sample(*given, **named)).one_vs_rest(1)


@pytest.mark.parametrize("case", RANKED_CASES, ids=str)
def test_the_interval_of_a_table_holds_the_value_and_stays_inside_the_range(case):
    t, measure = table(), case.ready(2)
    value = measure(t)
    found = ScoreUncertainty(t, FEWER).interval(measure, value)
    if measure.name == "brier_miscalibration" or str(case) == "lift_at(share=1)":
        assert "chance alone" in found or "no way for the value to vary" in found
        return
    assert isinstance(found, Interval), found
    assert measure.range[0] <= found.low <= value.value <= found.high <= measure.range[1]
    assert found.low < found.high


@pytest.mark.parametrize(
    "name", ["average_precision", "h_measure", "brier_score", "calibration_slope", "lift_at(share=0.2)"]
)
def test_four_times_the_rows_halve_the_interval_about(name):
    widths = []
    for n in (400, 1600):
        t = table(n)
        found = ScoreUncertainty(t, Wanted()).interval(parse(name), parse(name)(t))
        widths.append(found.high - found.low)
    assert 1.5 < widths[0] / widths[1] < 2.7


def test_the_same_seed_gives_the_same_ends_whatever_was_asked_before():
    t, ap = table(), parse("average_precision")
    first = ScoreUncertainty(t, FEWER)
    alone = first.interval(ap, ap(t))
    second = ScoreUncertainty(t, FEWER)
    second.interval(parse("brier_score"), parse("brier_score")(t))
    assert second.interval(ap, ap(t)) == alone


@pytest.mark.parametrize("case", SCORES_CASES, ids=str)
def test_averages_over_classes_have_an_interval_or_a_reason(case):
    rng = np.random.default_rng(2)
    matrix = rng.dirichlet(np.ones(3), 200)
    truth = [int(rng.choice(3, p=row)) for row in matrix]
    t, measure = Scores.per_class(matrix, truth, "abc"), case.ready(3)
    value = measure(t)
    found = ScoreUncertainty(t, FEWER).interval(measure, value)
    if "micro" in measure.name:
        assert "depend on each other" in found
    elif measure.base == "expected_calibration_error":
        assert "share their rows" in found
    else:
        assert found.low < value.value < found.high


def test_a_share_of_ranks_gets_wilson():
    t = Ranks.of([[0.5, 0.3, 0.2]] * 8, [0, 0, 0, 0, 0, 1, 1, 2])
    found = ScoreUncertainty(t, FEWER).interval(parse("top_k_accuracy(k=1)"), parse("top_k_accuracy(k=1)")(t))
    assert found.method == "wilson"
    assert found.low < 5 / 8 < found.high


def test_what_has_no_value_or_no_counts_has_no_interval():
    scores, truth = sample()
    auroc = parse("auroc")
    weighted = Scores.binary(scores, truth, np.ones(300)).one_vs_rest(1)
    assert "weights" in ScoreUncertainty(weighted, FEWER).interval(auroc, auroc(weighted))
    alone = Scores.binary(scores, np.ones(300, dtype=bool)).one_vs_rest(1)
    assert isinstance(auroc(alone), Undefined)
    assert "undefined" in ScoreUncertainty(alone, FEWER).interval(auroc, auroc(alone))
    loss = parse("log_loss")
    sure = Scores.binary([0.0, 0.5, 0.7], [1, 0, 1]).one_vs_rest(1)
    assert loss(sure).value == np.inf
    assert "infinite" in ScoreUncertainty(sure, FEWER).interval(loss, loss(sure))
    matrix = Scores.per_class(np.full((4, 2), 0.5), [0, 1, 0, 1], "ab", [1, 1, 1, 2])
    assert "weights" in ScoreUncertainty(matrix, FEWER).interval(parse("auroc_macro"), parse("auroc_macro")(matrix))


def test_calibrated_probabilities_may_have_no_calibration_error():
    rng, ece = np.random.default_rng(3), parse("expected_calibration_error")
    lows = []
    for _ in range(20):
        q = rng.random(500)
        t = Scores.binary(q, rng.random(500) < q).one_vs_rest(1)
        lows.append(ScoreUncertainty(t, FEWER).interval(ece, ece(t)).low)
    assert lows.count(0) >= 17
    off = Scores.binary(q, rng.random(500) < q**3).one_vs_rest(1)
    assert ScoreUncertainty(off, FEWER).interval(ece, ece(off)).low > 0.05


def test_neighbouring_scores_are_joined_without_losing_rows():
    t = table(5000)
    few = joined(t)
    assert len(few.score) <= CELLS
    assert (few.pos.sum(), few.neg.sum()) == (t.positives, t.negatives)
    assert (np.diff(few.score) > 0).all()
    for name in ("auroc", "average_precision", "brier_score", "h_measure"):
        assert parse(name).values(few.drawn(few.pos[np.newaxis], few.neg[np.newaxis]))[0] == pytest.approx(
            parse(name)(t).value, abs=2e-3
        )


def test_draws_spread_as_the_area_does():
    from assay.inference.intervals.auc import delong_variance

    t = table(2000)
    drawn = ScoreDraws(t, 1).values(parse("auroc"), 2000)
    assert drawn.std() == pytest.approx(delong_variance(t) ** 0.5, rel=0.06)


@pytest.mark.parametrize("name", ["equal_error_rate", "h_measure", "auroc_convex_hull"])
@pytest.mark.parametrize("rows", [200, 5000])
def test_what_is_perfect_has_no_interval_of_next_to_no_width(name, rows):
    """No draw can put rows out of order; pooled neighbours and rounding would pass for near certainty."""
    measure = parse(name)
    t = Scores.binary(np.linspace(0, 1, rows), np.arange(rows) >= 0.7 * rows + 3).one_vs_rest(1)
    assert measure(t).value in measure.range
    assert ScoreUncertainty(t, FEWER).interval(measure, measure(t)) == NO_SPREAD


def test_draws_of_a_table_are_kept_for_the_next_measure_and_those_of_many_tables_are_not():
    tables = [table(50) for _ in range(KEPT + 1)]
    first = draws_of(tables[0], 1)
    assert draws_of(tables[0], 1) is first
    assert draws_of(tables[0], 2) is not first
    values = first.values(parse("brier_score"), 600)
    for one in tables[1:]:
        draws_of(one, 1).values(parse("brier_score"), 600)
    again = draws_of(tables[0], 1)
    assert again is not first
    assert len(scoredraws._SHELF) == KEPT
    np.testing.assert_array_equal(again.values(parse("brier_score"), 600), values)
    del first, again, one
    tables.clear()
    gc.collect()
    assert not scoredraws._SHELF


@pytest.mark.parametrize(("shift", "share"), [(0.5, 0.3), (2.5, 0.2)])
def test_the_largest_gap_is_moved_down_by_what_choosing_its_threshold_adds(shift, share):
    rng = np.random.default_rng(8)
    measure, held = parse("kolmogorov_smirnov"), 0
    for _ in range(60):
        truth = rng.random(100) < share
        t = Scores.binary(rng.normal(size=100) + shift * truth, truth).one_vs_rest(1)
        found = ScoreUncertainty(t, FEWER).interval(measure, measure(t))
        assert found.method == "newcombe at the best threshold, debiased"
        held += found.low <= 2 * norm.cdf(shift / 2) - 1 <= found.high
    assert held >= 53  # a plain bootstrap holds it in 39 to 53 of 60


def test_an_infinite_loss_of_several_classes_is_told_without_a_warning():
    chances = np.array([[0.5, 0.5, 0.0], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8], [0.6, 0.2, 0.2]])
    table, loss = Scores.per_class(chances, [2, 1, 2, 0], "abc"), parse("log_loss_multiclass")
    assert loss(table).value == np.inf
    assert "infinite" in ScoreUncertainty(table, FEWER).interval(loss, loss(table))


def test_no_lift_reaches_further_than_calling_all_positives_allows():
    t, lift = table(60, seed=3, shift=3.0), parse("lift_at(share=0.1)")
    found = ScoreUncertainty(t, Wanted()).interval(lift, lift(t))
    assert found.low < lift(t).value <= found.high <= 10


def test_draws_at_an_end_lie_off_it_by_the_twentieth_of_a_row_of_the_smaller_class(monkeypatch):
    """Half of the draws are at 1, moved to 1 - 1/200 with nine positives, so their log-odds are 0 or ln 199."""
    monkeypatch.setattr(ScoreDraws, "values", lambda *_: np.tile([0.5, 1.0], 500))
    t = Scores.binary(np.arange(29) / 29, np.arange(29) < 9).one_vs_rest(1)
    found = ScoreUncertainty(t, FEWER).interval(parse("brier_score"), Number(0.5))
    z = norm.ppf(0.975)
    assert (found.low, found.high) == pytest.approx((1 / (1 + 199 ** (z / 2)), 1 / (1 + 199 ** (-z / 2))))


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_of_the_log_loss_over_classes_is_normal_on_the_logarithm(level):
    rng = np.random.default_rng(4)
    matrix = rng.dirichlet(np.ones(3), 200)
    truth = np.array([rng.choice(3, p=row) for row in matrix])
    t, measure = Scores.per_class(matrix, truth.tolist(), "abc"), parse("log_loss_multiclass")
    losses = -np.log(matrix[np.arange(200), truth])
    reach = norm.ppf((1 + level) / 2) * losses.std(ddof=1) / np.sqrt(200) / losses.mean()
    found = ScoreUncertainty(t, Wanted(level=level)).interval(measure, measure(t))
    assert found.method == "log normal"
    assert (found.low, found.high) == pytest.approx(tuple(losses.mean() * np.exp([-reach, reach])), rel=1e-9)


def test_scores_are_joined_alike_from_below_and_from_above():
    rng = np.random.default_rng(5)
    pos, neg = rng.integers(0, 9, size=(2, 1000))
    score = np.arange(1, 1001) / 1001
    up, down = (
        joined(Ranked(score=one, pos=p, neg=n), 101)
        for one, p, n in ((score, pos, neg), (1 - score[::-1], pos[::-1], neg[::-1]))
    )
    assert up.pos.tolist() == down.pos[::-1].tolist()
    assert up.neg.tolist() == down.neg[::-1].tolist()
    assert up.score == pytest.approx(1 - down.score[::-1], rel=1e-12)


@pytest.mark.parametrize("shift", [0.0, 0.3, 1.2])
def test_the_interval_of_gini_is_that_of_the_area_on_another_scale(shift):
    t = table(shift=shift)
    area, gini = (ScoreUncertainty(t, FEWER).interval(m, m(t)) for m in (parse("auroc"), parse("gini_coefficient")))
    assert (gini.low, gini.high) == pytest.approx((2 * area.low - 1, 2 * area.high - 1), abs=1e-12)
    assert gini.method == area.method


def test_averages_of_classes_with_two_rows_each_have_intervals_and_with_one_row_none():
    """The standard error of an area needs two rows of the class, and of the others."""
    share = np.array(
        [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.2, 0.6, 0.2], [0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.4, 0.4, 0.2]]
    )
    for truth, known in (([0, 0, 1, 1, 2, 2], True), ([0, 0, 1, 1, 1, 2], False)):
        a = flat.assess(truth=truth, score=dict(enumerate(share.T)), scores="probability")
        assert (a["auroc_macro"].interval is not None) == known


def test_losses_of_log_odds_are_those_of_their_probabilities():
    logits = np.round(np.random.default_rng(3).normal(size=(40, 3)), 2)
    share = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    truth = (np.arange(40) % 3).tolist()
    a, b = (
        flat.assess(truth=truth, score=dict(enumerate(table.T)), scores=kind)["log_loss_multiclass"]
        for table, kind in ((logits, "logit"), (share, "probability"))
    )
    assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), rel=1e-9)
