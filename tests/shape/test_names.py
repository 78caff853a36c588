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
SEVERAL_TIMES = {"comparison", "declare", "estimates", "findings"}
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


def test_reports_name_no_task():
    names = {name for task in map(find_task, task_names()) for name in (task.name, *task.variants)}
    spoken = defaultdict(set)
    for path in (PACKAGE / "report").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and node.value in names:
                spoken[path.name].add(node.value)
    assert not spoken
