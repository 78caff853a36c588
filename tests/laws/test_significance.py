# SPDX-License-Identifier: Apache-2.0
"""Laws that every declared test obeys, over generated tallies."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from assay.core.errors import PlanError
from assay.core.traits import Source
from assay.inference.findings import Finding
from assay.inference.tests_catalogue import every_test, find_test
from assay.tally.contingency_tables import Calls, Channels, Outcomes, Patterns, Strata, Successes, Table
from assay.tally.labels.confusion import Confusion
from assay.tally.paired.different_rows import Apart
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit
from assay.tally.real_values import Blocks, FiveByTwo, Folds, Groups, Halved, Pairs, Sample
from tests.block_rows import blocks_of

TESTS = every_test()
COSTS = {(i, j): 0.0 if i == j else 1.0 + i for i in range(3) for j in range(3)}
NEEDS = {"margin": 0.1, "control": "A", "positive": 1, "draws": 400, "costs": COSTS}


def rng_of(seed):
    return np.random.default_rng(seed)


def outcomes(seed, *, swapped=False, same=False):
    both, a, b, neither = rng_of(seed).integers(0, 30, 4).tolist()
    if same:
        a = b = 0
    return Outcomes(both=both + 1, only_a=b if swapped else a, only_b=a if swapped else b, neither=neither)


def pairs(seed, *, swapped=False, same=False):
    a, b = np.round(rng_of(seed).normal(size=(2, 12)), 2 - seed % 2)
    if same:
        b = a
    return Pairs.of(b, a) if swapped else Pairs.of(a, b)


def labels(seed, *, swapped=False, same=False):
    rng = rng_of(seed)
    y, a, b = rng.integers(0, 2, (3, 60))
    a = np.where(rng.random(60) < 0.6, y, a)
    if same:
        b = a
    cells = {}
    for cell in zip(y.tolist(), *((b, a) if swapped else (a, b)), strict=True):
        key = tuple(int(x) for x in cell)
        cells[key] = cells.get(key, 0) + 1
    return PairedLabels.from_cells(cells, models=("A", "B"))


def scores(seed, *, swapped=False, same=False, models=2):
    rng = rng_of(seed)
    p, n = (
        np.round(rng.normal(size=(models, 14)) + 1, 2 - seed % 2),
        np.round(rng.normal(size=(models, 19)), 2 - seed % 2),
    )
    if same:
        p[:], n[:] = p[0], n[0]
    if swapped:
        p, n = p[::-1], n[::-1]
    return PairedScores(models=("A", "B", "C")[:models], positives=p, negatives=n)


def rows(seed, *, weighted=False, same=False, swapped=False):
    rng = rng_of(seed)
    calls = rng.integers(0, 2, (2, 40))
    if same:
        calls[1] = calls[0]
    if swapped:
        calls = calls[::-1]
    more = {"weight": rng.integers(1, 4, 40) / 2} if weighted else {"subject": rng.integers(0, 9, 40).tolist()}
    truth = rng.integers(0, 2, 40).tolist()
    return PerUnit.of(truth=truth, labels=(0, 1), models=("A", "B"), calls=calls.tolist(), **more)


def very_many(seed, *, same=False, swapped=False):
    rng = rng_of(seed)
    calls = rng.integers(0, 2, (2, 900))
    calls = calls[[0, 0]] if same else calls[::-1] if swapped else calls
    more = {"weight": rng.random(900)} if seed % 2 else {"subject": rng.integers(0, 300, 900).tolist()}
    truth = rng.integers(0, 2, 900).tolist()
    return PerUnit.of(truth=truth, labels=(0, 1), models=("A", "B"), calls=calls.tolist(), **more)


def class_scores(seed, *, swapped=False, same=False):
    rng = rng_of(seed)
    a, b = np.round(rng.normal(size=(2, 40, 3)), 1)
    a, b = (a, a) if same else (b, a) if swapped else (a, b)
    truth = (np.arange(40) % 3).tolist()
    return PerUnit.of(truth=truth, labels=(0, 1, 2), models=("A", "B"), scores={"A": a, "B": b})


def apart(seed, *, swapped=False, same=False):
    rng = rng_of(seed)
    made = []
    for name, n in (("A", 40), ("B", 50)):
        y = np.arange(n) % 2
        s = np.round(y + rng.normal(size=n), 1)
        cells = Counter(zip(y.tolist(), (s > 0.5).astype(int).tolist(), strict=True))
        made.append((Confusion.from_cells(dict(cells), labels=(0, 1)), PairedScores.of(y == 1, {name: s})))
    made = [made[0], made[0]] if same else made[::-1] if swapped else made
    confusions, scores = zip(*made, strict=True)
    return Apart(models=("A", "B"), labels=(0, 1), confusions=confusions, scores=scores)


def blocks(seed, *, same=False):
    x = np.round(rng_of(seed).normal(size=(7, 3)), 2 - seed % 2)
    return blocks_of([[row[0]] * 3 for row in x.tolist()] if same else x.tolist())


def groups(seed, *, same=False, k=2):
    rng = rng_of(seed)
    x = [np.round(rng.normal(size=size), 2 - seed % 2) for size in (9, 7, 8)[:k]]
    return Groups.of({name: x[0] if same else column for name, column in zip("ABC", x, strict=False)})


def table(seed, *, least=0):
    return Table(rows=tuple(map(tuple, rng_of(seed).integers(least, 12, (2, 2)).tolist())))


def folds(seed, *, swapped=False, same=False):
    return Folds.of(pairs(seed, swapped=swapped, same=same), test_over_train=Fraction(1, 9))


def five(seed, *, swapped=False, same=False):
    d = np.round(rng_of(seed).normal(size=(5, 2)), 3) * (0 if same else -1 if swapped else 1)
    return FiveByTwo.of(d.tolist())


def halved(seed, *, swapped=False, same=False):
    d = np.round(rng_of(seed).normal(size=9), 3) * (0 if same else -1 if swapped else 1)
    return Halved.of(Pairs.of(d, np.zeros(9)))


def of(test, seed, **wanted):  # noqa: C901, PLR0911, PLR0912  one branch a kind
    """A tally of the kind a test takes."""
    kind = test.takes
    if kind is Groups:
        two = test.name in ("welch_t", "mann_whitney", "variance_f")
        return groups(seed, k=2 if two else 3, **wanted)
    if kind is PairedScores:
        return scores(seed, models=2 if test.name not in ("delong_many", "delong_pairs") else 3, **wanted)
    plain = {
        Outcomes: outcomes,
        Pairs: pairs,
        PairedLabels: labels,
        Blocks: blocks,
        Folds: folds,
        FiveByTwo: five,
        Halved: halved,
    }
    if kind is Table:
        return table(seed, least=int(test.name == "chi_squared_fit"))  # reference counts are above 0
    if kind in plain:
        return plain[kind](seed, **wanted)
    rng = rng_of(seed)
    if kind is Patterns:
        keys = [(a, b, c) for a in (True, False) for b in (True, False) for c in (True, False)]
        counts = dict(zip(keys, rng.integers(0, 9, 8).tolist(), strict=True))
        if wanted.get("same"):
            counts = {(True, True, True): 4, (False, False, False): 3}
        return Patterns(models=("A", "B", "C"), counts=counts)
    if kind is Calls:
        cells = rng.integers(0, 9, (3, 3))
        return Calls(
            rows=tuple(map(tuple, (np.diag(cells.diagonal()) if wanted.get("same") else cells).tolist())),
            labels=("x", "y", "z"),
        )
    if kind is Channels:
        return Channels(by={"one": outcomes(seed), "two": outcomes(seed + 100)})
    if kind is Strata:
        return Strata(tables={"one": table(seed), "two": table(seed + 1)})
    if kind is Successes:
        return Successes(successes=int(rng.integers(0, 20)), n=20, against=0.4)
    if kind is Apart:
        return apart(seed, **wanted)
    if kind is PerUnit and test.name == "class_score_permutation":
        return class_scores(seed, **wanted)
    if kind is PerUnit and test.name.startswith("unit_z"):
        return very_many(seed, **wanted)
    if kind is PerUnit:
        return rows(seed, weighted=test.name == "weighted_permutation", **wanted)
    assert kind is Sample
    return Sample.of(rng.normal(size=15))


def given(test, **more):
    return {name: value for name, value in {**NEEDS, **more}.items() if name in test.parameters}


def run(test, tally, **more):
    found = test.pairs(tally, **given(test, **more)) if test.pairwise else (test(tally, **given(test, **more)),)
    assert all(isinstance(one, Finding) for one in found)
    return found


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)
def test_a_declaration_says_everything(test):
    assert test.title
    assert test.asks.endswith("?")
    assert test.null
    assert test.effect
    assert all(isinstance(one, Source) for one in test.source)
    assert find_test(test.name) is test
    assert find_test(test.name.replace("_", " ")) is test
    assert test.where[0].endswith(".py")


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)
def test_p_is_above_zero_and_at_most_one_and_json_holds_no_nan(test, seed):
    for one in run(test, of(test, seed)):
        assert one.p is None or 0 < one.p <= 1
        assert (one.p is None) == bool(one.reason)
        assert one.log10_p is None or one.log10_p <= 0
        json.loads(json.dumps(one.to_json(), allow_nan=False))
        assert "nan" not in str(one).lower().split()
        assert one.test == test.name
        assert one.title == test.title


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)
def test_what_is_not_significant_says_what_could_have_been_detected(test, seed):
    for one in run(test, of(test, seed)):
        if one.significant is False:
            assert one.least is not None
            assert one.detectable()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)
def test_the_interval_of_an_effect_holds_it_and_nests_with_the_level(test, seed):
    wide, narrow = run(test, of(test, seed), level=0.99), run(test, of(test, seed), level=0.8)
    for outer, inner in zip(wide, narrow, strict=True):
        if outer.effect.interval is None or inner.effect.interval is None:
            continue
        value, a, b = outer.effect.value, outer.effect.interval, inner.effect.interval
        slack = 1e-9 * max(1.0, abs(value))
        assert a.low - slack <= b.low <= value + slack
        assert value - slack <= b.high <= a.high + slack


SAMES = (Outcomes, Pairs, PairedLabels, PairedScores, Blocks, Patterns, Calls, Folds, FiveByTwo, Halved, PerUnit)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "test",
    [one for one in TESTS if one.takes in SAMES and one.family not in ("equivalence", "non-inferiority")],
    ids=lambda test: test.name,
)
def test_a_model_against_itself_has_p_one(test, seed):
    for one in run(test, of(test, seed, same=True)):
        assert one.p == 1.0
        assert one.significant is False


SWAPPED = (Outcomes, Pairs, PairedLabels, PairedScores, Folds, FiveByTwo, Halved, PerUnit)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "test",
    [
        one
        for one in TESTS
        if one.takes in SWAPPED
        and one.family not in ("equivalence", "non-inferiority", "permutation", "bootstrap")
        and one.name not in ("sign_test", "pitman_morgan", "delong_many", "delong_pairs")
    ],
    ids=lambda test: test.name,
)
def test_swapping_the_models_turns_the_effect_round_and_keeps_p(test, seed):
    (one,), (other,) = run(test, of(test, seed)), run(test, of(test, seed, swapped=True))
    assert one.p == pytest.approx(other.p, rel=1e-9)
    assert one.effect.value == pytest.approx(-other.effect.value, abs=1e-12)
    if one.effect.interval:
        assert one.effect.interval.low == pytest.approx(-other.effect.interval.high, abs=1e-9)


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)
def test_a_test_takes_its_tally_and_nothing_else(test):
    for wrong in (np.array([[10, 0], [0, 5]]), [1, 2, 3], None, "rows"):
        with pytest.raises(PlanError) as error:
            (test.pairs if test.pairwise else test)(wrong)
        assert error.value.code == "test-needs"
    with pytest.raises(PlanError):
        (test.pairs if test.pairwise else test)(of(test, 1), exact=True)


@pytest.mark.parametrize("name", ["exact_binomial", "mcnemar_exact", "sign_test"])
def test_exact_tests_hold_their_level_by_enumeration(name):
    """Over everything that can happen under the null, p is at most alpha with a chance of at most alpha."""
    test, n = find_test(name), 14
    for alpha in (0.01, 0.05, 0.2):
        chance = 0.0
        for k in range(n + 1):
            if name == "exact_binomial":
                tally, share = Successes(successes=k, n=n, against=0.3), 0.3
            elif name == "mcnemar_exact":
                tally, share = Outcomes(both=3, only_a=k, only_b=n - k, neither=0), 0.5
            else:
                tally, share = Pairs.of([1.0] * k + [-1.0] * (n - k), [0.0] * n), 0.5
            if test(tally).p <= alpha:
                chance += math.comb(n, k) * share**k * (1 - share) ** (n - k)
        assert chance <= alpha


@pytest.mark.parametrize("name", ["apart_non_inferiority", "apart_equivalence", "apart_difference"])
@pytest.mark.parametrize("measure", ["true_positives", "brier_miscalibration"])
def test_a_value_without_an_interval_is_held_to_no_margin_and_says_why(name, measure):
    (one,) = run(find_test(name), apart(0), measure=measure, positive=1)
    assert one.p is None
    assert one.reason.startswith(f"{measure} of A")


@pytest.mark.parametrize("cells", [[[5, 0], [3, 4]], [[0, 5], [3, 4]]], ids=["infinite", "0"])
def test_an_odds_ratio_without_a_value_is_not_compared_over_strata(cells):
    found = find_test("cochran_mantel_haenszel")(Strata(tables={name: Table(rows=cells) for name in "xy"}))
    assert found.checks[0].holds is None
    assert found.checks[0].seen.startswith("the common odds ratio is 0 or infinite")
