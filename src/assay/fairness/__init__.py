# SPDX-License-Identifier: Apache-2.0
"""Fairness: gaps and ratios over the groups of any task, with intervals, tests and verdicts."""
