# SPDX-License-Identifier: Apache-2.0
"""Compares two models on the same units: swaps of the models unit by unit, and a jackknife interval of the difference.

Any measure that is a function of sums over units can be compared. Above `MOST_UNITS` units the z form takes over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.core.text import counted, plural
from assay.core.traits import Better
from assay.core.values import Undefined
from assay.inference.estimates import Interval
from assay.inference.findings import Effect, Finding
from assay.inference.intervals.proportion import student_quantile
from assay.inference.power import least_student
from assay.inference.resampling import stream
from assay.inference.tail_probabilities import Tail
from assay.inference.unit_intervals import FEWEST, jackknife_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.measures.declare import Measure, Tally
    from assay.tally.unit_table import Sums, UnitModels

    Values = Callable[[NDArray[np.float64]], NDArray[np.float64]]

MOST_UNITS: Final = 200_000
HELD: Final = 1 << 22
"""Random numbers that are held at a time."""
SAME: Final = 1e-12
PERMUTATION, LARGE_SAMPLE = "unit_permutation", "unit_z"
OF_DIFFERENCES: Final = (
    PERMUTATION, LARGE_SAMPLE, "row_jackknife", "sign_flip", "linear_z", "mcnemar_midp", "paired_t", "diebold_mariano",
)  # fmt: skip
"""Tests of tasks whose effect is a difference with an interval, so that it can be held to a margin."""
MARGIN_TESTS: Final = {False: "unit_non_inferiority", True: "unit_equivalence"}


def model_pairs(models: tuple[str, ...], control: str | None = None) -> Iterator[tuple[str, str]]:
    """Every two models, or each one with the control."""
    for a, b in combinations(models, 2):
        if control is None or control in (a, b):
            yield a, b


def compare_measure(
    measure: Measure,
    paired: UnitModels,
    sums: type[Sums],
    models: tuple[str, str],
    *,
    level: float = 0.95,
    swaps: int = 9999,
    seed: int = 4213,
    unit: str = "unit",
) -> Finding:
    """Test whether two models have the same value of a measure."""

    def values(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        return measure.values(cast("Tally", sums(totals)))

    a, b = paired.pair(*models)
    first, second = _total(a), _total(b)
    both = values(np.vstack([first, second]))
    about = {
        "about": measure.title, "models": models, "n": paired.units, "level": level,
        "title": f"permutation test of {plural(unit)}", "test": PERMUTATION, "statistic_name": "difference",
    }  # fmt: skip
    name = f"{models[0]} minus {models[1]}"
    if not np.isfinite(both).all():
        none = Undefined(reason=f"{measure.title} of one of the models is undefined or infinite", code="undefined")
        return Finding(chance=none, effect=Effect(name=name, value=none), statistic=none, **about)  # type: ignore[arg-type]
    difference = float(both[0] - both[1])
    interval = difference_interval(values, a, b, difference=difference, level=level, unit=unit)
    share = tuple(map(float, measure.range)) == (0.0, 1.0)
    error = interval[1]
    effect = Effect(
        name=name, value=difference, share=share,
        interval=interval[0] if isinstance(interval[0], Interval) else None,
        no_interval=interval[0] if isinstance(interval[0], str) else None,
    )  # fmt: skip
    chance, notes = _chance(
        values, (a, b), (first, second), difference=difference, error=error, swaps=swaps, seed=seed, unit=unit
    )
    if paired.units > MOST_UNITS:
        about |= {"test": LARGE_SAMPLE, "title": f"z test by {plural(unit)}"}
    least = least_student(error, paired.units - 1, level) if error > 0 and paired.units > 1 else None
    better = "" if measure.better is Better.HIGHER else f"{measure.title}: {measure.better}"
    return Finding(
        chance=chance, effect=effect, statistic=difference, least=least,
        notes=tuple(filter(None, (*notes, better))),
        chosen=f"any function of sums over {plural(unit)} can be compared by swapping the models {unit} by {unit}",
        **about,  # type: ignore[arg-type]
    )  # fmt: skip


def _total(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([math.fsum(column) for column in sums.T.tolist()])


def difference_interval(
    values: Values, a: NDArray[np.float64], b: NDArray[np.float64], *, difference: float, level: float, unit: str
) -> tuple[Interval | str, float]:
    """The jackknife interval of a difference, or why there is none, and its standard error."""
    units = len(a)
    if units < FEWEST:
        return f"only {counted(units, unit)}; an interval needs {FEWEST} or more", 0.0
    without = values(_total(a) - a) - values(_total(b) - b)
    if not np.isfinite(without).all():
        return f"a value is undefined or infinite without one of the {plural(unit)}", 0.0
    error = jackknife_error(difference, without)
    if not error:
        return f"no {unit} differs from the others, so the spread is unknown", 0.0
    reach = student_quantile((1 + level) / 2, units - 1) * error
    method = f"jackknife of {units:,} {plural(unit)}, Student's t"
    return Interval(low=difference - reach, high=difference + reach, level=level, method=method), error


def _chance(
    values: Values,
    sums: tuple[NDArray[np.float64], NDArray[np.float64]],
    totals: tuple[NDArray[np.float64], NDArray[np.float64]],
    *,
    difference: float,
    error: float,
    swaps: int,
    seed: int,
    unit: str,
) -> tuple[Tail | Undefined, tuple[str, ...]]:
    gaps = sums[0] - sums[1]
    moving = np.flatnonzero(gaps.any(axis=1))
    if not len(moving):
        return Undefined(reason=f"the models have the same sums in every {unit}", code="no-discordant-pairs"), ()
    if len(gaps) > MOST_UNITS:
        from scipy.special import ndtr

        return Tail.of(float(2 * ndtr(-abs(difference) / error))) if error else Tail.of(1.0), ("normal approximation",)
    gaps, far, step = gaps[moving], 0, max(1, HELD // len(moving))
    rng = stream(seed, 17)
    for start in range(0, swaps, step):
        chosen = rng.integers(0, 2, size=(min(step, swaps - start), len(moving)), dtype=np.int8)
        moved = chosen.astype(np.float64) @ gaps
        drawn = values(totals[0] - moved) - values(totals[1] + moved)
        far += int((np.abs(drawn) >= abs(difference) * (1 - SAME)).sum())
    note = f"{swaps:,} random swaps of {plural(unit)}, seed {seed}; p = (1 + as far) / (1 + drawn)"
    return Tail.of((1 + far) / (1 + swaps)), (note,)


def check_margin(finding: Finding, margin: float, *, equivalence: bool, higher_is_better: bool) -> Finding:
    """Turn a difference with an interval into a non-inferiority or an equivalence test against a margin."""
    effect = finding.effect
    name = MARGIN_TESTS[equivalence]
    if effect.interval is None or isinstance(effect.value, Undefined):
        none = Undefined(reason=effect.no_interval or "there is no interval", code="undefined")
        return finding.said(test=name, title=name.replace("_", " "), chance=none, adjusted=None)
    from scipy.special import stdtr

    reach = (effect.interval.high - effect.interval.low) / 2
    df = max(finding.n - 1, 1)
    error = reach / student_quantile((1 + effect.interval.level) / 2, df)
    value = effect.value if higher_is_better else -effect.value
    p = float(stdtr(df, -(value + margin) / error))
    if equivalence:
        p = max(p, float(stdtr(df, (value - margin) / error)))
    return finding.said(
        test=name, title=f"{'equivalence' if equivalence else 'non-inferiority'} within a margin of {margin:g}",
        chance=Tail.of(max(p, 1e-300)), alternative="two-sided" if equivalence else "greater", least=None,
        chosen="a margin was stated", notes=(f"margin {margin:g}",),
    )  # fmt: skip
