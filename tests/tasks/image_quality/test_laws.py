# SPDX-License-Identifier: Apache-2.0
"""Laws of every measure of images, and unfit input."""

from __future__ import annotations

from math import log10, sqrt

import numpy as np
import pytest
from PIL import Image

import assay
from assay.core.errors import AssayError
from assay.core.task import Request, find_task
from assay.core.values import Undefined
from assay.tally.unit_table import UnitTable
from assay.tasks.image_quality.similarity import STRIP
from assay.tasks.image_quality.tally import Pixels
from tests.tasks.image_quality.pictures import draw, random_pictures

TASK = find_task("image_quality")


def count(truth, predicted, **options):
    given = {option.name: option.default for option in TASK.options} | options
    return TASK.read(Request(given={"truth": truth, "predicted": predicted}, options=given)).tally


def half(images, *, first):
    names = list(images)
    return {name: images[name] for name in (names[:5] if first else names[5:])}


def refuse(code, **given):
    with pytest.raises(AssayError) as caught:
        assay.image_quality(**given)
    assert caught.value.code == code, caught.value
    return caught.value


def test_formula_text_equals_function_and_stack_equals_single():
    truth, predicted = random_pictures(1)
    predicted["image-03"] = truth["image-03"]
    table = count(truth, predicted)
    stack = np.vstack([table.total(), table.sums])
    for measure in TASK.measures:
        values = measure.values(Pixels(stack))
        for row, value in zip(stack, values, strict=True):
            alone = measure(Pixels(row))
            names = dict(zip(Pixels.NAMES, row.tolist(), strict=True))
            if isinstance(alone, Undefined):
                assert np.isnan(value), measure.name
                continue
            assert alone.value == pytest.approx(value, rel=1e-14)
            if np.isfinite(value):
                found = eval(measure.formula, {"sqrt": sqrt, "log10": log10}, names)  # noqa: S307
                assert found == pytest.approx(value, rel=1e-9), measure.name
                assert measure.range[0] <= value <= measure.range[1]
            else:
                assert measure.infinite


def test_merging_equals_pooling_and_order_does_not_matter():
    truth, predicted = random_pictures(2)
    whole = count(truth, predicted)
    assert count(dict(reversed(truth.items())), dict(reversed(predicted.items()))) == whole
    first = count(half(truth, first=True), half(predicted, first=True))
    rest = count(half(truth, first=False), half(predicted, first=False))
    assert first + rest == whole
    assert UnitTable.from_json(whole.to_json()) == whole
    merged = assay.merge(
        assay.image_quality(truth=half(truth, first=True), predicted=half(predicted, first=True)),
        assay.image_quality(truth=half(truth, first=False), predicted=half(predicted, first=False)),
    )
    pooled = assay.image_quality(truth=truth, predicted=predicted)
    assert {name: merged[name].value for name in merged} == {name: pooled[name].value for name in pooled}
    with pytest.raises(AssayError, match="counted twice"):
        assay.merge(pooled, pooled)


def test_strips_do_not_show():
    columns = 4096
    rows = 3 * STRIP // columns + 7
    truth, predicted = draw(rows, columns)
    a = assay.image_quality(truth=[truth], predicted=[predicted])
    b = assay.image_quality(truth=[truth.T], predicted=[predicted.T])
    assert a["ssim"].value == pytest.approx(b["ssim"].value, rel=1e-12)
    assert a["mean_squared_error"].value == b["mean_squared_error"].value


def test_identical_images_are_infinite_and_kept_apart():
    truth, predicted = random_pictures(3)
    predicted["image-00"] = truth["image-00"]
    a = assay.image_quality(truth=truth, predicted=predicted)
    others = assay.image_quality(truth=half(truth, first=False), predicted=half(predicted, first=False))
    assert np.isfinite(a["mean_psnr"].value)
    assert np.isfinite(others["mean_psnr"].value)
    assert "1 of 12 images are identical" in a["mean_psnr"].notes[0]
    alone = assay.image_quality(truth=[truth["image-00"]], predicted=[truth["image-00"]])
    assert alone["psnr"].value == float("inf")
    assert alone["mean_psnr"].value is None
    assert alone["ssim"].value == pytest.approx(1)


def test_small_images_are_left_out_and_counted():
    big, small = draw(20, 20), draw(10, 10)
    a = assay.image_quality(truth=[big[0], small[0]], predicted=[big[1], small[1]])
    assert "1 of 2 images are smaller" in a["mean_ssim"].notes[0]
    assert a["mean_ssim"].value == assay.image_quality(truth=[big[0]], predicted=[big[1]])["ssim"].value


def test_unfit_images_are_refused():
    x, y = draw(20, 20)
    refuse("role-missing", truth=[x / 255], predicted=[y / 255])
    refuse("role-missing", truth=[x], predicted=[y.astype(np.uint16)])
    refuse("value-out-of-domain", truth=[x], predicted=[y], data_range=0)
    refuse("mask-shapes-differ", truth=[x, x], predicted=[y, y[:5]])
    refuse("mask-shapes-differ", truth=[np.stack([x] * 3, -1)], predicted=[np.stack([y] * 3, -1)])
    refuse("value-not-finite", truth=[x / 1.0], predicted=[np.full((20, 20), np.nan)], data_range=255)
    refuse("rows-unmatched", truth=[x, x], predicted=[y])


def test_folders_of_pictures_equal_arrays(tmp_path):
    truth, predicted = random_pictures(4, images=6)
    for role, images in (("truth", truth), ("predicted", predicted)):
        (tmp_path / role).mkdir()
        for name, image in images.items():
            Image.fromarray(image).save(tmp_path / role / f"{name}.png")
    a = assay.image_quality(truth=tmp_path / "truth", predicted=tmp_path / "predicted")
    b = assay.image_quality(truth=truth, predicted=predicted)
    assert {name: a[name].value for name in a} == {name: b[name].value for name in b}
    colour = np.stack([truth["image-00"]] * 3, axis=-1)
    Image.fromarray(colour).save(tmp_path / "colour.png")
    c = assay.image_quality(truth=[tmp_path / "colour.png"], predicted=[tmp_path / "colour.png"])
    assert c["psnr"].value == float("inf")


def test_the_example_is_assessed_verified_and_compared(tmp_path):
    from importlib.resources import files

    folder = files("assay.tasks.image_quality") / "examples"
    truth, predicted = (dict(np.load(str(folder / f"{role}.npz"))) for role in ("truth", "predicted"))
    a = assay.image_quality(truth=truth, predicted=predicted)
    assert a["mean_ssim"].low < a["mean_ssim"].value < a["mean_ssim"].high
    again = assay.load(a.save(tmp_path / "record.json"))
    assert {name: again[name].value for name in again} == {name: a[name].value for name in a}
    assert "Image by image" in a.report(tmp_path / "report.md").read_text()
    worse = {name: np.clip(image.astype(int) + 20, 0, 255).astype(np.uint8) for name, image in predicted.items()}
    c = assay.compare(task="image_quality", truth=truth, predicted={"A": predicted, "B": worse})
    assert next(finding for finding in c.findings if finding.about == "psnr").p < 0.05
