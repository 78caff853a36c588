# SPDX-License-Identifier: Apache-2.0
"""Laws of the tally, the measures and the draws, and equality with a plain evaluation."""

from __future__ import annotations

import json

import numpy as np
import pytest

import assay
from assay.core.errors import PlanError
from assay.core.task import Request, find_task
from assay.tasks.detection.average_precision import INTERPOLATIONS, average_precisions, draw_precisions
from assay.tasks.detection.box_values import draw_values, operating_counts, read_values
from assay.tasks.detection.compare import count_found
from assay.tasks.detection.kernel.error_kinds import ERRORS
from assay.tasks.detection.tally import Boxes
from tests.tasks.detection.reference import AREAS, mean_precision, random_scenes

TASK = find_task("detection")
OPTIONS = {option.name: option.default for option in TASK.options}


def count(truth, found, **options):
    return TASK.read(Request(given={"truth": truth, "predicted": found}, options=OPTIONS | options)).tally


def values_of(tally):
    view = read_values(tally)
    return {measure.title: measure(view) for measure in TASK.measures}


@pytest.mark.parametrize("seed", range(6))
def test_the_kernel_equals_a_plain_evaluation(seed):
    truth, found = random_scenes(seed)
    values = values_of(count(truth, found))
    for name, area in zip(("map", "map_small", "map_medium", "map_large"), AREAS, strict=True):
        expected = mean_precision(truth, found, area)
        if expected is None:
            assert values[name].reason
        else:
            assert values[name].value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_merging_equals_counting_together(seed):
    truth, found = random_scenes(seed)
    whole = count(truth, found)
    halves = []
    for side in (0, 1):
        images = [image for image in truth["images"] if image["id"] % 2 == side]
        ids = {image["id"] for image in images}
        part = truth | {"images": images, "annotations": [o for o in truth["annotations"] if o["image_id"] in ids]}
        halves.append(count(part, [d for d in found if d["image_id"] in ids]))
    assert halves[0] + halves[1] == whole
    assert halves[1] + halves[0] == whole


def test_an_image_cannot_be_merged_twice():
    tally = count(*random_scenes(1))
    with pytest.raises(PlanError, match="counted twice"):
        _ = tally + tally


def test_tallies_of_different_rules_cannot_be_merged():
    with pytest.raises(PlanError, match="different rules"):
        _ = count(*random_scenes(1)) + count(*random_scenes(2, first=100), confidence=0.3)


def test_the_order_of_rows_does_not_matter_unless_scores_are_tied():
    truth, found = random_scenes(4)
    found = [{**d, "score": d["score"] + place * 1e-6} for place, d in enumerate(found)]
    whole = count(truth, found)
    assert count(truth, found[::-1]) == whole
    images = truth | {"images": truth["images"][::-1]}
    assert count(images, found) == whole


def test_the_tally_survives_json():
    tally = count(*random_scenes(5))
    again = Boxes.from_json(json.loads(json.dumps(tally.to_json())))
    assert again == tally
    assert {name: str(value) for name, value in values_of(again).items()} == {
        name: str(value) for name, value in values_of(tally).items()
    }


def test_every_value_lies_in_its_range():
    for seed in range(4):
        view = read_values(count(*random_scenes(seed)))
        for measure in TASK.measures:
            value, (low, high) = measure(view), measure.range
            assert getattr(value, "reason", None) or low <= value.value <= high


def test_a_strictly_increasing_map_of_scores_changes_no_average_precision():
    truth, found = random_scenes(3)
    moved = [{**d, "score": d["score"] ** 3 * 7 + 1} for d in found]
    first, second = values_of(count(truth, found)), values_of(count(truth, moved))
    assert first["map"].value == second["map"].value
    assert first["ar_100"].value == second["ar_100"].value


@pytest.mark.parametrize("rule", INTERPOLATIONS)
def test_a_draw_of_every_image_once_is_the_sample_itself(rule):
    tally = count(*random_scenes(2, images=30))
    drawn = draw_precisions(tally, np.ones((30, 2)), (0, 1, 2, 3), rule=rule)[1]
    lost = 0.02 if rule == "coco101" else 1e-5  # pycocotools loses recalls that are met exactly; draws do not
    assert drawn == pytest.approx(average_precisions(tally, rule), abs=lost, nan_ok=True)


