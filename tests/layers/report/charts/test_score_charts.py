# SPDX-License-Identifier: Apache-2.0
"""Curves, reliability, decision curve and histogram in a report: every point where the Record puts it."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from assay.assess.arguments import ScoreSettings
from assay.assess.assess import assess
from assay.report import sentences_scores as scoresentences
from assay.report.assessment_document import Assessed
from assay.report.blocks.det_axes import deviate, errors, inside, window
from assay.report.charts import score_charts as charts
from assay.report.render.html import policy, render, slider, stylesheet
from assay.report.render.markdown import render as markdown
from assay.report.render.terminal import summary
from assay.tasks.classification.curve_points import thinned
from tests import flat
from tests.layers.report import examples


@cache
def scored(rows=1000, *, threshold=0.4, scores="probability", grouped=True, **more):
    rng = np.random.default_rng(4213)
    ill = rng.random(rows) < 0.25
    score = 1 / (1 + np.exp(-(rng.normal(size=rows) * 1.2 + 1.9 * ill - 1.3)))
    by = {"sex": rng.choice(["female", "male"], rows)} if grouped else None
    names = np.array(["healthy", "ill"])
    given = {"predicted": names[(score >= 0.4) * 1]} if threshold is None else {"threshold": threshold}
    return flat.assess(truth=names[ill * 1], score=score, scores=scores, positive="ill", group=by, **given, **more)


@cache
def many(k=4, rows=400):
    rng = np.random.default_rng(2)
    truth = rng.integers(0, k, rows)
    matrix = rng.dirichlet(np.ones(k) * 0.7, rows)
    matrix[np.arange(rows), truth] += 0.5
    names = ["<script>alert(1)</script>", '"><img src=x>', "שלום", "🦊"][:k]
    score = dict(zip(names, (matrix / matrix.sum(axis=1, keepdims=True)).T, strict=True))
    return assess(truth=[names[i] for i in truth], score=score, scores=ScoreSettings(kind="probability"))


def test_every_chart_is_xml_with_a_title_and_a_description():
    found = Assessed(scored().record).scoring
    for svg in (
        charts.roc(found.curves[0], found.now.place),
        charts.precision_recall(found.curves[0], found.now.place),
        charts.det(found.curves[0], found.errors, found.now.place),
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
    svg = charts.roc(Assessed(record).scoring.curves[0], Assessed(record).scoring.now.place)
    x, y = (float(re.search(rf'id="mark-roc"[^>]*{axis}="([\d.]+)"', svg)[1]) for axis in ("cx", "cy"))
    assert x == pytest.approx(40 + 240 * fpr, abs=0.06)
    assert y == pytest.approx(30 + 240 * (1 - tpr), abs=0.06)


def test_gains_and_lift_are_those_of_the_points_of_the_curve():
    record = scored().record
    curve = record["curves"][0]
    found = Assessed(record).scoring.curves[0]
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
    found = Assessed(a.record).scoring.curves[0]
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
        page.count('<svg class="plot"') == 3 * 5 + 1 + 4 + 4
    )  # ROC, PR and error rates with the pooled ones, top label, reliability, decisions
    assert page.count("of each class against the rest, with its area") == 2
    assert len(page.encode()) <= 150_000


def test_error_rates_are_drawn_on_axes_of_normal_deviates():
    record = scored(operating_points=(0.3,)).record
    found = Assessed(record).scoring
    axis, curve = found.errors, found.curves[0]
    svg = charts.det(curve, axis, found.now.place)
    (line,) = re.findall(r'class="ln"[^>]* d="([^"]*)"', svg)
    wanted = [norm.ppf([x, 1 - y]) for x, y in zip(curve.fpr, curve.tpr, strict=True) if 0 < x < 1 and 0 < y < 1]
    inside = np.array([one for one in wanted if (axis.low < one).all() and (one < axis.high).all()])
    drawn_at = 40 + 240 * (inside[:, 0] - axis.low) / (axis.high - axis.low)
    assert len(inside) > 30
    start = [float(x) for x in re.match(r"M([\d.]+) ([\d.]+)", line).groups()]
    assert start[0] == pytest.approx(drawn_at[0], abs=12)
    at = norm.ppf(next(e["value"] for e in record["estimates"] if e["measure"] == "equal_error_rate"))
    dot = re.search(r'<circle class="pt" fill="[^"]*" cx="([\d.]+)" cy="([\d.]+)"', svg)
    part = (at - axis.low) / (axis.high - axis.low)
    assert [float(x) for x in dot.groups()] == pytest.approx([40 + 240 * part, 270 - 240 * part], abs=2)
    mark = re.search(r'id="mark-det"[^>]* cx="([\d.]+)" cy="([\d.]+)"', svg)
    place = [(norm.ppf(x) - axis.low) / (axis.high - axis.low) for x in (found.now.place.fpr, 1 - found.now.place.tpr)]
    assert [float(x) for x in mark.groups()] == pytest.approx([40 + 240 * place[0], 270 - 240 * place[1]], abs=0.1)
    assert svg.count('class="bd"') == 2
    assert '<text x="35"' in svg


def test_error_rates_are_listed_for_limits_people_ask_about():
    record = scored().record
    found, page = Assessed(record).scoring, render(record)
    points = record["curves"][0]["points"]
    positives, negatives = record["curves"][0]["positives"], record["curves"][0]["negatives"]
    for asked, fpr, fnr, _ in found.curves[0].error_rows:
        _, tp, fp = next(p for p in reversed(points) if p[2] / negatives <= float(asked))
        assert (float(fpr), float(fnr)) == pytest.approx((fp / negatives, 1 - tp / positives), abs=5e-4)
    assert "Table: Error rates" in page
    assert "equal error rate 0." in page
    side = Assessed(many().record).scoring.misses
    assert side.head[-1] == "all classes pooled"
    assert len(side.rows) == 6
    assert "Table: Error rates of each class" in render(many().record)


def test_a_ranking_without_mistakes_has_no_error_rates_to_draw():
    a = assess(truth=[0, 0, 1, 1], score=[0.1, 0.2, 0.8, 0.9], scores=ScoreSettings(kind="probability"), threshold=0.5)
    found = Assessed(a.record).scoring
    assert found.errors is None
    assert scoresentences.DET not in render(a.record)
    assert markdown(a.record)


rates = st.floats(1e-9, 1 - 1e-9) | st.sampled_from([0.0, 1.0])


@given(st.lists(st.tuples(rates, rates), min_size=2, max_size=12))
def test_a_line_is_cut_where_it_leaves_the_window(some):
    fpr, tpr = (sorted(one) for one in zip(*some, strict=True))
    points = errors(fpr, tpr)
    axis = window([points])
    if axis is None:
        return
    kept = inside(points, axis)
    assert kept
    for one in kept:
        assert all(axis.low - 1e-6 <= deviate(rate) <= axis.high + 1e-6 for rate in one)
    for one in points:
        if all(axis.low < deviate(rate) < axis.high for rate in one):
            assert any(one == pytest.approx(other, abs=1e-9) for other in kept)


def test_charts_with_the_same_frame_share_it():
    page = render(scored().record)
    frames = re.findall(r'<use href="#(fr\d+)"/>', page)
    assert len(frames) > 2
    for name in set(frames):
        assert page.count(f'<g id="{name}">') == 1
    assert 'class="fr"' not in page


def test_the_numbers_of_every_class_stand_side_by_side():
    record = many().record
    found, page = Assessed(record).scoring, render(record)
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
    record = scored(operating_points=(0.2, 0.6)).record
    for text in (summary(record, width=100), markdown(record)):
        for point in record["operating_points"]:
            assert str(point["threshold"]) in text
            assert f"{point['tp']:,}" in text
    assert "predicted probability" in markdown(record)


def test_a_constant_score_and_a_missing_class_draw_without_a_fault():
    for a in (
        assess(truth=[0, 1, 0, 1], score=[0.5] * 4, scores=ScoreSettings(kind="probability"), threshold=0.5),
        assess(truth=[1, 1], score=[0.5, 0.7], scores=ScoreSettings(kind="probability"), threshold=0.6),
        assess(truth=[0, 1], score=[-1e300, 1e300], threshold=0.0),
        assess(truth=[0, 1, 1], score=[0.1, 0.2, 0.9], threshold=0.5, weight=[0.5, 1, 2.25]),
    ):
        assert "Scores and thresholds" in render(a.record)
        assert summary(a.record)
        assert markdown(a.record)
