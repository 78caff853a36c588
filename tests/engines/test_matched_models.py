# SPDX-License-Identifier: Apache-2.0
"""Models in tables of their own are joined by id, or by place, to the tallies of columns of one table."""

from __future__ import annotations

import hashlib
import sqlite3

import duckdb
import numpy as np
import polars as pl
import pytest

import assay
from assay.assess.compare import comparison as comparing
from assay.rows.joins.models import digest_rows
from assay.rows.scored_source import Cut
from tests import flat

N = 40
WANTED = {
    "labels": {"predicted": "p"},
    "scores": {"score": "s_x", "positive": "x"},
    "both": {"predicted": "p", "score": "s_x", "positive": "x", "measures": ["f1", "average_precision"]},
    "classes": {"score": {"x": "s_x", "y": "s_y", "z": "s_z"}},
    "named classes": {"score": ["s_x", "s_y", "s_z"], "predicted": "p"},
    "subjects": {"predicted": "p", "subject": "who"},
    "numbered subjects": {"predicted": "p", "subject": "nr"},
    "weights": {"predicted": "p", "weight": "w"},
    "all": {"predicted": "p", "subject": "who", "weight": "w"},
    "scores of subjects": {"score": "s_x", "subject": "who", "positive": "x"},
    "classes of subjects": {"score": {"x": "s_x", "y": "s_y", "z": "s_z"}, "subject": "who", "weight": "w"},
}
IDS = {
    "texts": ["ab", "ab!", "a b", "a", "A", "it's", "é", "a\\b", 'say "hm"', "'\"", *(f"c{i}" for i in range(N - 10))],
    "numbers": [-7, 10, 1, 100, 0, 7 * 10**15, *range(200, 194 + N)],
}


@pytest.fixture(autouse=True)
def untested(monkeypatch):
    """Findings, estimates and ranks are functions of the tallies, and take longer than these."""
    monkeypatch.setattr(comparing, "_answered", lambda *_: ())
    monkeypatch.setattr(comparing.Comparison, "estimates", {})
    monkeypatch.setattr(comparing.Comparison, "ranking", [])


