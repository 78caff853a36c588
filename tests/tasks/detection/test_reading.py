# SPDX-License-Identifier: Apache-2.0
"""The same boxes give the same tally, however they are given."""

from __future__ import annotations

import base64
import io
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from PIL import Image

import assay
from assay.core.task import Request, find_task
from tests.tasks.detection.reference import random_scenes

TASK = find_task("detection")
OPTIONS = {option.name: option.default for option in TASK.options}


def read(truth, found, given=None, **more):
    options = OPTIONS | more.pop("options", {})
    return TASK.read(Request(given={"truth": truth, "predicted": found, **(given or {})}, options=options, **more))


@pytest.fixture
def scenes():
    return random_scenes(3, images=10)


@pytest.fixture
def frames(scenes):
    truth, found = scenes
    tables = []
    for rows in (truth["annotations"], found):
        labels = [f"c{row['category_id']}" for row in rows]
        table = pd.DataFrame({"image": [row["image_id"] for row in rows], "label": labels})
        for place, corner in enumerate("xywh"):
            table[corner] = [float(row["bbox"][place]) for row in rows]
        tables.append(table)
    tables[0]["area"] = [row["area"] for row in truth["annotations"]]
    tables[0]["crowd"] = [row["iscrowd"] for row in truth["annotations"]]
    tables[1]["score"] = [row["score"] for row in found]
    return tables


def test_json_files_equal_dictionaries(scenes, tmp_path):
    truth, found = scenes
    for name, content in (("truth.json", truth), ("found.json", found)):
        (tmp_path / name).write_text(json.dumps(content), "utf-8")
    counted = read(tmp_path / "truth.json", str(tmp_path / "found.json"))
    assert counted.tally == read(truth, found).tally
    assert set(counted.data["files"]) == {"truth.json", "found.json"}


def test_results_with_further_keys_and_ids_that_are_texts_are_read(scenes, tmp_path):
    truth, found = scenes
    texts = {
        "images": [{"id": f"img-{image['id']:03d}"} for image in truth["images"]],
        "categories": truth["categories"],
        "annotations": [{**o, "image_id": f"img-{o['image_id']:03d}"} for o in truth["annotations"]],
    }
    named = [{**d, "image_id": f"img-{d['image_id']:03d}", "id": k, "more": "x"} for k, d in enumerate(found)]
    path = tmp_path / "found.json"
    path.write_text(json.dumps(named), "utf-8")
    tally = read(texts, path).tally
    assert tally.images[0] == "img-001"
    assert tally.score.tolist() == read(truth, found).tally.score.tolist()


@pytest.mark.parametrize("library", [pd.DataFrame, lambda table: pl.DataFrame(table.to_dict("list")), dict])
def test_frames_and_mappings_equal_the_files(scenes, frames, library):
    images = {"images": [image["id"] for image in scenes[0]["images"]]}
    assert read(*(library(table) for table in frames), images).tally == read(*scenes).tally


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_files_with_a_row_a_box_equal_the_frames(scenes, frames, tmp_path, ending):
    paths = []
    for name, table in zip(("truth", "found"), frames, strict=True):
        paths.append(tmp_path / f"{name}.{ending}")
        table.to_parquet(paths[-1]) if ending == "parquet" else table.to_csv(paths[-1], index=False)
    kind = int if ending == "parquet" else str  # a CSV file holds texts
    images = {"images": [kind(image["id"]) for image in scenes[0]["images"]]}
    for table in frames:
        table["image"] = table["image"].map(kind)
    assert read(*map(str, paths), images).tally == read(*frames, images).tally


def test_lists_of_arrays_by_image_list_every_image(scenes):
    truth, found = scenes
    lists = []
    for rows in (truth["annotations"], found):
        by_image = []
        for image in truth["images"]:
            mine = [row for row in rows if row["image_id"] == image["id"]]
            boxes = np.array([row["bbox"] for row in mine], dtype=float).reshape(-1, 4)
            part = {"boxes": boxes, "labels": [f"c{row['category_id']}" for row in mine]}
            part |= {"scores": [row["score"] for row in mine]} if rows is found else {
                "area": [row["area"] for row in mine], "crowd": [row["iscrowd"] for row in mine]
            }  # fmt: skip
            by_image.append(part)
        lists.append(by_image)
    counted = read(*lists)
    whole = read(truth, found).tally
    assert len(counted.tally.images) == len(whole.images)
    assert counted.tally.score.tolist() == whole.score.tolist()
    assert counted.tally.hit.tolist() == whole.hit.tolist()


def test_images_without_boxes_are_unknown_unless_they_are_listed(frames):
    note = "images without any box are unknown"
    assert any(note in line for line in read(*frames).notes)
    listed = read(*frames, {"images": list(range(1, 40))})
    assert not any(note in line for line in listed.notes)
    assert len(listed.tally.images) == 39


