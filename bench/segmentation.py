# SPDX-License-Identifier: Apache-2.0
"""Masks beside their peers: counts of a volume, distances of 20 labels, and many small masks from disk.

Run: python bench/segmentation.py [masks on disk]
Processor seconds of one process, the best of a few runs; peak memory is that of the process above its start.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import assay

SHAPE = (256, 256, 128)
LABELS = 20


def build_volumes() -> tuple[np.ndarray, np.ndarray]:
    """Twenty balls, and the same moved by a voxel or two."""
    rng = np.random.default_rng(1)
    truth = np.zeros(SHAPE, np.uint8)
    z, y, x = np.ogrid[: SHAPE[0], : SHAPE[1], : SHAPE[2]]
    for label in range(1, LABELS + 1):
        centre = [rng.integers(30, size - 25) for size in SHAPE]
        truth[(z - centre[0]) ** 2 + (y - centre[1]) ** 2 + (x - centre[2]) ** 2 < rng.integers(12, 26) ** 2] = label
    return truth, np.roll(truth, (1, 2, 1), axis=(0, 1, 2))


def seconds(work: Callable[[], object], runs: int = 3) -> float:
    """Processor seconds of the fastest run."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def peak() -> float:
    """Megabytes of the largest size so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def bench_counts(truth: np.ndarray, predicted: np.ndarray) -> None:
    """The confusion of all labels, against scikit-learn."""
    from sklearn.metrics import confusion_matrix

    from assay.tasks.segmentation.kernel import Rules, compare_masks

    ours = seconds(lambda: assay.segmentation(truth=[truth], predicted=[predicted]), 5)
    alone = seconds(lambda: compare_masks(truth, predicted, Rules()), 5)
    wide = [mask.ravel().astype(np.int64) for mask in (truth, predicted)]
    flat = [mask.ravel() for mask in (truth, predicted)]
    print(f"counts of {truth.size:,} voxels, {LABELS} labels")
    print(f"  assay, counting alone            {alone:.3f} s")
    print(f"  assay.segmentation, whole call   {ours:.3f} s")
    for name, masks in (("int64", wide), ("uint8", flat)):
        theirs = seconds(lambda masks=masks: confusion_matrix(*masks))  # type: ignore[misc]
        print(f"  scikit-learn, {name}              {theirs:.3f} s, {theirs / alone:.0f} and {theirs / ours:.0f} times")


def bench_distances(truth: np.ndarray, predicted: np.ndarray) -> None:
    """HD, HD95, ASSD and NSD of every label, against its peers."""
    before = peak()
    ours = seconds(lambda: assay.segmentation(truth=[truth], predicted=[predicted], spacing=(1, 1, 1)))
    print(f"distances of {LABELS} labels")
    print(f"  assay.segmentation, whole call   {ours:.3f} s, {peak() - before:.0f} MB")
    for name, run, share in (
        ("surface-distance", run_surface_distance, 1.0),
        ("MONAI, one thread", run_monai, 1.0),
        ("MetricsReloaded", run_reloaded, 0.1),
    ):
        labels = range(1, max(1, round(share * LABELS)) + 1)
        try:
            theirs = seconds(lambda run=run, labels=labels: run(truth, predicted, labels), 1) / share  # type: ignore[misc]
        except ImportError as error:
            print(f"  {name}: {error}")
            continue
        part = f", from {len(labels)} labels" if share < 1 else ""
        print(f"  {name:<32} {theirs:.3f} s, {theirs / ours:.1f} times{part}")


def run_surface_distance(truth: np.ndarray, predicted: np.ndarray, labels: range) -> None:
    """All four distances by surface-distance."""
    import surface_distance as peer

    for label in labels:
        found = peer.compute_surface_distances(truth == label, predicted == label, (1, 1, 1))
        peer.compute_robust_hausdorff(found, 100)
        peer.compute_robust_hausdorff(found, 95)
        peer.compute_average_surface_distance(found)
        peer.compute_surface_dice_at_tolerance(found, 1)


def run_monai(truth: np.ndarray, predicted: np.ndarray, labels: range) -> None:
    """All four distances by MONAI."""
    import torch
    from monai import metrics

    torch.set_num_threads(1)
    how = {"include_background": True, "spacing": 1.0}
    for label in labels:
        true, found = (torch.from_numpy((mask == label)[None, None].astype(np.float32)) for mask in (truth, predicted))
        metrics.compute_hausdorff_distance(found, true, **how)
        metrics.compute_hausdorff_distance(found, true, percentile=95, **how)
        metrics.compute_average_surface_distance(found, true, symmetric=True, **how)
        metrics.compute_surface_dice(found, true, [1.0], **how)


def run_reloaded(truth: np.ndarray, predicted: np.ndarray, labels: range) -> None:
    """All four distances by MetricsReloaded."""
    from MetricsReloaded.metrics.pairwise_measures import BinaryPairwiseMeasures

    for label in labels:
        masks = [(mask == label).astype(int) for mask in (predicted, truth)]
        pair = BinaryPairwiseMeasures(*masks, pixdim=[1, 1, 1])
        pair.measured_distance()
        pair.normalised_surface_distance()


def bench_files(count: int) -> None:
    """Small masks from disk, in bounded memory."""
    rng = np.random.default_rng(2)
    with tempfile.TemporaryDirectory() as folder:
        for role in ("truth", "predicted"):
            (Path(folder) / role).mkdir()
            for number in range(count):
                mask = np.zeros((32, 32), np.uint8)
                a, b = rng.integers(4, 12, size=2)
                mask[a : a + 14, b : b + 12] = 1
                np.save(Path(folder) / role / f"{number:06d}.npy", mask)
        before, start = peak(), time.process_time()
        a = assay.segmentation(truth=f"{folder}/truth", predicted=f"{folder}/predicted", spacing=1)
        a["mean_dice"]
        print(f"{count:,} masks of 32 x 32 from disk: {time.process_time() - start:.1f} s, {peak() - before:.0f} MB")


def main() -> None:
    """Run all parts; files first, for memory is told above the peak so far."""
    bench_files(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
    truth, predicted = build_volumes()
    bench_counts(truth, predicted)
    bench_distances(truth, predicted)


if __name__ == "__main__":
    main()
