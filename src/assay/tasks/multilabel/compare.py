# SPDX-License-Identifier: Apache-2.0
"""Compares models on the same rows: McNemar on exact match and labels, sign flips of losses, linearised z."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.labels import Label
from assay.core.text import counted
from assay.core.values import Undefined
from assay.inference.estimates import Interval
from assay.inference.findings import Effect, Finding
from assay.inference.intervals.proportion import normal_quantile, student_quantile
from assay.inference.resampling import stream
from assay.inference.tail_probabilities import Tail, normal
from assay.inference.tests.mcnemar import mcnemar_midp
from assay.inference.unit_intervals import FEWEST
from assay.tally.base import Digested
from assay.tally.contingency_tables import Outcomes
from assay.tally.unit_table import UnitTable
from assay.tasks.multilabel.estimates import find_slopes
from assay.tasks.multilabel.measures import FREQUENCIES, LABELS, POOLED
from assay.tasks.multilabel.table import LabelTable
from assay.tasks.multilabel.tally import (
    BLOCK,
    GRID,
    MOST_LABELS,
    LabelSets,
    count_sets,
    indicators,
    pool_counts,
    sum_units,
    value_counts,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole
    from assay.measures.declare import Measure
    from assay.tasks.task_settings import TaskSettings


LOSSES: Final = {"hamming_loss": "Hamming loss", "jaccard_samples": "Jaccard of a row"}
EXACT: Final = "exact_match_ratio"
MOST_ROWS: Final = 200_000
"""Rows, or units, above which the z form replaces drawn sign flips."""
LABELS_TESTED: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair:
    """Two models row by row."""

    outcomes: Whole
    """Rows by who matches exactly, then who is right about each label: both, only first, only second, neither."""
    losses: Mapping[str, Whole]
    """By loss: differences of rows, first minus second, in units of 1 / GRID, and how many rows have each."""
    cross: Whole | None
    """Cross products of the indicators of the first with those of the second."""

    def __add__(self, other: Pair) -> Pair:
        """Both together."""
        losses = {name: pool_counts(own, other.losses[name]) for name, own in self.losses.items()}
        cross = None if self.cross is None or other.cross is None else self.cross + other.cross
        return Pair(outcomes=self.outcomes + other.outcomes, losses=losses, cross=cross)

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "outcomes": self.outcomes.tolist(),
            "losses": {name: values.tolist() for name, values in self.losses.items()},
            "cross": None if self.cross is None else self.cross.tolist(),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Pair:
        """The inverse of `to_json`."""
        losses = {name: np.array(own, dtype=np.int64).reshape(-1, 2) for name, own in content["losses"].items()}
        cross = None if content["cross"] is None else np.array(content["cross"], dtype=np.int64)
        return cls(outcomes=np.array(content["outcomes"], dtype=np.int64), losses=losses, cross=cross)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairedSets(Digested):
    """Label sets of several models on the same rows."""

    models: tuple[str, ...]
    tallies: Mapping[str, LabelSets]
    pairs: Mapping[tuple[str, str], Pair]
    units: UnitTable | None = None
    """By unit: for each pair the sums of the differences of both losses and of exact match."""

    @property
    def rows(self) -> int:
        """Rows that were counted."""
        return next(iter(self.tallies.values())).rows

    def table(self, model: str) -> LabelSets:
        """The tally of one model."""
        return self.tallies[model]

    def as_stored(self) -> PairedSets:
        """The same with scores rounded as a Record stores them, where there are very many."""
        return replace(self, tallies={model: tally.as_stored() for model, tally in self.tallies.items()})

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels."""
        return next(iter(self.tallies.values())).labels

    def __add__(self, other: PairedSets) -> PairedSets:
        """Both together; parts must have the same labels."""
        tallies = {
            model: tally.with_labels(other.labels) + other.tallies[model] for model, tally in self.tallies.items()
        }
        pairs = {names: pair + other.pairs[names] for names, pair in self.pairs.items()}
        units = None if self.units is None or other.units is None else self.units + other.units
        return PairedSets(models=self.models, tallies=tallies, pairs=pairs, units=units)

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "models": list(self.models),
            "tallies": {model: tally.to_json() for model, tally in self.tallies.items()},
            "pairs": [pair.to_json() for pair in self.pairs.values()],
            **({} if self.units is None else self.units.to_json()),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> PairedSets:
        """The inverse of `to_json`."""
        models = tuple(content["models"])
        return cls(
            models=models,
            tallies={model: LabelSets.from_json(part) for model, part in content["tallies"].items()},
            pairs=dict(zip(combinations(models, 2), map(Pair.from_json, content["pairs"]), strict=True)),
            units=UnitTable.from_json(content) if "units" in content else None,
        )


