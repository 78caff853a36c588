# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.core.text import SHOWN, counted, figure, listed, look, nearest, quoted, visible

HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("cat", "cat"),
        ("", "(empty text)"),
        ("a\tb\nc", "a\\tb\\nc"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\u202eevil", "\\u202eevil"),
        ("\x00", "\\x00"),
        ("\ud800", "\\ud800"),
        ("Zürich", "Zürich"),
        ("東京", "東京"),
        (3, "3"),
        (None, "None"),
    ],
    ids=[
        "plain",
        "empty",
        "line feed",
        "zero width",
        "bidi",
        "NUL",
        "lone surrogate",
        "umlaut",
        "CJK",
        "number",
        "None",
    ],
)
def test_a_name_is_shown_as_it_is_but_for_what_nobody_sees(name, shown):
    assert visible(name) == shown


@given(st.text(alphabet=st.characters(), max_size=400))
def test_a_shown_name_has_no_invisible_character_and_no_endless_length(name):
    shown = visible(name)
    assert shown
    assert not [c for c in shown if unicodedata.category(c) in HIDDEN]
    assert len(shown) <= SHOWN * 10
    assert "\n" not in shown


def test_a_long_name_is_cut_and_told_apart_by_its_hash():
    one, other = visible("x" * 1000), visible("x" * 999 + "y")
    assert len(one) <= SHOWN
    assert one != other
    assert one[: SHOWN - 12] == other[: SHOWN - 12]
    assert visible("x" * SHOWN) == "x" * SHOWN


@pytest.mark.parametrize(
    ("label", "typed"), [("cat", '"cat"'), (1, "1"), (True, "True"), ("1", '"1"'), ("", '"(empty text)"')]
)
def test_a_label_is_quoted_as_it_must_be_typed(label, typed):
    assert quoted(label) == typed


@pytest.mark.parametrize(
    ("items", "most", "shown"),
    [
        ([], 8, ""),
        (["a"], 8, '"a"'),
        (["a", "b"], 2, '"a", "b"'),
        (["a", "b", "c"], 2, '"a", "b" and 1 more'),
        (range(3000), 1, "0 and 2,999 more"),
    ],
)
def test_a_list_is_cut_with_the_number_left_out(items, most, shown):
    assert listed(items, most=most) == shown


@pytest.mark.parametrize(
    ("n", "words", "shown"),
    [
        (0, ("row",), "0 rows"),
        (1, ("row",), "1 row"),
        (1200, ("row",), "1,200 rows"),
        (2, ("class", "classes"), "2 classes"),
        (1, ("class", "classes"), "1 class"),
    ],
)
def test_a_count_takes_the_right_noun(n, words, shown):
    assert counted(n, *words) == shown


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("recal", ["recall", "precision"], "recall"),
        ("RECALL", ["recall"], "recall"),
        ("xyz", ["recall"], None),
        ("a", [], None),
        ("Truth", ["truth", "true"], "truth"),
    ],
)
def test_the_nearest_word_is_offered_or_none(word, known, found):
    assert nearest(word, known) == found


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (" True", "true"),
        ("e\u0301", "é"),
        ("a\u200bb", "AB"),
        ("ﬁsh", "fish"),
        ("\uff21\uff22", "ab"),
        ("no  rm", "norm"),
    ],
)
def test_labels_that_look_alike_have_one_look(a, b):
    assert look(a) == look(b)


@pytest.mark.parametrize(("a", "b"), [("cat", "cot"), ("1", "l"), ("o", "0")])
def test_labels_that_differ_have_different_looks(a, b):
    assert look(a) != look(b)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0.000"), (0.87, "0.870"), (1, "1.000"), (-0.25, "-0.250"), (4.2e-6, "4.2e-06"), (0.0004999, "0.0005"),
        (0.99996, "> 0.999"), (1 - 1e-9, "> 0.999"), (-0.9999, "< -0.999"), (1.0003, "1.0003"), (1.0000001, "1.000"),
        (float("inf"), "infinite"),
        (float("-inf"), "-infinite"), (12.07117, "12.07"), (123456789.0, "1.2e+08"),
    ],
)  # fmt: skip
def test_a_figure_is_never_a_false_zero_or_a_false_one(value, shown):
    assert figure(value) == shown


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12))
@example(0.99999)
@example(-0.99999)
def test_a_figure_can_be_read_back_to_three_digits(value):
    shown = figure(value)
    read = float(shown.removeprefix("> ").removeprefix("< "))
    assert abs(read - value) <= max(0.00051, abs(value) * 0.051)
    assert (read == 0) == (abs(value) < 1e-12)


@given(st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_a_share_that_is_not_everything_does_not_print_as_everything(value):
    assert figure(value) != "1.000" or 1 - value <= 1e-12
