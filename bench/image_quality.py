# SPDX-License-Identifier: Apache-2.0
"""Structural similarity and PSNR of a 4K pair beside scikit-image, each in a process of its own.

Run: python bench/image_quality.py
Processor seconds of the best of a few runs; memory is the peak above that before the first call.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

SHAPE = (2160, 3840)
RUNS = 3


def build_pair() -> tuple[np.ndarray, np.ndarray]:
    """A picture of waves, and the same with noise."""
    rng = np.random.default_rng(3)
    rows, columns = np.mgrid[: SHAPE[0], : SHAPE[1]].astype(np.float32)
    truth = 127 + 80 * np.sin(rows / 37) * np.cos(columns / 53)
    noisy = truth + rng.normal(0, 20, SHAPE).astype(np.float32)
    return truth.astype(np.uint8), np.clip(noisy, 0, 255).astype(np.uint8)


def call_assay(truth: np.ndarray, predicted: np.ndarray) -> float:
    """All measures of the public call."""
    import assay

    return float(assay.image_quality(truth=[truth], predicted=[predicted])["ssim"].value)  # type: ignore[arg-type]


def call_skimage(truth: np.ndarray, predicted: np.ndarray) -> float:
    """The same SSIM, and PSNR."""
    from skimage.metrics import peak_signal_noise_ratio, structural_similarity

    peak_signal_noise_ratio(truth, predicted, data_range=255)
    options = {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False, "data_range": 255}
    return float(structural_similarity(truth, predicted, **options))


def run_alone(name: str, folder: str) -> None:
    """Time one of them and print what it took."""
    truth, predicted = (np.load(f"{folder}/{role}.npy") for role in ("truth", "predicted"))
    work = {"assay": call_assay, "scikit-image": call_skimage}[name]
    small = truth[:64, :64], predicted[:64, :64]
    work(*small)  # everything is imported
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        value = work(truth, predicted)
        times.append(time.process_time() - start)
    extra = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(json.dumps({"seconds": min(times), "megabytes": extra, "ssim": value}))


def main() -> None:
    """Run both and print a table."""
    if len(sys.argv) > 1:
        run_alone(*sys.argv[1:])
        return
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for role, image in zip(("truth", "predicted"), build_pair(), strict=True):
            np.save(f"{folder}/{role}.npy", image)
        for name in ("assay", "scikit-image"):
            command = [sys.executable, __file__, name, folder]
            done = subprocess.run(command, capture_output=True, check=True, text=True)
            found[name] = json.loads(done.stdout)
    base = found["scikit-image"]["seconds"]
    print("| tool | processor s | of scikit-image | MB above start | SSIM |")
    print("|---|---:|---:|---:|---:|")
    for name, row in found.items():
        share = row["seconds"] / base
        print(f"| {name} | {row['seconds']:.2f} | {share:.2f} | {row['megabytes']:.0f} | {row['ssim']:.12f} |")


if __name__ == "__main__":
    main()
