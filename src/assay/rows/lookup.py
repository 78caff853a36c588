# SPDX-License-Identifier: Apache-2.0
"""A number looked up for every row inside the engine that holds the rows: a join with a small table made there."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import narwhals.stable.v2 as nw

from assay.rows.scoreframes import Frame

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole: TypeAlias = NDArray[np.int64]

_KEY, _VALUE = "assay_key", "assay_value"


def looked_up(rows: Frame, key: str, name: str, keys: Whole, values: Whole) -> Frame:
    """The rows with a column `name`: the value that stands beside the whole number in `key`."""
    kind = rows.implementation
    if kind.is_duckdb():
        return _in_duckdb(rows, key, name, keys, values)
    return rows.join(_small(rows, keys, values), left_on=key, right_on=_KEY, how="inner").rename({_VALUE: name})


def _small(rows: Frame, keys: Whole, values: Whole) -> Frame:
    """The table of keys and values, of the engine of the rows."""
    kind, columns = rows.implementation, {_KEY: keys, _VALUE: values}
    if kind.is_pyspark() or kind.is_pyspark_connect():
        import pyarrow as pa

        made = rows.to_native().sparkSession.createDataFrame(pa.table(columns))
        return nw.from_native(made.hint("broadcast"))
    if isinstance(rows, nw.DataFrame):
        return nw.from_dict(columns, backend=kind)
    if kind.is_polars():
        return nw.from_dict(columns, backend=kind).lazy()
    # Dask makes tables of its own from frames of pandas, Ibis from those of Arrow.
    return nw.from_dict(columns, backend="pandas" if kind.is_dask() else "pyarrow").lazy(kind)


def _in_duckdb(rows: Frame, key: str, name: str, keys: Whole, values: Whole) -> Frame:
    """By a query on the relation itself, whose connection is the user's."""
    listed = [f"unnest({one.tolist()}) AS {own}" for one, own in ((keys, _KEY), (values, _VALUE))]
    query = f"SELECT r.*, {_VALUE} AS {name} FROM r JOIN (SELECT {', '.join(listed)}) ON {key} = {_KEY}"  # noqa: S608  whole numbers and names of ours
    return nw.from_native(rows.to_native().query("r", query))
