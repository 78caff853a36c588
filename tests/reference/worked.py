# SPDX-License-Identifier: Apache-2.0
"""The worked numbers of the sources, as the TOML files beside this one hold them."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from functools import cache
from pathlib import Path

import assay
from assay.tally.labels.one_vs_rest import Binary
from tests import flat

HERE = Path(__file__).parent


@cache
def documents():
    """The files of worked cases, each of a named document; values from packages stand beside them."""
    every = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(HERE.glob("*.toml"))}
    return {name: content for name, content in every.items() if "document" in content}


def entries(kind):
    """Every entry of a kind, with the id pytest shows."""
    return {
        f"{name}:{entry.get('id', i)}": entry
        for name, doc in documents().items()
        for i, entry in enumerate(doc.get(kind, []))
    }


def matrix(case):
    """The counts with rows = truth, whichever way the document prints them; four cells put the positive class last."""
    if "cells" in case:
        cells = case["cells"]
        return [[cells["tn"], cells["fp"]], [cells["fn"], cells["tp"]]]
    return (
        case["matrix"] if case["orientation"] == "rows=truth" else [list(c) for c in zip(*case["matrix"], strict=True)]
    )


def assessed(case, **given):
    """The public face on a worked case: the matrix as printed, with the orientation the document uses."""
    if "cells" in case:
        return flat.assess(
            confusion=matrix(case), orientation="rows=truth", labels=["no", "yes"], positive="yes", **given
        )
    return flat.assess(confusion=case["matrix"], orientation=case["orientation"], labels=case["labels"], **given)


def result(case, entry):
    """What our measure gives for an entry."""
    measure = assay.measure(entry["measure"])
    measure = measure.with_(**entry["given"]) if "given" in entry else measure
    confusion = assessed(case).confusion
    if measure.takes is not Binary:
        return measure(confusion.multiclass())
    return measure(confusion.binary("yes" if "cells" in case else entry["class"]))


def scale(entry):
    return 100 if entry.get("unit") == "per cent" else 1


def half_a_digit(printed):
    _, _, decimals = printed.replace(",", ".").partition(".")
    return Fraction(1, 2 * 10 ** len(decimals))


def agrees(printed, value, factor=1):
    """Whether a value, exactly scaled, rounds to the printed figure."""
    return abs(Fraction(printed.replace(",", ".")) - Fraction(value) * factor) <= half_a_digit(printed)
