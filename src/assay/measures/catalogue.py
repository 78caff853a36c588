# SPDX-License-Identifier: Apache-2.0
"""The catalogue as users ask it: all measures, one by name, symbol or alias, and when each of them fits."""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, cast

from assay.core.errors import PlanError, unknown_choice
from assay.core.registry import Registry
from assay.core.shown import Shown, TableRows
from assay.core.task import TASKS, find_task, task_names
from assay.core.text import counted, plural
from assay.core.traits import Task
from assay.measures.declare import REGISTRY, Measure, parse
from assay.tally.labels.one_vs_rest import Binary
from assay.tally.scores.ranked_table import Ranked

FILE: Final = "guidance.toml"


class Measures(tuple[Measure, ...], Shown):
    """Measures in the order of the catalogue; shown in a few words, not as hundreds of declarations."""

    __slots__ = ()
    PUBLIC = ("count", "index")

    def __repr__(self) -> str:
        """How many, and the first few."""
        names = ", ".join(measure.name for measure in self[:6]) + (", ..." if len(self) > 6 else "")  # noqa: PLR2004
        return f"<{counted(len(self), 'measure')}: {names}>"

    def _table(self) -> TableRows:
        rows = ((measure.name, measure.symbol, measure.says, measure.family) for measure in self)
        return (
            f"{counted(len(self), 'measure')}; assay.measure(NAME) explains one",
            ("measure", "symbol", "says", "family"),
            rows,
        )


def measures(*, task: str | None = None, family: str | None = None) -> Measures:
    """Every declared measure of classification, or those of another task, or of a family.

    task: a task such as "regression", or "binary" or "multiclass"
    family: a family such as "chance-corrected"

    >>> [m.name for m in measures(family="chance-corrected")][:2]
    ['youden_index', 'markedness']
    """
    registry = _registry_of(task)
    kind = Task(task) if task in tuple(Task) else None
    families = list(dict.fromkeys(m.family for m in registry))
    if family is not None and family not in families:
        raise unknown_choice(family, families, f"there is no family {family!r}", fix="choose one")
    return Measures(m for m in registry if (kind is None or m.only in (None, kind)) and family in (None, m.family))


def _registry_of(task: str | None) -> Registry[Measure]:
    return REGISTRY if task is None else cast("Registry[Measure]", find_task(task).registry)


def measure(name: str) -> Measure:
    """One measure with its formula, range, source and place in the code.

    name: its name, symbol or another name, with parameters where it has any: "recall", "TPR", "f_beta(beta=2)"

    >>> measure("sensitivity").name
    'recall'
    """
    try:
        return parse(name)
    except PlanError as unknown:
        if unknown.code != "measure-unknown":
            raise
        for task in task_names():
            try:
                return parse(name, _registry_of(task))
            except PlanError:
                continue
        raise


def task_of(measure: Measure) -> str:
    """The task that a measure belongs to."""
    tasks = (name for name in task_names() if name != "classification")
    return next(
        (name for name in tasks if any(own is measure for own in _registry_of(name))),
        "classification",
    )


def grain(entry: Measure) -> str:
    """Whether a measure speaks of one class or of all."""
    if not entry.from_labels and not entry.from_scores and entry.family != "cost":
        return f"all {plural(find_task(task_of(entry)).unit)}"
    return "one class against the rest" if entry.takes in (Binary, Ranked) else "all classes together"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guidance:
    """What a task says about choosing a measure; empty texts where it says nothing."""

    use: str = ""
    """Completes "use it when"."""
    avoid: str = ""
    """Completes "avoid it when"."""
    elsewhere: tuple[str, ...] = ()
    """Calls of other libraries that give the same value."""


def guidance_of(measure: Measure) -> Guidance:
    """The guidance of a measure; an average of classes takes what it does not say from its kind of average.

    >>> guidance_of(REGISTRY.find("recall")).avoid
    'it stands alone: calling every row positive gives 1'
    """
    tables = guidance_tables(_folder_of(measure))
    stated = {} if measure.base else measure.guidance
    entry = {**tables["averages"].get(measure.average or "", {}), **tables["measures"].get(measure.name, {}), **stated}
    return Guidance(
        use=str(entry.get("use", "")),
        avoid=str(entry.get("avoid", "")),
        elsewhere=tuple(cast("list[str]", entry.get("elsewhere", []))),
    )


def proposed(folder: str) -> dict[str, list[str]]:
    """Names of measures by the situation they fit, as the task lists them for `assay advise`."""
    return cast("dict[str, list[str]]", guidance_tables(folder)["advise"])


def _folder_of(measure: Measure) -> str:
    """The folder of the task that declares a measure."""
    home = REGISTRY.find(measure.base) if measure.base and not hasattr(measure.takes, "MEASURES") else measure
    module = home.takes.__module__ if hasattr(home.takes, "MEASURES") else home.function.__module__
    return module.removeprefix(f"{TASKS}.").partition(".")[0]


@cache
def guidance_tables(folder: str) -> dict[str, dict[str, dict[str, object]]]:
    """The tables `measures`, `averages` and `advise` of a task; empty where the task has no such file."""
    home = getattr(sys.modules.get(f"{TASKS}.{folder}"), "__file__", None)  # None: declared outside of the package
    path = Path(home).parent / FILE if home else None
    text = path.read_text(encoding="utf-8") if path and path.is_file() else ""
    return {"measures": {}, "averages": {}, "advise": {}, **tomllib.loads(text)}
