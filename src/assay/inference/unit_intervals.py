# SPDX-License-Identifier: Apache-2.0
"""Intervals of any function of sums over units, and comparisons of two models by it.

An interval is a delete-one jackknife on the scale of the measure with Student's quantile.
Where rows of one unit belong together, the jackknife over units gives the variance, the one over rows that of
independent rows; their quotient is the design effect (Korn and Graubard 1998). Shares take Wilson's interval and
functions of four cells Dirichlet draws on cells divided by it; other values take Student's t on their own scale.
Coverage of each family of measures: `docs/why/coverage.md`.

Two models are compared by swapping them unit by unit. Above `MOST_UNITS` units the z form takes over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.core.text import counted, plural
from assay.core.traits import Better
from assay.core.values import Undefined
from assay.inference.estimates import Interval
from assay.inference.findings import Effect, Finding
from assay.inference.intervals.proportion import normal_quantile, of_shares, student_quantile
from assay.inference.power import least_student
from assay.inference.resampling import stream
from assay.inference.tail_probabilities import Tail

if TYPE_CHECKING:
    from assay.core.arrays import Floats
    from assay.measures.declare import Measure, Tally
    from assay.tally.unit_table import Sums, UnitModels, UnitTable

    Values = Callable[[Floats], Floats]

FEWEST: Final = 5
"""Units below which there is no interval: the spread of so few says nothing."""
FEW: Final = 20
"""Units below which an interval carries a note."""
PRIOR: Final = 0.5
"""Added to each of four cells before drawing."""
LARGEST: Final = 0.5
"""Share of the rows that one unit may hold."""
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


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale on which values of a range are nearly symmetric."""

    name: str
    to: Callable[[Floats], Floats]
    back: Callable[[float], float]


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


LINEAR: Final = Scale("linear", lambda x: x, lambda x: x)
SCALES: Final = {
    (0.0, 1.0): Scale("logit", lambda x: np.log(x) - np.log1p(-x), _logistic),
    (-1.0, 1.0): Scale("Fisher", np.arctanh, math.tanh),
    (0.0, math.inf): Scale("log", np.log, math.exp),
    (-math.inf, 1.0): Scale("log(1 - x)", lambda x: -np.log1p(-x), lambda x: -math.expm1(-x)),
}


def scale_of(measure: Measure) -> Scale:
    """The scale that fits the range of a measure."""
    low, high = measure.range
    return SCALES.get((float(low), float(high)), LINEAR)


def jackknife_interval(measure: Measure, table: UnitTable, sums: type[Sums], level: float) -> Interval | str:
    """The interval of a measure, or the reason why there is none."""
    if table.units < FEWEST:
        return f"only {counted(table.units, 'unit')}; an interval needs {FEWEST} or more"
    scale = scale_of(measure)
    values = measure.values(cast("Tally", sums(np.vstack([table.total(), table.without_each()]))))
    if not np.isfinite(values).all():
        return "the value is undefined, or infinite, without one of the units"
    ends = jackknife_ends(scale, values[0], values[1:], table.units - 1, level)
    if isinstance(ends, str):
        return ends
    method = f"jackknife of {table.units:,} units, {scale.name} scale, Student's t"
    return Interval(low=ends[0], high=ends[1], level=level, method=method, notes=note_few(table.units))


