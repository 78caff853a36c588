# SPDX-License-Identifier: Apache-2.0
"""A first plan for a file of predictions: what the file tells is filled in, the rest is left open."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.app.proposal import FEW, see_columns
from assay.assess.plan.template import short_template, template
from assay.conduct.artefact_worker import EXTENSIONS
from assay.core.errors import PlanError
from assay.core.text import counted, listed, quoted, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.rows.files.opened_file import OpenedFile

ISO_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?$")
OPTIONAL: Final = ("id", "subject", "time")
"""Columns that a file need not have."""


def drafted(path: str, given: dict[str, Any]) -> str:
    """A plan for a file of predictions or test rows; what cannot be known is taken from options."""
    from assay.rows.files.file_set import open_files

    opened = open_files(path)
    columns = list(opened.columns)
    models = {name: file for name, _, file in (text.partition("=") for text in given.get("models") or ("model",))}
    truth = _column("truth", given.get("truth"), columns)
    roles: dict[str, str] = {"truth": truth}
    own = {} if all(models.values()) else _own_columns(given, columns)
    labels = _labels(opened, truth, *(own[role] for role in own if role == "predicted"))
    positive = _positive(given.get("positive"), labels)
    further = {name: given.get(name) for name in OPTIONAL}
    further["time"] = further["time"] or _dates(opened)
    roles |= {name: _column(name, column, columns) for name, column in further.items() if column}
    filled: dict[str, Any] = {
        "plan": {name: given[name] for name in ("title", "assessor") if given.get(name)},
        "task": {"type": "binary" if len(labels) == 2 else "multiclass", "classes": labels},  # noqa: PLR2004
        "columns": roles,
        "data": {"test": _split(path, path)},
        "models": {
            name: _answered_by(name, file, path, roles, labels) if file else dict(own) for name, file in models.items()
        },
    }
    if positive is not None:
        filled["task"]["positive"] = positive
    _fill_training(path, filled, given, columns)
    for text in given.get("estimators") or ():
        describe_estimator(filled, text)
    return template(filled) if given.get("full") else short_template(filled)


def _own_columns(given: dict[str, Any], columns: list[str]) -> dict[str, str]:
    """The columns of the test rows that hold predictions, or scores in their place."""
    own = {role: given[role] for role in ("predicted", "score") if given.get(role) is not None}
    if not own or "predicted" in own:
        own["predicted"] = given.get("predicted")
    return {role: _column(role, name, columns) for role, name in own.items()}


def _answered_by(name: str, file: str, test: str, roles: dict[str, str], labels: list[Any]) -> dict[str, Any]:
    """What a plan says of a model, as far as its file of predictions or weights tells."""
    from assay.rows.files.file_set import open_files

    place = _beside(test, file)
    if place.lower().endswith(EXTENSIONS):
        score = {"score": f"{name}_score", "scores": "probability"} if len(labels) == 2 else {}  # noqa: PLR2004
        return {"predicted": f"{name}_predicted", **score, "artefact": place}
    opened = open_files(file)
    entries: dict[str, Any] = {"predictions": place, "joined": True}
    if "id" not in roles:
        raise PlanError("role-missing", "answers in files are matched by id", where=file, fix="--id COLUMN")
    for column in see_columns(opened):
        if column.name == roles["id"]:
            continue
        values = _distinct(opened, column.name)
        if len(values) <= FEW and {str(value) for value in values} <= {str(label) for label in labels}:
            entries.setdefault("predicted", column.name)
        elif column.number:
            entries.setdefault("score", column.name)
    if not {"predicted", "score"} & set(entries):
        what = f"no column of {visible(place)} holds labels of the truth or numbers"
        raise PlanError("column-type", what, known=listed(opened.columns), fix="give a file with predictions")
    return entries


def _beside(plan: str, file: str) -> str:
    """A path as the plan names it, which lies beside the test rows."""
    folder, place = Path(plan).resolve().parent, Path(file).resolve()
    if not place.is_file():
        raise PlanError("no-file", f"there is no file {visible(file)}", where=file, fix="correct the path")
    if not place.is_relative_to(folder):
        what = f"{visible(file)} does not lie in the folder of the test rows"
        raise PlanError("no-file", what, where=file, fix="copy it there: a plan names files of its own folder")
    return place.relative_to(folder).as_posix()


def _split(plan: str, file: str) -> dict[str, Any]:
    from assay.rows.files.file_set import open_files

    place, opened = _beside(plan, file), open_files(file)
    return {"path": place, "sha256": opened.sha256}


def _fill_training(test: str, filled: dict[str, Any], given: dict[str, Any], columns: Sequence[str]) -> None:
    """Splits before the test, the features they share, what models were trained on, and what this machine tells."""
    from assay.rows.files.file_set import open_files

    for option, (section, key) in {"groups": ("fairness", "groups"), "measures": ("metrics", "measures")}.items():
        if given.get(option):
            filled[section] = {key: list(given[option])}
    if given.get("channels"):
        filled["channels"] = {"other": list(given["channels"])}
    for role in ("train", "validation"):
        if given.get(role):
            filled["data"][role] = _split(test, given[role])
    if given.get("validation"):
        filled["tuning"] = {"scheme": "holdout", "data": "validation"}
    if not given.get("train"):
        return
    taken = {*filled["columns"].values(), *(given.get("groups") or ()), *(given.get("channels") or ())}
    taken |= {value for model in filled["models"].values() for value in model.values() if isinstance(value, str)}
    shared = set(open_files(given["train"]).columns)
    filled["columns"]["features"] = [name for name in columns if name in shared and name not in taken]
    for model in filled["models"].values():
        model["trained_on"] = "train"
    if any("artefact" in model for model in filled["models"].values()):
        filled["run"] = {"artefacts": True}
    filled["environment"] = {"python": ".".join(map(str, sys.version_info[:2])), "simulated": False}


def describe_estimator(filled: dict[str, Any], text: str) -> None:
    """Hyperparameters, algorithm and steps of an estimator, from its joblib file or from parameters as JSON."""
    name, _, file = text.rpartition("=")
    models = filled["models"]
    name = name or next(iter(models))
    if name not in models:
        raise PlanError("option-unknown", f"there is no model {quoted(name)}", known=listed(models), fix="--model NAME")
    if file.lower().endswith(".json"):
        content = json.loads(Path(file).read_text(encoding="utf-8"))
        parameters = content.get("hyperparameters", content) if isinstance(content, dict) else {}
        if isinstance(content, dict) and "algorithm" in content:
            models[name]["algorithm"] = str(content["algorithm"])
    else:
        parameters = _read_estimator(models[name], file)
    kept = {key: value for key, value in parameters.items() if isinstance(value, (bool, int, float, str))}
    if kept:
        models[name]["hyperparameters"] = {
            key: {"value": value, "type": type(value).__name__} for key, value in kept.items()
        }


def _read_estimator(model: dict[str, Any], file: str) -> dict[str, Any]:
    """The parameters of an estimator; its file is loaded, which can run code, because somebody named it."""
    import importlib.metadata

    from assay.conduct.fit_and_predict import demand_scikit_learn

    demand_scikit_learn()
    import joblib

    try:
        estimator = joblib.load(file)
        parameters: dict[str, Any] = estimator.get_params(deep=True)
    except Exception as error:  # a pickle can raise anything
        what = f"{visible(file)} is not an estimator that scikit-learn can load"
        raise PlanError("estimator-unfit", what, found=visible(error), fix="give a .joblib file, or .json") from error
    steps = getattr(estimator, "steps", None)
    last = steps[-1][1] if steps else estimator
    model["algorithm"] = f"{type(last).__name__}, scikit-learn {importlib.metadata.version('scikit-learn')}"
    model["preprocessing"] = [{"step": type(one).__name__, "fitted_on": "train"} for _, one in (steps or [])[:-1]]
    return parameters


def _distinct(opened: OpenedFile, column: str) -> set[Any]:
    """The distinct values of a column; one more than FEW where there are many."""
    from assay.rows.engines.duckdb_engine import quote_identifier

    name = quote_identifier(column)
    query = f"SELECT DISTINCT {name} FROM rows WHERE {name} IS NOT NULL LIMIT {FEW + 1}"  # noqa: S608  quoted above
    return {row[0] for row in opened.fetch(query)}


def _dates(opened: OpenedFile) -> str | None:
    """The one column of dates, if there is exactly one."""
    from assay.rows.engines.duckdb_engine import quote_identifier

    def dated(column: str) -> bool:
        name = quote_identifier(column)
        rows = opened.fetch(f"SELECT {name} FROM rows LIMIT {FEW}")  # noqa: S608  quoted above
        return bool(rows) and all(ISO_DATE.match(str(row[0])) for row in rows)

    found = [column for column in opened.columns if dated(column)]
    return found[0] if len(found) == 1 else None


def _column(role: str, name: str | None, columns: list[str]) -> str:
    if name is None:
        what = f"missing option: the column of the {role} labels"
        raise PlanError("role-missing", what, known=listed(columns, most=20), fix=f"--{role} COLUMN")
    from assay.rows.source import require

    return require(name, columns, role)


def _labels(opened: OpenedFile, *columns: str) -> list[Any]:
    from assay.core.labels import in_order

    labels: set[Any] = set()
    for column in columns:
        labels |= _distinct(opened, column)
        if len(labels) > FEW:
            what = f"column {quoted(column)} holds more than {FEW} distinct values"
            fix = "name the column with the labels; plans for more classes are written by hand"
            raise PlanError("column-type", what, where=column, fix=fix)
    return list(in_order(labels))


def _positive(name: str | None, labels: list[Any]) -> Any:  # noqa: ANN401  a label
    if len(labels) != 2:  # noqa: PLR2004
        if name is not None:
            what = f"there are {counted(len(labels), 'class', 'classes')}"
            raise PlanError("positive-not-binary", what, fix="leave --positive out")
        return None
    labels_by_name = {str(label): label for label in labels}
    if name not in labels_by_name:
        code = "positive-class-undeclared" if name is None else "unknown-positive"
        what = "which of the two classes is the positive one?"
        raise PlanError(code, what, known=listed(labels), fix="--positive LABEL")
    return labels_by_name[name]
