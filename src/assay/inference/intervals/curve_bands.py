# SPDX-License-Identifier: Apache-2.0
"""Bands around curves: at each place alone, and for all places at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from assay.inference.intervals.proportion import normal_quantile
from assay.inference.intervals.score_draws import draws_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from assay.core.arrays import Floats
    from assay.inference.intervals.interval_choice import Wanted
    from assay.tally.scores.ranked_table import Ranked

Curve: TypeAlias = Literal["roc", "pr"]
PLACES: Final = 101
DRAWS: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Band:
    """A curve at some places with two bands: `low` and `high` hold place by place, `all_low` and `all_high` at once.

    Places of a ROC curve are false positive rates, those of a precision-recall curve are recalls.
    """

    curve: Curve
    place: Floats
    value: Floats
    low: Floats
    high: Floats
    all_low: Floats
    all_high: Floats
    level: float
    method: str
    draws: int
    seed: int


def roc_band(t: Ranked, wanted: Wanted, places: ArrayLike | None = None) -> Band:
    """True positive rates at false positive rates."""
    return _band("roc", t, wanted, places)


def pr_band(t: Ranked, wanted: Wanted, places: ArrayLike | None = None) -> Band:
    """Precision at recalls; between two points of the curve false positives grow evenly."""
    return _band("pr", t, wanted, places)


def _band(curve: Curve, t: Ranked, wanted: Wanted, places: ArrayLike | None) -> Band:
    if not t.positives or not t.negatives:
        msg = "a curve needs rows of both classes"
        raise ValueError(msg)
    default = np.linspace(0, 1, PLACES)[1 if curve == "pr" else 0 :]
    at = default if places is None else np.asarray(places, dtype=np.float64)
    value, rows = _heights(curve, t, at)
    blocks = draws_of(t, wanted.seed).blocks(DRAWS)
    drawn = np.concatenate([_heights(curve, _with_both(block), at)[0] for block in blocks])
    middle, on = _logit(value, rows), _logit(drawn, rows)
    spread = np.sqrt(((on - on.mean(axis=0)) ** 2).mean(axis=0))
    # Where no draw varies, a share of so many rows still would.
    inside = _inside(value, rows)
    spread = np.maximum(spread, 1 / np.sqrt(rows * inside * (1 - inside)))
    far = np.abs(on - on.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    z = normal_quantile((1 + wanted.level) / 2)
    every = max(z, float(np.quantile(far.max(axis=1), wanted.level)))
    low, high, all_low, all_high = (_chance(middle + k * spread) for k in (-z, z, -every, every))
    if curve == "roc":
        # A ROC curve never falls, so what bounds it at one place from below does so at all later ones, and the reverse.
        all_low, all_high = np.maximum.accumulate(all_low), np.minimum.accumulate(all_high[::-1])[::-1]
        low, high = np.maximum(low, all_low), np.minimum(high, all_high)
    return Band(
        curve=curve,
        place=at,
        value=value,
        low=np.minimum(low, value),
        high=np.maximum(high, value),
        all_low=np.minimum(all_low, value),
        all_high=np.maximum(all_high, value),
        level=wanted.level,
        method="logit draws on scores",
        draws=len(drawn),
        seed=wanted.seed,
    )


def _with_both(block: Ranked) -> Ranked:
    """The draws that have rows of both classes."""
    kept = (block.pos.sum(axis=-1) > 0) & (block.neg.sum(axis=-1) > 0)
    return block.drawn(block.pos[kept], block.neg[kept])


def _heights(curve: Curve, t: Ranked, at: Floats) -> tuple[Floats, Floats]:
    """The curve of each table at some places, and how many rows each height is a share of."""
    x, y = t.corners
    positives, negatives = (np.asarray(n, dtype=np.float64)[..., np.newaxis] for n in (t.positives, t.negatives))
    if curve == "roc":
        # Of several heights at one place, as where the curve rises straight up, the highest is meant.
        heights = _between(x / negatives, y / positives, y / positives, at, last=True)
        return heights, np.broadcast_to(positives, heights.shape)
    # A recall is first reached with the fewest false positives; from there on they grow evenly to the next one.
    rises = np.diff(y, axis=-1, prepend=-1) > 0
    first = np.maximum.accumulate(np.where(rises, np.arange(y.shape[-1]), 0), axis=-1)
    true_positives = at * positives
    alarms = _between(y / positives, np.take_along_axis(x, first, axis=-1), x, at, last=False)
    called = true_positives + alarms
    return np.divide(true_positives, called, out=np.ones(called.shape), where=called > 0), np.maximum(called, 1.0)


def _between(across: Floats, start: Floats, end: Floats, at: Floats, *, last: bool) -> Floats:
    """Heights on straight lines from one corner to the next, at places of an axis that never falls, table by table."""
    size = across.shape[-1]
    rows = across.reshape(-1, size)
    # Tables are laid end to end on one axis, so that one search finds the places in all of them.
    shift = 2.0 * np.arange(len(rows))[:, np.newaxis]
    found = np.searchsorted((rows + shift).ravel(), (at + shift).ravel(), side="right" if last else "left")
    upper = np.clip(found.reshape(len(rows), len(at)) - (shift / 2).astype(np.int64) * size, 0, size - 1)
    lower = np.maximum(upper - 1, 0)
    left, right = (np.take_along_axis(rows, each, axis=1) for each in (lower, upper))
    low, high = (
        np.take_along_axis(heights.reshape(-1, size), each, axis=1) for heights, each in ((start, lower), (end, upper))
    )
    step = right - left
    part = np.clip(np.divide(at - left, step, out=np.ones(step.shape), where=step > 0), 0.0, 1.0)
    return (low + part * (high - low)).reshape(*across.shape[:-1], len(at))


def _inside(value: Floats, rows: Floats) -> Floats:
    return np.clip(value, 1 / (2 * rows), 1 - 1 / (2 * rows))


def _logit(value: Floats, rows: Floats) -> Floats:
    inside = _inside(value, rows)
    return np.log(inside / (1 - inside))


def _chance(logit: Floats) -> Floats:
    return 1 / (1 + np.exp(-logit))
