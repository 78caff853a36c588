# SPDX-License-Identifier: Apache-2.0
"""Whether what a preprocessing step was fitted to is training data: its declared parameters against the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from assay.assess.controls.evidence import Inquiry
from assay.tally.data.feature_counts import values_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tally.data.split_counts import SplitRows

    Floats: TypeAlias = NDArray[np.float64]

STATISTICS: Final[dict[str, tuple[Callable[..., Any], ...]]] = {
    "mean": (np.mean,),
    "std": (np.std, lambda x: np.std(x, ddof=1)),  # both are in use
    "min": (np.min,),
    "max": (np.max,),
    "median": (np.median,),
}
CLOSE: Final = 1e-6
"""Relative difference that other software may bring."""


def held_against_data(q: Inquiry) -> dict[str, dict[str, Any]]:
    """Every declared parameter of a fitted step, and the data whose statistic it is: train, with others, or neither."""
    train, rest = q.of_role("train"), {**q.of_role("validation"), **q.of_role("test")}
    fits: dict[str, dict[str, Any]] = {}
    for name, model in q.trained().items():
        for step in model.preprocessing or ():
            for feature, parameters in (step.fitted or {}).items():
                if not train or not all(one.has(feature) for one in train.values()):
                    continue
                seen = _values(train, feature)
                others = {one: _values({one: rows}, feature) for one, rows in rest.items() if rows.has(feature)}
                for statistic, value in parameters.items():
                    fits[f"{name}, {step.step}: {statistic} of {feature}"] = _told(statistic, value, seen, others)
    return fits


def _values(splits: Mapping[str, SplitRows], feature: str) -> Floats:
    return np.concatenate([values_of(one, feature) for one in splits.values()])


def _told(statistic: str, value: float, train: Floats, others: Mapping[str, Floats]) -> dict[str, Any]:
    """Whose statistic a value is; training comes first, since small sets may agree by chance."""
    if not len(train):
        return {"declared": value, "fits": None}
    candidates: dict[str, list[Floats]] = {"train": [train]}
    candidates |= {f"train and {name}": [train, rows] for name, rows in others.items()}
    candidates |= {"all data": [train, *others.values()]} if len(others) > 1 else {}
    candidates |= {name: [rows] for name, rows in others.items()}
    for name, parts in candidates.items():
        rows = np.concatenate(parts)
        if len(rows) and any(_alike(value, float(one(rows))) for one in STATISTICS[statistic]):
            return {"declared": value, "fits": name}
    return {"declared": value, "fits": None, "train": float(STATISTICS[statistic][0](train))}


def _alike(declared: float, computed: float) -> bool:
    """Whether a declared value is a computed one, rounded to the digits it was written with."""
    exponent = Decimal(repr(declared)).as_tuple().exponent
    half = 0.5 * 10.0 ** (exponent if isinstance(exponent, int) else 0)
    return abs(declared - computed) <= max(half, CLOSE * abs(computed)) * (1 + 1e-9)
