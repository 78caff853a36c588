# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from fractions import Fraction
from itertools import product

import psycopg
import pytest

import assay
from assay.assess.conformity.plan_run import run_planned
from assay.assess.plan.checked_plan import load_plan
from assay.assess.record.record import Record
from assay.assess.record.verification import verify
from assay.rows.databases import postgres
from assay.rows.databases.database import redacted
from assay.rows.files.formats import Reading
from assay.rows.open import open_source
from assay.rows.source import Roles
from assay.tally.labels.array_counts import count
from tests import flat
from tests.command import assay as run
from tests.waiting import LIMIT, wait_until

ROWS = [
    (["cat", "dog", "eel"][i % 3], ["cat", "dog"][i % 2], f"s{i % 5}" if i % 5 else None, i * 0.1)
    for i in range(1, 601)
]


def refused(code, exit_code, **given):
    given = {"truth": "y", "predicted": "p", **given}
    with pytest.raises(assay.AssayError) as caught:
        flat.assess(**given)
    assert caught.value.code == code, caught.value
    assert caught.value.exit_code == exit_code
    assert caught.value.fix
    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in repr(caught.value.__cause__)
    return caught.value


def test_a_table_gives_the_tally_of_the_same_rows_in_arrays(server):
    found = assay.assess(
        data=server.address(), reading=assay.Reading(table="preds", unknown="own"), truth="y", predicted="p", group="g"
    )
    y, p, g, _ = (list(column) for column in zip(*ROWS, strict=True))
    expected = assay.assess(truth=y, predicted=p, group={"g": g}, reading=assay.Reading(unknown="own"))
    assert found.confusion == expected.confusion
    assert found.grouped == expected.grouped
    assert found.census == expected.census


def test_a_query_and_weights_are_fetched_exactly(server):
    query = "SELECT y AS truth, p, w FROM preds WHERE n < 2; "
    found = assay.assess(
        data=server.address(),
        reading=assay.Reading(query=query),
        truth="truth",
        predicted="p",
        weight="w",
        positive="cat",
    )
    kept = [(y, p, Fraction(i, 10)) for i, (y, p, _, _) in enumerate(ROWS, start=1) if i % 3 < 2]
    expected = {pair: sum(w for *of, w in kept if tuple(of) == pair) for pair in product(("dog", "cat"), repeat=2)}
    counts = [float(count) for count in found.confusion.count]  # a weight is the double nearest to its decimal
    assert counts == pytest.approx([float(total) for total in expected.values()], rel=1e-11)
    assert found.record["plan"]["data"]["query"] == query
    assert found.record["samples"] == len(kept)


def test_the_columns_asked_for_are_fetched_and_the_session_is_over_then(server, monkeypatch):
    fetched = []
    inner = postgres.PostgresTable.batches
    monkeypatch.setattr(
        postgres.PostgresTable, "batches", lambda self, columns: fetched.append(columns) or inner(self, columns)
    )
    query = assay.Reading(query="SELECT n, n AS p, b FROM preds")
    found = assay.assess(data=server.address(), reading=query, truth="n", predicted="p")
    assert found.record["samples"] == 600
    assert fetched == [["n", "p"]]
    with psycopg.connect(server.address(), autocommit=True) as watcher:
        ours = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'assay'"
        wait_until(lambda: watcher.execute(ours).fetchone() == (0,))


@pytest.mark.parametrize(
    ("column", "labels"), [("n > 0", (False, True)), ("b", (False, True)), ("c", ("green", "red"))]
)
def test_labels_of_every_fit_type_are_read(server, column, labels):
    query = f"SELECT {column} AS y, {column} AS p FROM preds"  # noqa: S608  the test's own
    found = assay.assess(
        data=server.address(), reading=assay.Reading(query=query), truth="y", predicted="p", positive=labels[-1]
    )
    assert set(found.labels) == set(labels)


def test_padding_of_fixed_width_text_is_no_part_of_a_label(server):
    found = assay.assess(
        data=server.address(),
        reading=assay.Reading(query="SELECT padded, padded AS called FROM preds"),
        truth="padded",
        predicted="called",
        labels=["ab", "x"],
        positive="x",
    )
    assert found.labels == ("ab", "x")


