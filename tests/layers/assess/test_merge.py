# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.core.errors import PlanError
from tests import flat

LABELS = st.sampled_from(["a", "b", "c"])
ROWS = st.lists(st.tuples(LABELS, LABELS, st.sampled_from(["x", "y"])), min_size=1, max_size=40)
TIMES = ("environment", "plan", "digests")


SOME = ["accuracy", "balanced_accuracy", "f1", "f1_macro", "recall", "precision_weighted", "total_variation"]
"""Measures of every kind: of all rows, of each class, averaged, with and without draws."""


def assessed(rows, **options):
    truth, predicted, group = zip(*rows, strict=True)
    options = {"labels": ["a", "b", "c"], "draws": 100, "measures": SOME, **options}
    return flat.assess(truth=list(truth), predicted=list(predicted), group={"g": list(group)}, **options)


@given(st.lists(ROWS, min_size=1, max_size=4))
def test_the_merged_record_is_the_record_of_the_pooled_rows(parts):
    merged_as_pooled(parts)


def test_every_measure_of_a_merged_record_is_that_of_the_pooled_rows():
    merged_as_pooled(
        [[*zip("abcabcab", "abcbbcaa", "xyxyyxyx", strict=True)], [*zip("abcc", "aacc", "xxyy", strict=True)]], None
    )


def merged_as_pooled(parts, measures=SOME):
    merged = assay.merge(*(assessed(rows, measures=measures) for rows in parts)).record
    pooled = assessed([row for rows in parts for row in rows], measures=measures).record

    def content(record):
        return {name: part for name, part in record.items() if name not in (*TIMES, "notes")}

    def sorted_groups(record):
        groups = record["tallies"]["groups"]
        return {name: sorted(levels, key=lambda one: str(one["level"])) for name, levels in groups.items()}

    ours, theirs = content(merged), content(pooled)
    assert sorted_groups(ours) == sorted_groups(theirs)

    def by_key(record):
        return {(e["measure"], e["class"], str(e["slice"])): e for e in record["estimates"]}

    assert by_key(ours) == by_key(theirs)
    for name in ("samples", "rows", "labels", "positive", "task"):
        assert ours[name] == theirs[name]


@given(st.lists(ROWS, min_size=2, max_size=4))
def test_the_order_and_the_tree_of_merging_do_not_matter(parts):
    every = {f"s{i}": assessed(rows) for i, rows in enumerate(parts)}
    at_once = assay.merge(sites=every)
    names = list(every)
    one_by_one = assay.merge(sites={names[-1]: every[names[-1]]})
    for name in reversed(names[:-1]):
        one_by_one = assay.merge(one_by_one, sites={name: every[name]})
    assert at_once.confusion == one_by_one.confusion
    assert at_once.grouped.factors["site"].keys() == one_by_one.grouped.factors["site"].keys()
    for name in names:
        assert at_once.by_group["site"][name].confusion == one_by_one.by_group["site"][name].confusion


def test_sites_are_told_apart_also_when_one_never_saw_a_class():
    a = assay.assess(truth=["a", "b"] * 9, predicted=["a", "b"] * 9, labels=["a", "b", "d"])
    b = assay.assess(truth=["a", "c"] * 9, predicted=["c", "a"] * 9, labels=["a", "c", "d"])
    merged = assay.merge(sites={"north": a, "south": b})
    assert merged.labels == ("a", "b", "c", "d")
    assert merged.by_group["site"]["north"]["accuracy"].value == 1.0
    assert merged.by_group["site"]["south"].confusion.labels == merged.labels


def test_heterogeneity_is_in_the_record_and_in_every_report():
    merged = assay.merge(sites={"north": assessed([("a", "a", "x")] * 30), "south": assessed([("a", "b", "x")] * 30)})
    spread = next(one for one in merged.record["heterogeneity"] if one["measure"] == "accuracy")
    assert spread["lowest"] == {"level": "south", "value": 0.0}
    assert spread["p"] < 0.001
    assert "differ by more than chance" in str(merged)
    from assay.assess.record.report_formats import RENDERERS

    for kind in (".html", ".md"):
        assert "differ by more than chance" in RENDERERS[kind](merged.record)


def test_a_site_given_twice_is_refused_by_name_and_doubted_by_counts():
    a = assessed([("a", "a", "x")] * 5)
    with pytest.raises(PlanError, match="two parts are called"):
        assay.merge(a.tally(site="n", smallest_cell=1), a.tally(site="n", smallest_cell=1))
    assert any("given twice" in note for note in assay.merge(a, a).notes)


def test_a_group_that_is_called_site_already_keeps_its_name():
    a = assay.assess(truth=[1, 0], predicted=[1, 0], group={"site": ["u", "v"]})
    assert set(assay.merge(sites={"n": a, "m": a}).grouped.factors) == {"site", "merged site"}


def test_parts_that_do_not_fit_are_refused_with_the_reason():
    a = assay.assess(truth=["a", "b"], predicted=["a", "b"], positive="a")
    for other, reason in (
        (assay.assess(truth=["a", "b"], predicted=["a", "b"], positive="b"), "positive class"),
        (assay.assess(truth=["a", "b"], predicted=["a", "b"], positive="a", level=0.9), "different settings"),
        (assay.assess(truth=["a", "b"], predicted=["a", "b"], positive="a", group={"g": [1, 2]}), "different factors"),
        (assay.assess(truth=["a", "b"], predicted=["a", "b"], positive="a", weight=[1, 2]), "weighted"),
    ):
        with pytest.raises(PlanError, match=reason):
            assay.merge(a, other)
    with pytest.raises(PlanError, match="nothing to merge"):
        assay.merge()
