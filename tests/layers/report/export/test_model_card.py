# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import yaml

from assay.assess.record.record import Record
from assay.core.errors import PlanError
from assay.report.export import model_card as modelcard
from tests.layers.report import examples

CARD = """---
license: mit  # keep me
tags:
- tabular
pipeline_tag: tabular-classification
---

# My model

Text of *mine*, with a table

| a | b |
|---|---|
| 1 | 2 |
"""
FOREIGN = """---
license: mit
model-index:
- name: mine
  # a remark
  results:
  - task: {type: x}
    dataset: {type: other, name: other}
    metrics:
    - {type: accuracy, value: 0.5}
# about tags
tags: [a]
---
Hello
"""


def front(text):
    return yaml.safe_load(text.lstrip("\ufeff").replace("\r\n", "\n").split("---\n")[1])


@pytest.fixture(scope="module")
def record():
    return examples.pinned("binary")


def test_a_new_card_has_an_index_that_the_hub_can_read(record, tmp_path):
    from huggingface_hub import ModelCard

    path = tmp_path / "README.md"
    path.write_text(modelcard.into(record, ""), encoding="utf-8")
    data = ModelCard.load(path, ignore_metadata_errors=False).data
    found = {one.metric_type: one for one in data.eval_results}
    estimates = {one["measure"]: one for one in record["estimates"] if one["slice"] is None}
    assert set(found) >= {"accuracy", "precision", "recall", "f1"}
    for name, one in found.items():
        assert one.metric_value == estimates[name]["value"]
        assert (one.metric_args or {}).get("low") == pytest.approx(estimates[name].get("low"), rel=1e-12)


def test_what_was_there_stays_byte_for_byte(record):
    made = modelcard.into(record, CARD)
    head, body = CARD.split("---\n")[1:]
    assert made.startswith("---\n" + head)
    assert body in made
    assert made.count(modelcard.BEGIN) == made.count(modelcard.END) == 1
    assert front(made)["license"] == "mit"
    assert front(made)["model-index"][0]["results"][0]["task"]["type"] == "tabular-classification"


def test_writing_again_changes_nothing_and_another_record_replaces_the_first(record):
    once = modelcard.into(record, CARD)
    assert modelcard.into(record, once) == once
    other = modelcard.into(examples.pinned("multiclass"), once)
    assert modelcard.into(record, other) == once
    after = once + "\nMore of mine.\n"
    assert modelcard.into(record, after) == after


def test_an_index_of_somebody_else_is_kept_and_ours_joins_it(record):
    made = modelcard.into(record, FOREIGN)
    (model,) = front(made)["model-index"]
    assert model["name"] == "mine"
    assert [one["dataset"]["name"] for one in model["results"]] == ["other", "the given columns"]
    assert "# about tags\ntags: [a]\n" in made
    assert modelcard.into(record, made) == made


def test_a_model_that_the_plan_names_gets_its_own_entry(record):
    named = Record({**record, "plan": {**record["plan"], "model": "second"}})
    assert [one["name"] for one in front(modelcard.into(named, FOREIGN))["model-index"]] == ["mine", "second"]


def test_windows_line_ends_and_a_byte_order_mark_stay(record):
    made = modelcard.into(record, "\ufeff" + CARD.replace("\n", "\r\n"))
    assert made.startswith("\ufeff---\r\n")
    assert "\n" not in made.replace("\r\n", "")
    assert front(made)["tags"] == ["tabular"]


@pytest.mark.parametrize(
    "broken",
    [
        f"{modelcard.BEGIN}\n",
        f"{modelcard.END}\n{modelcard.BEGIN}\n",
        f"{modelcard.BEGIN}\n{modelcard.END}\n" * 2,
        "---\n# assay:begin\n---\n",
        "---\nmodel-index: {a: [}\n---\n",
        "---\nmodel-index: 7\n---\n",
        "a\r\nb\n",
    ],
)
def test_a_card_that_cannot_be_followed_is_refused(record, broken):
    with pytest.raises(PlanError) as error:
        modelcard.into(record, broken)
    assert error.value.code == "markers-broken"


def test_names_from_outside_break_neither_front_matter_nor_text():
    names = ["---", "a: b", "# c", "x\n---\ny", '"q" \\', "🦊\x85\u2028", "null", modelcard.END]
    record = examples.nasty().record
    for name in names:
        data = {**record["plan"]["data"], "from": name}
        made = modelcard.into(Record({**record, "plan": {**record["plan"], "data": data, "model": name}}), CARD)
        index = front(made)["model-index"][0]
        assert index["name"] == index["results"][0]["dataset"]["name"] == name
        assert modelcard.into(record, modelcard.into(record, made)) == modelcard.into(record, made)


def test_the_card_of_another_task_names_it():
    (result,) = front(modelcard.into(examples.errors().record, ""))["model-index"][0]["results"]
    assert result["task"] == {"type": "regression", "name": "regression"}
    assert "mean_absolute_error" in [metric["type"] for metric in result["metrics"]]


def test_undefined_and_infinite_values_are_in_the_text_and_not_in_the_index():
    made = modelcard.into(examples.infinite().record, "")
    metrics = front(made)["model-index"][0]["results"][0]["metrics"]
    assert all(isinstance(one["value"], float) for one in metrics)
    assert "infinite" in made


def test_a_readme_is_updated_in_place(tmp_path):
    path = tmp_path / "README.md"
    path.write_text(CARD, encoding="utf-8")
    examples.screening().report(path, kind="modelcard")
    first = path.read_text(encoding="utf-8")
    assert "Text of *mine*" in first
    assert "Assessment of 600 rows" in first
    assert [found.name for found in tmp_path.iterdir()] == ["README.md"]
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(PlanError, match="not UTF-8"):
        examples.screening().report(path, kind="modelcard")
    assert path.read_bytes() == b"\xff\xfe"
