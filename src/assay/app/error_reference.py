# SPDX-License-Identifier: Apache-2.0
"""What is known of errors by their code: exit codes, and the classes they are raised as, read from the source."""

from __future__ import annotations

import ast
from collections.abc import Iterable
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
    """The classes that an error is raised as, read from the source of this installation."""
    kinds = {name: kind for name, kind in vars(errors).items() if _is_error(kind)}
    names = {
        name
        for path, text in _sources().items()
        if f'"{code}"' in text
        for name in _raised(path, frozenset(kinds)).get(code, ())
    }
    return [kinds[name] for name in sorted(names)]


@cache
def _sources() -> dict[Path, str]:
    root = Path(errors.__file__).parents[1]
    return {path: path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}


@cache
def _raised(path: Path, kinds: frozenset[str]) -> dict[str, set[str]]:
    """Code -> the classes it is raised with in a module."""
    classes_by_code: dict[str, set[str]] = {}
    nodes = list(ast.walk(ast.parse(_sources()[path])))
    calls = [node for node in nodes if isinstance(node, ast.Call) and node.args]
    raising = [call for call in calls if ast.unparse(call.func) in kinds]
    # A code that arrives in a variable was handed to a function of the same module, or chosen there by a test.
    handed = [arg for call in calls if call not in raising for arg in call.args]
    loose = _codes([*handed, *(node for node in nodes if isinstance(node, ast.IfExp))])
    for call in raising:
        for code in _codes([call.args[0]]) or loose:
            classes_by_code.setdefault(code, set()).add(ast.unparse(call.func))
    return classes_by_code


def _codes(nodes: Iterable[ast.AST]) -> set[str]:
    inside = (leaf for node in nodes for leaf in (ast.walk(node) if isinstance(node, ast.IfExp) else [node]))
    return {str(leaf.value) for leaf in inside if isinstance(leaf, ast.Constant) and leaf.value in errors.CODES}


def _is_error(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, AssayError)
