# SPDX-License-Identifier: Apache-2.0
"""Our value beside a peer's: equal to rounding, or undefined where the peer has only a sentinel to give."""

from __future__ import annotations

import math
from functools import cache

from assay.core.values import Undefined
from assay.measures import parse

TOLERANCE = 1e-12
_parsed = cache(parse)


def apart(title, table, theirs, *, infinite_as_nothing=False):
    """None where both agree, or the sentence that says how they differ."""
    found = _parsed(title)(table)
    ours = math.nan if isinstance(found, Undefined) else found.value
    if infinite_as_nothing and math.isinf(ours):
        ours = math.nan
    if math.isnan(theirs) or math.isnan(ours):
        return None if math.isnan(theirs) == math.isnan(ours) else f"{title}: {ours}, peer {theirs}"
    if math.isinf(theirs) or math.isinf(ours):
        return None if theirs == ours else f"{title}: {ours}, peer {theirs}"
    close = abs(ours - theirs) <= TOLERANCE * max(1.0, abs(theirs))
    return None if close else f"{title}: {ours!r}, peer {theirs!r}"


def differences(named, table, **given):
    return [text for title, theirs in named.items() if (text := apart(title, table, float(theirs), **given))]


def class_differences(named, table, **given):
    stack = table.one_vs_rest()
    return [
        f"class {i}: {text}"
        for title, values in named.items()
        for i, theirs in enumerate(values)
        if (text := apart(title, stack.at(i), float(theirs), **given))
    ]
