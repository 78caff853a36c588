# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import PlanError
from assay.core.text import figure
from assay.core.values import Number, Share, Undefined
from assay.measures import REGISTRY, parse
from assay.measures.averages import POLICIES
from assay.tally.labels.one_vs_rest import Multiclass
from tests.strategies import MULTICLASS_CASES

# "c" is never called: its precision has no value. "d" does not occur at all.
TABLE = Multiclass.of([[8, 2, 0, 0], [1, 9, 0, 0], [3, 2, 0, 0], [0, 0, 0, 0]], labels=("a", "b", "c", "d"))
AVERAGES = [m for m in REGISTRY if m.average and not m.from_scores]


def test_an_average_of_classes_without_a_value_has_none_and_tells_the_two_ways_out():
    found = parse("precision_macro")(TABLE)
    assert isinstance(found, Undefined)
    assert found.reason.startswith('class "c" has no value: no row was predicted "c" (and 1 more without a value); ')
    zero, skip = (parse(f"precision_macro(undefined={policy!r})")(TABLE).value for policy in ("zero", "skip"))
    assert found.reason.endswith(f"counting it as 0: {figure(zero)}; leaving it out: {figure(skip)}")


@pytest.mark.parametrize(
    ("policy", "value"),
    [("skip", (8 / 12 + 9 / 13) / 2), ("zero", (8 / 12 + 9 / 13) / 4), ("one", (8 / 12 + 9 / 13 + 2) / 4)],
)
def test_a_policy_says_what_a_class_without_a_value_counts_as(policy, value):
    found = parse("precision_macro").with_(undefined=policy)(TABLE)
    assert found.value == pytest.approx(value, abs=1e-15)
    assert found.note.startswith('"c", "d": no value, ')
    assert policy == "skip" or found.note.endswith(f"counted as {policy}")


def test_a_class_without_rows_has_no_weight_and_does_not_matter():
    found = parse("recall_weighted")(TABLE)
    assert found.value == pytest.approx(17 / 25)
    assert found.note is None


def test_the_note_of_a_skipped_class_does_not_say_it_was_counted():
    note = parse("precision_macro(undefined='skip')")(TABLE).note
    assert "counted as skip" not in note


def test_when_no_class_has_a_value_there_is_no_average_under_skip():
    nobody = Multiclass.of([[0, 3, 0], [0, 0, 0], [0, 0, 0]])
    found = parse("negative_predictive_value_macro(undefined='skip')")(Multiclass.of([[3]]))
    assert isinstance(found, Undefined)
    assert parse("precision_weighted(undefined='zero')")(nobody).value == 0


def test_an_unknown_policy_is_refused_with_the_known_ones():
    with pytest.raises(PlanError) as refused:
        parse("recall_macro").with_(undefined="ignore")(TABLE)
    assert refused.value.code == "option-unknown"
    assert all(policy in refused.value.known for policy in POLICIES)


@pytest.mark.parametrize("m", AVERAGES, ids=lambda m: m.name)
def test_an_average_names_its_base_and_takes_its_direction_and_range(m):
    base = REGISTRY.find(m.base)
    assert (m.better, m.range, m.infinite) == (base.better, base.range, base.infinite)
    assert m.gives is Number
    assert m.family == "averages"
    assert set(base.parameters) <= set(m.parameters)
    assert set(base.errata) <= set(m.errata)


@pytest.mark.parametrize("m", AVERAGES, ids=lambda m: m.name)
def test_an_average_is_never_a_share(m):
    # Rows enter the pooled table once a class, and a mean of shares is not a share: neither has a binomial interval.
    ready = next(case for case in MULTICLASS_CASES if case.measure is m).ready(3)
    assert not isinstance(ready(Multiclass.of([[8, 1, 1], [2, 5, 3], [1, 1, 9]])), Share)


@pytest.mark.parametrize("m", [m for m in AVERAGES if m.through_accuracy], ids=lambda m: m.name)
@pytest.mark.parametrize(
    "matrix",
    [[[8, 1, 1], [2, 5, 3], [1, 1, 9]], [[1, 3], [2, 4]], [[0, 2, 0], [0, 0, 3], [4, 0, 0]]],
    ids=["3", "2", "all wrong"],
)
def test_an_average_that_is_a_function_of_accuracy_is_that_function(m, matrix):
    table = Multiclass.of(matrix)
    found, accuracy = m(table), parse("accuracy")(table).value
    assert m.through_accuracy(accuracy, table.k) == pytest.approx(found.value, abs=1e-15)


@pytest.mark.parametrize("m", [m for m in REGISTRY if m.through_accuracy], ids=lambda m: m.name)
def test_a_function_of_accuracy_is_monotone_so_that_bounds_stay_bounds(m):
    for k in (2, 3, 10):
        values = [m.through_accuracy(i / 50, k) for i in range(51)]
        assert values in (sorted(values), sorted(values, reverse=True))


def test_macro_f1_is_the_mean_of_the_f1_of_the_classes():
    # E-XS-04: not the F1 of the macro precision and the macro recall.
    table = Multiclass.of([[400, 23, 13], [150, 3800, 355], [14, 144, 65]])
    p, r = parse("precision_macro")(table).value, parse("recall_macro")(table).value
    assert round(100 * parse("f1_macro")(table).value, 2) == 63.90
    assert round(100 * 2 * p * r / (p + r), 2) == 64.83


def test_the_f_score_keeps_its_beta_when_pooled():
    # E-SCH-01: fixed to 1 in print; for one label a row every beta gives accuracy, for the classes it does not.
    table = Multiclass.of([[8, 1, 1], [2, 5, 3], [1, 1, 9]])
    assert parse("f_beta_micro(beta=3)")(table).value == parse("accuracy")(table).value
    assert parse("f_beta_macro(beta=3)")(table).value != parse("f_beta_macro(beta=1)")(table).value


@pytest.mark.parametrize("missing", range(1, 11))
def test_eight_classes_without_a_value_are_named_and_the_others_counted(missing):
    names = [f"c{i}" for i in range(missing)]
    table = Multiclass.of(np.diag([5] + [0] * missing).tolist(), labels=("a", *names))
    shown = ", ".join(f'"{name}"' for name in names[:8])
    more = f" and {missing - 8} more" if missing > 8 else ""
    assert parse("precision_macro(undefined='zero')")(table).note == f"{shown}{more}: no value, counted as zero"
