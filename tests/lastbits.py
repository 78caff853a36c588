# SPDX-License-Identifier: Apache-2.0
"""Elementary functions of NumPy with their last bit moved, as those of another processor may be.

`pytest -p tests.lastbits` runs any tests so.
"""

from __future__ import annotations

import numpy as np

FUNCTIONS = ("exp", "expm1", "log", "log1p", "log2", "log10", "logaddexp", "power", "tanh")
LAST_BIT = np.finfo(np.float64).eps


def unsettled(function):
    """The function with its last bit moved up, down or not at all, by what it gives."""

    def moved(*given, out=None, **more):
        value = np.asarray(function(*given, **more))
        if value.dtype == np.float64:
            step = 1 + (value.view(np.int64) % 3 - 1) * LAST_BIT
            value = np.where(np.isfinite(value), value * step, value)
        if out is None:
            return value[()]
        held = out[0] if isinstance(out, tuple) else out
        held[...] = value
        return held

    return moved


def pytest_configure():
    """Move them for a whole run."""
    for name in FUNCTIONS:
        setattr(np, name, unsettled(getattr(np, name)))
