# SPDX-License-Identifier: Apache-2.0
"""The values of several models, row by row."""

from __future__ import annotations

from assay.tally.real_values import Blocks


def blocks_of(rows):
    """Blocks from rows with one value a model; the models are A, B, C, ..."""
    return Blocks.of({chr(ord("A") + i): list(column) for i, column in enumerate(zip(*rows, strict=True))})
