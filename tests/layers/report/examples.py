# SPDX-License-Identifier: Apache-2.0
"""Records to draw: realistic ones, degenerate ones, and one whose every name is an attack.

`python -m tests.layers.report.examples` writes the pinned Records and texts anew; look at the difference before
committing it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np

from assay import regression
from assay.assess.assess import assess
from assay.assess.record.record import Record, sealed

HERE = Path(__file__).parent
NASTY = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "</title></style><svg onload=alert(3)>",
    "javascript:alert(4)",
    "<!--",
    "]]>",
    "&lt;b&gt;",
    "{{7*7}}{% raw %}",
    "' onmouseover='alert(5)",
    "x" * 4000,
    "שלום עולם",
    "🦊 fox",
    "line\nbreak\ttab\x1b[31mred",
    "\u202eevil\u2066\u200b",
    "a|b`c*d_e\\",
    "[click](https://example.org)",
    "@everyone #1 www.example.org",
    "",
    " spaces ",
    "Z" + "\u0351\u036b\u0343" * 40,
    "日本語のラベルはとても長いことがあります",
    "null",
]


def noisy(rng, truth, classes, right):
    """Predictions that are right with a given chance and otherwise any class."""
    return np.where(rng.random(len(truth)) < right, truth, rng.integers(0, classes, len(truth)))


@cache
def screening(rows=600):
    """A binary screening with three ways to group its rows."""
    rng = np.random.default_rng(4213)
    ill = rng.random(rows) < 0.22
    called = np.where(ill, rng.random(rows) < 0.86, rng.random(rows) < 0.11)
    groups = {
        "sex": rng.choice(["female", "male"], rows),
        "age band": rng.choice(["18-39", "40-64", "65+"], rows),
        "site": np.where(np.arange(rows) < 5, "Tromsø", rng.choice(["Bergen", "Oslo"], rows)),
    }
    names = np.array(["healthy", "ill"])
    return assess(truth=names[ill * 1], predicted=names[called * 1], positive="ill", group=groups)


@cache
def classes(k, rows=1000, *, grouped=True):
    """K classes of uneven size."""
    rng = np.random.default_rng(7)
    truth = np.concatenate([np.arange(k), np.minimum(rng.geometric(3 / k, rows - k), k) - 1])
    names = np.array([f"class {i:03}" for i in range(k)])
    by = {"camera": rng.choice(["front", "rear"], rows)} if grouped else None
    return assess(truth=names[truth], predicted=names[noisy(rng, truth, k, 0.8)], group=by)


@cache
def nasty():
    """Every label, group name and level is meant to break something; the fox is never predicted."""
    rng = np.random.default_rng(3)
    truth = np.concatenate([np.arange(len(NASTY)), rng.integers(0, len(NASTY), 500)])
    called = noisy(rng, truth, len(NASTY), 0.6)
    called[called == NASTY.index("🦊 fox")] = 0
    level = [NASTY[i] for i in rng.integers(0, 6, len(truth))]
    return assess(
        truth=[NASTY[i] for i in truth], predicted=[NASTY[i] for i in called], group={"<b>group</b>|\n": level}
    )


@cache
def errors():
    """Regression: a task without classes."""
    truth = np.arange(40.0)
    return regression(truth=truth, predicted=truth + np.tile([1.0, -0.5, 0.25, 0.0], 10))


@cache
def infinite():
    """No false positive, so that the positive likelihood ratio has no end."""
    return assess(truth=[1, 1, 1, 0, 0, 0, 0], predicted=[1, 1, 0, 0, 0, 0, 0])


@cache
def weighted():
    """Weighted rows have values and no intervals."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 80)
    return assess(truth=truth, predicted=noisy(rng, truth, 3, 0.7), weight=rng.choice([0.5, 1, 2.25], 80))


@cache
def lonely():
    """One class only."""
    return assess(truth=["only"] * 12, predicted=["only"] * 12)


def pinned(name):
    """A Record written once, so that the report's text does not move when the numbers do."""
    return Record.load(HERE / f"{name}.json")


def drawn(svg):
    """A chart as a tree; it must be XML, though inside a page its namespace goes without saying."""
    if "xmlns" not in svg:
        svg = svg.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    return ET.fromstring(svg)  # noqa: S314  made by the report under test


def write() -> None:
    """The pinned Records and what the terminal and Markdown say of them."""
    from assay.report.render.markdown import render
    from assay.report.render.terminal import summary

    measures = ["accuracy", "no_information_rate", "balanced_accuracy", "matthews_corrcoef", "cohen_kappa"]
    rng = np.random.default_rng(11)
    truth = np.array(list("aabbbbccccccd"))[rng.integers(0, 13, 120)]
    called = np.where(rng.random(120) < 0.7, truth, rng.choice(list("abc"), 120))
    ways = [f"{m}_{way}" for m in ("precision", "recall", "f1") for way in ("macro", "micro", "weighted")]
    made = {
        "binary": assess(
            truth=np.array(["healthy", "ill"])[(np.arange(600) % 5 == 0) * 1],
            predicted=np.array(["healthy", "ill"])[(np.arange(600) % 10 == 0) * 1 | (np.arange(600) % 7 == 0) * 1],
            positive="ill",
            group={"sex": ["f", "m", "m"] * 199 + ["x"] * 3},
            measures=[*measures, "precision", "recall", "specificity", "f1", "likelihood_ratio_positive"],
        ),
        "multiclass": assess(
            truth=[*truth, None],
            predicted=[*np.where(called == "d", "c", called), "a"],
            missing="drop",
            measures=[*measures, *ways, "precision", "recall", "f1"],
        ),
    }
    for name, assessment in made.items():
        content = dict(assessment.record)
        content["environment"] = {
            "counted_at": "2026-01-02T03:04:05+00:00",
            "python": "3.11.0",
            "packages": {"numpy": "2"},
        }
        record = Record(sealed(content))
        record.save(HERE / f"{name}.json")
        (HERE / f"{name}.txt").write_text(summary(record, width=100), encoding="utf-8")
        (HERE / f"{name}.md").write_text(render(record), encoding="utf-8")


if __name__ == "__main__":
    write()
