# SPDX-License-Identifier: Apache-2.0
"""`assay.assess` and `assay.compare` with all settings by name, for tests that pass them in mappings."""

from __future__ import annotations

import assay
from assay.assess.arguments import arrange


def assess(**given):
    """Assess rows, or a confusion matrix."""
    if "confusion" in given:
        return assay.from_confusion_matrix(**arrange(**given))
    return assay.assess(**arrange(**given))


def compare(*tables, **given):
    """Compare predictions, scores or values; tables and queries may be given by model."""
    for one, many in (("table", "tables"), ("query", "queries")):
        if isinstance(given.get(one), dict):
            given[many] = given.pop(one)
    function = assay.compare_values if "values" in given else assay.compare
    return function(*tables, **arrange(**given))
