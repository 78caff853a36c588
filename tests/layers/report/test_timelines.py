# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from assay.report.assessment_document import read
from assay.report.blocks.data_sources import sources
from assay.report.charts.data_timeline import _dates, timeline
from tests.layers.assess.examples import example
from tests.layers.report import examples


@pytest.fixture(scope="module")
def planned():
    return example("faulty")[0].judged().record


def test_the_timeline_shows_every_data_set_and_says_it_in_words(planned):
    found = sources(planned)
    svg = timeline(found.splits)
    tree = examples.drawn(svg)
    words = " ".join(tree.itertext())
    for one in found.splits:
        assert f"{one.name} from {one.begins} to {one.ends}" in words
    assert [one.name for one in found.splits] == ["train", "validation", "test"]


def test_data_sets_without_times_have_no_timeline(planned):
    splits = sources(planned).splits
    assert timeline(splits[:1]) == ""
    assert timeline(read(examples.screening().record).sources.splits) == ""


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 86_400 * 40), (0, 1e8), (-6e10, 2e11), (1e9, 1e9)])
def test_dates_are_few_and_enclose_the_stretch(low, high):
    dates = [one.timestamp() for one in _dates(low, high)]
    assert 2 <= len(dates) <= 8
    assert dates[0] <= low
    assert high <= dates[-1]


def test_what_the_plan_says_of_data_and_truth_is_told(planned):
    found = sources(planned)
    assert found.title == "Data and ground truth"
    assert [part.name for part in found.said] == ["Data sets, as declared", "Ground truth", "Population", "Bias"]
    assert any("biopsy where there is one" in text for _, text in found.said[1].pairs)
    assert sources(examples.screening().record).title == "Data"
