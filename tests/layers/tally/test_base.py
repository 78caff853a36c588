# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import hashlib
import json
from fractions import Fraction

import numpy as np
import pytest

from assay.core.errors import OutOfRange, RecordError
from assay.tally.base import (
    LARGEST,
    SAFE,
    checked,
    count_from_json,
    count_to_json,
    digest,
    packed_whole,
    unpacked_whole,
)


@pytest.mark.parametrize(
    ("count", "written"),
    [
        (0, 0), (7, 7), (SAFE, SAFE), (SAFE + 1, str(SAFE + 1)), (LARGEST, str(LARGEST)),
        (Fraction(1, 2), "1/2"), (Fraction(6, 2), 3), (Fraction(2**60), str(2**60)),
    ],
)  # fmt: skip
def test_a_count_is_a_number_while_every_reader_keeps_it_exact_and_text_beyond(count, written):
    assert count_to_json(count) == written
    assert type(count_to_json(count)) is type(written)
    assert count_from_json(written) == count


@pytest.mark.parametrize("written", [True, None, 1.5, "", "x", "1/0", [1], "1e400000000"[:3] + "x", {}])
def test_a_count_that_is_written_otherwise_is_refused(written):
    with pytest.raises(RecordError) as refused:
        count_from_json(written)
    assert refused.value.code == "record-unreadable"


def test_the_largest_count_fits_and_one_more_is_an_error():
    assert checked(LARGEST) == LARGEST == 2**63 - 1
    for beyond in (LARGEST + 1, Fraction(LARGEST) + Fraction(1, 3), 2**200):
        with pytest.raises(OutOfRange) as refused:
            checked(beyond)
        assert refused.value.code == "count-overflow"


def test_a_digest_does_not_depend_on_the_order_of_keys_and_tells_types_apart():
    assert digest({"a": 1, "b": [1, 2]}) == digest({"b": [1, 2], "a": 1})
    assert len({digest(x) for x in (1, "1", True, [1], {"1": 1}, None)}) == 6
    assert digest("ü") != digest("u")


@pytest.mark.parametrize("mark", ["", '"', "\\", "\n", "\x7f", "é", "\ud800"])
def test_a_digest_is_that_of_the_canonical_json_of_long_texts_too(mark):
    long = "Ab+/" * 5000 + mark
    content = {"b": [long, long], "a": {"text": long, "mixed": [long, 1, "x"]}, "c": [[long]], "d": [], "e": {}}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert digest(content) == hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def test_a_digest_of_text_that_is_no_valid_unicode_exists():
    assert len(digest("\ud800")) == 64


def test_a_digest_refuses_what_json_has_no_word_for():
    with pytest.raises(ValueError, match="not JSON compliant"):
        digest(float("nan"))


@pytest.mark.parametrize("width", range(1, 9))
def test_packed_numbers_are_big_endian_bytes_as_wide_as_the_largest(width):
    largest = min(256**width, 2**63) - 1
    numbers = [largest, 0, 1, largest // 3]
    raw = b"".join(number.to_bytes(width, "big") for number in numbers)
    text = f"{width}{base64.b64encode(raw).decode().rstrip('=')}"
    assert packed_whole(np.array(numbers)).rstrip("=") == text
    assert unpacked_whole(packed_whole(np.array(numbers)), 4).tolist() == numbers


@pytest.mark.parametrize("width", ["", "0", "9", "x", "-"])
def test_packed_numbers_of_no_width_are_refused(width):
    with pytest.raises(RecordError, match="how wide its numbers are"):
        unpacked_whole(f"{width}{packed_whole(np.array([1, 2, 3]))[1:]}" if width else "", 3)
