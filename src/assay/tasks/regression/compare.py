# SPDX-License-Identifier: Apache-2.0
"""Compares models on the same rows: swaps of units, paired differences of losses, order in time, spread of errors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import counted
from assay.core.values import Undefined
from assay.inference.findings import Check, Effect, Finding, no_number
from assay.inference.unit_intervals import compare_measure, model_pairs
from assay.tally.unit_table import UnitModels
from assay.tasks.regression.estimates import find_measure
from assay.tasks.regression.sums import Errors, LackingColumnError, add_by_code, row_sums

if TYPE_CHECKING:
    from assay.core.arrays import Floats
    from assay.core.values import Amount
    from assay.measures.declare import Measure
    from assay.tasks.regression.tally import PairedResiduals
    from assay.tasks.task_settings import TaskSettings


COMPARED: Final = ("mean_absolute_error", "root_mean_squared_error")
"""The measures that a comparison turns on unless others are named."""
TESTS: Final = ("permutation", "t", "wilcoxon", "diebold_mariano", "pitman_morgan")
LOSSES: Final = {"mean_absolute_error": "absolute errors", "mean_squared_error": "squared errors"}
FEWEST_ROWS: Final = 3
SAME: Final = Undefined(reason="both models make the same errors", code="no-discordant-pairs")


def compare_models(paired: PairedResiduals, settings: TaskSettings) -> Iterator[Finding]:
    """Findings about every two models.

    Without a choice of tests it is one for each measure: by order in time where that is known, by swaps otherwise.
    """
    stated = cast("tuple[str, ...]", settings.options.get("error_tests") or ())
    timed = any(name == "time" for name in paired.table.names)
    tests = stated or (("diebold_mariano",) if timed else ("permutation",))
    for pair in model_pairs(paired.models, settings.control):
        for test in tests:
            if test == "permutation":
                yield from swap_units(paired, settings, pair)
            elif test == "pitman_morgan":
                yield compare_spreads(paired, pair, settings.wanted.level)
            else:
                for measure in LOSSES:
                    yield compare_losses(paired, settings, pair, test, measure)


def chosen_measures(settings: TaskSettings) -> list[Measure]:
    """The measures that were asked for, or the usual ones."""
    return list(settings.measures) if settings.measures is not None else [find_measure(name) for name in COMPARED]


def swap_units(paired: PairedResiduals, settings: TaskSettings, pair: tuple[str, str]) -> Iterator[Finding]:
    """Swap the predictions of two models row by row, or unit by unit."""
    all_sums = build_unit_models(paired)
    wanted, unit = settings.wanted, "unit" if paired.table.units is not None else "row"
    for measure in chosen_measures(settings):
        models = select_columns(all_sums, measure)
        yield compare_measure(
            measure, models, cast("Any", partial(_name_columns, models.names)), pair,
            level=wanted.level, swaps=settings.swaps, seed=wanted.seed, unit=unit,
        )  # fmt: skip


class _Noted(Errors):
    """Sums that note which of them a measure reads."""

    def __getattr__(self, name: str) -> Amount:
        """The sum of a name, noted."""
        amount = super().__getattr__(name)
        self.__dict__.setdefault("read", set()).add(name)
        return amount


def select_columns(models: UnitModels, measure: Measure) -> UnitModels:
    """Only the sums that a measure reads: swaps add up far fewer numbers."""
    noted = _Noted({name: models.sums[:1, 0, place] for place, name in enumerate(models.names)})
    try:
        with np.errstate(all="ignore"):
            measure.values(cast("Any", noted))
    except LackingColumnError as lacking:
        raise PlanError(
            "comparison-needs", f"{measure.title} cannot be compared by swaps", where="measures", found=str(lacking),
            fix="name measures of sums, such as mean_absolute_error",
        ) from None  # fmt: skip
    kept = [place for place, name in enumerate(models.names) if name in noted.__dict__["read"]]
    names = tuple(models.names[place] for place in kept)
    return replace(models, names=names, sums=np.ascontiguousarray(models.sums[:, :, kept]))


def _name_columns(names: tuple[str, ...], totals: Floats) -> Errors:
    return Errors({name: totals[..., place] for place, name in enumerate(names)})


def build_unit_models(paired: PairedResiduals) -> UnitModels:
    """The sums of every unit for each model, about centres that all models share."""
    if "units" not in paired.cache:
        errors = [paired.errors(model) for model in paired.models]
        truth = paired.table.columns(paired.models[0])["truth"]
        codes = paired.table.unit_codes
        centres, once = (float(truth.mean()), float(np.mean(errors))), np.ones(len(truth))
        by_model = []
        for error in errors:
            sums = row_sums(truth, error, centres, once)
            if truth.all():
                sums |= {"rel": error / truth, "abs_rel": np.abs(error / truth), "zeros": np.zeros(len(truth))}
            by_model.append(np.column_stack([add_by_code(codes, values) for values in sums.values()]))
        units = len(by_model[0])
        paired.cache["units"] = UnitModels(
            models=paired.models, names=tuple(sums), sums=np.stack(by_model, axis=1), rows=paired.rows,
            ids=None if paired.table.units is None else tuple(str(place) for place in range(units)),
        )  # fmt: skip
    models: UnitModels = paired.cache["units"]
    return models


def compare_losses(
    paired: PairedResiduals, settings: TaskSettings, pair: tuple[str, str], test: str, measure: str
) -> Finding:
    """Test the mean difference of a loss: by t, by ranks, or by t in the order of time."""
    losses = [_loss(paired.errors(model), measure) for model in pair]
    level = settings.wanted.level
    if test == "diebold_mariano":
        horizon = int(cast("int", settings.options.get("horizon") or 1))
        finding = diebold_mariano(_time_order(paired, losses[0] - losses[1]), horizon, level)
        if paired.table.units is not None:
            finding = replace(finding, notes=(*finding.notes, "rows of one time were averaged over units"))
    else:
        finding = _paired_test(paired, losses, pair, test, level)
    return replace(finding, models=pair, about=measure, level=level)


def _loss(error: Floats, measure: str) -> Floats:
    return np.abs(error) if measure == "mean_absolute_error" else error * error


def _paired_test(
    paired: PairedResiduals, losses: list[Floats], pair: tuple[str, str], test: str, level: float
) -> Finding:
    from assay.inference.tests.means import paired_t
    from assay.inference.tests.ranks import wilcoxon
    from assay.tally.real_values import Pairs

    codes = paired.table.unit_codes
    rows = add_by_code(codes, np.ones(paired.rows))
    means = [add_by_code(codes, loss) / rows for loss in losses]
    pairs = Pairs.of(means[0], means[1], models=pair, unit="unit" if paired.table.units is not None else "row")
    finding = paired_t(pairs, level=level) if test == "t" else wilcoxon(pairs, level=level)
    note = ("each unit counts once, by the mean of its rows",) if paired.table.units is not None else ()
    return replace(finding, notes=(*finding.notes, *note))


def _time_order(paired: PairedResiduals, difference: Floats) -> Floats:
    """The mean difference at each time, in order."""
    columns = paired.table.columns(paired.models[0])
    if "time" not in columns:
        raise PlanError(
            "comparison-needs", "the Diebold-Mariano test needs the order of the rows", where="time",
            fix="give time=... (--time COLUMN)",
        )  # fmt: skip
    _, place = np.unique(columns["time"], return_inverse=True)
    order = np.lexsort((difference, place))
    sums = np.bincount(place[order], weights=difference[order])
    return np.asarray(sums / np.bincount(place), dtype=np.float64)


def diebold_mariano(difference: Floats, horizon: int, level: float) -> Finding:
    """Test a mean loss difference over time, in the small-sample form of Harvey, Leybourne and Newbold (1997)."""
    from assay.inference.tests.means import by_student

    n, name = len(difference), "mean loss of A minus that of B"
    title = "Diebold-Mariano test, small-sample form of Harvey, Leybourne and Newbold"
    about: dict[str, Any] = {"test": "diebold_mariano", "title": title, "n": n, "statistic_name": "t"}
    mean = math.fsum(difference.tolist()) / n
    if n < FEWEST_ROWS or horizon >= n:
        few = Undefined(reason=f"{counted(n, 'time')} are too few for a horizon of {horizon}", code="too-few")
        return Finding(chance=few, effect=Effect(name=name, value=mean), statistic=few, **about)
    apart = difference - mean
    covariances = [math.fsum((apart[lag:] * apart[: n - lag]).tolist()) / n for lag in range(horizon)]
    variance = (covariances[0] + 2 * math.fsum(covariances[1:])) / n
    notes = [f"horizon {horizon}: autocorrelation up to lag {horizon - 1} is allowed for"]
    if variance <= 0 < covariances[0]:
        variance = covariances[0] / n
        notes.append("the long-run variance was not positive, so that of independent times was taken")
    if not variance:
        chance = SAME if not mean else Undefined(reason="the loss difference is constant", code="zero-variance")
        return Finding(chance=chance, effect=Effect(name=name, value=mean), statistic=chance, **about)
    shrink = (n + 1 - 2 * horizon + horizon * (horizon - 1) / n) / n
    error = math.sqrt(variance / shrink)
    first = float((apart[1:] * apart[:-1]).sum() / n / covariances[0]) if covariances[0] else 0.0
    limit = 2 / math.sqrt(n)
    check = Check(
        assumes=f"loss differences are uncorrelated from lag {horizon}",
        holds=abs(first) <= limit if horizon == 1 else None,
        seen=f"autocorrelation at lag 1 is {first:.3f}, by chance up to {limit:.3f}",
    )
    plain = by_student(name, mean, error, n - 1, n, level=level, method="Diebold-Mariano, Student's t")
    why = "rows are ordered in time, so that neighbouring errors may be alike"
    return plain.said(test="diebold_mariano", title=title, notes=tuple(notes), checks=(check,), chosen=why)


def compare_spreads(paired: PairedResiduals, pair: tuple[str, str], level: float) -> Finding:
    """Test whether two models spread their errors alike: correlation of sums and differences of errors."""
    from assay.inference.tests.variance import pitman_morgan
    from assay.tally.real_values import Pairs

    about: dict[str, Any] = {"about": "bland_altman_sd", "models": pair, "level": level}
    name = f"ratio of the error variances, {pair[0]} over {pair[1]}"
    if paired.table.units is not None:
        none = Undefined(reason="rows of one unit are not independent, which this test needs", code="dependent")
        return no_number(name, none, "t", test="pitman_morgan", title=pitman_morgan.title, n=paired.rows, **about)
    finding = pitman_morgan(Pairs.of(*(paired.errors(model) for model in pair), models=pair), level=level)
    effect = replace(finding.effect, name=name)
    return finding.said(effect=effect, chosen="paired variances of normal errors", **about)