def count_models(
    labels: Sequence[Label], matrices: Mapping[str, NDArray[Any]], models: tuple[str, ...], units: NDArray[Any] | None
) -> PairedSets:
    """Count several models on the same rows."""
    truth = matrices["truth"]
    predicted = {model: matrices[f"predicted of model {model}"] for model in models}
    tallies = {
        model: count_sets(labels, truth, own, units=units, score=matrices.get(f"score of model {model}"))
        for model, own in predicted.items()
    }
    pairs, columns = {}, []
    for a, b in combinations(models, 2):
        losses = _row_losses(truth, predicted[a]), _row_losses(truth, predicted[b])
        apart = {name: losses[0][name] - losses[1][name] for name in (*LOSSES, EXACT)}
        columns += [np.nan_to_num(apart[name]) for name in (*LOSSES, EXACT)]
        pairs[a, b] = Pair(
            outcomes=_outcomes(truth, predicted[a], predicted[b]),
            losses={name: value_counts(apart[name]) for name in LOSSES},
            cross=_cross(truth, predicted[a], predicted[b]) if len(labels) <= MOST_LABELS else None,
        )
    table = None
    if units is not None:
        names = [f"{a}|{b}|{name}" for a, b in pairs for name in (*LOSSES, EXACT)]
        table = sum_units(names, np.column_stack(columns), units)
    return PairedSets(models=models, tallies=tallies, pairs=pairs, units=table)


def _row_losses(truth: NDArray[Any], predicted: NDArray[Any]) -> dict[str, Floats]:
    """Of each row: the share of wrong slots, the Jaccard index (NaN where both sets are empty), exact match."""
    both = (truth & predicted).sum(axis=1, dtype=np.int64)
    either = (truth | predicted).sum(axis=1, dtype=np.int64)
    with np.errstate(invalid="ignore"):
        jaccard = np.where(either > 0, both / np.maximum(either, 1), np.nan)
    return {
        "hamming_loss": (either - both) / truth.shape[1],
        "jaccard_samples": jaccard,
        EXACT: (either == both).astype(np.float64),
    }


def _outcomes(truth: NDArray[Any], a: NDArray[Any], b: NDArray[Any]) -> Whole:
    right = [truth == called for called in (a, b)]
    right = [np.column_stack([own.all(axis=1), own]) for own in right]
    first, second = right
    cells = (first & second, first & ~second, ~first & second, ~first & ~second)
    return np.stack([cell.sum(axis=0, dtype=np.int64) for cell in cells])


def _cross(truth: NDArray[Any], a: NDArray[Any], b: NDArray[Any]) -> Whole:
    size = 3 * truth.shape[1]
    total = np.zeros((size, size))
    for start in range(0, len(truth), BLOCK):
        part = slice(start, start + BLOCK)
        total += indicators(truth[part], a[part]).T @ indicators(truth[part], b[part])
    return np.rint(total).astype(np.int64)


