# SPDX-License-Identifier: Apache-2.0
"""Reads COCO files: an instances file with the truth, and a list of results with the detections.

Ids are labels of any value. Results are read by the embedded engine into columns; a list that the engine would change,
such as one with ids that are texts, is read by Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import MissingColumn, PlanError, RowsError
from assay.core.labels import Label
from assay.core.parallel import together
from assay.core.text import counted, listed, quoted
from assay.rows.images.files import load_json
from assay.tasks.detection.formats.raw_boxes import TURNED, Catalogue, name_rows, to_ids, to_xywh
from assay.tasks.detection.kernel.boxes import UNKNOWN, BoxTable, stack_columns
from assay.tasks.detection.kernel.masks import mask_areas, mask_boxes, read_masks

if TYPE_CHECKING:
    from assay.rows.limits import Limits
    from assay.tasks.detection.kernel.boxes import Floats

EXACT: Final = 2.0**53
"""Whole numbers above this are not all told apart by doubles."""
MARKS: Final = 8
"""Quotation marks of a row whose only texts are the names of its four keys."""
CHUNK: Final = 1 << 22
FEDERATED: Final = ("neg_category_ids", "not_exhaustive_category_ids")
"""Fields of an image in LVIS: classes that are not there, and classes of which some objects have no box."""
SIGMAS: Final = (
    0.026, 0.025, 0.025, 0.035, 0.035, 0.079, 0.079, 0.072, 0.072, 0.062, 0.062, 0.107, 0.107, 0.087, 0.087, 0.089,
    0.089,
)  # fmt: skip
"""Spread of the 17 keypoints of a person in COCO."""


def read_instances(
    content: object, where: str, shape: str = "boxes", spreads: Sequence[float] = ()
) -> tuple[BoxTable, Catalogue]:
    """The truth of an instances file; `spreads` are the sigmas of keypoints."""
    if not isinstance(content, Mapping):
        raise RowsError(
            "file-unreadable",
            "this is not a COCO instances file",
            where=where,
            found=f"a {type(content).__name__}",
            fix="give the file with images, annotations and categories; a list of results goes to predicted",
        )
    for part in ("images", "annotations", "categories"):
        if not isinstance(content.get(part), list):
            raise MissingColumn(
                "missing-column",
                f"the file has no list {quoted(part)}",
                where=where,
                found=listed(list(content)[:8]),
                fix="give a COCO instances file with images, annotations and categories",
            )
    annotations, images = content["annotations"], content["images"]
    ids = [image["id"] for image in images]
    if len(set(ids)) != len(ids):
        twice = list(dict.fromkeys(image for image in ids if ids.count(image) > 1)) if len(ids) < CHUNK else []
        raise RowsError(
            "duplicate-id", "images are listed twice", where=where, found=listed(twice[:5]), fix="list each image once"
        )
    fields: dict[str, dict[Label, Any]] = {}
    for image in images:
        for name, value in image.items():
            if name not in ("id", *FEDERATED):
                fields.setdefault(name, {})[image["id"]] = value
    sizes = {image["id"]: (image["width"], image["height"]) for image in images if image.get("width")}
    negative, partial = ({image["id"]: image[name] for image in images if name in image} for name in FEDERATED)
    return _read_objects(annotations, sizes, where, shape, spreads), Catalogue(
        images=tuple(ids),
        sizes=sizes,
        fields=fields,
        categories=_categories(content, where),
        searched=negative or None,
        partial=partial,
        frequency={row["id"]: str(row["frequency"]) for row in content["categories"] if "frequency" in row},
    )


def _read_objects(
    annotations: Sequence[Mapping[str, Any]],
    sizes: Mapping[Label, tuple[float, float]],
    where: str,
    shape: str,
    spreads: Sequence[float],
) -> BoxTable:
    """The objects of an instances file."""
    areas = _take(annotations, "area", math.nan)
    ignore = np.array(_take(annotations, "ignore", 0), dtype=bool)
    points = None
    if shape == "keypoints":
        points = _points(_take(annotations, "keypoints", None, where), where, spreads)
        marked = (points[..., 2] > 0).sum(axis=1).tolist()
        ignore |= [not row.get("num_keypoints", n) for row, n in zip(annotations, marked, strict=True)]
    groups = [row.get("iscrowd", 0) or row.get("is_group_of", 0) for row in annotations]
    return BoxTable(
        image=to_ids(_take(annotations, "image_id", None, where), "image_id", where),
        label=to_ids(_take(annotations, "category_id", None, where), "category_id", where),
        box=_corners(_take(annotations, "bbox", None, where), where),
        area=np.array(areas, dtype=np.float64),
        crowd=np.array(groups, dtype=bool),
        ignore=ignore,
        mask=read_masks(annotations, sizes, where) if shape == "masks" else None,
        points=points,
        where=where,
    )


def _points(rows: list[Any], where: str, spreads: Sequence[float] = ()) -> Floats:
    """Keypoints of every row: x, y, whether they are visible, and the variance that is allowed."""
    sizes = {len(row) if isinstance(row, Sequence) else -1 for row in rows}
    count = max(sizes, default=0) // 3
    if len(sizes) > 1 or sizes & {-1, 0} or any(size % 3 for size in sizes):
        raise RowsError(
            "value-out-of-domain",
            "keypoints are not the same number of x, y, visible in every row",
            where=where,
            found=f"rows of {listed(sorted(sizes))} numbers",
            fix="write every keypoint of every object; those that are not marked as 0, 0, 0",
        )
    if not spreads and count == len(SIGMAS):
        spreads = SIGMAS
    if rows and len(spreads) != count:
        raise PlanError(
            "role-missing",
            f"the spread of {counted(count, 'keypoint')} is not known",
            where="sigmas",
            found=counted(len(spreads), "sigma"),
            fix="state one for each keypoint: sigmas=[0.05, ...] (--sigmas 0.05 ...)",
        )
    points = np.array(rows, dtype=np.float64).reshape(-1, count, 3)
    allowed = np.broadcast_to((2 * np.array(spreads, dtype=np.float64)) ** 2, points.shape[:2])
    return np.concatenate([points, allowed[..., None]], axis=2)


def _categories(content: Mapping[str, Any], where: str) -> dict[Label, Label]:
    """Names of classes by id; ids where names are missing or shared."""
    ids = [category["id"] for category in content["categories"]]
    names = [category.get("name") for category in content["categories"]]
    if len(set(ids)) != len(ids):
        raise RowsError("duplicate-id", "categories are listed twice", where=where, fix="list each category once")
    named = all(isinstance(name, str) and name for name in names) and len(set(names)) == len(names)
    return dict(zip(ids, names if named else ids, strict=True))


def _take(rows: Sequence[Mapping[str, Any]], name: str, default: object, where: str = "") -> list[Any]:
    """A key of every row; one that has no default must be there."""
    if not where:
        return [row.get(name, default) for row in rows]
    try:
        return [row[name] for row in rows]
    except (KeyError, TypeError):
        lacking = [place for place, row in enumerate(rows) if not isinstance(row, Mapping) or name not in row]
        if name == "bbox" and any("segmentation" in rows[place] for place in lacking[:1]):
            raise PlanError(
                "refused-format",
                "masks without boxes are not assessed",
                where=where,
                fix='give boxes, or state shape="masks" (--shape masks)',
            ) from None
        raise MissingColumn(
            "missing-column",
            f"{counted(len(lacking), 'row')} without {quoted(name)}",
            where=where,
            found=name_rows(lacking),
            fix=f"give every row its {name}",
        ) from None


def _corners(values: list[Any], where: str) -> Floats:
    """Boxes as four numbers each."""
    try:
        boxes = np.array(values, dtype=np.float64) if values else np.zeros((0, 4))
        if boxes.ndim == 2 and boxes.shape[1] == 5:  # noqa: PLR2004
            return to_xywh(boxes, TURNED, where)
        if boxes.ndim == 2 and boxes.shape[1] == 4:  # noqa: PLR2004
            return stack_columns(list(boxes.T))
    except (TypeError, ValueError):
        pass
    wrong = [place for place, box in enumerate(values) if not isinstance(box, (list, tuple)) or len(box) != 4]  # noqa: PLR2004
    raise RowsError(
        "value-out-of-domain",
        "a box is not four numbers",
        where=where,
        found=name_rows(wrong),
        fix="write boxes as [x, y, width, height], or all of them with an angle as [cx, cy, width, height, degrees]",
    )


def read_results(path: Path, limits: Limits | None = None, shape: str = "boxes") -> BoxTable:
    """The detections of a results file."""
    if shape != "boxes":
        return results_from_list(load_json(path), path.name, shape)
    readers: list[Callable[[], Any]] = [lambda: _read_by_engine(path, limits), lambda: count_marks(path)]
    both = together(lambda read: read(), readers, large=path.stat().st_size > CHUNK)
    raw, marks = cast("tuple[BoxTable | None, int]", both)
    if raw is None or marks != MARKS * len(raw.image):  # the engine would make numbers of texts
        return results_from_list(load_json(path), path.name)
    return raw


def is_result_list(given: object) -> bool:
    """Whether detections are a list of results as COCO writes them; a list of arrays by image is another form."""
    return isinstance(given, Sequence) and (not given or (isinstance(given[0], Mapping) and "image_id" in given[0]))


def results_from_list(rows: object, where: str, shape: str = "boxes") -> BoxTable:
    """Detections from a list of dictionaries."""
    if isinstance(rows, Mapping) and "annotations" in rows:
        rows = rows["annotations"]
    if not isinstance(rows, Sequence):
        raise RowsError(
            "file-unreadable", "this is not a list of detections", where=where, fix="give a COCO list of results"
        )
    scores = _take(rows, "score", None, where)
    mask = read_masks(rows, {}, where) if shape == "masks" else None
    points = None
    if shape == "keypoints":
        found = _take(rows, "keypoints", None, where)
        points = _points(found, where, [1.0] * (len(found[0]) // 3) if found else ())
        low, high = (ends(points[..., :2], axis=1) for ends in (np.min, np.max))
        box = np.concatenate([low, high - low], axis=1)
    else:
        box = _corners(_take(rows, "bbox", None, where), where) if mask is None else mask_boxes(mask)
    return BoxTable(
        image=to_ids(_take(rows, "image_id", None, where), "image_id", where),
        label=to_ids(_take(rows, "category_id", None, where), "category_id", where),
        box=box,
        area=UNKNOWN if mask is None else mask_areas(mask),
        mask=mask,
        points=points,
        score=np.array([math.nan if score is None else score for score in scores], dtype=np.float64),
        where=where,
    )


def count_marks(path: Path) -> int:
    """Quotation marks in a file."""
    with path.open("rb") as file:
        return sum(chunk.count(b'"') for chunk in iter(lambda: file.read(CHUNK), b""))


def _read_by_engine(path: Path, limits: Limits | None) -> BoxTable | None:
    """Columns from the embedded engine; None where Python must look at the rows."""
    from assay.rows.engines.duckdb_engine import connect, engine_errors, quote_literal, release
    from assay.rows.limits import Limits

    name = str(path.resolve())
    types = "{image_id: 'DOUBLE', category_id: 'DOUBLE', bbox: 'DOUBLE[4]', score: 'DOUBLE'}"
    parts = "image_id, category_id, score, " + ", ".join(f"bbox[{place}] AS b{place}" for place in range(1, 5))
    connection = connect([name], limits or Limits(memory="256MB"))
    try:
        answer = connection.sql(
            f"SELECT {parts} FROM read_json({quote_literal(name)}, format='array', columns={types})"  # noqa: S608
        ).fetchnumpy()
    except engine_errors():
        return None
    finally:
        release(connection)
    if any(isinstance(column, np.ma.MaskedArray) and column.mask.any() for column in answer.values()):
        return None
    ids = [np.asarray(answer[part]) for part in ("image_id", "category_id")]
    if any((np.abs(column) >= EXACT).any() or (column != np.floor(column)).any() for column in ids):
        return None
    return BoxTable(
        image=ids[0].astype(np.int64),
        label=ids[1].astype(np.int64),
        box=stack_columns([np.asarray(answer[f"b{place}"]) for place in range(1, 5)]),
        score=np.asarray(answer["score"]),
        where=path.name,
    )
