# SPDX-License-Identifier: Apache-2.0
"""The errata register: where the sources err, clash or leave a choice, and which way assay goes."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from assay.measures import Measure

Kind = Literal["wrong", "clash", "open", "ocr", "fact"]
Severity = Literal["A", "B", "C"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one of the competing readings gives, as printed."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Erratum:
    """One place where a source errs, clashes or leaves a choice, with the reading assay follows."""

    id: str
    source: str
    where: str
    kind: Kind
    kinds: tuple[Kind, ...]
    severity: Severity
    title: str
    problem: str
    proof: str
    reading: str
    readings: tuple[Reading, ...]
    golden: tuple[str, ...]


@cache
def errata() -> tuple[Erratum, ...]:
    """The whole register, in its own order.

    >>> len(errata())
    95
    """
    text = files("assay.assess").joinpath("errata.toml").read_text(encoding="utf-8")
    return tuple(_erratum(entry) for entry in tomllib.loads(text)["erratum"])


def _erratum(entry: dict[str, Any]) -> Erratum:
    kinds, readings = entry.get("kinds", [entry["kind"]]), (Reading(**one) for one in entry.get("readings", ()))
    lists = {"kinds": tuple(kinds), "readings": tuple(readings), "golden": tuple(entry["golden"])}
    return Erratum(**{**entry, **lists})


def concerning(measure: Measure) -> tuple[Erratum, ...]:
    """The entries a measure declares, in the order of the register.

    >>> from assay.measures import parse
    >>> [entry.id for entry in concerning(parse("cccsmf_accuracy"))]
    ['E-TS-06']
    """
    return tuple(entry for entry in errata() if entry.id in measure.errata)
