# SPDX-License-Identifier: Apache-2.0
"""Near-duplicates between two splits: texts, rows of numbers, pictures, each with what makes two of them alike."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.assess.controls.evidence import Inquiry
from assay.tally.data.feature_counts import described, values_of
from assay.tally.data.image_hashes import near_pictures
from assay.tally.data.near_duplicates import Naming, Near, near_numbers, near_texts

if TYPE_CHECKING:
    from assay.tally.data.split_counts import SplitRows

CONTINUOUS: Final = 100
"""Different values from which a number counts as measured; the codes of few values coincide all the time."""
BY_CHANCE: Final = 0.01
"""Pairs that may coincide by chance alone, expected, before the tolerance is made smaller."""
DENSITY: Final = 0.56
"""Chance that two draws of a normal distribution differ by less than a tolerance, per standard deviation of it."""


def near(q: Inquiry, mine: SplitRows, other: SplitRows) -> dict[str, dict[str, Any]]:
    """By kind of content, the rows of one split that nearly equal a row of the other; empty where nothing fits."""
    matches: dict[str, dict[str, Any]] = {}
    columns, limits = q.plan.columns, q.plan.checks
    both = [column for column in mine.columns if other.has(column)]
    naming = Naming.of(mine, columns.id) if columns.id in both else None
    texts = [column for column in columns.texts or () if column in both]
    if texts:
        near_rows = near_texts(mine, other, texts, limits.similarity, naming)
        matches["texts"] = {**near_rows.to_json(), "similarity": limits.similarity}
    features = [column for column in columns.features or () if column not in texts and column in both]
    reach = {} if texts else _reach(mine, other, features, limits.near)
    if reach:
        same = [column for column in features if column not in reach]
        numbers: Near = near_numbers(mine, other, reach, same, naming)
        matches["numbers"] = {**numbers.to_json(), "reach": reach}
    if columns.picture in both:
        folder = Path(q.loaded.folder)
        alike = near_pictures(
            mine, other, columns.picture, folder=folder, distance=limits.picture_distance, naming=naming
        )
        matches["pictures"] = {**alike.to_json(), "distance": limits.picture_distance}
    return matches


def _reach(mine: SplitRows, other: SplitRows, features: list[str], tolerance: float) -> dict[str, float]:
    """How far apart the numbers of each measured feature may lie; the less, the fewer features and the more rows."""
    spreads: dict[str, float] = {}
    for feature in features:
        if all(one.numeric and one.distinct >= CONTINUOUS for one in (described(s, feature) for s in (mine, other))):
            values = values_of(other, feature)
            spread = float(np.std(values[np.isfinite(values)]))
            if spread > 0 and np.isfinite(spread):
                spreads[feature] = spread
    if not spreads:
        return {}
    pairs = max(1, mine.rows()) * max(1, other.rows())
    chance = (BY_CHANCE / pairs) ** (1 / len(spreads)) / DENSITY
    return {feature: spread * min(tolerance, chance) for feature, spread in spreads.items()}
