# SPDX-License-Identifier: Apache-2.0
"""Reads label sets of one model with its groups, or of several models, from arrays or any table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError, RowsError, UnpairedRows
from assay.core.labels import Label, in_order
from assay.core.task import Counted, Request
from assay.core.text import listed, quoted
from assay.tally.batches import Column, open_batches, run_kernel
from assay.tally.by_group import MISSING, Grouped
from assay.tally.census import Census
from assay.tasks.multilabel.kernel import GROUP, MODEL, PREDICTED, SCORE, TRUTH, UNIT, Parts, count_batch
from assay.tasks.multilabel.roles import (
    Form,
    Layout,
    find_form,
    read_thresholds,
    to_matrix,
)
from assay.tasks.multilabel.tally import LabelSets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Batch: TypeAlias = Mapping[str, NDArray[Any]]

BLOCK: Final = 1 << 17


def read_sets(request: Request, models: Mapping[str, Mapping[str, object]] | None = None) -> Counted:
    """Read and count one model, or several on the same rows."""
    given = _flatten(request, models)
    layout, columns, arrays = (_lay_out_arrays if request.data is None else _lay_out_columns)(request, given)
    if models is not None and layout.labels is None:
        raise PlanError(
            "role-missing",
            "a comparison needs the labels to be declared",
            where="labels",
            fix="give labels=[...] (--labels)",
        )
    kernel = partial(count_batch, layout, tuple(request.group) if models is None else (), tuple(models or ()))
    if request.data is None:
        rows = _check_rows(arrays)
        parts = run_kernel(kernel, _slices(arrays, rows))
        census, notes = Census(read=rows, scored=rows), tuple[str, ...]()
        about: dict[str, object] = {"from": "the given columns", "columns": {}}
        where = "the given columns"
    else:
        with open_batches(request, columns) as batches:
            parts = batches.run(kernel, Parts)
            census, notes, where = batches.census, batches.notes, str(batches.table.where)
            about = {**batches.about, "columns": _shown_columns(request, given)}
    parts.faults.check(where, layout.labels)
    tally = parts.tally.as_stored()
    if layout.labels is None:
        notes = (*notes, f"labels are those that occur: {listed(tally.labels)}; declare them with labels=[...]")
    return Counted(
        tally=tally,
        census=census,
        groups=_ordered(parts.grouped, tally.labels),
        notes=(*notes, *_empty_notes(tally)),
        data=about,
    )


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


def _lay_out_arrays(
    request: Request, given: Mapping[str, object]
) -> tuple[Layout, dict[str, Column], dict[str, NDArray[Any]]]:
    """Arrays and lists as they are, cut into rows later."""
    options = request.options
    _check_index({**given, **_sides(request)})
    separator, stated = cast("str | None", options.get("separator")), cast("str | None", options.get("form"))
    forms: dict[str, Form] = {}
    arrays: dict[str, NDArray[Any]] = {}
    names: tuple[Label, ...] | None = None
    width = None
    for key, value in given.items():
        forms[key] = "matrix" if key.startswith(SCORE) else find_form(key, value, stated, separator)
        if forms[key] == "matrix":
            arrays[key], own = to_matrix(key, value)
            names = names or (own if key == TRUTH else None)
            width = _same_width(key, arrays[key].shape[1], width)
        else:
            arrays[key] = _objects(cast("Any", value))
    for name, column in _sides(request).items():
        arrays[name] = _objects(column)
    labels = _declared(options) or names or (None if width is None else tuple(range(width)))
    if labels is not None and width is not None and len(labels) != width:
        raise _wrong_labels(labels, width)
    return _layout(options, forms, labels, given), {}, arrays


def _lay_out_columns(
    request: Request, given: Mapping[str, object]
) -> tuple[Layout, dict[str, Column], dict[str, NDArray[Any]]]:
    """Columns of a table: one for each label, or one of lists or text."""
    options = request.options
    missing = cast("Any", options.get("missing", "error"))
    forms: dict[str, Form] = {}
    columns: dict[str, Column] = {}
    names: tuple[Label, ...] | None = None
    width = None
    for key, value in given.items():
        own = _column_names(key, value)
        if len(own) > 1 or key.startswith(SCORE):
            forms[key] = "columns"
            width = _same_width(key, len(own), width)
            names = names or (tuple(own) if key == TRUTH else None)
            columns |= {f"{key} {place}": Column(name, "number", missing) for place, name in enumerate(own)}
        else:
            forms[key] = "text" if options.get("separator") is not None else "sets"
            empty = cast("Any", "keep" if options.get("empty_is_set") else missing)
            columns[key] = Column(own[0], "label" if forms[key] == "text" else "any", empty)
    columns |= {UNIT: Column(request.unit, "label")} if request.unit is not None else {}
    columns |= {f"{GROUP}{name}": Column(column, "label", "keep") for name, column in request.group.items()}
    labels = _declared(options) or names
    if labels is not None and width is not None and len(labels) != width:
        raise _wrong_labels(labels, width)
    return _layout(options, forms, labels, given), columns, {}


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


def _sides(request: Request) -> dict[str, Any]:
    sides = {} if request.unit is None else {UNIT: request.unit}
    return sides | {f"{GROUP}{name}": column for name, column in request.group.items()}


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
    if isinstance(values, np.ndarray) and values.dtype.kind in "iub":
        return values
    items = values.to_list() if hasattr(values, "to_list") else list(values)
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _check_index(given: Mapping[str, object]) -> None:
    """Series and frames with the same rows in another order would be paired by position, so they are refused."""
    indexed = {role: value.index for role, value in given.items() if hasattr(value, "index") and hasattr(value, "iloc")}
    first = list(indexed.values())[:1]
    for role, index in indexed.items():
        if not index.equals(first[0]):
            raise UnpairedRows(
                "rows-unmatched",
                f"{role} has another index than {next(iter(indexed))}, so its rows are in another order",
                where=role,
                fix="sort both alike, or give them without an index: .to_numpy()",
            )


def _check_rows(arrays: Mapping[str, NDArray[Any]]) -> int:
    sizes = {role: len(array) for role, array in arrays.items()}
    if len(set(sizes.values())) > 1:
        sizes_text = ", ".join(f"{role} {size:,}" for role, size in sizes.items())
        raise UnpairedRows(
            "rows-unmatched",
            "the columns have different numbers of rows",
            found=sizes_text,
            fix="give columns of the same rows",
        )
    rows = next(iter(sizes.values()))
    if not rows:
        raise RowsError("no-rows", "there are no rows", fix="give at least one row")
    return rows


def _slices(arrays: Mapping[str, NDArray[Any]], rows: int) -> Iterator[Batch]:
    for start in range(0, rows, BLOCK):
        yield {role: array[start : start + BLOCK] for role, array in arrays.items()}


def _ordered(grouped: Grouped[LabelSets], labels: Sequence[Label]) -> dict[str, dict[Label, object]]:
    ordered: dict[str, dict[Label, object]] = {}
    for factor, levels in grouped.factors.items():
        if len({isinstance(level, str) for level in levels if level != MISSING}) > 1:
            raise RowsError(
                "mixed-types-in-column",
                f"the levels of group {quoted(factor)} are numbers and text",
                where=factor,
                found=listed(sorted(levels, key=str)),
                fix="write all levels alike",
            )
        known = [*in_order(level for level in levels if level != MISSING), *([MISSING] if MISSING in levels else [])]
        ordered[factor] = {level: levels[level].with_labels(labels).as_stored() for level in known}
    return ordered
