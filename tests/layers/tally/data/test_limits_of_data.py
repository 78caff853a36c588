# SPDX-License-Identifier: Apache-2.0
"""What is counted of data sets at the limits: sections of runs, caps on pairs, cells of tables, halves of hashes."""

from __future__ import annotations

import numpy as np
import pytest

from assay.tally.data import near_duplicates, split_counts
from assay.tally.data.durations import FAILED, count_run, find_bins, split_runs, to_nanoseconds
from assay.tally.data.feature_counts import alone, described, missing_by, numbers_by, outside, values_of
from assay.tally.data.image_hashes import near_pictures, picture_hash
from assay.tally.data.near_duplicates import EACH, bands, gathered, meeting, near_numbers, near_texts, space
from assay.tally.data.split_counts import NO_HASHES, Hashes
from tests.layers.assess.controls.looking import opened


@pytest.mark.parametrize(
    ("n", "sections"), [(0, 1), (4, 1), (9, 1), (10, 2), (99, 19), (100, 20), (104, 20), (999, 20)]
)
def test_a_run_has_twenty_sections_of_five_answers_or_fewer_sections(n, sections):
    times = np.arange(n, dtype=np.int64) * 3 + 1
    run = count_run("", times, [50]).runs[0]
    assert len(run.sections) == sections
    sizes = [section.asked for section in run.sections]
    assert sum(sizes) == n
    assert max(sizes) - min(sizes) <= 1
    parts = np.split(times, np.cumsum(sizes)[:-1])
    assert [section.nanoseconds for section in run.sections] == [int(part.sum()) for part in parts]
    assert [section.longest for section in run.sections] == [int(part.max(initial=0)) for part in parts]
    assert [section.over[0] for section in run.sections] == [int((part > 50).sum()) for part in parts]
    assert [section.squares for section in run.sections] == pytest.approx(
        [float(((part / 1e9) ** 2).sum()) for part in parts]
    )


@pytest.mark.parametrize(
    ("times", "halves", "step"),
    [
        ([], (0, 0, 0), 0),
        ([7], (0, 1, 1), 7),
        ([7, 7], (0, 2, 1), 7),
        ([1, 5], (1, 1, 2), 4),
        ([5, 1, 9], (1, 2, 2), 4),
        ([1, 9, 2, 8], (2, 2, 4), 1),
        ([1, FAILED, 2, 8, 9], (2, 3, 4), 1),
        ([FAILED, FAILED], (0, 2, 1), 0),
    ],
)
def test_halves_and_the_step_of_the_clock(times, halves, step):
    run = count_run("", np.array(times, dtype=np.int64)).runs[0]
    assert (run.halves, run.step) == (halves, step)
    assert run.failed == times.count(FAILED)


def test_ranks_begin_at_one_and_end_with_the_answers():
    tally = count_run("", np.array([30, 10, FAILED, 20]), [10, 20])
    assert [tally.at_rank(rank) for rank in (0, 1, 2, 3, 4)] == [1e-8, 1e-8, 2e-8, 3e-8, None]
    assert [tally.within(0), tally.within(1)] == [1, 2]
    assert tally.step == 10


def test_bins_are_exact_up_to_eight_bits_and_halve_their_places_with_each_bit_more():
    times = np.array([0, 1, 127, 128, 255, 256, 257, 258, 511, 512, 515, 516, 1023, 1024])
    assert find_bins(times).tolist() == [0, 1, 127, 128, 255, 256, 256, 257, 383, 384, 384, 385, 511, 512]


def test_times_are_rounded_to_nanoseconds_and_missing_ones_failed():
    assert to_nanoseconds(np.array([1.4e-9, 1.6e-9, np.nan, 2.0])).tolist() == [1, 2, FAILED, 2_000_000_000]


def test_runs_keep_the_order_of_their_rows():
    assert {name: rows.tolist() for name, rows in split_runs(["b", "a", "b", "c", "a"]).items()} == {
        "a": [1, 4], "b": [0, 2], "c": [3],
    }  # fmt: skip
    assert split_runs([]) == {}


