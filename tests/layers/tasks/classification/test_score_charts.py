# SPDX-License-Identifier: Apache-2.0
"""Curves, reliability, decision curve and histogram in a report: every point where the Record puts it."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

from assay.assess.arguments import ScoreSettings
from assay.assess.assess import assess
from assay.core.blocks import Figure, Threshold
from assay.report.charts import draw
from assay.report.charts.plot_parts import straightened
from assay.report.render.html import policy, render, slider, stylesheet
from assay.report.render.markdown import render as markdown
from assay.report.render.terminal import summary
from assay.report.report_document import Document
from assay.tasks.classification.blocks import score_figures as figures
from assay.tasks.classification.blocks.class_report import ClassRecord
from assay.tasks.classification.blocks.decision_point import threshold_block
from assay.tasks.classification.blocks.scores import score_blocks
from assay.tasks.classification.curves import thinned
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


def charts_of(record):
    """Every chart of scores by its title."""
    document = Document(record)
    cards = [*document.glance(), *score_blocks(ClassRecord(record).scoring)]
    blocks = [part for card in cards for part in (*getattr(card, "blocks", ()), card)]
    charts = [chart for block in blocks if isinstance(block, Figure) for chart in block.charts]
    return {chart.data[0]["title"]: chart for chart in charts}


def test_every_chart_is_xml_with_a_title_and_a_description():
    found = charts_of(scored().record)
    assert set(found) >= {
        "ROC curve", "Precision-recall curve", "Gains", "Lift", "Scores by true class", "Reliability",
        "Decision curve",
    }  # fmt: skip
    for chart in found.values():
        svg = draw(chart)
        words = [one.text for one in examples.drawn(svg) if one.tag.endswith(("title", "desc"))]
        assert all(words)
        assert len(words) == 2
        assert "nan" not in svg.lower()


def test_the_mark_stands_where_the_threshold_puts_the_system():
    record = scored().record
    point = record["operating_points"][0]
    fpr, tpr = point["fp"] / (point["fp"] + point["tn"]), point["tp"] / (point["tp"] + point["fn"])
    svg = draw(charts_of(record)["ROC curve"])
    x, y = (float(re.search(rf'id="mark-roc"[^>]*{axis}="([\d.]+)"', svg)[1]) for axis in ("cx", "cy"))
    assert x == pytest.approx(40 + 240 * fpr, abs=0.06)
    assert y == pytest.approx(30 + 240 * (1 - tpr), abs=0.06)
    assert "threshold 0.4" in svg


def test_labels_beside_scores_are_the_decision_in_force_and_scores_alone_have_none():
    given, alone = scored(threshold=None), assess(truth=[0, 1, 1, 0], score=[1, 2, 3, 2.5], positive=1)
    marks = charts_of(given.record)["ROC curve"].data[0]["marks"]
    recall, specificity = given["recall"].value, given["specificity"].value
    assert [(mark["x"], mark["y"], mark["text"]) for mark in marks] == [
        (pytest.approx(1 - specificity), pytest.approx(recall), "labels as called")
    ]
    (block,) = threshold_block(ClassRecord(alone.record).scoring)
    assert isinstance(block, Threshold)
    assert "No threshold is in force" in block.chosen
    (several,) = threshold_block(ClassRecord(many().record).scoring)
    worst = min((e["value"], e["class"]) for e in many().record["estimates"] if e["measure"] == "auroc")[1]
    assert several.positive == worst
    for a in (given, alone, many()):
        assert '<input type="range"' in render(a.record)


def test_gains_and_lift_start_at_no_row_and_are_those_of_the_points_of_the_curve():
    record = scored().record
    curve = record["curves"][0]
    (found,) = figures.read_curves(record)
    for (_, tp, fp), (called, gain, lift) in zip(curve["points"], found.gains, strict=True):
        assert called == pytest.approx((tp + fp) / 1000)
        assert gain == pytest.approx(tp / curve["positives"])
        assert lift == pytest.approx(gain / called if called else found.gains[1][2])
    drawn = charts_of(record)
    assert drawn["Gains"].data[0]["series"][0]["points"][0] == [0, 0]
    assert drawn["Lift"].data[0]["series"][0]["points"][0] == [0, found.gains[1][2]]
    assert drawn["Gains"].data[0]["series"][0]["points"][-1] == [1, 1]


def test_curves_of_classes_are_thin_but_the_worst_which_is_named():
    record = many().record
    areas = {e["class"]: e["value"] for e in record["estimates"] if e["measure"] == "auroc"}
    series = charts_of(record)["ROC curve"].data[0]["series"]
    assert sum(bool(line.get("quiet")) for line in series) == 3
    loud = [line["name"] for line in series if not line.get("quiet")]
    worst = min(areas, key=areas.get)
    assert loud[0].startswith("worst: ")
    assert f"{areas[worst]:.3f}" in loud[0]
    assert loud[1].startswith("all classes pooled")


def test_the_diagram_has_the_bins_of_the_calibration_error():
    assert scored().record["curves"][0]["reliability"]["binning"] == "15 bins of equal width"
    said = charts_of(scored().record)["Reliability"].data[0]["series"][0]["name"]
    assert said == f"15 bins, ECE {scored()['expected_calibration_error'].value:.3f}"


def test_a_drawn_line_keeps_within_a_fifth_of_a_pixel_of_its_points():
    rng = np.random.default_rng(1)
    points = [(float(x), float(y)) for x, y in zip(np.linspace(0, 240, 300), rng.random(300).cumsum(), strict=True)]
    kept = straightened(points)
    assert len(kept) < 200
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    drawn = np.interp([x for x, _ in points], [x for x, _ in kept], [y for _, y in kept])
    assert np.abs(drawn - [y for _, y in points]).max() < 0.3


def test_a_curve_is_thinned_without_being_seen():
    a = scored(20_000, grouped=False)
    found = figures.read_curves(a.record)[0].rates
    assert len(found) <= 140
    table = a.scores.whole.one_vs_rest("ill")
    fpr, tpr = (np.concatenate([[0], np.asarray(x)[::-1]]) for x in (table.fp / 15000, table.tp / 5000))
    fpr, tpr = fpr / fpr[-1], tpr / tpr[-1]
    drawn = np.interp(fpr + tpr, [x + y for x, y, _ in found], [y for _, y, _ in found])
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
    assert "<script" not in render(examples.screening().record)


def test_names_of_classes_stay_text_in_every_chart():
    page = render(many().record)
    assert page.count("<script") == 1  # the slider's own
    assert "<img" not in page
    assert page.count("<svg") > 6


@pytest.mark.parametrize(("rows", "most"), [(1_000, 150_000), (100_000, 165_000)])
def test_a_page_with_curves_stays_small(rows, most):
    assert len(render(scored(rows).record).encode()) <= most


def test_several_classes_share_their_charts():
    page = render(many().record)
    assert page.count('<svg class="plot') == 5 + 3 + 1  # curves, reliability, benefit; forests of classes; the headline
    assert len(page.encode()) <= 150_000


def test_error_rates_are_listed_for_limits_people_ask_about():
    record = scored().record
    page, points = render(record), record["curves"][0]["points"]
    positives, negatives = record["curves"][0]["positives"], record["curves"][0]["negatives"]
    table = re.search(r"Table: Error rates.*?</table>", page, re.DOTALL)[0]
    rows = re.findall(r"<tr><th scope=row>([\d.]+)<td>([\d.]+)<td>([\d.]+)", table)
    assert len(rows) == 6
    for asked, fpr, fnr in rows:
        _, tp, fp = next(p for p in reversed(points) if p[2] / negatives <= float(asked))
        assert (float(fpr), float(fnr)) == pytest.approx((fp / negatives, 1 - tp / positives), abs=5e-4)
    assert "equal error rate 0." in page
    assert "Table: Error rates of each class" in render(many().record)


def test_the_numbers_of_every_class_stand_side_by_side():
    record = many().record
    page = render(record)
    first = record["curves"][1]["reliability"]["bins"][0]
    assert f"{first[4]:.3f} ({first[2]})" in page
    threshold, benefit, _ = record["curves"][2]["decision"][0]
    assert f"<th scope=row>{threshold:.3g}<td>" in page
    assert f"{benefit:.3f}" in page
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
