# SPDX-License-Identifier: Apache-2.0
"""The bundled examples: what `assay demo` assesses, laid beside its reports, and the command that does it again."""

from __future__ import annotations

import csv
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment

CLASSIFIED: Final[Mapping[str, Mapping[str, Any]]] = {
    "screening": {
        "truth": "truth",
        "score": ("score",),
        "scores": "probability",
        "threshold": "0.4",
        "positive": "disease",
        "groups": ("sex", "site"),
    },
    "waste": {"truth": "material", "predicted": "sorted_as", "groups": ("camera",)},
}
"""Examples of classification by name, with the options they are read by."""
JUDGED: Final[Mapping[str, Any]] = {"fairness": ("equal_opportunity", "predictive_parity"), "tolerance": 0.05}


def demo_files() -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """The bundled examples of classification: name, path, and how to read them."""
    for name, given in CLASSIFIED.items():
        with as_file(files("assay.app") / "examples" / f"{name}.csv") as path:
            yield name, path, dict(given)


def demo_assessments(task: str | None, folder: Path, *, quiet: bool) -> tuple[dict[str, Assessment], str]:
    """The assessments of bundled examples by name, and the command that makes the first of them again.

    The files lie in the folder afterwards, each beside its report.
    """
    from assay.app.commands.run_command import run_file

    if task in (None, "classification"):
        assessments, commands = {}, []
        for name, path, given in demo_files():
            assessments[name] = run_file(path, quiet=quiet, **given)
            commands.append(_command("", [_lay(path, folder / name)], given))
        return assessments, commands[0]
    if task == "fairness":
        return _fairness(folder / "compas")
    from assay.assess.task_assessment import assess_task
    from assay.core.task import find_task

    declared = find_task(str(task))
    assessments, commands = {}, []
    for example in declared.examples:
        with as_file(files(f"assay.tasks.{declared.name}") / "examples") as bundled:
            stated = {"group": example.group, "unit": example.unit}
            more = {name: list(part) if name == "group" else part for name, part in stated.items() if part}
            given = {name: _place(bundled, value) for name, value in example.given.items()}
            data = {} if example.data is None else {"data": str(bundled / example.data)}
            assessments[example.name] = assess_task(declared.name, **given, **data, **more, **example.options)
            beside = folder / example.name.replace(" ", "-")
            paths = [] if example.data is None else [_lay(bundled / example.data, beside)]
            typed = {name: _lay(bundled / str(value), beside) if (bundled / str(value)).is_file() else value
                     for name, value in example.given.items()}  # fmt: skip
            commands.append(_command(declared.name, paths, typed | dict(example.options) | more))
    return assessments, commands[0]


def _place(folder: Path, value: object) -> object:
    """The path of a file of the examples, or whatever else was given."""
    return str(folder / value) if isinstance(value, str) and (folder / value).exists() else value


def _fairness(folder: Path) -> tuple[dict[str, Assessment], str]:
    import assay
    from assay.fairness.example import read_compas

    columns: dict[str, Any] = dict(read_compas())
    path = folder / "compas.csv"
    with suppress(OSError):  # reports that cannot be written are told of below
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
    group = {"race": columns.pop("race")}
    counted = assay.assess(**columns, positive=1, group=group)
    judged = counted.require_fairness(*JUDGED["fairness"], tolerance=JUDGED["tolerance"])
    typed = {"truth": "truth", "predicted": "predicted", "score": ("score",), "positive": 1, "groups": ("race",)}
    return {"compas": judged}, _command("", [path], typed | dict(JUDGED))


def _lay(path: Path, folder: Path) -> Path:
    """A copy of a bundled file in a folder; one that cannot be written is told of when the reports are."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / path.name)
    return folder / path.name


def _command(task: str, paths: list[Path], given: Mapping[str, Any]) -> str:
    words = ["assay", "run", *(["--task", task] if task else []), *map(str, paths)]
    for name, value in given.items():
        option = f"--{name.replace('_', '-')}".removesuffix("s" if name == "groups" else "")
        for part in value if isinstance(value, (tuple, list)) else [value]:
            words += [option] if part is True else [option, str(part)]
    return shlex.join(words)
