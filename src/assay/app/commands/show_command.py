# SPDX-License-Identifier: Apache-2.0
"""Measures explained for people and for machines, from their declarations alone."""

from __future__ import annotations

import inspect
import os
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from assay.assess.errata import concerning
from assay.inference.estimates import real_to_json
from assay.measures import Measure
from assay.measures.catalogue import grain

PACKAGE: Final = Path(__file__).parents[2]


def declaration(one: Measure) -> dict[str, Any]:
    """A measure as JSON."""
    file, line = one.where
    return {
        "name": one.name,
        "symbol": one.symbol or None,
        "also": list(one.also),
        "says": one.says,
        "formula": one.formula,
        "range": [real_to_json(end) for end in one.range],
        "better": str(one.better),
        "chance": one.chance,
        "family": one.family,
        "of": grain(one),
        "parameters": {
            name: None if value is inspect.Parameter.empty else value for name, value in one.parameters.items()
        },
        "needs": list(one.needs),
        "source": [str(source) for source in one.source],
        "catalogue": list(one.spec),
        "errata": list(one.errata),
        "declared": f"{Path(file).name}:{line}",
    }


def explained(one: Measure) -> str:
    """A measure as a page of text."""
    file, line = one.where
    head = f"{one.title} ({one.symbol})" if one.symbol else one.title
    rows = [
        ("says", one.says),
        ("formula", one.formula),
        ("range", f"{one.range_shown}; {one.better}" + (f"; chance gives {one.chance}" if one.chance else "")),
        ("of", grain(one)),
        ("also", ", ".join(one.also)),
        ("needs", ", ".join(one.needs)),
        ("options", ", ".join(f"{k}={v!r}" for k, v in one.parameters.items() if v is not inspect.Parameter.empty)),
        ("family", one.family),
        ("source", "; ".join(str(source) for source in one.source)),
        ("code", f"{Path(os.path.relpath(file, PACKAGE)).as_posix()}:{line}"),
    ]
    text = "\n".join(_row(name, value) for name, value in rows if value)
    errata = "\n".join(_row(entry.id, f"{entry.title}. {entry.reading}") for entry in concerning(one))
    return f"{head}\n{text}" + (f"\n\n  errata readings\n{errata}" if errata else "")


def _row(name: str, value: str) -> str:
    return "\n".join(textwrap.wrap(value, 96, initial_indent=f"  {name:<9} ", subsequent_indent=" " * 12))


def listing(found: Iterable[Measure]) -> str:
    """Many measures, by family."""
    families: dict[str, list[Measure]] = {}
    for one in found:
        families.setdefault(one.family, []).append(one)
    blocks = [
        f"{name}\n" + "\n".join(f"  {m.name:<32} {m.says}" for m in members) for name, members in families.items()
    ]
    count = sum(len(members) for members in families.values())
    return "\n\n".join(blocks) + f"\n\n{count} measures; `assay show NAME` explains one."
