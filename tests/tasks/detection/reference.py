# SPDX-License-Identifier: Apache-2.0
"""An independent evaluation by COCO's rules in plain Python, slow and without NumPy's tricks; and random scenes."""

from __future__ import annotations

import numpy as np

THRESHOLDS = [0.5 + 0.05 * step for step in range(10)]
AREAS = [(0, 1e10), (0, 1024), (1024, 9216), (9216, 1e10)]


def iou(a, b, crowd):
    across = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    down = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    if across <= 0 or down <= 0:
        return 0.0
    common = across * down
    whole = a[2] * a[3] if crowd else a[2] * a[3] + b[2] * b[3] - common
    return common / whole


def match(objects, detections, threshold, area):
    """For detections by falling score: 1 a hit, 0 a false alarm, None ignored."""
    low, high = area
    skipped = [o["iscrowd"] or o.get("ignore", 0) or not low <= o["area"] <= high for o in objects]
    taken = [False] * len(objects)
    verdicts = []
    for detection in sorted(detections, key=lambda d: -d["score"])[:100]:
        best, chosen = min(threshold, 1 - 1e-10), None
        for wanted in (False, True):
            for place, o in enumerate(objects):
                if skipped[place] is not wanted and bool(skipped[place]) != wanted:
                    continue
                if taken[place] and not o["iscrowd"]:
                    continue
                overlap = iou(detection["bbox"], o["bbox"], o["iscrowd"])
                if overlap >= best:
                    best, chosen = overlap, place
            if chosen is not None:
                break
        if chosen is not None:
            taken[chosen] = True
            verdicts.append((detection["score"], None if skipped[chosen] else 1))
        else:
            size = detection["bbox"][2] * detection["bbox"][3]
            verdicts.append((detection["score"], 0 if low <= size <= high else None))
    return verdicts, sum(not flag for flag in skipped)


def average_precision(truth, found, label, threshold, area):
    verdicts, objects = [], 0
    for image in sorted(i["id"] for i in truth["images"]):
        mine = [o for o in truth["annotations"] if o["image_id"] == image and o["category_id"] == label]
        own = [d for d in found if d["image_id"] == image and d["category_id"] == label]
        part, count = match(mine, own, threshold, area)
        verdicts += part
        objects += count
    if not objects:
        return None
    ranked = [verdict for _, verdict in sorted(verdicts, key=lambda pair: -pair[0]) if verdict is not None]
    hits = np.cumsum(ranked) if ranked else np.zeros(0)
    precision = hits / np.arange(1, len(ranked) + 1)
    recall = hits / objects
    total = 0.0
    for point in np.linspace(0, 1, 101):
        above = precision[recall >= point]
        total += above.max() if len(above) else 0.0
    return total / 101


def mean_precision(truth, found, area=AREAS[0], thresholds=THRESHOLDS):
    labels = [category["id"] for category in truth["categories"]]
    values = [average_precision(truth, found, label, t, area) for label in labels for t in thresholds]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def random_scenes(seed, images=12, classes=3, first=1):
    """Truth and detections of a small random data set, with crowds, tied scores and empty images."""
    rng = np.random.default_rng(seed)
    annotations, found = [], []
    for image in range(first, first + images):
        for _ in range(int(rng.integers(0, 5))):
            side = rng.integers(8, 150, 2)
            box = [*rng.integers(0, 300, 2).tolist(), *side.tolist()]
            label = int(rng.integers(1, classes + 1))
            crowd = int(rng.random() < 0.1)
            area = float(side.prod() * rng.uniform(0.6, 1))
            annotations.append(
                {"id": len(annotations), "image_id": image, "category_id": label, "bbox": box, "area": area,
                 "iscrowd": crowd}
            )  # fmt: skip
            for _ in range(int(rng.integers(0, 3))):
                moved = (np.array(box) + rng.normal(0, 0.12, 4) * [*side, *side]).tolist()
                moved[2:] = [max(4.0, length) for length in moved[2:]]
                wrong = rng.random() < 0.15
                found.append(
                    {"image_id": image, "category_id": int(rng.integers(1, classes + 1)) if wrong else label,
                     "bbox": moved, "score": round(float(rng.random()), 2)}
                )  # fmt: skip
        for _ in range(int(rng.integers(0, 4))):
            box = [*rng.uniform(0, 300, 2).tolist(), *rng.uniform(5, 120, 2).tolist()]
            label = int(rng.integers(1, classes + 1))
            found.append({"image_id": image, "category_id": label, "bbox": box, "score": round(float(rng.random()), 2)})
    truth = {
        "images": [{"id": image, "scene": "ab"[image % 2]} for image in range(first, first + images)],
        "categories": [{"id": label, "name": f"c{label}"} for label in range(1, classes + 1)],
        "annotations": annotations,
    }
    return truth, found
