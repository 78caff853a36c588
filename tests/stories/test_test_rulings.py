# SPDX-License-Identifier: Apache-2.0
"""Every nasty input to a test of significance meets its ruling; the names carry the ids of the acceptance table."""

from __future__ import annotations

import numpy as np
import pytest

import assay
from assay.core.values import Undefined
from assay.inference.catalogue import find_test
from assay.inference.delong import delong
from assay.inference.mcnemar import mcnemar_continuity, mcnemar_exact, mcnemar_plain
from assay.inference.proportion import clopper_pearson, wilson
from assay.inference.ranks import wilcoxon
from assay.inference.swapping import mean_permutation, paired_bootstrap
from assay.tally.outcomes import Outcomes
from assay.tally.paired import PairedLabels
from assay.tally.pairedscores import PairedScores
from assay.tally.samples import Pairs


def scores(y, **by_model):
    return PairedScores.of([x == 1 for x in y], by_model)


@pytest.mark.parametrize("test", [mcnemar_exact, mcnemar_continuity, mcnemar_plain], ids=lambda test: test.name)
def test_c01_models_that_never_disagree(test):
    found = test(Outcomes(both=10, only_a=0, only_b=0, neither=5))
    assert found.p == 1.0
    assert isinstance(found.statistic, Undefined)
    assert any("no power" in note for note in found.notes)


@pytest.mark.parametrize("wrong", [np.array([[1, 2, 3], [4, 5, 6]]), np.array([0, 1, 1]), [[1.5, 2.5], [3.5, 4.5]]])
def test_c02_tests_accept_only_tallies(wrong):
    with pytest.raises(assay.PlanError):
        mcnemar_exact(wrong)


@pytest.mark.parametrize("cells", [(1, -2, 3, 4), (1.5, 2, 3, 4)])
def test_c02_a_table_is_of_whole_counts(cells):
    with pytest.raises(assay.PlanError):
        Outcomes(both=cells[0], only_a=cells[1], only_b=cells[2], neither=cells[3])


def test_c04_all_differences_zero():
    found = wilcoxon(Pairs.of(np.zeros(10), np.zeros(10)))
    assert found.p == 1.0
    assert found.statistic.reason == "all differences are zero"


def test_c05_nan_is_refused():
    with pytest.raises(assay.RowsError) as error:
        assay.compare(values={"A": [1.0, 2, 3, float("nan"), 5], "B": [1.0] * 5})
    assert error.value.code == "value-not-finite"


def test_c07_a_permutation_p_is_never_zero():
    found = mean_permutation(Pairs.of(np.arange(100) + 1000.0, np.arange(100) * 1.0), draws=999)
    assert found.p == pytest.approx(1 / 1000)
    assert "seed" in found.notes[0]


def test_c08_identical_models():
    s = [0.1, 0.9, 0.4, 0.35, 0.8, 0.7]
    found = delong(scores([0, 1, 0, 1, 0, 1], A=s, B=s))
    assert (found.effect.value, found.p) == (0.0, 1.0)
    assert found.statistic.reason == "zero variance: the two rankings are identical"


def test_c09_perfect_separation_has_no_interval_of_width_zero():
    found = delong(scores([0, 0, 0, 1, 1, 1], A=[0.1, 0.2, 0.3, 0.7, 0.8, 0.9], B=[0.1, 0.8, 0.3, 0.7, 0.2, 0.9]))
    perfect = found.more[0]
    assert perfect.value == 1.0
    assert perfect.interval is None
    assert perfect.no_interval


def test_c10_one_row_of_each_class_is_too_few():
    found = delong(scores([0, 1], A=[0.2, 0.7], B=[0.3, 0.4]))
    assert found.p is None
    assert "two of each" in found.reason


def test_c11_intervals_at_the_ends_stay_inside_and_have_width():
    for method in (wilson, clopper_pearson):
        assert method(0, 10, 0.95)[0] == 0.0 < method(0, 10, 0.95)[1] < 1
        assert 0 < method(10, 10, 0.95)[0] < method(10, 10, 0.95)[1] == 1.0


@pytest.mark.parametrize("level", [95, 0.05, 1.0, 0])
def test_c12_a_level_that_is_none_is_refused(level):
    with pytest.raises(assay.PlanError) as error:
        assay.compare(truth=[1, 0], predicted={"A": [1, 0], "B": [1, 1]}, level=level)
    assert error.value.code == "confidence-level-range"


def test_c13_draws_that_lose_a_class_are_counted():
    t = PairedLabels.from_cells({(0, 0, 0): 28, (0, 1, 0): 1, (1, 1, 0): 1}, models=("A", "B"))
    found = paired_bootstrap(t, measure="recall", positive=1, draws=500)
    assert found.effect.interval is None
    assert "left the measure undefined" in found.effect.no_interval


def test_c14_the_seed_is_fixed_and_written_down():
    given = {"truth": [0, 1] * 20, "predicted": {"A": [0, 1, 1, 1] * 10, "B": [0, 0, 1, 1] * 10}}
    one, two = assay.compare(**given), assay.compare(**given)
    assert one.record["findings"] == two.record["findings"]
    assert one.record["plan"]["seed"] == 4213


def test_c17_a_measure_at_its_end_gets_no_interval_of_width_zero():
    c = assay.compare(truth=[1, 1, 0, 0], predicted={"A": [0, 0, 1, 1], "B": [0, 0, 1, 1]}, measures=["f1"])
    assert c["f1"].effect.interval is None
    assert c["f1"].p == 1.0


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
