# SPDX-License-Identifier: Apache-2.0
"""Answers rows by the file of a model: `python -m assay.conduct.artefact_worker JOB`, in a process of its own.

An ONNX file is data; a joblib file can run code, so whoever starts this has agreed to that.
An estimator that is not fitted yet is fitted on the training rows first, by what `conduct` uses for a fold.
"""

from __future__ import annotations

import csv
import importlib
import importlib.util
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

EXTENSIONS: Final = (".onnx", ".joblib")
SEED: Final = 4213


def main(arguments: Sequence[str]) -> int:
    """Read the job and its rows, ask the model, write id, label and scores of every row."""
    job = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    ids, inputs = read_rows(job["inputs"], job["id"], ())
    ask = _ask_onnx if job["artefact"].lower().endswith(".onnx") else _ask_estimator
    try:
        columns = ask(job, inputs)
    except ImportError as error:
        extra = "onnx" if ask is _ask_onnx else "conduct"
        sys.exit(f'{error}; pip install "assay[{extra}]"')
    with Path(job["predictions"]).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([job["id"], *columns])
        writer.writerows(zip(ids, *columns.values(), strict=True))
    return 0


def read_rows(path: str, key: str, hidden: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """The ids, and every other column: numbers where all values are, else text."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    columns = dict(zip(head, zip(*rows, strict=True), strict=True))
    ids = list(columns.pop(key))
    return ids, {name: _typed(values) for name, values in columns.items() if name not in hidden}


def _typed(values: Sequence[str]) -> Any:  # noqa: ANN401  a column
    try:
        return np.array([float(value) if value else np.nan for value in values])
    except ValueError:
        return np.array(values, dtype=object)


def _features(inputs: Mapping[str, Any], wanted: Sequence[str] | None) -> Any:  # noqa: ANN401
    """A frame where pandas is there, because pipelines may ask for columns by name; else a matrix."""
    names = list(inputs if wanted is None or not set(wanted) <= set(inputs) else wanted)
    if importlib.util.find_spec("pandas") is None:
        return np.column_stack([inputs[name] for name in names])
    frame = importlib.import_module("pandas").DataFrame({name: inputs[name] for name in names})
    return frame if wanted is not None else frame.to_numpy()


def _ask_estimator(job: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, list[Any]]:
    import joblib
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    from assay.conduct.fit_and_predict import class_scores

    model = joblib.load(job["artefact"])
    try:
        check_is_fitted(model)
    except NotFittedError:
        return _fit_and_ask(job, inputs, model)
    asked = _features(inputs, getattr(model, "feature_names_in_", None))
    scores = None if job["score"] is None else class_scores(model, asked)[0]
    return name_columns(job, model.predict(asked), scores, [str(label) for label in model.classes_])


def _fit_and_ask(job: Mapping[str, Any], inputs: Mapping[str, Any], model: Any) -> dict[str, list[Any]]:  # noqa: ANN401
    from assay.conduct.fit_and_predict import Data, run
    from assay.conduct.splits import Fold

    if job["train"] is None:
        sys.exit("the estimator is not fitted, and the plan names no training rows (models.NAME.trained_on)")
    with Path(job["train"]).open(encoding="utf-8", newline="") as file:
        truth = [row[job["truth"]] for row in csv.DictReader(file)]
    _, before = read_rows(job["train"], job["id"], [job["truth"]])
    rows, names = len(next(iter(inputs.values()))), tuple(sorted(set(truth)))
    both = {name: np.concatenate([before[name], inputs[name]]) for name in inputs}
    fold = Fold(repeat=1, fold=1, test=np.arange(len(truth), len(truth) + rows), others=np.arange(len(truth)))
    # The rows that are answered have no truth here; any label stands in, and nothing looks at it.
    y = np.array([*truth, *[names[0]] * rows], dtype=object)
    data = Data(x=_features(both, list(inputs)), y=y, labels=names, positive=_positive(job, names))
    (outcome,) = run({job["model"]: model}, data, [fold], seed=SEED)[job["model"]]
    called = [names[number] for number in outcome.predicted.tolist()]
    return name_columns(job, called, outcome.scores, list(names) if outcome.scores is not None else [])


def _positive(job: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return str(job["positive"]) if str(job["positive"]) in names else None


def _ask_onnx(job: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, list[Any]]:
    import onnxruntime  # type: ignore[import-untyped,import-not-found,unused-ignore]

    from assay.conduct.worker import ONNX_TYPES

    session = onnxruntime.InferenceSession(job["artefact"], providers=["CPUExecutionProvider"])
    asked = session.get_inputs()
    if len(asked) == 1:
        kind = ONNX_TYPES[asked[0].type]
        feed = {asked[0].name: np.column_stack(list(inputs.values())).astype(kind)}
    else:
        feed = {one.name: inputs[one.name].astype(ONNX_TYPES[one.type])[:, np.newaxis] for one in asked}
    labels, scores = None, None
    classes = [str(label) for label in job["classes"] or ()]
    for answer in session.run(None, feed):
        if isinstance(answer, list) and answer and isinstance(answer[0], dict):  # scikit-learn's converter: by class
            classes = [str(label) for label in answer[0]]
            scores = np.array([list(row.values()) for row in answer], dtype=np.float64)
        elif np.asarray(answer).dtype.kind == "f":
            scores = np.asarray(answer, dtype=np.float64)
        else:
            labels = np.asarray(answer).reshape(-1)
    if labels is None and scores is not None and scores.ndim == 2 and scores.shape[1] == len(classes):  # noqa: PLR2004
        labels = np.array(classes, dtype=object)[scores.argmax(axis=1)]
    return name_columns(job, labels, scores, classes)


def name_columns(
    job: Mapping[str, Any], labels: Any, scores: Any, classes: Sequence[str]  # noqa: ANN401  arrays
) -> dict[str, list[Any]]:  # fmt: skip
    """Labels and scores under the names that the plan has for them; what it names and the model lacks is an error."""
    columns: dict[str, list[Any]] = {}
    if job["predicted"] is not None:
        if labels is None:
            sys.exit("the model gives scores and no labels; state models.NAME.score and a threshold instead")
        columns[job["predicted"]] = [getattr(label, "item", lambda own=label: own)() for label in labels]
    wanted = {job["score"]: str(job["positive"])} if isinstance(job["score"], str) else dict(job["score"] or {})
    if wanted and scores is None:
        sys.exit("the model gives no scores; leave models.NAME.score out")
    for column, label in wanted.items():
        if scores.ndim == 1 or scores.shape[1] == 1:
            columns[column] = scores.reshape(-1).tolist()
        elif label in classes:
            columns[column] = scores[:, list(classes).index(label)].tolist()
        else:
            sys.exit(f"the model has no class {label!r}; it has {', '.join(classes)}")
    return columns


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
