# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.core.errors import AssayError, PlanError, RowsError
from assay.rows.files.file_list import MOST, are_paths, list_files, shown


def tree(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("y,p\n1,1\n", encoding="utf-8")
    return folder


def names(data):
    return [one.name for one in list_files(data)]


def refusal(data, code="no-file", kind=PlanError):
    with pytest.raises(AssayError) as caught:
        list_files(data)
    assert caught.value.code == code
    assert type(caught.value) is kind
    assert caught.value.fix
    return caught.value


def test_a_path_that_exists_is_meant_literally_even_with_marks_of_a_pattern(tmp_path):
    tree(tmp_path, "a[1].csv", "a1.csv")
    assert names(tmp_path / "a[1].csv") == ["a[1].csv"]
    (tmp_path / "a[1].csv").unlink()
    assert names(tmp_path / "a[1].csv") == ["a1.csv"]


def test_a_folder_stands_for_the_files_in_it_in_the_order_of_their_names(tmp_path):
    tree(tmp_path, "b.csv", "a/z.csv", "a/b/c.csv", "_SUCCESS", ".hidden.csv", "_meta/x.csv", ".git/y.csv")
    assert names(tmp_path) == ["a/b/c.csv", "a/z.csv", "b.csv"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.csv", ["a.csv", "b.csv"]),
        ("?.csv", ["a.csv", "b.csv"]),
        ("[!a].csv", ["b.csv"]),
        ("*/*.csv", ["x/c.csv"]),
        ("**/*.csv", ["a.csv", "b.csv", "x/c.csv", "x/y/d.csv"]),
        ("**", ["a.csv", "b.csv", "x/c.csv", "x/y/d.csv"]),
        ("x/**/d.csv", ["y/d.csv"]),
        ("x*", ["x/c.csv", "x/y/d.csv"]),
        ("*/y/d.csv", ["x/y/d.csv"]),
    ],
)
def test_a_pattern_finds_what_a_shell_would(tmp_path, pattern, found):
    tree(tmp_path, "a.csv", "b.csv", "x/c.csv", "x/y/d.csv", ".a.csv")
    assert names(tmp_path / pattern) == found


def test_a_pattern_is_looked_up_from_here_if_it_names_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tree(tmp_path, "a.csv", "b.csv"))
    assert names("*.csv") == ["a.csv", "b.csv"]
    assert names(["b.csv", "a.csv"]) == ["a.csv", "b.csv"]
    assert names(".") == ["a.csv", "b.csv"]


def test_files_in_a_list_are_named_below_the_folder_they_share(tmp_path):
    tree(tmp_path, "n/a.csv", "s/t/a.csv")
    assert names([tmp_path / "s/t/a.csv", tmp_path / "n/a.csv"]) == ["n/a.csv", "s/t/a.csv"]
    assert names([tmp_path / "n", tmp_path / "s/t"]) == ["n/a.csv", "s/t/a.csv"]  # both would be called a.csv


def test_folders_called_key_and_value_give_texts_below_what_is_named(tmp_path):
    tree(tmp_path, "run=3/site=01/year=2024/a.csv", "run=3/site=b%20c/year=__HIVE_DEFAULT_PARTITION__/a.csv")
    first, second = list_files(tmp_path / "run=3")
    assert first.levels == {"site": "01", "year": "2024"}
    assert second.levels == {"site": "b c", "year": None}
    assert [one.levels for one in list_files(tmp_path / "run=3/*/*/a.csv")] == [first.levels, second.levels]
    assert list_files(tmp_path / "run=3/site=01/year=2024/a.csv")[0].levels == {}


@pytest.mark.parametrize(
    ("name", "code"),
    [("a=%ff/x.csv", "encoding"), ("a=1/a=2/x.csv", "duplicate-column"), ("a=%00/x.csv", "control-character")],
)
def test_folder_names_that_say_nothing_clear_are_refused(tmp_path, name, code):
    assert name.partition("/")[0][0] in str(refusal(tree(tmp_path, name), code, RowsError))


def test_a_pattern_without_a_match_says_what_is_there(tmp_path):
    tree(tmp_path, "preds/a.parquet")
    error = refusal(tmp_path / "preds/*.csv")
    assert error.what == "no file fits the pattern"
    assert "a.parquet" in error.known
    assert "there is no folder" in refusal(tmp_path / "nowhere/*.csv").known


def test_an_empty_folder_an_empty_list_and_an_empty_path_are_refused(tmp_path):
    tree(tmp_path, "_SUCCESS")
    assert refusal(tmp_path).what == "the folder holds no files"
    refusal([])
    refusal("")
    refusal([tmp_path, ""])


def test_a_file_with_two_names_is_refused(tmp_path):
    tree(tmp_path, "a.csv")
    (tmp_path / "b.csv").hardlink_to(tmp_path / "a.csv")
    (tmp_path / "c.csv").symlink_to(tmp_path / "a.csv")
    for others in (["b.csv"], ["c.csv"], ["a.csv"], ["x/../a.csv"]):
        (tmp_path / "x").mkdir(exist_ok=True)
        error = refusal([tmp_path / "a.csv", *(tmp_path / other for other in others)], "file-listed-twice")
        assert "a.csv" in error.found
    refusal(tmp_path / "*.csv", "file-listed-twice")


def test_links_to_files_are_followed_and_links_to_folders_are_not(tmp_path):
    tree(tmp_path, "far/a.csv", "here/b.csv")
    (tmp_path / "here/a.csv").symlink_to(tmp_path / "far/a.csv")
    assert names(tmp_path / "here") == ["a.csv", "b.csv"]
    (tmp_path / "here/loop").symlink_to(tmp_path / "here")
    assert "another folder" in refusal(tmp_path / "here").what
    assert names(tmp_path / "here/**/*.csv") == ["a.csv", "b.csv"]


def test_what_is_no_file_is_refused_where_it_stands(tmp_path):
    tree(tmp_path, "a.csv")
    (tmp_path / "b.csv").symlink_to(tmp_path / "gone.csv")
    assert "b.csv" in refusal(tmp_path).where
    (tmp_path / "b.csv").unlink()
    os.mkfifo(tmp_path / "b.csv")
    assert refusal(tmp_path / "*.csv").what == "the path is not a regular file"


@pytest.mark.parametrize(
    ("name", "code"),
    [("_delta_log/0.json", "refused-format"), (".hoodie/x", "refused-format"), ("_temporary/0/x", "file-truncated")],
)
def test_a_folder_whose_files_are_not_its_rows_is_refused(tmp_path, name, code):
    refusal(tree(tmp_path, "part-0.csv", name), code, RowsError)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_cannot_be_read_is_refused(tmp_path):
    tree(tmp_path, "x/a.csv")
    (tmp_path / "x").chmod(0)
    assert refusal(tmp_path).what == "the folder cannot be read"
    (tmp_path / "x").chmod(0o700)


def test_too_many_files_are_a_mistake(tmp_path, monkeypatch):
    assert MOST == 100_000
    monkeypatch.setattr("assay.rows.files.file_list.MOST", 2)
    tree(tmp_path, "a.csv", "b.csv", "c.csv")
    for data in (tmp_path, tmp_path / "*.csv", sorted(tmp_path.iterdir())):
        assert "more than 2 files" in refusal(data).what


def test_only_texts_and_paths_name_files():
    assert are_paths("a.csv")
    assert are_paths([Path("a.csv"), "b.csv"])
    assert not are_paths([])
    assert not are_paths(["a.csv", 1])
    assert not are_paths({"a": 1})
    assert shown(["a.csv", "b.csv", "c.csv"]) == "a.csv and 2 more"
