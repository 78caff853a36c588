# SPDX-License-Identifier: Apache-2.0
"""Rules of LVIS and OpenImages, keypoints, and boxes with an angle.

The numbers of LVIS come from lvis-api 0.5.3, those of keypoints from pycocotools 2.0.11, on the scenes made here;
those of OpenImages are checked against the rule in plain Python, and hotcoco 1.3.0 gives the same for seed 0.
"""

from __future__ import annotations

import numpy as np
import pytest

import assay
from assay.core.values import Undefined
from assay.measures.declare import parse
from assay.tasks.detection import TASK
from assay.tasks.detection.box_values import read_values
from assay.tasks.detection.kernel.overlaps import rotated_ious
from tests.tasks.detection.reference import iou, random_scenes


def values_of(a, names):
    values = read_values(a.counts)
    numbers = [parse(name, TASK.registry)(values) for name in names]
    return [-1.0 if isinstance(number, Undefined) else number.value for number in numbers]


def lvis_scenes(seed, images=30, classes=6):
    rng = np.random.default_rng(seed)
    truth, found = random_scenes(seed, images=images, classes=classes)
    marked = {}
    for o in truth["annotations"]:
        o["iscrowd"] = 0
        marked.setdefault(o["image_id"], set()).add(o["category_id"])
    for image in truth["images"]:
        own = sorted(marked.get(image["id"], ()))
        others = [label for label in range(1, classes + 1) if label not in own]
        image["neg_category_ids"] = [label for label in others if rng.random() < 0.5]
        image["not_exhaustive_category_ids"] = [label for label in own if rng.random() < 0.3]
    for category in truth["categories"]:
        category["frequency"] = "rcf"[category["id"] % 3]
    for d in found:
        d["score"] = round(d["score"] + rng.random() * 1e-3, 6)
    return truth, found


def people(seed, images=20):
    """Persons with 17 keypoints, some of them unmarked or a crowd, and detections near and far."""
    rng = np.random.default_rng(seed)
    annotations, found = [], []
    for image in range(1, images + 1):
        for _ in range(rng.integers(0, 4)):
            (x, y), (w, h) = rng.uniform(0, 400, 2), rng.uniform(20, 200, 2)
            points = np.column_stack([x + w * rng.random(17), y + h * rng.random(17), rng.integers(0, 3, 17)])
            crowd = int(rng.random() < 0.1)
            points[:, 2] *= rng.random() > 0.15 and not crowd
            points[points[:, 2] == 0, :2] = 0
            annotations.append(
                {"id": len(annotations) + 1, "image_id": image, "category_id": 1, "bbox": [x, y, w, h],
                 "area": w * h * 0.6, "iscrowd": crowd, "keypoints": points.ravel().tolist(),
                 "num_keypoints": int((points[:, 2] > 0).sum())}
            )  # fmt: skip
            for _ in range(rng.integers(0, 3)):
                moved = points.copy()
                moved[:, :2] += rng.normal(0, rng.choice([1, 4, 10, 40]), (17, 2))
                if rng.random() < 0.3 or crowd:
                    moved[:, :2] = np.column_stack([x + w * rng.random(17), y + h * rng.random(17)])
                found.append({"image_id": image, "category_id": 1, "keypoints": moved.ravel().tolist()})
        for _ in range(rng.integers(0, 3)):
            points = np.column_stack([rng.uniform(0, 500, (17, 2)), np.ones(17)])
            found.append({"image_id": image, "category_id": 1, "keypoints": points.ravel().tolist()})
    for d in found:
        d["score"] = float(rng.random())
    listed = [{"id": image} for image in range(1, images + 1)]
    return {"images": listed, "categories": [{"id": 1, "name": "person"}], "annotations": annotations}, found


LVIS_NAMES = (
    "map", "map_50", "map_75", "map_small", "map_medium", "map_large",
    'map_of(frequency="r")', 'map_of(frequency="c")', 'map_of(frequency="f")',
    "ar_100", "ar_small", "ar_medium", "ar_large",
)  # fmt: skip
POINT_NAMES = ("map", "map_50", "map_75", "map_medium", "map_large", "ar_100", "ar_medium", "ar_large")
LVIS_NUMBERS = {
    300: [
        0.16533388457893405,
        0.4315718476609565,
        0.08758840169731258,
        0.1544141914191419,
        0.20107797684530362,
        0.11311881188118812,
        0.10806223479490806,
        0.14837612332661837,
        0.23956329561527584,
        0.25818602693602694,
        0.225,
        0.2841600529100529,
        0.1125,
    ],
    4: [
        0.1553097214483353,
        0.41160485096128663,
        0.07962046204620463,
        0.11691419141914192,
        0.19375831630782125,
        0.1004950495049505,
        0.10650636492220648,
        0.14837612332661837,
        0.21104667609618102,
        0.23985690235690235,
        0.15,
        0.27199074074074076,
        0.1,
    ],
}
POINT_NUMBERS = [
    0.18288917352978548,
    0.255126003455142,
    0.2024097146556761,
    0.4044715680359245,
    0.08498498201468499,
    0.43461538461538457,
    0.47647058823529403,
    0.35555555555555557,
]