def test_a_draw_of_some_images_is_the_tally_of_these_images():
    tally = count(*random_scenes(7, images=30))
    kept = np.arange(0, 30, 2)
    weights = np.zeros((30, 1))
    weights[kept] = 1
    chosen = tally.select_images(kept)
    part, drawn = read_values(chosen), draw_values(tally, weights)
    alone = draw_precisions(chosen, np.ones((len(kept), 1)), (0, 1, 2, 3))[0]
    assert drawn.precisions(None)[0] == pytest.approx(alone, abs=1e-5, nan_ok=True)
    assert drawn.recalls[0] == pytest.approx(part.recalls, nan_ok=True)
    for name in ("true", "false", "objects", "overlap", "errors"):
        assert getattr(drawn, name)[0] == pytest.approx(getattr(part, name))
    assert drawn.sensitivity()[0] == pytest.approx(float(part.sensitivity()))


def test_a_class_alone_has_the_values_that_it_has_among_others():
    truth, found = random_scenes(8)
    label = truth["categories"][1]["id"]
    own = truth | {"categories": truth["categories"][1:2]}
    own["annotations"] = [row for row in truth["annotations"] if row["category_id"] == label]
    alone = read_values(count(own, [row for row in found if row["category_id"] == label]))
    among = read_values(count(truth, found)).of_class(1)
    assert alone.precisions(None) == pytest.approx(among.precisions(None), nan_ok=True)
    assert alone.recalls == pytest.approx(among.recalls, nan_ok=True)


def test_every_false_alarm_has_one_kind_of_error():
    for seed in range(4):
        tally = count(*random_scenes(seed, images=20), confidence=0.3)
        _, false, _ = operating_counts(tally)
        assert tally.errors[:, : ERRORS.index("missed")].sum() == false.sum()


def test_kinds_of_error_are_told_apart():
    truth = {
        "images": [{"id": 1}],
        "categories": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}],
        "annotations": [
            {"id": k, "image_id": 1, "category_id": 1, "bbox": [200 * k, 0, 100, 100], "iscrowd": 0} for k in range(5)
        ],
    }
    boxes = [
        (1, [0, 0, 100, 100], 0.9),  # hit
        (1, [0, 0, 100, 96], 0.8),  # duplicate
        (2, [200, 0, 100, 100], 0.9),  # class
        (1, [460, 0, 100, 100], 0.9),  # location
        (2, [660, 0, 100, 100], 0.9),  # both
        (1, [0, 900, 100, 100], 0.9),  # background
    ]
    found = [{"image_id": 1, "category_id": c, "bbox": b, "score": s} for c, b, s in boxes]
    tally = count(truth, found)
    assert dict(zip(ERRORS, tally.errors[0].tolist(), strict=True)) == {
        "class": 1, "location": 1, "both": 1, "duplicate": 1, "background": 1, "missed": 2,
    }  # fmt: skip


def test_the_voc_profile_does_not_look_for_another_object_when_the_best_is_taken():
    truth = {
        "images": [{"id": 1}],
        "categories": [{"id": 1, "name": "a"}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 100, 100]},
            {"id": 2, "image_id": 1, "category_id": 1, "bbox": [0, 0, 100, 60]},
        ],
    }
    sides = ((98, 0.9), (90, 0.8))
    found = [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 100, side], "score": s} for side, s in sides]
    assert values_of(count(truth, found))["recall"].value == 1
    assert values_of(count(truth, found, profile="voc"))["recall"].value == 0.5


def test_the_record_verifies_and_loads(tmp_path):
    from assay.assess.record.verification import verify

    truth, found = random_scenes(1, images=24)
    a = assay.detection(truth, found, group="scene")
    again = assay.load(a.save(tmp_path / "record.json"))
    assert again["map"].value == a["map"].value
    assert again["map"].low == a["map"].low
    result = verify(again.record)
    assert result.holds, result.mismatches


def test_objects_found_by_two_detectors_are_counted_once():
    truth, found = random_scenes(6, images=20)
    tallies = [count(truth, found, confidence=0.0), count(truth, found[::2], confidence=0.0)]
    counts = count_found(*tallies)
    assert sum(counts.values()) == int(tallies[0].objects[:, 2].sum())
    same = count_found(tallies[0], tallies[0])
    assert same["only the first"] == same["only the second"] == 0
