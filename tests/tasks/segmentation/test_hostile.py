# SPDX-License-Identifier: Apache-2.0
"""Empty masks, unfit masks and unfit options, by case id of the acceptance list where there is one."""

from __future__ import annotations

import numpy as np
import pytest

import assay
from assay.core.errors import AssayError
from tests.tasks.segmentation.masks import random_masks

EMPTY, SQUARE = np.zeros((8, 8), int), np.zeros((8, 8), int)
SQUARE[2:5, 2:5] = 1


def refuse(code, **given):
    with pytest.raises(AssayError) as caught:
        assay.segmentation(**given)
    assert caught.value.code == code, caught.value
    return caught.value


def test_f01_two_empty_masks_are_undefined_unless_stated():
    a = assay.segmentation(truth=[EMPTY, SQUARE], predicted=[EMPTY, SQUARE])
    assert a.by_unit["0"]["dice"] is None
    assert a["mean_dice"].value == 1
    assert any("1 of 2 images hold no object in either mask: left out" in note for note in a["mean_dice"].notes)
    half = SQUARE.copy()
    half[2:5, 2] = 0
    b = assay.segmentation(truth=[EMPTY, SQUARE], predicted=[EMPTY, half], both_empty="one")
    assert b["mean_dice"].value == pytest.approx((1 + 0.8) / 2)
    assert "left out, the mean is 0.800" in b["mean_dice"].notes[0]


def test_f01_nothing_but_empty_masks_has_no_dice():
    a = assay.segmentation(truth=[EMPTY], predicted=[EMPTY], spacing=1)
    assert a["mean_dice"].value is None
    assert assay.segmentation(truth=[EMPTY], predicted=[EMPTY], both_empty="one")["mean_dice"].value == 1


@pytest.mark.parametrize(("truth", "predicted"), [(SQUARE, EMPTY), (EMPTY, SQUARE)])
def test_f02_a_missed_object_scores_0_and_has_no_distance(truth, predicted):
    a = assay.segmentation(truth=[truth, SQUARE], predicted=[predicted, SQUARE], spacing=1)
    assert a.by_unit["0"]["dice"] == 0
    assert a["mean_dice"].value == 0.5
    assert a["hausdorff_95"].value is None
    assert "1 of 2 images have an object in one mask only" in a["hausdorff_95"].reason
    assert a["hausdorff_95"].result.code == "one-side-empty"


def test_f02_a_stated_policy_gives_the_mean_and_says_both_readings():
    given = {"truth": [SQUARE, SQUARE], "predicted": [EMPTY, SQUARE], "spacing": 1}
    skipped = assay.segmentation(**given, missed="skip")["hausdorff_95"]
    assert skipped.value == 0
    worst = assay.segmentation(**given, missed="worst")["hausdorff_95"]
    assert worst.value == pytest.approx(np.hypot(8, 8) / 2)
    for estimate in (skipped, worst):
        assert "without them 0.000, with the worst value for them 5.657" in estimate.notes[0]


def test_f03_undefined_images_are_counted_not_dropped():
    a = assay.segmentation(truth=[SQUARE, EMPTY, EMPTY], predicted=[SQUARE, SQUARE, EMPTY], spacing=1)
    assert a["mean_dice"].value == 0.5
    assert a["hausdorff"].value is None
    assert a.record["rows"]["scored"] == 3
    assert sum("of 3 images" in note for note in a.notes) == 2


@pytest.mark.parametrize("spacing", [0, -1, float("nan"), (1, 0), (1, 1, 1)])
def test_f07_a_spacing_that_is_not_positive_is_refused(spacing):
    refuse("spacing-not-positive", truth=[SQUARE], predicted=[SQUARE], spacing=spacing)


def test_f07_without_a_spacing_no_distance_is_given():
    a = assay.segmentation(truth=[SQUARE], predicted=[SQUARE])
    assert a["hausdorff"].value is None
    assert "spacing=1" in a["hausdorff"].reason


def test_a18_0_and_255_must_be_explained():
    mask = (SQUARE * 255).astype(np.uint8)
    error = refuse("mask-values", truth=[mask], predicted=[mask])
    assert "labels=[255]" in error.fix
    assert assay.segmentation(truth=[mask], predicted=[mask], labels=[255])["dice"].value == 1
    assert assay.segmentation(truth=[mask], predicted=[mask], ignore=255)["dice"].value is None


