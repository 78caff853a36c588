# SPDX-License-Identifier: Apache-2.0
"""Matches boxes and counts what is hit: all that sees boxes."""
