# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from assay.core.blocks import Figure, Heading
from assay.report.blocks.background import data_blocks, data_title, splits
from assay.report.charts import draw
from tests.layers.assess.examples import example
from tests.layers.report import examples


@pytest.fixture(scope="module")
def planned():
    return example("faulty")[0].judged().record


def test_the_timeline_shows_every_data_set_and_says_it_in_words(planned):
    found = splits(planned)
    (figure,) = figures(planned)
    tree = examples.drawn(draw(figure.charts[0]))
    words = " ".join(tree.itertext())
    for one in found:
        assert f"{one.name} from {one.begins[:10]} to {one.ends[:10]}" in words
        year, part = int(one.begins[:4]), one.span[0] % 1
        assert (int(one.span[0]), part) == (year, pytest.approx((int(one.begins[5:7]) - 1) / 12, abs=0.1))
    assert [one.name for one in found] == ["train", "validation", "test"]


def figures(record):
    parts = [part for block in data_blocks(record) for part in block.blocks]
    return [part for part in parts if isinstance(part, Figure)]


def test_data_sets_without_times_have_no_timeline(planned):
    assert len(figures(planned)) == 1
    assert figures(examples.screening().record) == []


def test_what_the_plan_says_of_data_and_truth_is_told(planned):
    assert data_title(planned) == "Data and ground truth"
    said = {part.blocks[0].text: part.blocks[1] for part in data_blocks(planned) if isinstance(part.blocks[0], Heading)}
    assert list(said)[:4] == ["Data sets, as declared", "Ground truth", "Population", "Bias"]
    assert any("biopsy where there is one" in term.text for term in said["Ground truth"].terms)
    assert data_title(examples.screening().record) == "Data"
