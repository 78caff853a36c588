# SPDX-License-Identifier: Apache-2.0
"""Finished folds in a folder: taken again only where data, estimator and parts are the same, and never half-written."""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import re
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from assay.conduct.splits import Fold, digest
from assay.core.errors import PlanError
from assay.core.text import quoted
from assay.rows.temporary_files import sweep, write_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORM: Final = 1
"""The form of a kept fold; another form is not read."""
VERSIONED: Final = ("sklearn", "numpy", "scipy", "builtins")
"""Packages whose code is known by their version."""
Scored: TypeAlias = Literal["probability", "any"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """What one model did in one fold: class numbers, scores by class or of the positive one, and seconds."""

    predicted: NDArray[np.int64]
    scores: NDArray[np.float64] | None
    kind: Scored | None
    fitting: float
    predicting: float


class Kept:
    """The folder, and what of it belongs to this run."""

    def __init__(self, folder: str | os.PathLike[str], run: Mapping[str, object]) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PlanError(
                "out-exists", f"{self.folder} cannot hold finished folds", found=error.strerror, fix="give a folder"
            ) from error
        sweep(self.folder)
        versions = {name: version(name) for name in ("assay", "numpy", "scikit-learn")}
        self._run = {"form": FORM, "python": platform.python_version(), **versions, **run}

    def key(self, estimator: str, fold: Fold) -> str:
        """A digest of everything an outcome depends on."""
        told = {**self._run, "estimator": estimator, "fold": digest([fold])}
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    def path(self, model: str, fold: Fold, key: str) -> Path:
        """Where an outcome is kept; the name is for people, the key decides."""
        plain = re.sub(r"[^A-Za-z0-9]+", "-", model).strip("-")[:40] or "model"
        return self.folder / f"{plain}-repeat{fold.repeat}-fold{fold.fold}-{key[:16]}.npz"

    def load(self, model: str, fold: Fold, key: str) -> Outcome | None:
        """The outcome, if it was finished in the same circumstances; what cannot be read counts as unfinished."""
        try:
            content = io.BytesIO(self.path(model, fold, key).read_bytes())
            with np.load(content, allow_pickle=False) as arrays:
                if str(arrays["key"]) != key or arrays["predicted"].shape != fold.test.shape:
                    return None
                kind = str(arrays["kind"])
                fitting, predicting = arrays["seconds"].tolist()
                return Outcome(
                    predicted=arrays["predicted"],
                    scores=arrays["scores"] if kind else None,
                    kind=kind or None,  # type: ignore[arg-type]
                    fitting=fitting,
                    predicting=predicting,
                )
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None

    def save(self, model: str, fold: Fold, key: str, outcome: Outcome) -> None:
        """Keep an outcome; the file appears whole or not at all."""
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            key=np.array(key),
            predicted=outcome.predicted,
            scores=np.zeros((0, 0)) if outcome.scores is None else outcome.scores,
            kind=np.array(outcome.kind or ""),
            seconds=np.array([outcome.fitting, outcome.predicting]),
        )
        write_whole(self.path(model, fold, key), buffer.getvalue())


def data_digest(*parts: object) -> str:
    """A digest of the data a run rests on."""
    import joblib

    return str(joblib.hash(parts, hash_name="sha1"))


def fingerprint(name: str, estimator: Any) -> str:  # noqa: ANN401  anything with get_params
    """A digest of an estimator: its class, its parameters, and the code of classes and functions that have no version.

    Functions that such code calls in turn are not looked into.
    """
    import joblib
    from sklearn.base import clone

    fresh = clone(estimator)
    hasher = hashlib.sha256()
    try:
        hasher.update(str(joblib.hash(fresh, hash_name="sha1")).encode())
    except Exception as error:  # whatever pickling may raise
        raise PlanError(
            "estimator-unfit",
            f"{quoted(name)} cannot be told from other estimators, so its folds cannot be kept",
            found=f"{type(error).__name__}: {str(error)[:200]}",
            fix="define functions at the top of a module instead of lambda, or leave folder out",
        ) from error
    for part in [fresh, *fresh.get_params(deep=True).values()]:
        for code in _own_code(part):
            _tell(hasher, code)
    return hasher.hexdigest()


def _own_code(part: object) -> Iterable[CodeType]:
    """The code of a function, or of the methods of an object's classes, unless a version stands for it."""
    if isinstance(part, (FunctionType, MethodType)):
        if (part.__module__ or "").partition(".")[0] not in VERSIONED:
            yield part.__code__
        return
    for kind in (part if isinstance(part, type) else type(part)).__mro__:
        if kind.__module__.partition(".")[0] not in VERSIONED:
            held = (getattr(one, "__func__", getattr(one, "fget", one)) for one in vars(kind).values())
            yield from (one.__code__ for one in held if isinstance(one, FunctionType))


def _tell(hasher: hashlib._Hash, code: CodeType) -> None:
    hasher.update(code.co_code)
    hasher.update(repr((code.co_names, code.co_varnames)).encode())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _tell(hasher, constant)
        elif isinstance(constant, frozenset):
            hasher.update(repr(sorted(map(repr, constant))).encode())
        else:
            hasher.update(repr(constant).encode())
