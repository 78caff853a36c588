# SPDX-License-Identifier: Apache-2.0
"""Fairness: gaps and ratios over the groups of any task, with intervals, tests and verdicts."""

from __future__ import annotations

from assay.fairness.crossed_groups import add_crossed, cross_inputs, cross_source, with_crossed
from assay.fairness.disparity import Disparity
from assay.fairness.fairness_by_factor import FactorFairness, Fairness, assess_fairness
from assay.fairness.fairness_criteria import CRITERIA, Criterion
from assay.fairness.fairness_sections import fairness_blocks
from assay.fairness.gaps import REST
from assay.fairness.settings import FairnessSettings, cross_names, join_levels, split_criterion, split_crossed

__all__ = [
    "CRITERIA",
    "REST",
    "Criterion",
    "Disparity",
    "FactorFairness",
    "Fairness",
    "FairnessSettings",
    "add_crossed",
    "assess_fairness",
    "cross_inputs",
    "cross_names",
    "cross_source",
    "fairness_blocks",
    "join_levels",
    "split_criterion",
    "split_crossed",
    "with_crossed",
]