def test_a_collation_that_is_blind_to_case_merges_no_labels(server):
    given = {"data": server.address(), "table": "odd", "truth": 'a "b" c', "predicted": "it's; --"}
    assert refused("labels-look-alike", 4, **given)


@pytest.mark.parametrize(
    ("column", "code"),
    [
        ("d", "column-type"),
        ("a", "column-not-scalar"),
        ("j", "column-not-scalar"),
        ("f", "label-precision"),
        ("yy", "missing-column"),
    ],
)
def test_a_column_that_cannot_hold_labels_is_refused(server, column, code):
    refused(code, 4, data=server.address(), table="preds", truth=column)


def test_weights_come_some_at_a_time_and_add_up_as_those_of_arrays(server, monkeypatch):
    monkeypatch.setattr(postgres, "BATCH", 7)
    real = "SELECT i % 2 AS y, 0 AS p, (1.0 / i)::float8 AS w, '{kind}' AS g FROM generate_series(1, 40) i"
    for kind in ("float8", "numeric"):
        query = real.format(kind=kind).replace("::float8", f"::{kind}")
        with psycopg.connect(server.address()) as connection:
            rows = connection.execute(query).fetchall()
        source = open_source(
            server.address(), Roles(truth="y", predicted="p", group={}, weight="w"), reading=Reading(query=query)
        )
        found = count(source).cells
        source.close()
        y, p, w, _ = zip(*rows, strict=True)
        columns = Roles(truth=list(y), predicted=list(p), weight=[float(one) for one in w])
        assert found == count(open_source(None, columns)).cells


def test_exact_decimals_are_labels_where_they_are_whole(server):
    query = "SELECT (i % 2)::numeric AS y, (i % 2)::numeric(3, 1) AS p FROM generate_series(1, 40) i"
    assert assay.assess(data=server.address(), reading=assay.Reading(query=query), truth="y", predicted="p").labels == (
        0,
        1,
    )
    refused("label-precision", 4, data=server.address(), query="SELECT 0.5::numeric AS y, 1 AS p")


def test_a_weight_must_be_a_number(server):
    refused("column-not-numeric", 4, data=server.address(), table="preds", weight="g")


def test_a_schema_may_be_named(server):
    found = assay.assess(data=server.address(), reading=assay.Reading(table="trial.other"), truth="y", predicted="p")
    assert found.record["samples"] == 2


def test_a_table_that_is_not_there_suggests_the_nearest(server):
    error = refused("no-table", 2, data=server.address(), table="pred")
    assert '"preds"' in error.fix
    assert "trial.other" in error.known


def test_a_table_must_be_named_where_there_are_several(server):
    assert '"preds"' in refused("role-missing", 2, data=server.address()).known
    refused("role-clash", 2, data=server.address(), table="preds", query="SELECT 1")


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM preds",
        "DROP TABLE preds",
        "",
        "EXPLAIN SELECT 1",
        "WITH gone AS (DELETE FROM preds RETURNING *) SELECT y, p FROM gone",
        "SELECT 1; DROP TABLE preds",
        "SELECT y, p FROM preds) AS asked; COMMIT; DROP TABLE preds; --",
        "SELECT y, p, nextval('s') FROM preds",
        "SELECT nosuch FROM preds",
        "SELECT y p FROM",
    ],
)
def test_a_query_that_is_not_one_select_is_refused_and_changes_nothing(server, query):
    with psycopg.connect(server.address()) as before:
        before.execute("CREATE SEQUENCE IF NOT EXISTS s")
    refused("query-refused", 2, data=server.address(), query=query)
    with psycopg.connect(server.address()) as after:
        assert after.execute("SELECT count(*) FROM preds").fetchone() == (600,)
        assert after.execute("SELECT last_value, is_called FROM s").fetchone() == (1, False)


