# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
import subprocess
import sys

import pytest

from assay.report.fit_text import cells
from assay.report.render.terminal import summary
from tests.layers.report import examples


@pytest.mark.parametrize("name", ["binary", "multiclass"])
def test_the_summary_reads_as_pinned(name):
    assert summary(examples.pinned(name), width=100) == (examples.HERE / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [50, 60, 80, 100, 300])
@pytest.mark.parametrize("made", [examples.screening, lambda: examples.classes(9), examples.nasty, examples.weighted])
def test_no_line_is_wider_than_asked(made, width):
    widest = max(cells(line) for line in summary(made().record, width=width).splitlines())
    assert widest <= min(width, 160)


def test_values_stand_on_one_axis_whose_ends_are_stated():
    lines = summary(examples.screening().record, width=80).splitlines()
    head = next(line for line in lines if line.startswith("measure"))
    low, middle, high = head.split()[-3:]
    assert middle == "axis"
    drawn = {line.split()[0]: line[-24:] for line in lines if "●" in line}
    assert {"accuracy", "recall", "f1"} <= set(drawn)
    start, wide = head.index(low), float(high) - float(low)
    assert wide <= 0.6
    for line in lines:
        if "●" in line:
            value = float(line.split()[1])
            assert abs((line.index("●") - start) / 23 * wide + float(low) - value) <= wide / 23 + 0.001


@pytest.mark.parametrize(
    ("classes", "width", "drawn"), [(6, 80, True), (20, 120, True), (20, 60, False), (25, 160, False)]
)
def test_a_matrix_is_drawn_to_20_classes_where_it_fits_and_told_in_a_line_where_not(classes, width, drawn):
    text = summary(examples.classes(classes).record, width=width)
    assert ("predicted ↓" in text) == drawn
    assert (
        f"{classes} by {classes} cells do not fit here: see the report. Most frequent mistake" in " ".join(text.split())
    ) != drawn


def test_at_80_columns_groups_lose_measures_and_never_intervals():
    text = summary(examples.screening().record, width=80)
    lines = text.splitlines()
    place, head = next((i, line) for i, line in enumerate(lines) if line.startswith("level"))
    measures = [word for word in head.split() if word not in ("level", "rows", "interval")]
    assert measures[:2] == ["recall", "f1"]
    assert lines[place + 1].count("–") == len(measures)
    assert "in the report also: " in text


def test_names_cannot_break_lines_or_speak_to_the_terminal():
    text = summary(examples.nasty().record)
    assert "\x1b" not in text
    assert "line\\nbreak" in text
    assert not re.search(r"[\u202a-\u202e\u2066-\u2069\u200b\r\t]", text)


def test_colours_are_there_only_when_asked_for():
    record = examples.pinned("multiclass")
    coloured = summary(record, colour=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == summary(record)


def test_twenty_classes_are_listed_and_the_rest_counted():
    text = summary(examples.classes(60).record)
    assert "and 40 more classes: see the report" in text
    assert text.count("\nclass 0") == 20


def test_undefined_and_infinite_values_are_told_with_their_reasons():
    assert 'precision of "d": no row was predicted "d"' in summary(examples.pinned("multiclass"))
    text = " ".join(summary(examples.infinite().record).split())
    infinite = "likelihood_ratio_positive: infinite; its formula divides by 0 here: (TP/(TP + FN)) / (FP/(FP + TN))"
    assert f"{infinite}; 95 % interval " in text


def test_weighted_rows_say_how_many_rows_they_are_worth():
    text = summary(examples.weighted().record)
    assert "intervals rest on how unequal the weights are" in " ".join(text.split())
    assert "rows of equal weight (Kish)" in " ".join(text.split())


def test_the_summary_needs_neither_rich_nor_jinja2():
    code = (
        "import sys; sys.path.insert(0, 'tests/layers/report'); import examples;"
        "from assay.report.render.terminal import summary;"
        "summary(examples.pinned('binary')); sys.exit(bool({'rich', 'jinja2'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=examples.HERE.parents[2], check=False).returncode == 0
