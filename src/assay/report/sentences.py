# SPDX-License-Identifier: Apache-2.0
"""Every sentence a report says, in one place; numbers and names come in ready to be shown."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Final

from assay.core.text import counted

_STATED: Final = tomllib.loads(files("assay.report").joinpath("sentences.toml").read_text(encoding="utf-8"))
SAID: Final[Mapping[str, str]] = _STATED["said"]
FAMILIES: Final[Mapping[str, str]] = _STATED["families"]
METHODS: Final[Mapping[str, str]] = _STATED["methods"]
VERDICTS: Final[Mapping[str, Sequence[str]]] = _STATED["verdicts"]
FINDINGS: Final[Mapping[str, str]] = _STATED["findings"]
MARGINS: Final[Mapping[str, Mapping[str, str]]] = _STATED["margins"]
AHEAD: Final[Mapping[str, str]] = _STATED["ahead"]
HEADLINE: Final = "Headline measures"
CONFORMITY: Final = "conformity with ISO/IEC TS 4213:2022"


def sentence(text: str) -> str:
    """A remark as a sentence of its own.

    >>> sentence("no basis for a choice"), sentence("")
    ('No basis for a choice.', '')
    """
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""


def rows_equation(rows: Mapping[str, object]) -> str:
    """Row accounting, as an equation in words.

    >>> rows_equation({"read": 5, "scored": 4, "excluded": {"truth is missing": 1}, "unmatched": 0})
    '5 rows read = 4 scored + 1 excluded (truth is missing) + 0 unmatched'
    """
    read, scored, unmatched = (int(str(rows[name])) for name in ("read", "scored", "unmatched"))
    given = rows["excluded"]
    excluded = {str(why): int(n) for why, n in given.items()} if isinstance(given, Mapping) else {}
    reasons = ", ".join(f"{n:,} {why}" if len(excluded) > 1 else why for why, n in excluded.items())
    out = f"{sum(excluded.values()):,} excluded" + (f" ({reasons})" if reasons else "")
    return f"{counted(read, 'row')} read = {scored:,} scored + {out} + {unmatched:,} unmatched"


def method(name: str, draws: Sequence[int] = ()) -> str:
    """What an interval method does, and how often it drew.

    >>> method("wilson of accuracy")
    'the wilson interval of accuracy, carried over to measures that are functions of it'
    """
    first, _, of = name.partition(" of ")
    carried = of.isidentifier()
    says = f"the {first} interval of {of}, carried over to measures that are functions of it" if carried else ""
    words = name.lower().replace(",", "").split(" ")
    says = says or METHODS.get(" ".join(words[:2])) or METHODS.get(words[0], "")
    if not draws:
        return says
    many = f"{min(draws):,}" if len(set(draws)) == 1 else f"{min(draws):,} to {max(draws):,}"
    return f"{says}{'; ' if says else ''}{many} draws"
