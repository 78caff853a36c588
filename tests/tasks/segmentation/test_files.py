# SPDX-License-Identifier: Apache-2.0
"""Masks in files: folders of pictures, NIfTI with its spacing, arrays, COCO files, tables of paths."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import assay
from assay.core.errors import AssayError
from assay.tasks.segmentation.rle import decode_runs, fill_polygons
from tests.tasks.segmentation.masks import random_masks


@pytest.fixture
def folders(tmp_path):
    truth, predicted = random_masks(1, images=12)
    for role, masks in (("truth", truth), ("predicted", predicted)):
        (tmp_path / role / "sub").mkdir(parents=True)
        for place, (name, mask) in enumerate(masks.items()):
            folder = tmp_path / role / ("sub" if place % 2 else "")
            if place % 3 == 0:
                np.save(folder / f"{name}.npy", mask)
            else:
                image = Image.fromarray(mask)
                if place % 3 == 1:
                    image.putpalette([250, 0, 0, 0, 250, 0, 9, 9, 9] + [0] * 759)
                image.save(folder / f"{name}.{'png' if role == 'truth' else 'tif'}")
    return tmp_path, truth, predicted


def same(a, b):
    return all(a[name].value == b[name].value and a[name].low == b[name].low for name in a)


def test_folders_of_mixed_formats_equal_arrays(folders):
    path, truth, predicted = folders
    a = assay.segmentation(truth=path / "truth", predicted=str(path / "predicted"), spacing=1, missed="skip")
    assert same(a, assay.segmentation(truth=truth, predicted=predicted, spacing=1, missed="skip"))
    files = a.record["plan"]["data"]["files"]
    assert len(files) == 24
    assert str(path) not in a.save(path / "record.json").read_text()


VICTIM = """
import os, signal, sys
import assay.tasks.segmentation.readers as readers

compare, seen = readers.compare_masks, []

def compare_or_die(*given):
    seen.append(1)
    if len(seen) == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return compare(*given)

