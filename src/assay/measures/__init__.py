# SPDX-License-Identifier: Apache-2.0
"""How a measure is declared, and the registry of them; the formulas of a task stand in its own folder."""

from __future__ import annotations

from assay.measures.declare import REGISTRY, Measure, parse

__all__ = ["REGISTRY", "Measure", "parse"]