@pytest.mark.parametrize("cap", [300, 4])
def test_the_thirteen_numbers_of_lvis(cap):
    a = assay.detection(*lvis_scenes(1), profile="lvis", max_detections=cap)
    assert values_of(a, LVIS_NAMES) == pytest.approx(LVIS_NUMBERS[cap], abs=1e-12)


def test_keypoints_have_the_numbers_of_pycocotools():
    a = assay.detection(*people(2), shape="keypoints")
    assert values_of(a, POINT_NAMES) == pytest.approx(POINT_NUMBERS, abs=1e-12)


def test_detections_of_classes_that_nobody_looked_for_do_not_count():
    truth, found = lvis_scenes(1)
    a = assay.detection(truth, found, profile="lvis")
    verified = {(o["image_id"], o["category_id"]) for o in truth["annotations"]}
    verified |= {(image["id"], label) for image in truth["images"] for label in image["neg_category_ids"]}
    outside = [d for d in found if (d["image_id"], d["category_id"]) not in verified]
    assert outside
    assert any(f"{len(outside)} detections of classes that were not looked for" in note for note in a.notes)
    inside = [d for d in found if d not in outside]
    assert assay.detection(truth, inside, profile="lvis").counts == a.counts
    with pytest.raises(assay.AssayError, match="not every class was looked for"):
        assay.detection(truth, found)


def test_where_objects_are_not_all_marked_a_false_alarm_is_none():
    truth, found = lvis_scenes(1)
    for image in truth["images"]:
        image["not_exhaustive_category_ids"] = list(range(1, 7))
    a = assay.detection(truth, found, profile="lvis", confidence=0.0)
    assert a["false_positives_per_image"].value == 0
    assert a["precision"].value == 1
    assert a["errors_background"].value == 0
    assert all(row["false_alarms"] == 0 for row in a.record["figures"]["confidence"])


def openimages_precision(truth, found, label):
    """AP at IoU 0.5: single objects first, then groups, which count once."""
    verdicts, objects = [], 0
    for image in [image["id"] for image in truth["images"]]:
        mine = [o for o in truth["annotations"] if (o["image_id"], o["category_id"]) == (image, label)]
        own = [d for d in found if (d["image_id"], d["category_id"]) == (image, label)]
        objects += len(mine)
        best_in = {}
        for crowd in (0, 1):
            boxes = [o["bbox"] for o in mine if o["iscrowd"] == crowd]
            taken, left = set(), []
            for d in sorted(own, key=lambda d: -d["score"]):
                overlaps = [iou(d["bbox"], box, crowd) for box in boxes]
                place = int(np.argmax(overlaps)) if overlaps else -1
                near = place >= 0 and overlaps[place] >= 0.5
                if crowd and near:
                    best_in[place] = max(best_in.get(place, 0), d["score"])
                elif near and place not in taken:
                    taken.add(place)
                    verdicts.append((d["score"], 1))
                else:
                    left.append(d)
            own = left
        verdicts += [(d["score"], 0) for d in own] + [(score, 1) for score in best_in.values()]
    hits = np.array([hit for _, hit in sorted(verdicts, key=lambda pair: -pair[0])])
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float((np.maximum.accumulate(precision[::-1])[::-1] * hits).sum() / objects)


def group_scenes(seed):
    truth, found = random_scenes(seed, images=25, classes=3)
    rng = np.random.default_rng(seed)
    for d in found:
        d["score"] = float(rng.random())
    for o in truth["annotations"]:
        o["iscrowd"] = int(rng.random() < 0.3)
    return truth, found


@pytest.mark.parametrize("seed", [0, 4])
def test_groups_of_openimages_count_once(seed):
    truth, found = group_scenes(seed)
    a = assay.detection(truth, found, profile="openimages")
    for label in (1, 2, 3):
        expected = openimages_precision(truth, found, label)
        assert a.by_class[f"c{label}"]["ap_50"].value == pytest.approx(expected, abs=1e-12)
    if seed == 0:
        assert values_of(a, ["map_50"]) == pytest.approx([0.4136286268198033], abs=1e-12)  # hotcoco
    assert any("every class is taken to be looked for" in note for note in a.notes)