readers.compare_masks = compare_or_die
from assay.app.cli import main
sys.argv = ["assay", *sys.argv[1:]]
main()
"""


def test_killed_in_the_middle_it_leaves_nothing(folders):
    path, _, _ = folders
    (path / "temp").mkdir()
    words = ["run", "--task", "segmentation", "--truth", str(path / "truth"), "--predicted", str(path / "predicted")]
    words += ["--out", str(path / "out")]
    before = sorted(path.rglob("*"))
    done = subprocess.run(
        [sys.executable, "-c", VICTIM, *words], env={**os.environ, "TMPDIR": str(path / "temp")},
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert sorted(path.rglob("*")) == before


def test_pictures_that_are_given_are_shown_below_the_outlines(folders):
    path, truth, predicted = folders
    photos = {name: np.full((*mask.shape, 3), 7, np.uint8) for name, mask in truth.items()}
    a = assay.segmentation(truth=truth, predicted=predicted, pictures=photos)
    drawn = a.record["figures"]["pictures"]
    assert drawn
    assert {picture["image"] for picture in drawn} == set(a.record.thumbnails)
    assert all(small.startswith("iVBORw0KGgo") for small in a.record.thumbnails.values())
    assert "iVBORw0KGgo" not in a.record.to_text()
    assert a.report(path / "a.html").read_text("utf-8").count("data:image/png") == len(drawn)
    volume = np.zeros((9, 8, 4), np.uint8)
    volume[2:6, 2:6, 1:3] = 1
    b = assay.segmentation(truth=[volume], predicted=[volume], pictures=[volume * 3.5], dimensions=3)
    assert b.record.thumbnails
    with pytest.raises(AssayError, match="another shape"):
        assay.segmentation(truth=[volume], predicted=[volume], pictures=[volume[1:]], dimensions=3)


def test_progress_tells_how_many_images_are_compared(folders):
    path, _, _ = folders
    told = []
    reading = assay.Reading(progress=lambda done, total: told.append((done, total)))
    assay.segmentation(truth=path / "truth", predicted=path / "predicted", reading=reading)
    assert told[-1] == (12, 12)


def test_a_table_of_paths_is_read_beside_itself(folders):
    path, truth, predicted = folders
    names = sorted(p.relative_to(path).as_posix() for p in (path / "truth").rglob("*.*"))
    others = sorted(p.relative_to(path).as_posix() for p in (path / "predicted").rglob("*.*"))
    stems = [name.rsplit("/", 1)[1].split(".")[0] for name in names]
    by_stem = {name.rsplit("/", 1)[1].split(".")[0]: name for name in others}
    site = ["north" if place % 2 else "south" for place in range(len(names))]
    frame = pd.DataFrame(
        {"mask": names, "answer": [by_stem[stem] for stem in stems], "name": stems, "site": site, "patient": site}
    )
    frame.to_csv(path / "table.csv", index=False)
    a = assay.segmentation(
        data=path / "table.csv", truth="mask", predicted="answer", image="name", group="site", spacing=1, missed="skip"
    )
    assert same(a, assay.segmentation(truth=truth, predicted=predicted, spacing=1, missed="skip"))
    assert set(a.by_group["site"]) == {"north", "south"}
    held = frame.assign(mask=[str(path / n) for n in frame["mask"]], answer=[str(path / n) for n in frame["answer"]])
    b = assay.segmentation(data=held, truth="mask", predicted="answer", image="name", spacing=1, missed="skip")
    assert same(a, b)


def test_progress_is_told_and_counts_images(folders):
    path, _, _ = folders
    told = []
    reading = assay.Reading(progress=lambda done, total: told.append((done, total)))
    assay.segmentation(truth=path / "truth", predicted=path / "predicted", reading=reading)
    assert told[-1] == (12, 12)


def test_nifti_brings_its_spacing(tmp_path):
    nib = pytest.importorskip("nibabel")
    truth, predicted = random_masks(2, images=2, shape=(9, 8, 7))
    for role, masks in (("truth", truth), ("predicted", predicted)):
        (tmp_path / role).mkdir()
        for name, mask in masks.items():
            nib.save(nib.Nifti1Image(mask, np.diag([2, 0.5, 3, 1])), tmp_path / role / f"{name}.nii.gz")
    given = {"truth": tmp_path / "truth", "predicted": tmp_path / "predicted", "missed": "skip"}
    a = assay.segmentation(**given)
    b = assay.segmentation(truth=truth, predicted=predicted, spacing=(2, 0.5, 3), missed="skip")
    for name in a:
        assert a[name].value == pytest.approx(b[name].value, rel=1e-12), name
    moved = nib.Nifti1Image(next(iter(predicted.values())), np.diag([2, 0.5, 4, 1]))
    nib.save(moved, tmp_path / "predicted" / "image-00.nii.gz")
    with pytest.raises(AssayError, match="cannot be compared") as caught:
        assay.segmentation(**given)
    assert caught.value.code == "mask-shapes-differ"


def test_a_missing_package_prints_its_install_command(folders, monkeypatch):
    path, _, _ = folders
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(AssayError) as caught:
        assay.segmentation(truth=path / "truth", predicted=path / "predicted")
    assert caught.value.code == "missing-extra"
    assert 'pip install "assay[vision]"' in str(caught.value)


@pytest.mark.parametrize("harm", ["cut", "text", "gone"])
def test_a_broken_file_is_named(folders, harm):
    path, _, _ = folders
    victim = path / "predicted" / "image-00.npy"
    if harm == "cut":
        victim.write_bytes(victim.read_bytes()[:90])
    elif harm == "text":
        victim.write_text("hello")
    else:
        victim.unlink()
    with pytest.raises(AssayError) as caught:
        assay.segmentation(truth=path / "truth", predicted=path / "predicted")
    assert caught.value.code == ("rows-unmatched" if harm == "gone" else "file-unreadable")
    assert "image-00" in f"{caught.value.where} {caught.value.found}"


def test_run_lengths_are_coco_s():
    """Texts written by pycocotools 2.0.11."""
    mask = np.zeros((5, 7), np.uint8)
    mask[1:4, 2:6] = 1
    mask[0, 0] = 1
    assert decode_runs({"size": [5, 7], "counts": "01:2H000004"}).astype(int).tolist() == mask.tolist()
    other = np.zeros((9, 11), np.uint8)
    other[2:7, 3:9] = 1
    other[4, 5] = 0
    assert decode_runs({"size": [9, 11], "counts": b"m05400MM0330000`0"}).astype(int).tolist() == other.tolist()


def test_a_polygon_fills_the_pixels_whose_centres_it_holds():
    square = fill_polygons([[1, 1, 4, 1, 4, 3, 1, 3]], (5, 6))
    assert square.astype(int).sum() == 6
    assert square[1:3, 1:4].all()
    triangle = fill_polygons([[0, 0, 10, 0, 0, 10]], (10, 10))
    assert triangle.sum() == 45  # centres on the edge lie outside


def test_a_coco_file_is_a_list_of_images(tmp_path):
    images = [{"id": 1, "width": 6, "height": 5}, {"id": 2, "width": 6, "height": 5}]
    square, wider = [[1, 1, 4, 1, 4, 3, 1, 3]], [[1, 1, 5, 1, 5, 3, 1, 3]]
    content = {
        "images": images,
        "categories": [{"id": 3, "name": "cat"}],
        "annotations": [{"image_id": 1, "category_id": 3, "segmentation": square}],
    }
    answers = [{"image_id": 1, "category_id": 3, "segmentation": wider, "score": 0.9}]
    (tmp_path / "truth.json").write_text(json.dumps(content))
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    a = assay.segmentation(truth=tmp_path / "truth.json", predicted=tmp_path / "answers.json", spacing=1)
    assert a["dice"].value == 2 * 6 / 14
    assert a.record["labels"] == ["cat"]
    assert a.by_unit["2"]["dice"] is None


def test_lists_of_run_lengths_are_masks():
    runs = {"size": [2, 2], "counts": [1, 2, 1]}
    a = assay.segmentation(truth=[runs], predicted=[np.array([[0, 1], [1, 0]])])
    assert a["dice"].value == 1


def test_the_example_is_assessed_reported_and_compared(tmp_path):
    from importlib.resources import files

    folder = files("assay.tasks.segmentation") / "examples"
    given = {"spacing": 1, "labels": {1: "organ", 2: "lesion"}, "missed": "skip"}
    truth, predicted = (dict(np.load(str(folder / f"{role}.npz"))) for role in ("truth", "predicted"))
    a = assay.segmentation(truth=truth, predicted=predicted, **given)
    assert a["mean_dice"].low < a["mean_dice"].value < a["mean_dice"].high
    assert a.by_class["lesion"]["mean_dice"].value < a.by_class["organ"]["mean_dice"].value
    text = a.report(tmp_path / "report.md").read_text()
    assert "Image by image" in text
    moved = {name: np.roll(mask, 1, axis=0) for name, mask in predicted.items()}
    c = assay.compare(task="segmentation", truth=truth, predicted={"A": predicted, "B": moved}, **given)
    ranks = next(f for f in c.findings if f.test == "wilcoxon" and f.about == "mean_dice")
    swaps = next(f for f in c.findings if f.test != "wilcoxon" and f.about == "mean_dice")
    assert ranks.p < 0.05
    assert swaps.p < 0.05
    assert [check.assumes for check in ranks.checks] == ["differences are symmetric", "both models vary alike"]
