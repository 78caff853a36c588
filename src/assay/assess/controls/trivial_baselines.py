# SPDX-License-Identifier: Apache-2.0
"""Trivial guesses: what every planned measure would be if the largest class were called, or classes were drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.core.text import figure, phrases
from assay.core.traits import HIGHER, LOWER
from assay.measures import Measure, parse
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from assay.tasks.classification.settings import chosen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.assess.assessment import Assessment
    from assay.assess.controls.evidence import Inquiry

GUESSES: Final = ("majority", "stratified", "uniform")


def guessed(q: Inquiry, model: Assessment) -> dict[str, dict[str, Any]]:
    """By planned measure: the value of each guess on these classes, and how far the model lies from it."""
    planned = [measure for measure in chosen(q.plan.metrics.measures) or () if not measure.from_scores]
    wanted = planned or [parse("accuracy")]
    tables = _tables(model)
    guesses: dict[str, dict[str, Any]] = {}
    for measure in wanted:
        directed = measure.better in (HIGHER, LOWER)
        if (
            not directed
            or measure.takes not in (Binary, Multiclass)
            or (measure.takes is Binary and model.positive is None)
        ):
            continue
        estimate = model[measure.title]
        guesses[measure.title] = {
            name: _held(measure, estimate, _value(measure, table, model)) for name, table in tables.items()
        }
    return guesses


def not_beaten(found: Mapping[str, Mapping[str, Any]], measure: str) -> list[str]:
    """Guesses that a measure is not told apart from, or lies on the wrong side of."""
    sides = found.get(measure, {})
    return [name for name, one in sides.items() if one["difference"] is not None and not one["beaten"]]


def said(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The first measure beside its guesses."""
    measure, sides = next(iter(found.items()))
    values = [f"{name} {figure(one['value'])}" for name, one in sides.items() if one["value"] is not None]
    return f"{measure} of trivial guesses: {phrases(values)}"


def _tables(model: Assessment) -> dict[str, NDArray[np.float64]]:
    """Rows by true and by called class, as each guess is expected to give them."""
    actual = np.array([float(n) for n in model.confusion.multiclass().actual])
    k = len(actual)
    largest = np.zeros(k)
    largest[int(actual.argmax())] = 1.0
    calls = dict(zip(GUESSES, (largest, actual / actual.sum(), np.full(k, 1 / k)), strict=True))
    return {name: np.outer(actual, share) for name, share in calls.items()}


def values_on(measure: Measure, tables: Multiclass, model: Assessment, label: str | None = None) -> Any:  # noqa: ANN401
    """The values of a measure on other tables of the classes of a model; of one class, the positive one by itself."""
    if measure.takes is not Binary:
        return measure.values(tables)
    at = [str(own) for own in model.labels].index(str(model.positive) if label is None else label)
    of = tables.one_vs_rest()
    return measure.values(Binary(tp=of.tp[..., at], fp=of.fp[..., at], fn=of.fn[..., at], tn=of.tn[..., at]))


def _value(measure: Measure, cells: NDArray[np.float64], model: Assessment) -> float | None:
    table = Multiclass(
        hits=cells.diagonal()[np.newaxis],
        actual=cells.sum(axis=1)[np.newaxis],
        called=cells.sum(axis=0)[np.newaxis],
        labels=model.labels,
    )
    value = float(np.ravel(values_on(measure, table, model))[0])
    return value if np.isfinite(value) else None


def _held(measure: Measure, estimate: Any, guess: float | None) -> dict[str, Any]:  # noqa: ANN401  an estimate
    """The model's value minus the guess, with the interval of the value: the guess is fixed by the classes."""
    if guess is None or estimate.value is None:
        return {"value": guess, "difference": None, "low": None, "high": None, "beaten": None}
    ends = [None if one is None else float(one) - guess for one in (estimate.low, estimate.high)]
    better = ends[0] is not None and ends[0] > 0 if measure.better is HIGHER else ends[1] is not None and ends[1] < 0
    return {"value": guess, "difference": float(estimate.value) - guess, "low": ends[0], "high": ends[1],
            "beaten": bool(better)}  # fmt: skip


def lines(guesses: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Every measure that some guess reaches."""
    for measure in guesses:
        if lost := not_beaten(guesses, measure):
            yield f"{measure} ({', '.join(lost)})"
