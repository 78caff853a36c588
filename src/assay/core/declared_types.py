# SPDX-License-Identifier: Apache-2.0
"""Fields of settings held to their declared types, so that a strange object is refused where it is given."""

from __future__ import annotations

import functools
import math
import numbers
from collections import abc
from collections.abc import Callable, Mapping, Sequence
from types import UnionType
from typing import ClassVar, Final, Literal, Union, cast, get_args, get_origin, get_type_hints

from assay.core.errors import PlanError
from assay.core.text import quoted


def is_real(value: object) -> bool:
    """Whether a value is a finite number.

    >>> is_real(0.5), is_real(True), is_real(float("nan"))
    (True, False, False)
    """
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and _is_finite(value)


def _is_finite(value: numbers.Real) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:  # a whole number beyond float64
        return False


def _is_whole(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and abs(int(value)) < 2**63


PLAIN_TYPES: Final[Mapping[object, Callable[[object], bool]]] = {
    type(None): lambda value: value is None,
    bool: lambda value: type(value).__name__ in ("bool", "bool_"),
    int: _is_whole,
    float: is_real,
    str: lambda value: isinstance(value, str),
}


def _fits(value: object, hint: object) -> bool:
    """Whether a value is of a declared type, as far as that is a plain one."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if hint in PLAIN_TYPES:
        return PLAIN_TYPES[hint](value)
    if origin in (abc.Sequence, list, tuple):
        return isinstance(value, (list, tuple)) and all(_fits(one, parts[0]) for one in value)
    if origin in (abc.Mapping, dict):
        return isinstance(value, Mapping) and all(_fits(one, parts[-1]) for one in value.values())
    return origin is not abc.Callable or callable(value)


def _choices(hint: object) -> list[str]:
    """The words that a declared type allows, as they are typed."""
    parts = get_args(hint)
    if get_origin(hint) is Literal:
        return [repr(part) for part in parts]
    return [word for part in parts for word in _choices(part)] if get_origin(hint) in (Union, UnionType) else []


@functools.cache
def _hints(kind: type) -> dict[str, object]:
    from assay.core.traits import Policy

    names = {"Policy": Policy, "Sequence": Sequence, "Mapping": Mapping, "Callable": Callable}
    return get_type_hints(kind, localns=names)


def check_fields(settings: object) -> None:
    """Refuse a field of a setting that is not of its declared type."""
    for name, hint in _hints(cast("type", type(settings))).items():
        value = getattr(settings, name)
        if get_origin(hint) is not ClassVar and not _fits(value, hint):
            description = f"{type(value).__name__} {quoted(shown_object(value))}"
            choices = _choices(hint)
            what = f"{name} of {type(settings).__name__} cannot be this"
            if choices and isinstance(value, str):
                what = f"{name}={value[:60]!r} is not a choice"
            known = " or ".join(choices) or getattr(hint, "__name__", str(hint).replace("typing.", ""))
            raise PlanError("option-unknown", what, where=name, found=description, known=known, fix=f"give {known}")


def shown_object(value: object) -> str:
    """The beginning of an object's text, whatever its own methods do."""
    try:
        return str(value)[:60]
    except Exception:  # noqa: BLE001  somebody else's method
        return f"<{type(value).__name__}>"
