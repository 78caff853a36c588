# SPDX-License-Identifier: Apache-2.0
"""The measures of clustering: importing this package declares them."""

from __future__ import annotations

from assay.tasks.clustering.measures import information, pairs, shape

__all__ = ["information", "pairs", "shape"]
