# SPDX-License-Identifier: Apache-2.0
"""Reads tables with a row a box: frames, Parquet and CSV files, mappings of columns, lists of arrays by image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import MissingColumn, RowsError
from assay.core.labels import Label
from assay.core.text import listed
from assay.tasks.detection.formats.raw_boxes import Catalogue, to_ids, to_xywh
from assay.tasks.detection.kernel.boxes import BoxTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.task import Request
    from assay.rows.files.formats import Reading
    from assay.rows.limits import Limits

CORNERS: Final = {
    "xywh": ("x", "y", "w", "h"),
    "xyxy": ("x1", "y1", "x2", "y2"),
    "cxcywh": ("cx", "cy", "w", "h"),
    "cxcywha": ("cx", "cy", "w", "h", "angle"),
}
OPENIMAGES: Final = {
    "ImageID": "image", "LabelName": "label", "XMin": "x1", "YMin": "y1", "XMax": "x2", "YMax": "y2",
    "Score": "score", "Conf": "score", "Confidence": "score", "IsGroupOf": "crowd",
}  # fmt: skip
"""Columns of the files of OpenImages."""
NAMES: Final = {
    "image": ("image", "image_id"),
    "label": ("label", "labels", "class", "category", "category_id"),
    "box": ("box", "boxes", "bbox"),
    "score": ("score", "scores", "confidence"),
    "area": ("area",),
    "crowd": ("crowd", "iscrowd"),
    "ignore": ("ignore", "difficult"),
}
"""Columns of a table, by what they hold."""
MORE: Final = ("score", "area", "crowd", "ignore")
"""Columns of numbers that a table may have beside the corners of its boxes."""
NUMBERS: Final = [
    *(name for kind in MORE for name in NAMES[kind]),
    *(name for name, ours in OPENIMAGES.items() if ours not in ("image", "label")),
]


def read_table(given: object, request: Request, role: str) -> tuple[BoxTable, Catalogue, dict[str, str]]:
    """Boxes of a table; the truth may carry further columns that describe images."""
    columns, files = _read_columns(given, request)
    form = str(request.options.get("box_format", "xywh"))
    if "ImageID" in columns:
        columns, form = _rename_openimages(columns), "xyxy"
    images = columns.get("images") if isinstance(given, (list, tuple)) else None
    raw, names = _to_boxes(columns, form, role)
    fields = _image_fields(columns, raw, names)
    return raw, Catalogue(images=None if images is None else tuple(images), fields=fields), files


def _read_columns(given: object, request: Request) -> tuple[Mapping[str, Any], dict[str, str]]:
    """The columns of a table, and the digests of its files."""
    if isinstance(given, (str, Path)):
        return _read_file(given, request)
    if isinstance(given, Mapping):
        return given, {}
    return _join_images(given) if isinstance(given, Sequence) else _read_frame(given), {}


def _rename_openimages(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {OPENIMAGES.get(name, name): column for name, column in columns.items()}


def read_searched(given: object, request: Request) -> dict[Label, list[Label]]:
    """Classes that were looked for, by image: from a mapping, or a table of image and label."""
    if isinstance(given, Mapping) and not {"image", "ImageID"} & given.keys():
        return {image: list(labels) for image, labels in given.items()}
    columns = _rename_openimages(_read_columns(given, request)[0])
    if lacking := {"image", "label"} - columns.keys():
        raise MissingColumn(
            "missing-column",
            f"the table has no column {' and '.join(sorted(lacking))}",
            where="searched",
            found=listed(columns, most=12),
            fix="give the columns image and label (or ImageID and LabelName), a row for each pair",
        )
    by_image: dict[Label, list[Label]] = {}
    pairs = (to_ids(columns[name], name, "searched").tolist() for name in ("image", "label"))
    for image, label in zip(*pairs, strict=True):
        by_image.setdefault(image, []).append(label)
    return by_image


def _read_file(path: str | Path, request: Request) -> tuple[dict[str, Any], dict[str, str]]:
    """Columns of a file, by the embedded engine."""
    from assay.rows.engines.duckdb_engine import quote_identifier
    from assay.rows.files.file_set import open_files
    from assay.rows.files.formats import Reading
    from assay.rows.files.opened_file import number_column, translated
    from assay.rows.limits import Limits

    reading = cast("Reading | None", request.reading) or Reading()
    opened = open_files(path, reading, limits=cast("Limits | None", request.limits) or Limits())
    try:
        with translated(opened):
            numbers = {*(corner for corners in CORNERS.values() for corner in corners), *NUMBERS}
            parts = [
                (f"{number_column(opened, name)} AS " if name in numbers else "") + quote_identifier(name)
                for name in opened.columns
            ]
            query = f"SELECT {', '.join(parts)} FROM {quote_identifier(opened.view)}"  # noqa: S608  quoted
            columns = dict(opened.connection.sql(query).fetchnumpy())
        return columns, dict(opened.files)
    finally:
        opened.close()


def _read_frame(given: object) -> dict[str, Any]:
    from assay.rows.columns import as_array
    from assay.rows.engines.narwhals_frames import narwhals_of

    frame = narwhals_of(given)
    eager = frame.collect() if hasattr(frame, "collect") else frame
    return {name: as_array(eager.get_column(name).to_native(), name) for name in eager.columns}


def _join_images(given: Sequence[Any]) -> dict[str, Any]:
    """Columns from one mapping of arrays for each image; an image is called by its place in the list."""
    parts: dict[str, list[Any]] = {"image": []}
    for place, image in enumerate(given):
        name = _find(image, "box")
        if name is None:
            raise MissingColumn(
                "missing-column", f"image {place} has no boxes", found=listed(image), fix='give every image "boxes"'
            )
        boxes = np.asarray(image[name], dtype=np.float64).reshape(-1, 4)
        parts["image"].append(np.full(len(boxes), place))
        parts.setdefault("box", []).append(boxes)
        for kind in ("label", *MORE):
            if (column := _find(image, kind)) is not None:
                parts.setdefault(kind, []).append(np.asarray(image[column]))
    columns: dict[str, Any] = {name: np.concatenate(values) for name, values in parts.items() if values}
    return columns | {"images": range(len(given))}


def _find(columns: Mapping[str, Any], kind: str) -> str | None:
    return next((name for name in NAMES[kind] if name in columns), None)


def _check_columns(
    columns: Mapping[str, Any], column_names: Mapping[str, str], corners: Sequence[str], role: str
) -> None:
    lacking = [kind for kind in ("image", "label") if kind not in column_names]
    if "box" not in column_names:
        lacking += [corner for corner in corners if corner not in columns]
    if role == "predicted" and "score" not in column_names:
        lacking.append("score")
    if lacking:
        raise MissingColumn(
            "missing-column",
            f"the table has no column {' and '.join(lacking)}",
            where=role,
            found=listed(columns, most=12),
            known=f"image, label, {', '.join(corners)}" + (", score" if role == "predicted" else ""),
            fix="rename the columns, or state box_format (--box-format)",
        )


def _to_boxes(columns: Mapping[str, Any], form: str, role: str) -> tuple[BoxTable, set[str]]:
    """Columns as boxes, and the names of the columns that were used."""
    column_names = {kind: name for kind in NAMES if (name := _find(columns, kind)) is not None}
    corners = CORNERS[form]
    _check_columns(columns, column_names, corners, role)
    if "box" in column_names:
        box = np.asarray(columns[column_names["box"]], dtype=np.float64).reshape(-1, len(corners))
    else:
        box = np.column_stack([_numbers(columns[corner], corner, role) for corner in corners])
    given: dict[str, Any] = {
        kind: _numbers(columns[column_names[kind]], kind, role) for kind in MORE if kind in column_names
    }
    given |= {kind: given[kind] != 0 for kind in ("crowd", "ignore") if kind in given}
    ids = {kind: to_ids(columns[column_names[kind]], column_names[kind], role) for kind in ("image", "label")}
    if len({len(column) for column in (box, *ids.values(), *given.values())}) > 1:
        raise RowsError(
            "rows-unmatched", "the columns have different numbers of rows", where=role, fix="give one row a box"
        )
    raw = BoxTable(box=to_xywh(box, form, role), where=role, **ids, **given)
    return raw, {*column_names.values(), *corners}


def _numbers(values: Any, name: str, role: str) -> NDArray[np.float64]:  # noqa: ANN401
    from assay.rows.tables import to_numbers

    if isinstance(values, np.ma.MaskedArray):
        return np.asarray(np.ma.filled(values.astype(np.float64), np.nan))
    return to_numbers(np.asarray(values), f"{name} of {role}")


def _image_fields(columns: Mapping[str, Any], raw: BoxTable, used: set[str]) -> dict[str, dict[Label, Any]]:
    """Columns that hold one value for each image; those that vary inside an image describe boxes, and are left out."""
    fields: dict[str, dict[Label, Any]] = {}
    images = raw.image.tolist()
    for name, values in columns.items():
        if name in used or name == "images" or len(values) != len(images):
            continue
        by_image: dict[Label, Any] = {}
        pairs = zip(images, np.asarray(values).tolist(), strict=True)
        if all(by_image.setdefault(image, value) == value for image, value in pairs):
            fields[str(name)] = by_image
    return fields
