# SPDX-License-Identifier: Apache-2.0
"""Controls: what is looked for in plan, data, results and machine; importing this package makes them all."""

from __future__ import annotations

# isort: off
from assay.assess.controls import claim_checks, cost, folds, label_errors, ledger_checks, machine  # noqa: F401
from assay.assess.controls import model_checks, plan_vs_results, results, significance  # noqa: F401
from assay.assess.controls.data import annotator_agreement, completeness, dataset_contents  # noqa: F401
from assay.assess.controls.data import proxy_features, split_separation  # noqa: F401

# isort: on
from assay.assess.conformity.clauses import control_traits
from assay.assess.controls.control_declaration import CONTROLS, Checked, Inquiry, Moment, Outcome, Verdict, run_controls
from assay.assess.controls.control_declaration import worst as worst

for _id in control_traits():  # a Record lists them in the order of the table
    CONTROLS[_id] = CONTROLS.pop(_id)

__all__ = ["CONTROLS", "Checked", "Inquiry", "Moment", "Outcome", "Verdict", "run_controls", "worst"]
