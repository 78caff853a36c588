# SPDX-License-Identifier: Apache-2.0
"""Objects that nobody should hand over and somebody will, and calls that take them, for laws and bench/hostile.py."""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd

import assay
from assay.app.cli import main
from assay.core.errors import AssayError

ROWS = 24
CHANCE = np.random.default_rng(4213)
TRUTH = [i % 2 for i in range(ROWS)]
CALLED = [int(i % 2 == 1) if i % 5 else 1 - i % 2 for i in range(ROWS)]
SCORE = [round(0.3 + 0.4 * (i % 2) + 0.02 * (i % 7), 3) for i in range(ROWS)]
OTHER = [round(0.4 + 0.2 * (i % 2) + 0.03 * (i % 5), 3) for i in range(ROWS)]
FEATURES = np.column_stack([CHANCE.normal(size=40), np.repeat([0.0, 1.0], 20) + CHANCE.normal(0, 0.5, 40)])
ANSWERS = [0] * 20 + [1] * 20


class Odd:
    """An object that raises wherever it is asked something."""

    def __len__(self):
        raise RuntimeError

    def __getattr__(self, name):
        raise AttributeError(name)

    def __repr__(self):
        return "<odd>"


class Rude:
    """An object whose text, length and truth are all errors."""

    def __bool__(self):
        raise TypeError

    def __eq__(self, other):
        raise ValueError

    __hash__ = None


