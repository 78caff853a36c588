# SPDX-License-Identifier: Apache-2.0
"""The order of the rows, and the size of the pieces they are counted in, leave no trace."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import assay
from assay.rows import columns
from assay.tally.labels import array_counts as counting
from tests.strategies import LABELS, SOME, rows

SIZES = {
    "tiny chunks": {"CHUNK": 1},
    "odd chunks": {"CHUNK": 3},
    "nothing dense": {"DENSE": 0},
    "tiny blocks": {"DENSE": 0, "BLOCK": 1},
    "odd blocks": {"CHUNK": 2, "DENSE": 0, "BLOCK": 5},
}


def shape(dtype, part, *, weighted=False, grouped=True):
    truth, predicted, site, weight = ([row[i] for row in part] for i in range(4))
    spelled = {
        "text objects": lambda x: np.array(x, dtype=object),
        "fixed text": np.array,
        "integers": lambda x: np.array([LABELS.index(v) for v in x], dtype=np.int64) - 1,
        "wide integers": lambda x: np.array([10**12 * LABELS.index(v) for v in x], dtype=np.int64),
        "small integers": lambda x: np.array([LABELS.index(v) for v in x], dtype=np.uint8),
        "whole floats": lambda x: np.array([LABELS.index(v) for v in x], dtype=np.float64),
    }[dtype]
    labels = [spelled([label]).tolist()[0] for label in LABELS]
    return assay.assess(
        truth=spelled(truth),
        predicted=spelled(predicted),
        group={"site": site} if grouped else None,
        weight=weight if weighted else None,
        labels=[int(x) if isinstance(x, float) else x for x in labels],
    )


def told(found):
    return found.confusion.to_json(), found.grouped.to_json(), found.census.to_json()


KINDS = ["text objects", "fixed text", "integers", "wide integers", "small integers", "whole floats"]


@pytest.mark.parametrize("weighted", [False, True], ids=["counts", "weights"])
@SOME
@given(data=st.data(), part=rows)
def test_the_order_of_the_rows_leaves_no_trace(weighted, data, part):
    shuffled = data.draw(st.permutations(part))
    assert told(shape("text objects", part, weighted=weighted)) == told(
        shape("text objects", shuffled, weighted=weighted)
    )


@pytest.mark.parametrize("weighted", [False, True], ids=["counts", "weights"])
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_the_size_of_the_pieces_leaves_no_trace(kind, size, weighted):
    rng = np.random.default_rng(3)
    part = [
        (LABELS[t], LABELS[p], site, float(w))
        for t, p, site, w in zip(
            rng.integers(0, 3, 211),
            rng.integers(0, 3, 211),
            rng.choice(["n", "s", "w"], 211).tolist(),
            rng.random(211),
            strict=True,
        )
    ]
    whole = told(shape(kind, part, weighted=weighted))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SIZES[size].items():
            for module in (counting, columns):
                if hasattr(module, name):
                    patch.setattr(module, name, value)
        assert told(shape(kind, part, weighted=weighted)) == whole


@pytest.mark.parametrize("kind", KINDS)
def test_missing_labels_keep_their_own_place_in_any_piece(kind):
    if kind in ("integers", "wide integers", "small integers", "fixed text"):
        truth = np.ma.masked_array([0, 1, 2, 1, 0] * 9, mask=[0, 0, 1, 0, 0] * 9)
    else:
        truth = [0.0, 1.0, float("nan"), 1.0, 0.0] * 9 if kind == "whole floats" else ["0", "1", None, "1", "0"] * 9
    predicted = ["1", "1", "0", "0", "0"] * 9 if kind == "text objects" else [1, 1, 0, 0, 0] * 9

    def counted():
        return told(assay.assess(truth=truth, predicted=predicted, missing="drop"))

    whole = counted()
    assert whole[2] == {"read": 45, "scored": 36, "excluded": {"truth is missing": 9}, "unmatched": 0}
    with pytest.MonkeyPatch.context() as patch:
        for module in (counting, columns):
            patch.setattr(module, "CHUNK", 2)
        patch.setattr(counting, "DENSE", 0)
        patch.setattr(counting, "BLOCK", 4)
        assert counted() == whole


@SOME
@given(
    data=st.data(),
    weights=st.lists(st.floats(0, 2.0**40).filter(lambda w: not 0 < w < 1e-9), min_size=1, max_size=30),
)
def test_any_partition_of_the_rows_gives_the_weight_to_11_digits(data, weights):
    cut = data.draw(st.integers(0, len(weights)))
    exact = sum(map(Fraction, weights), Fraction(0))
    pieces = [w for w in (weights[:cut], weights[cut:]) if any(w)]
    assume(pieces)
    found = [
        assay.assess(truth=["a"] * len(w), predicted=["a"] * len(w), weight=w, labels=LABELS).confusion for w in pieces
    ]
    total = found[0] if len(found) == 1 else found[0] + found[1]
    assert abs(total.total - exact) <= exact * Fraction(1, 10**11)
    assert total.rows == sum(map(len, pieces))
