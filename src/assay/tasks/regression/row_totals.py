# SPDX-License-Identifier: Apache-2.0
"""Exact sums over rows of truth and prediction, of their products, and of ratios and logarithms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.tasks.regression.digit_sums import (
    CHUNK,
    DESK,
    PRODUCT_BITS,
    DigitSums,
    Dyadic,
    cut_range,
    find_range,
    steps,
    sum_exactly,
    sum_products,
    sum_range,
)
from assay.tasks.regression.sums import base_columns, forecast_columns, log_ratios

if TYPE_CHECKING:
    from assay.core.arrays import Floats

    Range = tuple[float, float]

STEP: Final = 1 << 18
"""Rows that share one grid of digits."""
SPARE: Final = 3
"""Rows of numbers in which a step is worked on, so that it stays in the cache of a processor."""


def exact_sums(truth: Floats, predicted: Floats) -> dict[str, Dyadic]:
    """Sums of truth and prediction, of their products, and of absolute errors, without rounding."""
    total = dict.fromkeys(("y", "p", "yy", "yp", "pp", "abs_e", "abs_y"), Dyadic())
    for start in range(0, len(truth), STEP):
        y, p = truth[start : start + STEP], predicted[start : start + STEP]
        sign = np.sign(y - p)
        apart = sum_exactly(y * sign) + sum_exactly(-p * sign)
        digits = _open_digits(find_range(y), find_range(p), len(y))
        if digits is not None:
            for rows in steps(len(y)):
                digits.add((y[rows], p[rows]))
        sums = *_sum_pairs(y, p, digits), apart
        total = {name: total[name] + value for name, value in zip(total, (*sums, _sum_sizes(y, sums[0])), strict=True)}
    return total


def _sum_sizes(y: Floats, total: Dyadic) -> Dyadic:
    return total if float(y.min()) >= 0 else sum_exactly(np.abs(y))


def _open_digits(first: Range, second: Range, rows: int) -> DigitSums | None:
    cuts = cut_range(*first, PRODUCT_BITS), cut_range(*second, PRODUCT_BITS)
    return None if cuts[0] is None or cuts[1] is None else DigitSums([cuts[0], cuts[1]], rows)


def _sum_pairs(a: Floats, b: Floats, digits: DigitSums | None) -> tuple[Dyadic, Dyadic, Dyadic, Dyadic, Dyadic]:
    """The sums of two columns, of the squares of the first, of the products, and of the squares of the second."""
    if digits is None:
        return sum_exactly(a), sum_exactly(b), sum_products(a, a), sum_products(a, b), sum_products(b, b)
    aa, ab, bb = (digits.sum_products(*pair) for pair in ((0, 0), (0, 1), (1, 1)))
    return digits.sum(0), digits.sum(1), aa, ab, bb


def sum_batch(
    batch: Mapping[str, Floats], error: Floats, ends: tuple[float, float, float, float], level: float | None
) -> dict[str, Dyadic]:
    """The sums of at most `STEP` rows; `ends` are the smallest and largest truth and error.

    Errors are the differences as doubles, and the sums of predictions those of truth minus error. With a star, the
    sum of squares; they are rounded one by one, for they only serve intervals. Ratios are left out where the truth is
    0 in some row, logarithms where something is -1 or less.
    """
    truth, predicted = batch["truth"], batch["predicted"]
    logs, own = min(ends[0], float(predicted.min())) > -1, len(batch) > 2  # noqa: PLR2004  truth and prediction
    ratios = ends[0] > 0 or bool(truth.all())
    reach = (ends[0], ends[1]) if ends[0] > 0 else find_range(truth)
    digits = _open_digits(reach, _error_range(truth, predicted, error, ends, reach), len(error))
    spare = DESK.lend("sums", SPARE, min(CHUNK, len(error)))
    total: dict[str, Dyadic] = {}
    with np.errstate(over="ignore"):
        for rows in steps(len(error)):
            y, e = truth[rows], error[rows]
            if digits is not None:
                digits.add((y, e))
            sizes = np.abs(e, out=spare[0, : len(e)])
            sums = {"abs_e": sum_range(sizes, find_range(sizes), spare[1:])}
            if ratios:
                sums |= _sum_ratios(y, e, spare)
            if logs:
                sums |= _sum_logs(y, predicted[rows], e, spare)
            if own:
                sums |= _sum_own({name: values[rows] for name, values in batch.items()}, level)
            total = {name: value + total[name] for name, value in sums.items() if name in total} if rows.start else sums
    y_sum, e_sum, yy, ye, ee = _sum_pairs(truth, error, digits)
    return total | {
        "y": y_sum, "p": y_sum - e_sum, "yy": yy, "yp": yy - ye, "pp": yy - ye - ye + ee,
        "abs_y": _sum_sizes(truth, y_sum),
    }  # fmt: skip


def _error_range(
    truth: Floats, predicted: Floats, error: Floats, ends: tuple[float, float, float, float], reach: Range
) -> Range:
    """The range of errors, whose last bit is at most one below that of truth, or of prediction, in the same row."""
    largest = max(-ends[2], ends[3])
    if ends[0] > 0 or truth.all():
        return reach[0] / 2, largest
    return (find_range(predicted)[0] / 2, largest) if predicted.all() else find_range(error)


def _sum_ratios(y: Floats, e: Floats, spare: Floats) -> dict[str, Dyadic]:
    """The sums of error over truth, of its size and of its square; none where a ratio overflows."""
    values = np.divide(e, y, out=spare[0, : len(e)])
    reach = find_range(np.abs(values, out=spare[1, : len(e)]))
    if not math.isfinite(reach[1]):
        return {}
    sums = {"rel": sum_range(values, reach, spare[1:])}
    sums["abs_rel"] = sum_range(np.abs(values, out=values), reach, spare[1:])
    return sums | _sum_squares("rel", values, reach, spare[1:])


def _sum_logs(y: Floats, p: Floats, e: Floats, spare: Floats) -> dict[str, Dyadic]:
    """The sum of squared ln(1 + truth) - ln(1 + predicted), and of its square."""
    values = log_ratios(y, p, e, spare[0, : len(e)])
    values *= values
    reach = find_range(values)
    if not math.isfinite(reach[1]):
        return {}
    return {"sq_log": sum_range(values, reach, spare[1:])} | _sum_squares("sq_log", values, reach, spare[1:])


def _sum_squares(name: str, values: Floats, reach: Range, spare: Floats) -> dict[str, Dyadic]:
    """With a star, the sum of the squares."""
    values *= values
    reach = reach[0] * reach[0], reach[1] * reach[1]
    if not math.isfinite(reach[1]):
        return {}
    return {f"{name}*": sum_range(values, reach if reach[0] else find_range(values), spare)}


def _sum_own(batch: Mapping[str, Floats], level: float | None) -> dict[str, Dyadic]:
    """Sums, and sums of squares, of what judges predicted quantiles, intervals and a reference."""
    columns = forecast_columns(batch, level)
    if "reference" in batch:
        columns |= base_columns(batch["truth"], batch["reference"])
    sums = {name: sum_exactly(values) for name, values in columns.items()}
    return sums | {f"{name}*": sum_exactly(values * values) for name, values in columns.items()}
