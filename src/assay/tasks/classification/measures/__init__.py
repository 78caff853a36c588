# SPDX-License-Identifier: Apache-2.0
"""Formulas, each declared once; importing this package fills the registry, in the order of the catalogue."""

from __future__ import annotations

# isort: off
from assay.tasks.classification.measures import counts
from assay.tasks.classification.measures import rates
from assay.tasks.classification.measures import ratios
from assay.tasks.classification.measures import multiclass
from assay.tasks.classification.measures import agreement
from assay.tasks.classification.measures import class_shares
from assay.tasks.classification.measures import roc
from assay.tasks.classification.measures import precision_recall_and_lift
from assay.tasks.classification.measures import proper_scores
from assay.tasks.classification.measures import calibration_errors
from assay.tasks.classification.measures import multiclass_scores
from assay.tasks.classification.measures import expected_costs

# isort: on
__all__ = [
    "agreement",
    "calibration_errors",
    "class_shares",
    "counts",
    "expected_costs",
    "multiclass",
    "multiclass_scores",
    "precision_recall_and_lift",
    "proper_scores",
    "rates",
    "ratios",
    "roc",
]
