# SPDX-License-Identifier: Apache-2.0
"""Pairs the images of truth and prediction: arrays, lists, folders, or a table of paths; one image at a time is loaded.

Shared by the tasks whose unit is an image.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Self, TypeAlias, TypeVar, cast

import numpy as np

from assay.core.errors import AssayError, PlanError, RowsError, UnpairedRows
from assay.core.labels import Label, in_order
from assay.core.task import Counted, Request
from assay.core.text import counted, listed, phrases, visible
from assay.rows.columns import as_array
from assay.rows.files.file_digests import digest_of
from assay.rows.images.files import list_folder, load_image, suffix_of
from assay.tally.batches import Column, Partial, open_batches, run_kernel, run_kernel_on_spark
from assay.tally.by_group import MISSING
from assay.tally.census import Census
from assay.tally.unit_table import UnitModels, UnitTable

if TYPE_CHECKING:
    from numpy.typing import NDArray


T = TypeVar("T", bound=Partial)
R = TypeVar("R")
J = TypeVar("J", bound=Partial)
Source: TypeAlias = Any
"""A path, an array, or what else a task can turn into an image."""
Fault: TypeAlias = tuple[str, str, str, str, str]
"""Of an image that cannot be compared: code, name, what is wrong, what was found, how to mend it."""
STATED: Final = ("missing-extra", "role-missing")
"""Codes of faults that lie in what was asked, not in the images."""
SHOWN: Final = 5
BATCH: Final = 16
"""Images that a kernel sees at a time; it loads them one after the other."""
HASHED: Final = 1000
"""Files above which no digests are taken."""
PLANE: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageList:
    """The images of one role, in order."""

    sources: Sequence[Source]
    names: Sequence[str] | None = None
    """What the images are called; None where only their place tells them apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePairs:
    """Images of truth and prediction that belong together, by name."""

    names: Sequence[str]
    truth: Sequence[Source]
    predicted: Sequence[Source]
    units: Sequence[str] | None = None
    groups: Mapping[str, Sequence[Label | None]] = field(default_factory=dict)
    about: Mapping[str, object] = field(default_factory=dict)
    spark: Any = None
    """A Spark frame with the columns image, truth, predicted and perhaps unit; the sequences are empty then."""
    notes: tuple[str, ...] = ()

    def levels(self) -> dict[str, dict[Label, list[str]]]:
        """By factor and level: the names of images."""
        factors: dict[str, dict[Label, list[str]]] = {}
        for factor, levels in self.groups.items():
            members: dict[Label, list[str]] = {}
            for name, level in zip(self.names, levels, strict=True):
                members.setdefault(MISSING if level is None else level, []).append(name)
            known = list(in_order(level for level in members if level != MISSING))
            factors[factor] = {level: members[level] for level in [*known, *({MISSING} & {*members})]}
        return factors

    def batches(self) -> Iterator[dict[str, NDArray[Any]]]:
        """Some pairs at a time."""
        for start in range(0, len(self.names), BATCH):
            part = slice(start, start + BATCH)
            columns = {"image": self.names[part], "truth": self.truth[part], "predicted": self.predicted[part]}
            if self.units is not None:
                columns["unit"] = self.units[part]
            yield {role: hold_objects(values) for role, values in columns.items()}

    def run(
        self,
        kernel: Callable[[Mapping[str, NDArray[Any]]], T],
        tally: type[T],
        progress: Callable[[int, int], None] | None,
    ) -> T:
        """Compare all pairs by threads, or on the workers of Spark."""
        if self.spark is not None:
            return run_kernel_on_spark(kernel, self.spark, list(self.spark.columns), tally)
        total = len(self.names)
        tell = None if progress is None else lambda done: progress(min(done * BATCH, total), total)
        return run_kernel(kernel, self.batches(), progress=tell, workers=1 if total <= BATCH else None)


@dataclass(frozen=True, slots=True)
class Parts(Generic[J]):
    """Tallies of batches of images, joined once all are there; a subclass names their class."""

    KIND: ClassVar[Any]
    parts: tuple[J, ...]

    def __add__(self, other: Self) -> Self:
        """Both."""
        return replace(self, parts=(*self.parts, *other.parts))

    def join(self) -> J:
        """One tally."""
        return cast("J", self.KIND.join(self.parts) if len(self.parts) > 1 else self.parts[0])

    def to_json(self) -> dict[str, object]:
        """As it travels between machines."""
        return self.join().to_json()

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Self:
        """The inverse of `to_json`."""
        return cls((cls.KIND.from_json(content),))


def count_models(
    request: Request, models: Mapping[str, Mapping[str, object]], count: Callable[[Request], UnitTable]
) -> Counted:
    """The sums of several models on the same images, each counted on its own."""
    tables = {model: count(replace(request, given={**request.given, **given})) for model, given in models.items()}
    paired = UnitModels.join(tables)
    return Counted(tally=paired, census=Census(read=paired.rows, scored=paired.rows))


