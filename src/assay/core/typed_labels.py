# SPDX-License-Identifier: Apache-2.0
"""Labels typed on a command line, matched to the data's own type by how they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from assay.core.labels import Label


def speller(seen: Iterable[Label | None]) -> Callable[[Label], Label]:
    """What turns a typed label into the data's own.

    >>> one = speller([0, 1])
    >>> one("1"), one("7"), one("cat")
    (1, 7, 'cat')
    """
    known = {str(label): label for label in seen if label is not None}
    numbers = bool(known) and all(not isinstance(x, (str, bool)) for x in known.values())

    def one(text: Label) -> Label:
        if str(text) in known:
            return known[str(text)]
        return int(text) if numbers and str(text).lstrip("-").isdigit() else text

    return one
