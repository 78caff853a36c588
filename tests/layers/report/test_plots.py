# SPDX-License-Identifier: Apache-2.0
"""Plots of plain data: valid, bounded, readable without sight or colour, and with every number in its place."""

from __future__ import annotations

import base64
import math
import re
import struct
import zlib
from dataclasses import replace

import numpy as np
import pytest

from assay.core.blocks import Chart, Figure
from assay.report.charts import DRAWN_BY, draw
from assay.report.charts.plot_parts import axis_over, tick_texts
from assay.report.fit_text import ems
from assay.report.render import pdf
from assay.report.render.html_blocks import chart_html
from assay.report.sections import Section
from tests.layers.report import examples

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [*examples.NASTY, "n" * 300, "\u202ertl\u200f", "\x00\x1b[31m", "\ud800"]
NOTHING = [None, math.nan, math.inf, -math.inf, "7", True, {"undefined": "no rows"}]


def pixel():
    """A PNG file of one grey pixel, in base 64."""

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + parts).decode()


def samples(name="a name", value=0.5):
    """Data of every kind, with one name and one value from outside in each."""
    return {
        "lines": {
            "title": name, "x": name, "y": name,
            "series": [
                {"name": name, "points": [[0, 0.1], [1, value], [2, 0.9]], "band": [[0, 0, 0.2], [2, 0.8, value]]},
                {"name": "steps", "points": [[0, 0.2], [1, 0.4]], "step": True},
                {"name": "quiet", "points": [[0, 0.2], [value, 0.4]], "quiet": True, "dashed": True},
            ],
            "marks": [{"x": 1, "y": value, "text": name}], "spans": [{"from": 0.5, "to": value, "text": name}],
        },
        "cloud": {
            "title": name, "x": name, "y": name, "x_edges": [0, 1, 2], "y_edges": [0, 1, 2, 3],
            "counts": [[1, 2], [3, value], [0, 9]], "diagonal": True,
            "lines": [{"y": 1.5, "text": name}, {"y": value, "text": name, "dashed": True}], "points": [[1, value]],
        },
        "dots": {
            "title": name, "x": name,
            "lanes": [
                {"label": name, "values": [0.1, value, 0.7], "median": value, "low": 0.2, "high": 0.6,
                 "aside": [{"text": name, "count": 3}]},
                {"label": "many", "values": [i / 1000 for i in range(1000)]},
            ],
        },
        "distribution": {
            "title": name, "x": name, "edges": [0, 1, 2, 3], "counts": [1, value, 5], "name": name,
            "marks": [{"x": value, "text": name}], "second": {"name": name, "counts": [2, value, 1]},
        },
        "intervals": {
            "title": name, "x": name, "reference": {"x": value, "text": name},
            "rows": [
                {"label": name, "value": value, "low": 0.2, "high": 0.6, "group": name},
                {"label": "b", "value": 0.9, "low": value, "high": 1, "text": name},
            ],
        },
        "picture": {
            "title": name, "width": 100, "height": 50, "png": pixel(), "caption": name,
            "boxes": [{"x": 10, "y": 10, "w": 20, "h": 20, "text": name, "kind": "truth"},
                      {"x": value, "y": 1, "w": 5, "h": 5, "kind": "wrong"}],
            "contours": [{"points": [[50, 10], [90, 10], [70, 40], [value, 12]], "kind": "predicted"}],
        },
        "matrix": {
            "title": name, "rows": [name, "b"], "columns": ["c", name],
            "cells": [[{"text": name, "share": value}, {"text": "1", "tone": "bad"}],
                      [{"text": "met", "tone": "good"}, {"text": name, "tone": "open"}]],
        },
    }  # fmt: skip


def drawn(kind, data):
    svg = draw(Chart(kind, (data,)))
    assert "nan" not in re.sub(r">[^<]*<", "><", svg)
    assert "inf" not in re.sub(r">[^<]*<", "><", svg)
    return examples.drawn(svg)


def described(kind, data):
    return drawn(kind, data).findtext(f"{SVG}desc")


def texts(tree):
    return ["".join(text.itertext()) for text in tree.iter(f"{SVG}text")]


def strokes(tree, kind):
    return [path.get("d") for path in tree.iter(f"{SVG}path") if path.get("class") == kind]


KINDS = sorted(samples())


def test_every_kind_of_plain_data_has_a_sample():
    assert set(KINDS) == set(DRAWN_BY)


@pytest.mark.parametrize("kind", KINDS)
def test_a_plot_is_xml_with_a_title_and_a_text_alternative_and_fits_a_phone(kind):
    tree = drawn(kind, samples()[kind])
    assert tree.get("role") == "img"
    assert tree.findtext(f"{SVG}title") == "a name"
    assert len(tree.findtext(f"{SVG}desc")) > 10
    assert float(tree.get("viewBox").split()[2]) <= 330
    assert examples.drawn(chart_html(Chart(kind, (samples()[kind],)))) is not None


