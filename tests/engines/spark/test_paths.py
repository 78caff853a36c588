# SPDX-License-Identifier: Apache-2.0
"""A path read by a cluster gives the tally that the embedded engine counts from it, or its error code."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import polars as pl
import pytest

import assay
from assay.app.cli import cli
from assay.assess.conformity.plan_run import run_planned
from assay.assess.plan.checked_plan import load_plan
from assay.rows.spark.spark_session import Session
from tests import flat

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

ROLES = {"truth": "y", "predicted": "p.q", "group": "g"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same rows in three formats, under a name that Spark would take for a pattern."""
    folder = tmp_path_factory.mktemp("files [1]")
    pick = random.Random(5).choices
    labels = ["cat", "dog", 'e"l', "f,g"]
    frame = pl.DataFrame(
        {
            "y": pick(labels, k=900),
            "p.q": pick(labels, k=900),
            "g": pick(["x", "", "NA", None], k=900),
            "w": pick([0.1, 0.2, 12.5], k=900),
            "r": pick(labels, k=900),
        }
    )
    frame.write_parquet(folder / "a.parquet")
    frame.write_csv(folder / "a.csv", quote_style="non_numeric")
    frame.write_ndjson(folder / "a.jsonl")
    return [folder / f"a.{ending}" for ending in ("parquet", "csv", "jsonl")]


def outcome(path, **options):
    try:
        found = flat.assess(data=path, **{**ROLES, "unknown": "own", "draws": 100, **options})
    except assay.AssayError as error:
        return error.code
    return tallies(found)


def tallies(found):
    return {"confusion": found.confusion.to_json(), "grouped": found.grouped.to_json(), "read": found.census.read}


@pytest.mark.parametrize("weight", [None, "w"])
def test_a_connect_server_reads_every_format_to_the_same_tally(weight, cluster, files):
    for path in files:
        expected = outcome(path, weight=weight)
        assert expected["read"] == 900
        assert outcome(path, engine=cluster.connect, weight=weight) == expected, path.name


SCRIPT = """
import json, signal, sys
import assay
from assay.rows.spark import spark_session as sparksession

sparksession.KNOCK = sparksession.REGISTER = sparksession.IDLE = 300.0  # Java starts slowly on a busy machine
before = signal.getsignal(signal.SIGINT)
found = assay.assess(data=sys.argv[3], engine=sys.argv[1],
                     reading=assay.Reading(unknown="own"), intervals=assay.IntervalSettings(draws=100),
                     **json.loads(sys.argv[2]))
print(json.dumps([found.confusion.to_json(), found.grouped.to_json(), found.census.read]))
children = open("/proc/self/task/%d/children" % __import__("os").getpid()).read() if sys.platform == "linux" else ""
assert not children, "Java is still running"
assert signal.getsignal(signal.SIGINT) is before
"""


