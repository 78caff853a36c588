# SPDX-License-Identifier: Apache-2.0
"""Reads whatever holds boxes: COCO files, YOLO and VOC folders, tables, arrays, and one table on any engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label, in_order
from assay.core.parallel import together
from assay.core.task import Counted, Request
from assay.core.text import visible
from assay.rows.files.file_digests import digest_of
from assay.rows.images.files import load_json
from assay.tally.base import ModelTallies
from assay.tally.batches import Column, open_batches
from assay.tally.census import Census
from assay.tasks.detection.formats.annotation_folders import read_folder
from assay.tasks.detection.formats.box_tables import CORNERS, read_searched, read_table
from assay.tasks.detection.formats.coco_files import (
    is_result_list,
    read_instances,
    read_results,
    results_from_list,
)
from assay.tasks.detection.formats.raw_boxes import Catalogue, assemble_scenes, look_up_field, to_ids, to_xywh
from assay.tasks.detection.kernel.boxes import BoxTable, Scenes, sort_labels
from assay.tasks.detection.kernel.scene_counts import count_scenes
from assay.tasks.detection.tally import Boxes, Rules, join_parts, settle_cap
from assay.tasks.image_inputs import Parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.rows.limits import Limits


def read_rules(options: Mapping[str, object]) -> Rules:
    """The rules that the options state."""
    cap = settle_cap(options) if options.get("max_detections") is None else options["max_detections"]
    if not isinstance(cap, int) or cap < 1:
        raise PlanError("option-unknown", f"max_detections={cap!r} is not 1 or more", fix="give a whole number")
    confidence = float(cast("float", options.get("confidence")))
    return Rules(profile=str(options.get("profile") or "coco"), cap=cap, confidence=confidence)


def read_one(request: Request) -> Counted:
    """Read and count one model."""
    rules = read_rules(request.options)
    if request.data is not None:
        return _read_single_table(request, rules)
    given = _given(request, "predicted")
    files = all(isinstance(part, (str, Path)) for part in (_given(request, "truth"), given))
    readers = [partial(read_truth, request), partial(read_boxes, given, "predicted", request)]
    both = together(lambda read: read(), readers, large=files)  # the engine reads a file without the interpreter
    (truth, catalogue, names), (predicted, _, more) = both
    scenes = assemble_scenes(truth, predicted, catalogue)
    return finish_count(count_scenes(scenes, rules), request, catalogue, scenes, names | more)


def read_several(request: Request, models: Mapping[str, Mapping[str, object]]) -> Counted:
    """Read the truth once and count each model on it."""
    rules = read_rules(request.options)
    truth, catalogue, files = read_truth(request)
    raw = {}
    for model, given in models.items():
        raw[model], _, more = read_boxes(_given(Request(given=given), "predicted"), "predicted", request)
        files |= more
    if catalogue.images is None:  # every model sees the images that any of them has boxes in
        seen = [truth.image, *(part.image for part in raw.values())]
        catalogue = replace(catalogue, images=sort_labels({image for column in seen for image in column.tolist()}))
    scenes = {model: assemble_scenes(truth, part, catalogue) for model, part in raw.items()}
    classes = sort_labels({label for part in scenes.values() for label in part.classes})
    tallies = {model: join_parts([count_scenes(part, rules)], part.images, classes) for model, part in scenes.items()}
    first = next(iter(models))
    finished = finish_count(tallies[first], request, catalogue, scenes[first], files)
    units = cast("Boxes", finished.tally).units
    paired = ModelTallies(models={model: replace(tally, units=units) for model, tally in tallies.items()})
    return replace(finished, tally=paired, groups={}, thumbnails={})


def _given(request: Request, role: str) -> object:
    if (given := request.given.get(role)) is None:
        raise PlanError(
            "role-missing", f"no {role} is given", where=role, fix=f"give {role}=... : a COCO file, a folder, a table"
        )
    return given


def read_truth(request: Request) -> tuple[BoxTable, Catalogue, dict[str, str]]:
    """The reference boxes, and what is known of images and classes."""
    raw, catalogue, files = read_boxes(_given(request, "truth"), "truth", request)
    if (images := request.given.get("images")) is not None:
        ids = [value.item() if hasattr(value, "item") else value for value in cast("Sequence[Any]", images)]
        catalogue = replace(catalogue, images=tuple(ids))
    return raw, settle_federation(catalogue, request), files


def read_boxes(given: object, role: str, request: Request) -> tuple[BoxTable, Catalogue, dict[str, str]]:
    """The boxes of a role, what it says of images and classes, and the digests of its files."""
    shape, sigmas = str(request.options.get("shape") or "boxes"), request.options.get("sigmas") or ()
    spreads = cast("Sequence[float]", sigmas)
    if isinstance(given, (str, Path)):
        path = Path(given)
        if not path.exists():
            raise RowsError("no-file", "there is no such file", where=visible(str(given)), fix="check the path")
        if path.is_dir():
            return read_folder(path, role, _image_size(request))
        if path.suffix.lower() == ".json":
            files = {path.name: digest_of(str(path)) if getattr(request.reading, "digest", True) else ""}
            if role == "truth":
                return *read_instances(load_json(path), path.name, shape, spreads), files
            return read_results(path, cast("Limits | None", request.limits), shape), Catalogue(), files
    elif role == "truth" and isinstance(given, Mapping) and "annotations" in given:
        return *read_instances(given, role, shape, spreads), {}
    elif role == "predicted" and is_result_list(given):
        return results_from_list(given, role, shape), Catalogue(), {}
    return read_table(given, request, role)


def settle_federation(catalogue: Catalogue, request: Request) -> Catalogue:
    """Which classes were looked for in which image, and how many detections of an image are read."""
    profile, given = str(request.options.get("profile") or "coco"), request.given.get("searched")
    if given is not None:
        catalogue = replace(catalogue, searched=read_searched(given, request))
    if profile in ("coco", "voc"):
        if catalogue.searched is not None or catalogue.partial:
            raise PlanError(
                "refused-format",
                f"not every class was looked for in every image, which the rules of {profile} do not know",
                where="truth" if given is None else "searched",
                fix='state profile="lvis" (--profile lvis), or profile="openimages"',
            )
        return catalogue
    if catalogue.searched is None:
        note = "every class is taken to be looked for in every image: no list says otherwise (searched)"
        catalogue = replace(catalogue, notes=(*catalogue.notes, note))
    return replace(catalogue, most=read_rules(request.options).cap if profile == "lvis" else None)


def _image_size(request: Request) -> tuple[float, float] | None:
    given = request.options.get("image_size")
    if given is None:
        return None
    words = str(given).lower().replace(",", "x").strip("()[] ").split("x")
    try:
        width, height = (float(word) for word in words)
    except ValueError:
        raise PlanError(
            "option-unknown", f"image_size={visible(str(given))} is not a size", fix='give "640x480"'
        ) from None
    return width, height


def finish_count(
    tally: Boxes, request: Request, catalogue: Catalogue, scenes: Scenes | None, files: Mapping[str, str]
) -> Counted:
    """Add units and groups of images, the account of images, and notes."""
    from assay.tasks.detection.count_notes import describe_counts

    pictures = request.given.get("pictures")
    thumbnails = {} if pictures is None else dict(make_thumbnails(tally.pictures, pictures, catalogue))
    if request.unit is not None:
        units = look_up_field(catalogue, tally.images, request.unit, "unit")
        tally = replace(tally, units=tuple(units))
    groups: dict[str, dict[Label, object]] = {}
    for factor, given in request.group.items():
        levels = np.array(look_up_field(catalogue, tally.images, given, "group"), dtype=object)
        groups[factor] = {
            level: tally.select_images(np.flatnonzero(levels == level)) for level in in_order(set(levels.tolist()))
        }
    notes = (*(scenes.notes if scenes is not None else ()), *describe_counts(tally, scenes))
    names = " and ".join(files) if files else "the given boxes"
    data: dict[str, object] = {"from": names, "columns": {}, "files": {k: v for k, v in files.items() if v}}
    if request.unit is not None:
        data["unit"] = request.unit if isinstance(request.unit, str) else "unit"
    census = Census(read=len(tally.images), scored=len(tally.images))
    return Counted(tally=tally, census=census, groups=groups, notes=notes, data=data, thumbnails=thumbnails)


def make_thumbnails(
    drawn: Iterable[dict[str, object]], given: object, catalogue: Catalogue
) -> Iterator[tuple[Label, str]]:
    """The images to be drawn, each with a small picture of it where one is found."""
    from assay.rows.images.files import list_folder, load_image, make_thumbnail

    if not isinstance(given, Mapping) and not Path(str(given)).is_dir():
        raise RowsError("no-file", "there is no such folder", where=visible(str(given)), fix="check the path")
    known: Mapping[Any, object] = given if isinstance(given, Mapping) else list_folder(str(given))
    names = catalogue.fields.get("file_name", {})
    for picture in drawn:
        image = cast("Label", picture["image"])
        named = str(names.get(image, image))
        path = known.get(image) or known.get(named) or known.get(named.rpartition(".")[0])
        if path is not None:
            yield image, make_thumbnail(load_image(str(path)).values)


class BoxParts(Parts[Boxes]):
    """Tallies of batches; an image that stands in two of them is an error."""

    KIND = Boxes


def _read_single_table(request: Request, rules: Rules) -> Counted:
    """One table with a row a box on any engine; rows without a score are the reference."""
    form = str(request.options.get("box_format") or "xywh")
    columns = {name: Column(name, "id") for name in ("image", "label")}
    columns |= {corner: Column(corner, "number") for corner in CORNERS[form]}
    columns["score"] = Column("score", "number", "keep")
    if request.unit is not None or request.group or request.given:
        raise PlanError(
            "role-clash",
            "with data, the table holds all boxes: truth, predicted, group and unit cannot be given",
            fix="give truth=... and predicted=... as two tables instead",
        )
    with open_batches(request, columns) as batches:
        tally = batches.run(partial(count_rows, rules, form), BoxParts, unit="image").join()
        finished = finish_count(tally, request, Catalogue(), None, {})
        note = "images without any box are unknown: the table has a row a box; rows without a score are the reference"
        return replace(finished, notes=(*batches.notes, note, *finished.notes), data=batches.about)


def count_rows(rules: Rules, form: str, batch: Mapping[str, NDArray[Any]]) -> BoxParts:
    """Count the rows of whole images: the kernel that runs on any engine."""
    score = np.asarray(batch["score"], dtype=np.float64)  # Spark sends None where a score is missing
    corners = np.column_stack([batch[corner] for corner in CORNERS[form]]).astype(np.float64)
    table = BoxTable(
        image=to_ids(batch["image"], "image", "data"),
        label=to_ids(batch["label"], "label", "data"),
        box=to_xywh(corners, form, "data"),
        score=score,
        where="data",
    )
    truth, predicted = (table.select(np.flatnonzero(rows)) for rows in (np.isnan(score), ~np.isnan(score)))
    return BoxParts((count_scenes(assemble_scenes(truth, predicted, Catalogue()), rules),))
