# SPDX-License-Identifier: Apache-2.0
"""Recorded values of peers, and structural similarity written out window by window."""

from __future__ import annotations

import numpy as np
import pytest

import assay
from tests.tasks.image_quality.pictures import CASES, draw, recorded


def assess(name, **options):
    truth, predicted, axis = recorded()[name]
    return assay.image_quality(
        truth=[truth], predicted=[predicted], channel_axis=axis, windows=["gaussian", "uniform"], **options
    )


@pytest.mark.parametrize("name", CASES)
def test_every_recorded_case(name):
    a, case = assess(name), CASES[name]
    assert a["mean_squared_error"].value == case["mse"]
    assert a["psnr"].value == (float("inf") if case["psnr"] == "inf" else pytest.approx(case["psnr"], rel=1e-14))
    if isinstance(case["ssim_wang_skimage"], str):
        assert a["ssim"].value is None
        assert "11 x 11" in a["ssim"].reason
    else:
        assert a["ssim"].value == pytest.approx(case["ssim_wang_skimage"], abs=1e-12)
        assert a["ssim"].value == pytest.approx(case["ssim_piq_no_downsample"], abs=1e-12)
        assert a["ssim"].value == pytest.approx(case["ssim_pytorch_msssim"], abs=2e-6)  # it computes in float32
        assert a["dssim"].value == pytest.approx((1 - case["ssim_wang_skimage"]) / 2, abs=1e-12)
        if "ssim_sewar_gaussian" in case:
            assert a["ssim"].value == pytest.approx(case["ssim_sewar_gaussian"], abs=1e-12)
    if "ssim_skimage_default_7x7" in case:
        assert a["ssim_uniform"].value == pytest.approx(case["ssim_skimage_default_7x7"], abs=1e-12)


def test_constant_images_have_the_golden_values():
    flat = [np.full((20, 20), value, np.uint8) for value in (100, 120)]
    a = assay.image_quality(truth=[flat[0]], predicted=[flat[1]])
    assert a["ssim"].value == pytest.approx(0.9836109249983688, abs=1e-12)
    assert a["psnr"].value == pytest.approx(22.11020369539948, rel=1e-14)
    assert a["dssim"].value == pytest.approx(0.008194537500815613, abs=1e-12)


def test_the_camera_with_noise_has_the_values_of_the_peers():
    """scikit-image .35776 and .36705, pytorch-msssim MS-SSIM .79466, piq .79465 (versions in cases.json)."""
    data = pytest.importorskip("skimage.data")
    camera = data.camera()
    noise = 20 * np.random.default_rng(0).standard_normal(camera.shape)
    noisy = np.rint(np.clip(camera + noise, 0, 255)).astype(np.uint8)
    a = assay.image_quality(truth=[camera], predicted=[noisy], windows=["gaussian", "uniform", "multiscale"])
    assert a["ssim"].value == pytest.approx(0.35776, abs=5e-6)
    assert a["ssim_uniform"].value == pytest.approx(0.36705, abs=5e-6)
    assert a["ms_ssim"].value == pytest.approx(0.79465, abs=1e-5)


def test_structural_similarity_equals_its_definition_window_by_window():
    truth, predicted = (image.astype(float) for image in draw(17, 14, 3))
    away = np.arange(11) - 5
    weights = np.exp(-(away[:, None] ** 2 + away[None] ** 2) / (2 * 1.5**2))
    weights /= weights.sum()
    c1, c2, values = (0.01 * 255) ** 2, (0.03 * 255) ** 2, []
    for row in range(7):
        for column in range(4):
            x, y = (image[row : row + 11, column : column + 11] for image in (truth, predicted))
            mx, my = (weights * x).sum(), (weights * y).sum()
            vx, vy = (weights * (x - mx) ** 2).sum(), (weights * (y - my) ** 2).sum()
            both = (weights * (x - mx) * (y - my)).sum()
            values.append((2 * mx * my + c1) * (2 * both + c2) / ((mx**2 + my**2 + c1) * (vx + vy + c2)))
    a = assay.image_quality(truth=[truth], predicted=[predicted], data_range=255)
    assert a["ssim"].value == pytest.approx(np.mean(values), rel=1e-12)


def test_luminance_is_bt_601():
    truth, predicted, axis = recorded()["colour_48x40_k0_1_2"]
    a = assay.image_quality(truth=[truth], predicted=[predicted], channel_axis=axis, colour="luminance")
    grey = [image @ np.array([0.299, 0.587, 0.114]) for image in (truth, predicted)]
    b = assay.image_quality(truth=[grey[0]], predicted=[grey[1]], data_range=255)
    assert a["ssim"].value == pytest.approx(b["ssim"].value, rel=1e-12)
    assert a["psnr"].value == pytest.approx(b["psnr"].value, rel=1e-12)


def test_errors_of_pixels_equal_numpy():
    truth, predicted = (image.astype(float) for image in draw(30, 25, 1))
    a = assay.image_quality(truth=[truth], predicted=[predicted], data_range=255)
    away = truth - predicted
    rmse = np.sqrt((away**2).mean())
    expected = {
        "mean_error": away.mean(),
        "mean_absolute_error": np.abs(away).mean(),
        "root_mean_squared_error": rmse,
        "nrmse_mean": rmse / truth.mean(),
        "nrmse_sd": rmse / truth.std(),
        "nrmse_euclid": np.linalg.norm(away) / np.linalg.norm(truth),
        "nrmse_range": rmse / np.ptp(truth),
        "nrmse_iqr": rmse / np.subtract(*np.percentile(truth, (75, 25))),
        "pearson_r": np.corrcoef(truth.ravel(), predicted.ravel())[0, 1],
    }
    for name, value in expected.items():
        assert a[name].value == pytest.approx(value, rel=1e-10), name
