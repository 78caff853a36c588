# SPDX-License-Identifier: Apache-2.0
"""A Record as a CycloneDX ML-BOM: a model component whose card lists every measure with its confidence interval."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.assess.record.record import Record
from assay.report.blocks.background import rows
from assay.report.render.html import version
from assay.report.report_document import Document

SPEC: Final = "1.6"
SCHEMA: Final = f"http://cyclonedx.org/schema/bom-{SPEC}.schema.json"
NAMES: Final = uuid.uuid5(uuid.NAMESPACE_OID, "assay.record")
UNNAMED: Final = "assessed model"


def render(record: Record) -> str:
    """The whole BOM as JSON."""
    plan, digests = record["plan"], record.get("digests", {})
    identity = f"{digests.get('tallies', '')}:{plan.get('digest', '')}"
    content: dict[str, Any] = {
        "$schema": SCHEMA,
        "bomFormat": "CycloneDX",
        "specVersion": SPEC,
        # The same Record is the same BOM, so the number is made from its digests.
        "serialNumber": f"urn:uuid:{uuid.uuid5(NAMES, identity)}",
        "version": 1,
        "metadata": _metadata(record),
        "components": [_model(record)],
    }
    return json.dumps(content, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def task_name(document: Document) -> str:
    """What was assessed, in words."""
    kind, name = document.lead.kind.partition(",")[0], document.task.name.replace("_", " ")
    return f"{kind} {name}" if kind else name


def _metadata(record: Record) -> dict[str, Any]:
    counted = record.get("environment", {}).get("counted_at")
    tool = {"type": "application", "name": "assay", "version": version()}
    return {**({"timestamp": str(counted)} if counted else {}), "tools": {"components": [tool]}}


def _model(record: Record) -> dict[str, Any]:
    plan = record["plan"]
    name = str(plan.get("model") or UNNAMED)
    declared = plan.get("declared", {}).get("models", {}).get(name, {})
    dataset = str(plan.get("data", {}).get("from") or "test data")
    document = Document(record)
    limits = [remark.sentence for remark in document.remarks()]
    data = {"type": "dataset", "name": dataset, "description": f"Test data, {rows(record)}"}
    card: dict[str, Any] = {
        "modelParameters": {
            "task": task_name(document),
            "datasets": [{**data, "contents": {"properties": list(_files(record))}}],
        },
        "quantitativeAnalysis": {"performanceMetrics": list(_metrics(record))},
        "properties": list(_properties(record)),
    }
    if limits:
        card["considerations"] = {"technicalLimitations": limits}
    component: dict[str, Any] = {"type": "machine-learning-model", "bom-ref": "model", "name": name, "modelCard": card}
    if declared.get("version"):
        component["version"] = str(declared["version"])
    return component


def _files(record: Record) -> Iterator[dict[str, str]]:
    yield {"name": "assay:rows", "value": str(record["samples"])}
    for name, digest in record.get("digests", {}).get("files", {}).items():
        yield {"name": f"assay:sha256:{name}", "value": str(digest)}


def _properties(record: Record) -> Iterator[dict[str, str]]:
    """What the format has no place for: the level of the intervals, their methods, and what proves the Record."""
    yield {"name": "assay:confidence-level", "value": repr(float(record["plan"]["level"]))}
    methods = sorted({str(one["interval"]) for one in record["estimates"] if one.get("interval")})
    yield from ({"name": "assay:interval-method", "value": one} for one in methods)
    if record.get("positive") is not None:
        yield {"name": "assay:positive-class", "value": str(record["positive"])}
    yield {"name": "assay:conformity", "value": str(record.get("conformity", {}).get("overall", ""))}
    yield {"name": "assay:tallies-sha256", "value": str(record.get("digests", {}).get("tallies", ""))}


def _metrics(record: Record) -> Iterator[dict[str, Any]]:
    for estimate in record["estimates"]:
        if estimate.get("class") is not None and estimate.get("slice"):
            continue  # a class within a group has its place in the Record
        if estimate.get("value") is None:
            continue  # an undefined measure has no value to give
        metric: dict[str, Any] = {"type": str(estimate["measure"]), "value": _number(estimate["value"])}
        if slice_ := _slice(estimate):
            metric["slice"] = slice_
        if estimate.get("low") is not None and estimate.get("high") is not None:
            ends = {"lowerBound": _number(estimate["low"]), "upperBound": _number(estimate["high"])}
            metric["confidenceInterval"] = ends
        yield metric


def _slice(estimate: Mapping[str, Any]) -> str:
    parts = [] if estimate.get("class") is None else [f"class={estimate['class']}"]
    return ",".join([*parts, *(f"{name}={level}" for name, level in (estimate.get("slice") or {}).items())])


def _number(value: object) -> str:
    return value if isinstance(value, str) else repr(value)
