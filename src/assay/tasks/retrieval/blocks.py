# SPDX-License-Identifier: Apache-2.0
"""Sections of a report that only retrieval has."""
from __future__ import annotations
def draw_figures(tally, settings, registry): return {}
def run_sections(record): yield from ()
def comparison_sections(record, measure): yield from ()
