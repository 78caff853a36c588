# SPDX-License-Identifier: Apache-2.0
"""Where the rows of a plan lie: files of its folder, tables of databases, or answers that a command makes here."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from assay.assess.conformity.ledger import now
from assay.assess.plan.checked_plan import LoadedPlan
from assay.core.errors import EngineError, PlanError
from assay.core.text import counted, visible
from assay.rows.databases.database import is_server, shown
from assay.rows.engines.duckdb_engine import quote_identifier
from assay.rows.files.file_digests import digest_of
from assay.rows.files.formats import Reading
from assay.rows.temporary_files import write_whole
from assay.tally.data.split_counts import SplitRows

if TYPE_CHECKING:
    from assay.assess.plan.section_fields import Model, Split
    from assay.rows.limits import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Rows by their place: one path or several, a pattern, a folder, a table of a database."""

    places: tuple[str, ...]
    table: str | None = None
    query: str | None = None
    pinned: str | Mapping[str, str] | None = None

    @property
    def data(self) -> str | list[str]:
        """As the counting functions take it."""
        return self.places[0] if len(self.places) == 1 else list(self.places)

    @property
    def name(self) -> str:
        """What errors and people call it."""
        if len(self.places) > 1:
            return counted(len(self.places), "file")
        return visible(shown(self.places[0]) if is_server(self.places[0]) else Path(self.places[0]).name)

    def selected(self, truth: Held | None) -> dict[str, Any]:
        """Which tables of databases hold these rows, and the truth if that is elsewhere."""
        tables = {"table": self.table, "query": self.query}
        return tables if truth is None else {**tables, "truth_table": truth.table, "truth_query": truth.query}

    def reading(self, loaded: LoadedPlan, *, pinned: bool = True, truth: Held | None = None) -> Reading:
        """How these rows are read, and the truth if that is elsewhere."""
        stated = {name: getattr(loaded.plan.reading, name) for name in ("delimiter", "decimal", "max_rows")}
        return Reading(**stated, sha256=self.pinned if pinned else None, **self.selected(truth))


def of_split(loaded: LoadedPlan, split: Split) -> Held | None:
    """Where a data set lies; None where the plan does not say."""
    if split.path is None:
        return None
    return Held(places=places(loaded, split.path), table=split.table, query=split.query, pinned=split.sha256)


def of_model(loaded: LoadedPlan, model: Model, split: Split) -> tuple[Held, Held | None]:
    """Where the predictions of a model lie, and the truth if that is elsewhere."""
    rows = of_split(loaded, split)
    if model.predictions is None and rows is not None:
        return rows, None
    own = Held(places=places(loaded, model.predictions or ""))
    return own, rows if model.joined else None


def places(loaded: LoadedPlan, given: str | list[str]) -> tuple[str, ...]:
    """Paths from the folder of the plan; addresses of servers as they are."""
    every = [given] if isinstance(given, str) else given
    return tuple(one if is_server(one) else str(loaded.folder / one) for one in every)


Progress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFiles:
    """Rows of splits and models, and what a plan names beside them."""

    splits: Mapping[str, SplitRows] = field(default_factory=dict)
    predictions: Mapping[str, SplitRows] = field(default_factory=dict)
    annotations: SplitRows | None = None
    folds: SplitRows | None = None
    reference: SplitRows | None = None
    fold_tables: Mapping[str, SplitRows] = field(default_factory=dict)
    latencies: Mapping[str, SplitRows] = field(default_factory=dict)

    @classmethod
    def of(
        cls, loaded: LoadedPlan, predictions: Mapping[str, Held], limits: Limits | None, progress: Progress | None
    ) -> PlanFiles:
        """Those of a plan; `progress` hears how far reading is."""
        plan, known = loaded.plan, {}

        def at(source: Held | None) -> SplitRows | None:
            if source is None:
                return None
            if source.places not in known:
                reading = source.reading(loaded)
                known[source.places] = SplitRows.of(source.data, reading=reading, limits=limits, progress=progress)
            return known[source.places]

        def beside(place: str | None) -> SplitRows | None:
            return None if place is None else at(Held(places=places(loaded, place)))

        def there(each: Mapping[str, SplitRows | None]) -> dict[str, SplitRows]:
            return {name: one for name, one in each.items() if one is not None}

        return cls(
            splits=there({name: at(of_split(loaded, one)) for name, one in plan.data.items()}),
            predictions=there({model: at(held) for model, held in predictions.items()}),
            annotations=beside(plan.ground_truth.annotations),
            folds=beside(plan.tuning.folds),
            reference=beside(plan.population.sample),
            fold_tables=there({name: beside(model.folds) for name, model in plan.models.items()}),
            latencies=there({name: beside(model.latencies) for name, model in plan.models.items()}),
        )


