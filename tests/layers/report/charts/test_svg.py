# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

import pytest

from assay.report.blocks.estimates import headline_chart
from assay.report.blocks.groups import class_blocks
from assay.report.charts import draw
from assay.report.colours import DARK, LIGHT, READABLE, STEPS, contrast, shade, steps
from assay.report.fit_text import cells, ems, fitted
from assay.report.report_document import Document
from tests.layers.report import examples

SVG = "{http://www.w3.org/2000/svg}"


def forests(record):
    """Charts of the classes of a Record, one a measure."""
    (card,) = (block for block in class_blocks(Document(record).classes, "95 %") if hasattr(block, "blocks"))
    return [examples.drawn(draw(chart)) for chart in card.blocks[0].charts]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_every_shade_of_the_matrix_can_be_read(theme):
    shades = list(steps(theme))
    assert len(shades) == 2 * (STEPS + 1)
    assert all(contrast(ground, text) >= READABLE for _, ground, text in shades)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_every_text_colour_can_be_read_on_every_ground(theme):
    for text in (theme.ink, theme.soft, theme.blue, theme.orange):
        for ground in (theme.page, theme.card):
            assert contrast(text, ground) >= READABLE


def test_shades_follow_the_share_and_even_a_small_share_is_seen():
    assert [shade(x, right=True) for x in (None, 0.0, 0.001, 0.5, 1.0)] == ["b0", "b0", "b1", "b8", "b16"]
    assert shade(1.0, right=False) == "o16"


def test_a_forest_plot_is_xml_with_a_text_alternative():
    svg = forests(examples.pinned("multiclass"))[0]
    assert svg.get("role") == "img"
    assert svg.findtext(f"{SVG}title") == "precision"
    assert svg.findtext(f"{SVG}desc") == ("4 rows; lowest 0.630 (a), highest 0.769 (b).")


def test_a_forest_plot_draws_a_point_for_each_value_and_a_word_for_each_missing_one():
    svg = forests(examples.pinned("multiclass"))[0]
    (dots,) = [path.get("d") for path in svg.iter(f"{SVG}path") if path.get("stroke-linecap") == "round"]
    assert dots.count("h0") == 3
    assert "∅ undefined" in ["".join(text.itertext()) for text in svg.iter(f"{SVG}text")]


def test_points_stand_in_the_order_of_their_values_on_an_axis_that_all_charts_share():
    record = examples.pinned("multiclass")
    svgs = forests(record)
    (dots,) = [path.get("d") for path in svgs[1].iter(f"{SVG}path") if path.get("stroke-linecap") == "round"]
    places = [float(x) for x in re.findall(r"M([\d.]+)", dots)]
    values = [row.entries[1].value for row in Document(record).classes.levels]
    assert sorted(range(4), key=places.__getitem__) == sorted(range(4), key=values.__getitem__)
    axes = [[t.text for t in svg.iter(f"{SVG}text") if re.fullmatch(r"[01](\.\d)?", t.text or "")] for svg in svgs]
    assert axes[0] == axes[1] == axes[2]
    assert len(axes[0]) > 2


def test_a_label_in_a_chart_is_text_and_nothing_else():
    for svg in forests(examples.nasty().record):
        assert {element.tag.removeprefix(SVG) for element in svg.iter()} <= {
            "svg",
            "title",
            "desc",
            "text",
            "path",
            "g",
        }


def test_the_headline_stands_on_one_stated_axis_and_balanced_measures_lead():
    document = Document(examples.pinned("binary"))
    data = document.headline_chart.data[0]
    low, high = data["ends"]
    ends = [row[key] for row in data["rows"] for key in ("low", "value", "high") if row[key] is not None]
    assert low <= min(ends) <= max(ends) <= high <= 1
    assert data["x"] == f"axis from {low:g} to {high:g}; higher is better"
    assert document.lead.order  # 480 of 600 rows are of one class
    assert [row["label"] for row in data["rows"]][:2] == ["balanced accuracy", "Matthews correlation"]
    even = headline_chart(document.headline, "95 %")
    assert even.data[0]["rows"][0]["label"] == "accuracy"
    assert "always the largest class, 0.800" in data["note"]


@pytest.mark.parametrize("label", ["a", "a rather long name of a class", "猫" * 40, "W" * 300, "e\u0301" * 50])
@pytest.mark.parametrize(("room", "wide"), [(12, cells), (8.0, ems)], ids=["cells", "ems"])
def test_a_fitted_label_fits(label, room, wide):
    assert 0 < wide(fitted(label, room, wide)) <= room


def test_a_tower_of_marks_is_cut_to_two():
    assert fitted("Z" + "\u0351" * 50, 10) == "Z\u0351\u0351"
