# SPDX-License-Identifier: Apache-2.0
"""One row of means and central sums for each unit, for tables of more rows than are held: no offset loses digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.core.errors import PlanError
from assay.tasks.regression.sums import base_columns, own_columns

if TYPE_CHECKING:
    from assay.core.arrays import Floats


MOMENTS: Final = ("n", "y", "e", "yy", "ye", "ee")
"""Rows, means of truth and error, and sums of products of their distances from these means."""
MOST_UNITS: Final = 200_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitMoments:
    """Units by moments and plain sums, ordered by the names of the units."""

    ids: tuple[str, ...]
    names: tuple[str, ...]
    values: Floats

    @classmethod
    def of(cls, batch: Mapping[str, Floats], units: Sequence[str], interval_level: float | None) -> UnitMoments:
        """Add up the rows of each unit, in an order that does not depend on how they came."""
        ids, codes = np.unique(np.asarray(units, dtype=object).astype(str), return_inverse=True)
        if len(ids) > MOST_UNITS:
            raise PlanError(
                "too-many-rows",
                f"there are more than {MOST_UNITS:,} units",
                where="unit",
                fix="leave unit out, or name larger units",
            )
        order = np.lexsort((batch["predicted"], batch["truth"], codes))
        sorted_batch, codes = {name: values[order] for name, values in batch.items()}, codes[order]
        truth = sorted_batch["truth"]
        error = truth - sorted_batch["predicted"]
        n = np.bincount(codes).astype(np.float64)
        means = [np.bincount(codes, weights=values) / n for values in (truth, error)]
        means = [  # a second step takes up what the first one rounded
            mean + np.bincount(codes, weights=values - mean[codes]) / n
            for mean, values in zip(means, (truth, error), strict=True)
        ]
        away, apart = truth - means[0][codes], error - means[1][codes]
        columns = [n, *means, *(np.bincount(codes, weights=w) for w in (away * away, away * apart, apart * apart))]
        plain = own_columns(sorted_batch, interval_level) | {"abs_e": np.abs(error), "abs_y": np.abs(truth)}
        plain |= {"zeros": (truth == 0).astype(np.float64)}
        if "reference" in sorted_batch:
            plain |= base_columns(truth, sorted_batch["reference"])
        columns += [np.bincount(codes, weights=values) for values in plain.values()]
        return cls(ids=tuple(ids.tolist()), names=(*MOMENTS, *plain), values=np.column_stack(columns))

    def __add__(self, other: UnitMoments) -> UnitMoments:
        """All units of both; a unit that both hold is put together from its two parts."""
        ids, place = np.unique(np.array([*self.ids, *other.ids]), return_inverse=True)
        names = tuple(name for name in self.names if name in other.names)  # ratios are left out where one has none
        a, b = (np.zeros((len(ids), len(names))) for _ in range(2))
        for part, target, rows in ((self, a, place[: len(self.ids)]), (other, b, place[len(self.ids) :])):
            target[rows] = part.values[:, [part.names.index(name) for name in names]]
        total = a + b
        n = total[:, 0]
        gap_y, gap_e = (b[:, i] - a[:, i] for i in (1, 2))
        for column, first, second in ((3, gap_y, gap_y), (4, gap_y, gap_e), (5, gap_e, gap_e)):
            total[:, column] += first * second * a[:, 0] * b[:, 0] / n
        for column in (1, 2):
            total[:, column] = (a[:, column] * a[:, 0] + b[:, column] * b[:, 0]) / n
        return UnitMoments(ids=tuple(ids.tolist()), names=names, values=total)

    def sums(self, truth_centre: float, error_centre: float) -> dict[str, Floats]:
        """What each unit adds to the sums of measures."""
        columns = dict(zip(self.names, self.values.T, strict=True))
        n, y, e = columns["n"], columns["y"], columns["e"]
        away, apart = y - truth_centre, e - error_centre
        moments = {
            "y": n * y,
            "e": n * e,
            "sq_e": columns["ee"] + n * e * e,
            "sq_y": columns["yy"] + n * y * y,
            "dy": n * away,
            "dydy": columns["yy"] + n * away * away,
            "de": n * apart,
            "dede": columns["ee"] + n * apart * apart,
            "dyde": columns["ye"] + n * away * apart,
        }
        return {name: values for name, values in columns.items() if name not in MOMENTS} | {"n": n} | moments

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {"ids": list(self.ids), "names": list(self.names), "values": self.values.tolist()}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> UnitMoments:
        """The inverse of `to_json`."""
        values = np.array(content["values"], dtype=np.float64).reshape(-1, len(content["names"]))
        return cls(ids=tuple(content["ids"]), names=tuple(content["names"]), values=values)
