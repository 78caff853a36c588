# SPDX-License-Identifier: Apache-2.0
"""The measures of efficiency; importing this package declares them."""

from __future__ import annotations

from assay.tasks.efficiency.measures import resources
from assay.tasks.efficiency.measures import response_times as latency

__all__ = ["latency", "resources"]
