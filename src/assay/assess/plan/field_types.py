# SPDX-License-Identifier: Apache-2.0
"""What the sections of a plan are made of: kinds of values, and one way to declare a field."""

from __future__ import annotations

import re
from types import UnionType
from typing import Annotated, Any, ClassVar, Final, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

UNKNOWN: Final = "unknown"
"""A legal answer everywhere, which shows nothing."""

Text = Annotated[str, StringConstraints(strict=True, max_length=20_000)]
Name = Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.\-]{0,63}$")]
Column = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=4096)]
Place = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=4096)]
Sha256 = Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9a-fA-F]{64}$")]
Whole = Annotated[int, Field(strict=True, ge=0)]
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Yes = Annotated[bool, Field(strict=True)]
PlanLabel = (
    Annotated[bool, Field(strict=True)]
    | Annotated[int, Field(strict=True)]
    | Annotated[str, StringConstraints(strict=True)]
)


def spelled(*names: str) -> BeforeValidator:
    """Take other spellings of some words: case, spaces, underscores and hyphens do not matter, nor do other names."""
    known = {re.sub(r"[\W_]", "", name).casefold(): name for name in names} | {
        "fdrbh": "benjamini-hochberg", "fdrby": "benjamini-yekutieli", "bh": "benjamini-hochberg",
        "repeated": "repeated-k-fold", "loo": "leave-one-out",
    }  # fmt: skip

    def settle(value: object) -> object:
        own = known.get(re.sub(r"[\W_]", "", value).casefold()) if isinstance(value, str) else None
        return own if own in names else value

    return BeforeValidator(settle)


def says(text: str, example: object = None, default: object = None) -> Any:  # noqa: ANN401  what pydantic returns
    """A field that may be left out: what it says, and an example for the template."""
    return Field(default=default, description=text, examples=None if example is None else [example])


def without_none(annotation: object) -> object:
    """The type of a field that may be left out, where there is one."""
    kept = [one for one in get_args(annotation) if one is not type(None)]
    return kept[0] if get_origin(annotation) in (Union, UnionType) and len(kept) == 1 else annotation


class Section(BaseModel):
    """Fields that belong together; a key that is not among them is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=False)

    answers: ClassVar[tuple[str, ...]] = ()
    """Plan fields of the requirements that this section answers."""
