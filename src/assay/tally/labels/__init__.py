# SPDX-License-Identifier: Apache-2.0
"""Counts of labels: true and predicted classes, costs, annotators."""
