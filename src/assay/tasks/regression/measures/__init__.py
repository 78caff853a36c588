# SPDX-License-Identifier: Apache-2.0
"""The measures of regression; importing the modules declares them."""

from __future__ import annotations

from assay.tasks.regression.measures import agreement, errors, forecasts

__all__ = ["agreement", "errors", "forecasts"]
