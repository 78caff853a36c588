# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.tally import numberlines
from assay.tally.numberlines import digest_of_lines, fits
from assay.tally.pairing import line, proof

LABELS = ["x", "it's", None, 7, True]
ENDINGS = [line(0, label).removeprefix("int 0") for label in LABELS]


@settings(max_examples=60)
@given(
    ids=st.lists(st.integers(0, 10**16 - 1) | st.integers(0, 2000), min_size=1, max_size=40, unique=True),
    seed=st.integers(0, 99),
)
def test_lines_by_columns_have_the_digest_of_lines_one_by_one(ids, seed):
    ends = np.random.default_rng(seed).integers(0, len(LABELS), len(ids))
    expected = proof(ids, [LABELS[i] for i in ends])
    if not fits(len(ids), min(ids), max(ids), len(LABELS)):
        assert max(ids) >= 10**16 // 10
        return
    parts = [(np.array(ids[i : i + 9]), ends[i : i + 9]) for i in range(0, len(ids), 9)]
    assert digest_of_lines(parts, len(ids), max(ids), ENDINGS) == expected


def test_lines_written_in_pieces_are_the_same_lines(monkeypatch):
    ids, ends = np.arange(1000), np.arange(1000) % len(LABELS)
    monkeypatch.setattr(numberlines, "CHUNK", 7)
    expected = proof(ids.tolist(), [LABELS[i] for i in ends])
    assert digest_of_lines([(ids, ends)], 1000, 999, ENDINGS) == expected


def test_more_ids_than_memory_is_meant_for_are_left_to_the_engine():
    assert fits(numberlines.MOST, 0, 10**12, 2)
    assert not fits(numberlines.MOST + 1, 0, 10**12, 2)
