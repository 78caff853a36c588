# SPDX-License-Identifier: Apache-2.0
"""Reads truth and predictions: columns of any table, arrays of one or several outputs, arrays of images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import OutOfRange, PlanError, RowsError
from assay.core.task import Counted, Request
from assay.core.text import counted, listed, visible
from assay.rows.source import check_same_index
from assay.tally.batches import Column, open_batches
from assay.tasks.regression.tally import HELD_ROWS, OF, Facts, PairedResiduals, Residuals, RowTable
from assay.tasks.unit_inputs import UNIT, Parts, count_levels, lacking_role, ordered_levels, side_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats


BASELINES: Final = ("mean", "median", "last")
LARGEST: Final = 1e300
"""Values above this would overflow in a difference."""
IMAGES: Final = 3
"""Axes from which an array holds one image, map or series for each entry of the first."""
SHOWN: Final = 3


class ResidualParts(Parts[Residuals]):
    """A tally of residuals, and those of each level of each group."""

    KIND = Residuals


def read_residuals(request: Request) -> Counted:
    """Read and count one model."""
    check_same_index({**_without_training(request.given), "unit": request.unit, **request.group})
    request, notes = flatten_images(request)
    columns, facts = choose_columns(request)
    notes += describe_facts(request, facts)
    with open_batches(request, columns | side_columns(request)) as batches:
        many = (batches.table.rows or 0) > HELD_ROWS
        kernel = partial(count_rows, facts, tuple(columns), tuple(request.group), many)
        # two threads would wait for each other between the short calls of NumPy; the engine reads beside this one
        parts = batches.run(kernel, ResidualParts, unit=None if request.unit is None else UNIT, workers=1)
        groups = parts.grouped.map(Residuals.final)
        return Counted(
            tally=parts.tally.final(), census=batches.census, groups=ordered_levels(groups),
            notes=(*batches.notes, *notes), data=batches.about,
        )  # fmt: skip


def read_paired_residuals(request: Request, models: Mapping[str, Mapping[str, object]]) -> Counted:
    """Read and count several models on the same rows."""
    by_model: dict[str, Column] = {}
    for model, given in models.items():
        check_same_index({**_without_training(request.given), **given, "unit": request.unit})
        own, _ = flatten_images(replace(request, given={**request.given, **given}))
        chosen, facts = choose_columns(own)
        if len(facts.outputs) > 1:
            raise PlanError(
                "comparison-needs", "models with several outputs cannot be compared at once", where="predicted",
                fix="compare the models output by output",
            )  # fmt: skip
        shared = {name: column for name, column in chosen.items() if name in ("truth", "time", "reference")}
        by_model |= shared | {f"{name}{OF}{model}": column for name, column in chosen.items() if name not in shared}
        request = replace(request, unit=own.unit)
    with open_batches(request, by_model | side_columns(replace(request, group={}))) as batches:
        kernel = partial(count_models, facts, tuple(models), tuple(by_model))
        paired = batches.run(kernel, PairedResiduals)
        return Counted(tally=paired.final(), census=batches.census, notes=batches.notes, data=batches.about)


def _without_training(given: Mapping[str, object]) -> dict[str, object]:
    return {name: column for name, column in given.items() if name != "training"}


def flatten_images(request: Request) -> tuple[Request, tuple[str, ...]]:
    """Arrays of three axes or more as columns of pixels, whose unit is the entry of the first axis."""
    arrays = {name: np.asarray(value) for name, value in request.given.items() if getattr(value, "ndim", 1) >= IMAGES}
    if not arrays:
        return request, ()
    shapes = {array.shape for array in arrays.values()}
    if len(shapes) > 1:
        raise RowsError(
            "rows-unmatched", "truth and predictions are arrays of different shapes",
            found=" and ".join(str(shape) for shape in sorted(shapes)), fix="give arrays of the same shape",
        )  # fmt: skip
    (shape,) = shapes
    size = int(np.prod(shape[1:]))
    given = {name: arrays[name].reshape(-1) if name in arrays else value for name, value in request.given.items()}
    unit = request.unit if request.unit is not None else np.arange(shape[0])
    note = f"each of the {shape[0]:,} entries of the first axis is a unit with {size:,} values"
    return replace(request, given=given, unit=np.repeat(np.asarray(unit), size)), (note,)


def choose_columns(request: Request) -> tuple[dict[str, Column], Facts]:
    """The columns to read by name, and what is stated beside them."""
    given, options = request.given, request.options
    missing = cast("Any", options.get("missing") or "error")
    for name in ("truth", "predicted"):
        if given.get(name) is None:
            raise lacking_role(name, f"{name} holds a number")
    roles = [name for name in ("truth", "predicted", "reference") if given.get(name) is not None]
    parts = {name: split_outputs(given[name]) for name in roles}
    outputs = tuple(parts["truth"])
    if len({len(part) for part in parts.values()}) > 1:
        numbers = ", ".join(f"{name} {len(part)}" for name, part in parts.items())
        raise PlanError(
            "role-clash", "truth and predictions have different numbers of outputs", found=numbers,
            fix="give as many columns of predictions as of truth, in the same order",
        )  # fmt: skip
    columns: dict[str, Column] = {}
    for name, part in parts.items():
        for output, values in zip(outputs, part.values(), strict=True):
            columns[f"{name}{OF}{output}" if len(outputs) > 1 else name] = Column(values, "number", missing)
    columns |= {name: Column(values, "number", missing) for name, values in forecast_columns(given, outputs).items()}
    if given.get("time") is not None:
        columns["time"] = Column(read_times(given["time"], request.data), "number", missing)
    return columns, choose_facts(request, outputs)


def split_outputs(values: object) -> dict[str, object]:
    """The columns of each output: names of columns, a two-dimensional array, or one column."""
    if isinstance(values, (list, tuple)) and values and all(isinstance(value, str) for value in values):
        return {str(value): value for value in values}
    if getattr(values, "ndim", 1) == 2:  # noqa: PLR2004  a table of outputs
        names = [str(name) for name in getattr(values, "columns", range(1, np.shape(cast("Any", values))[1] + 1))]
        array = np.asarray(values)
        return {name: array[:, place] for place, name in enumerate(names)} if len(names) > 1 else {"": array[:, 0]}
    return {"": values}


def forecast_columns(given: Mapping[str, object], outputs: Sequence[str]) -> dict[str, object]:
    """Columns of predicted quantiles and intervals."""
    columns: dict[str, object] = {}
    quantiles = given.get("quantile")
    if quantiles is not None:
        for level, values in read_levels(quantiles).items():
            columns[f"quantile {level!r}"] = values
    ends = [name for name in ("lower", "upper") if given.get(name) is not None]
    if len(ends) == 1:
        other = "upper" if ends == ["lower"] else "lower"
        raise PlanError(
            "role-missing", f"{ends[0]} is given without {other}", where=other, fix=f"give {other}=... as well"
        )
    columns |= {name: given[name] for name in ends}
    if columns and len(outputs) > 1:
        raise PlanError(
            "role-clash", "quantiles and intervals are read for one output only", where="truth",
            fix="assess each output with its quantiles by itself",
        )  # fmt: skip
    return columns


def read_levels(quantiles: object) -> dict[float, object]:
    """Columns of quantiles by level: a mapping, or texts such as 0.9=COLUMN."""
    pairs: list[tuple[object, object]]
    if isinstance(quantiles, Mapping):
        pairs = list(quantiles.items())
    else:
        texts = [quantiles] if isinstance(quantiles, str) else list(cast("Sequence[str]", quantiles))
        pairs = [tuple(str(text).split("=", 1)) for text in texts]  # type: ignore[misc]
    levels: dict[float, object] = {}
    for level, values in pairs:
        try:
            number = float(cast("str", level))
        except ValueError:
            number = 0.0
        if not 0 < number < 1:
            raise PlanError(
                "option-unknown", f"{visible(level)} is not a level of a quantile", where="quantile",
                known="numbers between 0 and 1", fix='write quantile={0.1: "low", 0.9: "high"} (--quantile 0.1=low)',
            )  # fmt: skip
        levels[number] = values
    return dict(sorted(levels.items()))


def read_times(values: object, data: object) -> object:
    """Times as numbers: dates of an array become nanoseconds; a column of a table must hold numbers."""
    if isinstance(values, str) or data is not None:
        return values
    array = np.asarray(values)
    if array.dtype.kind in "US" or (array.dtype.kind == "O" and len(array) and not np.isreal(array[0])):
        try:
            array = array.astype("datetime64[ns]")
        except ValueError:
            raise RowsError(
                "column-not-numeric", "time must hold numbers or dates", where="time", found=visible(str(array[0])),
                fix="write dates as 2026-11-17",
            ) from None  # fmt: skip
    return array.astype("datetime64[ns]").astype(np.int64).astype(np.float64) if array.dtype.kind == "M" else array


def choose_facts(request: Request, outputs: tuple[str, ...]) -> Facts:
    """What the options state."""
    options, given = request.options, request.given
    baseline = cast("str | None", options.get("baseline"))
    if baseline is None and given.get("reference") is not None:
        baseline = "reference"
    if baseline is not None and baseline not in (*BASELINES, "reference"):
        raise PlanError(
            "option-unknown", f"unknown baseline {visible(baseline)}", where="baseline", known=listed(BASELINES),
            fix="choose one of them, or give a column reference=...",
        )  # fmt: skip
    if baseline == "last" and given.get("time") is None:
        raise PlanError(
            "role-missing", "the last value as baseline needs the order of rows", where="time", fix="give time=..."
        )
    level = options.get("interval_level")
    if level is not None and not 0 < float(cast("float", level)) < 1:
        raise PlanError(
            "option-unknown", f"interval_level = {level!r} is not a level", known="numbers between 0 and 1",
            fix="state the level of lower and upper, such as 0.9",
        )  # fmt: skip
    return Facts(
        outputs=outputs, baseline=baseline, interval_level=None if level is None else float(cast("float", level)),
        scales=scale_series(request, outputs), weights=weigh_outputs(options.get("output_weights"), outputs),
    )  # fmt: skip


def weigh_outputs(stated: object, outputs: Sequence[str]) -> tuple[float, ...]:
    """The stated weights of outputs."""
    weights = tuple(float(cast("float", weight)) for weight in cast("Sequence[object]", stated or ()))
    if weights and (len(weights) != len(outputs) or min(weights) < 0 or not 0 < sum(weights) < np.inf):
        raise PlanError(
            "option-unknown", "output_weights does not fit the outputs", where="output_weights",
            found=f"{len(weights)} weights for {len(outputs)} outputs", known="one number of 0 or more for each output",
            fix="state one weight for each output, in their order",
        )  # fmt: skip
    return weights


def scale_series(request: Request, outputs: tuple[str, ...]) -> tuple[float | None, ...]:
    """The mean absolute step of the training series of each output."""
    training = request.given.get("training")
    if training is None:
        return ()
    season = int(cast("int", request.options.get("season") or 1))
    source = request.given["truth"] if isinstance(training, str) and training == "truth" else training
    if isinstance(source, str) or (isinstance(source, (list, tuple)) and source and isinstance(source[0], str)):
        raise PlanError(
            "option-unknown", "the training series must be given as an array", where="training",
            fix="read the series first, and give training=[...]",
        )  # fmt: skip
    parts = split_outputs(source)
    if len(parts) != len(outputs):
        raise PlanError(
            "role-clash", "the training series has another number of outputs", where="training",
            fix="give one series for each output",
        )  # fmt: skip
    scales: list[float | None] = []
    for values in parts.values():
        series = np.asarray(values, dtype=np.float64)
        if source is request.given["truth"] and request.given.get("time") is not None:
            series = series[np.argsort(np.asarray(read_times(request.given["time"], None)), kind="stable")]
        if not np.isfinite(series).all():
            raise OutOfRange(
                "value-not-finite", "the training series holds values that are not finite", where="training",
                fix="correct the series",
            )  # fmt: skip
        steps = np.abs(series[season:] - series[:-season])
        scales.append(float(steps.mean()) if len(steps) else 0.0)
    return tuple(scales)


def describe_facts(request: Request, facts: Facts) -> tuple[str, ...]:
    """Notes about conventions that a reader must know."""
    notes = ["errors are truth minus prediction; bias (MNB, NMB, Bland-Altman) is prediction minus truth"]
    if facts.baseline in ("mean", "median"):
        notes.append(f"the baseline is the {facts.baseline} of the truth of these very rows, which a model cannot know")
    if facts.baseline == "last":
        notes.append("the baseline is the truth of the row before, by time; the first row of a unit has none")
    if isinstance(request.given.get("training"), str):
        notes.append("MASE is scaled by the test series, by time or in the order given, not by the training series")
    return tuple(notes)


def count_rows(
    facts: Facts,
    names: tuple[str, ...],
    factors: tuple[str, ...],
    many: bool,  # noqa: FBT001  bound by position
    batch: Mapping[str, NDArray[Any]],
) -> ResidualParts:
    """Count a batch of rows and those of each level: the kernel."""
    table = build_table(names, batch, facts.outputs)
    grouped = count_levels(batch, factors, lambda rows: Residuals.of(facts, table.select(rows)))
    return ResidualParts(Residuals.of(facts, table, many=many), grouped)


def count_models(
    facts: Facts, models: tuple[str, ...], names: tuple[str, ...], batch: Mapping[str, NDArray[Any]]
) -> PairedResiduals:
    """Keep a batch of rows of several models."""
    return PairedResiduals(facts=facts, models=models, table=build_table(names, batch, models))


def build_table(names: tuple[str, ...], batch: Mapping[str, NDArray[Any]], parts: Sequence[str]) -> RowTable:
    """The columns of a batch, checked."""
    values = tuple(np.asarray(batch[name], dtype=np.float64) for name in names)
    check_size(names, values)
    units = None if UNIT not in batch else tuple(str(unit) for unit in batch[UNIT].tolist())
    table = RowTable(names=names, values=values, units=units)
    for part in parts:
        columns = table.columns(part)
        if "lower" in columns:
            check_order(columns["lower"], columns["upper"])
    return table


def check_size(names: Sequence[str], values: Sequence[Floats]) -> None:
    """Raise where a difference of two values could overflow."""
    for name, column in zip(names, values, strict=True):
        if len(column) and max(-column.min(), column.max()) > LARGEST:
            raise OutOfRange(
                "value-out-of-domain", f"{name} holds values above {LARGEST:g}", where=name,
                found=f"{float(column[np.abs(column).argmax()]):g}", fix="rescale truth and predictions",
            )  # fmt: skip


def check_order(lower: Floats, upper: Floats) -> None:
    """Raise where intervals are reversed, naming the first ones."""
    reversed_rows = np.flatnonzero(lower > upper)
    if len(reversed_rows):
        first = "; ".join(f"{lower[row]:g} above {upper[row]:g}" for row in reversed_rows[:SHOWN].tolist())
        raise OutOfRange(
            "value-out-of-domain",
            f"{counted(len(reversed_rows), 'interval')} of {len(lower):,} {'is' if len(reversed_rows) == 1 else 'are'}"
            " reversed: lower lies above upper",
            where="lower, upper", found=first, fix="swap the columns, or correct the rows",
        )  # fmt: skip


__all__ = ["BASELINES", "read_paired_residuals", "read_residuals"]
