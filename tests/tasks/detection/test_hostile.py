# SPDX-License-Identifier: Apache-2.0
"""Hostile inputs by the id of the acceptance case, and errors that name the place."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import assay
from assay.core.errors import AssayError

BOX = [10, 10, 50, 50]


def scene(objects, images=(1,), classes=(1,), first=1):
    return {
        "images": [{"id": image, "width": 1000, "height": 1000} for image in images],
        "categories": [{"id": label, "name": str(label)} for label in classes],
        "annotations": [
            {"id": place + first, "image_id": image, "category_id": label, "bbox": list(box), "iscrowd": 0}
            for place, (image, label, box) in enumerate(objects)
        ],
    }


def detections(rows):
    return [{"image_id": i, "category_id": c, "bbox": list(b), "score": s} for i, c, b, s in rows]


def test_g01_an_annotation_with_id_zero_is_an_annotation():
    objects = [(1, 1, BOX), (1, 1, (200, 200, 50, 50))]
    found = detections([(*o, s) for o, s in zip(objects, (0.9, 0.8), strict=True)])
    values = [assay.detection(scene(objects, first=first), found)["map"].value for first in (0, 1)]
    assert values == pytest.approx([1.0, 1.0])


def test_g02_the_cap_is_stated_and_what_it_cuts_is_counted():
    boxes = [((k % 15) * 60, (k // 15) * 60, 50, 50) for k in range(150)]
    truth, found = scene([(1, 1, box) for box in boxes]), detections([(1, 1, box, 0.9) for box in boxes])
    a = assay.detection(truth, found)
    assert a["map"].value == pytest.approx(67 / 101)
    assert a["recall"].value == 1
    assert any("50 detections beyond the 100 surest" in note for note in a.notes)
    assert a.record["plan"]["options"]["max_detections"] == 100
    assert assay.detection(truth, found, max_detections=150)["map"].value == pytest.approx(1.0)


def test_g03_equal_scores_print_the_range_over_their_orders():
    hit, miss = (1, 1, BOX, 0.5), (1, 1, (500, 500, 50, 50), 0.5)
    both = [assay.detection(scene([(1, 1, BOX)]), detections(rows)) for rows in ([hit, miss], [miss, hit])]
    notes = [[note for note in a["map"].notes if "equal scores" in note] for a in both]
    assert notes[0] == notes[1]
    assert "0.5" in notes[0][0]
    assert "1" in notes[0][0]
    assert all(any("2 detections share a score" in note for note in a.notes) for a in both)


def test_g05_a_reference_box_without_area_is_an_error_and_a_detection_a_false_alarm():
    with pytest.raises(AssayError, match="of 0 or below"):
        assay.detection(scene([(1, 1, (5, 5, 0, 9))]), detections([(1, 1, BOX, 0.9)]))
    a = assay.detection(scene([(1, 1, BOX)]), detections([(1, 1, (10, 10, 0, 50), 0.9), (1, 1, BOX, 0.8)]))
    assert a["precision"].value == 0.5
    assert any("without area" in note for note in a.notes)


def test_g07_nothing_to_detect_is_undefined_and_nothing_detected_is_zero():
    nothing = assay.detection(scene([]), detections([(1, 1, BOX, 0.9)]))
    assert nothing["map"].value is None
    assert nothing["map"].reason == "there are no reference objects"
    assert nothing["precision"].value == 0
    silent = assay.detection(scene([(1, 1, BOX)]), [])
    assert silent["map"].value == 0
    assert silent["precision"].value is None
    assert assay.detection(scene([]), [])["f1"].value is None


def test_g08_false_alarms_in_a_class_without_objects_are_noted():
    found = detections([(1, 1, BOX, 0.9), *((1, 2, (k * 60, 300, 50, 50), 0.99) for k in range(15))])
    a = assay.detection(scene([(1, 1, BOX)], classes=(1, 2)), found)
    assert a["map"].value == pytest.approx(1.0)
    note = '15 false positives in class "2", which has no reference object, do not enter the mean over classes'
    assert note in a["map"].notes
    assert note in a.notes
    assert a["precision"].value == pytest.approx(1 / 16)


def test_g10_duplicates_are_false_alarms_and_are_counted():
    a = assay.detection(scene([(1, 1, BOX)]), detections([(1, 1, BOX, 0.9), (1, 1, BOX, 0.9)]))
    assert a["map"].value == pytest.approx(1.0)
    assert a["precision"].value == 0.5
    assert any("1 detection repeat" in note for note in a.notes)


def test_g11_corners_that_look_like_widths_are_refused():
    truth = {"image": [1], "label": ["a"], "box": [[500, 400, 50, 60]]}
    found = truth | {"score": [0.5]}
    with pytest.raises(AssayError, match="looks like xywh"):
        assay.detection(truth, found, box_format="xyxy")
    with pytest.raises(AssayError, match="no column"):
        assay.detection({"image": [1], "label": ["a"], "x": [1]}, found)


@pytest.mark.parametrize("score", [float("nan"), float("inf"), None])
def test_scores_that_are_no_numbers_are_refused_with_their_rows(score, tmp_path):
    found = detections([(1, 1, BOX, 0.9), (1, 1, BOX, score)])
    path = tmp_path / "found.json"
    path.write_text(json.dumps(found), "utf-8")
    for given in (found, path):
        with pytest.raises(AssayError) as caught:
            assay.detection(scene([(1, 1, BOX)]), given)
        assert caught.value.code == "score-not-finite"
        assert "row 1" in caught.value.found


@pytest.mark.parametrize(
    ("box", "what"),
    [
        ((float("nan"), 0, 5, 5), "missing or infinite"),
        ((0, 0, -5, 5), "below 0"),
        ((1200, 0, 5, 5), "outside the image"),
        ((0, 0, 5), "not four numbers"),
        ((0, 0, 5, 5, 30), "not four numbers"),
    ],
)
def test_unfit_boxes_are_refused_with_their_rows(box, what):
    with pytest.raises(AssayError, match=what):
        assay.detection(scene([(1, 1, BOX)]), detections([(1, 1, BOX, 0.5), (1, 1, box, 0.9)]))


def test_unknown_images_and_categories_are_refused():
    for row, code in (((9, 1, BOX, 0.5), "rows-unmatched"), ((1, 7, BOX, 0.5), "label-not-declared")):
        with pytest.raises(AssayError) as caught:
            assay.detection(scene([(1, 1, BOX)]), detections([row]))
        assert caught.value.code == code


def test_ids_that_are_numbers_here_and_texts_there_are_refused():
    with pytest.raises(AssayError) as caught:
        assay.detection(scene([(1, 1, BOX)]), detections([("1", 1, BOX, 0.5)]))
    assert caught.value.code == "label-types-differ"


def test_ids_with_fractions_are_refused_and_not_rounded(tmp_path):
    path = tmp_path / "found.json"
    path.write_text(json.dumps(detections([(1.5, 1, BOX, 0.5)])), "utf-8")
    with pytest.raises(AssayError) as caught:
        assay.detection(scene([(1, 1, BOX)]), path)
    assert caught.value.code == "label-precision"


def test_numbers_written_as_texts_are_not_taken_for_numbers(tmp_path):
    path = tmp_path / "found.json"
    path.write_text(json.dumps(detections([("1", 1, BOX, 0.5)])), "utf-8")
    with pytest.raises(AssayError) as caught:
        assay.detection(scene([(1, 1, BOX)]), path)
    assert caught.value.code == "label-types-differ"


def test_broken_files_are_told(tmp_path):
    for text in ("[{", '{"images": []}', "[1]", "3"):
        path = tmp_path / "truth.json"
        path.write_text(text, "utf-8")
        with pytest.raises(AssayError):
            assay.detection(path, [])
        with pytest.raises(AssayError):
            assay.detection(scene([(1, 1, BOX)]), path)


def test_an_image_listed_twice_is_refused():
    with pytest.raises(AssayError, match="listed twice"):
        assay.detection(scene([(1, 1, BOX)], images=(1, 1)), [])


def test_unknown_rules_and_masks_without_boxes_are_refused():
    with pytest.raises(AssayError, match="imagenet"):
        assay.detection(scene([(1, 1, BOX)]), [], profile="imagenet")
    with pytest.raises(AssayError, match="masks"):
        assay.detection(scene([(1, 1, BOX)]), [{"image_id": 1, "category_id": 1, "segmentation": {}, "score": 1.0}])


def test_a_box_without_an_image_is_refused_without_a_row_that_sorting_moved(tmp_path):
    columns = {"image": [1, None, 2], "label": [1, 1, 1], "score": [None, 0.5, 0.6]}
    table = pa.table(columns | {corner: [1.0, 2.0, 3.0] for corner in "xywh"})
    pq.write_table(table, tmp_path / "boxes.parquet")
    with pytest.raises(AssayError) as caught:
        assay.detection(data=str(tmp_path / "boxes.parquet"))
    assert caught.value.found == "1 row: image is missing"
