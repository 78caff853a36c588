# SPDX-License-Identifier: Apache-2.0
"""Rows of databases: DuckDB, SQLite, PostgreSQL."""
