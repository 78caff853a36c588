# SPDX-License-Identifier: Apache-2.0
"""Figures as SVG, drawn from data."""
