# SPDX-License-Identifier: Apache-2.0
"""What must hold between the fields of a plan; asked of the document as written, so that one fault hides no other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Final, cast

from assay.assess.conformity.clauses import may_lack, profiles, row_ids
from assay.assess.plan.claim_rules import check_claims, check_references
from assay.assess.plan.document import ROLES, Path, Problem, items, places, table, tables, unknown
from assay.conduct.artefact_worker import EXTENSIONS
from assay.core.errors import AssayError
from assay.core.task import find_task, task_names
from assay.core.text import nearest, quoted, visible
from assay.rows.databases.database import is_server

if TYPE_CHECKING:
    from assay.core.registry import Registry
    from assay.measures.declare import Measure

KINDS: Final = ("binary", "multiclass")
"""Kinds of classification, which have sections of their own."""

FILES: Final = (
    *("data.*.path", "models.*.predictions", "models.*.artefact", "models.*.folds", "models.*.latencies"),
    *("tuning.ledger", "tuning.folds", "population.sample", "metrics.against", "ground_truth.annotations"),
    "tests.values",
)
"""Fields that name a file, or several, beside the plan."""
MEASURES: Final = (
    *("metrics.measures.*", "metrics.accept.*", "metrics.primary", "metrics.reasons.@", "metrics.averaging_basis.@"),
    "models.*.results.@",
)
"""Fields that name a measure."""
SPLITS: Final = ("tuning.data", "models.*.trained_on", "models.*.threshold_from", "models.*.preprocessing.*.fitted_on")
"""Fields that name a data set."""
SCORED: Final = ("threshold", "threshold_rule", "scores", "missing_score", "renormalise")
"""What a model can state only of scores."""
APART: Final = (
    ("population", "classes", "absent"), ("tests", "chosen", "none"), ("channels.*", "constant", "column"),
    ("models.*", "threshold_rule", "threshold"), ("models.*", "predicted", "threshold"), ("data.*", "table", "query"),
)  # fmt: skip
"""Sections with two keys that contradict each other."""
NEEDED: Final = (
    ("ground_truth", "annotations", "annotators"), ("ground_truth", "annotators", "annotations"),
    ("models.*", "threshold_rule", "threshold_from"), ("models.*", "threshold_from", "threshold_rule"),
    *(("models.*", key, "score") for key in SCORED),
)  # fmt: skip
"""Sections with a key that says nothing without another."""
TUNED: Final = (
    ("tuning.data", "choices were made on test data",
     "name the split they were made on; the standard allows none of the test data here (5.3.10)"),
    ("models.*.threshold_from", "the threshold is chosen on test data", "name a validation split"),
)  # fmt: skip
"""Keys that name the split on which something was chosen."""
SUM_TOLERANCE: Final = 1e-6
"""Shares are written with a few digits; further off than this they were not meant to be a distribution."""


def broken(document: Mapping[str, Any], folder: FilePath) -> Iterator[Problem]:
    """Every rule that a document breaks."""
    for rule in (_names, _splits, _shares, _roles, _classes, _task_type, _measures, _costs, _tests, _contradictions,
                 _choices, _lacking, _command, check_claims, check_references):  # fmt: skip
        yield from rule(document)
    yield from _files(document, folder)


def _names(document: Mapping[str, Any]) -> Iterator[Problem]:
    """Names of what the plan, or a catalogue, does not have."""
    splits, models = table(document, "data"), table(document, "models")
    classes = [str(label) for _, label in places(document, "task.classes.*")]
    features = [name for _, name in places(document, "columns.features.*") if isinstance(name, str)]
    references: tuple[tuple[str, Iterable[str], tuple[str, ...]], ...] = (
        ("there is no split", splits, SPLITS),
        ("there is no class", classes, ("population.classes.@",) if classes else ()),
        ("there is no requirement row", row_ids(), ("justifications.@",)),
        ("there is no model", models, ("tuning.trials.@",)),
        ("there is no profile", profiles(), ("plan.profile",)),
        ("no feature is called", features, ("columns.texts.*", *(("features.@",) if features else ()))),
    )
    for what, known, patterns in references:
        for path, name in places(document, *patterns):
            if isinstance(name, str) and name not in known and (path[-1], name) != ("fitted_on", "none"):
                yield unknown(path, what, name, known)


def _splits(document: Mapping[str, Any]) -> Iterator[Problem]:
    for name, split in tables(document, "data"):
        if name not in ROLES and "role" not in split:
            fix = f'add role = "test" to [data.{name}]'
            yield Problem(("data", name), "the role of this split is not stated", fix, known=", ".join(ROLES))
        elif name in ROLES and split.get("role", name) != name:
            what = f"a split called {quoted(name)} has the role {quoted(split['role'])}"
            yield Problem(("data", name, "role"), what, "rename the split, or leave the role out")


def _shares(document: Mapping[str, Any]) -> Iterator[Problem]:
    yield from _whole(("population", "classes"), table(document, "population", "classes"), "class")
    for column, levels in tables(document, "population", "levels"):
        yield from _whole(("population", "levels", column), levels, "level")
    for column, quantiles in tables(document, "population", "quantiles"):
        yield from _rising(("population", "quantiles", column), quantiles)


def _whole(path: Path, shares: Mapping[str, Any], of: str) -> Iterator[Problem]:
    numbers = [one for one in shares.values() if isinstance(one, (int, float)) and not isinstance(one, bool)]
    if shares and len(numbers) == len(shares) and abs(math.fsum(numbers) - 1) > SUM_TOLERANCE:
        what = f"the shares sum to {math.fsum(numbers):.6g}, not to 1"
        yield Problem(path, what, f"state the share of every {of}")


def _rising(path: Path, quantiles: Mapping[str, Any]) -> Iterator[Problem]:
    """Shares between 0 and 1, and values that rise with them."""
    try:
        below = {float(share): float(value) for share, value in quantiles.items()}
    except (TypeError, ValueError):
        below = {math.nan: 0.0}
    if not all(0 < share < 1 for share in below):
        yield Problem(path, "a quantile is not named by a share between 0 and 1", 'write "0.5" = 54.0')
    elif any(low >= high for low, high in pairwise(below[share] for share in sorted(below))):
        yield Problem(path, "the quantiles do not rise with their shares", "correct their values")


def _roles(document: Mapping[str, Any]) -> Iterator[Problem]:
    several = ("features", "subject", "texts", "picture")  # one sample a subject: its id may serve as both
    parts = [(str(path[-1]), path, column) for path, column in places(document, "columns.*") if path[-1] not in several]
    if not table(document, "run"):
        answers = places(document, "models.*.predicted")  # those with predictions lie in files of their own
        apart = {name for name, model in tables(document, "models") if "predictions" in model}
        parts += [("predicted", path, column) for path, column in answers if path[1] not in apart]
    parts += [("feature", path, column) for path, column in places(document, "columns.features.*")]
    taken: dict[str, tuple[str, Path]] = {}
    for role, path, column in parts:
        if not isinstance(column, str):
            continue
        before = taken.setdefault(column, (role, path))
        if before[1] != path:
            what = f"column {quoted(column)} is {before[0]} and {role} at once"
            yield Problem(path, what, "give each role its own column")


def _classes(document: Mapping[str, Any]) -> Iterator[Problem]:
    task = table(document, "task")
    classes, kind, positive = items(task.get("classes")), task.get("type"), task.get("positive")
    spelled = [str(one) for one in classes]
    for i, one in enumerate(spelled):
        if one in spelled[:i]:
            yield Problem(("task", "classes", i), f"the class {quoted(classes[i])} stands twice")
    if classes and positive is not None and str(positive) not in spelled:
        yield unknown(("task", "positive"), "the positive class is not among the classes:", positive, spelled)
    distinct = len(set(spelled))
    if classes and ((kind == "binary" and distinct != 2) or (kind == "multiclass" and distinct < 3)):  # noqa: PLR2004
        what = f"a {kind} task does not have {distinct} classes"
        yield Problem(("task", "classes"), what, known="binary: 2; multiclass: 3 or more")
    if kind in ("multiclass", "multilabel") and positive is not None:
        yield Problem(("task", "positive"), f"a {kind} task has no positive class", "leave it out")


def _task_type(document: Mapping[str, Any]) -> Iterator[Problem]:
    """The task must be one that exists, and have the roles and options that are given."""
    kind = table(document, "task").get("type")
    known = [*KINDS, *(name for name in task_names() if name not in ("classification", *KINDS))]
    if not isinstance(kind, str):
        return
    if kind not in known:
        yield unknown(("task", "type"), "there is no task", kind, known)
    elif kind in KINDS and (given := [key for key in ("given", "options") if key in table(document, "task")]):
        what = f"a {kind} task states columns and models in their own sections"
        yield Problem(("task", given[0]), what, "use columns.truth and models.NAME.predicted")


def _measures(document: Mapping[str, Any]) -> Iterator[Problem]:
    from assay.assess.decide.criteria import criterion
    from assay.tasks.task_settings import choose_measures

    kind = table(document, "task").get("type")
    known = kind if isinstance(kind, str) and kind in set(task_names()) else "classification"  # none, or none there is
    registry = cast("Registry[Measure]", find_task(known).registry)
    for path, name in places(document, *MEASURES):
        if not isinstance(name, str):
            continue
        try:
            criterion(name, registry) if path[1] == "accept" else choose_measures(name, registry)
        except AssayError as error:
            yield Problem(path, error.what, error.fix, known=error.known)


def _costs(document: Mapping[str, Any]) -> Iterator[Problem]:
    from assay.tasks.classification.cost_matrix import Costs
    from assay.tasks.classification.settings import chosen, demand_costs

    metrics = table(document, "metrics")
    stated = table(metrics, "costs")
    classes = [str(entry) for entry in items(table(document, "task").get("classes"))]
    whole = bool(stated) and all(isinstance(entry, dict) for entry in stated.values())
    try:
        found = Costs.read(stated) if whole else None
        if found is not None and classes:
            found.fitted(classes)
    except AssayError as error:
        yield Problem(("metrics", "costs"), error.what, error.fix, known=error.known)
    for i, name in enumerate(items(metrics.get("measures"))):
        try:
            for entry in chosen(name) or () if isinstance(name, str) and not stated else ():
                demand_costs(entry, None)
        except AssayError as error:
            if error.code == "measure-needs":
                fix = "state them: [metrics.costs.TRUTH] PREDICTED = 5"
                yield Problem(("metrics", "measures", i), error.what, fix)


def _tests(document: Mapping[str, Any]) -> Iterator[Problem]:
    from assay.inference.tests_catalogue import every_test

    known = sorted({word for one in every_test() for word in (one.name, one.family, *one.also) if word})
    for path, name in places(document, "tests.chosen.*"):
        if isinstance(name, str) and name not in known:
            problem = unknown(path, "there is no test", name, known)
            yield replace(problem, known="`assay tests` lists them")
    tests = table(document, "tests")
    if tests.get("override") is True and not tests.get("justification"):
        what, fix = "a test that is not admissible needs a reason", "add justification = ... to [tests]"
        yield Problem(("tests", "override"), what, fix)


def _contradictions(document: Mapping[str, Any]) -> Iterator[Problem]:
    """Keys that contradict each other, and keys that need another."""
    for section, first, other in APART:
        for path, part in places(document, section):
            if isinstance(part, dict) and all(part.get(key) not in (None, {}, []) for key in (first, other)):
                yield Problem((*path, other), f'"{first}" and "{other}" contradict each other', "keep one of them")
    for section, there, lacking in NEEDED:
        for path, part in places(document, section):
            if isinstance(part, dict) and there in part and lacking not in part:
                yield Problem((*path, there), f'"{there}" needs "{lacking}" beside it', f"state {lacking}")


def _choices(document: Mapping[str, Any]) -> Iterator[Problem]:
    """Choices that were made on test data, and rows that nothing matches."""
    for pattern, what, fix in TUNED:
        for path, chosen in places(document, pattern):
            split = table(document, "data").get(chosen) if isinstance(chosen, str) else None
            if isinstance(split, dict) and split.get("role", chosen) == "test":
                yield Problem(path, what, fix)
    for path, joined in places(document, "models.*.joined"):
        if joined is True and "predictions" not in table(document, "models", str(path[1])):
            yield Problem(path, "nothing is joined without a file of its predictions")
        elif joined is True and "id" not in table(document, "columns"):
            yield Problem(path, "rows are joined by columns.id, which is not stated")


def _lacking(document: Mapping[str, Any]) -> Iterator[Problem]:
    may = may_lack()
    for name in table(document, "not_applicable"):
        if name not in may and name in row_ids():
            what = f"{name} applies to every assessment"
            yield Problem(("not_applicable", name), what, "state what it asks for; or leave it open")
        elif name not in may:
            yield unknown(("not_applicable", name), "nothing that may be lacking is called", name, may)


def _command(document: Mapping[str, Any]) -> Iterator[Problem]:
    run = table(document, "run")
    command, loads = items(run.get("command")), run.get("artefacts") is True
    key = "command" if command else "artefacts"
    if not command and not loads:
        return
    if command and loads:
        yield Problem(("run", key), "answers come from a command or from model files", "leave one out")
    if "id" not in table(document, "columns"):
        yield Problem(("run", key), "answers are matched by columns.id, which is not stated")
    for word in ("{inputs}", "{predictions}"):
        if command and not any(isinstance(part, str) and word in part for part in command):
            yield Problem(("run", key), f"the command is not given {word}", f'add "{word}"')
    for name, model in tables(document, "models"):
        asked = loads and model.get("kind", "model") == "model" and "predictions" not in model
        if asked and not str(model.get("artefact", "")).lower().endswith(EXTENSIONS):
            path = ("models", name, *(["artefact"] if "artefact" in model else []))
            yield Problem(path, "run.artefacts needs a file of the model", known=", ".join(EXTENSIONS))
        if "threshold_from" in model and "predictions" not in model:
            what = "a threshold cannot be chosen on rows that the command does not answer"
            yield Problem(("models", name, "threshold_from"), what, "state threshold")


def _files(document: Mapping[str, Any], folder: FilePath) -> Iterator[Problem]:
    for path, given in places(document, *FILES):
        for i, place in enumerate(items(given) or [given]):
            if isinstance(place, str):
                yield from _file((*path, i) if isinstance(given, list) else path, place, folder)


def _file(path: Path, place: str, folder: FilePath) -> Iterator[Problem]:
    if is_server(place) and path[0] == "data":
        user = place.partition("//")[2].partition("@")[0] if "@" in place else ""
        if ":" in user or "password=" in place.lower():
            yield Problem(path, "a password stands in the plan", "leave it out: PGPASSWORD or ~/.pgpass")
        return
    if FilePath(place).is_absolute() or ".." in FilePath(place).parts or "\0" in place or "://" in place:
        what = f"{quoted(place)} does not lie in the folder of the plan"
        yield Problem(path, what, "put the file beside the plan and name it from there")
        return
    rows = path[0] == "data" or path[-1] == "predictions" or "predictions" in path
    several = rows and ((any(sign in place for sign in "*?[") and any(folder.glob(place))) or (folder / place).is_dir())
    if not several and not (folder / place).is_file():
        near = nearest(place, _beside(folder))
        fix = f'did you mean "{visible(near)}"?' if near else "name a file from the folder of the plan"
        yield Problem(path, f"there is no file {quoted(place)}", fix)


def _beside(folder: FilePath) -> list[str]:
    try:
        return sorted(one.name for one in folder.iterdir() if one.is_file())[:1000]
    except OSError:
        return []
