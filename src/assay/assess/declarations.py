# SPDX-License-Identifier: Apache-2.0
"""What reports need of tests: how a p value is written, and the power they are planned for."""

from __future__ import annotations

from assay.inference.power import POWER
from assay.inference.tail_probabilities import shown as p_shown

__all__ = ["POWER", "p_shown"]
