# SPDX-License-Identifier: Apache-2.0
"""Counts of several models: on the same rows, by unit, or on different rows."""
