# SPDX-License-Identifier: Apache-2.0
"""The measures of retrieval: importing this package declares them."""

from __future__ import annotations

from assay.tasks.retrieval.measures import gains, lists, recommendation, ties

__all__ = ["gains", "lists", "recommendation", "ties"]
