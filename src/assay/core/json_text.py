# SPDX-License-Identifier: Apache-2.0
"""Strict JSON: no duplicate keys, NaN or infinities, and a limit of nesting; counts stay exact in it."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Final, NoReturn, TypeAlias

from assay.core.errors import RecordError, damaged_record
from assay.core.text import visible

DEEPEST: Final = 32
"""Levels of nesting that are read."""
SAFE: Final = 2**53 - 1
"""Above this a JSON reader that uses doubles would change the number, so it is written as text."""
Count: TypeAlias = int | Fraction


def strict_json(text: str, where: str) -> object:
    """JSON without duplicate keys, NaN, infinities, lone surrogates, or more than 32 levels."""

    def no_twice(pairs: list[tuple[str, object]]) -> dict[str, object]:
        members = dict(pairs)
        if len(members) != len(pairs):
            twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
            raise _unreadable(where, f'the key "{visible(twice)}" stands twice in one object', "keep one of them")
        return members

    def refuse(word: str) -> NoReturn:
        raise _unreadable(where, f"{word} is not JSON", "write the file again with assay")

    def finite(number: str) -> float:
        value = float(number)
        if math.isinf(value):
            refuse(number)
        return value

    try:
        content: object = json.loads(text, object_pairs_hook=no_twice, parse_constant=refuse, parse_float=finite)
    except RecursionError as error:
        raise _too_deep(where) from error
    except ValueError as error:
        raise _unreadable(where, "the file is not JSON", found=visible(str(error))) from error
    if is_deeper(content, DEEPEST):
        raise _too_deep(where)
    return content


def is_deeper(content: object, most: int) -> bool:
    """Whether content is nested in more levels than a limit."""
    level: list[object] = [content]
    for _ in range(most):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent if isinstance(parent, list) else ())
        ]
        if not level:
            return False
    return True


def _unreadable(where: str, what: str, fix: str = "give a record.json", **lines: str) -> RecordError:
    return RecordError("record-unreadable", what, where=where, fix=fix, **lines)


def _too_deep(where: str) -> RecordError:
    return _unreadable(where, "the file is nested too deeply", known=f"at most {DEEPEST} levels")


def count_to_json(count: Count) -> int | str:
    """A count as JSON: a number while every reader keeps it exact, otherwise text.

    >>> count_to_json(3), count_to_json(2**60), count_to_json(Fraction(1, 2))
    (3, '1152921504606846976', '1/2')
    """
    if isinstance(count, int):
        return count if count <= SAFE else str(count)
    return count_to_json(count.numerator) if count.denominator == 1 else str(count)


def count_from_json(text: object) -> Count:
    """The inverse of `count_to_json`.

    >>> count_from_json("1/2"), count_from_json(3)
    (Fraction(1, 2), 3)
    """
    if isinstance(text, bool) or not isinstance(text, (int, str)):
        raise damaged_record(what=f"a count is written as {text!r}")
    try:
        exact = Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise damaged_record(what=f"a count is written as {text!r}") from error
    return exact.numerator if exact.denominator == 1 else exact
