# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from assay.report.assessment_document import Assessed
from assay.report.charts.svg import Point, axis, bar, forest
from assay.report.colours import DARK, LIGHT, READABLE, STEPS, contrast, shade, steps
from assay.report.fit_text import cells, ems, fitted
from tests.layers.report import examples

SVG = "{http://www.w3.org/2000/svg}"


def points(name="multiclass", column=0):
    return [Point(label=row.label, entry=row.entries[column]) for row in Assessed(examples.pinned(name)).classes.levels]


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
    rows = points()
    svg = examples.drawn(forest(rows, by="class", scale=axis([p.entry for p in rows])))
    assert svg.get("role") == "img"
    assert svg.findtext(f"{SVG}title") == "precision by class"
    assert svg.findtext(f"{SVG}desc") == ("4 rows; lowest 0.630 (a), highest 0.769 (b).")


def test_a_forest_plot_draws_a_point_for_each_value_and_a_word_for_each_missing_one():
    rows = points()
    svg = examples.drawn(forest(rows, by="class", scale=axis([p.entry for p in rows])))
    assert len(svg.findall(f".//{SVG}circle")) == 3
    assert "∅ undefined" in ["".join(text.itertext()) for text in svg.iter(f"{SVG}text")]


def test_points_stand_in_the_order_of_their_values():
    rows = points(column=1)
    svg = examples.drawn(forest(rows, by="class", scale=axis([p.entry for p in rows])))
    places = [float(circle.get("cx")) for circle in svg.iter(f"{SVG}circle")]
    values = [p.entry.value for p in rows]
    assert sorted(range(4), key=places.__getitem__) == sorted(range(4), key=values.__getitem__)


def test_an_axis_holds_every_interval_and_stays_in_the_range():
    entries = [p.entry for p in points()]
    found = axis(entries)
    ends = [x for one in entries for x in (one.low, one.high) if x is not None]
    assert 0 <= found.low <= min(ends)
    assert max(ends) <= found.high <= 1
    assert found.ticks[0] == pytest.approx(found.low)
    assert found.ticks[-1] == pytest.approx(found.high)
    assert 2 <= len(found.ticks) <= 7


def test_an_axis_of_equal_values_still_has_a_width():
    entries = [one for one in Assessed(examples.lonely().record).headline if one.defined]
    assert axis(entries).high > axis(entries).low


def test_a_label_in_a_chart_is_text_and_nothing_else():
    rows = [Point(label=row.label, entry=row.entries[0]) for row in Assessed(examples.nasty().record).classes.levels]
    svg = examples.drawn(forest(rows, by="class", scale=axis([p.entry for p in rows])))
    assert {element.tag.removeprefix(SVG) for element in svg.iter()} == {
        "svg", "title", "desc", "text", "tspan", "path", "g", "circle",
    }  # fmt: skip


def test_a_bar_is_xml_and_an_endless_range_has_none():
    document = Assessed(examples.pinned("binary")).estimates
    by_name = document.whole
    assert examples.drawn(bar(by_name["accuracy"], document.baseline)).findtext(f"{SVG}title") == (
        "0.802, interval 0.768 to 0.832, on a scale from 0 to 1"
    )
    assert bar(by_name["likelihood_ratio_positive"]) == ""


@pytest.mark.parametrize("label", ["a", "a rather long name of a class", "猫" * 40, "W" * 300, "e\u0301" * 50])
@pytest.mark.parametrize(("room", "wide"), [(12, cells), (8.0, ems)], ids=["cells", "ems"])
def test_a_fitted_label_fits(label, room, wide):
    assert 0 < wide(fitted(label, room, wide)) <= room


def test_a_tower_of_marks_is_cut_to_two():
    assert fitted("Z" + "\u0351" * 50, 10) == "Z\u0351\u0351"
