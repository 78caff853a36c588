# SPDX-License-Identifier: Apache-2.0
"""Rows joined by id: truth with predictions, and models with each other."""