@pytest.mark.parametrize("kind", KINDS)
def test_names_from_outside_stay_short_visible_text(kind):
    for name in HOSTILE:
        svg = draw(Chart(kind, (samples(name)[kind],)))
        tags = {element.tag.removeprefix(SVG) for element in examples.drawn(svg).iter()}
        assert tags <= {"svg", "title", "desc", "text", "path", "g", "circle", "image"}
        assert not re.search("[\x00-\x1f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800]", svg)
        assert len(svg) < 12_000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["n" * 300, "W" * 40, "日本語" * 30], ids=["long", "broad", "wide"])
def test_every_text_fits_the_plot(kind, name):
    tree = drawn(kind, samples(name)[kind])
    parents = {child: parent for parent in tree.iter() for child in parent}
    width, height = map(float, tree.get("viewBox").split()[2:])
    for text in tree.iter(f"{SVG}text"):
        size = next(float(up.get("font-size")) for up in ancestors(text, parents) if up.get("font-size"))
        anchor = next((up.get("text-anchor") for up in ancestors(text, parents) if up.get("text-anchor")), "start")
        long = ems(text.text or "") * size
        if text.get("transform"):
            assert long <= height
        else:
            start = float(text.get("x")) - long * {"start": 0, "middle": 0.5, "end": 1}[anchor]
            assert -4 <= start <= start + long <= width + 4


def ancestors(element, parents):
    while element is not None:
        yield element
        element = parents.get(element)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", NOTHING, ids=str)
def test_what_is_not_a_finite_number_is_skipped(kind, value):
    assert drawn(kind, samples(value=value)[kind]) is not None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [0, -3, 1e-12, 1e12, -1e250])
def test_values_of_any_size_are_drawn_inside_the_plot(kind, value):
    tree = drawn(kind, samples(value=value)[kind])
    width = float(tree.get("viewBox").split()[2])
    for path in tree.iter(f"{SVG}path"):
        assert all(-1 <= float(x) <= width + 1 for x in re.findall(r"[MLH](-?[\d.]+)", path.get("d")))


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("lines", {"series": [{"name": "a", "points": []}, {"points": [[None, 1]]}]}),
        ("cloud", {"x_edges": [], "y_edges": [], "counts": []}),
        ("cloud", {"x_edges": [1, 1], "y_edges": [0, 1], "counts": [[4]]}),
        ("cloud", {"x_edges": range(42), "y_edges": [0, 1], "counts": [[4] * 41]}),
        ("dots", {"lanes": [{"label": "a", "values": []}]}),
        ("distribution", {"edges": [0], "counts": []}),
        ("intervals", {"rows": []}),
        ("picture", {"width": 0, "height": 5}),
        ("matrix", {"rows": [], "columns": [], "cells": []}),
    ],
)
def test_nothing_is_drawn_of_nothing(kind, data):
    assert draw(Chart(kind, ({"title": "t", **data},))) == ""


def test_a_line_lands_on_its_axes_and_ends_at_its_last_point_inside():
    points = [[0, 0], [5, 0.5], [20, 2], [10, 0], [9, 0.1]]
    data = {"title": "t", "x_range": [0, 10], "y_range": [0, 1], "series": [{"points": points}]}
    (line, dots) = strokes(drawn("lines", data), "ln")
    assert line == "M40 270L160 150M280 270L256 246"
    assert dots == "M40 270h0M160 150h0M280 270h0M256 246h0"


def test_steps_hold_back_as_precision_does():
    series = [{"points": [[0, 0], [1, 1]], "step": True}]
    data = {"title": "t", "x_range": [0, 1], "y_range": [0, 1], "series": series}
    assert strokes(drawn("lines", data), "ln") == ["M40 270V30H280"]


def test_a_logarithmic_axis_has_powers_of_ten_and_skips_what_has_no_logarithm():
    data = {"title": "t", "log_x": True, "series": [{"points": [[0, 5], [-1, 5], [1, 0], [1000, 1]]}]}
    tree = drawn("lines", data)
    assert {"1", "10", "100", "1000"} <= set(texts(tree))
    assert strokes(tree, "ln")[0] == "M40 270L280 30"
    assert described("lines", data) == "1 line: from 0 to 1, ending at 1 (at 1,000)."


def test_series_differ_without_colour_and_the_legend_shows_how():
    data = {"title": "t", "series": [{"name": f"s{i}", "points": [[j, i + j] for j in range(20)]} for i in range(4)]}
    tree = drawn("lines", data)
    paths = [path for path in tree.iter(f"{SVG}path") if path.get("class") in ("ln", "ln2", "ct", "rf")]
    assert len(paths) == 8
    dashes = [path.get("stroke-dasharray") for path in paths]
    assert len(set(dashes[:4])) == 4
    assert dashes[3::-1] == dashes[4:]  # the first series is drawn last, on top
    assert {"s0", "s1", "s2", "s3"} <= set(texts(tree))


