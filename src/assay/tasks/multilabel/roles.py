# SPDX-License-Identifier: Apache-2.0
"""What users have of label sets: indicator matrices or columns, columns of lists, text with a separator, scores.

Everything becomes a matrix of 0 and 1 with a column for each label. What a form means is stated, never guessed.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label, in_order
from assay.core.text import counted, listed, quoted, visible

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bits: TypeAlias = NDArray[np.uint8]

Form: TypeAlias = Literal["matrix", "columns", "sets", "text"]
Faults: TypeAlias = Counter[tuple[str, str]]
"""Values that are not fit, by code and description, with how many rows have them."""
JSON: Final = "json"
"""The separator that means: each text is a list in JSON."""
SLOTS: Final = 1 << 32
"""The largest sparse matrix that is written out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How the columns of a batch hold label sets; small, because it travels to every worker."""

    forms: Mapping[str, Form]
    """By role, or role and model."""
    labels: tuple[Label, ...] | None
    """None where the labels are those that occur."""
    separator: str | None = None
    empty_is_set: bool = False
    thresholds: tuple[float, ...] | None = None


def check_faults(faults: Faults, where: str, labels: Sequence[Label] | None) -> None:
    """Raise if there are any, all of them in one error."""
    if not faults:
        return
    code = min(faults)[0]
    problems = "; ".join(f"{what} ({counted(n, 'row')})" for (_, what), n in sorted(faults.items()))
    declared = "declare every label, labels=[...] (--labels), or correct the rows"
    raise RowsError(
        code,
        f"{counted(faults.total(), 'value')} cannot be used",
        where=where,
        found=visible(problems),
        known=None if labels is None else listed(labels),
        fix=declared if code == "label-not-declared" else "correct the rows",
    )


def find_form(role: str, given: object, stated: str | None, separator: str | None) -> Form:
    """The form of a role that is given as an array, a list or a frame."""
    if stated in ("matrix", "sets", "text"):
        return cast("Form", stated)
    if hasattr(given, "toarray") or getattr(given, "ndim", 1) == 2 or hasattr(given, "columns"):  # noqa: PLR2004
        return "matrix"
    if not hasattr(given, "__iter__"):
        fix = "give a list of sets, a matrix of 0 and 1, or a column of data=..."
        raise RowsError("column-type", f"{role} is a {type(given).__name__}, not a column", where=role, fix=fix)
    values = list(cast("Iterable[object]", given))
    if any(isinstance(value, str) for value in values):
        if separator is None:
            raise _no_separator(role)
        return "text"
    lists = [value for value in values if isinstance(value, (list, tuple, np.ndarray))]
    same = len({len(value) for value in lists}) == 1 and len(lists) == len(values)
    if lists and same and len(lists[0]) > 1 and all(bit in (0, 1) for value in lists for bit in value):
        raise PlanError(
            "role-clash",
            f"{role} is a list of lists of 0 and 1: indicators, or sets of the labels 0 and 1?",
            where=role,
            fix='give a NumPy matrix, or state it: form="matrix" or form="sets"',
        )
    return "sets"


def _no_separator(role: str) -> PlanError:
    return PlanError(
        "role-missing",
        f"{role} holds text, and no separator is stated",
        where=role,
        fix='state what stands between labels: separator="|" (--separator), or separator="json" for lists in JSON',
    )


def to_matrix(role: str, given: Any) -> tuple[NDArray[Any], tuple[Label, ...] | None]:  # noqa: ANN401  any matrix
    """A matrix of any library, and the names of its columns where it has some."""
    names = tuple(str(name) for name in given.columns) if hasattr(given, "columns") else None
    if hasattr(given, "toarray"):
        if given.shape[0] * given.shape[1] > SLOTS:
            raise RowsError(
                "column-not-scalar",
                f"{role} has {given.shape[0]:,} x {given.shape[1]:,} slots, too many to be written out",
                where=role,
                fix='give a column of label lists: form="sets"',
            )
        given = given.toarray()
    matrix = given.to_numpy() if hasattr(given, "to_numpy") else np.asarray(given)
    if matrix.ndim != 2:  # noqa: PLR2004  rows by labels
        raise RowsError(
            "matrix-shape",
            f"{role} has shape {matrix.shape}, not rows by labels",
            where=role,
            fix="give a matrix with a row for each row of the data and a column for each label",
        )
    return matrix, names


def read_bits(role: str, matrix: NDArray[Any], labels: Sequence[Label]) -> tuple[Bits, Faults]:
    """Indicators as bytes; anything but 0 and 1 is a fault."""
    if matrix.dtype == np.bool_:
        return matrix.view(np.uint8), Faults()
    if matrix.dtype == object:
        matrix = np.array(
            [[np.nan if bit is None else bit for bit in row] for row in matrix.tolist()], dtype=np.float64
        )
    if matrix.dtype == np.uint8 and matrix.size and matrix.max() <= 1:
        return matrix, Faults()
    wrong = ~((matrix == 0) | (matrix == 1))
    if not wrong.any():
        return matrix.astype(np.uint8), Faults()
    found = (f"{role} of {quoted(labels[column])} is {matrix[row, column]:g}" for row, column in np.argwhere(wrong))
    return np.zeros(matrix.shape, dtype=np.uint8), Faults(("value-out-of-domain", what) for what in found)


def read_label_sets(
    role: str, values: Iterable[Any], layout: Layout, form: Form
) -> tuple[list[AbstractSet[Label]], Faults]:
    """Sets of labels from lists, sets or text; a missing set is a fault."""
    sets: list[AbstractSet[Label]] = []
    faults = Faults()
    for value in values:
        try:
            sets.append(_one_set(value, layout, form))
        except (ValueError, TypeError) as error:
            faults["missing-label" if value is None else "column-type", f"{role}: {error}"] += 1
            sets.append(frozenset())
    return sets, faults


def _one_set(value: Any, layout: Layout, form: Form) -> frozenset[Label]:  # noqa: ANN401
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124  NaN
        if layout.empty_is_set:
            return frozenset()
        msg = "a set is missing (an empty set is written as such; empty_is_set=True reads an empty field as one)"
        raise ValueError(msg)
    if form == "text":
        if not isinstance(value, str):
            msg = f"{visible(repr(value))} is not text"
            raise TypeError(msg)
        if layout.separator == JSON:
            value = json.loads(value)
        else:
            value = [part.strip() for part in value.split(cast("str", layout.separator)) if part.strip()]
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        msg = f"{visible(repr(value))} is not a list of labels"
        raise TypeError(msg)
    labels = frozenset(part.item() if isinstance(part, np.generic) else part for part in value)
    for label in labels:
        if not isinstance(label, (str, int)):
            msg = f"{visible(repr(label))} is not a label"
            raise TypeError(msg)
    return labels


def fill_bits(role: str, sets: Sequence[AbstractSet[Label]], labels: Sequence[Label]) -> tuple[Bits, Faults]:
    """A matrix of 0 and 1 from sets; labels that are not declared are faults."""
    place = {label: i for i, label in enumerate(labels)}
    bits = np.zeros((len(sets), len(labels)), dtype=np.uint8)
    unknown = Faults()
    for row, own in enumerate(sets):
        for label in own:
            if label in place:
                bits[row, place[label]] = 1
            else:
                unknown["label-not-declared", f"{quoted(label)} in {role}"] += 1
    return bits, unknown


def order_labels(sets: Iterable[AbstractSet[Label]]) -> tuple[Label, ...]:
    """The labels that occur, in order; numbers and text together are refused."""
    labels = {label for own in sets for label in own}
    if len({isinstance(label, str) for label in labels}) > 1:
        raise RowsError(
            "mixed-types-in-column",
            "some labels are numbers and some are text",
            found=listed(sorted(labels, key=str)),
            fix="write all labels alike",
        )
    return in_order(labels)


def read_thresholds(stated: object, labels: Sequence[Label]) -> tuple[float, ...] | None:
    """One threshold for all labels, or one by label: 0.5, {"a": 0.3}, or texts such as a=0.3."""
    if stated in (None, ()):
        return None
    parts = stated if isinstance(stated, (tuple, list)) else (stated,)
    by_name: dict[str, float] = {}
    whole: float | None = None
    for part in parts:
        if isinstance(part, Mapping):
            by_name |= {str(label): _threshold(value) for label, value in part.items()}
        elif isinstance(part, str) and "=" in part:
            name, _, text = part.rpartition("=")
            by_name[name] = _threshold(text)
        else:
            whole = _threshold(part)
    unknown = sorted(set(by_name) - {str(label) for label in labels})
    lacking = [label for label in labels if str(label) not in by_name]
    if unknown or (whole is None and lacking):
        raise PlanError(
            "option-unknown",
            f"thresholds are stated for {listed(unknown)}"
            if unknown
            else f"no threshold is stated for {listed(lacking)}",
            where="threshold",
            known=listed(labels),
            fix="state one number for all labels, or one for each label",
        )
    return tuple(by_name.get(str(label), cast("float", whole)) for label in labels)


def _threshold(text: object) -> float:
    try:
        threshold = float(cast("Any", text))
    except (TypeError, ValueError, OverflowError):
        threshold = math.nan
    if math.isnan(threshold):
        raise PlanError(
            "option-unknown",
            f"{visible(repr(text))} is not a threshold",
            where="threshold",
            fix="state a number, or label=number",
        )
    return threshold
