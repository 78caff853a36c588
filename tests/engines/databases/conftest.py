# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib.util

import pytest

from tests.engines.databases import server as servers


@pytest.fixture(scope="session")
def server():
    """A PostgreSQL server with a few tables."""
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("psycopg is not installed")
    if servers.programs() is None:
        pytest.skip("no PostgreSQL here")
    found = servers.start()
    try:
        with servers.connected(found) as connection:
            connection.execute(
                "CREATE TYPE colour AS ENUM ('red', 'green');"
                "CREATE SCHEMA trial;"
                "CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);"
                "CREATE TABLE preds (y text, p text, g text, w numeric, n int, b boolean, c colour, d date, f float8,"
                " a int[], j jsonb, padded char(5));"
                "INSERT INTO preds SELECT (ARRAY['cat','dog','eel'])[1 + i % 3], (ARRAY['cat','dog'])[1 + i % 2],"
                " CASE WHEN i % 5 > 0 THEN 's' || i % 5 END, i * 0.1, i % 3, i % 2 = 0,"
                " (ARRAY['red','green'])[1 + i % 2]::colour, '2026-01-01', 0.5, '{1}', '{}', 'ab'"
                " FROM generate_series(1, 600) i;"
                "CREATE TABLE trial.other (y int, p int); INSERT INTO trial.other VALUES (1, 1), (0, 1);"
                """CREATE TABLE odd ("a ""b"" c" text, "it's; --" text COLLATE blind);"""
                "INSERT INTO odd VALUES ('A', 'A'), ('a', 'a'), ('b', 'b');"
                "CREATE ROLE reader LOGIN PASSWORD 'r'; GRANT SELECT ON odd TO reader;"
            )
        yield found
    finally:
        found.stop()
