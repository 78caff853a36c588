# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from assay.assess.record.record import Record
from assay.assess.record.report_formats import RENDERERS
from tests.layers.report import examples

MADE = [examples.screening, examples.nasty, examples.infinite, examples.weighted, examples.lonely, examples.errors]


@pytest.mark.parametrize("made", MADE)
def test_the_bom_keeps_the_published_schema(made):
    text = RENDERERS[".cdx.json"](made().record)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None


def test_the_validator_does_refuse_a_bom_that_breaks_the_schema():
    content = json.loads(RENDERERS["cyclonedx"](examples.infinite().record))
    content["components"][0]["modelCard"]["quantitativeAnalysis"]["performanceMetrics"][0]["value"] = 0.5
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(content)) is not None


def test_every_defined_measure_is_there_with_its_interval_and_slice():
    record = examples.screening().record
    content = json.loads(RENDERERS["cyclonedx"](record))
    card = content["components"][0]["modelCard"]
    found = {(one["type"], one.get("slice")): one for one in card["quantitativeAnalysis"]["performanceMetrics"]}
    for one in record["estimates"]:
        if one["value"] is None:
            continue
        slice_ = None if one["slice"] is None else ",".join(f"{k}={v}" for k, v in one["slice"].items())
        metric = found[one["measure"], slice_]
        assert float(metric["value"]) == float(one["value"])
        if one["low"] is not None:
            assert float(metric["confidenceInterval"]["lowerBound"]) == float(one["low"])
            assert float(metric["confidenceInterval"]["upperBound"]) == float(one["high"])
    properties = {one["name"]: one["value"] for one in card["properties"]}
    assert properties["assay:confidence-level"] == "0.95"
    assert properties["assay:positive-class"] == "ill"


def test_the_same_record_is_the_same_bom_and_another_one_has_another_number():
    texts = [
        RENDERERS["cyclonedx"](made().record) for made in (examples.screening, examples.screening, examples.lonely)
    ]
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["serialNumber"] != json.loads(texts[2])["serialNumber"]


def test_the_model_is_called_as_the_plan_calls_it():
    record = examples.pinned("binary")
    plan = {**record["plan"], "model": "second reader", "declared": {"models": {"second reader": {"version": "2.1"}}}}
    component = json.loads(RENDERERS["cyclonedx"](Record({**record, "plan": plan})))["components"][0]
    assert (component["name"], component["version"]) == ("second reader", "2.1")
