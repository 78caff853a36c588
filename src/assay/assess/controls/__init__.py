# SPDX-License-Identifier: Apache-2.0
"""Controls: what is looked for in plan, data, results and machine; importing this package declares them all."""

from __future__ import annotations

# Importing a module declares its controls; a Record lists them in this order.
# isort: off
from assay.assess.controls import claim_checks  # noqa: F401
from assay.assess.controls.data import completeness, dataset_contents  # noqa: F401
from assay.assess.controls import folds, ledger_checks, machine, model_checks, label_errors, plan_vs_results  # noqa: F401
from assay.assess.controls.data import proxy_features  # noqa: F401
from assay.assess.controls import results  # noqa: F401
from assay.assess.controls.data import split_separation  # noqa: F401
from assay.assess.controls import cost, significance  # noqa: F401
from assay.assess.controls.data import annotator_agreement  # noqa: F401

# isort: on
from assay.assess.controls.control_declaration import CONTROLS, Checked, Inquiry, Moment, Outcome, Verdict, run_controls
from assay.assess.controls.control_declaration import worst as worst

__all__ = ["CONTROLS", "Checked", "Inquiry", "Moment", "Outcome", "Verdict", "run_controls", "worst"]
