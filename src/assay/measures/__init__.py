# SPDX-License-Identifier: Apache-2.0
"""Formulas, each declared once; importing this package fills the registry."""

from __future__ import annotations

from assay.measures import agreement, binary, counts, distribution, multiclass, ratios
from assay.measures.declare import REGISTRY, Measure, parse

__all__ = ["REGISTRY", "Measure", "agreement", "binary", "counts", "distribution", "multiclass", "parse", "ratios"]
