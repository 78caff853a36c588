# SPDX-License-Identifier: Apache-2.0
"""Every nasty input to a test of significance meets its ruling; the names carry the ids of the acceptance table."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.stats as ss
from scipy.optimize import brentq

import assay
from assay.core.values import Undefined
from assay.inference.intervals.proportion import clopper_pearson, wilson
from assay.inference.tests.contingency import exact_binomial
from assay.inference.tests.delong import delong
from assay.inference.tests.mcnemar import mcnemar_continuity, mcnemar_exact, mcnemar_plain
from assay.inference.tests.ranks import wilcoxon
from assay.inference.tests_catalogue import find_test
from assay.inference.units.permutation_and_bootstrap import mean_permutation, paired_bootstrap
from assay.tally.contingency_tables import Outcomes, Successes
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.real_values import Pairs
from tests import flat


def scores(y, **by_model):
    return PairedScores.of([x == 1 for x in y], by_model)


@pytest.mark.parametrize("test", [mcnemar_exact, mcnemar_continuity, mcnemar_plain], ids=lambda test: test.name)
def test_c01_models_that_never_disagree(test):
    found = test(Outcomes(both=10, only_a=0, only_b=0, neither=5))
    assert found.p == 1.0
    assert isinstance(found.statistic, Undefined)
    assert any("no power" in note for note in found.notes)


C02 = {
    "non-square": np.array([[1, 2, 3], [4, 5, 6]]),
    "negative": np.array([[1, -2], [3, 4]]),
    "floats": np.array([[1.5, 2.5], [3.5, 4.5]]),
    "raw truth": np.array([0, 1, 1, 0, 1, 0]),
    "raw predictions": np.array([0, 1, 0, 0, 1, 1]),
}


@pytest.mark.parametrize("wrong", C02.values(), ids=C02)
@pytest.mark.parametrize("test", [mcnemar_exact, mcnemar_continuity, mcnemar_plain], ids=lambda test: test.name)
def test_c02_tests_accept_only_tallies(test, wrong):
    with pytest.raises(assay.PlanError) as error:
        test(wrong)
    assert error.value.code == "test-needs"
    assert "let assay.compare count the rows" in error.value.fix


@pytest.mark.parametrize("cells", [(1, -2, 3, 4), (1.5, 2, 3, 4)])
def test_c02_a_table_is_of_whole_counts(cells):
    with pytest.raises(assay.PlanError):
        Outcomes(both=cells[0], only_a=cells[1], only_b=cells[2], neither=cells[3])


def test_c04_all_differences_zero():
    found = wilcoxon(Pairs.of(np.zeros(10), np.zeros(10)))
    assert found.p == 1.0
    assert found.statistic.reason == "all differences are zero"


@pytest.mark.parametrize("test", [None, "wilcoxon", "paired_t"])
def test_c05_nan_is_refused(test):
    named = {} if test is None else {"test": test, "because": "the case names it"}
    with pytest.raises(assay.RowsError) as error:
        flat.compare(values={"A": np.array([1.0, 2, 3, np.nan, 5]), "B": np.array([1.0, 1, 1, 1, 1])}, **named)
    assert error.value.code == "value-not-finite"
    assert "nan at index 3" in error.value.found


def test_c07_a_permutation_p_is_never_zero():
    found = mean_permutation(Pairs.of(np.arange(100) + 1000.0, np.arange(100) * 1.0), draws=999)
    assert found.p == pytest.approx(1 / 1000)
    assert found.notes == ("999 random swaps of the items, seed 4213; p = (1 + as far) / (1 + drawn)",)


def test_c07_the_report_tells_draws_seed_and_generator(tmp_path):
    given = {"values": {"A": np.arange(100) + 1000.0, "B": np.arange(100) * 1.0}, "test": "mean_permutation"}
    c = flat.compare(**given, because="the case asks for swaps")
    assert c["mean_permutation"].p == pytest.approx(1e-4)
    for told in (str(c), *(c.report(tmp_path / f"c.{kind}").read_text() for kind in ("html", "md", "json"))):
        assert "9,999 random swaps" in told
        assert "PCG64" in told
    assert c.record["environment"]["generator"] == "PCG64"


def test_c08_identical_models():
    s = [0.1, 0.9, 0.4, 0.35, 0.8, 0.7]
    found = delong(scores([0, 1, 0, 1, 0, 1], A=s, B=s))
    assert (found.effect.value, found.p) == (0.0, 1.0)
    assert found.statistic.reason == "zero variance: the two rankings are identical"


def test_c09_perfect_separation_has_no_interval_of_width_zero():
    found = delong(scores([0, 0, 0, 1, 1, 1], A=[0.1, 0.2, 0.3, 0.7, 0.8, 0.9], B=[0.1, 0.8, 0.3, 0.7, 0.2, 0.9]))
    perfect = found.more[0]
    assert perfect.value == 1.0
    assert perfect.interval.method == "newcombe score"
    assert perfect.interval.low < perfect.interval.high
    assert "[1" not in str(found)


def test_c09_a_comparison_with_a_perfect_ranking_names_its_fallback():
    scored = {"A": [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], "B": [0.1, 0.8, 0.3, 0.7, 0.2, 0.9]}
    c = assay.compare(truth=[0, 0, 0, 1, 1, 1], score=scored)
    found = c["delong"]
    assert (found.test, found.effect.interval.method) == ("auroc_permutation", "square-and-add of both areas")
    assert found.effect.interval.low < 0 < found.effect.interval.high
    assert found.p > 0.05
    page = str(c)
    assert "swaps of ranks" in page
    assert "squared and added" in " ".join(page.split())
    assert "DeLong's variance is too small or 0" in " ".join(page.split())


def test_c09_an_assessment_of_a_perfect_ranking_names_its_fallback():
    found = assay.assess(truth=[0, 0, 0, 1, 1, 1], score=[0.1, 0.2, 0.3, 0.7, 0.8, 0.9], threshold=0.5)["auroc"]
    assert (found.value, found.high) == (1.0, 1.0)
    assert 0 < found.low < 1
    assert found.interval.method == "newcombe score"
    # Newcombe 2006, method 5: the area whose own standard error, with three rows a class, reaches 1.
    z = ss.norm.ppf(0.975)

    def short(x):
        return 1 - x - z * math.sqrt(x * (1 - x) * (1 + 2 * (1 - x) / (2 - x) + 2 * x / (1 + x)) / 9)

    assert found.low == pytest.approx(brentq(short, 0, 0.9))


def test_c10_one_row_of_each_class_is_too_few():
    found = delong(scores([0, 1], A=[0.2, 0.7], B=[0.3, 0.4]))
    assert found.p is None
    assert "two of each" in found.reason
    alone = assay.compare(truth=[0, 1], score={"A": [0.2, 0.7], "B": [0.2, 0.7]})["delong"]
    assert alone.p is None
    assert "two of each are needed" in alone.reason


def test_c11_intervals_at_the_ends_stay_inside_and_have_width():
    for method in (wilson, clopper_pearson):
        assert method(0, 10, 0.95)[0] == 0.0 < method(0, 10, 0.95)[1] < 1
        assert 0 < method(10, 10, 0.95)[0] < method(10, 10, 0.95)[1] == 1.0
    with pytest.raises(assay.PlanError) as error:
        assay.assess(truth=[1, 1, 0], predicted=[0, 0, 0], intervals=assay.IntervalSettings(shares="wald"))
    assert error.value.code == "option-unknown"
    none = assay.assess(truth=[1] * 10 + [0] * 10, predicted=[0] * 20, positive=1)["recall"]
    assert (none.value, none.low) == (0.0, 0.0)
    assert 0 < none.high < 1


@pytest.mark.parametrize("level", [95, 0.05, 1.0, 0])
def test_c12_a_level_that_is_none_is_refused(level):
    for run in (assay.compare, assay.assess):
        called = {"A": [1, 0], "B": [1, 1]} if run is assay.compare else [1, 0]
        with pytest.raises(assay.PlanError) as error:
            run(truth=[1, 0], predicted=called, level=level)
        assert error.value.code == "confidence-level-range"
        if level in (95, 0.05):
            assert "did you mean 0.95?" in error.value.fix


@pytest.mark.parametrize(("successes", "n"), [(11, 10), (-1, 10), (1.5, 10)])
def test_c12_impossible_counts_are_refused(successes, n):
    with pytest.raises(assay.PlanError):
        exact_binomial(Successes(successes=successes, n=n, against=0.5))


def test_c13_the_bootstrap_of_the_case_counts_what_it_lost():
    y, s, p = [0] * 29 + [1], [*np.linspace(0, 0.9, 29), 0.95], [0] * 29 + [1]
    c = assay.compare(
        truth=y,
        predicted={"A": p, "B": [0] * 30},
        score={"A": s, "B": s[::-1]},
        intervals=assay.IntervalSettings(draws=999),
        measures=["recall", "average_precision"],
    )
    for about in ("recall", "average_precision"):
        found = next(one for one in c.findings if one.about == about and "permutation" in one.test)
        assert found.effect.interval is None
        assert re.search(r"\d+ draws of 999 left the measure undefined", found.effect.no_interval)
        assert "stratified=True" in found.effect.no_interval
    kept = assay.compare(
        truth=y, predicted={"A": p, "B": [0] * 29 + [0]}, measures=["f1"], tests=assay.TestSettings(stratified=True)
    )["f1"]
    assert kept.effect.interval is None or kept.effect.interval.low <= kept.effect.value


def test_c13_draws_that_lose_a_class_are_counted():
    t = PairedLabels.from_cells({(0, 0, 0): 28, (0, 1, 0): 1, (1, 1, 0): 1}, models=("A", "B"))
    found = paired_bootstrap(t, measure="recall", positive=1, draws=500)
    assert found.effect.interval is None
    assert "left the measure undefined" in found.effect.no_interval


def test_c14_the_seed_is_fixed_and_written_down(tmp_path):
    given = {"truth": [0, 1] * 20, "predicted": {"A": [0, 1, 1, 1] * 10, "B": [0, 0, 1, 1] * 10}}
    one, two = flat.compare(**given), flat.compare(**given)
    assert one.record["findings"] == two.record["findings"]
    assert one.record["plan"]["seed"] == 4213
    frame = {"y": given["truth"], **given["predicted"]}
    pl.DataFrame(frame).write_csv(tmp_path / "t.csv")
    for data in (pd.DataFrame(frame), pl.DataFrame(frame), pl.LazyFrame(frame)):
        again = assay.compare(data=data, truth="y", predicted={"A": "A", "B": "B"})
        assert again.record["findings"] == one.record["findings"]
    read = assay.compare(data=tmp_path / "t.csv", truth="y", predicted={"A": "A", "B": "B"}, positive="1")
    told = [[(f.p, f.effect.to_json()) for f in c.findings] for c in (one, read)]  # labels of a CSV are text
    assert told[0] == told[1]


def test_c17_a_measure_at_its_end_gets_no_interval_of_width_zero():
    c = assay.compare(truth=[1, 1, 0, 0], predicted={"A": [0, 0, 1, 1], "B": [0, 0, 1, 1]}, measures=["f1"])
    assert c["f1"].effect.interval is None
    assert c["f1"].p == 1.0
    alone = assay.assess(truth=[1, 1, 0, 0], predicted=[0, 0, 1, 1], intervals=assay.IntervalSettings(cells="delta"))[
        "f1"
    ]
    assert alone.value == 0.0
    assert alone.interval is None
    assert "no width" in alone.no_interval or "0" in alone.no_interval


def test_c18_a_tiny_p_is_a_bound_and_its_logarithm_is_kept():
    found = mcnemar_plain(Outcomes(both=0, only_a=10_000, only_b=0, neither=0))
    assert found.p_shown == "p < 1e-300"
    assert found.to_json()["log10_p"] < -2000
    assert "p = 0 " not in str(found)


@pytest.mark.parametrize("name", ["delong", "mcnemar_plain", "mcnemar_continuity"])
def test_the_peers_that_said_zero_are_answered(name):
    """ACCEPTANCE 1 and 2: a model against itself, where other libraries print p = 0."""
    test = find_test(name)
    s = [0.2, 0.7, 0.4]
    tally = scores([0, 1, 1], A=s, B=s) if name == "delong" else Outcomes(both=3, only_a=0, only_b=0, neither=2)
    assert test(tally).p in (1.0, None)