@pytest.mark.parametrize(("others", "whole"), [(EACH - 1, True), (EACH, True), (EACH + 1, False)])
def test_a_text_is_held_against_eight_others_of_a_band(others, whole):
    pairs, complete = meeting(bands(["a sentence that repeats"]), bands(["a sentence that repeats"] * others), 1000)
    assert (len(pairs), complete) == (min(others, EACH), whole)


@pytest.mark.parametrize(("most", "whole"), [(5, False), (6, True), (7, True)])
def test_pairs_are_complete_up_to_the_most_that_are_compared(most, whole):
    texts = bands(["one sentence here", "another sentence there", "a third one altogether"])
    pairs, complete = meeting(texts, np.concatenate([texts, texts]), most)
    assert (len(pairs), complete) == (min(most, 6), whole)
    assert len(np.unique(pairs, axis=0)) == len(pairs)


def test_texts_without_a_word_meet_nobody():
    pairs, complete = meeting(bands(["", "text"]), bands(["", "texts of another kind"]), 10)
    assert (len(pairs), complete) == (0, True)


def test_twenty_pairs_are_named_the_most_alike_first():
    pairs = {i: (f"a{i:02}", f"b{i:02}", 0.5 + i / 100) for i in range(21)}
    found = gathered(pairs, whole=True)
    assert found.rows == 21
    assert [one[0] for one in found.pairs] == [f"a{i:02}" for i in range(20, 0, -1)]
    tied = gathered({0: ("b", "x", 0.5), 1: ("a", "x", 0.5)}, whole=False)
    assert [one[0] for one in tied.pairs] == ["a", "b"]


@pytest.mark.parametrize(("rows", "in_memory"), [(10, True), (11, False)])
def test_sketches_beyond_what_memory_may_hold_lie_in_a_file(rows, in_memory, monkeypatch):
    monkeypatch.setattr(near_duplicates, "HELD", 10 * near_duplicates.BANDS * 8)
    assert isinstance(space(rows), np.memmap) != in_memory
    assert space(rows).shape == (rows, near_duplicates.BANDS)


@pytest.mark.parametrize("similarity", [0.47, 10 / 21, 0.48])
def test_texts_as_alike_as_asked_for_are_near(similarity, tmp_path):
    a = opened(tmp_path, "t\nthe cat sat on the mat\n", "a.csv")
    b = opened(tmp_path, "t\nthe cat sat on a mat\n", "b.csv")
    like = near_duplicates.likeness("the cat sat on the mat", "the cat sat on a mat")
    assert near_texts(a, b, ["t"], similarity, None).rows in (0, int(like >= similarity))
    assert like == pytest.approx(11 / 23, abs=0.01)


def test_numbers_are_near_up_to_their_reach_and_the_nearest_is_named(tmp_path):
    a = opened(tmp_path, "id,x\n1,10\n2,20\n3,30\n", "a.csv")
    b = opened(tmp_path, "id,x\n7,10.5\n8,20.25\n9,20.125\n10,30\n11,30.75\n", "b.csv")
    found = near_numbers(a, b, {"x": 0.5}, [], None)
    assert (found.rows, found.whole) == (2, True)
    assert [one[2] for one in found.pairs] == [0.75, 0.0]


def words(*pairs):
    low, high = np.array(sorted(pairs), dtype=np.uint64).reshape(-1, 2).T
    return Hashes(low=low, high=high)


def test_hashes_agree_only_in_both_halves():
    mine, other = words((1, 1), (1, 1), (2, 5), (9, 9)), words((1, 1), (2, 6), (3, 3))
    assert mine.found_in(other) == 2
    assert len(mine.distinct()) == 3
    assert len(words((4, 1), (4, 2)).distinct()) == 2
    assert len(words((4, 1), (5, 1)).distinct()) == 2
    assert other.found_in(mine) == 1
    assert mine.found_in(NO_HASHES) == NO_HASHES.found_in(mine) == len(NO_HASHES.distinct()) == 0


@pytest.mark.parametrize(("levels", "told"), [(3, True), (2, False)])
def test_a_table_of_too_many_cells_is_none(levels, told, tmp_path, monkeypatch):
    monkeypatch.setattr(split_counts, "LEVELS", levels)
    table = opened(tmp_path, "a\nx\ny\nz\nx\n").table("a")
    assert (table == {("x",): 2, ("y",): 1, ("z",): 1}) == told
    assert told or table is None