def test_a_standalone_cluster_reads_a_file_and_nothing_of_it_stays(cluster, files):
    told = subprocess.run(
        [sys.executable, "-c", SCRIPT, cluster.address, json.dumps(ROLES), str(files[1])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert told.stderr == ""  # what Java has to say is nobody's business as long as all goes well
    assert json.loads(told.stdout) == list(outcome(files[1]).values())


def test_a_session_that_runs_on_the_cluster_is_used_and_left_open(cluster, classic, files):
    assert outcome(files[0], engine=cluster.address) == outcome(files[0])
    assert classic.range(3).count() == 3
    assert classic.conf.get("spark.sql.sources.partitionColumnTypeInference.enabled") == "true"


def test_a_session_on_another_cluster_is_not_taken_for_this_one(cluster, classic, files, monkeypatch):
    monkeypatch.setattr(classic.sparkContext, "master", "local[1]")
    assert outcome(files[0], engine=cluster.address) == "role-clash"


def test_a_folder_of_parts_is_read_as_one_table(cluster, files, tmp_path):
    frame = pl.read_parquet(files[0], glob=False)
    for site, start in (("01", 0), ("02", 450)):
        (tmp_path / "rows.parquet" / f"site={site}").mkdir(parents=True)
        frame.slice(start, 450).write_parquet(tmp_path / "rows.parquet" / f"site={site}" / "part.parquet")
    found = assay.assess(
        data=tmp_path / "rows.parquet", engine=cluster.connect, truth="y", predicted="p.q", group="site"
    )
    assert found.confusion == assay.assess(data=files[0], truth="y", predicted="p.q").confusion
    assert list(found.grouped.factors["site"]) == ["01", "02"]
    assert found.record["digests"]["files"] == {}
    assert f"counted by Spark {__import__('pyspark').__version__} at {cluster.connect}" in found.record["notes"]


TEXTS = {
    "ragged.csv": "y,p.q,g\na,b,1\na,b\n",
    "wide.csv": "y,p.q,g\na,b,1,\n",
    "blank.csv": "y,p.q,g\na,b,1\n\na,b,c\n",
    "folded.csv": 'y,p.q,g\na,b,"1\nx,y,2"\nb,b,x\n',
    "open.csv": 'y,p.q,g\na,b,"1\na,b,2\n',
    "stray.csv": 'y,p.q,g\na,"b"x,1\n',
    "bom.csv": "\ufeffy,p.q,g\na,b,1\nb,a,2\n",
    "crlf.csv": "y,p.q,g\r\na,b,1\r\nb,b,2\r\n",
    "spaces.csv": "y,p.q,g\n a,b, 1\n",
    "comment.csv": "y,p.q,g\n#a,b,1\nb,b,2\n",
    "twice.csv": "y,p.q,y\n1,2,3\n",
    "semicolon.csv": "y;p.q;g\na;b;1\nb;b;1\n",
    "tab.tsv": "y\tp.q\tg\na\tb\t1\nb\tb\t1\n",
    "nothing.csv": "",
    "header.csv": "y,p.q,g\n",
    "control.csv": "y,p.q,g\na\x02,b,1\n",
    "return.csv": "y,p.q,g\na\rb,b,1\n",
    "missing.csv": 'y,p.q,g\n"a""b",b,1\nb,"b",""\nb,b,\nb,"",NA\n',
    "gone.csv": "y,p.q,g\n,b,1\n",
    "latin.csv": b"y,p.q,g\na\xff,b,1\n",
    "mixed.jsonl": '{"y":1,"p.q":1,"g":"a"}\n{"y":"1","p.q":2,"g":"a"}\n',
    "nested.jsonl": '{"y":[1],"p.q":1,"g":"a"}\n',
    "cut.jsonl": '{"y":1,"p.q":1,"g":"a"}\n{"y":1,\n',
    "list.jsonl": "[1]\n",
    "absent.jsonl": '{"y":1,"p":1,"g":"a"}\n',
    "whole.jsonl": '{"y":1.0,"p.q":1,"g":null}\n{"y":0,"p.q":0,"g":"a"}\n',
    "fraction.jsonl": '{"y":1.5,"p.q":1,"g":null}\n',
    "booleans.jsonl": '{"y":true,"p.q":false,"g":null}\n',
    "null.jsonl": '{"y":null,"p.q":1,"g":null}\n{"y":2,"p.q":1,"g":null}\n',
    "doubled.jsonl": '{"y":1,"y":2,"p.q":1,"g":null}\n',
    "latin.jsonl": b'{"y":"\xff","p.q":"a","g":null}\n',
}


def test_text_is_read_and_refused_as_the_embedded_engine_does(cluster, connect, tmp_path, monkeypatch):
    one = Session(
        spark=connect, address=cluster.connect, end=lambda: None
    )  # opening it anew each time is not the point
    monkeypatch.setattr("assay.rows.spark.spark_frames.open_session", lambda _: one)
    differing = {}
    for name, text in TEXTS.items():
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        options = {"positive": "b"} if name.endswith("sv") else {}
        here, there = (outcome(tmp_path / name, engine=engine, **options) for engine in (None, cluster.connect))
        if here != there:
            differing[name] = (here, there)
    assert not differing


def test_decimal_commas_and_limits_are_obeyed(cluster, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y;p.q;g;w\na;b;1;0,1\nb;b;1;1e2\n")
    comma = assay.Reading(decimal=",")
    for options in (
        {"reading": comma, "weight": "w"},
        {"reading": assay.Reading(max_rows=1)},
        {"reading": assay.Reading(sha256="0" * 64)},
        {"weight": "w"},
        {"reading": comma, "weight": "g"},
    ):
        here, there = (outcome(path, engine=engine, positive="b", **options) for engine in (None, cluster.connect))
        assert here == there, options


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("none.parquet", "no-file"),
        ("bad.parquet", "file-unreadable"),
        ("a.arrow", "refused-format"),
        ("a.pkl", "refused-format"),
    ],
)
def test_a_path_that_the_cluster_cannot_read_is_refused(name, code, cluster, tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 garbage PAR1")
    assert outcome(tmp_path / name, engine=cluster.connect) == code


def test_the_command_line_names_the_engine(cluster, files, tmp_path):
    roles = ["--truth", "y", "--predicted", "p.q", "--out", str(tmp_path), "--quiet"]
    cli.main(["run", str(files[0]), *roles, "--engine", cluster.connect], standalone_mode=False)
    written = assay.load(tmp_path / "record.json")
    assert written.confusion == assay.assess(data=files[0], truth="y", predicted="p.q").confusion
    with pytest.raises(assay.PlanError, match="nobody said"):
        cli.main(["run", "hdfs://there/a.parquet", "--engine", cluster.connect], standalone_mode=False)


def test_a_plan_that_names_a_cluster_is_counted_and_compared_there(files, cluster):
    folder = files[0].parent
    (folder / "plan.toml").write_text(
        """[task]
type = "multiclass"
classes = ["cat", "dog", 'e"l', "f,g"]
[columns]
truth = "y"
[metrics]
measures = ["accuracy"]
[data.test]
path = "a.parquet"
[models.A]
predicted = "p.q"
[models.B]
predicted = "r"
""",
        encoding="utf-8",
    )
    own = dict(run_planned(load_plan(folder / "plan.toml"), ledger=False))["A"].record
    with (folder / "plan.toml").open("a", encoding="utf-8") as file:
        file.write(f'[reading]\nengine = "{cluster.connect}"\n')
    there = dict(run_planned(load_plan(folder / "plan.toml"), ledger=False))["A"].record
    assert there["tallies"] == own["tallies"]
    assert [one["p"] for one in there["findings"]] == [one["p"] for one in own["findings"]]
