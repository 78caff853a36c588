# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

import assay
from assay.conduct.fold_cache import fingerprint
from assay.core.errors import PlanError

X = np.arange(60.0)[:, np.newaxis]
Y = np.arange(60) % 2


class Counts(ClassifierMixin, BaseEstimator):
    """A classifier that counts how often it is fitted, and may fail at one row."""

    fits = 0

    def __init__(self, depth=1, bad=None):
        self.depth, self.bad = depth, bad

    def fit(self, x, y):
        Counts.fits += 1
        if self.bad is not None and os.path.exists(self.bad) and 7 not in x[:, 0]:  # noqa: PTH110
            msg = "row 7 is wanted"
            raise ValueError(msg)
        self.classes_ = np.unique(y)
        return self

    def predict(self, x):
        return (x[:, 0] % 3 > 1).astype(int)

    def predict_proba(self, x):
        share = x[:, 0] % 7 / 7
        return np.stack([1 - share, share], axis=1)


@pytest.fixture
def fits():
    def count(*arguments, **named):
        Counts.fits = 0
        found = assay.conduct(*arguments, **named)
        return Counts.fits, found

    return count


def test_finished_folds_are_not_run_again(tmp_path, fits):
    models = {"a/b c": Counts(), "two": Counts(depth=2)}
    times, first = fits(models, X, Y, "5x2", folder=tmp_path / "kept" / "here")
    again, second = fits(models, X, Y, "5x2", folder=str(tmp_path / "kept" / "here"))
    assert (times, again) == (20, 0)
    for measure in ("accuracy", "auroc", "brier_score"):
        assert first.values(measure) == second.values(measure)
    assert first.timing == second.timing
    assert len(list((tmp_path / "kept" / "here").iterdir())) == 20


def test_a_longer_run_takes_what_a_shorter_one_finished(tmp_path, fits):
    fits({"one": Counts()}, X, Y, "2x5", folder=tmp_path)
    times, _ = fits({"one": Counts(), "two": Counts(depth=2)}, X, Y, "3x5", folder=tmp_path)
    assert times == 5 + 15


@pytest.mark.parametrize(
    "change",
    [
        {"x": X + 1e-9},
        {"x": X.astype(np.float32)},
        {"y": np.where(np.arange(60) == 3, 0, Y)},
        {"seed": 1},
        {"scheme": "kfold(k=6)"},
        {"models": {"one": Counts(depth=2)}},
    ],
)
def test_whatever_differs_is_run_again(tmp_path, fits, change):
    given = {"models": {"one": Counts()}, "x": X, "y": Y, "scheme": "kfold(k=5)", "seed": 0} | change
    fits({"one": Counts()}, X, Y, "kfold(k=5)", seed=0, folder=tmp_path)
    folds = 6 if "scheme" in change else 5
    times, found = fits(given["models"], given["x"], given["y"], given["scheme"], seed=given["seed"], folder=tmp_path)
    assert times == folds
    assert len(found.folds) == folds


def test_a_broken_or_foreign_file_counts_as_unfinished(tmp_path, fits):
    _, first = fits({"one": Counts()}, X, Y, "kfold(k=4)", folder=tmp_path)
    files = sorted(tmp_path.iterdir())
    files[0].write_bytes(files[0].read_bytes()[:200])
    files[1].write_bytes(b"")
    files[2].write_bytes(files[3].read_bytes())
    times, again = fits({"one": Counts()}, X, Y, "kfold(k=4)", folder=tmp_path)
    assert times == 3
    assert again.values("accuracy") == first.values("accuracy")
    assert fits({"one": Counts()}, X, Y, "kfold(k=4)", folder=tmp_path)[0] == 0


