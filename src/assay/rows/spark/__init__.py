# SPDX-License-Identifier: Apache-2.0
"""Rows on a Spark cluster."""
