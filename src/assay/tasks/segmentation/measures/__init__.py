# SPDX-License-Identifier: Apache-2.0
"""Measures of masks: pooled over all images, averaged over images (`mean_`), averaged over classes (`_macro`)."""

from __future__ import annotations

# isort: off  lists of measures keep this order
from assay.tasks.segmentation.measures import classes, lines, overlap, surfaces

# isort: on

__all__ = ["classes", "lines", "overlap", "surfaces"]
