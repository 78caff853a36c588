# SPDX-License-Identifier: Apache-2.0
"""The tutorial from CSV files to a signed Record asks a person for few answers; test_docs.py runs it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "start" / "breast-cancer.md"
MOST_KEYS = 60


def leaves(value):
    """How many values a person typed."""
    if isinstance(value, dict):
        return sum(leaves(one) for one in value.values())
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return sum(leaves(one) for one in value)
    return 1


def test_a_person_types_at_most_sixty_answers():
    text = PAGE.read_text(encoding="utf-8")
    names = {}
    block = text[text.index("ANSWERS = {") : text.index('plan = Path("plan.toml")')]
    exec(block, names)  # noqa: S102  our own page
    typed = [answer if answer.startswith("[") else f"[plan]\n{answer}" for answer in names["ANSWERS"].values()]
    keys = sum(leaves(tomllib.loads(part)) for part in (*typed, names["FURTHER"]))
    assert keys <= MOST_KEYS
    assert f"A person types {keys} answers" in text
    assert re.search(r"--require conforming --quiet\n\$ echo \$\?\n0", text)