def objects():
    """Values of every kind, made anew each time because some of them can be used up."""
    return [
        None, True, False, 0, 1, -1, 2**63, 10**400, -(2**64), 0.5, -0.0, 1e308, float("nan"), float("inf"), 1e-400,
        1j, "", "x", "truth", "a\x00b", "\ud800", "\x1b]0;t\x07", "line\n::error", "é" * 300, b"bytes", bytearray(b"x"),
        (), [], {}, set(), [1], [None] * ROWS, [float("nan")] * ROWS, list(range(ROWS)), ["a"] * ROWS, [[1, 2]] * ROWS,
        [True] * ROWS, [1, "1"] * (ROWS // 2), [1.5] * ROWS, [10**400] * ROWS, [Decimal("0.1")] * ROWS, {1, 2},
        {"A": TRUTH}, {"A": [1]}, {1: 2}, {"A": None}, {"truth": "x"}, range(ROWS), iter([1, 2]), (i for i in range(3)),
        Decimal("NaN"), Decimal("1e-400"), Fraction(1, 3), dt.date(2026, 1, 1), dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
        np.float32(0.7), np.float64("nan"), np.int8(1), np.longdouble(1), np.array([]), np.zeros((ROWS, 2)),
        np.zeros(ROWS, dtype="M8[ns]"), np.array([1 + 1j] * ROWS), np.array([b"x"] * ROWS), np.ma.masked_all(ROWS),
        np.array(5), np.empty(ROWS, dtype=object), pd.Series([1, 2]), pd.Series(TRUTH, index=range(ROWS, 0, -1)),
        pd.Series([pd.NA] * ROWS, dtype="Int64"), pd.DataFrame({"truth": TRUTH}), pd.Categorical(["a"] * ROWS),
        pd.NaT, Odd(), Rude(), object(), object, len, lambda: 1, sys, Path("/nonexistent"), Ellipsis, NotImplemented,
        slice(1), memoryview(b"abc"), assay.Reading(), Exception("x"), "s3://bucket/x.csv", "postgresql://u:p@h/d",
        "https://x/y.csv", "0.5", "youden", "holm", "5x2", "recall", "gap(recall, sex)", "*", "-", "--help", "../..",
    ]  # fmt: skip


SIZE = len(objects())


def columns():
    """Columns that are as long as the others and of a type somebody may have."""
    turned = TRUTH[::-1]
    return [
        turned, tuple(turned), np.array(turned, np.int8), np.array(turned, np.uint64), np.array(turned, bool),
        np.array(turned, np.float64), np.array(turned, np.float16), pd.Series(turned), pd.Series(turned, dtype="Int8"),
        pd.Series(turned, dtype="category"), ["ab"[x] for x in turned], np.array(["ab"[x] for x in turned]),
        pd.array(["ab"[x] for x in turned], dtype="string"), [str(x) for x in turned], [bool(x) for x in turned],
        SCORE, np.array(SCORE, np.float32), np.array(SCORE, np.float16), [Decimal(str(x)) for x in SCORE],
        [x * 1e300 for x in SCORE], [x * 1e-300 for x in SCORE], np.array(SCORE)[::-1], range(ROWS), [0] * ROWS,
        [1] * ROWS, [2**53 + x for x in TRUTH], [-x for x in TRUTH], np.arange(ROWS) % 3, ["s"] * ROWS,
        [None, *turned[1:]], [float("nan"), *SCORE[1:]], memoryview(np.array(turned)), {"g": turned}, {"A": turned},
        ["A", "\u0410"] * (ROWS // 2), [x if i else "1" for i, x in enumerate(turned)], 0.9, 0.99, 1, "recall",
    ]  # fmt: skip


CALLS = {
    "assess": (
        assay.assess,
        {"truth": TRUTH, "predicted": CALLED, "score": SCORE, "positive": 1},
        ("truth", "predicted", "score", "data", "positive", "labels", "group", "cross", "unit", "weight", "id",
         "threshold", "level", "measures", "costs", "missing", "engine", "reading", "limits", "intervals", "scores"),
    ),
    "labels": (
        assay.assess,
        {"truth": TRUTH, "predicted": CALLED, "positive": 1},
        ("truth", "predicted", "positive", "labels", "group", "unit", "weight", "level", "measures", "costs"),
    ),
    "compare": (
        assay.compare,
        {"truth": TRUTH, "predicted": {"A": CALLED, "B": TRUTH}, "positive": 1},
        ("truth", "predicted", "score", "data", "positive", "labels", "unit", "weight", "id", "level", "measures",
         "costs", "engine", "reading", "limits", "intervals", "scores", "tests"),
    ),
    "regression": (
        assay.regression,
        {"truth": SCORE, "predicted": OTHER, "measures": ["mean_absolute_error"]},
        ("truth", "predicted", "data", "group", "cross", "unit", "missing", "level", "measures", "engine", "reading",
         "limits", "intervals"),
    ),
    "multilabel": (
        assay.multilabel,
        {"truth": [["a"], ["b"]] * 8, "predicted": [["a"], ["a"]] * 8, "measures": ["hamming_loss"]},
        ("truth", "predicted", "score", "labels", "separator", "level", "measures", "threshold"),
    ),
    "adjust": (assay.adjust, {"p": [0.1, 0.2]}, ("p", "method")),
    "agreement": (assay.agreement, {"ratings": [list("abab"), list("abba")]}, ("ratings", "order", "level")),
    "plan_size": (assay.plan_size, {"expected": 0.9, "limit": 0.8}, ("expected", "limit", "difference", "disagree",
                                                                     "width", "level", "power")),
    "test": (assay.test, {"name": "fisher_exact", "table": [[3, 1], [1, 3]]}, ("name", "table", "values", "level")),
}  # fmt: skip
"""By name: a function, arguments that work, and those that are replaced."""
OPTIONS = ("--truth", "--predicted", "--score", "--positive", "--label", "--group", "--cross", "--unit", "--weight",
           "--id", "--threshold", "--level", "--measure", "--missing", "--engine", "--accept", "--fairness", "--seed",
           "--delimiter", "--decimal", "--max-rows", "--sha256", "--task", "--against", "--require")  # fmt: skip


def faults(found):
    """What is wrong with a result: numbers that are none, outside their range, or not inside their interval."""
    if isinstance(found, list):
        return [f"{p!r} is not a p value" for p in found if not 0 <= p <= 1]
    if isinstance(found, assay.Assessment):
        return list(_faults_of_assessment(found))
    if isinstance(found, assay.Finding):
        return [] if found.p is None or 0 <= found.p <= 1 else [f"p = {found.p!r}"]
    if isinstance(found, assay.Comparison):
        return [f"p = {one.p!r}" for one in found.findings if one.p is not None and not 0 <= one.p <= 1]
    return []


def _faults_of_assessment(found):
    if found.census.read != found.census.scored + sum(found.census.excluded.values()) + found.census.unmatched:
        yield "rows do not add up"
    for estimate in found.estimates:
        value, name = estimate.value, estimate.measure
        if value is None:
            continue
        low, high = found.measures.find(name.partition("(")[0].partition("@")[0]).range
        if not low - 1e-12 <= value <= high + 1e-12:
            yield f"{name} = {value!r} is outside {low} to {high}"
        if estimate.low is not None and not estimate.low - 1e-12 <= value <= estimate.high + 1e-12:
            yield f"{name} = {value!r} is outside its interval"
    if "NaN" in found.record.to_text() or "Infinity" in found.record.to_text():
        yield "a Record with NaN or Infinity"


def expected_accuracy(given):
    """The share of equal labels, counted one by one; None where that is not plain."""
    truth, called = given.get("truth"), given.get("predicted")
    plain = (list, tuple, range, np.ndarray)
    if not isinstance(truth, plain) or not isinstance(called, plain) or given.get("weight") is not None:
        return None
    pairs = list(zip(list(truth), list(called), strict=True))
    if any(type(x) not in (int, str, bool, np.int64) for pair in pairs for x in pair):
        return None
    return sum(a == b for a, b in pairs) / len(pairs) if pairs else None


def call(door, **changed):
    """Call a function with some arguments replaced: "value", "refused", or what went wrong."""
    function, base, _ = CALLS[door]
    given = {**base, **changed}
    try:
        found = function(**given)
        wrong = faults(found)
        if not wrong and isinstance(found, assay.Assessment) and function is assay.assess and "data" not in changed:
            wanted = expected_accuracy(given)
            if wanted is not None and found["accuracy"].value not in (None, wanted):
                wrong = [f"accuracy {found['accuracy'].value!r}, counted {wanted!r}"]
    except AssayError as error:
        return "refused" if error.fix and str(error) else f"an error without a fix: {error}"
    except Exception as error:  # noqa: BLE001  what a user would see as a traceback
        return f"traceback {type(error).__name__}: {error}"
    return "value" if not wrong else f"wrong number: {wrong[0]}"


def command(arguments, path):
    """Run the command line in this process: "value", "refused", or what went wrong."""
    words = ["run", str(path), "--truth", "truth", "--predicted", "called", "--positive", "1", "--quiet", *arguments]
    heard, before = io.StringIO(), sys.argv
    sys.argv = ["assay", *words]
    try:
        with contextlib.redirect_stdout(heard), contextlib.redirect_stderr(heard):
            main()
    except SystemExit as stopped:
        code = stopped.code
    except BaseException as error:  # noqa: BLE001
        return f"traceback {type(error).__name__}: {error}"
    finally:
        sys.argv = before
    if code in (0, None):
        return "value"
    if code == 5:
        return f"internal error: {heard.getvalue()[:200]}"
    return "refused" if code in (1, 2, 3, 4) else f"exit {code}"
