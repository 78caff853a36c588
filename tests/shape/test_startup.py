# SPDX-License-Identifier: Apache-2.0
"""What the first call loads. Processor time is measured by bench/startup.py."""

from __future__ import annotations

import json
import subprocess
import sys

MOST_MODULES = 60
"""Folders, which hold no code of their own, are not counted."""
SCRIPT = """
import json, sys
import assay

result = assay.assess(truth=[1, 0, 1, 1] * 50, predicted=[1, 0, 0, 1] * 50)
print(json.dumps(sorted(name for name, module in sys.modules.items() if not hasattr(module, "__path__"))))
"""
UNUSED = (
    "narwhals", "duckdb", "scipy", "polars", "pandas", "pyarrow", "pydantic", "jinja2", "rich", "click",
    "assay.measures", "assay.tally.paired.joint_cells", "assay.tally.paired.joint_scores",
    "assay.inference.tests.delong", "assay.inference.tests.strata", "assay.assess.decide.references",
    "assay.assess.scores.score_predictions", "assay.rows.engines.narwhals_frames",
)  # fmt: skip
"""What an assessment of two arrays has no use for before a value is asked for."""


def test_the_first_assessment_of_arrays_loads_few_modules():
    printed = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout
    modules = json.loads(printed)
    ours = [name for name in modules if name.split(".")[0] == "assay"]
    assert len(ours) <= MOST_MODULES, ours
    assert not set(UNUSED) & set(modules)
