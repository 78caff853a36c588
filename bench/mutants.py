# SPDX-License-Identifier: Apache-2.0
"""Change formulas and conditions at random and count the changes that no test notices.

python bench/mutants.py --count 200 --seed 1 --minutes 60

Each mutant is one changed operator or constant in `measures`, `inference`, `tally` or the measures of a task.
It is run against the tests nearest to it: its own examples, files that name its module or its function, the folders of
the modules that import it, then laws and references.
The work is done in a copy of the tracked files, never in the tree itself.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[1]
PLACES = ("measures", "inference", "tally", "tasks/*/measures", "tasks/classification")
LEFT_OUT = ("tasks/classification/blocks",)
"""Folders inside those places that lay out reports and hold no formulas."""
WIDE = (
    "tests/laws/test_formula_equals_function.py",
    "tests/laws/test_identities.py",
    "tests/laws/test_significance.py",
    "tests/reference/test_by_definition.py",
    "tests/reference/test_tests_against_r.py",
    "tests/layers/inference",
)
SWAPS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.And: ("and", "or"), ast.Or: ("or", "and"),
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change of one line: characters `start` to `end` become `new`."""

    path: Path
    line: int
    start: int
    end: int
    old: str
    new: str

    def apply(self, tree: Path) -> str:
        """Write the change into a copy of the tree and return the text that was there."""
        target = tree / self.path
        before = target.read_text()
        lines = before.splitlines(keepends=True)
        text = lines[self.line - 1]
        lines[self.line - 1] = text[: self.start] + self.new + text[self.end :]
        target.write_text("".join(lines))
        return before

    def __str__(self) -> str:
        return f"{self.path}:{self.line}  {self.old.strip()} -> {self.new.strip()}"


def pairs_of(node: ast.AST) -> list[tuple[ast.expr, ast.expr, type[ast.AST]]]:
    """List the neighbouring operands of a node with the operator between them."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return [(left, right, type(kind)) for left, right, kind in zip(sides, sides[1:], node.ops, strict=False)]
    if isinstance(node, ast.BoolOp):
        return [(left, right, type(node.op)) for left, right in zip(node.values, node.values[1:], strict=False)]
    return [(node.left, node.right, type(node.op))] if isinstance(node, ast.BinOp) else []


def operators(path: Path) -> list[Mutant]:
    """List every operator and number inside functions of a file that can be changed on one line."""
    source = path.read_text()
    lines = source.splitlines()
    name = path.relative_to(ROOT)
    tree = ast.parse(source)
    texts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    nodes = [node for function in functions for part in function.body for node in ast.walk(part)]
    mutants: list[Mutant] = []
    for node in (node for node in nodes if id(node) not in texts):  # places inside f-strings are unknown in Python 3.11
        for left, right, kind in pairs_of(node):
            start, line = left.end_col_offset or 0, right.lineno
            old, new = SWAPS.get(kind, ("", ""))
            at = lines[line - 1][start : right.col_offset].find(old) if left.end_lineno == line else -1
            if old and at >= 0:
                mutants.append(Mutant(name, line, start + at, start + at + len(old), old, new))
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            old = lines[node.lineno - 1][node.col_offset : node.end_col_offset]
            mutants.append(Mutant(name, node.lineno, node.col_offset, node.end_col_offset or 0, old, f"({old} + 1)"))
    return [mutant for mutant in dict.fromkeys(mutants) if lines[mutant.line - 1].isascii()]


@cache
def texts(folder: str) -> dict[Path, str]:
    """Return the Python files below a folder, without the tests that need a cluster or a browser, and their texts."""
    files = sorted((ROOT / folder).rglob("*.py"))
    own = [file.relative_to(ROOT) for file in files if not {"spark", "browser"} & set(file.parts)]
    return {file: (ROOT / file).read_text() for file in own}


def names_around(path: Path, line: int) -> list[str]:
    """List the functions and classes that a line is in, if tests can call them and their names are no common words."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    scopes = [node for node in ast.walk(ast.parse((ROOT / path).read_text())) if isinstance(node, kinds)]
    names = [node.name for node in scopes if node.lineno <= line <= (node.end_lineno or 0)]
    return [name for name in names if not name.startswith("_") and (name.count("_") or not name.islower())]


