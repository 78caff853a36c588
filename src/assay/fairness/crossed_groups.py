# SPDX-License-Identifier: Apache-2.0
"""Groups crossed with each other: each combination of their levels is a level of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Final, cast

import numpy as np

from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label
from assay.core.text import listed, quoted
from assay.fairness.settings import CROSSED, FairnessSettings, join_levels, split_crossed
from assay.inference.estimates import Estimates
from assay.rows.columns import Coded, coded
from assay.rows.source import Crossed, FrameSource, Source
from assay.tally.by_group import MISSING, free_name

FEWEST: Final = 2
MOST_COMBINATIONS: Final = 400
"""Combinations of levels up to which those without rows are listed."""


def add_crossed(group: Mapping[str, object], cross: object) -> dict[str, object]:
    """Groups by name with the crossed ones: `True` for all, "sex:age", or several of them.

    >>> sorted(add_crossed({"sex": "sex", "age": "age"}, "sex:age"))
    ['age', 'sex', 'sex:age']
    """
    if cross is None or cross is False:
        return dict(group)
    several = [tuple(group)] if cross is True else [cross] if isinstance(cross, str) else cross
    if not isinstance(several, (list, tuple)):
        raise _refuse(cross, group)
    crossed: dict[str, object] = {}
    for names in several:
        parts = tuple(names.split(CROSSED)) if isinstance(names, str) else names
        known = isinstance(parts, (list, tuple)) and all(isinstance(part, str) and part in group for part in parts)
        if not known or len(set(parts)) < FEWEST or len(set(parts)) < len(parts):
            raise _refuse(names, group)
        crossed[CROSSED.join(parts)] = Crossed(tuple(parts))
    return {**group, **crossed}


def with_crossed(settings: FairnessSettings, groups: Mapping[str, Mapping[Label, Estimates]]) -> FairnessSettings:
    """Settings with what crossed groups tell: combinations without rows, and each factor within levels of the other."""
    declared, conditions = dict(settings.declared), {name: dict(own) for name, own in settings.conditions.items()}
    for name, levels in groups.items():
        parts = name.split(CROSSED)
        if len(parts) < FEWEST or not all(part in groups for part in parts):
            continue
        if math.prod(len(groups[part]) for part in parts) <= MOST_COMBINATIONS:
            declared.setdefault(name, [join_levels(each) for each in product(*(groups[part] for part in parts))])
        if len(parts) == FEWEST:
            strata = split_crossed(levels)
            conditions.setdefault(parts[0], {}).setdefault(parts[1], cast("Any", strata))
            swapped: dict[Label, dict[Label, Estimates]] = {}
            for other, own in strata.items():
                for level, estimates in own.items():
                    swapped.setdefault(level, {})[other] = estimates
            conditions.setdefault(parts[1], {}).setdefault(parts[0], swapped)
    return replace(settings, declared=declared, conditions=cast("Any", conditions))


def _refuse(cross: object, group: Mapping[str, object]) -> PlanError:
    return PlanError(
        "option-unknown",
        f"{quoted(cross)} does not name two or more groups to cross",
        where="cross",
        known=listed(group) or "none: no group is given",
        fix='give the groups, and cross them by name: group=["sex", "age"], cross="sex:age" (--cross sex:age)',
    )


def cross_source(source: Source, crossed: Mapping[str, Crossed]) -> Source:
    """The source with a group for each crossing, made where the rows are."""
    for place, (name, cross) in enumerate(crossed.items()):
        if isinstance(source, FrameSource):
            source = _cross_frame(source, name, cross, f"assay_crossed_{place}")
        else:
            columns = [source.group[factor] for factor in cross.factors]
            source = replace(source, group={**source.group, name: cross_columns(columns, name)})
    return source


def cross_columns(columns: Sequence[Coded], name: str) -> Coded:
    """Columns in memory as one, each level the levels of all of them joined."""
    key, levels = np.zeros(len(columns[0]), dtype=np.int64), list[list[Label]]()
    for column in columns:
        values, codes = np.unique(column.codes, return_inverse=True)
        labels = [column.label(int(value) - column.offset) for value in values]
        if column.missing is not None:
            codes = np.where(column.missing, len(labels), codes)
        levels.append([*labels, free_name(MISSING, labels)])
        key = key * len(levels[-1]) + codes
    values, codes = np.unique(key, return_inverse=True)
    places = np.unravel_index(values, tuple(map(len, levels)))
    joined = [
        join_levels([levels[i][place] for i, place in enumerate(each)]) for each in zip(*map(list, places), strict=True)
    ]
    return Coded(role=name, codes=codes.astype(np.int64), offset=0, span=len(joined), labels=tuple(joined))


def _cross_frame(source: FrameSource, name: str, cross: Crossed, column: str) -> FrameSource:
    """The engine joins the levels as text; kinds that engines write differently are refused."""
    import narwhals.stable.v2 as nw

    schema = source.frame.collect_schema()
    parts = []
    for factor in cross.factors:
        own = source.group[factor]
        kind, text = schema[own], nw.col(own).cast(nw.String)
        if kind == nw.Boolean:
            text = nw.when(nw.col(own)).then(nw.lit("True")).otherwise(
                nw.when(~nw.col(own)).then(nw.lit("False")).otherwise(nw.lit(None, nw.String))
            )  # fmt: skip
        elif not (kind.is_integer() or isinstance(kind, (nw.String, nw.Categorical, nw.Enum, nw.Object))):
            raise RowsError(
                "column-type",
                f"{source.shown(own)} is {kind}, and crossed groups are joined as text",
                where=source.where,
                known="text, whole numbers, booleans, categories",
                fix="turn the column into text or whole numbers",
            )
        escaped = text.str.replace_all("\\", "\\\\", literal=True).str.replace_all(
            CROSSED, f"\\{CROSSED}", literal=True
        )
        parts.append(escaped.fill_null(nw.lit(MISSING)))
    joined = nw.concat_str(parts, separator=CROSSED).alias(column)
    names = {**source.names, column: name}
    return replace(source, frame=source.frame.with_columns(joined), group={**source.group, name: column}, names=names)


def cross_inputs(group: Mapping[str, object], data: object) -> tuple[dict[str, object], object]:
    """The same for a task that reads columns itself: crossed columns beside the others, in memory only."""
    crossed = {name: column for name, column in group.items() if isinstance(column, Crossed)}
    plain = {name: column for name, column in group.items() if name not in crossed}
    for name, cross in crossed.items():
        columns = [_column(plain[factor], data, factor) for factor in cross.factors]
        if len({len(column) for column in columns}) > 1:
            raise RowsError(
                "rows-unmatched", "crossed groups differ in length", where=name, fix="give all rows of each"
            )
        joined = cross_columns(columns, name)
        levels = np.array(joined.labels, dtype=object)[joined.codes]
        if not isinstance(plain[cross.factors[0]], str):
            plain[name] = levels
        elif isinstance(data, Mapping):
            data, plain[name] = {**data, name: levels}, name
        else:
            import narwhals.stable.v2 as nw

            frame: Any = nw.from_native(cast("Any", data), eager_only=True)
            series = nw.new_series(name, levels.tolist(), nw.String, backend=frame.implementation)
            data, plain[name] = frame.with_columns(series).to_native(), name
    return plain, data


def _column(given: object, data: object, factor: str) -> Coded:
    if isinstance(given, str) and data is not None and not isinstance(data, (str, list)):
        try:
            given = cast("Any", data)[given]
        except (KeyError, IndexError, TypeError, ValueError):
            given = None
    if isinstance(given, str) or given is None:
        raise PlanError(
            "option-unknown",
            "groups of this task are crossed in memory only",
            where="cross",
            found=f"group {quoted(factor)}",
            fix="give the rows as a frame or as arrays, or add a column that holds both levels",
        )
    return coded(given, factor)
