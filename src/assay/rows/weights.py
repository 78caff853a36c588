# SPDX-License-Identifier: Apache-2.0
"""Row weights: the quantum they are multiples of, and the check that every weight can be used."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from assay.core.arrays import quantum_exponent
from assay.core.errors import OutOfRange, not_numbers
from assay.core.text import visible
from assay.rows.row_positions import places
from assay.rows.source import FrameSource, Source, first_rows

if TYPE_CHECKING:
    from assay.core.labels import Label

NUMBER: Final = r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"


def with_quantum(source: Source, stated: float | None = None) -> Source:
    """The source with the exponent of its weight quantum, taken from the largest weight unless stated."""
    if isinstance(source, FrameSource):
        largest = _largest_in_frame(source)
    else:
        largest = None if source.weight is None or not len(source.weight) else float(source.weight.max())
    return source if largest is None else replace(source, quantum=quantum_exponent(largest, stated))


def weight_number(source: FrameSource) -> Any:  # noqa: ANN401  a Narwhals expression
    """The weight as a double; missing where a text is not a number."""
    import narwhals.stable.v2 as nw

    name = cast("str", source.weight)
    kind, given = source.frame.collect_schema()[name], nw.col(name)
    if kind.is_numeric() or kind == nw.Boolean:
        return given.cast(nw.Float64)
    if kind != nw.String:
        what = f"{source.shown(name)} is {kind}, and weights are numbers"
        raise not_numbers(source.where, what, "name a column of numbers")
    mark = "." if source.opened is None else source.opened.decimal
    text = given if mark == "." else given.str.replace_all(mark, ".", literal=True)
    return nw.when(text.str.contains(NUMBER)).then(text).cast(nw.Float64)


def is_fit(weight: Any) -> Any:  # noqa: ANN401  Narwhals expressions
    """Whether a double is a weight: finite and not negative.

    DuckDB answers comparisons from the statistics of a file, which leave out NaN; it does not do so for is_finite.
    """
    return weight.is_finite() & (weight >= 0.0)


def refuse_unfit(source: FrameSource) -> None:
    """Raise the error of a weight that is missing, not a number, not finite or negative, if there is one."""
    import narwhals.stable.v2 as nw

    from assay.rows.engines.score_expressions import fetched

    name = cast("str", source.weight)
    rows = source.frame.select(given=nw.col(name), w=weight_number(source))
    flagged = rows.with_columns(unfit=nw.when(is_fit(nw.col("w"))).then(nw.lit(0)).otherwise(nw.lit(1)))
    for value, weight in fetched(source, flagged.filter(nw.col("unfit") == 1).select("given", "w").head(1)):
        if isinstance(value, str) and (weight is None or weight != weight):  # noqa: PLR0124  NaN differs from itself
            raise _unfit("column-not-numeric", "not a number", value, source)
        if isinstance(weight, float) and -math.inf < weight < 0:
            raise _unfit("weight-negative", "below zero", value, source)
        raise _unfit("weight-not-finite", "missing, NaN or infinite", value, source)


def _unfit(code: str, what: str, value: object, source: FrameSource) -> OutOfRange:
    name = cast("str", source.weight)
    rows = first_rows(source, name, cast("Label | None", value))
    first = f", first {places(rows[:1])}" if rows else ""
    return OutOfRange(
        code,
        f"a weight is {what}",
        where=f"{source.where}, {source.shown(name)}",
        found=visible("no value" if value is None else value) + first,
        fix="correct the weights, or leave the rows out before assessing",
    )


def _largest_in_frame(source: FrameSource) -> float | None:
    """The largest weight, or None without rows; an unfit one is an error, as far as the largest shows it."""
    import narwhals.stable.v2 as nw

    from assay.rows.engines.score_expressions import fetched

    rows = source.frame.select(w=weight_number(source))
    largest = cast("float | None", fetched(source, rows.select(nw.col("w").max()))[0][0])
    if largest is not None and 0 < largest < math.inf:
        return float(largest)
    refuse_unfit(source)
    return None if largest is None else float(largest)