def test_after_a_failure_only_the_rest_is_run(tmp_path, fits):
    bad = tmp_path / "bad"
    bad.touch()
    model = {"one": Counts(bad=str(bad))}
    Counts.fits = 0
    with pytest.raises(PlanError) as told:
        assay.conduct(model, X, Y, "kfold(k=6, shuffle=False)", folder=tmp_path / "kept")
    assert told.value.code == "fold-failed"
    assert told.value.found == "ValueError: row 7 is wanted"
    assert "finished folds are kept" in told.value.fix
    reached = Counts.fits
    bad.unlink()
    times, _ = fits(model, X, Y, "kfold(k=6, shuffle=False)", folder=tmp_path / "kept")
    assert times == 6 - (reached - 1)


KILLED = """
    import os, signal, sys
    import numpy as np
    from pathlib import Path
    from sklearn.tree import DecisionTreeClassifier
    import assay

    class Mortal(DecisionTreeClassifier):
        def fit(self, x, y):
            fits = Path(sys.argv[1], "fits")
            with fits.open("a") as file:
                file.write(".")
            if len(fits.read_text()) == int(sys.argv[2]):
                os.kill(os.getpid(), signal.SIGKILL)
            return super().fit(x, y)

    x = np.random.default_rng(0).normal(size=(60, 3))
    found = assay.conduct({"mortal": Mortal()}, x, np.arange(60) % 2, "5x2", folder=Path(sys.argv[1], "kept"))
    print(found.values("accuracy")["mortal"])
"""


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(KILLED), encoding="utf-8")

    def run(folder, fatal):
        (tmp_path / folder).mkdir(exist_ok=True)
        command = [sys.executable, str(script), str(tmp_path / folder), str(fatal)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    whole = run("whole", 0)
    assert whole.returncode == 0, whole.stderr
    assert run("cut", 7).returncode == -signal.SIGKILL
    kept = list((tmp_path / "cut" / "kept").iterdir())
    assert len(kept) == 6
    assert all(path.suffix == ".npz" for path in kept)
    rest = run("cut", 0)
    assert rest.stdout == whole.stdout
    assert len((tmp_path / "cut" / "fits").read_text()) == 7 + 4


def test_a_folder_that_cannot_be_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(PlanError) as told:
        assay.conduct({"one": Counts()}, X, Y, folder=tmp_path / "file")
    assert told.value.code == "out-exists"


def made(body):
    """A class whose code came from elsewhere, as if its file had been edited between two runs."""
    names = {"__name__": "elsewhere"}
    exec(f"def f(x):\n    return {body}\n", names)  # noqa: S102
    kind = type("Own", (DecisionTreeClassifier,), {"__module__": "elsewhere", "shift": names["f"]})
    module = type(sys)("elsewhere")
    module.Own, module.f = kind, names["f"]
    sys.modules["elsewhere"] = module
    return kind, names["f"]


def test_own_code_that_was_edited_is_noticed(monkeypatch):
    monkeypatch.setitem(sys.modules, "elsewhere", None)
    prints = []
    for body in ("x + 1", "x + 1", "x + 2", "[y for y in x if y in {'a', 'b'}]"):
        kind, function = made(body)
        prints.append((fingerprint("own", kind()), fingerprint("step", make_pipeline(FunctionTransformer(function)))))
    assert prints[0] == prints[1]
    assert len({one for one, _ in prints}) == len({two for _, two in prints}) == 3


def test_a_parameter_is_noticed_and_what_was_learned_is_not():
    tree = DecisionTreeClassifier()
    fresh = fingerprint("tree", tree)
    assert fingerprint("tree", tree.fit(X, Y)) == fresh
    assert fingerprint("tree", DecisionTreeClassifier(max_depth=2)) != fresh


def test_a_function_without_a_name_cannot_be_kept(tmp_path):
    model = make_pipeline(FunctionTransformer(lambda x: x), DecisionTreeClassifier())
    assert assay.conduct({"own": model}, X, Y).models == ("own",)
    with pytest.raises(PlanError, match="cannot be told from other estimators"):
        assay.conduct({"own": model}, X, Y, folder=tmp_path)
