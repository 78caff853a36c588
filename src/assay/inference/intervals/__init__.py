# SPDX-License-Identifier: Apache-2.0
"""Intervals of single values."""
