# SPDX-License-Identifier: Apache-2.0
"""Laws of every measure of masks."""

from __future__ import annotations

import json

import numpy as np
import pytest

import assay
from assay.core.task import Request, find_task
from assay.core.values import Undefined
from assay.tasks.segmentation.kernel import COLUMNS
from assay.tasks.segmentation.mask_sums import sum_by_class, sum_by_unit
from assay.tasks.segmentation.measures.classes import ClassMasks
from assay.tasks.segmentation.tally import Masks, MaskTally
from tests.tasks.segmentation.masks import random_masks

TASK = find_task("segmentation")
OPTIONS = {"spacing": 1, "missed": "worst", "centre_line": True}


def count(truth, predicted, **options):
    given = {option.name: option.default for option in TASK.options} | OPTIONS | options
    return TASK.read(Request(given={"truth": truth, "predicted": predicted}, options=given)).tally


def split(masks, first):
    names = list(masks)
    return {name: masks[name] for name in (names[:first] if first > 0 else names[first:])}


def test_formula_text_equals_function_and_stack_equals_single():
    tally = count(*random_masks(1))
    table = sum_by_unit(tally)
    stack = np.vstack([table.total(), table.sums])
    for measure in TASK.measures:
        if measure.takes is ClassMasks:
            continue
        values = measure.values(Masks(stack))
        for row, value in zip(stack, values, strict=True):
            alone = measure(Masks(row))
            if isinstance(alone, Undefined):
                assert np.isnan(value), measure.name
                with pytest.raises(ZeroDivisionError):
                    eval(measure.formula, {}, dict(zip(Masks.NAMES, row.tolist(), strict=True)))  # noqa: S307
                continue
            assert alone.value == pytest.approx(value, rel=1e-15)
            names = dict(zip(Masks.NAMES, row.tolist(), strict=True))
            assert eval(measure.formula, {"min": min}, names) == pytest.approx(alone.value, rel=1e-12)  # noqa: S307
            low, high = measure.range
            assert low <= value <= high


def test_averages_over_classes_are_means_of_the_classes():
    plain, numbered = random_masks(2, classes=3), random_masks(2, classes=5)
    numbered = ({name: mask.astype(int) + 9 * (mask > 0) for name, mask in masks.items()} for masks in numbered)
    masks, instances = count(*plain), count(*numbered, instances=3)  # 10 to 14 are instances of classes 3 and 4
    for base in ("dice", "iou", "mean_dice", "panoptic_quality"):
        tally, name = instances if base == "panoptic_quality" else masks, f"{base}_macro"
        parts = [TASK.registry.find(base)(Masks(sum_by_unit(tally, label).total())).value for label in tally.labels]
        whole = TASK.registry.find(name)(ClassMasks(sum_by_class(tally).total()))
        assert whole.value == pytest.approx(np.mean(parts), rel=1e-14)


def test_three_averages_are_three_numbers():
    truth, predicted = random_masks(3)
    a = assay.segmentation(truth=truth, predicted=predicted, **OPTIONS)
    assert len({a[name].value for name in ("dice", "mean_dice", "dice_macro")}) == 3
    by_hand = []
    for name in truth:
        values = []
        for label in (1, 2):
            x, y = truth[name] == label, predicted[name] == label
            if x.any() or y.any():
                values.append(2 * (x & y).sum() / (x.sum() + y.sum()))
        if values:
            by_hand.append(np.mean(values))
    assert a["mean_dice"].value == pytest.approx(np.mean(by_hand), rel=1e-14)


@pytest.mark.parametrize("parts", [1, 5, 13])
def test_merging_equals_pooling(parts):
    truth, predicted = random_masks(4)
    whole = count(truth, predicted)
    first = count(split(truth, parts), split(predicted, parts))
    rest = count(split(truth, parts - 14), split(predicted, parts - 14))
    assert first + rest == whole == rest + first
    merged = assay.merge(
        assay.segmentation(truth=split(truth, parts), predicted=split(predicted, parts), **OPTIONS),
        assay.segmentation(truth=split(truth, parts - 14), predicted=split(predicted, parts - 14), **OPTIONS),
    )
    pooled = assay.segmentation(truth=truth, predicted=predicted, **OPTIONS)
    for name in pooled:
        assert (merged[name].value, merged[name].low) == (pooled[name].value, pooled[name].low)


def test_order_memory_layout_and_type_do_not_matter():
    truth, predicted = random_masks(5, shape=(9, 8, 7))
    whole = count(truth, predicted)
    backwards = count(dict(reversed(truth.items())), dict(reversed(predicted.items())))
    assert backwards == whole
    wide = count({k: v.astype(np.int64) for k, v in truth.items()}, {k: v.astype(float) for k, v in predicted.items()})
    assert wide == whole
    fortran = count(
        {k: np.asfortranarray(v) for k, v in truth.items()}, {k: np.asfortranarray(v) for k, v in predicted.items()}
    )
    np.testing.assert_allclose(fortran.counts, whole.counts, rtol=1e-13)


def test_large_label_values_are_counted_as_small_ones():
    truth, predicted = random_masks(6)
    high = np.array([0, 70_000, 1_000_003])
    tally = count({k: high[v] for k, v in truth.items()}, {k: high[v] for k, v in predicted.items()})
    np.testing.assert_array_equal(tally.counts, count(truth, predicted).counts)