def tables(ids="texts", classes="xyz", models="abc"):
    """Models on the same rows, each in an order of its own."""
    rng = np.random.default_rng(8)
    truth = rng.choice(list(classes), N)
    found = {}
    for name in models:
        calls = np.where(rng.random(N) < 0.7, truth, rng.choice(list(classes), N))
        scores = {f"s_{label}": np.round((truth == label) + rng.normal(size=N), 3) for label in "xyz"}
        units = {"who": [f"s{i // 4}" for i in range(N)], "nr": [i // 4 for i in range(N)]}
        table = pl.DataFrame({"id": IDS[ids], "y": truth, "p": calls, **scores, **units, "w": [1.5, 2.0] * (N // 2)})
        found[name] = table.sample(fraction=1.0, shuffle=True, seed=ord(name))
    return found


def saved(folder, frame, name, kind):
    path = folder / f"{name}.{kind}"
    if kind == "csv":
        frame.write_csv(path)
    elif kind == "parquet":
        frame.write_parquet(path)
    elif kind == "duckdb":
        with duckdb.connect(str(path)) as held:
            held.register("given", frame.to_arrow())
            held.execute("CREATE TABLE rows AS SELECT * FROM given")
    else:
        with sqlite3.connect(path) as held:
            held.execute(f"CREATE TABLE rows ({', '.join(frame.columns)})")
            held.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * frame.width)})", frame.rows())  # noqa: S608
        held.close()
    return path


MADE = {
    "parquet": lambda table, folder, name: saved(folder, table, name, "parquet"),
    "csv": lambda table, folder, name: saved(folder, table, name, "csv"),
    "sqlite": lambda table, folder, name: saved(folder, table, name, "sqlite"),
    "duckdb file": lambda table, folder, name: saved(folder, table, name, "duckdb"),
    "pandas": lambda table, *_: table.to_pandas(),
    "pandas texts": lambda table, *_: table.to_pandas().astype({"y": "category", "id": "string"}),
    "polars": lambda table, *_: table,
    "polars lazy": lambda table, *_: table.lazy(),
    "pyarrow": lambda table, *_: table.to_arrow(),
    "duckdb": lambda table, *_: duckdb.from_arrow(table.to_arrow()),
    "columns": lambda table, *_: {name: table[name].to_numpy() for name in table.columns},
    "lists": lambda table, *_: {name: table[name].to_list() for name in table.columns},
    "dask": lambda table, *_: pytest.importorskip("dask.dataframe").from_pandas(table.to_pandas(), npartitions=2),
    "ibis": lambda table, *_: pytest.importorskip("ibis").memtable(table.to_arrow()),
}


def told(**given):
    try:
        record = flat.compare(reading=assay.Reading(show_ids=True), **given).record
    except assay.AssayError as error:
        return error.code, error.what
    return {name: record[name] for name in ("tallies", "samples", "labels", "positive")} | {
        "digest": record["test_data"]["digest"]
    }


def matched(data, **given):
    return told(data=data, **{"id": "id", "truth": "y"} | given)


def beside(found, **given):
    """The same from columns of one table, and the digest of its ids and truth."""
    first = next(iter(found))
    shared = [*("y", "who", "nr", "w")]
    whole = found[first].select("id", *shared)
    for name, table in found.items():
        own = [column for column in table.columns if column not in ("id", *shared)]
        whole = whole.join(table.select("id", *(pl.col(column).alias(f"{column} {name}") for column in own)), on="id")

    def of(column, name):
        if isinstance(column, dict):
            return {label: f"{one} {name}" for label, one in column.items()}
        if isinstance(column, list):  # of which the names end in the class
            return {one[-1]: f"{one} {name}" for one in column}
        return f"{column} {name}"

    by_model = {
        role: {name: of(given[role], name) for name in found} for role in ("predicted", "score") if role in given
    }
    expected = told(data=whole, truth="y", **given | by_model)
    return expected | {"digest": digest_rows(whole["id"].to_list(), whole["y"].to_list())}


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("ids", IDS)
def test_tables_of_every_kind_are_joined_to_the_tally_of_one_table(kind, ids, tmp_path):
    found = tables(ids)
    if kind in {"csv", "pandas texts"} and ids == "numbers":
        found = {name: table.with_columns(pl.col("id").cast(pl.String)) for name, table in found.items()}
    data = {name: MADE[kind](table, tmp_path, name) for name, table in found.items()}
    assert matched(data, predicted="p") == beside(found, predicted="p")


@pytest.mark.parametrize("kind", ["parquet", "csv", "pandas", "polars lazy"])
@pytest.mark.parametrize("wanted", WANTED)
def test_scores_subjects_and_weights_come_along(kind, wanted, tmp_path):
    given = WANTED[wanted]
    found = tables(classes="xy" if "positive" in given else "xyz", models="ab")
    if kind == "csv" and "nr" in given.values():
        found = {name: table.with_columns(pl.col("nr").cast(pl.String)) for name, table in found.items()}
    data = {name: MADE[kind](table, tmp_path, name) for name, table in found.items()}
    assert matched(data, **given) == beside(found, **given)


@pytest.mark.parametrize("other", ["pandas", "pyarrow", "parquet", "sqlite", "columns"])
def test_a_frame_meets_a_table_of_another_kind(other, tmp_path):
    found = tables(classes="xy", models="ab")
    data = {"a": found["a"], "b": MADE[other](found["b"], tmp_path, "b")}
    assert matched(data, **WANTED["both"]) == beside(found, **WANTED["both"])


@pytest.mark.parametrize("kind", [pl.Int8, pl.UInt64, pl.Float64, pl.Boolean, pl.Categorical, pl.String])
def test_types_of_labels_and_ids_that_differ_only_in_width_are_the_same(kind, tmp_path):
    found = tables(classes="xy")
    for place, (name, table) in enumerate(found.items()):
        numbered = table.with_columns(id=pl.col("id").replace_strict({one: i for i, one in enumerate(IDS["texts"])}))
        flags = pl.col("y", "p") == "x"
        whole = numbered.with_columns(flags if kind == pl.Boolean else flags.cast(pl.Int8))
        if kind != pl.Boolean and not kind.is_numeric():
            whole = whole.with_columns(pl.col("y", "p").cast(pl.String))
        found[name] = whole.with_columns(pl.col("id").cast([pl.Int64, pl.UInt16, pl.UInt64][place]))
        if place:
            found[name] = found[name].with_columns(pl.col("y", "p").cast(kind))
    alike = {name: t.with_columns(pl.col("id").cast(pl.Int64), found["a"]["y"].dtype and pl.col("y", "p").cast(found["a"]["y"].dtype)) for name, t in found.items()}  # fmt: skip  # noqa: E501
    data = {name: saved(tmp_path, table, name, "parquet") for name, table in found.items()}
    assert matched(data, predicted="p") == beside(alike, predicted="p")
    assert matched(found, predicted="p") == beside(alike, predicted="p")


FIRST = pl.col("id") == "a"


def instead(column, value):
    return lambda table: table.with_columns(pl.when(FIRST).then(value).otherwise(column).alias(column))


SPOILED = {
    "twice": (lambda t: t.vstack(t[:2]), "duplicate-id", "2 ids of b stand in more than one row, 4 rows in all"),
    "twice and lost": (
        lambda t: t[1:].vstack(t[1:2]),
        "duplicate-id",
        "1 id of b stands in more than one row, 2 rows in all",
    ),
    "lost": (lambda t: t[1:], "rows-unmatched", "a and b were not run on the same rows (TS 4213, 5.3.5)"),
    "others": (
        lambda t: t.with_columns(id=pl.col("id") + "!!"),
        "rows-unmatched",
        "a and b were not run on the same rows (TS 4213, 5.3.5)",
    ),
    "no id": (instead("id", None), "missing-id", "1 row of b has no id"),
    "numbers as ids": (
        lambda t: t.with_columns(id=pl.Series(range(len(t)))),
        "rows-unmatched",
        "a and b were not run on the same rows (TS 4213, 5.3.5)",
    ),
    "fractions as ids": (
        lambda t: t.with_columns(id=pl.Series(np.arange(len(t)) / 2)),
        "column-type",
        'column "id" is DOUBLE, which cannot hold ids',
    ),
    "another truth": (instead("y", pl.lit("w")), "rows-unmatched", "1 row of 40 has another truth in b than in a"),
    "a truth less": (instead("y", None), "rows-unmatched", "1 row of 40 has another truth in b than in a"),
    "numbers as truth": (
        lambda t: t.with_columns(y=pl.lit(1)),
        "rows-unmatched",
        "40 rows of 40 have another truth in b than in a",
    ),
    "another subject": (
        instead("who", pl.lit("nobody")),
        "rows-unmatched",
        "1 row of 40 has another subject in b than in a",
    ),
    "another weight": (instead("w", pl.lit(7.25)), "rows-unmatched", "1 row of 40 has another weight in b than in a"),
    "another name": (lambda t: t.rename({"y": "truth"}), "missing-column", 'there is no column "y"'),
    "a score less": (instead("s_x", None), "score-not-finite", None),
    "an endless score": (instead("s_x", pl.lit(float("inf"))), "score-not-finite", None),
    "a call less": (instead("p", None), "missing-label", "1 row has no label"),
    "a fraction as truth": (lambda t: t.with_columns(y=pl.lit(0.5)), "label-precision", None),
}


@pytest.mark.parametrize("kind", ["parquet", "polars", "columns"])
@pytest.mark.parametrize("how", SPOILED)
def test_what_does_not_match_is_told(how, kind, tmp_path):
    change, code, what = SPOILED[how]
    found = tables(classes="xy", models="ab")
    found["b"] = change(found["b"])
    given = WANTED["both"] if "score" in how else WANTED["all"]
    data = {name: MADE[kind](table, tmp_path, name) for name, table in found.items()}
    if (kind, how) == ("columns", "fractions as ids"):
        what = 'column "id" is float64, which cannot hold ids'
    error = matched(data, **given)
    assert error[0] == code, error
    assert what is None or error[1] == what


def test_examples_are_told_by_their_ids():
    found = tables(classes="xy", models="ab")
    lost = found | {"b": found["b"].filter(~pl.col("id").is_in(["a", "A", "c1"]))}
    given = {"id": "id", "truth": "y", "predicted": "p", "reading": assay.Reading(show_ids=True)}
    with pytest.raises(assay.UnpairedRows) as error:
        flat.compare(data=lost, **given)
    assert error.value.found == '3 ids only in a: "A", "a", "c1"'
    other = found | {"b": instead("y", pl.lit("w"))(found["b"])}
    with pytest.raises(assay.UnpairedRows) as error:
        flat.compare(data=other, **given)
    assert error.value.found.startswith('row "a": ')
    assert error.value.found.endswith(' and "w"')


def test_an_id_of_very_many_rows_is_told_before_rows_are_multiplied():
    rows = 40_000
    table = pl.DataFrame({"id": ["same"] * rows, "y": ["x", "y"] * (rows // 2), "p": ["x"] * rows})
    assert matched({"a": table, "b": table}, predicted="p") == (
        "duplicate-id",
        "1 id of a stands in more than one row, 40,000 rows in all",
    )
    with pytest.raises(assay.RowsError, match="40,000 rows in all"):
        flat.assess(data=table, truth_data=table.rename({"p": "q"}), id="id", truth="y", predicted="p")


@pytest.mark.parametrize("how", [{"id": "id"}, {"pairing": "position"}, {"independent": True}], ids=str)
def test_files_of_one_name_are_told_apart_in_the_record(tmp_path, how):
    paths = {name: tmp_path / name / "preds.csv" for name in "ab"}
    for place, path in enumerate(paths.values()):
        path.parent.mkdir()
        table = pl.DataFrame({"id": range(8), "y": ["x", "y"] * 4, "p": ["x", "y", "y", "x"] * 2, "n": place})
        table.write_csv(path)
    found = flat.compare(data=paths, truth="y", predicted="p", positive="x", **how).record
    digests = {f"{name}/preds.csv": hashlib.sha256(path.read_bytes()).hexdigest() for name, path in paths.items()}
    assert found["digests"]["files"] == found["plan"]["data"]["files"] == digests
    assert found["plan"]["data"]["from"] == "a/preds.csv; b/preds.csv"
    same = flat.compare(data=dict.fromkeys("ab", paths["a"]), truth="y", predicted="p", positive="x", **how).record
    assert same["digests"]["files"] == {"preds.csv": digests["a/preds.csv"]}


CUT = {
    "labels": {"predicted": "p", "positive": "x"},
    "scores": {"predicted": "p", "score": "s_x", "positive": "x"},
    "units": {"predicted": "p", "subject": "who", "weight": "w", "positive": "x"},
    "thresholds": {
        "predicted": {"a": Cut(score="s_x", threshold=0.5, positive="x", negative="y"), "b": "p"},
        "positive": "x",
    },
    "scores with thresholds": {
        "predicted": {name: Cut(score="s_x", threshold=0.1 + 2**-40, positive="x", negative="y") for name in "ab"},
        "score": "s_x",
        "positive": "x",
    },
}


def called(found, given):
    """The tables with the labels that thresholds make."""
    cuts = given["predicted"] if isinstance(given["predicted"], dict) else {}
    made = dict(found)
    for name, cut in cuts.items():
        if isinstance(cut, Cut):
            label = pl.when(pl.col("s_x") >= cut.threshold).then(pl.lit("x")).otherwise(pl.lit("y"))
            made[name] = found[name].with_columns(p=label)
    return made


TRUTHS = [
    (wanted, truth)
    for wanted in CUT
    for truth in (["csv"] if wanted in {"scores", "units"} else ["csv", "sqlite", "duckdb file", "polars"])
]


ANSWERS = ("parquet", "sqlite", "pandas")


@pytest.mark.parametrize(
    ("wanted", "truth", "answers"),
    [(wanted, truth, ANSWERS[place % len(ANSWERS)]) for place, (wanted, truth) in enumerate(TRUTHS)],
)
def test_truth_elsewhere_gives_the_tally_of_truth_beside_the_answers(wanted, truth, answers, tmp_path):
    found, given = tables(classes="xy", models="ab"), CUT[wanted]
    shared = ["y", "who", "nr", "w"]
    there = MADE[truth](found["a"].select("id", *shared).reverse(), tmp_path, "truth")
    data = {name: MADE[answers](table.drop(shared), tmp_path, name) for name, table in found.items()}
    expected = beside(called(found, given), **given | {"predicted": "p"})
    assert matched(data, truth_data=there, **given) == expected
    mixed = data | {"b": MADE[answers](found["b"], tmp_path, "whole")}
    assert matched(mixed, truth_data={"a": there}, **given) == expected


@pytest.mark.parametrize("kind", ["csv", "polars"])
def test_rows_without_truth_are_told_or_left_out(kind, tmp_path):
    found = tables(classes="xy", models="ab")
    there = MADE[kind](found["a"].select("id", "y").filter(~FIRST), tmp_path, "truth")
    data = {name: MADE[kind](table.drop("y"), tmp_path, name) for name, table in found.items()}
    code, what = matched(data, truth_data=there, predicted="p")
    assert (code, "1 row of " in what, what.endswith("without truth; 39 matched")) == ("rows-unmatched", True, True)
    given = {"data": data, "truth_data": there, "id": "id", "truth": "y", "predicted": "p"}
    given |= {"unmatched": "count", "positive": "x"}
    record = flat.compare(**given).record
    assert record["samples"] == N - 1
    assert record["notes"][0] == "a: 1 row without truth or without prediction left out, as stated"


@pytest.mark.parametrize("kind", ["csv", "parquet", "polars", "many files"])
@pytest.mark.parametrize("wanted", ["labels", "both", "all"])
def test_rows_are_paired_by_place(kind, wanted, tmp_path):
    found = {name: table.sort("id") for name, table in tables(classes="xy", models="ab").items()}
    if kind == "many files":
        for name, table in found.items():
            for part in range(2):
                table[part * 20 : part * 20 + 20].write_csv(tmp_path / f"{name}-{part}.csv")
        data = {name: str(tmp_path / f"{name}-*.csv") for name in found}
    else:
        data = {name: MADE[kind](table, tmp_path, name) for name, table in found.items()}
    given = WANTED[wanted] | {"positive": "x"}
    placed = {name: table.with_columns(id=pl.Series(range(N))) for name, table in found.items()}
    assert told(data=data, truth="y", pairing="position", **given) == beside(placed, **given)
    found["b"] = found["b"].reverse()
    code, what = told(
        data={name: MADE["polars"](t) for name, t in found.items()}, truth="y", pairing="position", **given
    )
    assert (code, "another truth in b than in a" in what) == ("rows-unmatched", True)


def test_places_cannot_stand_for_ids_of_a_truth_elsewhere():
    found = tables(models="ab")
    with pytest.raises(assay.PlanError, match="paired by position") as error:
        flat.compare(data=found, truth="y", predicted="p", truth_data=found["a"], pairing="position")
    assert "--id" in error.value.typed


def test_objects_of_one_type_are_joined_and_mixed_ones_are_refused():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": [1, 2, 3, 4], "y": pd.Series([1, 0, 1, 0], dtype=object), "p": [1, 0, 0, 0]})
    mixed = frame.assign(y=pd.Series([1, "0", 1, 0], dtype=object))
    given = {"id": "id", "truth": "y", "predicted": "p"}
    assert flat.compare(data={"A": frame, "B": frame}, **given).record["samples"] == 4
    with pytest.raises(assay.AssayError) as error:
        flat.compare(data={"A": frame, "B": mixed}, **given)
    assert error.value.code == "mixed-types-in-column"
