# SPDX-License-Identifier: Apache-2.0
"""How much of this machine the embedded engine may use: memory, threads, and a folder to spill to."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from assay.core.errors import PlanError
from assay.core.text import quoted, visible

EXACT: Final = 4_000_000
"""Distinct scores up to which an engine hands them over one by one: about 100 MB."""

LEAST = 64 * 2**20
"""Bytes below which the engine cannot hold the buffers of one scan."""

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([kmgt]i?)?b", re.IGNORECASE)
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the embedded engine may use; what is left out it chooses itself.

    memory: the most memory, with a unit: "800MB", "1GB"
    threads: the most threads
    temp: the folder for temporary files

    >>> Limits(memory="1GB", threads=2).to_json()
    {'memory': '1GB', 'threads': 2}
    """

    memory: str | None = None
    threads: int | None = None
    temp: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        """Refuse a limit that the engine could not keep."""
        if self.memory is not None and bytes_of(self.memory) < LEAST:
            raise unfit_option("memory", self.memory, "64MiB or more", "allow more memory")
        if self.threads is not None and (isinstance(self.threads, bool) or self.threads < 1):
            raise unfit_option("threads", self.threads, "a whole number of 1 or more", "state threads anew")
        if self.temp is not None:
            folder = os.fspath(self.temp)
            if not Path(folder).is_dir() or not os.access(folder, os.W_OK | os.X_OK):
                raise PlanError(
                    "no-file",
                    "the folder for temporary files is not there or cannot be written",
                    where=visible(folder),
                    fix="make the folder, or name another one",
                )

    def to_json(self) -> dict[str, object]:
        """As in a Record; the folder is left out, for it is a matter of the machine and leaves nothing behind."""
        return {name: value for name in ("memory", "threads") if (value := getattr(self, name)) is not None}

    @property
    def bytes(self) -> int | None:
        """The memory in bytes."""
        return None if self.memory is None else bytes_of(self.memory)


def bytes_of(size: str) -> int:
    """A size as people write it, in bytes.

    >>> bytes_of("1GB"), bytes_of("512 MiB")
    (1000000000, 536870912)
    """
    match = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if match is None:
        raise unfit_option(
            "memory", size, "a number with a unit: 800MB, 1GB, 512MiB, 1.5GiB", 'state it so: memory="1GB"'
        )
    return int(float(match[1]) * _UNITS[(match[2] or "").lower()])


def unfit_option(name: str, value: object, known: str, fix: str) -> PlanError:
    """The error for an option that cannot have a value."""
    return PlanError("option-unknown", f"{name} cannot be {quoted(value)}", found=quoted(value), known=known, fix=fix)
