# SPDX-License-Identifier: Apache-2.0
"""Curves, reliability, decision curve and histogram in a report: every point where the Record puts it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from assay.assess.run import assess
from assay.assess.thinning import thinned
from assay.report import charts
from assay.report.document import read
from assay.report.html import policy, render, slider, stylesheet
from assay.report.markdown import render as markdown
from assay.report.terminal import summary
from tests.layers.report import examples


def scored(rows=1000, *, threshold=0.4, scores="probability", grouped=True, **more):
    rng = np.random.default_rng(4213)
    ill = rng.random(rows) < 0.25
    score = 1 / (1 + np.exp(-(rng.normal(size=rows) * 1.2 + 1.9 * ill - 1.3)))
    by = {"sex": rng.choice(["female", "male"], rows)} if grouped else None
    names = np.array(["healthy", "ill"])
    given = {"predicted": names[(score >= 0.4) * 1]} if threshold is None else {"threshold": threshold}
    return assess(truth=names[ill * 1], score=score, scores=scores, positive="ill", group=by, **given, **more)


def many(k=4, rows=400):
    rng = np.random.default_rng(2)
    truth = rng.integers(0, k, rows)
    matrix = rng.dirichlet(np.ones(k) * 0.7, rows)
    matrix[np.arange(rows), truth] += 0.5
    names = ["<script>alert(1)</script>", '"><img src=x>', "שלום", "🦊"][:k]
    score = dict(zip(names, (matrix / matrix.sum(axis=1, keepdims=True)).T, strict=True))
    return assess(truth=[names[i] for i in truth], score=score, scores="probability")


def test_every_chart_is_xml_with_a_title_and_a_description():
    found = read(scored().record).scoring
    for svg in (
        charts.roc(found.curves[0], found.now.place),
        charts.precision_recall(found.curves[0], found.now.place),
        charts.reliability(found.bins),
        charts.decision(found.decision),
        charts.gains(found.curves[0]),
        charts.lift(found.curves[0]),
        charts.histogram(found.histogram, 0.4),
    ):
        tree = examples.drawn(svg)
        words = [one.text for one in tree if one.tag.endswith(("title", "desc"))]
        assert all(words)
        assert len(words) == 2
        assert "nan" not in svg.lower()


def test_the_mark_stands_where_the_threshold_puts_the_system():
    record = scored().record
    point = record["operating_points"][0]
    fpr, tpr = point["fp"] / (point["fp"] + point["tn"]), point["tp"] / (point["tp"] + point["fn"])
    svg = charts.roc(read(record).scoring.curves[0], read(record).scoring.now.place)
    x, y = (float(re.search(rf'id="mark-roc"[^>]*{axis}="([\d.]+)"', svg)[1]) for axis in ("cx", "cy"))
    assert x == pytest.approx(40 + 240 * fpr, abs=0.06)
    assert y == pytest.approx(30 + 240 * (1 - tpr), abs=0.06)


def test_gains_and_lift_are_those_of_the_points_of_the_curve():
    record = scored().record
    curve = record["curves"][0]
    found = read(record).scoring.curves[0]
    for (_, tp, fp), (called, gain, lift) in zip(curve["points"][1:], found.gains, strict=True):
        assert called == pytest.approx((tp + fp) / 1000)
        assert gain == pytest.approx(tp / curve["positives"])
        assert lift == pytest.approx(gain / called)
    assert found.gain_rows[-1] == ("1.000", "1.000", "1.000")
    assert 5 <= len(found.gain_rows) <= 9


def test_a_drawn_line_keeps_within_a_fifth_of_a_pixel_of_its_points():
    rng = np.random.default_rng(1)
    points = [(float(x), float(y)) for x, y in zip(np.linspace(0, 240, 300), rng.random(300).cumsum(), strict=True)]
    kept = charts._straightened(points)
    assert len(kept) < 200
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    drawn = np.interp([x for x, _ in points], [x for x, _ in kept], [y for _, y in kept])
    assert np.abs(drawn - [y for _, y in points]).max() < 0.3


def test_a_curve_is_thinned_without_being_seen():
    a = scored(20_000, grouped=False)
    found = read(a.record).scoring.curves[0]
    assert len(found.fpr) <= 140
    table = a.scores.whole.one_vs_rest("ill")
    fpr, tpr = (np.concatenate([[0], np.asarray(x)[::-1]]) for x in (table.fp / 15000, table.tp / 5000))
    fpr, tpr = fpr / fpr[-1], tpr / tpr[-1]
    drawn = np.interp(fpr + tpr, np.add(found.fpr, found.tpr), found.tpr)
    assert np.abs(drawn - tpr).max() < 0.004


def test_thinning_keeps_what_it_is_told_to_keep():
    curve = np.column_stack([np.linspace(0, 1, 10_000)] * 2)
    assert thinned(curve, 50, [7777]).tolist() == [0, 7777, 9999]


def test_the_page_is_complete_without_its_script_and_names_it_in_its_policy():
    page = render(scored().record)
    assert page.count("<script>") == 1
    assert f"<script>{slider()}</script>" in page
    assert "script-src &#39;sha256-" in page
    assert policy(stylesheet(), slider()) != policy(stylesheet())
    assert re.search(r'<input type="range" id="t"[^>]* hidden>', page)
    assert "<td class=b4 id=c-tp>" in page
    assert "<script" not in render(scored(threshold=None).record)
    assert "<script" not in render(examples.screening().record)


def test_names_of_classes_stay_text_in_every_chart():
    page = render(many().record)
    assert "<script" not in page
    assert "<img" not in page
    assert page.count("<svg") > 8


@pytest.mark.parametrize(("rows", "most"), [(1_000, 150_000), (100_000, 165_000)])
def test_a_page_with_curves_stays_small(rows, most):
    assert len(render(scored(rows).record).encode()) <= most


def test_several_classes_share_two_cards_of_curves():
    page = render(many().record)
    assert (
        page.count('<svg class="plot"') == 2 * 5 + 1 + 4 + 4
    )  # ROC and PR with the pooled ones, top label, reliability, decisions
    assert page.count("of each class against the rest, with its area") == 2
    assert len(page.encode()) <= 150_000


def test_the_numbers_of_every_class_stand_side_by_side():
    record = many().record
    found, page = read(record).scoring, render(record)
    assert (
        found.shares.head[1:] == found.benefits.head[1:] == tuple(one.label for one in found.curves if not one.pooled)
    )
    first = record["curves"][1]["reliability"]["bins"][0]
    assert found.shares.rows[0][2] == f"{first[4]:.3f} ({first[2]})"
    threshold, benefit, _ = record["curves"][2]["decision"][0]
    assert found.benefits.rows[0][3] == f"{benefit:.3f}"
    assert found.benefits.rows[0][0] == f"{threshold:.3g}"
    assert all(name in page for name in ("Table: Reliability of each class", "Table: Net benefit of each class"))


def test_operating_points_stand_in_the_terminal_and_in_markdown():
    record = scored(operating_points=[0.2, 0.6]).record
    for text in (summary(record, width=100), markdown(record)):
        for point in record["operating_points"]:
            assert str(point["threshold"]) in text
            assert f"{point['tp']:,}" in text
    assert "predicted probability" in markdown(record)


def test_a_constant_score_and_a_missing_class_draw_without_a_fault():
    for a in (
        assess(truth=[0, 1, 0, 1], score=[0.5] * 4, scores="probability", threshold=0.5),
        assess(truth=[1, 1], score=[0.5, 0.7], scores="probability", threshold=0.6),
        assess(truth=[0, 1], score=[-1e300, 1e300], threshold=0.0),
        assess(truth=[0, 1, 1], score=[0.1, 0.2, 0.9], threshold=0.5, weight=[0.5, 1, 2.25]),
    ):
        assert "Scores and thresholds" in render(a.record)
        assert summary(a.record)
        assert markdown(a.record)
