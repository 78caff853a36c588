# SPDX-License-Identifier: Apache-2.0
"""Sections of a report on masks: values by image, overlays of three images, distances, the confusion of classes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.core.blocks import Block, Chart, Figure, Paragraph, Reach, Section, chart, section
from assay.core.text import figure, visible
from assay.tasks.segmentation.kernel import COLUMNS
from assay.tasks.segmentation.mask_sums import PLACE, sum_by_image
from assay.tasks.segmentation.surfaces import STEPS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tally.unit_table import UnitModels
    from assay.tasks.segmentation.tally import MaskTally

MOST_VALUES: Final = 300
"""Values of a class in a strip plot; of more, every k-th in order is kept."""
MOST_CLASSES: Final = 12
BINS: Final = 20
MOST_PAIRS: Final = 6
SURFACE: Final = (
    "Surfaces are the voxels of a mask with a neighbour (8 in two dimensions, 26 in three) outside the mask or the "
    "grid; distances run between centres of voxels in the unit of the spacing. hausdorff_95 is the larger of the two "
    "directed 95th percentiles (linear interpolation). Tools that use face neighbours or areas give other numbers."
)


def collect_figures(tally: MaskTally) -> dict[str, object]:
    """What figures need, small enough for a Record."""
    strips, volumes, distances = [], [], []
    for label in tally.labels[:MOST_CLASSES]:
        values = sum_by_image(tally, label)
        kept = values[:, PLACE["defined"]] > 0
        dice = values[kept, PLACE["dice_sum"]]
        alone = values[:, PLACE["missed"]] + values[:, PLACE["spurious"]]
        strips.append({"label": str(label), "values": _thin(dice), "missed": int(alone.sum())})
        size = values[kept, PLACE["tp"]] + values[kept, PLACE["fn"]]
        volumes += [[float(x), round(float(y), 4)] for x, y in zip(size, dice, strict=True) if x > 0]
        measured = values[:, PLACE["measured"]] > 0
        distances += values[measured, PLACE["hd95_sum"]].tolist()
    figures: dict[str, object] = {"dice": strips, "pictures": [dict(picture) for picture in tally.pictures]}
    if len(volumes) > 1:
        x, y = np.log10([v for v, _ in volumes]), np.array([d for _, d in volumes])
        counts, x_edges, y_edges = np.histogram2d(x, y, bins=(12, 10), range=((x.min(), x.max() + 1e-9), (0, 1)))
        figures["volume"] = {"counts": counts.T.astype(int).tolist(), "x": _rounded(x_edges), "y": _rounded(y_edges)}
    if distances:
        counts, edges = np.histogram(distances, bins=BINS)
        figures["distance"] = {"counts": counts.tolist(), "edges": _rounded(edges)}
        first = COLUMNS.index("near_0")
        figures["surfaces"] = [int(n) for n in tally.counts[:, first : first + len(STEPS) + 1].sum(axis=0)]
    names = [None, *tally.labels]
    if len(names) <= MOST_CLASSES:
        figures["confusion"] = [[tally.confusion.get((a, b), 0) for b in names] for a in names]
    return figures


def build_sections(record: Mapping[str, Any]) -> Iterator[Section]:
    """Sections from the Record alone."""
    figures = record.get("figures") or {}
    if figures.get("dice"):
        yield section("images", "Image by image", _value_blocks(figures))
    if figures.get("pictures"):
        yield section("overlays", "Worst, median and best image", [_overlays(figures["pictures"])], reach=Reach.FULL)
    if "confusion" in figures and len(figures["confusion"]) > 1:
        yield section(
            "pixels", "Pixels by class", [_confusion(figures["confusion"], record.get("labels", []))], reach=Reach.FULL
        )


def _value_blocks(figures: Mapping[str, Any]) -> Iterator[Block]:
    lanes = [
        {
            "label": strip["label"],
            "values": strip["values"],
            "median": float(np.median(strip["values"])) if strip["values"] else None,
            "aside": [{"count": strip["missed"], "text": "in one mask only"}] if strip["missed"] else [],
        }
        for strip in figures["dice"]
    ]
    alt = "; ".join(f"{lane['label']}: median {figure(lane['median'])}" for lane in lanes if lane["values"])
    yield Figure(charts=(chart("dots", title="Dice of each image", x="Dice", lanes=lanes),), alt=alt)
    charts = []
    if "volume" in figures:
        volume = figures["volume"]
        edges = {"x_edges": volume["x"], "y_edges": volume["y"]}
        axes = {"x": "log10 of true voxels", "y": "Dice"}
        charts.append(chart("cloud", title="Dice against size", **axes, **edges, counts=volume["counts"]))
    if "distance" in figures:
        bins = {name: figures["distance"][name] for name in ("edges", "counts")}
        charts.append(chart("distribution", title="95th percentile of surface distances", x="distance", **bins))
    if any(figures.get("surfaces", ())):
        charts.append(_surface_bars(figures["surfaces"]))
    if charts:
        yield Figure(charts=tuple(charts), alt="Dice by size of the object, and surface distances of the images")
    yield Paragraph(SURFACE, "soft", reach=Reach.REPORT)


def _surface_bars(counts: list[int]) -> Chart:
    """How far surface voxels of either mask are from the other surface, all images together."""
    names = ["0", *(f"up to {end:g}" for end in STEPS[1:]), f"above {STEPS[-1]:g}"]
    rows = [
        {"label": name, "value": n / sum(counts), "text": f"{100 * n / sum(counts):.3g} %"}
        for name, n in list(zip(names, counts, strict=True))[: max(np.flatnonzero(counts)) + 1]
    ]
    axis = {"x": "share of surface voxels", "bars": True}
    return chart("intervals", title="Distance to the other surface", **axis, rows=rows)


def comparison_sections(paired: UnitModels) -> Iterator[Section]:
    """Every model image by image: a reader among the models shows how near people come to the truth."""
    lanes, values = [], {}
    for model in paired.models:
        sums = paired.table(model).sums
        with np.errstate(invalid="ignore"):
            dice = values[model] = sums[:, PLACE["dice_sum"]] / sums[:, PLACE["defined"]]
        known = dice[~np.isnan(dice)]
        if len(known):
            lanes.append({"label": model, "values": _thin(known), "median": float(np.median(known))})
    if len(lanes) < 2:  # noqa: PLR2004
        return
    lines = []
    for first, second in itertools.combinations(values, 2):
        both = ~np.isnan(values[first]) & ~np.isnan(values[second])
        near = f"{int((values[first][both] >= values[second][both]).sum()):,} of {int(both.sum()):,} images"
        lines.append(f"{visible(first)} is at least as near to the truth as {visible(second)} in {near}.")
    reader_note = (
        "If one of them is a second reader, this is how near people come to the truth, and the others next to it."
    )
    alt = "; ".join(f"{model}: median {figure(float(np.nanmedian(dice)))}" for model, dice in values.items())
    drawn = Figure(charts=(chart("dots", title="Dice of each image", x="Dice", lanes=lanes),), alt=alt)
    said = Paragraph(" ".join([*lines[:MOST_PAIRS], reader_note]))
    yield section("readers", "Image by image", (drawn, said))


def _overlays(pictures: list[Mapping[str, Any]]) -> Figure:
    words = ("worst", "median", "best") if len(pictures) == 3 else ("",) * len(pictures)  # noqa: PLR2004
    charts = []
    for word, picture in zip(words, pictures, strict=True):
        kinds = ("truth", "predicted")
        contours = [{"kind": name, "points": outline} for name in kinds for outline in picture[name]]
        size = {"width": picture["width"], "height": picture["height"], "png": picture.get("png")}
        caption = f"Dice {figure(picture['dice'])}; outlines of truth and prediction"
        title = f"{word} {picture['image']}".strip()
        charts.append(chart("picture", title=title, **size, contours=contours, caption=caption))
    alt = "; ".join(f"{picture['image']}: Dice {figure(picture['dice'])}" for picture in pictures)
    return Figure(charts=tuple(charts), alt=alt, look="many")


def _confusion(counts: list[list[int]], labels: list[object]) -> Figure:
    names = ["background", *map(str, labels)]
    cells = [
        [{"text": f"{n:,}", "share": n / max(sum(row), 1), "tone": "good" if i == j else ""} for j, n in enumerate(row)]
        for i, row in enumerate(counts)
    ]
    drawn = chart("matrix", title="Pixels: truth down, prediction across", rows=names, columns=names, cells=cells)
    return Figure(charts=(drawn,), alt="Pixels by class of truth and prediction")


def _thin(values: NDArray[np.float64]) -> list[float]:
    """Values in order, or as many of them as a figure can show."""
    ordered = np.sort(values)
    if len(ordered) > MOST_VALUES:
        ordered = ordered[np.linspace(0, len(ordered) - 1, MOST_VALUES).astype(int)]
    return _rounded(ordered)


def _rounded(values: NDArray[np.float64]) -> list[float]:
    return [round(float(value), 6) for value in values]
