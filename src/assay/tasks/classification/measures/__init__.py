# SPDX-License-Identifier: Apache-2.0
"""Formulas, each declared once; importing this package fills the registry, in the order of the catalogue."""

from __future__ import annotations

from importlib import import_module

for _module in (
    "rates", "ratios", "multiclass", "class_shares", "score_curves", "probabilities", "multiclass_scores",
    "expected_costs",
):  # fmt: skip
    import_module(f"{__name__}.{_module}")