def test_soft_masks_need_a_threshold():
    soft = SQUARE * 0.6
    error = refuse("mask-not-binary", truth=[SQUARE], predicted=[soft])
    assert "threshold=0.5" in error.fix
    assert assay.segmentation(truth=[SQUARE], predicted=[soft], threshold=0.6)["dice"].value == 1
    assert assay.segmentation(truth=[SQUARE], predicted=[soft], threshold=0.61)["dice"].value == 0
    refuse("mask-not-binary", truth=[soft], predicted=[soft], threshold=0.5)
    refuse("value-not-finite", truth=[SQUARE], predicted=[np.full((8, 8), np.nan)], threshold=0.5)


def test_all_images_that_do_not_fit_are_named_at_once():
    error = refuse("mask-shapes-differ", truth=[SQUARE, SQUARE, SQUARE], predicted=[SQUARE, EMPTY[:4], EMPTY[:, :3]])
    assert "2 images of 3" in str(error)
    assert "1 ((8, 8) and (4, 8)); 2 ((8, 8) and (8, 3))" in error.where


def test_a_stack_or_a_volume_must_be_stated():
    stack = np.stack([SQUARE, SQUARE])
    refuse("role-missing", truth=stack, predicted=stack)
    assert assay.segmentation(truth=stack, predicted=stack, dimensions=2).record["samples"] == 2
    assert assay.segmentation(truth=stack, predicted=stack, dimensions=3).record["samples"] == 1
    assert assay.segmentation(truth=stack, predicted=stack, spacing=(1, 1)).record["samples"] == 2


def test_labels_that_nobody_declared_are_refused():
    error = refuse("label-not-declared", truth=[SQUARE * 3], predicted=[SQUARE], labels=[1, 2])
    assert "3" in error.found


def test_numbers_of_images_must_be_equal():
    refuse("rows-unmatched", truth=[SQUARE, SQUARE], predicted=[SQUARE])
    refuse("rows-unmatched", truth={"a": SQUARE, "b": SQUARE}, predicted={"a": SQUARE, "c": SQUARE})
    refuse("no-rows", truth=[], predicted=[])


def test_images_of_one_name_are_refused():
    refuse("duplicate-id", truth=[SQUARE, SQUARE], predicted=[SQUARE, SQUARE], image=["a", "a"])
    a = assay.segmentation(truth=[SQUARE], predicted=[SQUARE])
    with pytest.raises(AssayError, match="counted twice"):
        assay.merge(a, a)


def test_other_rules_cannot_be_merged():
    truth, predicted = random_masks(1, images=4)
    a = assay.segmentation(truth=truth, predicted=predicted, spacing=1)
    b = assay.segmentation(
        truth={f"b{k}": v for k, v in truth.items()}, predicted={f"b{k}": v for k, v in predicted.items()}, spacing=2
    )
    with pytest.raises(AssayError, match="different"):
        assay.merge(a, b)


def test_fewer_than_ten_images_have_no_interval_of_a_mean():
    truth, predicted = random_masks(2, images=9, classes=1)
    a = assay.segmentation(truth=truth, predicted=predicted)
    assert a["mean_dice"].low is None
    assert "10 or more" in a["mean_dice"].no_interval


def test_one_hot_masks_are_labels():
    labels = np.array([[0, 1, 2], [2, 1, 0]])
    one_hot = np.stack([labels == k for k in range(3)])
    a = assay.segmentation(truth=[labels], predicted=[one_hot.argmax(0)])
    b = assay.segmentation(truth=[one_hot], predicted=[one_hot], one_hot=0)
    assert a.record["labels"] == b.record["labels"] == [1, 2]
    refuse("mask-not-binary", truth=[one_hot], predicted=[np.ones_like(one_hot)], one_hot=0)


def test_several_values_may_mean_one_class():
    truth, predicted = random_masks(3, images=4)
    joined = assay.segmentation(truth=truth, predicted=predicted, labels={1: "any", 2: "any"}, spacing=1, missed="skip")
    plain = assay.segmentation(
        truth={k: (v > 0) * 1 for k, v in truth.items()}, predicted={k: (v > 0) * 1 for k, v in predicted.items()},
        spacing=1, missed="skip",
    )  # fmt: skip
    for name in ("dice", "hausdorff", "average_symmetric_surface_distance"):
        assert joined[name].value == plain[name].value
