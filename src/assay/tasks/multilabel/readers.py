# SPDX-License-Identifier: Apache-2.0
"""Reads label sets of one model with its groups, or of several models, from arrays or any table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label
from assay.core.task import Counted, Request
from assay.core.text import listed, quoted
from assay.rows.source import check_same_index, check_same_length
from assay.rows.tables import Table
from assay.tally.batches import Batches, Column, open_batches
from assay.tally.by_group import MISSING, Grouped
from assay.tasks.multilabel.kernel import PREDICTED, SCORE, TRUTH, SetParts, count_batch
from assay.tasks.multilabel.roles import Form, Layout, check_faults, find_form, read_thresholds, to_matrix
from assay.tasks.multilabel.tally import LabelSets
from assay.tasks.unit_inputs import MODEL, ordered_levels, side_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK: Final = 1 << 17


def read_sets(request: Request, models: Mapping[str, Mapping[str, object]] | None = None) -> Counted:
    """Read and count one model, or several on the same rows."""
    given = _flatten(request, models)
    layout, columns = _lay_out(request, given)
    if models is not None and layout.labels is None:
        raise PlanError(
            "role-missing",
            "a comparison needs the labels to be declared",
            where="labels",
            fix="give labels=[...] (--labels)",
        )
    kernel = partial(count_batch, layout, tuple(request.group) if models is None else (), tuple(models or ()))
    about: dict[str, object] = {"columns": {} if request.data is None else _shown_columns(request, given)}
    with _open_arrays(columns) if request.data is None else open_batches(request, columns) as batches:
        parts = batches.run(kernel, SetParts)
        check_faults(parts.faults, str(batches.table.where), layout.labels)
        tally, notes = parts.tally.as_stored(), batches.notes
        if layout.labels is None:
            notes = (*notes, f"labels are those that occur: {listed(tally.labels)}; declare them with labels=[...]")
        return Counted(
            tally=tally,
            census=batches.census,
            groups=_ordered(parts.grouped, tally.labels),
            notes=(*notes, *_empty_notes(tally)),
            data={**batches.about, **about},
        )


def _open_arrays(columns: Mapping[str, Column]) -> Batches:
    """Arrays of rows, cut into batches as they are."""
    arrays = {role: cast("NDArray[Any]", column.given) for role, column in columns.items()}
    check_same_length({role: len(array) for role, array in arrays.items()})
    where, rows = "the given columns", len(next(iter(arrays.values())))

    def chunks(_unit: str | None) -> Iterator[dict[str, NDArray[Any]]]:
        for start in range(0, rows, BLOCK):
            yield {role: array[start : start + BLOCK] for role, array in arrays.items()}

    return Batches(table=Table(columns={}, where=where, chunks=chunks, rows=rows, about={"from": where}))


def _shown_columns(request: Request, given: Mapping[str, object]) -> dict[str, str]:
    """The columns of each role in one text."""
    columns = {key: ", ".join(_column_names(key, value)) for key, value in given.items()}
    sides = {} if request.unit is None else {"unit": str(request.unit)}
    return columns | sides | {name: str(column) for name, column in request.group.items()}


def _empty_notes(tally: Any) -> Iterator[str]:  # noqa: ANN401  of one model or several
    sets = tally if isinstance(tally, LabelSets) else next(iter(tally.tallies.values()))
    empty = sets.rows_empty
    if empty["both"] or empty["truth"]:
        yield (
            f"empty sets: {empty['truth']:,} of {sets.rows:,} rows have no true label, {empty['predicted']:,} no "
            f"predicted one, {empty['both']:,} neither; they are counted apart where a value needs a label"
        )


def _flatten(request: Request, models: Mapping[str, Mapping[str, object]] | None) -> dict[str, object]:
    """What was given by role, or by role and model."""
    given = {role: value for role, value in request.given.items() if models is None or role == TRUTH}
    for model, own in (models or {}).items():
        given |= {f"{role}{MODEL}{model}": value for role, value in own.items() if value is not None}
    ends = [""] if models is None else [f"{MODEL}{model}" for model in models]
    lacking = [TRUTH] if given.get(TRUTH) is None else []
    lacking += [
        f"{PREDICTED}{end}" for end in ends if f"{PREDICTED}{end}" not in given and f"{SCORE}{end}" not in given
    ]
    if lacking:
        raise PlanError(
            "role-missing",
            f"no {lacking[0]} is given",
            where=lacking[0],
            known="truth and predicted hold label sets; score with threshold may stand for predicted",
            fix=f"give {lacking[0]}=... (--{lacking[0]})",
        )
    return given


def _lay_out(request: Request, given: Mapping[str, object]) -> tuple[Layout, dict[str, Column]]:
    """How each role holds label sets, and the columns or arrays to read."""
    options, arranged = request.options, _arrange_array if request.data is None else _arrange_columns
    forms: dict[str, Form] = {}
    columns: dict[str, Column] = {}
    names: tuple[Label, ...] | None = None
    width = None
    for key, value in given.items():
        forms[key], own, size, parts = arranged(key, value, options)
        columns |= parts
        if size is not None:
            width = _same_width(key, size, width)
            names = names or (own if key == TRUTH else None)
    sides = side_columns(request)
    if request.data is None:
        check_same_index({**given, **{name: column.given for name, column in sides.items()}})
        sides = {name: Column(_objects(column.given)) for name, column in sides.items()}
        names = names or (None if width is None else tuple(range(width)))
    labels = _declared(options) or names
    if labels is not None and width is not None and len(labels) != width:
        raise _wrong_labels(labels, width)
    return _layout(options, forms, labels, given), columns | sides


Arranged: TypeAlias = "tuple[Form, tuple[Label, ...] | None, int | None, dict[str, Column]]"
"""The form of a role, the names of its labels and how many there are where it has a column for each, and columns."""


def _arrange_array(key: str, value: object, options: Mapping[str, Any]) -> Arranged:
    """An array or list as it is, cut into rows later."""
    form = "matrix" if key.startswith(SCORE) else find_form(key, value, options.get("form"), options.get("separator"))
    if form != "matrix":
        return form, None, None, {key: Column(_objects(value))}
    matrix, own = to_matrix(key, value)
    return form, own, matrix.shape[1], {key: Column(matrix)}


def _arrange_columns(key: str, value: object, options: Mapping[str, Any]) -> Arranged:
    """Columns of a table: one for each label, or one of lists or text."""
    own, missing = _column_names(key, value), cast("Any", options.get("missing", "error"))
    if len(own) > 1 or key.startswith(SCORE):
        columns = {f"{key} {place}": Column(name, "number", missing) for place, name in enumerate(own)}
        return "columns", tuple(own), len(own), columns
    form: Form = "text" if options.get("separator") is not None else "sets"
    empty = cast("Any", "keep" if options.get("empty_is_set") else missing)
    return form, None, None, {key: Column(own[0], "label" if form == "text" else "any", empty)}


def _layout(
    options: Mapping[str, Any], forms: Mapping[str, Form], labels: tuple[Label, ...] | None, given: Mapping[str, object]
) -> Layout:
    scored = [key for key in given if key.startswith(SCORE)]
    if scored and labels is None:
        raise PlanError(
            "role-missing", "scores need the labels to be declared", where="labels", fix="give labels=[...] (--labels)"
        )
    thresholds = read_thresholds(options.get("threshold"), labels or ())
    made = [key for key in scored if PREDICTED + key.removeprefix(SCORE) not in given]
    if made and thresholds is None:
        raise PlanError(
            "role-missing",
            "predicted label sets are to be made of scores, and no threshold is stated",
            where="threshold",
            fix="state it: threshold=0.5, or one by label (--threshold LABEL=0.5); or give predicted=...",
        )
    return Layout(
        forms=dict(forms),
        labels=labels,
        separator=options.get("separator"),
        empty_is_set=bool(options.get("empty_is_set")),
        thresholds=thresholds,
    )


def _declared(options: Mapping[str, Any]) -> tuple[Label, ...] | None:
    labels = tuple(options.get("labels") or ())
    if len(set(labels)) < len(labels):
        twice = sorted({str(label) for label in labels if labels.count(label) > 1})
        raise PlanError(
            "option-unknown", f"labels are declared twice: {listed(twice)}", where="labels", fix="once each"
        )
    return labels or None


def _column_names(role: str, value: object) -> list[str]:
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise PlanError(
            "role-clash",
            f"data is given, but {role} does not name its columns",
            where=role,
            found=type(value).__name__,
            fix=f'give {role}="COLUMN", or a list of columns with one for each label',
        )
    return [name.strip() for name in names]


def _same_width(role: str, own: int, width: int | None) -> int:
    if width is not None and own != width:
        raise RowsError(
            "matrix-shape",
            f"{role} has {own:,} columns, and others have {width:,}",
            where=role,
            fix="give one column for each label, in the same order everywhere",
        )
    return own


def _wrong_labels(labels: Sequence[Label], width: int) -> PlanError:
    return PlanError(
        "matrix-shape",
        f"{len(labels)} labels are declared, and there are {width} columns",
        where="labels",
        known=listed(labels),
        fix="declare one label for each column, in the order of the columns",
    )


def _objects(values: Any) -> NDArray[Any]:  # noqa: ANN401
    """Values as Python objects, None for NaN; whole numbers as they are."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iub":
        return values
    items = values.to_list() if hasattr(values, "to_list") else list(values)
    array = np.empty(len(items), dtype=object)
    array[:] = [None if isinstance(item, float) and item != item else item for item in items]  # noqa: PLR0124  NaN
    return array


def _ordered(grouped: Grouped[LabelSets], labels: Sequence[Label]) -> dict[str, dict[Label, object]]:
    for factor, levels in grouped.factors.items():
        if len({isinstance(level, str) for level in levels if level != MISSING}) > 1:
            raise RowsError(
                "mixed-types-in-column",
                f"the levels of group {quoted(factor)} are numbers and text",
                where=factor,
                found=listed(sorted(levels, key=str)),
                fix="write all levels alike",
            )
    return ordered_levels(grouped.map(lambda tally: tally.with_labels(labels).as_stored()))
