# SPDX-License-Identifier: Apache-2.0
"""Reads whatever holds boxes: COCO files, YOLO and VOC folders, tables, arrays, and one table on any engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label, in_order
from assay.core.parallel import together
from assay.core.task import Counted, Request
from assay.core.text import visible
from assay.tally.batches import Column, open_batches
from assay.tally.census import Census
from assay.tasks.detection.formats.annotation_folders import read_folder
from assay.tasks.detection.formats.box_tables import CORNERS, read_searched, read_table
from assay.tasks.detection.formats.coco_files import load_json, read_instances, read_results, results_from_list
from assay.tasks.detection.formats.raw_boxes import Catalogue, RawBoxes, assemble_scenes, look_up_field, to_xywh
from assay.tasks.detection.kernel.boxes import Scenes, sort_labels
from assay.tasks.detection.kernel.scene_counts import count_scenes
from assay.tasks.detection.tally import CAPS, Boxes, Rules, join_parts, settle_cap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.rows.limits import Limits


def read_rules(options: Mapping[str, object]) -> Rules:
    """The rules that the options state."""
    profile, confidence = str(options.get("profile") or "coco"), options.get("confidence")
    if profile not in CAPS:
        raise PlanError(
            "option-unknown", f"there are no rules called {visible(profile)}", known=", ".join(CAPS), fix="name one"
        )
    cap = settle_cap(options) if options.get("max_detections") is None else options["max_detections"]
    if not isinstance(cap, int) or cap < 1:
        raise PlanError("option-unknown", f"max_detections={cap!r} is not 1 or more", fix="give a whole number")
    return Rules(profile=profile, cap=cap, confidence=float(cast("float", confidence)))


def read_one(request: Request) -> Counted:
    """Read and count one model."""
    rules = read_rules(request.options)
    if request.data is not None:
        return _read_single_table(request, rules)
    (truth, catalogue, files), (predicted, more) = _read_both(request)
    scenes = assemble_scenes(truth, predicted, catalogue)
    tally = count_scenes(scenes, rules)
    return finish_count(tally, request, catalogue, scenes, files | more)


def read_several(request: Request, models: Mapping[str, Mapping[str, object]]) -> tuple[dict[str, Boxes], Counted]:
    """Read the truth once and count each model on it."""
    rules = read_rules(request.options)
    truth, catalogue, files = read_truth(request)
    raw = {}
    for model, given in models.items():
        raw[model], more = read_predicted(_given(Request(given=given), "predicted"), request)
        files |= more
    if catalogue.images is None:  # every model sees the images that any of them has boxes in
        seen = [truth.image, *(part.image for part in raw.values())]
        catalogue = replace(catalogue, images=sort_labels({image for column in seen for image in column.tolist()}))
    tallies = {model: count_scenes(assemble_scenes(truth, part, catalogue), rules) for model, part in raw.items()}
    classes = sort_labels({label for tally in tallies.values() for label in tally.classes})
    tallies = {model: join_parts([tally], tally.images, classes) for model, tally in tallies.items()}
    scenes = assemble_scenes(truth, next(iter(raw.values())), catalogue)
    finished = finish_count(next(iter(tallies.values())), request, catalogue, scenes, files)
    units = cast("Boxes", finished.tally).units
    return {model: replace(tally, units=units) for model, tally in tallies.items()}, finished


def _read_both(request: Request) -> tuple[Any, Any]:
    """Truth and detections; two files are read at a time, since the engine reads one without the interpreter."""
    files = all(_is_path(_given(request, role)) for role in ("truth", "predicted"))
    readers: list[Callable[[], Any]] = [
        lambda: read_truth(request),
        lambda: read_predicted(_given(request, "predicted"), request),
    ]
    truth, predicted = together(lambda read: read(), readers, large=files)
    return truth, predicted


def _given(request: Request, role: str) -> object:
    if (given := request.given.get(role)) is None:
        raise PlanError(
            "role-missing", f"no {role} is given", where=role, fix=f"give {role}=... : a COCO file, a folder, a table"
        )
    return given


def read_truth(request: Request) -> tuple[RawBoxes, Catalogue, dict[str, str]]:
    """The reference boxes, and what is known of images and classes."""
    given, files, shape = _given(request, "truth"), dict[str, str](), str(request.options.get("shape") or "boxes")
    sigmas = cast("Sequence[float]", request.options.get("sigmas") or ())
    if _is_path(given):
        path = _existing(given)
        if path.is_dir():
            raw, catalogue, files = read_folder(path, "truth", _image_size(request))
        elif path.suffix.lower() == ".json":
            raw, catalogue = read_instances(_expect_mapping(load_json(path), path.name), path.name, shape, sigmas)
            files = {path.name: _digest(path, request)}
        else:
            raw, catalogue, files = read_table(given, request, "truth")
    elif isinstance(given, Mapping) and "annotations" in given:
        raw, catalogue = read_instances(given, "truth", shape, sigmas)
    else:
        raw, catalogue, files = read_table(given, request, "truth")
    if (images := request.given.get("images")) is not None:
        ids = [value.item() if hasattr(value, "item") else value for value in cast("Sequence[Any]", images)]
        catalogue = replace(catalogue, images=tuple(ids))
    return raw, settle_federation(catalogue, request), files


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


def read_predicted(given: object, request: Request) -> tuple[RawBoxes, dict[str, str]]:
    """The detections."""
    shape = str(request.options.get("shape") or "boxes")
    if _is_path(given):
        path = _existing(given)
        if path.is_dir():
            raw, _, files = read_folder(path, "predicted", _image_size(request))
            return raw, files
        if path.suffix.lower() == ".json":
            raw = read_results(path, cast("Limits | None", request.limits), shape)
            return raw, {path.name: _digest(path, request)}
    elif isinstance(given, Sequence) and (not given or (isinstance(given[0], Mapping) and "image_id" in given[0])):
        return results_from_list(given, "predicted", shape), {}
    raw, _, files = read_table(given, request, "predicted")
    return raw, files


def _is_path(given: object) -> bool:
    return isinstance(given, (str, Path))


def _existing(given: object) -> Path:
    path = Path(str(given))
    if not path.exists():
        raise RowsError("no-file", "there is no such file", where=visible(str(given)), fix="check the path")
    return path


def _digest(path: Path, request: Request) -> str:
    from assay.rows.files.file_digests import digest_of

    reading: Any = request.reading
    return digest_of(str(path)) if reading is None or getattr(reading, "digest", True) else ""


def _expect_mapping(content: object, where: str) -> Mapping[str, Any]:
    if isinstance(content, Mapping):
        return content
    raise RowsError(
        "file-unreadable",
        "this is not a COCO instances file",
        where=where,
        found=f"a {type(content).__name__}",
        fix="give the file with images, annotations and categories; a list of results goes to predicted",
    )


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


@dataclass(frozen=True, slots=True)
class Parts:
    """Tallies of batches, joined only once at the end."""

    boxes: tuple[Boxes, ...]

    def __add__(self, other: Parts) -> Parts:
        """Both."""
        return Parts(self.boxes + other.boxes)

    def join(self) -> Boxes:
        """One tally; an image that stands in two parts is an error."""
        if len(self.boxes) == 1:
            return self.boxes[0]
        images = [image for part in self.boxes for image in part.images]
        if len(set(images)) < len(images):
            raise RowsError("duplicate-id", "rows of one image were counted apart", fix="sort the rows by image")
        classes = sort_labels({label for part in self.boxes for label in part.classes})
        return join_parts(list(self.boxes), sort_labels(set(images)), classes)

    def to_json(self) -> dict[str, object]:
        """As it travels between machines."""
        return self.join().to_json()

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Parts:
        """The inverse of `to_json`."""
        return cls((Boxes.from_json(content),))


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
        tally = batches.run(partial(count_rows, rules, form), Parts, unit="image").join()
        finished = finish_count(tally, request, Catalogue(), None, {})
        note = "images without any box are unknown: the table has a row a box; rows without a score are the reference"
        return replace(finished, notes=(*batches.notes, note, *finished.notes), data=batches.about)


def count_rows(rules: Rules, form: str, batch: Mapping[str, NDArray[Any]]) -> Parts:
    """Count the rows of whole images: the kernel that runs on any engine."""
    score = np.asarray(batch["score"], dtype=np.float64)  # Spark sends None where a score is missing
    is_truth = np.isnan(score)
    box = to_xywh(np.column_stack([batch[corner] for corner in CORNERS[form]]).astype(np.float64), form, "data")
    truth, predicted = (
        RawBoxes(
            image=_narrow(batch["image"][rows]),
            label=_narrow(batch["label"][rows]),
            box=box[rows],
            score=None if rows is is_truth else score[rows],
            where="data",
        )
        for rows in (is_truth, ~is_truth)
    )
    images = tuple(sort_labels({*truth.image.tolist(), *predicted.image.tolist()}))
    return Parts((count_scenes(assemble_scenes(truth, predicted, Catalogue(images=images)), rules),))


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers as such, other labels as objects."""
    if values.dtype == object and all(type(value) is int for value in values.tolist()):
        return values.astype(np.int64)
    return values
