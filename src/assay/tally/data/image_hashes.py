# SPDX-License-Identifier: Apache-2.0
"""Pictures that look alike: 64 bits of each, from its coarse brightness, and pairs that differ in a few of them."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from assay.core.errors import EngineError, RowsError
from assay.core.text import counted, listed, quoted
from assay.rows.engines.duckdb_engine import quote_identifier
from assay.tally.data.near_duplicates import Key, Naming, Near, Pair, batches, gathered, id_sql, name_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tally.data.split_counts import SplitRows

    Words: TypeAlias = NDArray[np.uint64]

SIDE: Final = 32
LOW: Final = 8
"""Frequencies of each direction that count: what remains of a picture when it is saved again, scaled or brightened."""
PIXELS: Final = 200_000_000
"""Pixels beyond which a picture is not opened: a small file can unfold to any size."""
BLOCK: Final = 1 << 22
"""Pairs that are compared at a time; all of them are, since opening a picture takes longer than that."""
BITS: Final = 64


def near_pictures(
    mine: SplitRows, other: SplitRows, column: str, *, folder: Path, distance: int, naming: Naming | None
) -> Near:
    """Rows whose picture differs from one of the other data set in so many of 64 bits at most."""
    (ours, names), (theirs, others) = (_hashed(one, column, folder, naming) for one in (mine, other))
    near_pairs: dict[Key, Pair] = {}
    if not len(theirs):
        return gathered(near_pairs, whole=True)
    block = max(1, BLOCK // len(theirs))
    for start in range(0, len(ours), block):
        apart = np.bitwise_count(ours[start : start + block, None] ^ theirs[None, :])
        nearest = apart.argmin(axis=1)
        for i, j in enumerate(nearest.tolist()):
            if apart[i, j] <= distance:
                near_pairs[start + i] = (names[start + i], others[j], 1 - int(apart[i, j]) / BITS)
    return gathered(near_pairs, whole=True)


def _hashed(split: SplitRows, column: str, folder: Path, naming: Naming | None) -> tuple[Words, list[str]]:
    path = f"CAST({quote_identifier(column)} AS VARCHAR)"
    words: list[int] = []
    names: list[str] = []
    broken: list[str] = []
    for some in batches(split, f"SELECT {path}, {id_sql(naming)} FROM rows WHERE {path} IS NOT NULL"):  # noqa: S608  quoted
        for place, name in some:
            hash_or_fault = picture_hash(folder, str(place))
            if isinstance(hash_or_fault, str):
                broken.append(f"{place}: {hash_or_fault}")
                continue
            words.append(hash_or_fault)
            names.append(name_row(naming, name))
    if broken:
        raise RowsError(
            "file-unreadable",
            f"{counted(len(broken), 'picture')} cannot be read",
            where=f"{split.name}, column {quoted(column)}",
            found=listed(broken, most=5),
            fix="name pictures from the folder of the plan, inside it, in a format that Pillow reads",
        )
    return np.array(words, dtype=np.uint64), names


def picture_hash(folder: Path, place: str) -> int | str:
    """64 bits of a picture: which of its low frequencies lie above their median (pHash); or why there are none."""
    image = _pillow()
    path = folder / place
    if Path(place).is_absolute() or ".." in Path(place).parts or "\0" in place:
        return "it does not lie in the folder of the plan"
    try:
        with image.open(path) as opened:
            if opened.width * opened.height > PIXELS:
                return "it has too many pixels"
            grey = np.asarray(opened.convert("L").resize((SIDE, SIDE), image.Resampling.LANCZOS), dtype=np.float64)
    except (OSError, ValueError, image.DecompressionBombError) as error:
        return f"{type(error).__name__}"
    from scipy.fft import dctn

    low = dctn(grey, norm="ortho")[:LOW, :LOW].ravel()
    bits = low > np.median(low[1:])  # the first is the mean brightness, which says nothing of what is shown
    bits[0] = False
    return int(np.packbits(bits).view(">u8")[0])


def _pillow() -> ModuleType:
    try:
        from PIL import Image
    except ImportError:
        raise EngineError(
            "missing-extra",
            "pictures are compared with Pillow, which is not installed",
            fix='pip install "assay[vision]"',
        ) from None
    return Image
