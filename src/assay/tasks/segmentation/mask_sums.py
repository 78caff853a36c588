# SPDX-License-Identifier: Apache-2.0
"""From the tally of masks to the sums that measures read: by image, by unit, of one class or of all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.core.labels import Label
from assay.core.values import quotient
from assay.tally.unit_table import UnitTable
from assay.tasks.image_inputs import add_up
from assay.tasks.segmentation.kernel import COLUMNS
from assay.tasks.segmentation.tally import ANY, MEANS, Masks, MaskTally

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats


PLACE: Final = {name: number for number, name in enumerate(Masks.NAMES)}
ALIKE: Final = ("dice_sum", "iou_sum", "boundary_sum", "line_sum")
"""What two empty masks score as 1 where that is stated."""
WORST: Final = ("hausdorff_sum", "directed_sum", "hd95_sum", "hd95_joint_sum", "assd_sum")
"""What a missed object scores as the diagonal of its image where that is stated."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SummedTable(UnitTable):
    """A table of units that adds itself up once, for many measures ask for the total."""

    totals: list[Floats] = field(default_factory=list, compare=False, repr=False)

    def total(self) -> Floats:
        """The sums over all units, each rounded once."""
        if not self.totals:
            self.totals.append(UnitTable.total(self))
        return self.totals[0]


def sum_by_unit(tally: MaskTally, label: Label | None = None) -> UnitTable:
    """One row of sums for each unit: of a class, or of all classes together."""
    if label not in tally.cache:
        values = sum_by_image(tally, label)
        ids = tally.images
        if tally.unit_of is not None:
            ids, values = add_up(tally.unit_of, values)
        tally.cache[label] = SummedTable.build(Masks.NAMES, values, rows=tally.rows, ids=ids)
    return tally.cache[label]


def sum_by_class(tally: MaskTally) -> UnitTable:
    """The sums of all classes side by side, for averages over classes."""
    tables = [sum_by_unit(tally, label) for label in tally.labels]
    names = [f"{name}:{number}" for number in range(len(tables)) for name in Masks.NAMES]
    ids = sum_by_unit(tally).ids
    sums = np.hstack([table.sums for table in tables]) if tables else np.zeros((tally.units, 0))
    return SummedTable(names=tuple(names), sums=sums, rows=tally.rows, ids=ids)


def sum_by_image(tally: MaskTally, label: Label | None = None) -> Floats:
    """One row of `Masks` for each image."""
    rows, places = value_rows(tally), tally.image_of_row
    spaced = (tally.facts[:, 2] > 0).astype(np.float64)
    size = len(tally.images)
    if label is not None:
        chosen = tally.label_of_row == tally.labels.index(label)
        rows, places = rows[chosen], places[chosen]
    values = np.zeros((size, len(Masks.NAMES)))
    np.add.at(values, places, rows)
    present = np.bincount(places, minlength=size).astype(np.float64)
    absent = (1 if label is not None else max(1, len(tally.labels))) - present
    _set(values, "images", np.ones(size))
    _set(values, "pixels", tally.facts[:, 0])
    wrong = values[:, PLACE["fp"]] + values[:, PLACE["fn"]]
    _set(values, "equal", tally.facts[:, 1] if label is None else tally.facts[:, 0] - wrong)
    _set(values, "spaced", spaced)
    _set(values, "lined", np.full(size, float(tally.rules.centre_line)) * spaced)
    _set(values, "both_empty", (present == 0).astype(np.float64))
    if tally.rules.both_empty == "one":
        for name in ("defined", *ALIKE):
            values[:, PLACE[name]] += absent
    for count, names in MEANS.items():  # over all classes, the value of an image is the mean of its classes
        defined = values[:, PLACE[count]]
        for name in names:
            _set(values, name, np.divide(values[:, PLACE[name]], defined, out=np.zeros(size), where=defined > 0))
        _set(values, count, np.minimum(defined, 1))
    for name in ANY:
        _set(values, name, np.minimum(values[:, PLACE[name]], 1))
    return values


def value_rows(tally: MaskTally) -> Floats:
    """What each row of a tally adds to the sums of its image."""
    c = {name: tally.counts[:, place] for place, name in enumerate(COLUMNS)}
    diagonal = tally.facts[tally.image_of_row, 2] if len(tally.counts) else np.zeros(0)
    truth, predicted, spaced = c["tp"] + c["fn"], c["tp"] + c["fp"], diagonal > 0
    missed, spurious = (truth > 0) & (predicted == 0), (truth == 0) & (predicted > 0)
    empty = (missed | spurious) & spaced
    surface = c["surface_truth"] + c["surface_predicted"]
    distance = c["distance_truth"] + c["distance_predicted"]
    within = c["within_truth"] + c["within_predicted"]
    counted = np.where(empty, tally.rules.missed == "worst", spaced).astype(np.float64)
    columns: dict[str, NDArray[Any]] = {
        **{name: c[name] for name in COLUMNS if name in PLACE},
        "missed": missed,
        "spurious": spurious,
        "defined": np.ones(len(truth)),
        "dice_sum": _share(2 * c["tp"], truth + predicted),
        "iou_sum": _share(c["tp"], c["tp"] + c["fp"] + c["fn"]),
        "boundary_sum": _share(c["band_shared"], c["band_union"]),
        "line_sum": _line_dice(c),
        "with_truth": truth > 0,
        "volume_sum": _share(np.abs(predicted - truth), truth),
        "blocked": empty if tally.rules.missed == "propagate" else np.zeros(len(truth)),
        "measured": counted,
        "hausdorff_sum": np.maximum(c["hausdorff_truth"], c["hausdorff_predicted"]),
        "directed_sum": c["hausdorff_truth"],
        "hd95_sum": np.maximum(c["hd95_truth"], c["hd95_predicted"]),
        "hd95_joint_sum": c["hd95_joint"],
        "assd_sum": _share(distance, surface),
        "nsd_sum": _share(within, surface),
        "surface_dice_sum": _share(2 * c["surface_shared"], surface),
        "surface": surface * counted,
        "shared": c["surface_shared"],
        "within": within,
        "distance": distance,
    }
    if tally.rules.missed == "worst":
        columns |= {name: np.where(empty, diagonal, columns[name]) for name in WORST}
        columns["distance"] = np.where(empty, surface * diagonal, distance)
    return np.column_stack([columns.get(name, np.zeros(len(truth))) for name in Masks.NAMES]).astype(np.float64)


def _line_dice(c: Mapping[str, Floats]) -> Floats:
    precise = _share(c["line_predicted_covered"], c["line_predicted"])
    found = _share(c["line_truth_covered"], c["line_truth"])
    return _share(2 * precise * found, precise + found)


def _share(top: Floats, over: Floats) -> Floats:
    """The quotient, 0 where there is none: the column beside it says so."""
    return np.nan_to_num(quotient(top, over))


def _set(values: Floats, name: str, column: Floats) -> None:
    values[:, PLACE[name]] = column
