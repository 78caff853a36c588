# SPDX-License-Identifier: Apache-2.0
"""Counts of data sets that controls read."""
