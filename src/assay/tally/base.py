# SPDX-License-Identifier: Apache-2.0
"""What all tallies share: exact counts in JSON, and one canonical text form for digests."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Generic, Protocol, Self, TypeAlias, TypeGuard, TypeVar, cast

import numpy as np

from assay.core.errors import OutOfRange, PlanError, RecordError, damaged_record
from assay.core.json_text import SAFE as SAFE  # noqa: PLC0414  these four are found here, too
from assay.core.json_text import Count as Count  # noqa: PLC0414
from assay.core.json_text import count_from_json as count_from_json  # noqa: PLC0414
from assay.core.json_text import count_to_json as count_to_json  # noqa: PLC0414
from assay.core.text import listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole

    Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """What some rows weigh together, and the sum of their squared weights, which tells how many rows they are worth."""

    total: Fraction
    squares: Fraction

    def __add__(self, other: Weight) -> Weight:
        """Both together."""
        return Weight(total=self.total + other.total, squares=self.squares + other.squares)


def together(a: Count | Weight, b: Count | Weight) -> Count | Weight:
    """Two counts, or two weights; 0 is the sum of nothing of either kind."""
    if isinstance(a, Weight) and isinstance(b, Weight):
        return a + b
    if isinstance(a, Weight) or isinstance(b, Weight):
        return a or b
    return a + b


VERSION: Final = "1"
LARGEST: Final = 2**63 - 1


def demand_kind(content: Mapping[str, object], kind: str, what: str) -> None:
    """Refuses content that is not a tally of a kind, as this version writes it."""
    if content.get("kind") != kind or content.get("version") != VERSION:
        raise RecordError(
            "record-unreadable",
            f"this is not {what} of version {VERSION}",
            found=f"kind {content.get('kind')!r}, version {content.get('version')!r}",
            fix="write it again with this version of assay",
        )


def demand_same_weighting(*weighted: bool) -> None:
    """Refuses to add a weighted tally to one that is not."""
    if len(set(weighted)) > 1:
        raise PlanError(
            "tally-mismatch", "one tally is weighted and the other is not", fix="give weights to both, or to neither"
        )


def checked(count: Count) -> Count:
    """A count that fits 63 bits, or an error; sums never wrap around silently."""
    if count > LARGEST:
        raise OutOfRange(
            "count-overflow",
            f"a count of {float(count):.3g} is larger than 2^63 - 1",
            fix="rescale the weights or split the data",
        )
    return count


def places(models: Sequence[str], known: Sequence[str]) -> list[int]:
    """Where some models stand among those of a tally.

    >>> places(["B"], ["A", "B"])
    [1]
    """
    lost = [model for model in models if model not in known]
    if lost:
        raise PlanError(
            "option-unknown", f"there is no model {listed(lost)}", known=listed(known), fix="name one of the models"
        )
    return [known.index(model) for model in models]


SLICE: Final = 1 << 20
FEW: Final = 100
"""Entries of a mapping up to which each is written by itself."""
LONG: Final = 10_000
"""Characters from which a text may be packed numbers."""
_DAMAGED: Final = "a column of the Record is damaged"


def digest(content: object) -> str:
    """SHA-256 of the canonical JSON of some content; a tally of millions of detections is not held a third time."""
    sha256 = hashlib.sha256()
    for text in _canonical_pieces(content):
        for start in range(0, len(text), SLICE):
            sha256.update(text[start : start + SLICE].encode("utf-8", "surrogatepass"))
    return sha256.hexdigest()


def _canonical_pieces(content: object) -> Iterator[str]:
    """The canonical JSON, the entries of small mappings one by one, and packed numbers as they are."""
    if _is_packed(content):
        yield from ('"', content, '"')
    elif isinstance(content, list) and content and len(content) <= FEW and all(map(_is_packed, content)):
        for place, text in enumerate(content):
            yield from ("," if place else "[", '"', text, '"')
        yield "]"
    elif isinstance(content, dict) and content and len(content) <= FEW and all(type(name) is str for name in content):
        for place, name in enumerate(sorted(content)):
            yield ("," if place else "{") + json.dumps(name, ensure_ascii=False) + ":"
            yield from _canonical_pieces(content[name])
        yield "}"
    else:
        yield json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _is_packed(content: object) -> TypeGuard[str]:
    """Whether it is a long text in which JSON escapes nothing; its encoder takes 8 ns for each character."""
    if not isinstance(content, str) or len(content) < LONG or not content.isascii():
        return False
    least = np.frombuffer(content.encode("ascii"), dtype=np.uint8).min()
    return int(least) >= ord(" ") and '"' not in content and "\\" not in content


class Digested:
    """A tally that equals another of its kind with the same digest."""

    __slots__ = ()

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        raise NotImplementedError

    def digest(self) -> str:
        """SHA-256 of the canonical form; equal on every engine."""
        return digest(self.to_json())

    def __eq__(self, other: object) -> bool:
        """Same content."""
        return isinstance(other, type(self)) and self.digest() == other.digest()

    def __hash__(self) -> int:
        """By digest."""
        return hash(self.digest())


class Stored(Protocol):
    """A tally that a Record holds."""

    def to_json(self) -> dict[str, object]:
        """As in a Record."""

    @classmethod
    def from_json(cls, content: Mapping[str, object], /) -> Self:
        """The inverse of `to_json`."""


Own = TypeVar("Own", bound=Stored)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelTallies(Digested, Generic[Own]):
    """Several models on the same test data: by model, its own tally."""

    models: Mapping[str, Own]

    def table(self, model: str) -> Own:
        """The tally of one model."""
        return self.models[model]

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {"models": {model: tally.to_json() for model, tally in self.models.items()}}

    @classmethod
    def read(cls, kind: type[Own], content: Mapping[str, object]) -> ModelTallies[Own]:
        """The inverse of `to_json`, for tallies of a kind."""
        parts = cast("Mapping[str, Mapping[str, object]]", content["models"])
        return cls(models={model: kind.from_json(part) for model, part in parts.items()})


def packed_flags(flags: Flags) -> str:
    """One bit a flag."""
    return _text(np.packbits(flags).tobytes())


def unpacked_flags(text: str, size: int) -> Flags:
    """The inverse of `packed_flags`."""
    return np.unpackbits(_bytes(text, -(-size // 8)), count=size).astype(bool)


def packed_whole(numbers: Whole) -> str:
    """Numbers from 0 on, each in as many bytes as the largest one needs; the first character says how many.

    >>> packed_whole(np.array([0, 1, 300]))
    '2AAAAAQEs'
    """
    width = max(1, -(-int(numbers.max(initial=0)).bit_length() // 8))
    if width in (1, 2, 4, 8):  # the same bytes in a fifth of the time
        return f"{width}{_text(numbers.astype(f'>u{width}').tobytes())}"
    wide = np.ascontiguousarray(numbers, dtype=">u8").view(np.uint8).reshape(-1, 8)
    return f"{width}{_text(wide[:, 8 - width :].tobytes())}"


def unpacked_whole(text: str, size: int) -> Whole:
    """The inverse of `packed_whole`."""
    _check(text[:1] in tuple("12345678"), "it does not say how wide its numbers are")
    width = int(text[0])
    wide = np.zeros((size, 8), dtype=np.uint8)
    wide[:, 8 - width :] = _bytes(text[1:], size * width).reshape(size, width)
    return wide.view(">u8").reshape(size).astype(np.int64)


def packed_steps(numbers: Whole) -> str:
    """Numbers from 0 on, most of them small: seven bits a byte, lowest first, the eighth says that more follow.

    >>> packed_steps(np.array([0, 127, 128, 300]))
    'AH+AAawC'
    """
    width = np.maximum(1, -(-np.frexp(numbers.astype(np.float64))[1] // 7)) if len(numbers) else np.zeros(0, np.int64)
    ends = np.cumsum(width)
    byte_values = np.zeros(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
    for place in range(int(width.max(initial=0))):
        there = width > place
        more = np.where(width[there] > place + 1, 128, 0)
        byte_values[(ends - width)[there] + place] = ((numbers[there] >> (7 * place)) & 127) | more
    return _text(byte_values.tobytes())


def unpacked_steps(text: str, size: int) -> Whole:
    """The inverse of `packed_steps`."""
    byte_values = _bytes(text)
    last = np.flatnonzero(byte_values < 128)  # noqa: PLR2004  the eighth bit
    first = np.concatenate([[0], last[:-1] + 1]) if len(last) else last
    whole = len(last) == size and (int(last[-1]) + 1 if size else 0) == len(byte_values)
    _check(whole, f"{len(last)} numbers instead of {size}")
    place = np.arange(len(byte_values)) - np.repeat(first, last - first + 1)
    _check(place.max(initial=0) <= 8, "a number above 2^63")  # noqa: PLR2004  nine groups of seven bits fill one
    parts = (byte_values & 127).astype(np.int64) << (7 * place)
    return np.add.reduceat(parts, first) if size else np.zeros(0, dtype=np.int64)


def packed_bytes(rows: NDArray[np.uint8]) -> str:
    """Rows of bytes, one after the other."""
    return _text(np.ascontiguousarray(rows).data)


def unpacked_bytes(text: str, size: int, width: int) -> NDArray[np.uint8]:
    """The inverse of `packed_bytes`: so many rows of one width."""
    return _bytes(text, size * width).reshape(size, width)


def packed_reals(numbers: Floats) -> str:
    """Eight bytes a number."""
    return _text(np.ascontiguousarray(numbers, dtype="<f8").data)


def unpacked_reals(text: str, size: int) -> Floats:
    """The inverse of `packed_reals`."""
    return _bytes(text, size * 8).view("<f8").astype(np.float64)


def _text(content: bytes | memoryview) -> str:
    return base64.b64encode(content).decode("ascii")


def _bytes(text: str, size: int | None = None) -> NDArray[np.uint8]:
    try:
        raw_bytes = np.frombuffer(base64.b64decode(text, validate=True), dtype=np.uint8)
    except binascii.Error as error:
        raise damaged_record(what=_DAMAGED, found="no base64 text") from error
    _check(size in (None, len(raw_bytes)), f"{len(raw_bytes)} bytes instead of {size}")
    return raw_bytes


def _check(sound: object, fault: str) -> None:
    if not sound:
        raise damaged_record(what=_DAMAGED, found=fault)
