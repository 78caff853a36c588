# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from assay.assess.plan.document import Spots
from assay.core.errors import PlanError

TOML = '''# a comment with [brackets] and = signs
top = "a # no comment"

[section]
"quoted key" = 1
a.b = """
three
lines"""
list = [
  1,
  {x = 2, y = [3,
    4]},
]

[[many]]
k = 1
[[many]]
k = 2
[many.below]
z = 'lit'
'''


def test_every_toml_key_has_its_line():
    spots = Spots(TOML)
    for path, line in {
        ("top",): 2,
        ("section",): 4,
        ("section", "quoted key"): 5,
        ("section", "a", "b"): 6,
        ("section", "list"): 9,
        ("section", "list", 0): 10,
        ("section", "list", 1, "x"): 11,
        ("section", "list", 1, "y", 1): 12,
        ("many", 0, "k"): 16,
        ("many", 1, "k"): 18,
        ("many", 1, "below", "z"): 20,
    }.items():
        assert spots.line(path) == line, path


def test_a_path_nobody_wrote_has_the_line_of_the_part_above_it():
    assert Spots(TOML).line(("section", "missing", "deeper")) == 4
    assert Spots(TOML).line(("nowhere",)) == 1


def test_every_json_key_has_its_line():
    spots = Spots('{\n "a": {"b": [1,\n  {"c": "x:y"}]},\n "d": null\n}', "JSON")
    for path, line in {("a",): 2, ("a", "b", 0): 2, ("a", "b", 1, "c"): 3, ("d",): 4}.items():
        assert spots.line(path) == line, path


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 100_000, ".".join(["a"] * 100_000) + " = 1", "[" + "a." * 50_000 + "a]"]
)
def test_deep_nesting_is_refused_before_a_parser_sees_it(text):
    with pytest.raises(PlanError) as raised:
        Spots(text)
    assert raised.value.code == "plan-too-deep"
