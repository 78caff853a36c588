# SPDX-License-Identifier: Apache-2.0
"""Tests of significance, each declared once."""
