# SPDX-License-Identifier: Apache-2.0
"""Columns in memory as class numbers: one small integer a row, and the labels the integers stand for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import RowsError, missing_extra
from assay.core.labels import Label
from assay.core.text import visible
from assay.rows.label_types import EXACT, absent, label_of, unfit_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK: Final = 1 << 16
"""Rows worked on at a time: 512 KiB of int64 stays inside the second-level cache."""
WIDEST: Final = 1 << 31
"""Integer labels spread wider than this are numbered one by one instead of by their distance from the smallest."""

_SHORT: Final = 8

Codes: TypeAlias = "NDArray[Any]"
"""An integer array of whatever width came in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coded:
    """A column as codes; code c stands for `labels[c - offset]`, or for the integer c itself when labels are None."""

    role: str
    codes: Codes
    offset: int
    span: int
    labels: tuple[Label, ...] | None
    missing: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.codes)

    def label(self, number: int) -> Label:
        """What class number (counted from 0) stands for."""
        return number + self.offset if self.labels is None else self.labels[number]

    def names(self, numbers: list[int]) -> tuple[Label | None, ...]:
        """What some class numbers stand for; the number after the last class stands for no label."""
        if self.labels is None and self.missing is None:
            return tuple([number + self.offset for number in numbers])  # a list is faster than a generator
        return tuple(None if number == self.span else self.label(number) for number in numbers)

    def rows_of(self, label: Label | None, most: int = 3) -> list[int]:
        """The first rows that carry a label, or none at all."""
        if label is None:
            return [] if self.missing is None else np.flatnonzero(self.missing)[:most].tolist()
        same = [i for i, x in enumerate(self.labels or ()) if x == label and type(x) is type(label)]
        wanted = [cast("int", label) - self.offset] if self.labels is None else same
        rows: list[int] = []
        for start in range(0, len(self), CHUNK):
            part = self.codes[start : start + CHUNK]
            hit = np.isin(part, [w + self.offset for w in wanted])
            if self.missing is not None:
                hit &= ~self.missing[start : start + CHUNK]
            rows += (np.flatnonzero(hit) + start).tolist()
            if len(rows) >= most:
                break
        return rows[:most]


def coded(column: object, role: str) -> Coded:
    """A column of labels, of any kind that lives in memory, as class numbers."""
    array = as_array(column, role)
    kind = array.dtype.kind
    if kind == "b":
        return Coded(role=role, codes=array.view(np.uint8), offset=0, span=2, labels=(False, True))
    if kind in "iu":
        return _integers(array, role)
    if kind == "f":
        return _whole_floats(array, role)
    if kind in "UTO":
        return _short_text(array, role) or _objects(array, role)
    raise unfit_labels(role, f"a column of {array.dtype} cannot hold labels")


def as_array(column: object, role: str) -> NDArray[Any]:  # noqa: C901  one branch for each kind of column
    """Anything array-like as a one-dimensional numpy array, without copying where possible."""
    column = detached(column)
    if type(getattr(column, "dtype", None)).__name__ == "CategoricalDtype":
        return _categories(column)
    if isinstance(column, np.ndarray):
        array: NDArray[Any] = column
    elif isinstance(column, (list, tuple, range)):
        array = _from_list(column)
    elif hasattr(column, "__dlpack__") and not hasattr(column, "to_numpy"):
        array = _from_tensor(column, role)
    elif hasattr(column, "to_numpy"):
        array = np.asarray(column) if hasattr(column, "columns") else _from_series(column)
    elif hasattr(column, "__arrow_c_stream__") or hasattr(column, "__arrow_c_array__"):
        array = _from_arrow(column)
    elif hasattr(column, "__array__"):
        array = np.asarray(column)
    elif isinstance(column, Iterable) and not isinstance(column, (str, bytes, dict, AbstractSet)):
        array = _from_list(list(column))
    else:
        raise RowsError(
            "column-not-scalar",
            f"{role} is a {type(column).__name__}, not a column of labels",
            where=role,
            fix="give a list, an array, a Series, or name a column of data=",
        )
    if isinstance(array, np.ma.MaskedArray):
        array = _from_list(array.tolist()) if np.ma.is_masked(array) else np.asarray(array.data)
    if array.ndim != 1:
        what = f"{role} has shape {array.shape}, not one value a row"
        raise RowsError("column-not-scalar", what, where=role, fix=_one_value_a_row(array, role))
    return array


def detached(column: object) -> object:
    """A tensor without its gradient and in main memory; anything else as it is.

    >>> detached([1, 0])
    [1, 0]
    """
    tensor = cast("Any", column)
    return tensor.detach().cpu() if hasattr(column, "detach") and hasattr(column, "cpu") else column