def test_a_wrong_password_a_missing_database_and_a_deaf_port_are_told_without_the_password(server):
    for address in (
        server.address(secret="wrong"),  # noqa: S106
        server.address("nosuch"),
        server.address().replace(str(server.port), "1"),
        server.address(user="nobody"),
        server.address() + "?nosuch=1",
        "postgresql://tester:s3cret%ZZ@127.0.0.1/x",
        "postgresql://tester:s3cret@127.0.0.1:port/x",
        "postgresql://tester:x@s3cret@127.0.0.1/x",
        "postgresql://tester:x/s3cret@127.0.0.1/x",
        "postgresql://tester:5/s3cret@127.0.0.1/x",
        "postgresql://tester:5?s3cret@127.0.0.1/x",
        "postgresql://tester:x#s3cret@127.0.0.1/x",
    ):
        error = refused("no-database", 2, data=address, table="preds")
        assert "wrong" not in str(error)


def test_a_table_without_permission_is_refused(server):
    refused("query-refused", 2, data=server.address(user="reader", secret="r"), table="preds")  # noqa: S106


def test_the_environment_and_the_password_file_are_honoured(server, monkeypatch, tmp_path):
    given = {"table": "trial.other", "truth": "y", "predicted": "p"}
    bare = server.address(secret="")
    refused("no-database", 2, data=bare, **given)
    passwords = tmp_path / "pgpass"
    passwords.write_text(f"127.0.0.1:{server.port}:*:tester:s3cret/with@marks\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    assert flat.assess(data=bare, **given).record["samples"] == 2
    monkeypatch.delenv("PGPASSFILE")
    monkeypatch.setenv("PGPASSWORD", "s3cret/with@marks")
    assert flat.assess(data=bare, **given).record["samples"] == 2


def test_the_password_is_in_no_output_of_the_command(server, tmp_path):
    given = ["--table", "preds", "--truth", "y", "--predicted", "p", "--unknown", "own", "-o", str(tmp_path / "out")]
    done = run("run", server.address(), *given, "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["plan"]["data"]["from"] == f"postgresql://tester@127.0.0.1:{server.port}/postgres"
    assert record["plan"]["data"]["table"] == "preds"
    assert any(note.startswith("fetched from PostgreSQL") for note in record["notes"])
    written = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir())
    assert "s3cret" not in done.stdout + done.stderr + written
    asked = run("run", server.address(), "--table", "preds")
    assert asked.returncode == 2
    assert '"padded"' in asked.stderr
    assert "s3cret" not in asked.stderr


def test_limits_hold_and_digests_and_rows_beyond_the_limit_are_refused(server):
    found = assay.assess(
        data=server.address(),
        reading=assay.Reading(query="SELECT n, n AS called FROM preds"),
        truth="n",
        predicted="called",
        limits=assay.Limits(memory="100MB", threads=1),
    )
    assert found.record["environment"]["limits"] == {"memory": "100MB", "threads": 1}
    refused("role-clash", 2, data=server.address(), table="preds", engine="duckdb")
    refused("option-unknown", 2, data=server.address(), table="preds", reading=assay.Reading(sha256="0" * 64))
    refused(
        "too-many-rows", 4, data=server.address(), table="preds", reading=assay.Reading(max_rows=599), unknown="own"
    )


def test_ctrl_c_ends_the_query_on_the_server_too(server, tmp_path):
    query = "SELECT 1 AS y, 1 AS p FROM generate_series(1, 2000000000)"
    command = [
        sys.executable,
        "-m",
        "assay",
        "run",
        server.address(),
        "--query",
        query,
        "--truth",
        "y",
        "--predicted",
        "p",
    ]
    running = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'assay' AND state = 'active'"
    with (
        psycopg.connect(server.address(), autocommit=True) as watcher,
        subprocess.Popen([*command, "-o", str(tmp_path / "out")], stderr=subprocess.PIPE, text=True) as process,
    ):
        try:
            wait_until(lambda: watcher.execute(running).fetchone() != (0,))
            os.kill(process.pid, signal.SIGINT)
            lines = process.communicate(timeout=LIMIT)[1].splitlines()
        finally:
            process.kill()
        assert process.returncode == 130
        assert lines[-1] == "stopped"  # psycopg may warn before that a busy server is slow to cancel
        assert not any("Traceback" in line for line in lines)
        wait_until(lambda: watcher.execute(running).fetchone() == (0,))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://me:x@h/db", "postgresql://me@h/db"),
        ("postgres://h", "postgresql://h/"),
        ("postgresql://me:p@ss:w0rd@h/db", "postgresql://user@host:5432/database"),
        ("postgresql:///db?host=h&user=u&password=x", "postgresql://u@h/db"),
    ],
)
def test_an_address_is_shown_without_its_secrets(address, shown):
    assert redacted(address) == shown


