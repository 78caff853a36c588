# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import math

import jsonschema
import numpy as np
import polars as pl
import pytest

import assay
from assay.assess.record.record import schema
from tests import flat

BINARY = {"truth": ["n", "p", "p", "n", "p"], "predicted": ["n", "p", "n", "n", "p"], "positive": "p"}
THREE = {"truth": list("aabbcc") * 4, "predicted": list("aabcca") * 4}


def test_a_measure_is_found_by_name_symbol_and_alias():
    found = flat.assess(**BINARY)
    assert found["recall"] == found["TPR"] == found["sensitivity"]
    assert found["f_beta(beta=2)"].value == found["f2"].value


def test_any_measure_that_fits_can_be_asked_for_although_it_is_not_listed():
    found = flat.assess(**BINARY)
    assert "f1_macro" not in list(found)
    assert found["f1_macro"].value == pytest.approx((0.8 + 0.8) / 2)


def test_a_class_measure_of_many_classes_asks_which_class():
    with pytest.raises(assay.PlanError) as caught:
        flat.assess(**THREE)["recall"]
    assert caught.value.code == "measure-unfit"
    assert 'by_class["a"]' in caught.value.fix


def test_an_unknown_class_or_level_is_answered_with_the_nearest():
    found = flat.assess(**THREE, group={"half": ["left", "right"] * 12})
    with pytest.raises(assay.PlanError, match="no class"):
        found.by_class["d"]
    with pytest.raises(assay.PlanError) as caught:
        found.by_group["half"]["lft"]
    assert "left" in caught.value.fix


def test_levels_of_a_group_add_up_to_the_whole_and_missing_ones_are_shown():
    found = flat.assess(**BINARY, group={"sex": ["f", "m", None, "f", "m"]})
    levels = found.by_group["sex"]
    assert list(levels) == ["f", "m", "(missing)"]
    assert sum(view.confusion.rows for view in levels.values()) == found.census.scored
    total = levels["f"].confusion + levels["m"].confusion + levels["(missing)"].confusion
    assert total == found.confusion
    assert "only 2 rows" in levels["f"]["accuracy"].notes


def test_a_record_keeps_the_schema_and_loads_back_to_the_same_text(tmp_path):
    for given in (
        BINARY,
        THREE,
        {**BINARY, "group": {"g": [1, 2, 2, 1, None]}},
        {**BINARY, "weight": [0.1, 2, 3, 4, 5]},
        {"truth": [1, 1, 0], "predicted": [1, 1, 0]},
        {"confusion": [[5, 0], [2, 7]], "orientation": "rows=predicted"},
        {**THREE, "measures": ["accuracy", "f_beta_macro(beta=0.5)", "rates"]},
    ):
        found = flat.assess(**given)
        path = found.save(tmp_path / "record.json")
        content = json.loads(path.read_text(encoding="utf-8"))
        jsonschema.validate(content, schema())
        assert assay.load(path).record.to_text() == found.record.to_text()
    assert list(tmp_path.iterdir()) == [path]


def test_an_infinite_value_is_text_in_json_and_a_number_in_python():
    found = assay.assess(truth=[1, 1, 0, 0], predicted=[1, 0, 0, 0])
    assert found["likelihood_ratio_positive"].value == math.inf
    estimate = next(e for e in found.record["estimates"] if e["measure"] == "likelihood_ratio_positive")
    assert estimate["value"] == "inf"


def test_a_touched_tally_is_noticed_when_a_record_is_loaded(tmp_path):
    path = flat.assess(**BINARY).save(tmp_path / "record.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    content["tallies"]["confusion"]["cells"][0][2] += 1
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(assay.RecordError) as caught:
        assay.load(path)
    assert caught.value.code == "digest-mismatch"


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{", '{"assay":"1"}', '{"assay":"2","tallies":{}}', '{"a":1,"a":2}', '{"a":NaN}', '{"a":1e400}',
        "[" * 100_000 + "]" * 100_000, '{"assay":"1","tallies":{},"digests":{"tallies":"x"}}', "[" * 40 + "]" * 40,
    ],
)  # fmt: skip
def test_a_file_that_is_no_record_is_refused(text, tmp_path):
    path = tmp_path / "record.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(assay.AssayError):
        assay.load(path)


def test_a_record_of_the_same_data_and_seed_is_the_same_to_the_byte():
    def stripped(found):
        digests = {key: value for key, value in found.record["digests"].items() if key != "record"}
        return {**found.record, "environment": None, "digests": digests}

    assert stripped(flat.assess(**THREE)) == stripped(flat.assess(**THREE))
    shuffled = np.random.default_rng(0).permutation(24)
    other = {role: np.array(column)[shuffled] for role, column in THREE.items()}
    assert stripped(flat.assess(**other)) == stripped(flat.assess(**THREE))


def test_booleans_beside_zero_and_one_are_read_as_these_and_said_so():
    found = assay.assess(truth=[1, 0, 1], predicted=np.array([True, False, False]), group={"g": ["a", "a", "b"]})
    assert found["accuracy"].value == pytest.approx(2 / 3)
    assert any("boolean" in note for note in found.notes)
    assert found.by_group["g"]["b"]["recall"].value == 0


def test_undefined_classes_in_averages_follow_the_stated_policy():
    rows = {"truth": list("aab"), "predicted": list("aab"), "labels": list("abc")}
    assert flat.assess(**rows)["recall_macro"].value is None
    assert flat.assess(**rows, undefined="skip")["recall_macro"].value == 1
    assert flat.assess(**rows, undefined="zero")["recall_macro"].value == pytest.approx(2 / 3)
    assert flat.assess(**rows, undefined="one")["recall_macro"].value == 1


@pytest.mark.parametrize(
    "option", [{"missing": "dropp"}, {"unknown": "x"}, {"undefined": "skp"}, {"shares": "wald"}, {"cells": "x"}]
)
def test_an_option_that_does_not_exist_is_refused_with_the_known_ones(option):
    with pytest.raises(assay.PlanError) as caught:
        flat.assess(**BINARY, **option)
    assert caught.value.code == "option-unknown"
    assert caught.value.known


def test_data_and_columns_are_not_mixed():
    with pytest.raises(assay.PlanError) as caught:
        assay.assess(data=pl.DataFrame(BINARY), truth=[1], predicted="predicted")
    assert caught.value.code == "role-clash"
    with pytest.raises(assay.PlanError) as caught:
        assay.assess(truth="truth", predicted="predicted")
    assert caught.value.code == "role-missing"
    with pytest.raises(assay.PlanError) as caught:
        assay.assess(truth=[1])
    assert caught.value.code == "role-missing"


def test_more_classes_than_a_record_lists_are_still_there_on_request():
    labels = np.arange(300)
    found = assay.assess(truth=np.repeat(labels, 3), predicted=np.repeat(labels, 3), measures=["accuracy", "recall"])
    assert {e["class"] for e in found.record["estimates"]} == {None}
    assert found.by_class[299]["recall"].value == 1


def test_the_matrix_of_the_standard_is_read_in_its_own_orientation():
    matrix = [[400, 150, 14], [23, 3800, 144], [13, 355, 65]]
    found = assay.from_confusion_matrix(confusion=matrix, orientation="rows=predicted", labels=["A", "B", "C"])
    assert found.by_class["A"]["recall"].value == pytest.approx(400 / 436)
    turned = assay.from_confusion_matrix(
        confusion=np.transpose(matrix), orientation="rows=truth", labels=["A", "B", "C"]
    )
    assert turned.confusion == found.confusion