def test_long_series_are_reduced_and_keep_their_extremes():
    values = np.random.default_rng(1).exponential(5, 20_000)
    values[7777] = 400
    points = [[i, float(v)] for i, v in enumerate(values)]
    spans, series = [{"from": 7000, "to": 9000, "text": "s"}], [{"points": points, "thin": True}]
    svg = draw(Chart("lines", ({"title": "t", "low": True, "series": series, "spans": spans},)))
    assert len(svg) < 25_000
    tree = examples.drawn(svg)
    heights = [float(y) for y in re.findall(r"[LV](?:[\d.]+ )?([\d.]+)", strokes(tree, "ln")[0])]
    assert min(heights) == pytest.approx(30, abs=0.1)
    assert re.fullmatch(
        r"1 line: from \S+ to 400, ending at \S+ \(at 19,999\); s from 7,000 to 9,000\.", tree.findtext(f"{SVG}desc")
    )
    (shade,) = strokes(tree, "up")
    assert [float(x) for x in re.findall(r"[MH]([\d.]+)", shade)[:2]] == pytest.approx([40 + 84, 40 + 108], abs=0.1)


@pytest.mark.parametrize("size", [5, 28, 40])
def test_a_cloud_stays_small_and_holds_every_cell(size):
    counts = np.random.default_rng(2).integers(0, 1000, (size, size)).tolist()
    edges = list(range(size + 1))
    data = {"title": "t", "x_edges": edges, "y_edges": edges, "counts": counts, "points": [[1, 1]] * 2000}
    svg = draw(Chart("cloud", (data,)))
    assert len(svg) < 25_000
    assert "400 of 2,000 points are drawn." in svg
    assert f"{sum(map(sum, counts)):,} values, most at " in svg


def test_cells_of_a_cloud_stand_where_their_counts_are():
    data = {"title": "t", "x_edges": [0, 1, 2], "y_edges": [0, 1, 2], "counts": [[9, 9], [0, 1]]}
    tree = drawn("cloud", data)
    (group,) = [g for g in tree.iter(f"{SVG}g") if g.get("transform")]
    assert group.get("transform") == "translate(40 210.000) scale(120.0000 -120.0000)"
    cells = {path.get("d"): float(path.get("opacity")) for path in group}
    assert list(cells) == ["M1 1h1", "M0 0h2"]
    assert cells["M1 1h1"] < cells["M0 0h2"]
    assert described("cloud", data) == "19 values, most at 0 to 1 across and 0 to 1 up."


def test_limit_lines_stand_at_their_values_and_are_named():
    data = {
        "title": "t",
        "x_edges": [0, 10],
        "y_edges": [0, 10],
        "counts": [[4]],
        "lines": [{"y": 2.5, "text": "limit"}],
    }
    tree = drawn("cloud", data)
    assert strokes(tree, "ln2") == ["M40 210H280"]
    assert "limit" in texts(tree)
    assert described("cloud", data).endswith("; limit at 2.5.")


def test_bars_are_as_long_as_their_values():
    rows = [{"label": "a", "value": 10}, {"label": "b", "value": 4, "low": 3, "high": 5}]
    tree = drawn("intervals", {"title": "t", "bars": True, "rows": rows})
    assert len(strokes(tree, "ct")) == 1
    a, b = ([float(x) for x in re.findall(r"[MH]([\d.]+)", path)] for path in strokes(tree, "ln"))
    assert a[0] == b[0]
    assert (b[1] - b[0]) / (a[1] - a[0]) == pytest.approx(0.4, abs=0.01)


def test_more_rows_than_fit_are_counted():
    rows = [{"label": f"row {i}", "value": i} for i in range(75)]
    data = {"title": "t", "bars": True, "rows": rows}
    svg = draw(Chart("intervals", (data,)))
    assert "and 45 more rows" in svg
    assert "row 30" not in svg
    assert described("intervals", data).startswith("75 rows; lowest 0 (row 0)")
    assert len(svg) < 12_000


def test_a_strip_draws_each_value_the_same_way_on_every_run():
    lane = {"label": "a", "values": [0, 0.25, 1], "median": 0.25, "aside": [{"text": "missed", "count": 3}]}
    data = {"title": "t", "lanes": [lane, {"label": "b", "values": [0.5] * 5000}]}
    assert draw(Chart("dots", (data,))) == draw(Chart("dots", (data,)))
    tree = drawn("dots", data)
    xs = [float(x) for x in re.findall(r"M([\d.]+)", strokes(tree, "ln")[0])]
    assert (xs[1] - xs[0]) / (xs[2] - xs[0]) == pytest.approx(0.25, abs=0.01)
    assert "3 missed" in texts(tree)
    assert len(strokes(tree, "pt")) == 20
    assert described("dots", data) == "a: 3 values, median 0.250, 3 missed; b: 5,000 values, median 0.500."