def _from_tensor(tensor: Any, role: str) -> NDArray[Any]:  # noqa: ANN401
    """An array of a library that hands its memory over, if NumPy knows the type."""
    try:
        return np.from_dlpack(tensor)
    except (BufferError, RuntimeError, TypeError) as error:
        raise RowsError(
            "column-type",
            f"{role} is a {type(tensor).__name__} that NumPy cannot read",
            where=role,
            found=visible(error),
            fix=f"hand over a copy in main memory of a type that NumPy knows: {role}.float().cpu()",
        ) from None


def _one_value_a_row(array: NDArray[Any], role: str) -> str:
    """What to do with a matrix where a column is asked for: one-hot columns, probabilities of classes, or a vector."""
    if array.ndim != 2 or array.shape[1] < 2 or array.dtype.kind not in "biuf":  # noqa: PLR2004  a matrix of numbers
        return "give a column of shape (n,); .ravel() makes one of a column vector"
    if np.isin(array, (0, 1)).all() and (array.sum(axis=1) == 1).all():
        return f"these are one-hot columns: give {role}.argmax(axis=1), or the names of the classes taken by it"
    if role == "predicted" and np.allclose(array.sum(axis=1), 1, atol=1e-3):
        return "these are probabilities of classes: give score=... with labels=[...] in the order of the columns"
    return "give one label a row; several labels a row are assessed by assay.multilabel(truth=..., predicted=...)"


def _from_list(values: Any) -> NDArray[Any]:  # noqa: ANN401  whatever the user put in a list
    kinds = set(map(type, values))
    if kinds <= {int} or kinds <= {bool} or kinds <= {float}:
        try:
            return np.array(values, dtype=None if values else np.int64)
        except OverflowError:
            pass
    return object_array(values)


def object_array(values: Sequence[object]) -> NDArray[np.object_]:
    """Values one by one as an array of Python's objects, nested ones as they are.

    >>> object_array([[1, 2], [3, 4]]).shape
    (2,)
    """
    return np.fromiter(values, dtype=object, count=len(values))


def _categories(column: Any) -> NDArray[Any]:  # noqa: ANN401  a pandas Series or Categorical
    """A pandas categorical by value, never by code; missing entries become None."""
    holder = column.cat if hasattr(column, "cat") else column
    names = np.array([*holder.categories, None], dtype=object)
    return cast("NDArray[Any]", names[np.asarray(holder.codes)])


def _from_series(series: Any) -> NDArray[Any]:  # noqa: ANN401  pandas, Polars, PyArrow
    """A Series; one with nulls as Python objects, because floats would round large labels."""
    if type(series).__module__.startswith("pyarrow"):
        if type(series.type).__name__ == "RunEndEncodedType":
            import pyarrow.compute as pc

            series = pc.run_end_decode(series)
        return (
            _from_list(series.to_pylist()) if series.null_count else np.asarray(series.to_numpy(zero_copy_only=False))
        )
    if hasattr(series, "null_count"):
        return _from_list(series.to_list()) if series.null_count() else np.asarray(series.to_numpy())
    if hasattr(series, "isna") and not isinstance(series.dtype, np.dtype) and series.isna().any():
        values = np.array(series.astype(object), dtype=object)
        values[np.asarray(series.isna())] = None
        return values
    return np.asarray(series.to_numpy())


def _from_arrow(column: Any) -> NDArray[Any]:  # noqa: ANN401  whatever speaks Arrow
    """Anything that hands over Arrow data."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise missing_extra("arrow", "an Arrow column needs pyarrow to be read") from error
    return _from_series(pa.chunked_array(column) if hasattr(column, "__arrow_c_stream__") else pa.array(column))


def array_of(column: Any) -> NDArray[Any]:  # noqa: ANN401  a column of Arrow
    """A column, or one batch of it: numbers as they are, the rest, or with missing values, as Python's objects."""
    import pyarrow as pa

    if not column.null_count and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return cast("NDArray[Any]", column.to_numpy())
    if not pa.types.is_string(column.type):
        return object_array(column.to_pylist())
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    coded = whole.dictionary_encode()  # every text is held once, however many rows have it
    texts = object_array([*coded.dictionary.to_pylist(), None])
    return cast("NDArray[Any]", texts[coded.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False)])


def _integers(array: NDArray[Any], role: str) -> Coded:
    if not len(array):
        return Coded(role=role, codes=array, offset=0, span=0, labels=())
    low, high = int(array.min()), int(array.max())
    if high - low < WIDEST:
        return Coded(role=role, codes=array, offset=low, span=high - low + 1, labels=None)
    values, codes = np.unique(array, return_inverse=True)
    return Coded(role=role, codes=codes, offset=0, span=len(values), labels=tuple(values.tolist()))


