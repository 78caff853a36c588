# SPDX-License-Identifier: Apache-2.0
"""Any Python object for any option gives a value or an error of ours, never a traceback, never a wrong number."""

from __future__ import annotations

import contextlib
from dataclasses import fields

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import assay
from assay.assess.arguments import CLASSES
from assay.core.errors import AssayError
from tests.hostile_objects import ANSWERS, CALLS, FEATURES, OPTIONS, SIZE, call, columns, command, objects

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=5)
    | st.complex_numbers() | st.decimals() | st.fractions() | st.dates() | st.timedeltas(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
ANY = PLAIN | st.integers(0, SIZE - 1).map(lambda place: objects()[place])
ANY |= st.integers(0, len(columns()) - 1).map(lambda place: columns()[place])
QUICK = settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=12)
FINE = ("value", "refused")


@pytest.mark.parametrize("name", sorted(CALLS))
@QUICK
@given(data=st.data())
def test_any_object_for_any_argument_gives_a_value_or_an_error_of_ours(name, data):
    key = data.draw(st.sampled_from(CALLS[name][2]))
    value = data.draw(ANY)
    assert call(name, **{key: value}) in FINE, (name, key, value)


@pytest.mark.parametrize("argument", sorted(CLASSES))
@QUICK
@given(data=st.data())
def test_any_object_for_any_field_of_a_setting(argument, data):
    kind = CLASSES[argument]
    field = data.draw(st.sampled_from([one.name for one in fields(kind)]))
    value = data.draw(ANY)
    door = "compare" if argument == "tests" else "assess"
    try:
        setting = kind(**{field: value})
    except AssayError:
        return
    assert call(door, **{argument: setting}) in FINE, (kind, field, value)


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=8)
@given(data=st.data())
def test_any_object_for_any_argument_of_conduct(data):
    from sklearn.linear_model import LogisticRegression

    given_ = {"estimators": {"A": LogisticRegression()}, "X": FEATURES, "y": ANSWERS, "scheme": "2-fold", "positive": 1}
    key = data.draw(st.sampled_from([*given_, "groups", "time", "id", "labels", "measures", "seed", "folder", "jobs"]))
    value = data.draw(ANY)
    if key == "jobs" and isinstance(value, int) and abs(value) > 2:
        return  # as many processes as that are what was asked for
    with contextlib.suppress(AssayError):
        assay.conduct(**{**given_, key: value})


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=12)
@given(option=st.sampled_from(OPTIONS), text=st.text(max_size=12) | st.sampled_from(["nan", "-1", "1e999", "=", "a:b"]))
def test_any_text_for_any_option_of_the_command_line(option, text, tmp_path_factory):
    folder = tmp_path_factory.mktemp("any")
    path = folder / "rows.csv"
    path.write_text("truth,called\n" + "0,0\n1,1\n0,1\n1,1\n" * 4, encoding="utf-8")
    words = [option, text.replace("\x00", ""), "--out", str(folder / "out")]
    assert command(words, path) in FINE, (option, text)