def test_one_table_holds_truth_and_detections(frames, tmp_path):
    frames[0]["score"] = np.nan
    plain = frames[0][frames[0]["crowd"] == 0].drop(columns=["crowd", "area"])
    table = pd.concat([plain, frames[1]]).sample(frac=1, random_state=1)
    path = tmp_path / "boxes.parquet"
    table.to_parquet(path)
    counted = assay.detection(data=str(path))
    apart = assay.detection(plain.drop(columns="score"), frames[1])
    assert counted["map"].value == pytest.approx(apart["map"].value, abs=0.03)  # rows of ties come in another order
    assert counted["recall"].value == apart["recall"].value
    assert assay.detection(data=table)["recall"].value == apart["recall"].value


def test_yolo_folders_are_read(tmp_path):
    for folder in ("labels", "found"):
        (tmp_path / folder).mkdir()
    (tmp_path / "labels" / "a.txt").write_text("0 0.5 0.5 0.2 0.2\n1 0.2 0.2 0.1 0.1\n", "utf-8")
    (tmp_path / "labels" / "b.txt").write_text("", "utf-8")
    (tmp_path / "labels" / "classes.txt").write_text("cat\ndog\n", "utf-8")
    (tmp_path / "found" / "a.txt").write_text("0 0.5 0.5 0.2 0.21 0.9\n0 0.8 0.8 0.1 0.1 0.6\n", "utf-8")
    a = assay.detection(tmp_path / "labels", tmp_path / "found", image_size="640x480")
    assert a.by_class["cat"]["ap"].value == pytest.approx(1.0)
    assert a.by_class["dog"]["ap"].value == 0
    assert a.census.read == 2
    assert a["map_large"].value is not None
    unsized = assay.detection(tmp_path / "labels", tmp_path / "found")
    assert unsized["map"].value == a["map"].value
    assert unsized["map_small"].value is None


def test_voc_folders_are_read_with_pixels_that_count_from_one(tmp_path):
    (tmp_path / "a.xml").write_text(
        "<annotation><size><width>100</width><height>80</height></size>"
        "<object><name>cat</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>20</xmax><ymax>20</ymax></bndbox></object>"
        "<object><name>cat</name><difficult>1</difficult>"
        "<bndbox><xmin>51</xmin><ymin>1</ymin><xmax>60</xmax><ymax>20</ymax></bndbox></object></annotation>",
        "utf-8",
    )
    table = {"image": ["a", "a"], "label": ["cat", "cat"], "x": [0, 50], "y": [0, 0], "w": [20, 10], "h": [20, 20],
             "score": [0.9, 0.8]}  # fmt: skip
    a = assay.detection(tmp_path, table, profile="voc")
    assert a["localisation_error"].value == 0
    assert a["precision"].value == 1
    assert a["map_50"].value == 1


def test_corners_are_read_where_they_are_stated():
    truth = {"image": [1], "label": ["a"], "x1": [10], "y1": [10], "x2": [30], "y2": [40]}
    found = {"image": [1], "label": ["a"], "box": [[10, 10, 30, 40]], "score": [0.7]}
    assert assay.detection(truth, found, box_format="xyxy")["localisation_error"].value == 0


def test_groups_and_units_come_from_fields_of_the_images(scenes):
    truth, found = scenes
    a = assay.detection(truth, found, group="scene", unit={image["id"]: image["id"] // 2 for image in truth["images"]})
    assert set(a.by_group["scene"]) == {"a", "b"}
    assert a.record["units"] == 6
    assert a.by_group["scene"]["a"]["recall"].denominator + a.by_group["scene"]["b"]["recall"].denominator == (
        a["recall"].denominator
    )


def test_pictures_that_are_given_are_shown_below_the_boxes(scenes, tmp_path):
    truth, found = scenes
    for image in truth["images"]:
        image["file_name"] = f"photo{image['id']}.png"
        Image.fromarray(np.full((300, 400, 3), image["id"], np.uint8)).save(tmp_path / image["file_name"])
    a = assay.detection(truth, found, pictures=tmp_path)
    drawn = a.record["figures"]["pictures"]
    assert drawn
    for picture in drawn:
        with Image.open(io.BytesIO(base64.b64decode(a.record.thumbnails[picture["image"]]))) as small:
            assert small.size == (100, 75)
            assert small.getpixel((5, 5)) == (picture["image"],) * 3
    assert a.report(tmp_path / "a.html").read_text("utf-8").count("data:image/png") == len(drawn)
    assert "iVBORw0KGgo" not in a.record.to_text()
    a.save(tmp_path / "a.json")
    b = assay.load(tmp_path / "a.json")
    assert b.report(tmp_path / "b.html").read_text("utf-8").count("data:image/png") == 0
