# SPDX-License-Identifier: Apache-2.0
"""Measures of images."""

from __future__ import annotations

from assay.tasks.image_quality.measures import fidelity

__all__ = ["fidelity"]
