# SPDX-License-Identifier: Apache-2.0
"""A Record as a CycloneDX ML-BOM: a model component whose card lists every measure with its confidence interval."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.assess.environment import own_version
from assay.assess.record.record import Record
from assay.report.blocks.background import rows
from assay.report.report_document import Document

SPEC: Final = "1.6"
SCHEMA: Final = f"http://cyclonedx.org/schema/bom-{SPEC}.schema.json"
NAMES: Final = uuid.uuid5(uuid.NAMESPACE_OID, "assay.record")
UNNAMED: Final = "assessed model"


def render(record: Record) -> str:
    """The whole BOM as JSON."""
    digests, counted = record.get("digests", {}), record.get("environment", {}).get("counted_at")
    identity = f"{digests.get('tallies', '')}:{record['plan'].get('digest', '')}"
    tool = {"type": "application", "name": "assay", "version": own_version()}
    content: dict[str, Any] = {
        "$schema": SCHEMA,
        "bomFormat": "CycloneDX",
        "specVersion": SPEC,
        # The same Record is the same BOM, so the number is made from its digests.
        "serialNumber": f"urn:uuid:{uuid.uuid5(NAMES, identity)}",
        "version": 1,
        "metadata": {**({"timestamp": str(counted)} if counted else {}), "tools": {"components": [tool]}},
        "components": [_model(record)],
    }
    return json.dumps(content, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def task_name(document: Document) -> str:
    """What was assessed, in words."""
    kind, name = document.lead.kind.partition(",")[0], document.task.name.replace("_", " ")
    return f"{kind} {name}" if kind else name


def _model(record: Record) -> dict[str, Any]:
    plan, document = record["plan"], Document(record)
    name = str(plan.get("model") or UNNAMED)
    declared = plan.get("declared", {}).get("models", {}).get(name, {})
    dataset = str(plan.get("data", {}).get("from") or "test data")
    limits = [remark.sentence for remark in document.remarks()]
    data = {"type": "dataset", "name": dataset, "description": f"Test data, {rows(record)}"}
    files = {f"sha256:{file}": digest for file, digest in record.get("digests", {}).get("files", {}).items()}
    contents = {"properties": _properties({"rows": record["samples"], **files})}
    card: dict[str, Any] = {
        "modelParameters": {"task": task_name(document), "datasets": [{**data, "contents": contents}]},
        "quantitativeAnalysis": {"performanceMetrics": list(_metrics(record))},
        "properties": _properties(_facts(record)),
        **({"considerations": {"technicalLimitations": limits}} if limits else {}),
    }
    version_stated = {"version": str(declared["version"])} if declared.get("version") else {}
    return {"type": "machine-learning-model", "bom-ref": "model", "name": name, "modelCard": card, **version_stated}


def _properties(facts: Mapping[str, object]) -> list[dict[str, str]]:
    """What the format has no place for; a list is a property each."""
    pairs = ((name, part) for name, value in facts.items() for part in (value if isinstance(value, list) else [value]))
    return [{"name": f"assay:{name}", "value": str(part)} for name, part in pairs]


def _facts(record: Record) -> dict[str, object]:
    """The level of the intervals, their methods, and what proves the Record."""
    positive = record.get("positive")
    return {
        "confidence-level": float(record["plan"]["level"]),
        "interval-method": sorted({str(e["interval"]) for e in record["estimates"] if e.get("interval")}),
        "positive-class": [] if positive is None else [positive],
        "conformity": record.get("conformity", {}).get("overall", ""),
        "tallies-sha256": record.get("digests", {}).get("tallies", ""),
    }


def _metrics(record: Record) -> Iterator[dict[str, Any]]:
    for estimate in record["estimates"]:
        label, levels = estimate.get("class"), estimate.get("slice") or {}
        # A class within a group has its place in the Record, and an undefined measure has no value to give.
        if (label is not None and levels) or estimate.get("value") is None:
            continue
        numbers = [estimate.get(name) for name in ("value", "low", "high")]
        value, low, high = (number if isinstance(number, str) else repr(number) for number in numbers)
        metric: dict[str, Any] = {"type": str(estimate["measure"]), "value": value}
        if parts := {**({} if label is None else {"class": label}), **levels}:
            metric["slice"] = ",".join(f"{name}={level}" for name, level in parts.items())
        if None not in numbers:
            metric["confidenceInterval"] = {"lowerBound": low, "upperBound": high}
        yield metric
