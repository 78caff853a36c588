# SPDX-License-Identifier: Apache-2.0
"""Trivial guesses: what every planned measure would be if the largest class were called, or classes were drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.core.traits import HIGHER, LOWER
from assay.measures import Measure, parse
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from assay.tasks.classification.settings import chosen

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.assess.controls.control_declaration import Inquiry

GUESSES: Final = ("majority", "stratified", "uniform")


def guessed(q: Inquiry, model: Assessment) -> dict[str, dict[str, Any]]:
    """By planned measure: the value of each guess on these classes, and how far the model lies from it."""
    planned = [measure for measure in chosen(q.plan.metrics.measures) or () if not measure.from_scores]
    fitting = (Multiclass,) if model.positive is None else (Binary, Multiclass)
    tables = _tables(model)
    guesses: dict[str, dict[str, Any]] = {}
    for measure in planned or [parse("accuracy")]:
        if measure.better in (HIGHER, LOWER) and measure.takes in fitting:
            values = zip(GUESSES, np.ravel(values_on(measure, tables, model)), strict=True)
            guesses[measure.title] = {name: _held(measure, model[measure.title], float(x)) for name, x in values}
    return guesses


def not_beaten(sides: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Guesses that a measure is not told apart from, or lies on the wrong side of."""
    return [name for name, side in sides.items() if side["difference"] is not None and not side["beaten"]]


def _tables(model: Assessment) -> Multiclass:
    """Rows by true and by called class, as each guess is expected to give them."""
    actual = np.array([float(n) for n in model.confusion.multiclass().actual])
    k = len(actual)
    calls = (np.eye(k)[int(actual.argmax())], actual / actual.sum(), np.full(k, 1 / k))
    cells = np.stack([np.outer(actual, share) for share in calls])
    hits = cells.diagonal(axis1=1, axis2=2)
    return Multiclass(hits=hits, actual=cells.sum(axis=2), called=cells.sum(axis=1), labels=model.labels)


def values_on(measure: Measure, tables: Multiclass, model: Assessment, label: str | None = None) -> Any:  # noqa: ANN401
    """The values of a measure on other tables of the classes of a model; of one class, the positive one by itself."""
    if measure.takes is not Binary:
        return measure.values(tables)
    at = [str(own) for own in model.labels].index(str(model.positive) if label is None else label)
    of = tables.one_vs_rest()
    return measure.values(Binary(tp=of.tp[..., at], fp=of.fp[..., at], fn=of.fn[..., at], tn=of.tn[..., at]))


def _held(measure: Measure, estimate: Any, guess: float) -> dict[str, Any]:  # noqa: ANN401  an estimate
    """The model's value minus the guess, with the interval of the value: the guess is fixed by the classes."""
    if not np.isfinite(guess) or estimate.value is None:
        value = guess if np.isfinite(guess) else None
        return {"value": value, "difference": None, "low": None, "high": None, "beaten": None}
    ends = [None if one is None else float(one) - guess for one in (estimate.low, estimate.high)]
    better = ends[0] is not None and ends[0] > 0 if measure.better is HIGHER else ends[1] is not None and ends[1] < 0
    return {"value": guess, "difference": float(estimate.value) - guess, "low": ends[0], "high": ends[1],
            "beaten": bool(better)}  # fmt: skip
