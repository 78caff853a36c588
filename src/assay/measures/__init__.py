# SPDX-License-Identifier: Apache-2.0
"""Formulas, each declared once; importing this package fills the registry, in the order of the catalogue."""

from __future__ import annotations

# isort: off
from assay.measures import counts
from assay.measures import binary
from assay.measures import ratios
from assay.measures import multiclass
from assay.measures import agreement
from assay.measures import distribution
from assay.measures import discrimination
from assay.measures import gains
from assay.measures import probabilities
from assay.measures import calibration
from assay.measures import manyclasses
from assay.measures import cost

# isort: on
from assay.measures.declare import REGISTRY, Measure, parse

__all__ = [
    "REGISTRY",
    "Measure",
    "agreement",
    "binary",
    "calibration",
    "cost",
    "counts",
    "discrimination",
    "distribution",
    "gains",
    "manyclasses",
    "multiclass",
    "parse",
    "probabilities",
    "ratios",
]
