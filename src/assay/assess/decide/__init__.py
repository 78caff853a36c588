# SPDX-License-Identifier: Apache-2.0
"""Decisions: criteria, claims, and what a model is held against."""