def compare_sets(paired: PairedSets, settings: TaskSettings, measures: Sequence[Measure]) -> Iterator[Finding]:
    """Every measure of every two models, then who is right about each label."""
    for measure in measures:
        for names in paired.pairs:
            if settings.control is not None and settings.control not in names:
                continue
            yield _compare_measure(paired, names, measure, settings)
    if paired.units is None and settings.measures is None and len(paired.labels) <= LABELS_TESTED:
        for names, pair in paired.pairs.items():
            for place, label in enumerate(paired.labels):
                yield _mcnemar(pair, names, place + 1, f"accuracy of {label}", settings.wanted.level)


def _compare_measure(paired: PairedSets, names: tuple[str, str], measure: Measure, settings: TaskSettings) -> Finding:
    pair, level = paired.pairs[names], settings.wanted.level
    if measure.name in (*LOSSES, EXACT) and paired.units is not None:
        column = paired.units.names.index(f"{names[0]}|{names[1]}|{measure.name}")
        table, scale = value_counts(paired.units.sums[:, column]), paired.rows / paired.units.units
        return _flip_signs(table, names, measure.name, settings, unit="unit", scale=scale)
    if measure.name == EXACT:
        return _mcnemar(pair, names, 0, EXACT, level)
    if measure.name in LOSSES:
        return _flip_signs(pair.losses[measure.name], names, measure.name, settings, unit="row")
    if measure.family in (LABELS, FREQUENCIES, POOLED) and paired.units is None and pair.cross is not None:
        return _linear_difference(paired, names, measure, level)
    reason = f"{measure.name} is not compared here; {', '.join((EXACT, *LOSSES))} are"
    none = Undefined(reason=reason, code="not-counted")
    return _finding(names, measure.name, none, Effect(name=_minus(names), value=none), n=paired.rows, level=level)


def _minus(names: tuple[str, str]) -> str:
    return f"{names[0]} minus {names[1]}"


def _mcnemar(pair: Pair, names: tuple[str, str], column: int, about: str, level: float) -> Finding:
    both, only_a, only_b, neither = (int(n) for n in pair.outcomes[:, column])
    outcomes = Outcomes(both=both, only_a=only_a, only_b=only_b, neither=neither, models=names, about=about)
    finding = mcnemar_midp(outcomes, level=level)
    return finding.said(about=about, models=names, chosen="right or wrong, row by row, on the same rows")