def test_columns_of_a_distribution_are_as_high_as_their_counts():
    data = {"title": "t", "x": "x", "edges": [0, 1, 2], "counts": [10, 5], "marks": [{"x": 1, "text": "mean"}]}
    tree = drawn("distribution", data)
    assert re.findall(r"M([\d.]+) 180V([\d.]+)", strokes(tree, "pt")[0]) == [("40", "30"), ("160", "105")]
    assert strokes(tree, "ct") == ["M160 30V180"]
    assert described("distribution", data) == "15 values from 0 to 2; most, 10, from 0 to 1; mean at 1."


def test_intervals_stand_on_the_stated_axis_and_arrows_show_what_lies_beyond():
    rows = [
        {"label": "a", "value": 0.5, "low": 0.25, "high": 0.75},
        {"label": "b", "value": 0.9, "low": 0.8, "high": 1.5},
    ]
    data = {"title": "t", "rows": rows, "ends": [0, 1], "reference": {"x": 0.5, "text": "all"}}
    tree = drawn("intervals", data)
    (line,) = strokes(tree, "rf")
    first = [float(x) for x in re.findall(r"[\d.]+", strokes(tree, "ln")[-1])]
    assert line.startswith(f"M{first[0]:g} ")
    low, high = map(float, re.findall(r"[MH]([\d.]+)", strokes(tree, "iv")[0])[:2])
    assert (low + high) / 2 == pytest.approx(first[0], abs=0.1)
    assert len(strokes(tree, "pt")) == 1
    assert described("intervals", data) == "2 rows; lowest 0.500 (a), highest 0.900 (b). Reference: all at 0.500."


def test_a_picture_holds_only_a_png_and_boxes_scaled_with_it():
    data = samples()["picture"]
    tree = drawn("picture", data)
    (image,) = tree.iter(f"{SVG}image")
    assert image.get("href") == f"data:image/png;base64,{pixel()}"
    assert (image.get("width"), image.get("height")) == ("320", "160")
    assert strokes(tree, "ln")[0] == "M32 62H96V126H32Z"
    assert described("picture", data).startswith("1 predicted, 1 truth, 1 wrong. a name")
    for bad in ('x"/><script>', "PHN2Zz4=", "javascript:1", None):
        assert not list(drawn("picture", {**data, "png": bad}).iter(f"{SVG}image"))


def test_verdicts_in_a_grid_have_signs_and_shares_have_shades():
    cells = [
        [{"text": "met", "tone": "good"}, {"text": "not met", "tone": "bad"}],
        [{"text": "1", "share": 0.1}, {"text": "9", "share": 0.9}],
    ]
    data = {"title": "t", "rows": ["a", "b"], "columns": ["c", "d"], "cells": cells}
    tree = drawn("matrix", data)
    assert {"✓ met", "✗ not met"} <= set(texts(tree))
    shades = [float(path.get("opacity")) for path in tree.iter(f"{SVG}path") if path.get("class") == "pt"]
    assert shades[-1] > 2 * shades[-2]
    assert described("matrix", data) == "2 rows by 2 columns; 1 good; 1 bad; a, d: not met."
    large = {"title": "t", "rows": range(90), "columns": range(90), "cells": [[{"text": "1", "share": 1}] * 90] * 90}
    svg = draw(Chart("matrix", (large,)))
    assert "and 60 more rows and 66 more columns" in svg
    assert len(svg) < 25_000


@pytest.mark.parametrize("values", [[0], [7, 7], [-1e-9, 2e-9], [1e250, -1e250], [99.5, 100.5], [1e9, 1e9 + 1]])
def test_an_axis_holds_its_values_between_few_round_numbers(values):
    axis = axis_over(values)
    assert axis.low <= min(values) <= max(values) <= axis.high
    assert 2 <= len(axis.ticks) <= 8
    assert len(set(tick_texts(axis.ticks))) == len(axis.ticks) or max(values) == 1e9 + 1


def test_plots_are_typeset_in_a_pdf(monkeypatch):
    record = examples.screening().record
    report = pdf.report_of(record)
    figure = Figure(charts=tuple(Chart(kind, (data,)) for kind, data in samples("naïve").items()), alt="plots")
    section = Section(id="plots", title="Plots", blocks=(figure,))
    monkeypatch.setattr(pdf, "report_of", lambda _: replace(report, sections=(section,)))
    assert pdf.render(record).startswith(b"%PDF")