def test_without_the_driver_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setitem(sys.modules, "psycopg.conninfo", None)
    with pytest.raises(assay.PlanError) as caught:
        assay.assess(data="postgresql://me:s3cret@h/db", reading=assay.Reading(table="t"), truth="y", predicted="p")
    assert caught.value.code == "missing-extra"
    assert "assay[postgres]" in caught.value.fix
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("score", ["i / 700.0", "(i / 700.0)::float8", "(i / 700.0)::numeric", "i"])
def test_scores_are_fetched_and_counted_as_those_of_arrays(server, score):
    query = f"SELECT i % 2 AS y, {score} AS s, i % 3 AS g FROM generate_series(1, 600) i"  # noqa: S608
    given = {"positive": 1, "threshold": 0.5, "measures": ["auroc", "average_precision", "recall", "precision"]}
    found = flat.assess(data=server.address(), query=query, truth="y", score="s", group="g", **given)
    every = range(1, 601)
    scores = [float(i) if score == "i" else i / 700 for i in every]
    expected = flat.assess(truth=[i % 2 for i in every], score=scores, group={"g": [i % 3 for i in every]}, **given)
    assert found.record["estimates"] == expected.record["estimates"]


def test_scores_that_are_no_numbers_are_refused(server):
    query = "SELECT i % 2 AS y, {} AS s FROM generate_series(1, 600) i"
    given = {"predicted": None, "score": "s", "positive": 1, "threshold": 0.5}
    refused("column-not-numeric", 4, data=server.address(), query=query.format("'x'::text"), **given)
    refused("score-not-finite", 4, data=server.address(), query=query.format("'NaN'::float8"), **given)
    refused(
        "too-many-rows", 4, data=server.address(), query=query.format("0.5"), reading=assay.Reading(max_rows=9), **given
    )


PLAN = """[task]
type = "binary"
classes = ["cat", "dog"]
positive = "cat"
[columns]
truth = "y"
[metrics]
measures = ["accuracy", "recall"]
[data.test]
path = "ADDRESS"
query = "SELECT y, p, (ARRAY['cat','dog'])[1 + (n + b::int) % 2] AS q, g FROM preds WHERE n <> 2"
[models.A]
predicted = "p"
[models.B]
predicted = "q"
"""


def test_a_plan_whose_rows_lie_on_a_server_is_counted_and_compared_there(server, tmp_path, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", "s3cret/with@marks")
    address = server.address(secret="")
    (tmp_path / "plan.toml").write_text(PLAN.replace("ADDRESS", address), encoding="utf-8")
    found = dict(run_planned(load_plan(tmp_path / "plan.toml")))
    with psycopg.connect(server.address(), connect_timeout=20) as connection:
        query = PLAN.partition('query = "')[2].partition('"\n')[0]
        y, p, q, _ = (list(column) for column in zip(*connection.execute(query).fetchall(), strict=True))
    classes = ["cat", "dog"]
    expected = assay.assess(truth=y, predicted=p, positive="cat", labels=classes)
    record = found["A"].record
    assert found["A"].confusion == expected.confusion
    compared = assay.compare(truth=y, predicted={"A": p, "B": q}, positive="cat", labels=classes)
    assert [one["p"] for one in record["findings"]] == [one.p for one in compared.findings]
    assert verify(Record(json.loads(record.to_text()))).mismatches == ()
    told = {one["check"]: one for one in record["controls"] if one["part"] is None}
    assert told["CHK-TASK"]["verdict"] == "pass"
    assert told["CHK-PRED"]["verdict"] == "no-evidence", "ids of rows on a server are not looked at"
    assert "s3cret" not in record.to_text()


def test_a_password_in_a_plan_is_an_error_of_the_plan(server, tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN.replace("ADDRESS", server.address()), encoding="utf-8")
    with pytest.raises(assay.PlanError) as caught:
        load_plan(tmp_path / "plan.toml")
    assert "password" in str(caught.value)
    assert "s3cret" not in str(caught.value)
