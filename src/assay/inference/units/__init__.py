# SPDX-License-Identifier: Apache-2.0
"""Differences of two models from how units vary: swaps, draws, linearised variance."""
