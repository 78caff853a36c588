# SPDX-License-Identifier: Apache-2.0
"""Reads one image or mask from a file: PNG, TIFF and other pictures, NumPy arrays, NIfTI with its spacing; and JSON."""

from __future__ import annotations

import base64
import json
import os
import struct
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.core.errors import PlanError, RowsError, missing_extra
from assay.core.text import visible

if TYPE_CHECKING:
    from numpy.typing import NDArray

PICTURES: Final = (".png", ".tif", ".tiff", ".bmp", ".gif", ".jpg", ".jpeg", ".pgm", ".ppm", ".webp")
NIFTI: Final = (".nii", ".nii.gz")
SUFFIXES: Final = (*PICTURES, *NIFTI, ".npy")
THUMBNAIL: Final = 128
"""Pixels along the longer side of a thumbnail."""
SAME_PLACE: Final = 1e-3
"""How far two affine maps may be apart, in millimetres, and still speak of the same grid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedImage:
    """An image in memory, with what its file says of the grid."""

    values: NDArray[Any]
    spacing: tuple[float, ...] | None = None
    affine: NDArray[np.float64] | None = None


def load_image(path: str) -> LoadedImage:
    """Read one file; a picture with a palette gives the numbers of its colours."""
    suffix = suffix_of(path)
    if not Path(path).is_file():
        raise RowsError("no-file", f"there is no file {visible(path)}", fix="check the path")
    try:
        if suffix == ".npy":
            return LoadedImage(values=np.load(path, allow_pickle=False))
        if suffix in NIFTI:
            return _load_nifti(path)
        if suffix in PICTURES:
            return _load_picture(path)
    except (OSError, ValueError, EOFError, SyntaxError) as error:
        raise RowsError(
            "file-unreadable",
            f"{visible(Path(path).name)} cannot be read",
            found=visible(str(error)),
            fix="write the file again, or leave it out",
        ) from error
    raise RowsError(
        "refused-format",
        f"{visible(Path(path).name)} is not an image file that can be read",
        known=", ".join(SUFFIXES),
        fix="convert it to one of these",
    )


def load_json(path: str | Path) -> Any:  # noqa: ANN401  any JSON
    """The content of a file; NaN is read as it is, to be refused with its place."""
    try:
        text = Path(path).read_bytes()
        with suppress(ImportError, ValueError):
            import orjson

            return orjson.loads(text)
        return json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise RowsError(
            "file-unreadable",
            "the file is not JSON",
            where=visible(Path(path).name),
            found=visible(str(error)),
            fix="write it again",
        ) from error


def make_thumbnail(values: NDArray[Any], largest: int = THUMBNAIL) -> str:
    """A small grey or coloured picture as a PNG file in base 64.

    >>> make_thumbnail(np.zeros((2, 2), np.uint8))[:11]
    'iVBORw0KGgo'
    """
    step = max(1, -(-max(values.shape[:2]) // largest))
    small = values[::step, ::step]
    small = small[..., :3] if small.ndim > 2 and small.shape[-1] >= 3 else small.reshape(*small.shape[:2], -1)[..., 0]  # noqa: PLR2004
    if small.dtype != np.uint8:
        real = np.nan_to_num(small.astype(np.float64))
        small = ((real - real.min()) * (255 / max(float(np.ptp(real)), 1e-300))).astype(np.uint8)
    rows = b"".join(b"\0" + np.ascontiguousarray(row).tobytes() for row in small)
    size = struct.pack(">IIBBBBB", small.shape[1], small.shape[0], 8, 2 if small.ndim > 2 else 0, 0, 0, 0)  # noqa: PLR2004
    parts = ((b"IHDR", size), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    file = b"".join(
        struct.pack(">I", len(part)) + kind + part + struct.pack(">I", zlib.crc32(kind + part)) for kind, part in parts
    )
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + file).decode("ascii")


def suffix_of(path: str | os.PathLike[str]) -> str:
    """The ending of a file name, which may have two parts.

    >>> suffix_of("a/liver.1.nii.gz"), suffix_of("b.PNG")
    ('.nii.gz', '.png')
    """
    name = os.fspath(path).lower()
    return ".nii.gz" if name.endswith(".nii.gz") else os.path.splitext(name)[1]  # noqa: PTH122  a name, not a path


def list_folder(folder: str | os.PathLike[str]) -> dict[str, str]:
    """Image files below a folder, by path without ending; two files of one name are refused."""
    root = Path(folder)
    paths: dict[str, str] = {}
    for path in sorted(root.rglob("*")):
        if path.is_file() and suffix_of(path) in SUFFIXES and not path.name.startswith("."):
            name = path.relative_to(root).as_posix()[: -len(suffix_of(path))]
            if name in paths:
                raise RowsError(
                    "duplicate-id",
                    f"the folder {visible(root.name)} holds two images called {visible(name)}",
                    found=f"{Path(paths[name]).name} and {path.name}",
                    fix="keep one of them",
                )
            paths[name] = str(path)
    if not paths:
        raise RowsError(
            "no-rows",
            f"the folder {visible(root.name)} holds no image",
            known=", ".join(SUFFIXES),
            fix="give a folder with image files",
        )
    return paths


def same_grid(first: LoadedImage, second: LoadedImage) -> bool:
    """Whether two images lie in the same place, as far as their files say."""
    if first.affine is None or second.affine is None:
        return True
    return bool(np.allclose(first.affine, second.affine, atol=SAME_PLACE))


def _load_picture(path: str) -> LoadedImage:
    try:
        from PIL import Image, ImageSequence
    except ImportError as error:
        raise _missing("pillow", path) from error
    with Image.open(path) as image:
        frames = [np.asarray(frame) for frame in ImageSequence.Iterator(image)]
    return LoadedImage(values=frames[0] if len(frames) == 1 else np.stack(frames))


def _load_nifti(path: str) -> LoadedImage:
    try:
        import nibabel as nib
    except ImportError as error:
        raise _missing("nibabel", path) from error
    image: Any = nib.load(path)
    values = np.asanyarray(image.dataobj)
    zooms = tuple(float(size) for size in image.header.get_zooms())
    while values.ndim > 2 and values.shape[-1] == 1:  # noqa: PLR2004  a plane
        values = values[..., 0]
    return LoadedImage(values=values, spacing=zooms[: values.ndim], affine=np.asarray(image.affine, dtype=np.float64))


def _missing(package: str, path: str) -> PlanError:
    what = f"{suffix_of(path)} files need the package {package}"
    return missing_extra("vision", what, where=visible(Path(path).name))
