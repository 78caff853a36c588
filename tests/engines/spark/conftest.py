# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys

import pytest

from tests.engines.spark.cluster import APPLICATION, HERE, LIGHT, Cluster, unfit


@pytest.fixture(scope="session", autouse=True)
def _light():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", LIGHT)
        patch.setenv("PYSPARK_PYTHON", sys.executable)  # workers run kernels with the packages of this environment
        yield


@pytest.fixture(scope="session")
def machines(tmp_path_factory):
    """A cluster for all tests of this folder, or the reason why there is none."""
    if reason := unfit():
        pytest.skip(reason)
    with Cluster(tmp_path_factory.mktemp("spark")) as started:
        yield started


@pytest.fixture(scope="session")
def classic(machines):
    """A session whose driver is this process and a Connect server too; slow tasks are run a second time elsewhere."""
    from pyspark.sql import SparkSession

    settings = {
        **APPLICATION,
        "spark.driver.memory": "512m",
        "spark.log.level": "ERROR",
        "spark.python.sql.dataFrameDebugging.enabled": "false",  # or each step of a query tells Java its line of code
        "spark.ui.showConsoleProgress": "false",
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": HERE,
        "spark.connect.grpc.binding.port": "0",
        "spark.speculation": "true",
        "spark.speculation.efficiency.enabled": "false",
        "spark.speculation.interval": "50ms",
        "spark.speculation.minTaskRuntime": "1s",  # a copy of a task hides that the worker of the first one died
        "spark.speculation.multiplier": "1.2",
        "spark.speculation.quantile": "0.3",
    }
    session = SparkSession.builder.master(machines.address).appName("assay tests").config(map=settings).getOrCreate()
    server = getattr(session._jvm.org.apache.spark.sql.connect.service, "SparkConnectService$")
    machines.connect = f"sc://{HERE}:{getattr(server, 'MODULE$').localPort()}"
    yield session
    session.stop()


@pytest.fixture(scope="session")
def cluster(machines, classic):  # noqa: ARG001  it must be there first
    """The same, once this process has its driver, which is started by a fork that threads of gRPC may not survive."""
    return machines


@pytest.fixture(scope="session")
def connect(cluster):
    """A session that speaks to the Connect server only."""
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.builder.remote(cluster.connect).create()
    yield session
    session.stop()


@pytest.fixture(params=["classic", "connect"])
def spark(request):
    """Each of the two ways to speak to the cluster."""
    return request.getfixturevalue(request.param)
