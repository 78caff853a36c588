# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import model_selection as sk

from assay.conduct.schemes import SCHEMES, Scheme, scheme_of
from assay.conduct.splits import Fold, Rows, demand_sound, digest, repeats_alike
from assay.core.errors import PlanError, RowsError


@st.composite
def tables(draw, least=4):
    """Rows of two to four classes, each class with enough rows, and groups that cut across the classes."""
    k = draw(st.integers(2, 4))
    sizes = draw(st.lists(st.integers(max(least, k), 15), min_size=k, max_size=k))
    classes = np.array(draw(st.permutations([c for c, n in enumerate(sizes) for _ in range(n)])), dtype=np.int64)
    many = draw(st.integers(least, 12))
    groups = [*range(many), *draw(st.lists(st.integers(0, many - 1), min_size=60, max_size=60))][: len(classes)]
    return classes, np.array(groups, dtype=np.int64)


def rows_of(classes, groups=None, moments=None):
    return Rows(classes=classes, labels=tuple(range(int(classes.max()) + 1)), groups=groups, moments=moments)


def same(ours, theirs):
    pairs = list(zip(ours, theirs, strict=True))
    return all(np.array_equal(one.train, a) and np.array_equal(one.test, b) for one, (a, b) in pairs)


def found_or_too_few(scheme, rows, seed):
    """The folds; none where the groups are too few or too uneven to be dealt."""
    try:
        return scheme_of(scheme).folds(rows, seed)
    except RowsError as error:
        if error.code != "too-few-rows":
            raise
        return ()


PLAIN = ["kfold(k=3)", "stratified(k=3)", "repeated(k=4, repeats=3)", "5x2", "leave_one_out", "nested(k=2, inner=2)"]
WHOLE = ["grouped(k=3)", "stratified_grouped(k=2)", "repeated(k=2, repeats=3)", "5x2", "leave_one_out"]


@given(tables(), st.sampled_from(PLAIN), st.integers(0, 2**31))
def test_every_row_is_tested_exactly_once_in_each_repeat(table, scheme, seed):
    folds = scheme_of(scheme).folds(rows_of(table[0]), seed)
    for repeat in {fold.repeat for fold in folds}:
        own = [fold for fold in folds if fold.repeat == repeat]
        assert sorted(np.concatenate([fold.test for fold in own]).tolist()) == list(range(len(table[0])))
        for fold in own:
            assert sorted([*fold.train.tolist(), *fold.test.tolist()]) == list(range(len(table[0])))


@given(tables(least=8), st.booleans(), st.integers(0, 2**31))
def test_halves_share_no_row_and_go_through_the_same_rounds_as_all_rows(table, grouped, seed):
    classes, groups = table
    rows = rows_of(classes, groups if grouped else None)
    folds = found_or_too_few("halved(k=2, repeats=2, splits=3)", rows, seed)
    if not folds:
        return
    rounds = [folds[i : i + 2] for i in range(0, len(folds), 2)]
    assert len(rounds) == 2 + 3 * 2 * 2
    assert [{fold.repeat for fold in one} for one in rounds] == [{i} for i in range(1, 15)]
    held = [sorted(np.concatenate([fold.test for fold in one]).tolist()) for one in rounds]
    assert held[0] == held[1] == list(range(len(classes)))
    for split in range(2, 14, 4):
        one, other = held[split], held[split + 2]
        assert held[split + 1] == one
        assert sorted(one + other) == held[0]
        if not grouped:
            counts = [np.bincount(classes[half], minlength=4) for half in (one, other)]
            assert (abs(counts[0] - counts[1]) <= 1).all()
        else:
            assert not set(groups[one]) & set(groups[other])
    for one, own in zip(rounds, held, strict=True):
        assert all(sorted([*fold.train.tolist(), *fold.test.tolist()]) == own for fold in one)


@given(
    tables(), st.sampled_from(["kfold(k=3)", "stratified(k=3)", "5x2", "repeated(k=4, repeats=2)"]), st.integers(0, 99)
)
def test_sizes_differ_by_one_at_most_and_strata_too(table, scheme, seed):
    classes = table[0]
    folds = scheme_of(scheme).folds(rows_of(classes), seed)
    for repeat in {fold.repeat for fold in folds}:
        own = [fold.test for fold in folds if fold.repeat == repeat]
        assert max(map(len, own)) - min(map(len, own)) <= 1
        if scheme != "kfold(k=3)":
            counts = np.array([np.bincount(classes[test], minlength=4) for test in own])
            assert (np.ptp(counts, axis=0) <= 1).all()


@given(tables(), st.sampled_from(WHOLE), st.integers(0, 2**31))
def test_groups_are_never_split(table, scheme, seed):
    classes, groups = table
    for fold in found_or_too_few(scheme, rows_of(classes, groups), seed):
        assert not set(groups[fold.train]) & set(groups[fold.test])


