# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.assess.record.record import Record, schema
from assay.assess.shared_tally import POOLED
from assay.core.errors import PlanError, RowsError
from assay.tally.by_group import Grouped
from assay.tally.labels.confusion import Confusion
from tests import flat

ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("ab"), st.sampled_from("xyz")), min_size=1, max_size=60
)


def assessed(rows, **options):
    truth, predicted, group = zip(*rows, strict=True)
    return flat.assess(
        truth=list(truth),
        predicted=list(predicted),
        group={"g": list(group)},
        positive="a",
        labels=["a", "b"],
        **options,
    )


def filled(n=12):
    """Every cell of every level holds n rows."""
    return [(t, p, g) for t in "ab" for p in "ab" for g in "xyz" for _ in range(n)]


def test_a_tally_holds_counts_and_no_word_of_where_they_came_from(tmp_path):
    path = tmp_path / "patients of ward 7.csv"
    path.write_text("id,t,p\n" + "".join(f"secret{i},{t},{p}\n" for i, (t, p, _) in enumerate(filled())))
    a = assay.assess(data=path, truth="t", predicted="p", positive="a")
    content = a.tally(site="north")
    text = content.to_text()
    assert "secret" not in text
    assert "ward" not in text
    assert "delimiter" not in text
    jsonschema.validate(json.loads(text), schema("tally"))
    content.save(tmp_path / "north.tally.json")
    again = assay.load(tmp_path / "north.tally.json")
    assert again.confusion == a.confusion
    assert again["recall"].low == a["recall"].low


def test_levels_with_small_cells_are_pooled_with_another_so_that_nothing_can_be_subtracted():
    rows = filled() + [("a", "b", "w")] * 3
    content = assessed(rows).tally(site="s")
    levels = [one["level"] for one in content["tallies"]["groups"]["g"]]
    assert levels == ["y", "z", POOLED]
    assert content["notes"][-1].startswith('group "g": 2 levels with cells below 10 rows')


def test_a_factor_whose_levels_are_all_small_is_told_only_as_a_whole():
    content = assessed(filled(4)).tally(site="s")
    assert [one["level"] for one in content["tallies"]["groups"]["g"]] == [POOLED]


def test_small_cells_of_the_whole_table_stop_the_tally():
    with pytest.raises(RowsError) as caught:
        assessed(filled(2)).tally()
    assert caught.value.code == "cell-too-small"
    assert '"a" called "a"' in caught.value.found
    assert assessed(filled(2)).tally(smallest_cell=1)["tallies"]["confusion"]["cells"]


@given(ROWS)
def test_no_published_cell_is_small_and_levels_add_up(rows):
    a = assessed(rows)
    if any(count < 5 for count in a.confusion.cells().values()):
        with pytest.raises(RowsError, match="fewer than 5 rows"):
            a.tally(smallest_cell=5)
        return
    content = a.tally(smallest_cell=5)
    levels = Grouped.from_json(
        content["tallies"]["groups"], lambda level: Confusion.from_json(level["confusion"])
    ).factors["g"]
    assert all(count >= 5 for table in levels.values() for count in table.cells().values())
    assert sum(count for table in levels.values() for count in table.cells().values()) == len(rows)
    # Nobody can subtract: a level is published only as it is, or inside a sum of at least two.
    hidden = set(a.grouped.factors["g"]) - set(levels)
    assert len(hidden) != 1 or len(a.grouped.factors["g"]) == 1


def test_weights_say_nothing_of_rows_so_they_need_a_word():
    a = assay.assess(truth=[1, 0] * 20, predicted=[1, 0] * 20, weight=[0.5] * 40)
    with pytest.raises(PlanError, match="weighted tally"):
        a.tally()
    assert a.tally(smallest_cell=1)["tallies"]["confusion"]["weighted"]


@pytest.mark.parametrize("options", [{"smallest_cell": 0}, {"site": "  "}])
def test_nonsense_is_refused(options):
    with pytest.raises(PlanError):
        assessed(filled()).tally(**options)


def test_a_tally_that_was_changed_is_refused(tmp_path):
    path = assessed(filled()).tally(site="s").save(tmp_path / "s.tally.json")
    content = json.loads(path.read_text())
    content["tallies"]["confusion"]["cells"][0][2] += 1
    path.write_text(json.dumps(content))
    with pytest.raises(assay.RecordError, match="was changed"):
        assay.merge(path)


def test_a_tally_is_a_record_of_its_own_kind():
    content = assessed(filled()).tally()
    assert isinstance(content, Record)
    assert content["kind"] == "tally"
    assert "estimates" not in content
