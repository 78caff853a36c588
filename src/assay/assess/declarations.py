# SPDX-License-Identifier: Apache-2.0
"""What reports need of declarations: the text of a measure, how a p value is written, the power of a test."""

from __future__ import annotations

from typing import cast

from assay.core.errors import PlanError
from assay.core.registry import Registry
from assay.core.task import find_task
from assay.inference.power import POWER
from assay.inference.tail_probabilities import shown as p_shown
from assay.measures import REGISTRY, parse
from assay.measures.declare import Measure

__all__ = ["POWER", "base_of", "declaration", "p_shown"]


def declaration(title: str, task: str = "") -> Measure | None:
    """The declaration of a measure by the name that a Record of a task gives it; None where this version knows none."""
    try:
        registry = find_task(task).registry if task else REGISTRY
        return parse(title, cast("Registry[Measure]", registry))
    except PlanError:
        return None


def base_of(measure: Measure) -> Measure | None:
    """The measure that another one averages over classes."""
    if measure.base and measure.average and measure.name == f"{measure.base}_{measure.average}":
        return REGISTRY.find(measure.base) if measure.base in REGISTRY else None
    return None
