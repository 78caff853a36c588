# SPDX-License-Identifier: Apache-2.0
"""Runs a model in a process of its own: `python -m assay.conduct.worker JOB` answers by the number of an input.

Standard output belongs to the driver; what the model prints goes to standard error.
"""

from __future__ import annotations

import importlib
import json
import os
import pickle
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

Answer = Callable[[list[Any]], list[Any]]

SAME: Final = ("float16", "int64", "int32", "uint8", "bool")
"""Types of numbers that ONNX calls as NumPy does."""
ONNX_TYPES: Final = {"tensor(float)": "float32", "tensor(double)": "float64"} | {f"tensor({x})": x for x in SAME}


def main(arguments: Sequence[str]) -> int:
    """Load the model, say that it is ready, and answer until there are no more requests."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    job = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    try:
        inputs = _load_inputs(job["inputs"])
        answer = LOADERS[job["kind"]](job)
    except BaseException as error:  # noqa: BLE001  whatever the model raises is told to the driver
        _tell(answers, {"error": f"{type(error).__name__}: {error}"})
        return 1
    _tell(answers, {"ready": True})
    for line in iter(sys.stdin.buffer.readline, b""):
        try:
            parts = answer([inputs[int(place)] for place in line.split()])
            _tell(answers, {"answers": [plain(part) for part in parts]})
        except Exception as error:  # noqa: BLE001  a failed request does not end the run
            _tell(answers, {"error": f"{type(error).__name__}: {error}"})
    return 0


def _tell(answers: Any, content: dict[str, Any]) -> None:  # noqa: ANN401
    answers.write(json.dumps(content, separators=(",", ":"), default=str).encode() + b"\n")


def _load_inputs(place: str) -> list[Any]:
    if place.endswith(".npy"):
        import numpy as np

        return list(np.load(place, allow_pickle=False))
    return json.loads(Path(place).read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def plain(value: Any) -> Any:  # noqa: ANN401
    """What JSON can hold of an array or a number of NumPy."""
    return value.tolist() if hasattr(value, "tolist") else value


def _load_function(job: dict[str, Any]) -> Answer:
    module, _, name = job["place"].partition(":")
    sys.path.insert(0, job["folder"])
    function: Any = importlib.import_module(module)
    for part in name.split("."):
        function = getattr(function, part)
    return _by_object(function)


def _load_object(job: dict[str, Any]) -> Answer:
    sys.path.insert(0, job["folder"])
    if job["kind"] == "joblib":
        import joblib

        return _by_object(joblib.load(job["place"]))
    return _by_object(pickle.loads(Path(job["place"]).read_bytes()))  # noqa: S301  written by the driver itself


def _by_object(model: Any) -> Answer:  # noqa: ANN401
    """An estimator answers rows at once, a function one input after the other."""
    if hasattr(model, "predict"):
        import numpy as np

        return lambda inputs: list(model.predict(np.asarray(inputs)))
    return lambda inputs: [model(part) for part in inputs]


def _load_onnx(job: dict[str, Any]) -> Answer:
    import numpy as np
    import onnxruntime  # type: ignore[import-untyped,import-not-found,unused-ignore]

    options = onnxruntime.SessionOptions()
    if job.get("threads"):
        options.intra_op_num_threads = int(job["threads"])
    session = onnxruntime.InferenceSession(job["place"], options, providers=["CPUExecutionProvider"])
    first = session.get_inputs()[0]
    kind = ONNX_TYPES[first.type]
    rank = len(first.shape)

    def answer(inputs: list[Any]) -> list[Any]:
        rows = np.asarray(inputs, dtype=kind)
        if rows.ndim == rank + 1 and rows.shape[0] == 1:
            rows = rows[0]  # the model takes no batches
        out = session.run(None, {first.name: rows})[0]
        return list(out) if len(out) == len(inputs) else [out]

    return answer


LOADERS: Final = {"function": _load_function, "object": _load_object, "joblib": _load_object, "onnx": _load_onnx}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
