# SPDX-License-Identifier: Apache-2.0
"""Change formulas and conditions at random and count the changes that no test notices.

python bench/mutants.py --count 200 --seed 1 --minutes 60

Each mutant is one changed operator or constant in a function of `measures`, `inference`, `tally` or the measures of a
task.
It is run against the tests that execute its line, which a trace of each file of tests finds once; the map is kept beside
the tree and drawn again for files of tests that changed.
All tests are collected once; each mutant is a fork of that process in which the code of one function is exchanged, so
nothing is written into the tree.
A mutant that these tests do not notice is written into a copy of the tree and tried again in a new process, because what
is computed while modules are imported is not computed again in a fork.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import gc
import hashlib
import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PLACES = ("measures", "inference", "tally", "tasks/*/measures")
TESTS = (
    *(f"tests/layers/{name}" for name in ("inference", "measures", "tally", "tasks", "assess/compare")),
    *(f"tests/{name}" for name in ("laws", "reference", "tasks")),
    *(f"tests/engines/test_{name}.py" for name in ("matched_models", "same_joint_scores")),
)
"""Folders of tests that call those places. Where a line is executed by too many of them, quick ones are run first."""
NOTE = "note_line"
"""The function that notes a line, among those that every module can call."""
PLAIN = ("-p", "no:randomly", "-p", "no:cacheprovider")
SLOW = 4.0
"""Seconds after which a test is no longer traced: it is not run on mutants, except in the last, fresh process."""
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

    @property
    def source(self) -> str:
        """The text of the file with the change in it."""
        lines = (ROOT / self.path).read_text().splitlines(keepends=True)
        text = lines[self.line - 1]
        lines[self.line - 1] = text[: self.start] + self.new + text[self.end :]
        return "".join(lines)

    @property
    def statement(self) -> range:
        """The lines of the innermost statement, or of the head of one that has a body."""
        spans = []
        for node in ast.walk(ast.parse((ROOT / self.path).read_text())):
            if isinstance(node, ast.stmt):
                body = getattr(node, "body", None)
                last = body[0].lineno - 1 if body else node.end_lineno
                spans.append(range(node.lineno, max(node.lineno, last or 0) + 1))
        return min((span for span in spans if self.line in span), key=len)

    def __str__(self) -> str:
        line = (ROOT / self.path).read_text().splitlines()[self.line - 1]
        return f"{self.path}:{self.line}:{self.start}  {self.old.strip()} -> {self.new.strip()}  | {line.strip()}"


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


def places() -> list[Path]:
    """List the files that mutants are drawn from."""
    folders = [folder for place in PLACES for folder in (ROOT / "src/assay").glob(place)]
    return sorted({file for folder in folders for file in folder.rglob("*.py")})


def digest(content: bytes) -> str:
    """A short name of some content."""
    return hashlib.sha256(content).hexdigest()[:16]


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Walk through the code of a module, of its functions and of functions inside them."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


class Noting(ast.NodeTransformer):
    """Puts before each statement of a function a call that notes its line; the rest of the program runs as fast as ever."""

    def __init__(self, name: str, lines: list[tuple[str, int]]) -> None:
        self.name, self.lines = name, lines

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Note the statements of a body, except of a class or module, which is executed when it is imported."""
        super().generic_visit(node)
        for part in () if isinstance(node, (ast.Module, ast.ClassDef)) else ("body", "orelse", "finalbody"):
            body = getattr(node, part, None)
            if isinstance(body, list):
                setattr(node, part, [one for statement in body for one in (self.note(statement), statement)])
        return node

    def note(self, statement: ast.stmt) -> ast.stmt:
        """A call with the number of a line."""
        self.lines.append((self.name, statement.lineno))
        call = ast.parse(f"{NOTE}({len(self.lines) - 1})").body[0]
        for node in ast.walk(call):
            ast.copy_location(node, statement)
        return call


class TooSlowError(BaseException):
    """A test takes longer than is worth while."""


