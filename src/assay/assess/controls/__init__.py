# SPDX-License-Identifier: Apache-2.0
"""Controls: what is looked for in plan, data, results and machine; importing this package makes them all."""

from __future__ import annotations

# isort: off
from assay.assess.controls import choice_checks, cost, machine, model_checks, plan_vs_results, results  # noqa: F401
from assay.assess.controls import significance  # noqa: F401
from assay.assess.controls.data import dataset_contents, feature_checks, ground_truth, split_separation  # noqa: F401

# isort: on
from assay.assess.conformity.clauses import control_traits
from assay.assess.controls.control_declaration import CONTROLS, Checked, Inquiry, Moment, Outcome, Verdict, run_controls
from assay.assess.controls.control_declaration import worst as worst

for _id in control_traits():  # a Record lists them in the order of the table
    CONTROLS[_id] = CONTROLS.pop(_id)

__all__ = ["CONTROLS", "Checked", "Inquiry", "Moment", "Outcome", "Verdict", "run_controls", "worst"]
