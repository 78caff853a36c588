# SPDX-License-Identifier: Apache-2.0
"""Controls: what is looked for in plan, data, results and machine; importing this package declares them all."""

from __future__ import annotations

from assay.assess.controls import (
    claims,
    completeness,
    data,
    folding,
    looks,
    machine,
    models,
    noise,
    planning,
    proxies,
    results,
    separation,
    speed,
    tested,
    truth,
)
from assay.assess.controls.declare import CONTROLS, Checked, Control, Outcome, Verdict, control, run_controls, worst
from assay.assess.controls.inquiry import Inquiry, Moment

MODULES = (
    planning,
    results,
    tested,
    data,
    completeness,
    proxies,
    separation,
    looks,
    folding,
    truth,
    noise,
    models,
    machine,
    speed,
    claims,
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
