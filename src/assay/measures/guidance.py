# SPDX-License-Identifier: Apache-2.0
"""When a measure fits and what other libraries call it: `guidance.toml` of its task, read on demand."""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, cast

from assay.core.task import TASKS
from assay.measures.declare import REGISTRY, Measure

FILE: Final = "guidance.toml"


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
