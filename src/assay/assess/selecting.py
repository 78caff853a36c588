# SPDX-License-Identifier: Apache-2.0
"""Which table or query of a database holds which model: one for all of them, or one a model by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from assay.core.errors import PlanError
from assay.core.text import listed, nearest
from assay.rows.listing import are_paths
from assay.rows.reading import Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """The data, how they are read, and how each model's own table is."""

    data: object
    reading: Reading | None
    readings: Mapping[str, Reading] = field(default_factory=dict)

    def told(self) -> dict[str, object]:
        """As in a Record: the table or query of all models, or of each by name."""
        out: dict[str, object] = {}
        for word in ("table", "query"):
            own = {model: text for model, one in self.readings.items() if (text := getattr(one, word)) is not None}
            if (found := own or getattr(self.reading, word, None)) is not None:
                out |= {word: found}
        every = next(iter(self.readings.values()), self.reading)  # the truth is one for all
        return out | {
            word: text for word in ("truth_table", "truth_query") if (text := getattr(every, word, None)) is not None
        }


def selected_by(data: object, reading: Reading) -> Selected:
    """Return the same as `selected`, for tables and queries that `reading` names."""
    plain = replace(reading, table=None, query=None, tables=None, queries=None)
    return selected(data, plain, reading.tables or reading.table, reading.queries or reading.query)


def selected(data: object, reading: Reading | None, table: object, query: object) -> Selected:
    """What was said about tables and queries, by model where it was said so.

    >>> found = selected("results.duckdb", None, {"old": "preds_1", "new": "preds_2"}, None)
    >>> found.data, found.readings["new"].table
    ({'old': 'results.duckdb', 'new': 'results.duckdb'}, 'preds_2')
    """
    if table is None and query is None:
        return Selected(data=data, reading=reading)
    own = reading or Reading()
    by = {word: one for word, one in (("table", table), ("query", query)) if isinstance(one, Mapping)}
    own = own if table is None or "table" in by else replace(own, table=str(table))
    own = own if query is None or "query" in by else replace(own, query=str(query))
    if not by:
        return Selected(data=data, reading=own)
    tables, queries = ({str(name): str(one) for name, one in by.get(word, {}).items()} for word in ("table", "query"))
    names = list(dict.fromkeys((*tables, *queries)))
    places = list(data.values()) if isinstance(data, Mapping) else [data]
    if len(places) == 1 and are_paths(places[0]):
        data = dict.fromkeys(names, places[0])
    models = [str(name) for name in data] if isinstance(data, Mapping) else []
    if lost := [name for name in names if name not in models]:
        close = nearest(lost[0], models)
        raise PlanError(
            "comparison-needs",
            f"a table is named for {listed(lost)}, and there is no such model",
            where="table" if lost[0] in tables else "query",
            known=listed(models) or None,
            fix=f'did you mean "{close}"?' if close else "name a model, and its table",
        )
    readings = {
        name: replace(own, table=tables.get(name, own.table), query=queries.get(name, own.query)) for name in models
    }
    return Selected(data=data, reading=reading, readings=readings)
