# SPDX-License-Identifier: Apache-2.0
"""The measures of efficiency; importing this package declares them."""

from __future__ import annotations

from assay.tasks.efficiency.measures import latency, resources

__all__ = ["latency", "resources"]