@dataclass(eq=False)
class Session:
    """A plugin of pytest that, in place of running the tests it collected, traces them once and runs mutants."""

    asked: argparse.Namespace
    mutants: list[Mutant]
    traces: list[dict[str, Any]] = field(default_factory=list)
    functions: dict[str, list[FunctionType]] = field(default_factory=lambda: defaultdict(list))
    noting: dict[str, CodeType] = field(default_factory=dict)
    lines: list[tuple[str, int]] = field(default_factory=list)
    failed: bool = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember that a test failed."""
        self.failed = self.failed or report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Trace the files of tests that are not yet in the map, then run each mutant."""
        from hypothesis import Phase, settings  # after pytest, which rewrites its assertions

        self.asked.end = time.monotonic() + 60 * self.asked.minutes
        settings.register_profile("mutants", settings.default, phases=(Phase.explicit, Phase.generate))
        settings.load_profile("mutants")  # the first example that fails is enough
        files = defaultdict(list)
        for item in session.items:
            files[str(item.path.relative_to(ROOT))].append(item)
        lines = self.asked.map / digest(b"".join(file.read_bytes() for file in places()))
        lines.mkdir(parents=True, exist_ok=True)
        kept = {name: lines / f"{digest(name.encode() + (ROOT / name).read_bytes())}.json" for name in files}
        self.find_functions()
        new = {name: partial(self.trace, files[name], path) for name, path in kept.items() if not path.exists()}
        for name, code, seconds in self.fork(new):
            print(f"traced {name} in {seconds:.0f} s" + (f", ended with {code}" if code else ""), flush=True)
        for name, path in kept.items():
            traces = json.loads(path.read_text()) if path.exists() else {}
            for item in (item for item in files[name] if item.nodeid in traces):
                trace = traces[item.nodeid]
                lines = sum(map(len, trace["lines"].values()))  # tests of little else notice a change sooner
                self.traces.append({**trace, "item": item, "order": (lines, trace["seconds"])})
        if self.mutants:
            self.try_mutants()
        return True

    def fork(self, jobs: dict[str, Callable[[], int]]) -> Iterator[tuple[str, int, float]]:
        """Do each job in a fork of this process, some at a time; yield names, codes of exit and seconds."""
        running: dict[int, tuple[str, float]] = {}
        waiting = iter(jobs.items())
        while True:
            late = time.monotonic() > self.asked.end
            following = next(waiting, None) if len(running) < self.asked.processes and not late else None
            if following is None and not running:
                return
            if following is None:
                pid, status = os.wait()
                name, begun = running.pop(pid)
                yield name, os.waitstatus_to_exitcode(status), time.monotonic() - begun
                continue
            pid = os.fork()
            if not pid:
                code = 3
                try:
                    null = os.open(os.devnull, os.O_WRONLY)
                    os.dup2(null, 1)
                    os.dup2(null, 2)
                    code = following[1]()
                finally:
                    os._exit(code)
            running[pid] = (following[0], time.monotonic())

    def run(self, item: pytest.Item, following: pytest.Item | None) -> bool:
        """Run one test and return whether it passed."""
        self.failed = False
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return not self.failed

    def trace(self, items: list[pytest.Item], path: Path) -> int:
        """Write for each test of a file that passes how long it took and the lines that it executed."""

        def stop(*_: object) -> None:
            raise TooSlowError

        noted: set[int] = set()
        setattr(builtins, NOTE, noted.add)
        for file, code in self.noting.items():
            self.exchange(file, code)
        signal.signal(signal.SIGPROF, stop)
        traces: dict[str, dict[str, Any]] = {}
        for item, following in zip_longest(items, items[1:]):
            noted.clear()
            begun = time.process_time()
            passed, slow = False, False
            signal.setitimer(signal.ITIMER_PROF, SLOW)
            try:
                passed = self.run(item, following)
            except (TooSlowError, SystemExit, KeyboardInterrupt):
                slow = True
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            seconds = time.process_time() - begun
            if passed or slow or seconds > SLOW:
                lines = defaultdict(list)
                for name, line in sorted(map(self.lines.__getitem__, noted)):
                    lines[name].append(line)
                traces[item.nodeid] = {"seconds": seconds, "lines": lines, "slow": slow or not passed}
        path.write_text(json.dumps(traces))
        return 0

    def exchange(self, file: str, module: CodeType) -> None:
        """Put other code into the functions of a file: both hold the same functions in the same order."""
        before = codes_in(compile(Path(file).read_text(), file, "exec"))
        codes = dict(zip(before, codes_in(module), strict=True))
        for function in self.functions[file]:
            function.__code__ = codes.get(function.__code__, function.__code__)

    def attempt(self, mutant: Mutant) -> int:
        """Run the tests that execute a line until one fails: 0 if one did, 1 if none, 2 if there are no such tests."""
        around, name = set(mutant.statement), str(mutant.path)
        traces = [trace for trace in self.traces if around & set(trace["lines"].get(name, ()))]
        quick = sorted((trace for trace in traces if not trace["slow"]), key=lambda trace: trace["order"])
        file = str(ROOT / mutant.path)
        self.exchange(file, compile(mutant.source, file, "exec"))
        begun = time.process_time()
        for trace, following in zip_longest(quick, quick[1:]):
            if time.process_time() - begun > self.asked.limit:
                break
            signal.setitimer(signal.ITIMER_PROF, 10 + 10 * trace["seconds"])  # of processor time, then it is ended
            if not self.run(trace["item"], following and following["item"]):
                return 0
        signal.setitimer(signal.ITIMER_PROF, 0)
        traces.sort(key=lambda trace: not trace["slow"])  # slow tests have not been run yet
        files = dict.fromkeys(str(trace["item"].path.relative_to(ROOT)) for trace in traces)
        tests = [name for name in files if name.startswith("tests")][:8] or [
            str(Path("tests/layers", mutant.path.parts[2]))
        ]
        if not self.asked.quick and not self.passes_afresh(mutant, tests):
            return 0
        return 1 if traces else 2

    def passes_afresh(self, mutant: Mutant, tests: list[str]) -> bool:
        """Whether whole files of tests pass in a new process that imports the mutant."""
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "src", Path(folder, "src"), ignore=shutil.ignore_patterns("__pycache__"))
            Path(folder, mutant.path).write_text(mutant.source)
            command = [sys.executable, "-m", "pytest", "-x", "-q", *PLAIN, *tests]
            environment = {**os.environ, "PYTHONPATH": f"{folder}/src"}
            try:
                done = subprocess.run(command, cwd=ROOT, env=environment, timeout=3 * self.asked.limit, check=False)
            except subprocess.TimeoutExpired:
                return True
            return done.returncode == 0

    def find_functions(self) -> None:
        """Find the functions of the places, and make code of theirs that notes its lines."""
        for file in places():
            module = ".".join(file.relative_to(ROOT / "src").with_suffix("").parts)
            importlib.import_module(module.removesuffix(".__init__"))
            tree = Noting(str(file.relative_to(ROOT)), self.lines).visit(ast.parse(file.read_text()))
            self.noting[str(file)] = compile(tree, str(file), "exec")
        gc.unfreeze()
        for thing in gc.get_objects():
            if isinstance(thing, FunctionType):
                self.functions[thing.__code__.co_filename].append(thing)
        gc.freeze()

    def try_mutants(self) -> None:
        """Run the mutants and print what became of each."""
        counts: Counter[str] = Counter()
        words = {0: "noticed", 1: "survived", 2: "not executed", 3: "error", -signal.SIGPROF: "without end"}
        for name, code, seconds in self.fork({str(mutant): partial(self.attempt, mutant) for mutant in self.mutants}):
            word = words.get(code, f"ended with {code}")
            counts[word] += 1
            print(f"{word:13}{seconds:4.0f} s  {name}", flush=True)
        print(dict(counts))


def main() -> None:
    """Draw mutants, run them until the time is over, and print the survivors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--limit", type=float, default=60, help="seconds of processor time a mutant may take")
    parser.add_argument("--quick", action="store_true", help="do not try survivors again in a new process")
    parser.add_argument("--tests", nargs="*", help="folders of tests, in place of those that are listed here")
    parser.add_argument("--map", type=Path, default=Path(tempfile.gettempdir(), "assay-mutants"))
    asked = parser.parse_args()
    possible = [mutant for file in places() for mutant in operators(file)]
    drawn = random.Random(asked.seed).sample(possible, asked.count)
    print(f"{len(possible)} possible mutants, {len(drawn)} drawn with seed {asked.seed}", flush=True)
    os.environ["CI"] = "true"
    os.chdir(ROOT)
    options = [*PLAIN, "-p", "no:terminal", "-p", "no:xdist", "-s"]
    modes = ["-o", "addopts=", "--import-mode=importlib", "--doctest-modules"]
    examples = dict.fromkeys(f"src/assay/{place.split('/')[0]}" for place in PLACES)
    folders = asked.tests or [*TESTS, *examples]
    pytest.main([*options, *modes, *folders], plugins=[Session(asked, drawn)])


if __name__ == "__main__":
    main()
