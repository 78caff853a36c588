# SPDX-License-Identifier: Apache-2.0
"""Counts of scores by true class."""
