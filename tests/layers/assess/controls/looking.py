# SPDX-License-Identifier: Apache-2.0
"""Inquiries made by hand, and the outcome of one control."""

from __future__ import annotations

from assay.assess.controls import CONTROLS, Inquiry
from assay.assess.plan.checked_plan import planned
from assay.rows.files.formats import Reading
from assay.tally.data.split_counts import SplitRows

SIGNED = {"assessor": "A", "date": "2026-01-31"}
DATA = {"data": {"train": {}, "test": {}}}


def look(id, inquiry, part=""):
    """The outcome of a control, or of one part of it."""
    return next(one for one in CONTROLS[id].look(inquiry) if one.part == part)


def asked(document=None, **given):
    return Inquiry(loaded=planned({"plan": SIGNED, **(document or {})}), **given)


def opened(folder, text, name="t.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return SplitRows.of(str(path), reading=Reading())


def splits(folder, **texts):
    return {name: opened(folder, text, f"{name}.csv") for name, text in texts.items()}
