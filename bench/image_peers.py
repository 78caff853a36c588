# SPDX-License-Identifier: Apache-2.0
"""Values of masks and pictures beside those of other tools: prints the tables of docs/why/segmentation-peers.md.

Run: python bench/image_peers.py, with any of monai, medpy, surface-distance, MetricsReloaded, scikit-image,
pytorch-msssim and piq installed; what is missing is named.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable

import numpy as np

import assay

warnings.filterwarnings("ignore")
MEASURES = (
    "dice", "hausdorff", "hausdorff_95", "hausdorff_95_joint", "average_symmetric_surface_distance",
    "normalized_surface_distance",
)  # fmt: skip
Row = list[float | str | None]


def make_pairs() -> dict[str, tuple[np.ndarray, np.ndarray, tuple[float, ...]]]:
    """Masks of one object with their spacing: squares, balls, a ragged blob, and empty ones."""
    square, moved = np.zeros((16, 16), bool), np.zeros((16, 16), bool)
    square[4:12, 4:12], moved[5:13, 4:12] = True, True
    moved[1, 1] = True
    z, y, x = np.mgrid[:24, :32, :32]
    balls = [(2 * (z - 12)) ** 2 + (y - 16) ** 2 + (x - c) ** 2 < r**2 for c, r in ((15, 10), (17, 11))]
    rng = np.random.default_rng(4)
    noise = [rng.normal(size=(40, 40, 20)) for _ in range(2)]
    from scipy.ndimage import gaussian_filter

    blobs = [gaussian_filter(noise[0] + 0.5 * part, 3) > 0.01 for part in (0 * noise[1], noise[1])]
    none = np.zeros_like(square)
    return {
        "square moved by one, stray pixel": (square, moved, (1.0, 1.0)),
        "the same, spacing 2 x 0.5": (square, moved, (2.0, 0.5)),
        "balls, spacing 2 x 1 x 1": (*balls, (2.0, 1.0, 1.0)),
        "ragged blobs": (*blobs, (1.0, 1.0, 1.0)),
        "predicted empty": (square, none, (1.0, 1.0)),
        "truth empty": (none, square, (1.0, 1.0)),
        "both empty": (none, none, (1.0, 1.0)),
    }


def ours(truth: np.ndarray, predicted: np.ndarray, spacing: tuple[float, ...]) -> Row:
    """Our values; a reason is shown as undefined."""
    a = assay.segmentation(truth=[truth], predicted=[predicted], spacing=spacing)
    return [a[name].value for name in MEASURES]


def monai(truth: np.ndarray, predicted: np.ndarray, spacing: tuple[float, ...]) -> Row:
    """MONAI, with a tolerance of 1."""
    import torch
    from monai import metrics

    true, found = (torch.from_numpy(mask[None, None].astype(np.float32)) for mask in (truth, predicted))
    how = {"include_background": True, "spacing": list(spacing)}
    return [
        float(metrics.compute_dice(found, true, include_background=True)),
        float(metrics.compute_hausdorff_distance(found, true, **how)),
        float(metrics.compute_hausdorff_distance(found, true, percentile=95, **how)),
        None,
        float(metrics.compute_average_surface_distance(found, true, symmetric=True, **how)),
        float(metrics.compute_surface_dice(found, true, [1.0], **how)),
    ]


def reloaded(truth: np.ndarray, predicted: np.ndarray, spacing: tuple[float, ...]) -> Row:
    """MetricsReloaded, with a tolerance of 1."""
    from MetricsReloaded.metrics.pairwise_measures import BinaryPairwiseMeasures

    pair = BinaryPairwiseMeasures(predicted.astype(int), truth.astype(int), pixdim=list(spacing))
    far, mean, high, _ = pair.measured_distance()
    return [None, float(far), float(high), None, float(mean), float(pair.normalised_surface_distance())]


def medpy(truth: np.ndarray, predicted: np.ndarray, spacing: tuple[float, ...]) -> Row:
    """Medpy with all neighbours, as ours."""
    from medpy.metric import binary

    how = {"voxelspacing": spacing, "connectivity": truth.ndim}
    return [
        float(binary.dc(predicted, truth)),
        float(binary.hd(predicted, truth, **how)),
        None,
        float(binary.hd95(predicted, truth, **how)),
        float(binary.assd(predicted, truth, **how)),
        None,
    ]


def deepmind(truth: np.ndarray, predicted: np.ndarray, spacing: tuple[float, ...]) -> Row:
    """surface-distance, which weighs surfaces by their area."""
    import surface_distance as peer

    found = peer.compute_surface_distances(truth, predicted, spacing)
    return [
        float(peer.compute_dice_coefficient(truth, predicted)),
        float(peer.compute_robust_hausdorff(found, 100)),
        float(peer.compute_robust_hausdorff(found, 95)),
        None,
        None,
        float(peer.compute_surface_dice_at_tolerance(found, 1)),
    ]


def compare_masks() -> None:
    """A table a pair: measures across, tools down."""
    tools: dict[str, Callable[..., Row]] = {
        "assay": ours, "MONAI": monai, "MetricsReloaded": reloaded, "medpy": medpy, "surface-distance": deepmind,
    }  # fmt: skip
    for name, pair in make_pairs().items():
        print(f"\n{name}\n| tool | " + " | ".join(MEASURES) + " |")
        for tool, run in tools.items():
            try:
                cells = ["" if value is None else f"{value:.6g}" for value in run(*pair)]
                if tool == "assay":
                    cells = [cell or "undefined" for cell in cells]
            except Exception as error:  # noqa: BLE001  what a tool raises is its answer
                cells = [f"{type(error).__name__}: {str(error)[:60]}"]
            print(f"| {tool} | " + " | ".join(cells) + " |")


def compare_pictures() -> None:
    """PSNR, SSIM and MS-SSIM of one noisy picture."""
    rng = np.random.default_rng(6)
    rows, columns = np.mgrid[:256, :256]
    truth = (128 + 90 * np.sin(rows / 17) * np.cos(columns / 11)).astype(np.uint8)
    noisy = np.clip(truth + rng.normal(0, 20, truth.shape), 0, 255).astype(np.uint8)
    a = assay.image_quality(truth=[truth], predicted=[noisy], windows=["gaussian", "uniform", "multiscale"])
    print("\npicture with noise")
    print(
        "| assay |", " | ".join(f"{name} {a[name].value:.6f}" for name in ("psnr", "ssim", "ssim_uniform", "ms_ssim"))
    )
    if importlib.util.find_spec("skimage"):
        from skimage.metrics import peak_signal_noise_ratio, structural_similarity

        plain = structural_similarity(truth, noisy, data_range=255)
        wang = structural_similarity(
            truth, noisy, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=255
        )
        ratio = peak_signal_noise_ratio(truth, noisy, data_range=255)
        print(f"| scikit-image | psnr {ratio:.6f} | ssim {wang:.6f} | ssim_uniform {plain:.6f} |")
    if importlib.util.find_spec("torch"):
        import torch

        pair = [torch.from_numpy(image[None, None].astype(np.float64)) for image in (truth, noisy)]
        if importlib.util.find_spec("pytorch_msssim"):
            from pytorch_msssim import ms_ssim, ssim

            print(f"| pytorch-msssim | ssim {float(ssim(*pair)):.6f} | ms_ssim {float(ms_ssim(*pair)):.6f} |")
        if importlib.util.find_spec("piq"):
            import piq

            small = float(piq.ssim(*pair, data_range=255, downsample=False))
            halved, scales = float(piq.ssim(*pair, data_range=255)), float(piq.multi_scale_ssim(*pair, data_range=255))
            ratio = float(piq.psnr(*pair, data_range=255))
            print(f"| piq | psnr {ratio:.6f} | ssim {small:.6f}, halved {halved:.6f} | ms_ssim {scales:.6f} |")


if __name__ == "__main__":
    compare_masks()
    compare_pictures()
