# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import assay
from assay.core.blocks import Figure
from assay.report.blocks.comparison import Compared, _compared_parts, _forest, _glance_blocks, _letters, rank_chart
from assay.report.blocks.findings import FindingText
from assay.report.charts import draw
from assay.report.render import html, markdown
from assay.report.render.terminal import summary
from tests import flat

NASTY = '</script><script>alert(1)</script> "&|*'


@pytest.fixture(scope="module")
def pair():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200)
    a, b = (np.where(rng.random(200) < share, y, 1 - y) for share in (0.9, 0.8))
    return assay.compare(truth=y, predicted={"A": a, NASTY: b}, score={"A": a * 1.0, NASTY: b * 1.0})


@pytest.fixture(scope="module")
def sets():
    rng = np.random.default_rng(2)
    values = {m: rng.normal(size=15) + shift for m, shift in zip("ABCD", (0, 0, 3, 3), strict=True)}
    return assay.compare_values(values=values, per="data set")


def test_a_sentence_says_who_is_ahead_by_how_much_and_how_sure_that_is():
    c = assay.compare(
        truth=[1] * 258,
        predicted={"A": [1] * 217 + [0] * 41, "B": [1] * 212 + [0] * 5 + [1] * 19 + [0] * 22},
        labels=[0, 1],
        measures=["f1"],
    )
    told = FindingText(c.record["findings"][0]).sentence
    assert told == (
        "B is right on 5.4 points more of the rows than A, 95 % interval 1.7 to 9.4, "
        "McNemar's test, mid-p form: p = 0.00408."
    )
    recall = FindingText(c.record["findings"][1]).sentence
    assert recall.startswith("B finds 5.4 points more of the positives than A")
    assert "Holm-adjusted 0.00815" in recall


def test_names_from_outside_stay_names(pair):
    page = html.render(pair.record)
    assert "<script" not in page
    assert "default-src &#39;none&#39;" in page
    assert "<script" not in html.fragment(pair.record)
    assert not re.search(r"(?<!\\)<script", markdown.render(pair.record))  # a backslash makes it text


def test_charts_are_valid_xml_with_words_for_who_cannot_see(pair, sets):
    (shown,) = _compared_parts(Compared(pair.record))
    for chart in (_forest(shown, "95 %"), rank_chart(sets.record)):
        svg = draw(chart)
        root = ET.fromstring(svg)  # noqa: S314  our own text
        assert root.find("{http://www.w3.org/2000/svg}title").text
        assert root.find("{http://www.w3.org/2000/svg}desc").text


def test_what_is_not_significant_says_what_could_have_been_found():
    y = [1, 0] * 50
    other = [1 - x if i < 4 else x for i, x in enumerate(y)]
    c = assay.compare(truth=y, predicted={"A": y, "B": other}, measures=["f1"])
    text = str(c)
    assert "No difference is shown" in text
    assert "would have been detected with a chance of 80 %" in text


def test_what_only_the_correction_takes_away_is_told_so(pair):
    one = {**pair.record["findings"][1], "p": 0.04, "significant": False}
    assert FindingText(one).sentence.startswith("Not significant after correction: ")
    assert FindingText({**one, "p": 0.4}).sentence.startswith("No difference is shown: ")


def test_a_terminal_gets_lines_that_fit(pair, sets):
    for c in (pair, sets):
        text = summary(c.record, width=80)
        assert all(len(line) <= 80 for line in text.splitlines())
        assert "Ranking" in text
    assert "\x1b[1m" in summary(pair.record, colour=True)


def test_models_that_cannot_be_told_apart_share_a_letter():
    tests = [{"models": list(pair), "significant": pair in ("AC", "AD", "BD")} for pair in ("AB", "AC", "AD", "BD")]
    assert _letters("ABCD", tests) == {"A": "a", "B": "ab", "C": "bc", "D": "c"}
    assert set(_letters("ABC", []).values()) == {"a"}


def test_bars_of_mean_ranks_overlap_where_the_critical_difference_is_not_reached(sets):
    rows = {row["label"]: row for row in rank_chart(sets.record).data[0]["rows"]}
    for finding in sets.record["findings"]:
        if finding["test"] == "nemenyi":
            a, b = (rows[model] for model in finding["models"])
            assert (a["low"] > b["high"] or b["low"] > a["high"]) is finding["significant"]
            assert bool(set(a["small"]) & set(b["small"])) is not finding["significant"]