def _flip_signs(
    table: Whole, names: tuple[str, str], about: str, settings: TaskSettings, *, unit: str, scale: float = 1.0
) -> Finding:
    """The mean difference of a loss; its chance by flipping the sign of each row, or unit, at random."""
    level, n = settings.wanted.level, int(table[:, 1].sum())
    values, counts = table[:, 0] / GRID, table[:, 1]
    name = _minus(names)
    if n < 2:  # noqa: PLR2004  a spread
        none = Undefined(reason=f"only {counted(n, unit)} can be compared", code="too-few")
        return _finding(names, about, none, Effect(name=name, value=none), n=n, level=level)
    mean = math.fsum((values * counts).tolist()) / n
    spread = math.sqrt(math.fsum((counts * (values - mean) ** 2).tolist()) / (n - 1) / n)
    difference, error = mean / scale, spread / scale
    reach = student_quantile((1 + level) / 2, n - 1) * error
    interval = None
    if n >= FEWEST and error > 0:
        method = f"mean of {n:,} {unit}s, Student's t"
        interval = Interval(low=difference - reach, high=difference + reach, level=level, method=method)
    effect = Effect(
        name=name, value=difference, share=True, interval=interval, no_interval=None if interval else "no spread"
    )
    moving = table[:, 0] != 0
    if not moving.any():
        none = Undefined(reason=f"the models have the same loss in every {unit}", code="no-discordant-pairs")
        return _finding(names, about, none, effect, n=n, level=level)
    if n > MOST_ROWS:
        return _finding(names, about, normal(mean / spread), effect, n=n, level=level, notes=("normal approximation",))
    rng, far, swaps = stream(settings.wanted.seed, 19), 0, settings.swaps
    sizes, often = np.abs(table[moving, 0]).astype(np.float64), counts[moving]
    step = max(1, (1 << 22) // len(sizes))
    seen = abs(float((table[moving, 0].astype(np.float64) * often).sum()))
    for start in range(0, swaps, step):
        kept = rng.binomial(often, 0.5, size=(min(step, swaps - start), len(sizes)))
        far += int((np.abs((2 * kept - often) @ sizes) >= seen * (1 - 1e-12)).sum())
    note = f"{swaps:,} random flips of the sign of each {unit}, seed {settings.wanted.seed}"
    return _finding(names, about, Tail.of((1 + far) / (1 + swaps)), effect, n=n, level=level, notes=(note,))


def _finding(
    names: tuple[str, str],
    about: str,
    chance: Tail | Undefined,
    effect: Effect,
    *,
    n: int,
    level: float,
    notes: tuple[str, ...] = (),
    test: str = "sign_flip",
) -> Finding:
    titles = {"sign_flip": f"sign flips of {LOSSES.get(about, about)}", "linear_z": "z test, linearised over rows"}
    return Finding(
        chance=chance,
        effect=effect,
        statistic=effect.value,
        statistic_name="difference",
        test=test,
        title=titles[test],
        about=about,
        models=names,
        n=n,
        level=level,
        notes=notes,
        chosen="the same rows are judged under both models, so their differences are what varies",
    )


def _linear_difference(paired: PairedSets, names: tuple[str, str], measure: Measure, level: float) -> Finding:
    """The difference of a smooth function of label counts: variance from cross products within and between models."""
    a, b = (paired.tallies[name] for name in names)
    name, rows = _minus(names), paired.rows
    values, slopes = zip(*(_value_and_slope(measure, tally) for tally in (a, b)), strict=True)
    if not all(np.isfinite(value) for value in values) or not all(np.isfinite(slope).all() for slope in slopes):
        none = Undefined(reason=f"{measure.name} of one of the models is undefined or infinite", code="undefined")
        return _finding(names, measure.name, none, Effect(name=name, value=none), n=rows, level=level, test="linear_z")
    joint = cast("Whole", paired.pairs[names].cross).astype(np.float64)
    crosses = [cast("Whole", tally.cross).astype(np.float64) for tally in (a, b)]
    squares = [float(slope @ cross @ slope) for slope, cross in zip(slopes, crosses, strict=True)]
    total = [float(slope @ tally.counts.ravel()) for slope, tally in zip(slopes, (a, b), strict=True)]
    spread = sum(squares) - 2 * float(slopes[0] @ joint @ slopes[1]) - (total[0] - total[1]) ** 2 / rows
    difference, error = values[0] - values[1], math.sqrt(max(spread, 0.0) * rows / max(rows - 1, 1))
    if not error:
        none = Undefined(reason="the models differ in no row", code="no-discordant-pairs")
        return _finding(
            names, measure.name, none, Effect(name=name, value=difference), n=rows, level=level, test="linear_z"
        )
    reach = normal_quantile((1 + level) / 2) * error
    method = f"linearised over {rows:,} rows"
    interval = Interval(low=difference - reach, high=difference + reach, level=level, method=method)
    effect = Effect(name=name, value=difference, interval=interval, share=measure.range == (0, 1))
    return _finding(names, measure.name, normal(difference / error), effect, n=rows, level=level, test="linear_z")


def _value_and_slope(measure: Measure, tally: LabelSets) -> tuple[float, Floats]:
    """A measure and its derivatives in the label counts, from those counts alone."""

    def values(cells: Floats) -> Floats:
        tp, fp, fn = np.split(cells, 3, axis=-1)
        both, called, true = tp.sum(axis=-1), (tp + fp).sum(axis=-1), (tp + fn).sum(axis=-1)
        n = np.full(len(cells), float(tally.rows))
        sums = {"n": n, "both": both, "called": called, "true": true, "wrong": called + true - 2 * both}
        return measure.values(cast("Any", LabelTable(tally.labels, sums, (tp, fp, fn))))

    return find_slopes(values, tally.counts.ravel().astype(np.float64))