def test_a_column_in_short(tmp_path):
    split = opened(tmp_path, "a,b,c,y\n1,x,,u\n3,x,,v\n3,2,,v\n,nan,,\n")
    one, two, three = (described(split, name) for name in "abc")
    assert (one.values, one.numbers, one.distinct, one.low, one.high, one.numeric) == (3, 3, 2, 1.0, 3.0, True)
    assert (two.values, two.numbers, two.numeric) == (4, 1, False)
    assert (three.values, three.numeric) == (0, False)
    assert missing_by(split, ["a", "c"], "y") == {
        "u": (1, {"a": 0, "c": 1}), "v": (2, {"a": 0, "c": 2}), None: (1, {"a": 1, "c": 1}),
    }  # fmt: skip
    assert outside(split, {"a": (1, 2.5), "b": (2, 9)}) == ({"a": 2, "b": 0}, 2)
    values, codes, labels = numbers_by(split, "a", "y")
    assert sorted(zip(values.tolist(), codes.tolist(), strict=True)) == [(1.0, 0), (3.0, 1), (3.0, 1)]
    assert labels == ["u", "v"]
    assert sorted(values_of(split, "a").tolist()) == [1.0, 3.0, 3.0]


def test_levels_that_occur_once_tell_nothing_of_the_class(tmp_path):
    split = opened(tmp_path, "v,y\na,0\na,0\nb,0\nb,1\nb,1\nc,1\nd,0\nd,0\n,0\n")
    assert alone(split, "v", "y") == (7, 4, 6)


def test_conflicts_need_two_labels_and_at_least_the_fewer_of_them_err(tmp_path):
    split = opened(tmp_path, "v,y\na,0\na,0\na,1\nb,1\nb,1\nc,0\nc,1\nc,2\nc,2\n")
    found = split.conflicts(["v"], "y")
    assert (found.groups, found.rows, found.least_errors, found.distinct) == (2, 7, 3, 3)


def test_a_picture_with_too_many_pixels_or_outside_its_folder_has_no_hash(tmp_path, monkeypatch):
    image = pytest.importorskip("PIL.Image")
    image.new("L", (8, 5), 3).save(tmp_path / "p.png")
    for pixels, told in ((40, False), (39, True)):
        monkeypatch.setattr("assay.tally.data.image_hashes.PIXELS", pixels)
        assert (picture_hash(tmp_path, "p.png") == "it has too many pixels") == told
    assert picture_hash(tmp_path, "../p.png") == "it does not lie in the folder of the plan"
    assert isinstance(picture_hash(tmp_path, "q.png"), str)


def test_the_hash_of_a_picture_is_its_low_frequencies_above_their_median(tmp_path):
    image = pytest.importorskip("PIL.Image")
    from scipy.fft import dctn

    pixels = np.random.default_rng(1).integers(0, 255, (32, 32)).astype(np.uint8)
    image.fromarray(pixels).save(tmp_path / "p.png")
    low = dctn(pixels.astype(float), norm="ortho")[:8, :8].ravel()
    bits = "".join("1" if i and one > np.median(low[1:]) else "0" for i, one in enumerate(low))
    assert picture_hash(tmp_path, "p.png") == int(bits, 2)


def test_pictures_are_as_alike_as_the_bits_they_share_and_the_nearest_is_named(tmp_path, monkeypatch):
    hashes = {"a.png": 0b1111, "b.png": 0b1100, "c.png": 0b1110, "d.png": (1 << 40) - 1}
    monkeypatch.setattr("assay.tally.data.image_hashes.picture_hash", lambda _, place: hashes[place])
    mine = opened(tmp_path, "p\na.png\nd.png\na.png\n", "mine.csv")
    other = opened(tmp_path, "p\nb.png\nc.png\n", "other.csv")
    for block in (1, 1 << 22):
        monkeypatch.setattr("assay.tally.data.image_hashes.BLOCK", block)
        for distance, rows in ((0, 0), (1, 2), (36, 2), (37, 3)):
            found = near_pictures(mine, other, "p", folder=tmp_path, distance=distance, naming=None)
            assert (found.rows, found.whole) == (rows, True)
            assert [one[2] for one in found.pairs][:2] == [1 - 1 / 64] * min(rows, 2)
