# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys

import grimp

HEAVY = {"duckdb", "jinja2", "narwhals", "numpy", "pandas", "polars", "pyarrow", "pydantic", "rich", "scipy", "typst"}


def packages_imported_by(*arguments):
    """The top-level names a fresh interpreter imports, as -X importtime tells them on stderr."""
    told = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True
    ).stderr
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in told.splitlines() if "|" in line}


def test_the_listing_sees_a_heavy_import():
    assert "numpy" in packages_imported_by("-c", "import numpy")


def test_importing_assay_loads_no_engine():
    names = packages_imported_by("-c", "import assay")
    assert "assay" in names
    assert not names & HEAVY


def test_the_help_text_needs_no_engine():
    names = packages_imported_by("-m", "assay", "--help")
    assert "click" in names
    assert not names & HEAVY


LONGEST_CHAIN = 25
"""Modules that may import one another in a row, from the command line down to what imports nothing of ours."""


def longest_chain():
    """Imports inside functions count; those that only type checkers see do not."""
    graph = grimp.build_graph("assay", cache_dir=None, exclude_type_checking_imports=True)
    chains = {}

    def chain_from(module):
        if module not in chains:
            imported = sorted(graph.find_modules_directly_imported_by(module))
            chains[module] = [module, *max(map(chain_from, imported), key=len, default=[])]
        return chains[module]

    return max(map(chain_from, sorted(graph.modules)), key=len)


def test_no_chain_of_imports_is_long():
    chain = longest_chain()
    assert len(chain) <= LONGEST_CHAIN, "\n".join(chain)