FOLDER: Final = "assay-predictions"
"""Beside the plan: the inputs that were handed over, and what came back."""
MOST_LINES: Final = 8
"""Lines of a failing command that are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeHere:
    """What one model answered here: when, in what time, to which rows, by which command."""

    model: str
    split: str
    path: Path
    command: tuple[str, ...]
    began: str
    seconds: float
    inputs: str
    predictions: str

    def to_json(self) -> dict[str, Any]:
        """As in a Record: the command as the plan writes it, files by their digests."""
        return {
            "command": list(self.command),
            "began": self.began,
            "seconds": self.seconds,
            "inputs_sha256": self.inputs,
            "predictions_sha256": self.predictions,
        }


def models_run(loaded: LoadedPlan) -> dict[str, Model]:
    """The models whose answers the command of a plan makes."""
    own = loaded.plan.models.items()
    return {name: model for name, model in own if model.counted and model.kind == "model" and model.predictions is None}


def demand_consent(loaded: LoadedPlan, *, allowed: bool) -> None:
    """Refuse to run what a file says unless somebody agreed to it; an ONNX file is data and runs nothing."""
    command = list(loaded.plan.run.command or ())
    if loaded.plan.run.artefacts:
        files = [str(model.artefact) for model in models_run(loaded).values()]
        command = [name for name in files if not name.lower().endswith(".onnx")]
    if command and not allowed:
        what = "the plan runs a command or loads an estimator, and nobody agreed to that"
        where = f"{visible(loaded.path)}, run.{'artefacts' if loaded.plan.run.artefacts else 'command'}"
        fix = "look at it, then add --allow-command (allow_command=True)"
        raise PlanError("run-refused", what, where=where, found=visible(" ".join(command)), fix=fix)


def make_predictions(loaded: LoadedPlan, splits: Mapping[str, Split], limits: Limits | None) -> Iterator[MadeHere]:
    """Let every model answer every split, one after the other: by the command of the plan, or by its file."""
    command = tuple(loaded.plan.run.command or ())
    if not command and not loaded.plan.run.artefacts:
        return
    folder = loaded.folder / FOLDER
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        what = f"cannot make the folder {FOLDER}"
        raise PlanError("out-exists", what, found=error.strerror, fix="run where files can be written") from error
    for split, of in splits.items():
        source = of_split(loaded, of)
        rows = None if source is None else SplitRows.of(source.data, reading=source.reading(loaded), limits=limits)
        if rows is None:
            raise PlanError("run-failed", f"the rows of {split} lie in no file", fix="name a file of the test split")
        inputs = write_whole(folder / f"{split}-inputs.csv", _inputs(loaded, rows))
        for model in models_run(loaded):
            goal = folder / f"{model}-{split}.csv"
            yield _run(loaded, command or _job(loaded, model, inputs, goal, limits), model, split, inputs, goal)


def _job(loaded: LoadedPlan, name: str, inputs: Path, goal: Path, limits: Limits | None) -> tuple[str, ...]:
    """The command that loads the file of a model; what it must know is written beside its answers."""
    plan, model, train = loaded.plan, loaded.plan.models[name], None
    split = None if model.trained_on is None else plan.data.get(model.trained_on)
    source = None if split is None else of_split(loaded, split)
    if source is not None:
        rows = SplitRows.of(source.data, reading=source.reading(loaded), limits=limits)
        content = b"" if rows is None else _inputs(loaded, rows, truth=True)
        train = str(write_whole(goal.with_name(f"{name}-{model.trained_on}.csv"), content)) if content else None
    listed = dict(zip(model.score, plan.task.classes or (), strict=False)) if isinstance(model.score, list) else None
    named = {column: label for label, column in model.score.items()} if isinstance(model.score, dict) else listed
    job = {
        "model": name, "artefact": str(loaded.folder / str(model.artefact)), "inputs": str(inputs),
        "predictions": str(goal), "train": train, "truth": plan.columns.truth, "id": plan.columns.id,
        "predicted": model.predicted, "score": model.score if isinstance(model.score, str) else named,
        "positive": plan.task.positive, "classes": plan.task.classes,
    }  # fmt: skip
    place = write_whole(goal.with_suffix(".job.json"), json.dumps(job).encode("utf-8"))
    return ("{python}", "-m", "assay.conduct.artefact_worker", str(place))


def _inputs(loaded: LoadedPlan, rows: SplitRows, *, truth: bool = False) -> bytes:
    """The ids and features of a split; where no features are stated, all columns but the truth and answers."""
    columns, plan = loaded.plan.columns, loaded.plan
    hidden = {columns.weight, *(model.predicted for model in plan.models.values())} | ({columns.truth} - {None})
    hidden |= {model.score for model in plan.models.values() if isinstance(model.score, str)}
    wanted = [columns.id, *(columns.features or [name for name in rows.columns if name != columns.id])]
    names = [name for name in wanted if name is not None and name not in hidden]
    names += [columns.truth] if truth and columns.truth is not None else []
    answers = rows.opened.fetch(f"SELECT {', '.join(map(quote_identifier, names))} FROM rows")  # noqa: S608  quoted
    with io.StringIO(newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(answers)
        return text.getvalue().encode("utf-8")


def _run(  # noqa: PLR0917  one model of one split
    loaded: LoadedPlan, command: tuple[str, ...], model: str, split: str, inputs: Path, goal: Path
) -> MadeHere:
    """One run of the command: no shell, nothing to read but the inputs, an old answer taken away before."""
    goal.unlink(missing_ok=True)
    words = {
        "{python}": sys.executable,
        "{model}": model,
        "{split}": split,
        "{inputs}": str(inputs),
        "{predictions}": str(goal),
    }
    filled = [_filled(word, words) for word in command]
    before, began, clock = digest_of(str(inputs)), now(), time.perf_counter()
    try:
        done = subprocess.run(  # noqa: S603  as the plan says, and somebody agreed
            filled, cwd=loaded.folder, stdin=subprocess.DEVNULL, capture_output=True, check=False,
            timeout=loaded.plan.run.seconds, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **_path(loaded)},
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        limit = f"it took more than {loaded.plan.run.seconds:g} seconds"
        raise _failed(model, limit, error.stderr or b"", fix="state run.seconds") from error
    except OSError as error:
        raise _failed(model, f"it cannot be started: {error.strerror}", b"", fix="correct run.command") from error
    seconds = time.perf_counter() - clock
    if done.returncode:
        raise _failed(model, f"it ended with {done.returncode}", done.stderr, fix="correct the program")
    if not goal.is_file():
        raise _failed(model, "it wrote no predictions", done.stderr, fix='write to the path given as "{predictions}"')
    if digest_of(str(inputs)) != before:
        raise _failed(model, "it changed its inputs", done.stderr, fix="leave the inputs as they are")
    shown = ("artefact", str(loaded.plan.models[model].artefact)) if loaded.plan.run.artefacts else command
    return MadeHere(
        model=model, split=split, path=goal, command=shown, began=began, seconds=seconds, inputs=before,
        predictions=digest_of(str(goal)),
    )  # fmt: skip


def _path(loaded: LoadedPlan) -> dict[str, str]:
    """Where a process that loads the file of a model finds this package; a command has the path of its own."""
    if not loaded.plan.run.artefacts:
        return {}
    own = str(Path(__file__).resolve().parents[3])
    return {"PYTHONPATH": os.pathsep.join(filter(None, (own, os.environ.get("PYTHONPATH"))))}


def _filled(word: str, words: Mapping[str, str]) -> str:
    for name, value in words.items():
        word = word.replace(name, value)
    return word


def _failed(model: str, what: str, output: bytes, *, fix: str) -> EngineError:
    lines = output.decode("utf-8", "replace").splitlines()[-MOST_LINES:]
    last_words = "; ".join(visible(line) for line in lines if line.strip()) or None
    return EngineError(
        "run-failed", f"the command of {model} failed: {what}", where="run.command", found=last_words, fix=fix
    )
