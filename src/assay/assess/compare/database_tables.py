# SPDX-License-Identifier: Apache-2.0
"""Which table or query of a database holds which model: one for all of them, or one a model by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from assay.core.errors import PlanError
from assay.core.text import listed, nearest
from assay.rows.files.file_list import are_paths
from assay.rows.files.formats import Reading


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


def select_tables(data: object, reading: Reading) -> Selected:
    """Return the data and how each model's table is read, by the tables and queries that `reading` names.

    >>> selection = select_tables("results.duckdb", Reading(tables={"old": "preds_1", "new": "preds_2"}))
    >>> selection.data, selection.readings["new"].table
    ({'old': 'results.duckdb', 'new': 'results.duckdb'}, 'preds_2')
    """
    tables, queries = dict(reading.tables or {}), dict(reading.queries or {})
    plain = replace(reading, tables=None, queries=None)
    names = list(dict.fromkeys((*tables, *queries)))
    if not names:
        return Selected(data=data, reading=plain)
    places = list(data.values()) if isinstance(data, Mapping) else [data]
    if len(places) == 1 and are_paths(places[0]):
        data = dict.fromkeys(names, places[0])
    models = [str(name) for name in data] if isinstance(data, Mapping) else []
    if unknown := [name for name in names if name not in models]:
        close = nearest(unknown[0], models)
        raise PlanError(
            "comparison-needs",
            f"a table is named for {listed(unknown)}, and there is no such model",
            where="table" if unknown[0] in tables else "query",
            known=listed(models) or None,
            fix=f'did you mean "{close}"?' if close else "name a model, and its table",
        )
    readings = {
        name: replace(plain, table=tables.get(name, plain.table), query=queries.get(name, plain.query))
        for name in models
    }
    return Selected(data=data, reading=replace(plain, table=None, query=None), readings=readings)
