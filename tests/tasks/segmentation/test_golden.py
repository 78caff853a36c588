# SPDX-License-Identifier: Apache-2.0
"""Values of published and recorded cases, and of the definitions written out slowly."""

from __future__ import annotations

import numpy as np
import pytest

import assay
from tests.tasks.segmentation.masks import CASES, boxes, grid, slow_distances

NAMES = {
    "hausdorff_truth_to_predicted": "hausdorff_directed",
    "hausdorff": "hausdorff",
    "hd95_pooled": "hausdorff_95_joint",
    "hd95_max_of_directed": "hausdorff_95",
    "assd_pooled": "average_symmetric_surface_distance",
    "nsd_tolerance_1": "normalized_surface_distance",
    "surface_dice_strict": "surface_dice",
}
AGREEING = {
    "dice": (
        "dice sklearn f1",
        "dice medpy",
        "dice deepmind",
        "dice MONAI ignore_empty=F",
        "dice MR",
        "dice torchmetrics",
    ),
    "iou": ("iou sklearn", "iou medpy", "iou MONAI", "iou MR", "iou torchmetrics"),
    "hausdorff": ("hd medpy c2", "hd deepmind(100)", "hd MONAI", "hd MR", "hd torchmetrics"),
    "hausdorff_95": ("hd95 MONAI", "hd95 MR"),
    "hausdorff_95_joint": ("hd95 medpy c2",),
    "average_symmetric_surface_distance": ("assd medpy c2",),
    "normalized_surface_distance": ("nsd1 MONAI", "nsd1 MR"),
    "boundary_iou": ("boundary_iou MR",),
}
"""Peers whose definition is ours where both masks hold an object; face neighbours happen to agree on these squares."""


def assess(case, **options):
    return assay.segmentation(
        truth=[grid(case["truth"])], predicted=[grid(case["predicted"])], spacing=case["spacing"], **options
    )


@pytest.mark.parametrize("name", CASES)
def test_every_recorded_case_has_its_counts(name):
    a, counts = assess(CASES[name]), CASES[name]["counts"]
    assert (a["dice"].value, a["iou"].value) == (counts["dice"], counts["iou"])
    assert a["pixel_accuracy"].value == (counts["tp"] + counts["tn"]) / sum(counts[k] for k in ("tp", "fp", "fn", "tn"))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if isinstance(case["expected_own_rule"], dict)])
def test_every_recorded_case_has_its_distances(name):
    a, expected = assess(CASES[name]), CASES[name]["expected_own_rule"]
    for key, measure in NAMES.items():
        assert a[measure].value == pytest.approx(expected[key], rel=1e-12), measure


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if isinstance(case["expected_own_rule"], str)])
def test_distances_of_empty_masks_are_undefined(name):
    a = assess(CASES[name])
    for measure in NAMES.values():
        assert a[measure].value is None
        assert a[measure].reason


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if isinstance(case["expected_own_rule"], dict)])
def test_peers_of_the_same_definition_agree(name):
    a, peers = assess(CASES[name]), CASES[name]["peers"]
    for measure, names in AGREEING.items():
        for peer in names:
            if peer.startswith("hd torchmetrics") and CASES[name]["spacing"] != [1, 1]:
                continue  # it was run without the spacing
            assert a[measure].value == pytest.approx(peers[peer], rel=2e-6), peer  # some compute in float32


def test_two_boxes_have_the_golden_values():
    truth, predicted = boxes()
    a = assay.segmentation(truth=[truth], predicted=[predicted], spacing=1)
    golden = {
        "dice": 0.7485380116959064,
        "iou": 0.5981308411214953,
        "overlap_coefficient": 0.7901234567901234,
        "surface_dice": 0.23134328358208955,
        "average_symmetric_surface_distance": 0.7870837213037987,
        "hausdorff": 1.7320508075688772,
    }
    for name, value in golden.items():
        assert a[name].value == pytest.approx(value, rel=1e-13)


def test_pixel_counts_of_a_published_figure():
    """Rainio et al. 2024, figure 2: TP 181, TN 16156, FP 17, FN 30."""
    truth, predicted = np.zeros(16384, np.uint8), np.zeros(16384, np.uint8)
    truth[:211] = predicted[30:228] = 1
    a = assay.segmentation(truth=[truth.reshape(128, 128)], predicted=[predicted.reshape(128, 128)])
    assert a["dice"].value == 362 / 409
    assert a["iou"].value == 181 / 228
    assert a["pixel_accuracy"].value == 16337 / 16384
    assert a["symmetric_volume_difference"].value == pytest.approx(47 / 409)
    assert a["volumetric_overlap_error"].value == pytest.approx(47 / 228)


