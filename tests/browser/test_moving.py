# SPDX-License-Identifier: Apache-2.0
"""What moves when a reader moves it: the threshold, and the filter of requirement rows."""

from __future__ import annotations

import pytest

from tests.browser.pages import record

TOP, SIDE = 30, 240
"""The frame of a chart, which says where its left edge is."""


def shown(page):
    """What stands at the threshold now."""
    ids = ("t-now", "c-tp", "c-fp", "c-fn", "c-tn", "r-recall", "r-spec", "r-prec", "r-f1", "r-acc")
    return {name: page.text_content(f"#{name}") for name in ids}


def left(page, mark):
    return float(page.eval_on_selector(mark, "e => e.closest('svg').dataset.left"))


def place(page, mark):
    """Where a mark stands on its chart, as rates."""
    x, y = (float(page.get_attribute(mark, name)) for name in ("cx", "cy"))
    return (x - left(page, mark)) / SIDE, 1 - (y - TOP) / SIDE


def agrees(page, curve, at):
    """Point, cells and rates are those of one point of the Record's curve."""
    threshold, tp, fp = curve["points"][at]
    positives, negatives = curve["positives"], curve["negatives"]
    told = shown(page)
    assert [told[f"c-{cell}"] for cell in ("tp", "fp", "fn", "tn")] == [
        f"{n:,}" for n in (tp, fp, positives - tp, negatives - fp)
    ]
    assert float(told["r-recall"]) == pytest.approx(tp / positives, abs=5e-4)
    assert float(told["r-spec"]) == pytest.approx(1 - fp / negatives, abs=5e-4)
    assert float(told["r-acc"]) == pytest.approx((tp + negatives - fp) / (positives + negatives), abs=5e-4)
    assert place(page, "#mark-roc") == pytest.approx((fp / negatives, tp / positives), abs=1e-3)
    if tp + fp:
        assert float(told["r-prec"]) == pytest.approx(tp / (tp + fp), abs=5e-4)
        assert place(page, "#mark-pr") == pytest.approx((tp / positives, tp / (tp + fp)), abs=1e-3)
        assert float(told["t-now"]) == pytest.approx(threshold, rel=1e-5)
        cut = float(page.get_attribute("#cut", "d").split()[0].removeprefix("M"))
        assert (cut - left(page, "#cut")) / SIDE == pytest.approx(threshold, abs=1e-3)
    else:
        assert told["t-now"] == "none called"
    said = page.get_attribute("#t", "aria-valuetext")
    assert f"recall {told['r-recall']}" in said
    assert f"threshold {told['t-now']}" in said


def test_the_keyboard_moves_point_matrix_and_rates_together(opened):
    page = opened("scores").page
    curve = record("scores")["curves"][0]
    start, first = int(page.input_value("#t")), shown(page)
    point = record("scores")["operating_points"][0]
    assert (first["t-now"], first["c-tp"]) == ("0.4", f"{point['tp']:,}")
    page.focus("#t")
    for key, at in (
        ("ArrowRight", start + 1),
        ("ArrowRight", start + 2),
        ("ArrowLeft", start + 1),
        ("Home", 0),
        ("End", len(curve["points"]) - 1),
    ):
        page.keyboard.press(key)
        assert int(page.input_value("#t")) == at
        agrees(page, curve, at)
    for _ in range(len(curve["points"]) - 1 - start):
        page.keyboard.press("ArrowLeft")
    assert shown(page) == first


@pytest.mark.parametrize("width", [360, 1280])
def test_the_mouse_moves_point_matrix_and_rates_together(opened, width):
    page = opened("scores", width=width).page
    curve = record("scores")["curves"][0]
    page.locator("#t").scroll_into_view_if_needed()
    box = page.locator("#t").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.down()
    seen = set()
    for share in (0.5, 0.2, 0.9):
        page.mouse.move(box["x"] + box["width"] * share, middle, steps=3)
        at = int(page.input_value("#t"))
        assert at / (len(curve["points"]) - 1) == pytest.approx(share, abs=0.05)
        agrees(page, curve, at)
        seen.add(at)
    page.mouse.up()
    assert len(seen) == 3


@pytest.mark.parametrize("name", ["scores of classes"])
def test_several_classes_have_a_slider_on_the_worst_class(opened, name):
    page = opened(name).page
    areas = {e["class"]: e["value"] for e in record(name)["estimates"] if e["measure"] == "auroc"}
    worst = min(areas, key=areas.get)
    curve = next(c for c in record(name)["curves"] if c["class"] == worst)
    page.focus("#t")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    _, tp, fp = curve["points"][1]
    assert (page.text_content("#c-tp"), page.text_content("#c-fp")) == (f"{tp:,}", f"{fp:,}")
    rates = (fp / curve["negatives"], tp / curve["positives"])
    assert place(page, "#mark-roc") == pytest.approx(rates, abs=1e-3)


FIRST = """() => [...document.querySelectorAll('#glance .card svg, #glance .card table')]
  .filter(e => e.checkVisibility()).map(e => Math.round(e.getBoundingClientRect().bottom))"""


@pytest.mark.parametrize(
    ("name", "parts"), [("scores", 4), ("scores of classes", 4), ("two classes", 2), ("comparison", 3)]
)
def test_the_first_screen_holds_all_that_is_to_be_seen_at_a_glance(opened, name, parts):
    page = opened(name).page
    bottoms = page.evaluate(FIRST)
    assert len(bottoms) == parts
    assert max(bottoms) <= 900
    assert page.locator(".verdict").bounding_box()["y"] < 120


def visible_rows(page):
    """Verdicts of the requirement rows a reader sees in the first table."""
    return page.eval_on_selector_all(
        "#conformity .judged > .wide tbody tr:not(.clause)",
        "rows => rows.filter(r => r.checkVisibility()).map(r => r.cells[1].textContent)",
    )


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_requirement_rows_are_filtered_by_verdict(opened, scripts):
    page = opened("conformity", scripts=scripts).page
    rows = record("conformity")["conformity"]["rows"]
    assert len(visible_rows(page)) == len(rows)
    for verdict in ("fail", "pass", "n/a"):
        page.click(f"#only-{verdict.replace('/', '')}")
        wanted = [row for row in rows if row["verdict"] == verdict]
        seen = visible_rows(page)
        assert len(seen) == len(wanted) > 0
        assert set(seen) == {verdict}
    page.focus("#all-rows")
    page.keyboard.press("Space")
    assert len(visible_rows(page)) == len(rows)
    page.keyboard.press("ArrowRight")
    assert 0 < len(visible_rows(page)) < len(rows)


def test_a_requirement_row_leads_to_its_evidence(opened):
    page = opened("conformity").page
    for aimed in ("#c-", "#p-", "#data"):  # a control, the plan, the data
        link = page.locator(f"#conformity tbody tr a[href^='{aimed}']").first
        aim = link.get_attribute("href")
        link.click()
        assert page.evaluate("location.hash") == aim
        assert page.locator(aim).is_visible()
