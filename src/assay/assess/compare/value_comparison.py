# SPDX-License-Identifier: Apache-2.0
"""Values of a measure, one a model and item, fold, repeat or data set: read from columns or tables, then compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final, cast

from assay.assess.compare.comparison import Comparison
from assay.assess.compare.comparison_requirements import PAIR, demand_two
from assay.assess.compare.model_columns import Given, by_model, is_table
from assay.assess.compare.questions.request import Asked
from assay.assess.environment import environment
from assay.assess.provenance import origin
from assay.core.errors import PlanError, RowsError, UnpairedRows, unknown_choice
from assay.core.labels import Label
from assay.core.text import counted, listed
from assay.inference.decision_words import UNITS
from assay.rows.joins.matched_models import align_rows
from assay.rows.joins.mismatch_errors import ids_told
from assay.rows.joins.models import digest_rows
from assay.rows.label_types import label_of
from assay.rows.source import refuse_limits
from assay.tally.census import Census
from assay.tally.real_values import Blocks, Exact, Groups, finite
from assay.tally.value_tables import ValueTable, read_values

VALUE, MODEL, SUBJECT = "values", "model", "subject"
OF_HALVES: Final = ("5x2", "halves")


@dataclass(frozen=True, slots=True, kw_only=True)
class Valued(Given):
    """The values as they were given, and what was said about where they come from."""

    values: object
    data: object = None
    model: object = None
    per: str = "item"
    independent: bool = False
    folds: int | None = None
    test_over_train: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """Columns by model, all in the order of the first."""

    columns: dict[str, object]
    subject: Sequence[object] | None = None
    where: str = "the given values"
    files: Mapping[str, str] = field(default_factory=dict)
    proof: str | None = None
    matched: str = ""


def compare_read(given: Valued, asked: Asked) -> Comparison:
    """Compare values by the test that their origin asks for."""
    unit = _unit(given.per)
    given = replace(given, per=unit)
    table = _read(given)
    demand_two(tuple(table.columns))
    columns = _by_subject(table.columns, table.subject)
    ratio: object = None
    tally: Blocks | Groups
    if given.independent:
        tally = Groups.of(columns)
        rows = tally.n
    else:
        tally = Blocks.of(columns, unit="half" if unit in OF_HALVES else unit, lower_is_better=asked.lower_is_better)
        rows = tally.j
        if rows < PAIR:
            what = f"there is only {counted(rows, unit)}"
            raise PlanError("comparison-needs", what, where=table.where, fix=f"give the values of two {unit}s at least")
        ratio = given.test_over_train if given.folds is None else _by_folds(given.folds, rows)
    how = "none" if given.independent else f"by {unit}"
    return Comparison(
        {"values": tally}, asked, models=tally.models, census=Census(read=rows, scored=rows),
        data={"from": table.where, "pairing": f"{how}{table.matched}", "files": dict(table.files), "per": unit,
              "independent": given.independent, "test_over_train": None if ratio is None else str(ratio)},
        proof=table.proof, found_in=environment(given.limits),
    )  # fmt: skip


def _unit(per: str) -> str:
    unit = str(per).replace("-", " ").replace("_", " ")
    if unit in UNITS:
        return unit
    raise unknown_choice(unit, UNITS, f"per={per!r} is not a unit of values", fix="say what a value belongs to")


def _read(given: Valued) -> Read:
    """Columns of all models: from memory, of one table, one below the other, or of one table a model."""
    if given.pairing == "position" and given.id is not None:
        what = "rows are paired by position, so their ids would not be read"
        fix = "leave out id, or leave out pairing='position' (--by-position)"
        raise PlanError("role-clash", what, where="id", fix=fix)
    if given.data is None:
        refuse_limits(None, given.engine, given.limits)
        if given.id is None and (isinstance(given.values, Mapping) or given.model is None):
            columns = by_model(given.values, VALUE)
            return Read(columns=columns, subject=cast("Sequence[object] | None", given.subject))
        given = _in_one_table(given)
    data = given.data
    if given.model is not None:
        return _side_by_side(given, _split_models(given), _one_name(given.values, VALUE))
    if isinstance(data, Mapping) and not is_table(data):
        return _side_by_side(given, _own_tables(given, data), _one_name(given.values, VALUE))
    by = by_model(given.values, VALUE)
    table = _table(data, [str(column) for column in by.values()], given)
    keys = _keys(table, given)
    if keys is not None:
        with _telling(given):
            align_rows({"the table": {"id": keys}}, [table.where], keyed=True)
    where, files = origin(table)
    columns = {name: table.numbers[str(column)] for name, column in by.items()}
    subject = None if given.subject is None else table.names[str(given.subject)]
    proof = None if keys is None else digest_rows(keys, [None] * len(keys))
    return Read(columns=columns, subject=subject, where=where, files=files, proof=proof)


def _in_one_table(given: Valued) -> Valued:
    """Columns in memory as those of one table: one a model, or one beside the names of the models."""
    if isinstance(given.values, Mapping) or given.model is None:
        columns = {f"{VALUE} {name}": column for name, column in by_model(given.values, VALUE).items()}
        named = {name: f"{VALUE} {name}" for name in by_model(given.values, VALUE)}
        given = replace(given, values=named, model=None)
    else:
        columns = {VALUE: given.values, MODEL: given.model}
        given = replace(given, values=VALUE, model=MODEL)
    own = {role: column for role in ("id", SUBJECT) if (column := getattr(given, role)) is not None}
    table = columns | own
    sizes = {name: len(cast("Sequence[object]", column)) for name, column in table.items()}
    if len(set(sizes.values())) > 1:
        what = "the columns of values do not have the same number of rows"
        shown = ", ".join(f"{name} {n:,}" for name, n in sizes.items())
        raise UnpairedRows("rows-unmatched", what, found=shown, fix="give every column a value in every row")
    return replace(given, data=table, **cast("Any", {role: role for role in own}))


def _split_models(given: Valued) -> dict[str, ValueTable]:
    """One row a value: the names of the models stand in a column of their own."""
    value, model = _one_name(given.values, VALUE), _one_name(given.model, MODEL)
    table = _table(given.data, [value], given, more=(model,))
    by: dict[Label, list[int]] = {}
    for i, name in enumerate(table.names[model]):
        if name is None:
            fix = "say in every row which model the value is of"
            raise RowsError("missing-label", f"row {i + 1:,} names no model", where=table.where, fix=fix)
        by.setdefault(name, []).append(i)
    if _keys(table, given) is None and not given.independent:
        what = f"the values stand one below the other, and the column that names the {given.per} is not stated"
        fix = "state id=COLUMN (--id); independent=True (--independent) if the models were run on different items"
        raise PlanError("comparison-needs", what, where=table.where, fix=fix)
    return {str(name): _some(table, rows) for name, rows in by.items()}


def _own_tables(given: Valued, data: Mapping[str, object]) -> dict[str, ValueTable]:
    """One table a model."""
    value = _one_name(given.values, VALUE)
    own = {str(name): replace(given, reading=given.reading_of(str(name))) for name in data}
    tables = {str(name): _table(table, [value], own[str(name)]) for name, table in data.items()}
    if given.id is None and not given.independent and given.pairing != "position":
        what = f"the models come in tables of their own, and the column that names the {given.per} is not stated"
        fix = f"state id=COLUMN (--id), or pairing='position' (--by-position) if every {given.per} has the same row"
        raise PlanError("comparison-needs", what, fix=fix)
    return tables


def _refuse_matching(given: Valued) -> None:
    """Refuse ids and units where the models were run on different items."""
    if given.id is not None or given.subject is not None:
        what = "the models were run on different items, so no item is matched"
        fix = "leave it out, or leave out independent=True (--independent)"
        raise PlanError("role-clash", what, where="id" if given.id is not None else SUBJECT, fix=fix)


def _side_by_side(given: Valued, parts: Mapping[str, ValueTable], value: str) -> Read:
    """The values of all models in the order of the first, matched by id or by position."""
    demand_two(tuple(parts))
    origins = [origin(table) for table in parts.values()]
    files = {name: digest for _, own_files in origins for name, digest in own_files.items()}
    where = "; ".join(dict.fromkeys(name for name, _ in origins))
    if given.independent:
        _refuse_matching(given)
        columns: dict[str, object] = {name: list(table.numbers[value]) for name, table in parts.items()}
        return Read(columns=columns, where=where, files=files)
    keys = {name: _keys(table, given) or [] for name, table in parts.items()}
    if given.pairing == "position" and given.model is None:  # in tables of their own
        keys = {name: cast("list[Label]", list(range(table.rows))) for name, table in parts.items()}
    tables: dict[str, dict[str, object]] = {name: {"id": keys[name]} for name in parts}
    if given.subject is not None:
        for name, table in parts.items():
            tables[name][SUBJECT] = table.names[str(given.subject)]
    with _telling(given):
        orders = align_rows(tables, [table.where for table in parts.values()], keyed=given.id is not None)
    first = next(iter(parts))
    placed: dict[str, object] = {
        name: [table.numbers[value][i] for i in order.tolist()]
        for (name, table), order in zip(parts.items(), orders, strict=True)
    }
    subject = cast("Sequence[object] | None", tables[first].get(SUBJECT))
    matched = ", matched by id" if given.id is not None else ", in the order of the rows"
    proof = digest_rows(keys[first], [None] * len(keys[first]))
    return Read(columns=placed, subject=subject, where=where, files=files, proof=proof, matched=matched)


def _telling(given: Valued) -> Any:  # noqa: ANN401  a context manager
    """Items may be persons, so their ids are hashed in errors; folds and data sets are told as they are."""
    return ids_told(plainly=given.per != "item" or given.reading.show_ids)


def _table(data: object, numbers: Sequence[str], given: Valued, *, more: Sequence[str] = ()) -> ValueTable:
    names = [*more, *_id_columns(given)]
    names += [] if given.subject is None else [_one_name(given.subject, SUBJECT)]
    return read_values(
        data, numbers=numbers, names=list(dict.fromkeys(names)), reading=given.reading,
        engine=given.engine, limits=given.limits,
    )  # fmt: skip


def _id_columns(given: Valued) -> list[str]:
    if given.id is None:
        return []
    return [given.id] if isinstance(given.id, str) else [str(one) for one in cast("Sequence[object]", given.id)]


def _keys(table: ValueTable, given: Valued) -> list[Label] | None:
    """What a row is of: one column, or several together."""
    columns = _id_columns(given)
    if not columns:
        return None
    parts = [table.names[name] for name in columns]
    lost = [i for i, row in enumerate(zip(*parts, strict=True)) if None in row]
    if lost:
        what = f"{counted(len(lost), 'row')} {'has' if len(lost) == 1 else 'have'} no {listed(columns)}"
        fix = f"say in every row which {given.per} the value is of"
        raise RowsError("duplicate-id", what, where=table.where, found=f"first in row {lost[0] + 1:,}", fix=fix)
    if len(parts) == 1:
        return cast("list[Label]", parts[0])
    return [", ".join(f"{n} {x}" for n, x in zip(columns, row, strict=True)) for row in zip(*parts, strict=True)]


def _some(table: ValueTable, rows: Sequence[int]) -> ValueTable:
    return replace(
        table,
        numbers={name: [column[i] for i in rows] for name, column in table.numbers.items()},
        names={name: [column[i] for i in rows] for name, column in table.names.items()},
    )


def _one_name(given: object, role: str) -> str:
    if isinstance(given, str):
        return given
    what = f"{role} is a {type(given).__name__}, but data= is given"
    raise PlanError("role-clash", what, where=role, fix=f"with data=, name a column: {role}='...'")


def _by_subject(columns: dict[str, object], subject: object) -> dict[str, object]:
    """Several values of one subject are one value, their mean: subjects are independent, their items are not."""
    if subject is None:
        return columns
    who = [label_of(subject_label, where=SUBJECT) for subject_label in cast("Sequence[object]", subject)]
    out: dict[str, object] = {}
    for model, column in columns.items():
        exact = Exact.of(finite(column, model)).fractions()
        if len(exact) != len(who):
            what = f"there are {counted(len(who), 'subject')} for {counted(len(exact), 'value')} of {model}"
            raise UnpairedRows("rows-unmatched", what, where=SUBJECT, fix="give the subject of every value")
        by: dict[Label | None, list[Fraction]] = {}
        for subject_label, value in zip(who, exact, strict=True):
            by.setdefault(subject_label, []).append(value)
        out[model] = [sum(own, Fraction(0)) / len(own) for own in by.values()]
    return out


def _by_folds(folds: int, values: int) -> Fraction:
    """The size of a test part over its training part; every round of folds must be whole."""
    if not isinstance(folds, int) or isinstance(folds, bool) or folds < PAIR:
        what = f"folds={folds!r} is not a number of folds"
        raise PlanError("value-out-of-domain", what, known="2, 3, ...", fix="give k")
    if values % folds:
        raise PlanError(
            "comparison-needs",
            f"{counted(folds, 'fold')} are stated, and there are {values:,} values a model: a round is not complete",
            known=f"{folds:,}, {2 * folds:,}, {3 * folds:,}, ... values a model",
            fix="give the value of every fold of every round; for resamples that are not folds state"
            " test_over_train=... (--test-over-train)",
        )
    return Fraction(1, folds - 1)
