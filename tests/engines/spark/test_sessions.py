# SPDX-License-Identifier: Apache-2.0
"""A cluster that is not there is an error with its address, soon; so is a missing part on this side."""

from __future__ import annotations

import http.server
import socket
import subprocess
import sys
import threading

import pytest

import assay
from tests import flat
from tests.engines.spark.cluster import unfit

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

ROLES = {"truth": "y", "predicted": "p"}
SCRIPT = """
import sys
import assay
from assay.rows.spark import spark_session as sparksession

sparksession.KNOCK, sparksession.REGISTER = 1.0, 2.0  # the waiting is the same, only shorter
for engine in sys.argv[1:]:
    try:
        assay.assess(data="rows.parquet", engine=engine, truth="y", predicted="p")
    except assay.AssayError as error:
        print(error.code, error.where)
"""


def refusal(engine, data="rows.parquet"):
    with pytest.raises(assay.AssayError) as refused:
        flat.assess(data=data, engine=engine, **ROLES)
    return refused.value


@pytest.fixture
def closed():
    """A port of this machine that nothing listens at."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.fixture
def web():
    """A port where something else answers, such as a cluster's own web page."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.fixture
def _fit():
    if reason := unfit():
        pytest.skip(reason)


@pytest.mark.usefixtures("_fit")
@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_a_cluster_that_is_not_there_is_an_error_with_its_address(scheme, closed):
    error = refusal(f"{scheme}://127.0.0.1:{closed}")
    assert (error.code, error.where) == ("engine-failed", f"{scheme}://127.0.0.1:{closed}")
    assert "refused" in error.found


@pytest.mark.usefixtures("_fit")
def test_something_else_at_the_address_is_not_waited_for(web):
    # In a process of its own, where no other session of these tests is open. Java is started before gRPC has threads.
    engines = [f"{scheme}://127.0.0.1:{web}" for scheme in ("spark", "sc")]
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, *engines],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.splitlines() == [f"engine-failed {engine}" for engine in engines]


@pytest.mark.usefixtures("_fit")
def test_a_token_in_the_address_is_never_shown(closed):
    assert "hush" not in str(refusal(f"sc://127.0.0.1:{closed}/;token=hush;use_ssl=true"))


@pytest.mark.parametrize("engine", ["spark://127.0.0.1:1", "sc://127.0.0.1:1"])
def test_without_pyspark_the_error_says_what_to_install(engine, monkeypatch):
    def absent(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr("assay.rows.spark.spark_session.import_module", absent)
    error = refusal(engine)
    assert (error.code, error.fix) == ("missing-extra", 'pip install "assay[spark]"')


@pytest.mark.usefixtures("_fit")
@pytest.mark.parametrize("home", [True, False], ids=["JAVA_HOME", "PATH"])
def test_without_java_the_error_names_it_and_its_package(home, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    if home:
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    error = refusal("spark://127.0.0.1:1")
    assert error.code == "engine-failed"
    assert "Java" in error.what
    assert "openjdk-17-jre-headless" in error.fix


@pytest.mark.parametrize(
    ("engine", "data", "code"),
    [
        ("sparkle", "rows.parquet", "option-unknown"),
        ("spark://", "rows.parquet", "option-unknown"),
        ("sc://host:port", "rows.parquet", "option-unknown"),
        ("spark://127.0.0.1:7077", {"y": [1], "p": [1]}, "role-clash"),
        ("duckdb", None, "role-clash"),
    ],
)
def test_an_engine_that_cannot_be_meant_is_refused(engine, data, code):
    assert refusal(engine, data).code == code