@given(tables(), st.booleans(), st.integers(0, 99))
def test_inner_folds_stay_inside_the_training_part(table, with_groups, seed):
    classes, groups = table
    for fold in found_or_too_few("nested(k=2, inner=2)", rows_of(classes, groups if with_groups else None), seed):
        assert sorted(np.concatenate([one.test for one in fold.inner])) == fold.train.tolist()
        for one in fold.inner:
            assert set(one.train) | set(one.test) == set(fold.train)
            assert not set(one.train) & set(one.test)
            if with_groups:
                assert not set(groups[one.train]) & set(groups[one.test])


@given(tables(), st.sampled_from([*PLAIN, "time_ordered(k=3, gap=1)"]), st.integers(0, 2**31))
def test_a_seed_gives_one_split_and_another_seed_another(table, scheme, seed):
    rows = rows_of(table[0])
    once, again = (digest(scheme_of(scheme).folds(rows, seed)) for _ in range(2))
    assert once == again


def test_other_seeds_give_other_splits():
    rows = rows_of(np.arange(40) % 2, np.arange(40) // 2)
    for scheme in ("grouped(k=2)", "stratified_grouped(k=2)", "5x2", "10x4"):
        assert len({digest(scheme_of(scheme).folds(rows, seed)) for seed in range(20)}) == 20
    plain = rows_of(np.arange(40) % 2)
    for scheme in ("kfold(k=4)", "stratified(k=4)", "nested(k=2, inner=2)"):
        assert len({digest(scheme_of(scheme).folds(plain, seed)) for seed in range(20)}) == 20


def test_repeats_with_groups_of_different_sizes_are_dealt_anew():
    groups = np.repeat(np.arange(12), np.arange(1, 13))
    rows = rows_of(np.arange(len(groups)) % 2, groups)
    assert repeats_alike(scheme_of("5x2").folds(rows, 0)) == 0


@given(tables(), st.integers(2, 4))
def test_without_shuffling_scikit_learn_deals_alike(table, k):
    classes, groups = table
    x = np.zeros((len(classes), 1))
    plain, whole = rows_of(classes), rows_of(classes, groups)
    assert same(scheme_of(f"kfold(k={k}, shuffle=False)").folds(plain, 0), sk.KFold(k).split(x))
    assert same(scheme_of(f"stratified(k={k}, shuffle=False)").folds(plain, 0), sk.StratifiedKFold(k).split(x, classes))
    assert same(scheme_of("leave_one_out").folds(plain, 0), sk.LeaveOneOut().split(x))
    assert same(scheme_of("leave_one_out").folds(whole, 0), sk.LeaveOneGroupOut().split(x, classes, groups))
    ours = scheme_of(f"grouped(k={k}, shuffle=False)").folds(whole, 0)
    theirs = list(sk.GroupKFold(k).split(x, classes, groups))
    assert sorted(len(one.test) for one in ours) == sorted(len(test) for _, test in theirs)
    if len(set(np.bincount(groups).tolist())) == len(np.bincount(groups)):  # ties are broken by the sort of the day
        assert same(ours, theirs)


@given(tables(), st.integers(2, 4))
def test_without_shuffling_scikit_learn_deals_groups_by_class_alike(table, k):
    classes, groups = table
    theirs = list(sk.StratifiedGroupKFold(k).split(np.zeros((len(classes), 1)), classes, groups))
    if any(not len(test) for _, test in theirs):
        with pytest.raises(RowsError, match="cannot be dealt"):
            scheme_of(f"stratified_grouped(k={k}, shuffle=False)").folds(rows_of(classes, groups), 0)
    else:
        assert same(scheme_of(f"stratified_grouped(k={k}, shuffle=False)").folds(rows_of(classes, groups), 0), theirs)


@given(st.integers(12, 60), st.integers(2, 5), st.integers(0, 3))
def test_time_goes_forward_as_in_scikit_learn(n, k, gap):
    x = np.zeros((n, 1))
    if n - gap - (n // (k + 1)) * k <= 0:
        with pytest.raises(RowsError, match="too few"):
            scheme_of(f"time_ordered(k={k}, gap={gap})").folds(rows_of(np.arange(n) % 2), 0)
    else:
        ours = scheme_of(f"time_ordered(k={k}, gap={gap})").folds(rows_of(np.arange(n) % 2), 0)
        assert same(ours, sk.TimeSeriesSplit(k, gap=gap).split(x))


@given(st.permutations(range(24)), st.integers(0, 4))
def test_nothing_of_the_test_moment_or_later_is_trained_on(order, gap):
    moments = np.array(order) // 3
    folds = scheme_of(f"time_ordered(k=3, gap={gap})").folds(rows_of(np.arange(24) % 2, moments=moments), 0)
    for fold in folds:
        assert moments[fold.train].max() < moments[fold.test].min()


@pytest.mark.parametrize(
    ("scheme", "classes", "groups", "says"),
    [
        ("kfold(k=9)", [0, 1] * 4, None, "8 rows cannot be dealt into 9 segments"),
        ("stratified(k=3)", [0, 1, 1, 1, 0, 1], None, "1 class cannot be in each of 3 segments"),
        ("5x2", [0, 1, 1, 1], None, "1 class cannot be in each of 2 segments"),
        ("grouped(k=3)", [0, 1] * 4, [0] * 4 + [1] * 4, "2 groups cannot be dealt into 3 segments"),
        ("leave_one_out", [0, 1] * 4, [0] * 8, "1 row cannot be dealt into 2 segments"),
        ("time_ordered(k=8)", [0, 1] * 4, None, "too few for 8 test parts"),
    ],
)
def test_too_few_rows_are_told(scheme, classes, groups, says):
    rows = rows_of(np.array(classes), None if groups is None else np.array(groups))
    with pytest.raises(RowsError, match=says) as told:
        scheme_of(scheme).folds(rows, 0)
    assert told.value.code == "too-few-rows"


def test_one_moment_for_all_early_rows_is_told():
    with pytest.raises(RowsError, match="no row lies before"):
        scheme_of("time_ordered(k=2)").folds(rows_of(np.arange(9) % 2, moments=np.zeros(9, dtype=np.int64)), 0)


@pytest.mark.parametrize("scheme", ["kfold", "stratified", "time_ordered"])
def test_a_scheme_that_would_split_groups_is_refused(scheme):
    with pytest.raises(PlanError, match="would put rows of one group into training and test"):
        scheme_of(scheme).folds(rows_of(np.arange(40) % 2, np.arange(40) // 2), 0)


@pytest.mark.parametrize("scheme", ["grouped", "stratified_grouped"])
def test_folds_by_group_need_groups(scheme):
    with pytest.raises(PlanError, match="need groups"):
        scheme_of(scheme).folds(rows_of(np.arange(40) % 2), 0)


@pytest.mark.parametrize("text", ["kfolds", "kfold(5)", "kfold(q=5)", "5x", "kfold(k=", "5x2(k=3)", "", "kfold(k=a)"])
def test_an_unknown_scheme_lists_the_known_ones(text):
    with pytest.raises(PlanError) as told:
        scheme_of(text)
    assert told.value.code == "option-unknown"
    assert "leave_one_out" in told.value.known


@pytest.mark.parametrize(
    "text", ["kfold(k=1)", "kfold(k=True)", "kfold(k='5')", "repeated(repeats=0)", "10x1", "0-fold"]
)
def test_impossible_numbers_are_told(text):
    with pytest.raises(PlanError) as told:
        scheme_of(text)
    assert told.value.code == "value-out-of-domain"


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1"])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(PlanError, match="not a seed"):
        scheme_of("5x2").folds(rows_of(np.arange(40) % 2), seed)


@pytest.mark.parametrize("name", SCHEMES)
def test_the_title_can_be_typed_back(name):
    scheme = scheme_of(name)
    assert isinstance(scheme, Scheme)
    assert scheme_of(scheme.title) == scheme
    assert scheme_of(scheme) is scheme


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ([([0, 1, 2], [2, 3])], "1 row in both parts"),
        ([([0, 1], [])], "not given as row numbers"),
        ([([0, 1], [8])], "do not exist"),
        ([([0, 0, 1], [2])], "twice"),
        ([([0, 1], [2, 3])], "1 group in both parts"),
        ([], "no folds"),
        ([([True, False], [False, True])], "not given as row numbers"),
    ],
)
def test_parts_that_are_given_are_checked(parts, says):
    rows = rows_of(np.arange(8) % 2, np.array([0, 1, 1, 2, 3, 3, 4, 4]))
    with pytest.raises((PlanError, RowsError)) as told:
        scheme_of(parts).folds(rows, 0)
    assert told.value.code == "folds-unsound"
    assert says in str(told.value)


def test_what_is_no_scheme_at_all_is_told():
    with pytest.raises(PlanError, match="a scheme cannot be a float"):
        scheme_of(0.5)


def test_inner_folds_outside_the_training_part_are_unsound():
    def part(*rows):
        return np.array(rows)

    inner = Fold(repeat=1, fold=1, test=part(3), others=part(0))
    fold = Fold(repeat=1, fold=1, test=part(2, 3), others=part(0, 1), inner=(inner,))
    with pytest.raises(RowsError, match="not sound") as told:
        demand_sound([fold], rows_of(np.arange(4) % 2), partition=False)
    assert "inner folds" in told.value.found


def test_a_row_that_is_tested_twice_is_unsound():
    folds = [Fold(repeat=1, fold=i, test=np.array([2, 3]), others=np.array([0, 1])) for i in (1, 2)]
    with pytest.raises(RowsError, match="not sound") as told:
        demand_sound(folds, rows_of(np.arange(4) % 2), partition=True)
    assert "exactly once" in told.value.found


def test_leave_one_out_of_many_rows_takes_little_memory():
    folds = scheme_of("leave_one_out").folds(rows_of(np.arange(3000) % 2), 0)
    assert len(folds) == 3000
    assert folds[7].train.tolist() == [*range(7), *range(8, 3000)]
    assert all(isinstance(fold.others, int) and fold.test.nbytes == 8 for fold in folds)
