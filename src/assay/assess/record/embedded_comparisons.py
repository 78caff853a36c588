# SPDX-License-Identifier: Apache-2.0
"""Comparisons that controls rest on, found elsewhere in the Record or computed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.assess.compare.comparison import ByChannel
from assay.assess.decide.plan_results import comparison_digest
from assay.assess.record.consistency_checks import BROKEN
from assay.core.errors import AssayError
from assay.core.text import visible


def referred(record: Mapping[str, Any]) -> Iterator[tuple[str, object, object]]:
    """Path, what a control says of a comparison, and what it should be, by the one in this Record or by its tallies."""
    plan = record.get("plan")
    own = plan.get("split") if isinstance(plan, Mapping) else None
    for path, split, facts in _told(record):
        if isinstance(facts.get("comparison"), str) and split == own:
            yield f"{path}.comparison", facts["comparison"], _known(record)
        channels = facts.get("by_channel")
        for channel, stored in channels.items() if isinstance(channels, Mapping) else ():
            if isinstance(stored, Mapping):
                yield f"{path}.by_channel.{visible(channel)}.findings", stored.get("findings"), _again(stored)


def _told(record: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Path, split and facts of everything a control tells of a split."""
    controls = record.get("controls")
    for i, one in enumerate(controls if isinstance(controls, list) else ()):
        facts = one.get("facts") if isinstance(one, Mapping) else None
        for split, told in facts.items() if isinstance(facts, Mapping) else ():
            if isinstance(told, Mapping):
                yield f"controls[{i}].facts.{visible(split)}", split, told


def _known(record: Mapping[str, Any]) -> str:
    try:
        parts = record["comparisons"][0]
        size = sum(one["findings"] for one in parts["answers"])
        return comparison_digest(parts, record["findings"][:size])
    except BROKEN as error:
        return f"no comparison that can be read: {_said(error)}"


def _again(stored: Mapping[str, Any]) -> object:
    try:
        return [one.to_json() for one in ByChannel.from_json(stored).answer.findings]
    except BROKEN as error:
        return f"cannot be computed again: {_said(error)}"


def _said(error: Exception) -> str:
    return visible(error.what if isinstance(error, AssayError) else f"{type(error).__name__}: {error}")