def jackknife_ends(scale: Scale, value: float, without: Floats, df: float, level: float) -> tuple[float, float] | str:
    """The ends on a scale from the values without each unit, or the reason why there are none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = scale.to(np.append(value, without))
    if not np.isfinite(scaled).all():
        return "the value, or that without one unit, is at an end of its range"
    if not (error := jackknife_error(scaled[0], scaled[1:])):
        return "no unit differs from the others, so the spread is unknown"
    reach = student_quantile((1 + level) / 2, df) * error
    return scale.back(float(scaled[0] - reach)), scale.back(float(scaled[0] + reach))


def note_few(units: int) -> tuple[str, ...]:
    """The note that an interval of few units carries."""
    return (f"only {counted(units, 'unit')}: the interval may be too narrow",) if units < FEW else ()


def jackknife_error(value: float, without: Floats) -> float:
    """The standard error from the values without each unit (Tukey 1958)."""
    size = len(without)
    return math.sqrt((size - 1) / size * math.fsum(((without - value) ** 2).tolist()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustered:
    """A value with what it becomes without each unit and without one row of each cell."""

    measure: Measure
    value: float
    without_unit: Floats
    without_row: Floats
    """The value without one row, for each kind of row."""
    rows: Floats
    """How many rows there are of each kind."""
    sizes: Floats
    """Rows of each unit."""
    informative: Floats
    """Whether a unit holds rows that the value rests on."""
    erring: int = 0
    """Units that hold a wrong prediction; 0 where there is none, or predictions are not judged."""

    def refusal(self) -> str | None:
        """Why there is no interval, if there is none."""
        units = int(self.informative.sum())
        if units < FEWEST:
            return f"only {counted(units, 'unit')} with rows that matter; an interval needs {FEWEST} or more"
        if self.sizes.max() > LARGEST * self.sizes.sum():
            return "one unit holds more than half of the rows"
        return None

    def design_effect(self) -> float:
        """How many times as large the variance is as that of independent rows."""
        known = np.isfinite(self.without_unit)
        count = int(known.sum())
        by_unit = (count - 1) / count * float(((self.without_unit[known] - self.value) ** 2).sum()) if count else 0.0
        kept, n = np.isfinite(self.without_row), float(self.rows.sum())
        gaps = (self.without_row[kept] - self.value) ** 2
        by_row = (n - 1) / n * float((self.rows[kept] * gaps).sum())
        if by_unit > 0 and by_row > 0:
            return by_unit / by_row
        return float((self.sizes**2).sum() / self.sizes.sum())

    def degrees(self) -> float:
        """Degrees of freedom: informative units, or Kish's number of them where sizes differ."""
        kish = float(self.sizes.sum() ** 2 / (self.sizes**2).sum())
        return max(min(float(self.informative.sum()), kish) - 1, 1.0)

    def notes(self) -> tuple[str, ...]:
        """What a reader of the interval should know."""
        units = int(self.informative.sum())
        few = note_few(units)
        rare = f"errors are in {counted(self.erring, 'unit')} only: the interval may be too narrow"
        return (*few, rare) if 0 < self.erring < FEWEST else few

    def effect_and_method(self, level: float) -> tuple[float, str, tuple[str, ...]]:
        """The design effect widened for few units, and how it is told."""
        effect, units = self.design_effect(), int(self.informative.sum())
        wide = (student_quantile((1 + level) / 2, self.degrees()) / normal_quantile((1 + level) / 2)) ** 2
        return effect * wide, f"by unit, {counted(units, 'unit')}, design effect {effect:.3g}", self.notes()


def share_interval(case: Clustered, top: float, of: float, level: float) -> Interval | str:
    """Wilson's interval of a share whose rows come in units."""
    if (why := case.refusal()) is not None:
        return why
    effect, told, notes = case.effect_and_method(level)
    low, high = of_shares(np.array([top / effect]), np.array([of / effect]), level, "wilson")
    return Interval(low=float(low[0]), high=float(high[0]), level=level, method=f"wilson {told}", notes=notes)


def table_interval(
    case: Clustered, cells: Floats, values: Callable[[Floats], Floats], *, level: float, draws: int, seed: int
) -> Interval | str:
    """Dirichlet draws of four cells divided by the design effect."""
    if (why := case.refusal()) is not None:
        return why
    effect, method_name, notes = case.effect_and_method(level)
    rng = stream(seed, 23)
    drawn = rng.standard_gamma(cells / effect + PRIOR, size=(draws, len(cells)))
    reached = values(drawn / drawn.sum(axis=1, keepdims=True) * cells.sum())
    reached = reached[np.isfinite(reached)]
    if len(reached) < draws / 2:
        return "in most draws the value is undefined"
    low, high = np.quantile(reached, [(1 - level) / 2, (1 + level) / 2])
    return Interval(
        low=min(float(low), case.value), high=max(float(high), case.value), level=level,
        method=f"dirichlet {method_name}", draws=draws, seed=seed, notes=notes,
    )  # fmt: skip


def jackknife_t(case: Clustered, level: float) -> Interval | str:
    """Student's t on the scale of the measure, from the values without each unit."""
    if (why := case.refusal()) is not None:
        return why
    scale = scale_of(case.measure)
    known, units = case.without_unit[np.isfinite(case.without_unit)], int(case.informative.sum())
    ends = jackknife_ends(scale, case.value, known, case.degrees(), level)
    if isinstance(ends, str):
        return ends
    method = f"jackknife by unit, {counted(units, 'unit')}, {scale.name} scale, Student's t"
    return Interval(low=ends[0], high=ends[1], level=level, method=method, notes=case.notes())


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

    def values(totals: Floats) -> Floats:
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
    interval, error = difference_interval(values, a, b, difference=difference, level=level, unit=unit)
    share = tuple(map(float, measure.range)) == (0.0, 1.0)
    effect = Effect.of(name, difference, interval, share=share)
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


def _total(sums: Floats) -> Floats:
    return np.array([math.fsum(column) for column in sums.T.tolist()])


def difference_interval(
    values: Values, a: Floats, b: Floats, *, difference: float, level: float, unit: str
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
    sums: tuple[Floats, Floats],
    totals: tuple[Floats, Floats],
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