def test_files_of_openimages_are_read_as_they_are(tmp_path):
    truth, found = group_scenes(0)
    heads = "ImageID,LabelName,XMin,YMin,XMax,YMax,"

    def write(name, rows, last, value):
        lines = [
            f"i{r['image_id']},c{r['category_id']},{x},{y},{x + w},{y + h},{value(r)}"
            for r in rows
            for x, y, w, h in [r["bbox"]]
        ]
        (tmp_path / name).write_text("\n".join([heads + last, *lines]) + "\n", "utf-8")
        return tmp_path / name

    boxes = write("boxes.csv", truth["annotations"], "IsGroupOf", lambda r: r["iscrowd"])
    answers = write("found.csv", found, "Score", lambda r: repr(r["score"]))
    labels = [f"i{image['id']},c{label},1" for image in truth["images"] for label in (1, 2)]
    (tmp_path / "labels.csv").write_text("\n".join(["ImageID,LabelName,Confidence", *labels]) + "\n", "utf-8")
    images = [f"i{image['id']}" for image in truth["images"]]
    a = assay.detection(boxes, answers, images=images, searched=tmp_path / "labels.csv", profile="openimages")
    plain = assay.detection(truth, found, profile="openimages")
    assert a.by_class["c1"]["ap_50"].value == pytest.approx(plain.by_class["c1"]["ap_50"].value, abs=1e-9)
    pairs = {(o["image_id"], o["category_id"]) for o in truth["annotations"]}
    outside = [d for d in found if d["category_id"] == 3 and (d["image_id"], 3) not in pairs]
    assert any(f"{len(outside)} detections of classes" in note for note in a.notes)


def clip(subject, edges):
    """The part of a convex shape on the inner side of every edge (Sutherland and Hodgman)."""
    for (x1, y1), (x2, y2) in zip(edges, edges[1:] + edges[:1], strict=True):
        side = [(x2 - x1) * (y - y1) - (y2 - y1) * (x - x1) for x, y in subject]
        shape = []
        for place, ((x, y), s) in enumerate(zip(subject, side, strict=True)):
            (a, b), t = subject[place - 1], side[place - 1]
            if s * t < 0:
                shape.append((a + (x - a) * t / (t - s), b + (y - b) * t / (t - s)))
            if s >= 0:
                shape.append((x, y))
        subject = shape
    area = sum(a * d - b * c for (a, b), (c, d) in zip(subject, subject[1:] + subject[:1], strict=True))
    return abs(area) / 2


def turned(box):
    x, y, w, h, angle = box
    turn = np.radians(angle)
    ends = [(-w / 2, -h / 2), (w / 2, -h / 2), (w / 2, h / 2), (-w / 2, h / 2)]
    middle = (x + w / 2, y + h / 2)
    cos, sin = np.cos(turn), np.sin(turn)
    return [(middle[0] + a * cos - b * sin, middle[1] + a * sin + b * cos) for a, b in ends]


def test_boxes_with_an_angle_overlap_as_clipped_polygons_do():
    rng = np.random.default_rng(5)
    boxes = np.column_stack([rng.uniform(0, 6, (400, 2)), rng.uniform(1, 6, (400, 2)), rng.uniform(-180, 180, 400)])
    boxes[:40, 4] = rng.choice([0, 45, 90, 180], 40)
    boxes[40:60] = boxes[60:80]
    first, second = boxes[:200], np.vstack([boxes[200:380], boxes[:20]])
    values = rotated_ious(first, second, np.zeros(200, dtype=bool))
    for a, b, value in zip(first.tolist(), second.tolist(), values.tolist(), strict=True):
        common = clip(turned(a), turned(b))
        assert value == pytest.approx(common / (a[2] * a[3] + b[2] * b[3] - common), abs=1e-9)


def test_boxes_with_an_angle_of_zero_are_upright_boxes():
    truth, found = random_scenes(6)
    plain = assay.detection(truth, found)
    for rows in (truth["annotations"], found):
        for row in rows:
            x, y, w, h = row["bbox"]
            row["bbox"] = [x + w / 2, y + h / 2, w, h, 0.0]
    assert assay.detection(truth, found)["map"].value == pytest.approx(plain["map"].value, abs=1e-9)
    with pytest.raises(assay.AssayError, match="only one of truth and detections"):
        assay.detection(random_scenes(6)[0], found)
    for rows in (truth["annotations"], found):
        for row in rows:
            row["bbox"][4] = 90.0
            row["bbox"][2:4] = row["bbox"][3:1:-1]
    assert assay.detection(truth, found)["map"].value == pytest.approx(plain["map"].value, abs=1e-9)


def test_keypoints_of_another_body_need_their_sigmas():
    truth, found = people(2)
    for row in (*truth["annotations"], *found):
        row["keypoints"] = row["keypoints"][:15]
        row.pop("num_keypoints", None)
    with pytest.raises(assay.AssayError, match="the spread of 5 keypoints is not known"):
        assay.detection(truth, found, shape="keypoints")
    assert assay.detection(truth, found, shape="keypoints", sigmas=[0.05] * 5)["map"].value > 0
    found[0]["keypoints"] = found[0]["keypoints"][:-1]
    with pytest.raises(assay.AssayError, match="not the same number"):
        assay.detection(truth, found, shape="keypoints", sigmas=[0.05] * 5)
