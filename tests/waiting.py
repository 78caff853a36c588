# SPDX-License-Identifier: Apache-2.0
"""Waiting for an event. The limit only ends a test that hangs; no test measures time by the clock."""

from __future__ import annotations

import time

LIMIT = 300
"""Seconds: far more than any event takes on a busy machine."""


def wait_until(happened, describe=lambda: "it did not happen"):
    """Wait until `happened()` is true, and return what it gave; `describe()` explains a failure."""
    end = time.monotonic() + LIMIT
    while not (result := happened()):
        if time.monotonic() > end:
            raise TimeoutError(describe())
        time.sleep(0.02)
    return result
