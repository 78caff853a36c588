# SPDX-License-Identifier: Apache-2.0
"""What CONTRIBUTING says of a new measure is done here: two blocks, and everything else follows."""

from __future__ import annotations

import re
import subprocess
import sys

import run

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DO = """
from __future__ import annotations
import assay
from assay.core.traits import EXTENSION, HIGHER
from assay.core.values import Number, number, root
from assay.measures import REGISTRY
from assay.measures.declare import measure
from assay.measures.catalogue import guidance_of
from assay.tally.labels.one_vs_rest import Binary
from assay.tasks.classification.measures.rates import NO_ACTUAL, NO_ACTUAL_NEGATIVE
from tests.reference.by_definition import both, recall, specificity, sqrt

list(REGISTRY)
{declaration}
declared = geometric_mean
{definition}
a = assay.assess(truth=[1, 1, 0, 0, 1], predicted=[1, 0, 0, 1, 1])
e = a["G-mean"]
assert abs(e.value - float(geometric_mean(2, 1, 1, 1))) < 1e-15
assert e.low < e.value < e.high
assert a.to_dict() and guidance_of(declared).use and "geometric_mean" in a.record.to_text()
"""


def test_a_measure_costs_two_files_and_thirty_lines():
    text = (run.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    declaration, definition = BLOCK.findall(text[: text.index("## Add a task")])
    assert len((declaration + definition).splitlines()) <= 30
    code = DO.format(declaration=declaration, definition=definition)
    done = subprocess.run([sys.executable, "-c", code], cwd=run.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
