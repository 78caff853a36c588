# SPDX-License-Identifier: Apache-2.0
"""Near-duplicates: sketches against sets, and every kind of content against comparing all pairs."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import RowsError
from assay.rows.files.formats import Reading
from assay.tally.data import near_duplicates
from assay.tally.data.near_duplicates import (
    BANDS,
    Naming,
    bands,
    likeness,
    meeting,
    mixed,
    near_numbers,
    near_texts,
    shingles,
)
from assay.tally.data.split_counts import SplitRows
from tests.layers.assess.controls.looking import opened

WORDS = ["red", "blue", "old", "new", "patient", "shows", "no", "sign", "small", "large", "lesion", "left", "lung"]


def prose(rng, n=40):
    return " ".join(rng.choice(WORDS) + str(rng.randint(0, 99)) for _ in range(n))


def grams(text):
    raw = text.encode()
    return {raw[i : i + 5] for i in range(max(1, len(raw) - 4))} if raw else set()


@given(st.lists(st.text(max_size=30), max_size=6))
def test_shingles_are_the_runs_of_five_bytes(texts):
    words, owner = shingles(texts)
    for i, text in enumerate(texts):
        assert len(np.unique(words[owner == i])) == len(grams(text))


def test_a_shingle_is_its_fnv1a_hash_mixed_as_splitmix64_does():
    """Published values: FNV-1a of "hello", and the first number that SplitMix64 draws from the seed 0."""
    assert mixed(np.array([0x9E3779B97F4A7C15], dtype=np.uint64)).tolist() == [0xE220A8397B1DCDAF]
    assert shingles(["hello"])[0].tolist() == mixed(np.array([0xA430D84680AABD0B], dtype=np.uint64)).tolist()


@given(st.text(max_size=40), st.text(max_size=40))
def test_likeness_is_the_jaccard_index_of_sets(a, b):
    first, second = grams(a), grams(b)
    either = len(first | second)
    assert likeness(a, b) == pytest.approx(len(first & second) / either if either else 1.0)


def test_texts_meet_in_a_band_as_often_as_the_jaccard_index_promises():
    """At J about 0.5, four bins a band agree in 0.5 ** 4 of the bands."""
    rng, shared, expected = random.Random(1), 0, 0.0
    for _ in range(200):
        words = prose(rng, 60).split()
        a, b = " ".join(words), " ".join(words[:42] + prose(rng, 18).split())
        shared += int((bands([a]) == bands([b])).sum())
        expected += BANDS * likeness(a, b) ** 4
    assert shared == pytest.approx(expected, rel=0.15)


def test_like_texts_are_found_and_unlike_ones_are_not(tmp_path):
    rng = random.Random(2)
    train = [prose(rng) for _ in range(300)]
    test = [prose(rng) for _ in range(100)]
    for i in range(10):  # one word of forty is another
        words = train[i].split()
        words[20] = "altered"
        test[i] = " ".join(words)
    test[50] = train[50].upper()  # the same once folded: not a near-duplicate but a duplicate
    a = opened(tmp_path, "id,t\n" + "".join(f"x{i},{t}\n" for i, t in enumerate(test)), "test.csv")
    b = opened(tmp_path, "id,t\n" + "".join(f"y{i},{t}\n" for i, t in enumerate(train)), "train.csv")
    naming = Naming.of(a, "id")
    found = near_texts(a, b, ["t"], 0.8, naming)
    assert (found.rows, found.whole) == (10, True)
    assert {(one, other) for one, other, _ in found.pairs} == {
        (naming.named(f"x{i}"), naming.named(f"y{i}")) for i in range(10)
    }
    assert all(like >= 0.8 for *_, like in found.pairs)
    assert not any("x1" in name for pair in found.pairs for name in pair[:2])


def test_texts_that_repeat_without_end_stay_within_the_cap():
    same = bands(["one and the same sentence"] * 1000)
    pairs, whole = meeting(same, same, 2000)
    assert len(pairs) <= 2000
    assert not whole


def test_numbers_that_nearly_coincide_are_those_of_comparing_all_pairs(tmp_path):
    rng = np.random.default_rng(3)
    train, test = rng.normal(size=(400, 4)), rng.normal(size=(200, 4))
    test[:30] = train[:30] + rng.uniform(-0.9, 0.9, (30, 4)) * 0.01
    test[30:35] = train[30:35]  # equal: no near-duplicates
    test[35:40] = train[35:40] + np.array([0.02, 0, 0, 0])  # beyond reach in one feature

    def text(rows, mark):
        lines = (f"{mark}{i}," + ",".join(repr(float(x)) for x in row) + f",{i % 2}\n" for i, row in enumerate(rows))
        return "id,a,b,c,d,kind\n" + "".join(lines)

    a, b = opened(tmp_path, text(test, "x"), "test.csv"), opened(tmp_path, text(train, "y"), "train.csv")
    found = near_numbers(a, b, dict.fromkeys("abcd", 0.01), ["kind"], Naming.of(a, "id"))
    off = np.abs(test[:, None] - train[None]).max(axis=2)
    kind = (np.arange(200)[:, None] - np.arange(400)[None]) % 2 == 0
    expected = ((off <= 0.01) & (off > 0) & kind).any(axis=1)
    assert expected.sum() == 30
    assert 29 <= found.rows <= 30  # two grids miss a pair of about 250 with four features
    assert found.whole
    other = near_numbers(a, b, dict.fromkeys("abcd", 1e-9), ["kind"], None)
    assert other.rows == 0


def test_missing_numbers_are_alike_only_to_missing_ones(tmp_path):
    a = opened(tmp_path, "a,b\n1.0,\n2.0,5\n", "a.csv")
    b = opened(tmp_path, "a,b\n1.001,\n2.001,\n", "b.csv")
    assert near_numbers(a, b, {"a": 0.01, "b": 0.01}, [], None).rows == 1


def wave(rng):
    return np.sin(np.linspace(0, rng.uniform(2, 20), 96) + rng.uniform(0, 6))


def test_pictures_saved_again_are_alike_and_others_are_not(tmp_path):
    image = pytest.importorskip("PIL.Image")
    from assay.tally.data.image_hashes import near_pictures

    rng = np.random.default_rng(4)
    for i in range(12):
        waves = sum(np.outer(wave(rng), wave(rng)) for _ in range(6))
        pixels = (127 + 100 * waves / np.abs(waves).max()).astype(np.uint8)
        image.fromarray(pixels).save(tmp_path / f"train{i}.png")
        again = image.fromarray(pixels if i < 4 else pixels[::-1, ::-1].T)
        again.resize((80, 80)).save(tmp_path / f"test{i}.jpg", quality=70)
    a = opened(tmp_path, "id,p\n" + "".join(f"x{i},test{i}.jpg\n" for i in range(12)), "a.csv")
    b = opened(tmp_path, "id,p\n" + "".join(f"y{i},train{i}.png\n" for i in range(12)), "b.csv")
    naming = Naming.of(a, "id")
    found = near_pictures(a, b, "p", folder=tmp_path, distance=4, naming=naming)
    assert {(one, other) for one, other, _ in found.pairs} >= {
        (naming.named(f"x{i}"), naming.named(f"y{i}")) for i in range(4)
    }
    assert found.rows <= 5
    odd = opened(tmp_path, "id,p\n1,../x.png\n2,nowhere.png\n", "c.csv")
    with pytest.raises(RowsError, match="2 pictures cannot be read"):
        near_pictures(odd, b, "p", folder=tmp_path, distance=4, naming=None)


def test_whoever_watches_hears_how_far_the_rows_are(tmp_path, monkeypatch):
    monkeypatch.setattr(near_duplicates, "BATCH", 2)
    (tmp_path / "a.csv").write_text("t\n" + "".join(f"row {i}\n" for i in range(5)))
    split, told = SplitRows.of(str(tmp_path / "a.csv"), reading=Reading()), []
    watched = replace(split.opened, progress=lambda done, whole: told.append((done, whole)))
    split = SplitRows(watched)
    assert sum(map(len, near_duplicates.batches(split, "SELECT t FROM rows"))) == 5
    size = split.opened.bytes
    assert told[-3:] == [(int(size * done / 5), size) for done in (2, 4, 5)]
