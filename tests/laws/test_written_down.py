# SPDX-License-Identifier: Apache-2.0
"""Every interval and every finding on small tallies is the number that is written down, whatever was rearranged.

Other tests say what the numbers must be; most intervals, detectable differences and notes have no second origin, and a
slip in one of their terms would still give a plausible number. `python tests/laws/test_written_down.py` writes the file
anew: read the difference before you commit it. Texts are not written down, only that there is one.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2])]

from assay.inference.intervals.interval_choice import CELLS, Wanted
from assay.inference.intervals.score_draws import band
from assay.tally.scores.score_tally import Scores
from tests import flat
from tests.laws.test_significance import SAMES, TESTS, of, run

FILE = Path(__file__).with_name("written_down.json")
FEW = {"draws": 400, "seed": 5}
MATRICES = {
    "two": [[40, 7], [5, 30]],
    "two, no error": [[12, 0], [0, 9]],
    "two, few": [[2, 1], [0, 2]],
    "two, one never called": [[9, 0], [4, 0]],
    "three": [[30, 4, 1], [6, 20, 3], [2, 5, 12]],
    "three, no error": [[7, 0, 0], [0, 9, 0], [0, 0, 4]],
    "three, one never called": [[8, 1, 0], [2, 7, 0], [1, 2, 0]],
    "three, one never true": [[8, 1, 1], [2, 7, 0], [0, 0, 0]],
}


def scored(n, *, classes=2, gain=1.2, seed=1):
    """Truth and scores, a probability for each class."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % classes if classes > 2 else (np.arange(n) % 3 == 0).astype(int)
    raw = np.exp(np.round(rng.normal(size=(n, classes)) + gain * (np.arange(classes) == truth[:, np.newaxis]), 2))
    share = np.round(raw / raw.sum(axis=1, keepdims=True), 3)
    share[:, 0] += 1 - share.sum(axis=1)
    return truth.tolist(), share


def of_scores(n, **more):
    truth, share = scored(n, **more)
    settings = {"scores": "probability", "threshold": 0.5, "positive": 1}
    return flat.assess(truth=truth, score=share[:, 1], **settings, **FEW)


def of_class_scores(n):
    truth, share = scored(n, classes=3)
    columns = {label: share[:, label] for label in range(3)}
    return flat.assess(truth=truth, score=columns, scores="probability", **FEW)


def of_rows(n, **more):
    truth, share = scored(n, classes=3, seed=2)
    return flat.assess(truth=truth, predicted=share.argmax(axis=1).tolist(), **more, **FEW)


def cases():
    """Names of assessments, each with what makes it."""
    for name, matrix in MATRICES.items():
        own = {"positive": 1} if len(matrix) == 2 else {}
        for method in CELLS if name in ("two", "three") else ("auto",):
            given = {"confusion": matrix, "orientation": "rows=truth", "cells": method, **own}
            yield f"{name}, {method}", lambda given=given: flat.assess(**given, **FEW)
    yield "scores", lambda: of_scores(90)
    yield "scores, few", lambda: of_scores(12, gain=0.5)
    yield "scores, nearly perfect", lambda: of_scores(30, gain=9)
    yield "scores of three classes", lambda: of_class_scores(45)
    yield "weighted rows", lambda: of_rows(60, weight=(1 + np.arange(60) % 4) / 2)
    yield "rows of units", lambda: of_rows(60, unit=(np.arange(60) // 4).tolist())


ASSESSMENTS = dict(cases())


def band_of(curve, n, **more):
    """A band around a curve, at a few places."""
    truth, share = scored(n, **more)
    table, places = Scores.binary(share[:, 1], truth).one_vs_rest(1), [0.05, 0.2, 0.5, 0.8, 1.0]
    around = band(curve, table, Wanted(seed=5), places)
    return flat_numbers([around.value.tolist(), *(getattr(around, name).tolist() for name in BOUNDS)])


BOUNDS = ("low", "high", "all_low", "all_high")
BANDS = {f"{curve}_band, {n} rows": partial(band_of, curve, n) for curve in ("roc", "pr") for n in (12, 90)}


def flat_numbers(content):
    """The numbers of a nested text in order; a word for each text, so that one that comes or goes is seen."""
    if isinstance(content, dict):
        return [leaf for key in sorted(content) for leaf in flat_numbers(content[key])]
    if isinstance(content, (list, tuple)):
        return [len(content), *(leaf for one in content for leaf in flat_numbers(one))]
    if isinstance(content, (int, float)) and not isinstance(content, bool):
        return [float(f"{content:.8g}")]
    return ["text" if isinstance(content, str) else content]


def numbers_of(assessment):
    """Value, ends and notes of each estimate that has an interval."""
    lines = {}
    for estimate in assessment.estimates:
        name = estimate.measure if estimate.label is None else f"{estimate.measure} of {estimate.label}"
        if estimate.interval is not None:
            lines[name] = flat_numbers([estimate.value, estimate.low, estimate.high, estimate.notes])[1:]
    return lines


def findings_of(test):
    """What a test finds on two tallies, and on one whose models are alike."""
    tallies = [of(test, 0), of(test, 3), *([of(test, 1, same=True)] if test.takes in SAMES else [])]
    return [flat_numbers([finding.to_json() for finding in run(test, tally, level=0.9)]) for tally in tallies]


def written():
    return json.loads(FILE.read_text())


def same(a, b):
    """Equal words and equal numbers, up to the last digits."""
    return len(a) == len(b) and all(
        x == y or (isinstance(x, float) and isinstance(y, float) and abs(x - y) <= 1e-9 + 1e-6 * abs(y))
        for x, y in zip(a, b, strict=True)
    )


@pytest.mark.parametrize("name", ASSESSMENTS)
def test_estimates_are_those_that_are_written_down(name):
    found, want = numbers_of(ASSESSMENTS[name]()), written()["estimates"][name]
    assert found.keys() == want.keys()
    wrong = {key: (found[key], want[key]) for key in want if not same(found[key], want[key])}
    assert not wrong


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)
def test_findings_are_those_that_are_written_down(test):
    for found, want in zip(findings_of(test), written()["findings"][test.name], strict=True):
        assert same(found, want), (found, want)


@pytest.mark.parametrize("name", BANDS)
def test_bands_are_those_that_are_written_down(name):
    assert same(BANDS[name](), written()["bands"][name])


def write():
    """Write the file anew."""
    content = {
        "estimates": {name: numbers_of(make()) for name, make in ASSESSMENTS.items()},
        "bands": {name: make() for name, make in BANDS.items()},
        "findings": {test.name: findings_of(test) for test in TESTS},
    }
    lines = []
    for kind, parts in content.items():
        each = [f"{json.dumps(name)}: {json.dumps(one, separators=(',', ':'))}" for name, one in parts.items()]
        lines.append(f'"{kind}": {{\n' + ",\n".join(each) + "\n}")
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    write()