@pytest.mark.parametrize("spacing", [(1, 1, 1), (2, 0.5, 1.25)])
@pytest.mark.parametrize("seed", range(3))
def test_volumes_equal_brute_force(seed, spacing):
    rng = np.random.default_rng(seed)
    masks = [(rng.uniform(size=(7, 6, 5)) < 0.4).astype(np.uint8) for _ in range(2)]
    a = assay.segmentation(truth=[masks[0]], predicted=[masks[1]], spacing=spacing)
    for name, value in slow_distances(*masks, spacing).items():
        assert a[name].value == pytest.approx(value, rel=1e-12, abs=1e-12), name


def test_three_libraries_and_their_definitions_of_the_95th_percentile():
    """F05: MONAI and MetricsReloaded give 3.0 here, surface-distance 7.81 by areas, medpy pools both directions."""
    truth, predicted = np.zeros((20, 20), int), np.zeros((20, 20), int)
    truth[4:12, 4:12] = 1
    predicted[5:15, 4:12] = predicted[17, 17] = 1
    a = assay.segmentation(truth=[truth], predicted=[predicted], spacing=1)
    assert a["hausdorff_95"].value == 3.0
    assert a["hausdorff_95_joint"].value == 3.0
    assert a["hausdorff"].value == pytest.approx(np.hypot(6, 6))
    assert "directed" in a.measures.find("hausdorff_95").says


def test_instances_are_matched_above_one_half():
    """Two of three true instances are matched at IoU 1 and 2/3; one prediction is left over."""
    truth, predicted = np.zeros((12, 12), np.int64), np.zeros((12, 12), np.int64)
    truth[0:3, 0:3], truth[5:8, 0:2], truth[9:11, 9:11] = 7001, 7002, 7003
    predicted[0:3, 0:3], predicted[6:8, 0:2], predicted[0:2, 9:11] = 7009, 7004, 7001
    a = assay.segmentation(truth=[truth], predicted=[predicted], instances=1000)
    assert a["segmentation_quality"].value == pytest.approx((1 + 2 / 3) / 2)
    assert a["recognition_quality"].value == pytest.approx(2 / 3)
    assert a["panoptic_quality"].value == pytest.approx((1 + 2 / 3) / 3)
    alone = assay.segmentation(truth=[truth], predicted=[predicted], instances=0)
    assert alone["panoptic_quality"].value == a["panoptic_quality"].value


def test_centre_lines_forgive_a_thin_difference_and_not_a_gap():
    truth = np.zeros((15, 40), np.uint8)
    truth[6:9, 2:38] = 1
    thinner, broken = truth.copy(), truth.copy()
    thinner[6] = 0
    broken[:, 15:25] = 0
    options = {"spacing": 1, "centre_line": True}
    assert assay.segmentation(truth=[truth], predicted=[truth], **options)["centre_line_dice"].value == 1
    assert assay.segmentation(truth=[truth], predicted=[thinner], **options)["centre_line_dice"].value > 0.95
    gap = assay.segmentation(truth=[truth], predicted=[broken], **options)["centre_line_dice"].value
    assert gap == pytest.approx(2 * 0.72 / 1.72, abs=0.03)


def test_a_wider_boundary_band_is_cheng_s():
    truth, predicted = np.zeros((30, 30), np.uint8), np.zeros((30, 30), np.uint8)
    truth[5:25, 5:25] = predicted[6:26, 5:25] = 1
    a = assay.segmentation(truth=[truth], predicted=[predicted], spacing=1, boundary_width=3)
    bands = []
    for mask in (truth, predicted):
        inner = np.zeros_like(mask)
        rows, columns = np.nonzero(mask)
        inner[rows.min() + 3 : rows.max() - 2, columns.min() + 3 : columns.max() - 2] = 1
        bands.append((mask == 1) & (inner == 0))
    assert a["boundary_iou"].value == (bands[0] & bands[1]).sum() / (bands[0] | bands[1]).sum()
