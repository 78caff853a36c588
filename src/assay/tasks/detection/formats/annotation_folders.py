# SPDX-License-Identifier: Apache-2.0
"""Reads folders of annotation files, one for each image: YOLO text files and Pascal VOC XML."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

import numpy as np

from assay.core.errors import RowsError
from assay.core.labels import Label
from assay.core.text import counted, listed, visible
from assay.tasks.detection.formats.raw_boxes import Catalogue
from assay.tasks.detection.kernel.boxes import UNKNOWN, BoxTable

if TYPE_CHECKING:
    from collections.abc import Sequence

FIELDS: Final = {"truth": 5, "predicted": 6}
"""Numbers on a line of a YOLO file: class, centre, width, height, and for detections the confidence."""


def read_folder(
    folder: Path, role: str, size: tuple[float, float] | None
) -> tuple[BoxTable, Catalogue, dict[str, str]]:
    """Boxes of a folder of annotations."""
    papers = sorted(path for path in folder.iterdir() if path.suffix.lower() in (".txt", ".xml"))
    papers = [path for path in papers if path.name != "classes.txt"]
    kinds = {path.suffix.lower() for path in papers}
    if len(kinds) != 1:
        raise RowsError(
            "file-unreadable",
            "the folder does not hold annotation files of one kind",
            where=folder.name,
            found=listed(sorted(kinds)) or "no .txt and no .xml file",
            fix="give a folder of YOLO .txt files or of VOC .xml files",
        )
    digest = hashlib.sha256()
    for path in papers:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    read = _read_yolo if kinds == {".txt"} else _read_voc
    raw, catalogue = read(folder, papers, role, size)
    return raw, catalogue, {folder.name: digest.hexdigest()}


def _read_yolo(
    folder: Path, papers: Sequence[Path], role: str, size: tuple[float, float] | None
) -> tuple[BoxTable, Catalogue]:
    """Text files with a line a box: class, and centre, width and height as parts of the image."""
    rows: list[list[float]] = []
    images: list[Label] = []
    for path in papers:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            if not line.strip():
                continue
            rows.append(_read_line(line, path.name, number, role))
            images.append(path.stem)
    values = np.array(rows, dtype=np.float64).reshape(len(rows), FIELDS[role])
    scale = np.array([1.0, 1.0] if size is None else size)
    box = np.column_stack([(values[:, 1:3] - values[:, 3:5] / 2) * scale, values[:, 3:5] * scale])
    names = folder / "classes.txt"
    classes = names.read_text("utf-8").split("\n") if names.exists() else []
    named = [name.strip() for name in classes if name.strip()]
    notes = (
        () if size is not None else ("the sizes of the images are unknown, so areas are not told apart (image_size)",)
    )
    raw = BoxTable(
        image=np.array(images, dtype=object),
        label=values[:, 0].astype(np.int64),
        box=box,
        score=values[:, 5] if role == "predicted" else UNKNOWN,
        area=np.full(len(box), np.inf) if size is None else UNKNOWN,
        where=folder.name,
    )
    return raw, Catalogue(
        images=tuple(path.stem for path in papers) if role == "truth" else None,
        categories=dict(enumerate(named)) if named and role == "truth" else None,
        sizes={} if size is None else {path.stem: size for path in papers},
        notes=notes if role == "truth" else (),
    )


def _read_line(line: str, name: str, number: int, role: str) -> list[float]:
    words = line.split()
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if len(values) != FIELDS[role] or values[0] != int(values[0]):
        what = "class cx cy w h" + (" confidence" if role == "predicted" else "")
        raise RowsError(
            "ragged-row",
            f"a line is not {what}",
            where=f"{name}, line {number}",
            found=visible(line[:80]),
            fix=f"write {counted(FIELDS[role], 'number')} on every line",
        )
    return values


def _read_voc(
    folder: Path, papers: Sequence[Path], role: str, size: tuple[float, float] | None
) -> tuple[BoxTable, Catalogue]:
    """XML files with whole pixels counted from 1, both ends included; difficult objects do not count."""
    images: list[Label] = []
    labels: list[Label] = []
    boxes: list[list[float]] = []
    difficult: list[bool] = []
    sizes: dict[Label, tuple[float, float]] = {}
    for path in papers:
        try:
            tree = ET.parse(path).getroot()  # noqa: S314  entities of these files are not resolved
            width, height = (float(tree.findtext(f"size/{side}") or 0) for side in ("width", "height"))
            for item in tree.iterfind("object"):
                ends = [float(item.findtext(f"bndbox/{end}") or "nan") for end in ("xmin", "ymin", "xmax", "ymax")]
                boxes.append([ends[0] - 1, ends[1] - 1, ends[2] - ends[0] + 1, ends[3] - ends[1] + 1])
                labels.append((item.findtext("name") or "").strip())
                difficult.append((item.findtext("difficult") or "0").strip() == "1")
                images.append(path.stem)
        except (ET.ParseError, ValueError) as error:
            raise RowsError(
                "file-unreadable", "this is not a VOC annotation", where=path.name, found=visible(str(error)),
                fix="write the file again",
            ) from error  # fmt: skip
        if width and height:
            sizes[path.stem] = size or (width, height)
    raw = BoxTable(
        image=np.array(images, dtype=object),
        label=np.array(labels, dtype=object),
        box=np.array(boxes, dtype=np.float64).reshape(-1, 4),
        ignore=np.array(difficult, dtype=bool),
        where=folder.name,
    )
    return raw, Catalogue(images=tuple(path.stem for path in papers) if role == "truth" else None, sizes=sizes)