def imports(text: str, path: Path) -> bool:
    """Whether a file imports a module, alone or beside others of its package, or writes its name."""
    module = ".".join(path.with_suffix("").parts[1:]).removesuffix(".__init__")
    package, _, stem = module.rpartition(".")
    beside = re.findall(rf"from {re.escape(package)} import (?:\(([^)]*)\)|(.*))", text)
    return bool(re.search(rf"\b{re.escape(module)}\b", text)) or any(
        re.search(rf"\b{stem}\b", names) for pair in beside for names in pair
    )


def nearest_tests(mutant: Mutant) -> list[list[str]]:
    """Return groups of test files, nearest first: the next group is run if the one before noticed nothing."""
    path = mutant.path
    stem = path.stem if path.stem != "__init__" else path.parent.name
    around = [re.compile(rf"\b{re.escape(name)}\b") for name in names_around(path, mutant.line)]
    users = [file for file, text in texts("src").items() if imports(text, path)]
    homes = {Path("tests", "layers", *file.parts[2:-1]) for file in (path, *users) if len(file.parts) > 3}
    task = Path("tests", *path.parts[2:4]) if path.parts[2] == "tasks" else None
    words, after = set(stem.split("_")), {f"test_{file.stem}" for file in users}
    groups: dict[str, list[Path]] = {name: [] for name in ("named", "calling", "akin", "of the task", "wide")}
    tests = {test: text for test, text in texts("tests").items() if test.name.startswith("test_")}
    for test, text in tests.items():
        if test.stem == f"test_{stem}" or imports(text, path):
            groups["named"].append(test)
        elif any(name.search(text) for name in around):
            groups["calling"].append(test)
        elif test.parent == Path("tests", "layers", *path.parts[2:-1]) or (
            test.parent in homes and (test.stem in after or words & set(test.stem.split("_")))
        ):
            groups["akin"].append(test)
        elif task in test.parents:
            groups["of the task"].append(test)
    near = {test for tests in groups.values() for test in tests}
    if path.parts[2] != "tasks" or path.parts[3] == "classification":
        groups["wide"] = [
            test for name in WIDE for test in tests if Path(name) in (test, *test.parents) and test not in near
        ]
    examples = [path] if ">>>" in texts("src")[path] else []
    return [[str(test) for test in tests] for tests in (examples, *groups.values()) if tests]


def survives(mutant: Mutant, tree: Path, seconds: float) -> bool | None:
    """Run the nearest tests on a mutant, nearest first: True if all pass, None if they took too long."""
    before = mutant.apply(tree)
    cache = {"PYTHONPYCACHEPREFIX": str(tree.parent / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "CI": "true", **cache}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
    try:
        for tests in nearest_tests(mutant):
            done = subprocess.run(
                [*command, *tests], cwd=tree, env=environment, capture_output=True, timeout=seconds, check=False
            )
            if done.returncode:
                return False
    except subprocess.TimeoutExpired:
        return None
    finally:
        (tree / mutant.path).write_text(before)
    return True


def main() -> None:
    """Draw mutants, run them until the time is over, and print the survivors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--limit", type=float, default=240, help="seconds a mutant may take")
    asked = parser.parse_args()
    files = sorted(
        {file for place in PLACES for folder in (ROOT / "src/assay").glob(place) for file in folder.rglob("*.py")}
    )
    kept = [file for file in files if not any(f"/{place}/" in file.as_posix() for place in LEFT_OUT)]
    possible = [mutant for file in kept for mutant in operators(file)]
    drawn = random.Random(asked.seed).sample(possible, asked.count)
    print(
        f"{len(possible)} possible mutants in {len(kept)} files, {asked.count} drawn with seed {asked.seed}",
        flush=True,
    )
    counts = {"killed": 0, "survived": 0, "timed out": 0}
    end = time.monotonic() + 60 * asked.minutes
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(asked.processes) as pool:
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout  # noqa: S607
        trees: SimpleQueue[Path] = SimpleQueue()
        for place in range(asked.processes):
            tree = Path(folder) / str(place) / "tree"
            for name in filter(None, tracked.split("\0")):
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, tree / name)
            trees.put(tree)

        def try_one(mutant: Mutant) -> None:
            if time.monotonic() > end:
                return
            tree = trees.get()
            outcome = survives(mutant, tree, asked.limit)
            trees.put(tree)
            word = {True: "survived", False: "killed", None: "timed out"}[outcome]
            counts[word] += 1
            print(f"{word:10}{mutant}", flush=True)

        list(pool.map(try_one, drawn))
    print(counts)


if __name__ == "__main__":
    main()
