# SPDX-License-Identifier: Apache-2.0
"""Whole of rows by truth and error on grids of powers of two, which merge exactly and in any order.

Values are cut by the leading bits of the double, so that bins have a stated relative width; truth far from 0 is cut
into bins of one power of two. A grid that meets a wider one becomes as coarse as if it had been counted there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.tasks.regression.digit_sums import CHUNK, DESK, steps

if TYPE_CHECKING:
    from assay.core.arrays import Floats, Whole


FRACTION_BITS: Final = 52
EXPONENTS: Final = 1 << 11
FINE_BITS, COARSE_BITS = 7, 3
"""Leading bits of the significand that tell bins apart: 128 or 8 bins for each power of two."""
FINE_CODES: Final = 40 << FINE_BITS
COARSE_CODES: Final = 20 << COARSE_BITS
"""Bins of one sign; errors below 2**-40 or 2**-20 of the largest one share the bin of 0."""
TRUTH_BITS: Final = 5
TRUTH_CODES: Final = 16 << TRUTH_BITS
"""Bins of one sign of the truth, 32 for each power of two; or as many bins of one width."""
WIDTH: Final = 2 * COARSE_CODES + 1


def error_codes(error: Floats, bits: int) -> Whole:
    """The leading bits of each absolute error, a whole number that grows with it."""
    return np.asarray(np.abs(error).view(np.int64) >> (FRACTION_BITS - bits), dtype=np.int64)


def code_edge(code: Whole, bits: int) -> Floats:
    """The smallest double of each code."""
    return (np.asarray(code, dtype=np.int64) << (FRACTION_BITS - bits)).view(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ErrorHistogram:
    """Rows by error; the middle bin holds errors near 0, negative ones are left of it."""

    top: int
    """The code of the largest absolute error."""
    counts: Whole

    def __add__(self, other: ErrorHistogram) -> ErrorHistogram:
        """Both together, on the bins of the larger error."""
        top, counts = max(self.top, other.top), np.zeros_like(self.counts)
        for part in (self, other):
            add_lower(counts, part.counts, top - part.top, FINE_CODES)
        return ErrorHistogram(top=top, counts=counts)

    def edges(self) -> tuple[Floats, Floats]:
        """Where each bin begins and ends."""
        return both_sides(*side_edges(self.top, FINE_CODES, FINE_BITS))

    def to_json(self) -> dict[str, object]:
        """As in a Record: occupied bins only."""
        places = np.flatnonzero(self.counts)
        return {"top": self.top, "bins": places.tolist(), "counts": self.counts[places].tolist()}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> ErrorHistogram:
        """The inverse of `to_json`."""
        counts = np.zeros(2 * FINE_CODES + 1, dtype=np.int64)
        counts[content["bins"]] = content["counts"]
        return cls(top=content["top"], counts=counts)


@lru_cache(maxsize=16)
def place_table(top: int, size: int, bits: int, times: int = 1) -> Whole:
    """The bin of every double by its leading bits, times a number: the middle one for values near 0."""
    steps = np.maximum(np.arange(EXPONENTS << bits) - (top - size), 0)
    return np.concatenate([size + steps, size - steps]) * times


def add_lower(target: Whole, counts: Whole, by: int, size: int) -> None:
    """Add counts whose bins, along the last axis, end some codes below those of the target."""
    by = min(by, size)
    if not by:
        target += counts
        return
    target[..., size + 1 : 2 * size + 1 - by] += counts[..., size + 1 + by :]
    target[..., by:size] += counts[..., : size - by]
    target[..., size] += counts[..., size - by : size + by + 1].sum(axis=-1)


def move_places(places: Whole, by: int, size: int) -> Whole:
    """The bins once the largest error lies some codes higher."""
    steps = places - size
    return np.asarray(size + np.sign(steps) * np.maximum(np.abs(steps) - by, 0), dtype=np.int64)


def side_edges(top: int, size: int, bits: int) -> tuple[Floats, Floats]:
    """Where the bins of positive errors begin and end, that of 0 first."""
    codes = np.maximum(np.arange(top - size, top + 1), 0)
    low, high = code_edge(codes, bits), code_edge(codes + 1, bits)
    low[0] = 0.0
    return low, high


def both_sides(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The ends of the bins of both signs, from small to large."""
    return np.concatenate([-high[::-1], low[1:]]), np.concatenate([-low[:0:-1], high])


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthAxis:
    """Bins of the truth: of one width where all of it lies far from 0, else by leading bits as errors are."""

    shift: int | None
    """Bins are 2**shift wide; None where they are relative."""
    first: int
    """The first bin in widths, or the code of the largest absolute truth."""
    sign: int = 1

    @classmethod
    def of(cls, low: float, high: float) -> TruthAxis:
        """The bins that a range of truth asks for; a wider range never asks for finer ones.

        >>> TruthAxis.of(1e8 - 1, 1e8 + 1).shift, TruthAxis.of(0.0, 90.0).shift
        (-8, None)
        """
        size = max(abs(low), abs(high))
        if high - low >= size / 2:
            return cls(shift=None, first=int(error_codes(np.array([size]), TRUTH_BITS)[0]))
        least = min(abs(low), abs(high))
        shift = int(np.frexp(size)[1]) - 53
        if size > least:
            shift = max(shift, int(np.frexp((size - least) / TRUTH_CODES)[1]) - 2)
        while np.floor(np.ldexp(size, -shift)) - np.floor(np.ldexp(least, -shift)) > TRUTH_CODES:
            shift += 1
        return cls(shift=shift, first=int(np.floor(np.ldexp(least, -shift))), sign=1 if high > 0 else -1)

    def places(self, truth: Floats) -> Whole:
        """The bin of each value."""
        places = np.empty((2, len(truth)), dtype=np.int64)
        self.fill_rows(truth, *places)
        return np.asarray(places[1] // WIDTH, dtype=np.int64)

    def fill_rows(self, truth: Floats, code: Whole, rows: Whole) -> None:
        """Write the bin of each value, times the bins of error."""
        if self.shift is None:
            np.right_shift(truth.view(np.uint64), FRACTION_BITS - TRUTH_BITS, out=code.view(np.uint64))
            np.take(place_table(self.first, TRUTH_CODES, TRUTH_BITS, WIDTH), code, out=rows, mode="clip")
        else:
            rows[:] = np.abs(truth) * 2.0**-self.shift
            rows -= self.first
            rows *= WIDTH

    def move(self, places: Whole, to: TruthAxis) -> Whole:
        """Bins of this axis as bins of a coarser one."""
        if self.shift is None:
            return move_places(places, to.first - self.first, TRUTH_CODES)
        if to.shift is not None:
            return ((places + self.first) >> (to.shift - self.shift)) - to.first
        return to.places(self.sign * np.ldexp((places + self.first).astype(np.float64), self.shift))

    def edges(self) -> tuple[Floats, Floats]:
        """Where each bin begins and ends, from small to large."""
        if self.shift is not None:
            widths = np.arange(2 * TRUTH_CODES + 1) + float(self.first)
            low, high = np.ldexp(widths, self.shift), np.ldexp(widths + 1, self.shift)
            return (low, high) if self.sign > 0 else (-high, -low)
        return both_sides(*side_edges(self.first, TRUTH_CODES, TRUTH_BITS))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ErrorGrid:
    """Rows by truth and by error."""

    axis: TruthAxis
    top: int
    """The code of the largest absolute error."""
    start: int
    """The bin of truth of the first row of counts."""
    counts: Whole
    """Bins of truth, from the first to the last occupied one, by bins of error."""

    @classmethod
    def _count(cls, axis: TruthAxis, top: int, rows: Whole, columns: Whole, counts: Whole | None = None) -> ErrorGrid:
        start, end = int(rows.min()), int(rows.max())
        flat = np.bincount((rows - start) * WIDTH + columns, weights=counts, minlength=(end - start + 1) * WIDTH)
        return cls(axis=axis, top=top, start=start, counts=flat.astype(np.int64, copy=False).reshape(-1, WIDTH))

    def merge(self, other: ErrorGrid, low: float, high: float) -> ErrorGrid:
        """Both together, over the range of truth of both."""
        top, axis = max(self.top, other.top), TruthAxis.of(low, high)
        a, b = self._moved(axis), other._moved(axis)
        start = min(a.start, b.start)
        counts = np.zeros((max(a.start + len(a.counts), b.start + len(b.counts)) - start, WIDTH), dtype=np.int64)
        for part in (a, b):
            rows = counts[part.start - start : part.start - start + len(part.counts)]
            add_lower(rows, part.counts, top - part.top, COARSE_CODES)
        return ErrorGrid(axis=axis, top=top, start=start, counts=counts)

    def _moved(self, axis: TruthAxis) -> ErrorGrid:
        """The same by bins of a coarser axis of truth."""
        if axis == self.axis:
            return self
        if axis.shift == self.axis.shift:  # most often all rows keep their distances
            first, last = self.axis.move(np.array([self.start, self.start + len(self.counts) - 1]), axis).tolist()
            if last - first == len(self.counts) - 1:
                return ErrorGrid(axis=axis, top=self.top, start=first, counts=self.counts)
        rows, columns = np.nonzero(self.counts)
        moved = self.axis.move(rows + self.start, axis)
        return self._count(axis, self.top, moved, columns, self.counts[rows, columns])

    def by_truth(self) -> tuple[Floats, Floats, Whole]:
        """Where each bin of truth begins and ends, and its rows, from small to large."""
        low, high = (ends[self.start : self.start + len(self.counts)] for ends in self.axis.edges())
        counts = self.counts.sum(axis=1)
        return (low, high, counts) if self.axis.sign > 0 else (low[::-1], high[::-1], counts[::-1])

    def cells(self) -> tuple[Floats, Floats, Floats]:
        """Truth, error and number of rows of every occupied cell."""
        rows, columns = np.nonzero(self.counts)
        low, high = side_edges(self.top, COARSE_CODES, COARSE_BITS)
        middle = (low + high) / 2
        middle[0] = 0.0
        signed = np.concatenate([-middle[:0:-1], middle])
        begin, end = self.axis.edges()
        truth = ((begin + end) / 2)[rows + self.start]
        return truth, signed[columns], self.counts[rows, columns].astype(np.float64)

    def to_json(self) -> dict[str, object]:
        """As in a Record: occupied cells only, each as the distance from the one before and its rows."""
        flat = self.counts.ravel()
        places = np.flatnonzero(flat)
        return {
            "shift": self.axis.shift, "first": self.axis.first, "sign": self.axis.sign, "top": self.top,
            "start": self.start, "cells": np.diff(places, prepend=0).tolist(), "counts": flat[places].tolist(),
        }  # fmt: skip

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> ErrorGrid:
        """The inverse of `to_json`."""
        axis = TruthAxis(shift=content["shift"], first=content["first"], sign=content["sign"])
        places = np.cumsum(content["cells"])
        counts = np.array(content["counts"], dtype=np.int64)
        return cls._count(axis, content["top"], places // WIDTH + content["start"], places % WIDTH, counts)


def count_bins(
    truth: Floats, error: Floats, ends: tuple[float, float, float, float]
) -> tuple[ErrorHistogram, ErrorGrid]:
    """Count rows by error, and by truth and error; `ends` are the smallest and largest truth and error."""
    axis, largest = TruthAxis.of(*ends[:2]), np.array([max(-ends[2], ends[3])])
    top, coarse_top = (int(error_codes(largest, bits)[0]) for bits in (FINE_BITS, COARSE_BITS))
    start, end = (int(place) for place in np.sort(axis.places(np.array(ends[:2]))))
    octave = top | ((1 << FINE_BITS) - 1)  # the end of a power of two, so that few tables do
    size = FINE_CODES + (1 << FINE_BITS)
    fine_table = place_table(octave, size, FINE_BITS)
    columns = place_table(coarse_top, COARSE_CODES, COARSE_BITS) - start * WIDTH
    fine, cells = DESK.lend("bins", 2, len(error)).view(np.int64)
    codes, column = DESK.lend("codes", 2, min(CHUNK, len(error))).view(np.int64)
    for part in steps(len(error)):
        code, place = codes[: part.stop - part.start], column[: part.stop - part.start]
        np.right_shift(error[part].view(np.uint64), FRACTION_BITS - FINE_BITS, out=code.view(np.uint64))
        np.take(fine_table, code, out=fine[part], mode="clip")
        code >>= FINE_BITS - COARSE_BITS
        np.take(columns, code, out=place, mode="clip")
        axis.fill_rows(truth[part], code, cells[part])
        cells[part] += place
    sides = np.bincount(fine, minlength=2 * size + 1)
    reach = (1 << FINE_BITS) + top - octave
    middle = sides[size - reach : size + reach + 1].sum()
    outer = sides[size - reach - FINE_CODES : size - reach], sides[size + reach + 1 : size + reach + 1 + FINE_CODES]
    flat = np.bincount(cells, minlength=(end - start + 1) * WIDTH)
    return (
        ErrorHistogram(top=top, counts=np.concatenate([outer[0], [middle], outer[1]])),
        ErrorGrid(axis=axis, top=coarse_top, start=start, counts=flat.reshape(-1, WIDTH)),
    )
