# SPDX-License-Identifier: Apache-2.0
"""The measures of regression; importing the modules declares them."""

from __future__ import annotations

from assay.tasks.regression.measures import agreement, error_sizes, forecasts

__all__ = ["agreement", "error_sizes", "forecasts"]
