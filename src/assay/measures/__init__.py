# SPDX-License-Identifier: Apache-2.0
"""Formulas, each declared once; importing this package fills the registry."""

from __future__ import annotations

from assay.measures import agreement, binary, distribution, multiclass
from assay.measures.declare import REGISTRY, Measure, parse

__all__ = ["REGISTRY", "Measure", "agreement", "binary", "distribution", "multiclass", "parse"]