def test_a_notebook_shows_it(pair):
    shown = pair._repr_mimebundle_()
    assert set(shown) == {"text/html", "text/markdown", "text/plain"}


def test_a_number_and_its_unit_stay_on_one_line():
    called = {"the 5 % cut": [1, 0, 1, 0] * 5, "other": [1, 1, 1, 0] * 5}
    page = html.render(assay.compare(truth=[1, 0] * 10, predicted=called).record)
    assert "95\N{NO-BREAK SPACE}% interval" in page
    assert "95 % interval" not in page
    assert "25.0\N{NO-BREAK SPACE}points more" in page
    assert "the 5 % cut" in page  # a name of somebody else is left as it is


@pytest.mark.parametrize(
    ("test", "p", "opens"),
    [
        ("share_non_inferiority", 0.01, "A is not worse than B by the margin: B is right on"),
        ("share_non_inferiority", 0.4, "That A is good enough is not shown: B is right on"),
        ("auroc_equivalence", 0.01, "A and B are equal within the margin: "),
        ("auroc_equivalence", 0.4, "Equality within the margin is not shown: "),
    ],
)
def test_a_margin_is_told_as_what_it_shows_and_not_as_a_difference(test, p, opens):
    told = FindingText({
        "test": test, "title": "T", "about": "accuracy", "models": ["A", "B"], "p": p, "p_shown": f"= {p}",
        "level": 0.95, "significant": p <= 0.05, "chosen": "stated", "notes": [], "checks": [], "counts": {},
        "effect": {"name": "accuracy, A minus B", "value": -0.02, "low": -0.05, "high": 0.01, "unit": "share"},
    }).sentence  # fmt: skip
    assert told.startswith(opens)


def test_a_margin_that_is_met_puts_nobody_ahead():
    y = [0, 1] * 100
    one, other = (
        [1 - x if i < 20 else x for i, x in enumerate(y)],
        [1 - x if 18 <= i < 39 else x for i, x in enumerate(y)],
    )
    c = assay.compare(truth=y, predicted={"A": one, "B": other}, positive=1, tests=assay.TestSettings(margin=0.2))
    assert c["non-inferiority"].significant
    assert not c["accuracy"].significant
    assert [place.ahead_of for place in c.ranking] == [(), ()]


def test_areas_of_scores_stand_with_their_intervals_among_the_values(tmp_path):
    rng = np.random.default_rng(4)
    y = np.arange(60) < 30
    c = assay.compare(
        truth=y.tolist(), score={"A": y * 9 + rng.random(60), "B": y + rng.normal(size=60)}, positive=True
    )
    found = {one["model"]: one for one in c.record["estimates"]}
    assert found["A"]["measure"] == "auroc"
    assert (found["A"]["value"], found["A"]["high"]) == (1.0, 1.0)
    assert found["A"]["low"] < 1
    for ending in ("md", "html"):
        assert re.search(r"1\.000 a(?: \(|</b><small>)0\.9", c.report(tmp_path / f"c.{ending}").read_text())


def forests(record):
    """The charts of differences, drawn."""
    cards = (block for block in _glance_blocks(Compared(record)) if hasattr(block, "blocks"))
    figures = [part for card in cards for part in card.blocks if isinstance(part, Figure)]
    return [draw(chart) for figure in figures for chart in figure.charts if chart.kind == "intervals"]


def test_differences_in_cost_are_drawn_on_a_scale_of_their_own():
    given = {"truth": [0, 1] * 20, "predicted": {"A": [0, 1] * 15 + [1, 0] * 5, "B": [1, 0] * 8 + [0, 1] * 12}}
    plain, paid = (flat.compare(**given, positive=1, **more) for more in ({}, {"costs": {(0, 1): 100, (1, 0): 900}}))
    assert [len(forests(c.record)) for c in (plain, paid)] == [1, 2]
    first, second = forests(paid.record)
    assert "mean cost" in first
    assert "mean cost" not in second
    assert "accuracy" in second
    held = forests(flat.compare(**given, positive=1, margin=0.2).record)
    assert [one.count("<circle") for one in held] == [forests(plain.record)[0].count("<circle")]
