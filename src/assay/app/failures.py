# SPDX-License-Identifier: Apache-2.0
"""Failures of the machine rather than of what was asked: a full disk, too little memory, a fault of our own."""

from __future__ import annotations

import errno
import sys
from typing import Final

from assay.core.errors import AssayError, EngineError
from assay.core.text import visible

LEAST_SPACE: Final = 384 * 2**20
"""Bytes of address space; with fewer, loading the embedded engine ends the process."""


def demand_address_space() -> None:
    """Stop where the system grants so little that libraries die of it, before they are loaded."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    granted, _ = resource.getrlimit(resource.RLIMIT_AS)
    if 0 < granted < LEAST_SPACE and not {"-h", "--help", "--version"} & set(sys.argv):
        raise EngineError(
            "memory-short",
            "the system grants this process less memory than the libraries need",
            found=f"{granted // 2**20:,} MiB of address space (ulimit -v)",
            known=f"{LEAST_SPACE // 2**20:,} MiB at least",
            fix="raise the limit",
        )


def unforeseen(error: Exception) -> AssayError:
    """What to say of a full disk, of too little memory, and of a fault of our own."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        # What could not be written would fail once more when Python ends.
        sys.stdout = None
        return EngineError("disk-full", "the disk is full, and the output is cut", fix="write to another place")
    if isinstance(error, MemoryError) or "can't start new thread" in str(error):
        fix = "give it more memory, or state a smaller --memory, beyond which it spills to disk"
        return EngineError("memory-short", "there is less memory than the work needs", fix=fix)
    return AssayError(
        "internal",
        f"a fault of assay itself: {type(error).__name__}: {visible(error)}",
        fix="run again with ASSAY_DEBUG=1 to see where, and report it with that output",
    )