def add_up(units: Sequence[str], values: NDArray[np.float64]) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """The rows of each unit added up, each sum rounded once, so that order does not matter."""
    members: dict[str, list[int]] = {}
    for place, unit in enumerate(units):
        members.setdefault(unit, []).append(place)
    names = tuple(sorted(members))
    return names, np.array([[math.fsum(column) for column in values[members[name]].T.tolist()] for name in names])


def hold_objects(values: Sequence[object]) -> NDArray[Any]:
    """An array of objects, which NumPy does not look into."""
    objects = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        objects[place] = value
    return objects


def list_images(given: object, role: str, dimensions: int | None, *, channels: bool = False) -> ImageList:
    """The images that a role holds."""
    if isinstance(given, ImageList):
        return given
    if isinstance(given, (str, os.PathLike)):
        return _list_path(os.fspath(given), role, dimensions, channels=channels)
    if isinstance(given, Mapping):
        return ImageList(sources=list(given.values()), names=[str(name) for name in given])
    if isinstance(given, (list, tuple)):
        paths = [isinstance(source, (str, os.PathLike)) for source in given]
        names = [Path(source).name for source in given] if given and all(paths) else None
        sources = [os.fspath(source) if path else source for source, path in zip(given, paths, strict=True)]
        return ImageList(sources=sources, names=names if names and len(set(names)) == len(names) else None)
    return ImageList(sources=cut_stack(np.asarray(given), role, dimensions, channels=channels))


def cut_stack(array: NDArray[Any], role: str, dimensions: int | None, *, channels: bool = False) -> list[NDArray[Any]]:
    """One array as images: itself, or a stack of them along the first axis."""
    if array.ndim < PLANE or array.dtype == object:
        raise RowsError(
            "column-not-scalar",
            f"{role} is an array of shape {array.shape}, not an image",
            where=role,
            fix="give arrays of two or three dimensions, a list of them, or paths",
        )
    if dimensions is None and array.ndim > PLANE:
        raise PlanError(
            "role-missing",
            f"{role} has shape {array.shape}: a stack of images, or one volume?",
            where="dimensions",
            fix="state dimensions=2 for images or dimensions=3 for volumes, or give a list of arrays",
        )
    own = (dimensions or PLANE) + int(channels)
    if array.ndim == own:
        return [array]
    if array.ndim == own + 1:
        return list(array)
    raise RowsError(
        "column-not-scalar",
        f"{role} has shape {array.shape}, which is neither an image of {dimensions} dimensions nor a stack of them",
        where=role,
        fix="give a list of arrays, one for each image",
    )


def _list_path(path: str, role: str, dimensions: int | None, *, channels: bool) -> ImageList:
    if Path(path).is_dir():
        paths = list_folder(path)
        return ImageList(sources=list(paths.values()), names=list(paths))
    if suffix_of(path) == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return ImageList(sources=[arrays[name] for name in arrays.files], names=list(arrays.files))
    if suffix_of(path) == ".npy":
        return ImageList(sources=cut_stack(load_image(path).values, role, dimensions, channels=channels))
    return ImageList(sources=[path], names=[Path(path).name])


def pair_images(request: Request, dimensions: int | None = None, *, channels: bool = False) -> ImagePairs:
    """Match the images of truth and prediction: by name where both have names of their own, else by place."""
    for role in ("truth", "predicted"):
        if request.given.get(role) is None:
            raise PlanError(
                "role-missing",
                f"no {role} is given",
                where=role,
                fix=f"give {role}=... (--{role}): arrays, a folder, or a column of paths",
            )
    if request.data is not None:
        return _read_table(request)
    truth, predicted = (
        list_images(request.given[role], role, dimensions, channels=channels) for role in ("truth", "predicted")
    )
    folders = all(isinstance(request.given[role], (str, os.PathLike, Mapping)) for role in ("truth", "predicted"))
    if folders and truth.names and predicted.names and len(truth.names) + len(predicted.names) > PLANE:
        truth, predicted = _match_names(truth, predicted)
    elif len(truth.sources) != len(predicted.sources):
        raise UnpairedRows(
            "rows-unmatched",
            "truth and predicted hold different numbers of images",
            found=f"truth {len(truth.sources):,}, predicted {len(predicted.sources):,}",
            fix="give one predicted image for each true one, in the same order",
        )
    size = len(truth.sources)
    if not size:
        raise RowsError("no-rows", "there are no images", fix="give at least one image")
    names = truth.names or [f"{place:0{len(str(size - 1))}d}" for place in range(size)]
    if request.given.get("image") is not None:
        names = [str(name) for name in _side(request.given["image"], "image", size)]
    check_unique(names)
    return ImagePairs(
        names=names,
        truth=truth.sources,
        predicted=predicted.sources,
        units=None if request.unit is None else [str(unit) for unit in _side(request.unit, "unit", size)],
        groups={factor: _side(given, factor, size) for factor, given in request.group.items()},
        about={"from": "images", "columns": {}, "files": hash_files(names, truth.sources, predicted.sources)},
    )


