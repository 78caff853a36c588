# SPDX-License-Identifier: Apache-2.0
"""Controls: what is looked for in plan, data, results and machine; importing this package declares them all."""

from __future__ import annotations

# A Record lists controls in the order of their declaration.
# isort: off
from assay.assess.controls import claim_checks
from assay.assess.controls.data import completeness, dataset_contents
from assay.assess.controls import folds, ledger_checks, machine, model_checks, label_errors, plan_vs_results
from assay.assess.controls.data import proxy_features
from assay.assess.controls import results
from assay.assess.controls.data import split_separation
from assay.assess.controls import cost, latency, significance
from assay.assess.controls.data import annotator_agreement

# isort: on
from assay.assess.controls.control_declaration import (
    CONTROLS,
    Checked,
    Control,
    Outcome,
    Verdict,
    control,
    run_controls,
    worst,
)
from assay.assess.controls.evidence import Inquiry, Moment

MODULES = (
    plan_vs_results,
    results,
    significance,
    dataset_contents,
    completeness,
    proxy_features,
    split_separation,
    ledger_checks,
    folds,
    annotator_agreement,
    label_errors,
    model_checks,
    machine,
    latency,
    cost,
    claim_checks,
)
"""Where the controls are declared."""

__all__ = [
    "CONTROLS",
    "Checked",
    "Control",
    "Inquiry",
    "Moment",
    "Outcome",
    "Verdict",
    "control",
    "run_controls",
    "worst",
]
