# SPDX-License-Identifier: Apache-2.0
"""An id may name a person, and errors end in logs: they show keyed hashes unless somebody asks for the ids."""

from __future__ import annotations

import polars as pl
import pytest

import assay
from assay.core.errors import AssayError
from assay.rows.joins import mismatch_errors as ids
from tests import command, flat

SHOW = assay.Reading(show_ids=True)
NAMES = ["ann", "bob", "cid", "dee"]


def refused(act, **given):
    with pytest.raises(AssayError) as caught:
        act(**given)
    return caught.value


def told(error):
    """All that anybody gets to see of an error."""
    return f"{error} {error!r} {error.args} {error.to_json()}"


def ways(folder):
    """Everything that can go wrong with ids, in files, frames and arrays, alone and with truth elsewhere."""
    right, labels = ["x", "y", "x", "y"], {"y": ["x", "y", "x", "y"], "p": ["x", "x", "x", "y"]}
    twice = pl.DataFrame({"id": [NAMES[0], *NAMES[:3]], **labels})
    other = pl.DataFrame({"id": NAMES, "y": right})
    lone = pl.DataFrame({"id": ["Ann ", *NAMES[1:]], **labels})
    for name, frame in {"twice": twice, "other": other, "lone": lone}.items():
        frame.write_csv(folder / f"{name}.csv")
    alone = {"truth": "y", "predicted": "p", "id": "id"}
    models = {"truth": "y", "predicted": "p", "id": "id"}
    calls = pl.DataFrame({"id": NAMES, **labels})
    turned = calls.with_columns(y=pl.Series(["y", "y", "x", "y"]))
    return {
        "a file": (flat.assess, {"data": folder / "twice.csv", **alone}),
        "a frame": (flat.assess, {"data": twice, **alone}),
        "arrays": (flat.assess, {"truth": right, "predicted": labels["p"], "id": twice["id"].to_list()}),
        "two files": (flat.assess, {"data": folder / "lone.csv", "truth_data": folder / "other.csv", **alone}),
        "two frames": (flat.assess, {"data": lone.drop("y"), "truth_data": other, **alone}),
        "models, twice": (flat.compare, {"data": {"A": calls, "B": twice}, **models}),
        "models, other rows": (flat.compare, {"data": {"A": calls, "B": lone}, **models}),
        "models, other truth": (flat.compare, {"data": {"A": calls, "B": turned}, **models}),
    }


def test_no_error_shows_an_id_unless_it_is_asked_for(tmp_path):
    for way, (act, given) in ways(tmp_path).items():
        hidden, shown = refused(act, **given), refused(act, **given, reading=SHOW)
        assert type(hidden) is type(shown), way
        assert (hidden.code, hidden.what, hidden.where) == (shown.code, shown.what, shown.where), way
        assert not any(f'"{name}' in told(hidden) for name in (*NAMES, "Ann")), way
        assert "--show-ids" in hidden.typed
        assert "#" in hidden.found, way
        assert '"ann"' in told(shown), way
        assert "--show-ids" not in shown.fix
        assert hidden.fix.startswith(shown.fix)


def test_the_rows_of_hashed_ids_are_still_told(tmp_path):
    act, given = ways(tmp_path)["a file"]
    assert refused(act, **given).found.endswith(" in rows 1, 2")


def test_ids_that_look_alike_are_told_to_differ(tmp_path):
    act, given = ways(tmp_path)["two files"]
    assert refused(act, **given).known.endswith(" differ, though they look alike")


def test_a_hash_tells_ids_apart_and_depends_on_the_key(monkeypatch):
    some = [("a",), ("b",), ("1",), (1,), (True,), ("a", "b"), ("a\0str\0b",), ("\ud800",)]

    def hashes(key):
        monkeypatch.setenv(ids.ID_KEY, key)
        return [ids.hashed_id(one) for one in some]

    first = hashes("ours")
    assert len(set(first)) == len(some)
    assert hashes("ours") == first
    assert not set(hashes("theirs")) & set(first)
    assert not set(hashes("")) & set(first)
    assert hashes("") == hashes("")


def test_the_command_line_shows_ids_when_told_to(tmp_path):
    ways(tmp_path)
    run = ["run", tmp_path / "twice.csv", "--truth", "y", "--predicted", "p"]
    for option, there in (([], False), (["--show-ids"], True)):
        done = command.assay(*run, "--id", "id", "--out", tmp_path / "out", *option)
        assert done.returncode == 4
        assert ('"ann"' in done.stderr) == there
