# SPDX-License-Identifier: Apache-2.0
"""Sums over the units of rows that are held."""

from __future__ import annotations

import numpy as np

from assay.tally.labels.label_cells import Codes
from assay.tally.paired.unit_counts import summed


def sums_of(t, *, limit=0):
    """The sums that stand in place of rows."""
    columns = [Codes(codes=column.astype(np.int32), names=t.labels) for column in (t.truth, *t.calls)]
    return summed(columns, t.subject, t.weight, limit=limit).of(t.models, t.labels)