def test_flips_keep_and_swaps_mirror():
    truth, predicted = random_masks(7)
    a = assay.segmentation(truth=truth, predicted=predicted, **OPTIONS)
    flipped = assay.segmentation(
        truth={k: v[::-1] for k, v in truth.items()}, predicted={k: v[::-1] for k, v in predicted.items()}, **OPTIONS
    )
    swapped = assay.segmentation(truth=predicted, predicted=truth, **OPTIONS)
    for name in ("dice", "mean_iou", "hausdorff", "hausdorff_95", "normalized_surface_distance", "surface_dice"):
        assert flipped[name].value == pytest.approx(a[name].value, rel=1e-12)
        assert swapped[name].value == pytest.approx(a[name].value, rel=1e-12)
    assert swapped["voxel_precision"].value == a["voxel_recall"].value


def test_distances_scale_with_the_spacing():
    truth, predicted = random_masks(8, shape=(8, 9, 7))
    a = assay.segmentation(truth=truth, predicted=predicted, spacing=(1, 2, 0.5), missed="skip")
    b = assay.segmentation(truth=truth, predicted=predicted, spacing=(2, 4, 1), missed="skip", tolerance=2)
    for name in ("hausdorff", "hausdorff_95", "average_symmetric_surface_distance"):
        assert b[name].value == pytest.approx(2 * a[name].value)
    assert b["normalized_surface_distance"].value == a["normalized_surface_distance"].value


def test_ignored_pixels_do_not_count():
    truth, predicted = (np.array(rows, np.uint8) for rows in ([[0, 1, 9], [1, 1, 9]], [[0, 1, 1], [0, 1, 0]]))
    a = assay.segmentation(truth=[truth], predicted=[predicted], ignore=9, spacing=1)
    b = assay.segmentation(truth=[truth[:, :2]], predicted=[predicted[:, :2]], spacing=1)
    for name in ("pixel_accuracy", "dice", "hausdorff"):
        assert a[name].value == b[name].value


def test_a_perfect_mask_reaches_the_best_end():
    truth, _ = random_masks(9)
    a = assay.segmentation(truth=truth, predicted=truth, **OPTIONS)
    for name in a:
        measure = a.measures.find(name)
        best = measure.range[1] if str(measure.better).startswith("higher") else 0
        assert a[name].value == pytest.approx(best), name


def test_tallies_and_records_go_through_json(tmp_path):
    truth, predicted = random_masks(10)
    tally = count(truth, predicted)
    assert MaskTally.from_json(json.loads(json.dumps(tally.to_json()))) == tally
    a = assay.segmentation(truth=truth, predicted=predicted, **OPTIONS)
    again = assay.load(a.save(tmp_path / "record.json"))
    assert {name: again[name].value for name in again} == {name: a[name].value for name in a}
    assert assay.verify(again.record).holds if hasattr(assay, "verify") else True
    assert len(json.dumps(a.record["figures"])) < 30_000


def test_units_are_drawn_whole():
    truth, predicted = random_masks(11, images=24, classes=1)
    patient = [f"p{number // 2}" for number in range(24)]
    a = assay.segmentation(truth=list(truth.values()), predicted=list(predicted.values()), unit=patient, **OPTIONS)
    b = assay.segmentation(truth=list(truth.values()), predicted=list(predicted.values()), **OPTIONS)
    assert a["mean_dice"].value == pytest.approx(b["mean_dice"].value, rel=1e-14)
    assert "12" in a["dice"].interval.method
    assert set(a.by_unit) == {f"p{number}" for number in range(12)}


def test_groups_are_the_images_of_a_level():
    truth, predicted = random_masks(12, images=20)
    site = ["north"] * 12 + ["south"] * 8
    a = assay.segmentation(
        truth=list(truth.values()), predicted=list(predicted.values()), group={"site": site}, **OPTIONS
    )
    alone = assay.segmentation(truth=list(truth.values())[:12], predicted=list(predicted.values())[:12], **OPTIONS)
    for name in ("dice", "mean_dice", "hausdorff"):
        assert a.by_group["site"]["north"][name].value == alone[name].value


def test_the_histogram_of_distances_counts_every_surface_voxel_once():
    truth, predicted = random_masks(3, images=6)
    a = assay.segmentation(truth=truth, predicted=predicted, spacing=1, missed="skip")
    figures, tally = a.record["figures"], a.counts
    rows = {name: tally.counts[:, place] for place, name in enumerate(COLUMNS)}
    both = (rows["surface_truth"] > 0) & (rows["surface_predicted"] > 0)
    assert sum(figures["surfaces"]) == (rows["surface_truth"] + rows["surface_predicted"])[both].sum()
    within = [rows[f"near_{place}"].sum() for place in range(3)]
    assert sum(within) == (rows["within_truth"] + rows["within_predicted"])[both].sum()  # up to 1, the tolerance


def test_a_second_reader_shows_how_near_people_come(tmp_path):
    truth, predicted = random_masks(3, images=8)
    c = assay.compare(task="segmentation", truth=truth, predicted={"model": predicted, "reader 2": truth})
    page = c.report(tmp_path / "c.html").read_text("utf-8")
    assert "model is at least as near to the truth as reader 2 in" in page
    assert "reader 2: median 1" in page
