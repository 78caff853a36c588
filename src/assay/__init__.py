# SPDX-License-Identifier: Apache-2.0
"""Assess machine-learning performance: every measure with its uncertainty, from labels wherever they live."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.assess.arguments import IntervalSettings, ScoreSettings, TestSettings
    from assay.assess.assess import assess
    from assay.assess.assessment import Assessment
    from assay.assess.compare.compare import compare, compare_values
    from assay.assess.compare.comparison import Comparison
    from assay.assess.compare.cross_validation import Conducted
    from assay.assess.compare.estimators import conduct
    from assay.assess.matrix_input import from_confusion_matrix
    from assay.assess.merge import merge
    from assay.assess.record.record import Record
    from assay.assess.record.verification import load
    from assay.assess.sklearn_scorer import scorer
    from assay.core.errors import (
        AssayError,
        EngineError,
        MissingColumn,
        OutOfRange,
        PlanError,
        RecordError,
        RowsError,
        UnknownLabel,
        UnpairedRows,
    )
    from assay.inference.direct_tests import agreement, test
    from assay.inference.estimates import Estimate, Interval
    from assay.inference.findings import Finding
    from assay.inference.multiplicity import adjust
    from assay.inference.power import plan_size
    from assay.measures.catalogue import measure, measures
    from assay.rows.files.formats import Reading
    from assay.rows.limits import Limits

__all__ = [
    "AssayError",
    "Assessment",
    "Comparison",
    "Conducted",
    "EngineError",
    "Estimate",
    "Finding",
    "Interval",
    "IntervalSettings",
    "Limits",
    "MissingColumn",
    "OutOfRange",
    "PlanError",
    "Reading",
    "Record",
    "RecordError",
    "RowsError",
    "ScoreSettings",
    "TestSettings",
    "UnknownLabel",
    "UnpairedRows",
    "adjust",
    "agreement",
    "assess",
    "compare",
    "compare_values",
    "conduct",
    "from_confusion_matrix",
    "load",
    "measure",
    "measures",
    "merge",
    "plan_size",
    "scorer",
    "test",
]

_HOMES = {
    "Assessment": "assay.assess.assessment",
    "Comparison": "assay.assess.compare.comparison",
    "Conducted": "assay.assess.compare.cross_validation",
    "Estimate": "assay.inference.estimates",
    "Finding": "assay.inference.findings",
    "Interval": "assay.inference.estimates",
    "Limits": "assay.rows.limits",
    "IntervalSettings": "assay.assess.arguments",
    "Reading": "assay.rows.files.formats",
    "Record": "assay.assess.record.record",
    "ScoreSettings": "assay.assess.arguments",
    "TestSettings": "assay.assess.arguments",
    "adjust": "assay.inference.multiplicity",
    "agreement": "assay.inference.direct_tests",
    "assess": "assay.assess.assess",
    "compare": "assay.assess.compare.compare",
    "compare_values": "assay.assess.compare.compare",
    "conduct": "assay.assess.compare.estimators",
    "from_confusion_matrix": "assay.assess.matrix_input",
    "load": "assay.assess.record.verification",
    "merge": "assay.assess.merge",
    "measure": "assay.measures.catalogue",
    "measures": "assay.measures.catalogue",
    "plan_size": "assay.inference.power",
    "scorer": "assay.assess.sklearn_scorer",
    "test": "assay.inference.direct_tests",
}


class _Face(ModuleType):
    """A package whose public names win over subpackages of the same name (docs/decisions/0004)."""

    def __setattr__(self, name: str, value: object) -> None:
        """Importing assay.assess would hang that package where the function `assay.assess` belongs."""
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Face


def __getattr__(name: str) -> object:
    """Load a public name when it is first used, so that `import assay` stays instant."""
    if name == "__version__":
        return import_module("importlib.metadata").version("assay")
    if name not in __all__ and (door := _door(name)) is not None:
        globals()[name] = door
        return door
    if name not in __all__:
        msg = f"module 'assay' has no attribute {name!r}"
        raise AttributeError(msg)
    if name in (
        "assess",
        "compare",
        "compare_values",
        "conduct",
        "from_confusion_matrix",
        "load",
        "merge",
        "Assessment",
        "Comparison",
        "Conducted",
    ):
        import_module("assay.report")  # a result can draw itself once the report layer has introduced itself
    found = getattr(import_module(_HOMES.get(name, "assay.core.errors")), name)
    globals()[name] = found
    return found


def _door(name: str) -> object | None:
    """The function of a task, such as `assay.regression`; None where there is no such task."""
    if name.startswith("_") or name == "classification":
        return None
    from assay.core.task import task_names

    if name not in set(task_names()):
        return None
    import_module("assay.report")
    from assay.assess.task_assessment import make_door

    return make_door(name)


def __dir__() -> list[str]:
    """The public names, and a function for each task."""
    from assay.core.task import task_names

    return [*__all__, *(name for name in task_names() if name != "classification")]
