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
from tests import flat

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

ROLES = {"truth": "y", "predicted": "p.q", "group": "g"}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A file under a name that Spark would take for a pattern."""
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
    return folder / "a.parquet"


def outcome(path, **options):
    try:
        found = flat.assess(data=path, **{**ROLES, "unknown": "own", "draws": 100, **options})
    except assay.AssayError as error:
        return error.code
    return tallies(found)


def tallies(found):
    return {"confusion": found.confusion.to_json(), "grouped": found.grouped.to_json(), "read": found.census.read}


@pytest.mark.parametrize("weight", [None, "w"])
def test_a_connect_server_reads_a_path_to_the_same_tally(weight, cluster, path):
    expected = outcome(path, weight=weight)
    assert expected["read"] == 900
    assert outcome(path, engine=cluster.connect, weight=weight) == expected


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


def test_a_standalone_cluster_reads_a_file_and_nothing_of_it_stays(cluster, path):
    told = subprocess.run(
        [sys.executable, "-c", SCRIPT, cluster.address, json.dumps(ROLES), str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert told.stderr == ""  # what Java has to say is nobody's business as long as all goes well
    assert json.loads(told.stdout) == list(outcome(path).values())


def test_a_session_that_runs_on_the_cluster_is_used_and_left_open(cluster, classic, path):
    assert outcome(path, engine=cluster.address) == outcome(path)
    assert classic.range(3).count() == 3
    assert classic.conf.get("spark.sql.sources.partitionColumnTypeInference.enabled") == "true"


def test_a_session_on_another_cluster_is_not_taken_for_this_one(cluster, classic, path, monkeypatch):
    monkeypatch.setattr(classic.sparkContext, "master", "local[1]")
    assert outcome(path, engine=cluster.address) == "role-clash"


def test_a_folder_of_parts_is_read_as_one_table(cluster, path, tmp_path):
    frame = pl.read_parquet(path, glob=False)
    for site, start in (("01", 0), ("02", 450)):
        (tmp_path / "rows.parquet" / f"site={site}").mkdir(parents=True)
        frame.slice(start, 450).write_parquet(tmp_path / "rows.parquet" / f"site={site}" / "part.parquet")
    found = assay.assess(
        data=tmp_path / "rows.parquet", engine=cluster.connect, truth="y", predicted="p.q", group="site"
    )
    assert found.confusion == assay.assess(data=path, truth="y", predicted="p.q").confusion
    assert list(found.grouped.factors["site"]) == ["01", "02"]
    assert found.record["digests"]["files"] == {}
    assert f"counted by Spark {__import__('pyspark').__version__} at {cluster.connect}" in found.record["notes"]


@pytest.mark.parametrize("reading", [assay.Reading(max_rows=1), assay.Reading(sha256="0" * 64)])
def test_limits_and_digests_are_obeyed(cluster, path, reading):
    here, there = (outcome(path, engine=engine, reading=reading) for engine in (None, cluster.connect))
    assert here == there


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("none.parquet", "no-file"),
        ("bad.parquet", "file-unreadable"),
        ("a.arrow", "refused-format"),
        ("a.csv", "refused-format"),
        ("a.pkl", "refused-format"),
    ],
)
def test_a_path_that_the_cluster_cannot_read_is_refused(name, code, cluster, tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 garbage PAR1")
    assert outcome(tmp_path / name, engine=cluster.connect) == code


def test_the_command_line_names_the_engine(cluster, path, tmp_path):
    roles = ["--truth", "y", "--predicted", "p.q", "--out", str(tmp_path), "--quiet"]
    cli.main(["run", str(path), *roles, "--engine", cluster.connect], standalone_mode=False)
    written = assay.load(tmp_path / "record.json")
    assert written.confusion == assay.assess(data=path, truth="y", predicted="p.q").confusion
    with pytest.raises(assay.PlanError, match="missing option: the column of the truth"):
        cli.main(["run", "hdfs://there/a.parquet", "--engine", cluster.connect], standalone_mode=False)


def test_a_plan_that_names_a_cluster_is_counted_and_compared_there(path, cluster):
    folder = path.parent
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
