# SPDX-License-Identifier: Apache-2.0
"""What is known of errors by their code: exit codes, and the classes they are raised as, read from the source."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

from assay.core import errors
from assay.core.errors import AssayError

EXITS: Final = {
    0: "done, and what was decided passes",
    1: "a decision, gate or verification failed",
    2: "wrong usage: an option, a name or a path",
    3: "inconclusive: the data do not decide",
    4: "the data are unfit; nothing was written",
    5: "a fault of assay, of the machine, or of the engine that holds the data",
    130: "stopped by the user",
    141: "the reader of standard output went away",
}
"""What a command hands back to the shell."""


def find_raisers(code: str) -> list[type[AssayError]]:
    """The classes that an error is raised as, read from the source of this installation.

    A code that arrives in a variable was handed to a function of the same module, or chosen there by a test.
    """
    kinds = {name: kind for name, kind in vars(errors).items() if _is_error(kind)}
    call = rf"\b({'|'.join(kinds)})\(\s*"
    names: set[str] = set()
    for text in _sources():
        if re.search(rf'"{code}"(?!:)', text):
            names |= set(re.findall(rf'{call}"{code}"', text) or re.findall(rf"{call}[a-z]\w*,", text))
    return [kinds[name] for name in sorted(names)]


@cache
def _sources() -> tuple[str, ...]:
    root = Path(errors.__file__).parents[1]
    return tuple(path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py")))


def _is_error(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, AssayError)
