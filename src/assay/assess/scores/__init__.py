# SPDX-License-Identifier: Apache-2.0
"""Predictions, thresholds and notes that an assessment takes from scores."""