def _match_names(truth: ImageList, predicted: ImageList) -> tuple[ImageList, ImageList]:
    own, other = (dict(zip(side.names or (), side.sources, strict=True)) for side in (truth, predicted))
    lacking = sorted(own.keys() ^ other.keys())
    if lacking:
        raise UnpairedRows(
            "rows-unmatched",
            f"{counted(len(lacking), 'image')} without a partner of the same name",
            found=listed(lacking, most=5),
            fix="give truth and predicted the same file names; endings may differ",
        )
    names = sorted(own)
    first, second = (ImageList(sources=[side[name] for name in names], names=names) for side in (own, other))
    return first, second


def _read_table(request: Request) -> ImagePairs:
    """A table whose columns hold paths, relative to the table's own folder where it is a file."""
    roles = {
        role: request.given[role] for role in ("truth", "predicted", "image") if request.given.get(role) is not None
    }
    columns = {role: Column(given, "label") for role, given in roles.items()}
    if request.unit is not None:
        columns["unit"] = Column(request.unit, "label")
    columns |= {f"group {factor}": Column(given, "label", "keep") for factor, given in request.group.items()}
    with open_batches(request, columns) as batches:
        if batches.table.spark is not None:
            if request.group:
                raise PlanError(
                    "role-clash",
                    "groups of images are not counted on Spark",
                    where="group",
                    fix="assess each group on its own rows, or collect the table of paths first",
                )
            frame = batches.table.spark
            return ImagePairs(names=[], truth=[], predicted=[], about=batches.about, notes=batches.notes, spark=frame)
        parts = list(batches)
        values = {role: [value for part in parts for value in part[role].tolist()] for role in columns}
        about, notes = batches.about, batches.notes
    root = Path(request.data).parent if isinstance(request.data, (str, os.PathLike)) else Path()
    names = [str(name) for name in values.get("image", values["truth"])]
    check_unique(names)
    return ImagePairs(
        names=names,
        truth=[str(root / str(path)) for path in values["truth"]],
        predicted=[str(root / str(path)) for path in values["predicted"]],
        units=[str(unit) for unit in values["unit"]] if "unit" in values else None,
        groups={factor: values[f"group {factor}"] for factor in request.group},
        about=about,
        notes=notes,
    )


def _side(given: object, role: str, size: int) -> list[Any]:
    values = cast("list[Any]", as_array(given, role).tolist())
    if len(values) != size:
        raise RowsError(
            "rows-unmatched",
            f"{role} has {counted(len(values), 'value')} for {counted(size, 'image')}",
            where=role,
            fix=f"give one {role} for each image",
        )
    return values


def check_unique(names: Iterable[str], *, parts: bool = False) -> None:
    """Refuse images of one name: in a list, or in parts that would count them twice."""
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise RowsError(
            "duplicate-id",
            f"{counted(len(twice), 'image')} counted twice" if parts else "two images have the same name",
            found=listed(twice, most=5),
            fix="give every image its own name: image=[...] (--image), or leave one of the two out",
        )


def hash_files(names: Sequence[str], truth: Sequence[Source], predicted: Sequence[Source]) -> dict[str, str]:
    """The digests of files by role and image, for as many as a Record can hold."""
    if 2 * len(names) > HASHED:
        return {}
    return {
        f"{role}/{name}": digest_of(path)
        for role, paths in (("truth", truth), ("predicted", predicted))
        for name, path in zip(names, paths, strict=True)
        if isinstance(path, str) and Path(path).is_file()
    }


def raise_faults(faults: Sequence[Fault], total: int) -> None:
    """One error for all images that cannot be compared, told by the first kind of fault."""
    if not faults:
        return
    code, _, what, _, fix = min(faults)
    kinds = {fault[2] for fault in faults}
    places = [f"{visible(name)}{f' ({found})' if found else ''}" for _, name, _, found, _ in sorted(faults)]
    rest = f" and {len(places) - SHOWN:,} more" if len(places) > SHOWN else ""
    others = f"; other images have other faults: {phrases(sorted(kinds - {what}), most=3)}" if len(kinds) > 1 else ""
    kind = PlanError if code in STATED else RowsError
    raise kind(
        code,
        f"{counted(len(faults), 'image')} of {total:,} cannot be compared: {what}{others}",
        where="; ".join(places[:SHOWN]) + rest,
        found=next((found for _, _, other, found, _ in sorted(faults) if found and other == what), None),
        fix=fix,
    )


def compare_pairs(
    batch: Mapping[str, NDArray[Any]], compare: Callable[[Source, Source], R]
) -> tuple[dict[str, R], dict[str, str] | None, list[Fault]]:
    """What comparing gives for each image of a batch, one after the other; their units; and those that met an error."""
    names = [str(name) for name in batch.get("image", batch["truth"])]
    results: dict[str, R] = {}
    faults: list[Fault] = []
    for name, truth, predicted in zip(names, batch["truth"], batch["predicted"], strict=True):
        try:
            results[name] = compare(truth, predicted)
        except AssayError as error:
            faults.append((error.code, name, error.what, error.found or "", error.fix or ""))
    units = dict(zip(names, map(str, batch["unit"]), strict=True)) if "unit" in batch else None
    return results, units, faults
