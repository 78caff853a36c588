# SPDX-License-Identifier: Apache-2.0
"""The worked assessment of examples/assessment, clean and faulty, counted once a test run."""

from __future__ import annotations

import importlib.util
import tempfile
from functools import cache
from pathlib import Path

import run
from assay.assess.conformity.plan_run import examined
from assay.assess.plan.checked_plan import load_plan


def maker():
    """The script that writes the example."""
    found = importlib.util.spec_from_file_location("make", run.ROOT / "examples" / "assessment" / "make.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@cache
def folder():
    """A folder for the files of the examples, gone with the process."""
    return tempfile.TemporaryDirectory(prefix="assay-example-")


@cache
def example(kind):
    """Every part of the clean or the faulty example, looked at by every control."""
    plan = maker().make(Path(folder().name) / kind, faulty=kind == "faulty")
    return tuple(examined(load_plan(plan)))
