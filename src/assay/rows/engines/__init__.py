# SPDX-License-Identifier: Apache-2.0
"""Rows inside engines and frames: DuckDB, Narwhals, Dask, Arrow."""
