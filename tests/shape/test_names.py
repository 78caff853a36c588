# SPDX-License-Identifier: Apache-2.0
"""Module names are nouns, one stem has one meaning, folders stay small, and modules do not import in circles."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict

import grimp

import run
from assay.core.task import find_task, task_names

PACKAGE = run.ROOT / "src" / "assay"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name not in ("__init__.py", "__main__.py"))
MOST_FILES = 15
VERB_FORMS = {"resampling"}
"""Modules that end as a gerund or participle does; the list only shrinks, to resampling, a word of statistics."""
OF_TASKS = {"roles", "tally", "measures", "intervals", "compare", "controls", "blocks", "settings", "estimates"}
"""Files that every task may have."""
SEVERAL_TIMES = {"claims", "comparison", "declare", "estimates", "findings"}
"""Stems in two folders; the list only shrinks."""


def of_a_task(path):
    return path.relative_to(PACKAGE).parts[0] == "tasks"


def test_no_module_is_named_by_a_gerund_or_participle():
    verb_forms = {path.stem for path in MODULES if path.stem.endswith(("ing", "ed"))}
    assert verb_forms == VERB_FORMS


def test_a_stem_outside_the_tasks_names_one_module():
    stems = Counter(path.stem for path in MODULES if not of_a_task(path))
    assert {stem for stem, times in stems.items() if times > 1} == SEVERAL_TIMES


def test_a_task_shares_only_the_names_that_all_tasks_have():
    others = {path.stem for path in MODULES if not of_a_task(path)}
    by_task = defaultdict(set)
    for path in MODULES:
        if of_a_task(path) and len(path.relative_to(PACKAGE).parts) > 2:
            by_task[path.relative_to(PACKAGE).parts[1]].add(path.stem)
    assert by_task
    assert {name for stems in by_task.values() for name in stems & others - OF_TASKS} <= {"curves"}


def test_a_folder_holds_few_modules():
    sizes = Counter(path.parent.relative_to(PACKAGE).as_posix() for path in MODULES)
    assert {folder: size for folder, size in sizes.items() if size > MOST_FILES} == {}


def reachable(start, imports):
    reached, open_ = set(), [start]
    while open_:
        new = imports[open_.pop()] - reached
        reached |= new
        open_ += new
    return reached


def test_modules_do_not_import_in_circles():
    """Imports that only type checkers see are left out."""
    graph = grimp.build_graph("assay", cache_dir=None, exclude_type_checking_imports=True)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert [module for module in sorted(imports) if module in reachable(module, imports)] == []


WEAK = {"one", "found", "held", "told", "every"}
KEYWORDS = {
    "core/errors.py: __init__",
    "assess/conformity/ledger.py: _unreadable",
}
"""Where `found` is the keyword of an error: what was found in place of what was expected."""


def lines_of(scope, name):
    named = (node for node in ast.walk(scope) if name in (getattr(node, "id", None), getattr(node, "arg", None)))
    return [node.lineno for node in named if isinstance(node, (ast.Name, ast.arg))]


def test_a_local_name_carries_its_kind():
    """Words that name nothing may stand in scopes of three lines."""
    weak = set()
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for scope in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            bound = {node.arg for node in ast.walk(scope.args) if isinstance(node, ast.arg)} | {
                node.id for node in own_nodes(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }
            if any(max(lines := lines_of(scope, name)) - min(lines) >= 3 for name in bound & WEAK):
                weak.add(f"{path.relative_to(PACKAGE).as_posix()}: {scope.name}")
    assert weak == KEYWORDS


def own_nodes(scope):
    """The nodes of a function without those of comprehensions and functions within it."""
    inner = (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    waiting = list(scope.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, inner):
            waiting += ast.iter_child_nodes(node)


def test_reports_name_no_task():
    names = {name for task in map(find_task, task_names()) for name in (task.name, *task.variants)}
    spoken = defaultdict(set)
    for path in (PACKAGE / "report").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and node.value in names:
                spoken[path.name].add(node.value)
    assert not spoken