def _whole_floats(array: NDArray[Any], role: str) -> Coded:
    missing = np.isnan(array)
    if array.dtype.itemsize < 8:  # noqa: PLR2004  float16 and float32 widen exactly
        array = array.astype(np.float64)
    codes = np.zeros(len(array), dtype=np.int64)
    for start in range(0, len(array), CHUNK):
        part, gone = array[start : start + CHUNK], missing[start : start + CHUNK]
        there = part[~gone]
        bad = there[(np.abs(there) >= EXACT) | (there != np.floor(there))]
        if len(bad):
            row = start + int(np.flatnonzero(part == bad[0])[0])
            label_of(float(bad[0]), where=f"{role}, index {row}")
        codes[start : start + CHUNK][~gone] = there.astype(np.int64)
    if not missing.any():
        return _integers(codes, role)
    there = codes[~missing]
    codes[missing] = there[0] if len(there) else 0
    whole = _integers(codes, role)
    return replace(whole, span=whole.span if len(there) else 0, missing=missing)


def _short_text(array: NDArray[Any], role: str) -> Coded | None:
    """Fixed-width text of up to eight Latin letters, compared as numbers of 64 bits; None for any other."""
    width = array.dtype.itemsize // 4
    if array.dtype.kind != "U" or not 0 < width <= _SHORT or not len(array):
        return None
    points = np.ascontiguousarray(array).view(np.uint32).reshape(len(array), width)
    if points.max() > 255:  # noqa: PLR2004  beyond Latin-1 eight letters no longer fit one word
        return None
    letters = np.zeros((len(array), _SHORT), dtype=np.uint8)
    letters[:, :width] = points
    words = letters.view(np.uint64).ravel()
    parts = [np.unique(words[start : start + CHUNK]) for start in range(0, len(words), CHUNK)]
    keys = np.unique(np.concatenate(parts))
    texts = [key.tobytes().rstrip(b"\0").decode("latin-1") for key in keys]
    labels = tuple(cast("Label", label_of(text, where=role)) for text in texts)
    return Coded(role=role, codes=np.searchsorted(keys, words), offset=0, span=len(labels), labels=labels)


class _Numbers(dict[object, int]):
    """Gives every new key the next number."""

    def __missing__(self, key: object) -> int:
        number = self[key] = len(self)
        return number


def _key(value: object) -> object:
    """Text as itself, missing values as one, the rest with its type: 1, 1.0 and True are equal but not the same."""
    if type(value) is str:
        return value
    return None if absent(value) else (type(value), value)


def _objects(array: NDArray[Any], role: str) -> Coded:
    numbers = _Numbers()
    codes = np.empty(len(array), dtype=np.int32)
    for start in range(0, len(array), CHUNK):
        part = array[start : start + CHUNK].tolist()
        keys = part if set(map(type, part)) == {str} else [_checked_key(v, start + i, role) for i, v in enumerate(part)]
        codes[start : start + CHUNK] = np.fromiter(map(numbers.__getitem__, keys), np.int32, len(part))
    labels = [label_of(key[1] if isinstance(key, tuple) else key, where=role) for key in numbers]
    return _merged(codes, labels, role)


def _checked_key(value: object, row: int, role: str) -> object:
    try:
        key = _key(value)
        hash(key)
    except (TypeError, ValueError):
        label_of(value, where=f"{role}, index {row}")
        raise
    return key


def _merged(codes: NDArray[np.int32], labels: list[Label | None], role: str) -> Coded:
    """Codes whose labels turn out equal (1 and 1.0) share one number; missing ones are marked."""
    names: dict[tuple[type, Label | None], int] = {}
    move = np.array(
        [-1 if label is None else names.setdefault((type(label), label), len(names)) for label in labels],
        dtype=np.int32,
    )
    unique = tuple(cast("Label", label) for _, label in names)
    if len(unique) == len(labels):
        return Coded(role=role, codes=codes, offset=0, span=len(unique), labels=unique)
    settled = move[codes]
    missing = settled < 0
    settled[missing] = 0
    gone = missing if missing.any() else None
    return Coded(role=role, codes=settled, offset=0, span=len(unique), labels=unique, missing=gone)


def all_text(array: NDArray[Any]) -> bool:
    """Whether an object array holds nothing but text and None, so that an engine may read it as text."""
    allowed = {str, type(None)}
    return array.dtype.kind == "O" and all(
        set(map(type, array[start : start + CHUNK].tolist())) <= allowed for start in range(0, len(array), CHUNK)
    )
