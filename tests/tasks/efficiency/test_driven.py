# SPDX-License-Identifier: Apache-2.0
"""Targets that are driven here: functions, estimators, commands, an HTTP server, an ONNX model."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.conduct.request_driver import Pace
from assay.core.errors import AssayError
from tests.waiting import LIMIT, wait_until

HERE = Path(__file__).parent
INPUTS = np.random.default_rng(3).normal(size=(40, 3))
QUICK = {"runs": 5, "requests": 40, "energy": "none"}
ECHO = f'{sys.executable} -u -c "import sys\nfor line in sys.stdin: print(line.strip().upper(), flush=True)"'


@pytest.fixture
def folder(monkeypatch):
    """The folder of the functions, from which a child process imports them."""
    monkeypatch.chdir(HERE)


@pytest.fixture
def served():
    servers = []

    def start(stall=0.0, at=-1):
        command = [sys.executable, str(HERE / "answering.py"), "60", str(stall), str(at)]
        servers.append(subprocess.Popen(command, stdout=subprocess.PIPE))
        return f"http://127.0.0.1:{int(servers[-1].stdout.readline())}"

    yield start
    for server in servers:
        server.kill()
        server.wait()
        server.stdout.close()


@pytest.mark.usefixtures("folder")
def test_a_function_answers_in_a_child_process():
    expected = (INPUTS[:, 0] > 0).astype(int)
    found = assay.efficiency("answering:is_positive", INPUTS, expected=expected, bound=5.0, **QUICK)
    tally = found.counts
    assert (tally.rows, tally.units, tally.durations.failed) == (200, 5, 0)
    assert [run.amounts["correct"] for run in tally.durations.runs] == [40.0] * 5
    assert all(run.amounts["peak_bytes"] > 1_000_000 for run in tally.durations.runs)
    assert found["latency_compliance"].value == 1.0
    assert found["latency_mean"].value > 0
    assert [run.name for run in tally.durations.runs] == ["001", "002", "003", "004", "005"]


@pytest.mark.usefixtures("folder")
def test_what_a_model_prints_does_not_disturb_its_answers():
    found = assay.efficiency("answering:print_and_answer", [[1.0], [2.0]], expected=[1, 2], **QUICK)
    assert {run.amounts["correct"] for run in found.counts.durations.runs} == {40.0}


@pytest.mark.usefixtures("folder")
def test_errors_of_a_model_count_as_late_answers():
    found = assay.efficiency("answering:refuse_odd", [0, 1], bound=5.0, **QUICK)
    assert found["latency_compliance"].value == 0.5
    assert any("ValueError: odd" in note for note in found.notes)


def test_an_estimator_and_a_function_of_this_process_are_carried_over():
    from sklearn.linear_model import LogisticRegression

    truth = (INPUTS[:, 0] > 0).astype(int)
    model = LogisticRegression(C=100).fit(INPUTS, truth)
    right = float((model.predict(INPUTS) == truth).sum())
    found = assay.efficiency(model, INPUTS, expected=truth, runs=1, requests=40, energy="none")
    assert found.counts.durations.runs[0].amounts["correct"] == right
    twice = assay.efficiency(lambda x: 2 * x, [1, 2], expected=[2, 4], runs=1, requests=10, energy="none")
    assert twice.counts.durations.runs[0].amounts["correct"] == 10.0


def test_a_command_reads_and_writes_lines():
    found = assay.efficiency(ECHO, ["cat", "dog"], expected=["CAT", "DOG"], scenario="multi-stream", streams=2, **QUICK)
    assert found.counts.facts["batch"] == 2
    assert {run.amounts["correct"] for run in found.counts.durations.runs} == {40.0}


def test_models_take_turns():
    comparison = assay.compare(
        task="efficiency", target={"A": ECHO, "B": "cat"}, inputs=["x"], **QUICK, measures=["latency_mean"]
    )
    assert comparison["latency_mean"].test == "paired_t"
    assert comparison["latency_mean"].n == 5


def test_the_schedule_is_drawn_from_its_seed_before_the_run():
    pace = Pace(scenario="server", rate=200.0, requests=5000, seed=7)
    first = pace.schedule(0)
    assert np.array_equal(first, Pace(scenario="server", rate=200.0, requests=5000, seed=7).schedule(0))
    assert not np.array_equal(first, pace.schedule(1))
    assert (np.diff(first) >= 0).all()
    assert np.diff(first).mean() == pytest.approx(5e6, rel=0.05)
    assert not Pace(scenario="offline", requests=5).schedule(0).any()
    assert Pace(scenario="single-stream").schedule(0) is None


def test_a_stall_shows_in_the_percentiles_of_an_open_loop_only(served):
    stalled = {"runs": 1, "requests": 400, "energy": "none", "warm_up": 0}
    opened = assay.efficiency(
        f"{served(0.8, 200)}/", [[1.0]], scenario="server", rate=200.0, workers=2, bound=0.3, **stalled
    )
    closed = assay.efficiency(f"{served(0.8, 200)}/", [[1.0]], scenario="single-stream", bound=0.3, **stalled)
    assert opened["p99"].value > 0.4  # those that were due during the stall waited
    assert opened["p99"].value > closed["p99"].value
    assert opened["latency_compliance"].value < closed["latency_compliance"].value
    assert closed["latency_max"].value > 0.7
    assert opened.counts.durations.rows == closed.counts.durations.rows == 400
    assert any(block.id == "stalls" for block in opened.contract.blocks(opened.record))


def test_responses_that_are_errors_fail(served):
    found = assay.efficiency(f"{served()}/broken", [[1.0]], bound=5.0, **QUICK)
    assert found["latency_compliance"].value == 0.5
    assert any("status 500" in note for note in found.notes)


def test_offline_asks_everything_at_once(served):
    found = assay.efficiency(f"{served()}/", [[1.0]], scenario="offline", workers=2, runs=1, requests=50, energy="none")
    assert found.counts.durations.failed == 0
    assert found["throughput"].value == pytest.approx(50 / found["latency_max"].value, rel=0.2)


def test_a_server_is_searched_for_the_highest_rate():
    found = assay.efficiency("cat", ["x"], scenario="server", bound=0.5, runs=1, requests=30, energy="none")
    assert found.counts.facts["searched"] is True
    assert found.counts.facts["rate"] > 0


def test_an_onnx_model_is_run_and_its_graph_is_read(tmp_path):
    onnx = pytest.importorskip("onnx", reason="writes the model")
    pytest.importorskip("onnxruntime", reason="runs the model")
    helper, kinds = onnx.helper, onnx.TensorProto
    weights = helper.make_tensor("w", kinds.FLOAT, [3, 2], np.arange(6, dtype=np.float32))
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("ArgMax", ["y"], ["z"], axis=1, keepdims=0)],
        "tiny",
        [helper.make_tensor_value_info("x", kinds.FLOAT, ["n", 3])],
        [helper.make_tensor_value_info("z", kinds.INT64, ["n"])],
        [weights],
    )
    path = tmp_path / "tiny.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    inputs = INPUTS.astype(np.float32)
    expected = (inputs @ np.arange(6, dtype=np.float32).reshape(3, 2)).argmax(axis=1)
    found = assay.efficiency(str(path), inputs, expected=expected, runs=1, requests=40, energy="none")
    assert found.counts.durations.runs[0].amounts["correct"] == 40.0
    assert found["parameter_count"].value == 6
    assert found["model_depth"].value == 1
    assert (found.counts.facts["macs"], found.counts.facts["bytes"]) == (6, path.stat().st_size)
    assert set(found.record["digests"]["files"]) == {"tiny.onnx"}


def test_a_command_may_end_in_the_name_of_a_file(tmp_path):
    for name in ("model.onnx", "table.csv"):
        (tmp_path / name).write_text("")
        command = f"{ECHO} {tmp_path / name}"
        found = assay.efficiency(command, ["cat"], expected=["CAT"], runs=1, requests=5, energy="none")
        assert found.counts.durations.runs[0].amounts["correct"] == 5.0


HOSTILE = {
    "a target that ends at once": (f"{sys.executable} -c pass", "warm-up|times in a row"),
    "a target that never answers": (f'{sys.executable} -c "import time; time.sleep(60)"', "in a row|warm-up"),
    "a command that is not there": ("no-such-command-here", "cannot be started"),
    "a module that is not there": ("no_such_module_here:predict", "cannot be loaded"),
    "a file that is not there": ("no_such_model.onnx", "does not exist"),
    "an address of another machine": ("http://192.0.2.1/predict", "only addresses of this machine"),
    "a name of another machine": ("http://example.org/predict", "only addresses of this machine"),
    "an address where nobody listens": ("http://127.0.0.1:9/", "no request of the warm-up was answered"),
    "nothing": ("", "the target is empty"),
    "a number": (7, "target cannot be this"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_a_target_that_cannot_be_timed_is_an_error(case):
    target, told = HOSTILE[case]
    with pytest.raises(AssayError, match=told):
        assay.efficiency(target, [[1.0]], runs=1, requests=5, timeout=0.2, energy="none")


@pytest.mark.usefixtures("folder")
def test_a_model_that_dies_is_given_up():
    with pytest.raises(AssayError, match=r"warm-up|in a row"):
        assay.efficiency("answering:die", [[1.0]], runs=1, requests=20, energy="none")


def children():
    return {pid for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="lists child processes by /proc")
def test_nothing_of_a_target_stays_behind():
    before = children()
    assert assay.efficiency("cat", ["x"], runs=2, requests=5, energy="none").counts.units == 2
    assert children() <= before


SLOW = """
import os, sys, time
open({told!r}, "w").write(str(os.getpid()))
for line in sys.stdin:
    time.sleep(0.02)
    print(1, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupted_run_leaves_nothing(tmp_path):
    script, told, out = tmp_path / "slow.py", tmp_path / "pid", tmp_path / "out"
    script.write_text(SLOW.format(told=str(told)))
    (tmp_path / "lines.txt").write_text("a\nb\n")
    command = [sys.executable, "-m", "assay", "run", f"{sys.executable} {script}", "--task", "efficiency", "--inputs",
               str(tmp_path / "lines.txt"), "--requests", "100000", "--warm-up", "1", "--out", str(out)]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as driver:
        wait_until(lambda: told.exists() and told.read_text())
        driver.send_signal(signal.SIGINT)
        driver.communicate(timeout=LIMIT)
    assert driver.returncode != 0
    assert not out.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


class Counter:
    """A meter whose readings are 2, 3, 4 and so on joules apart."""

    def __init__(self, name):
        self.name, self.total, self.step = name, 0.0, 1.0

    def joules(self):
        self.step += 1
        self.total += self.step
        return self.total


METERED = {"runs": 5, "requests": 20, "idle": 0, "objective": "answers", "resource": "joules"}
ENERGY = ("energy", "average_power", "performance_per_watt", "joules_per_inference", "training_energy", "efficiency")


def test_the_energy_of_runs_and_of_training_comes_from_the_meter(monkeypatch):
    trained = []
    monkeypatch.setattr("assay.tasks.efficiency.driven.find_meter", lambda: Counter("powercap"))
    measured = assay.efficiency(lambda x: x, [1], training=lambda: trained.append(1), **METERED)
    assert trained == [1]
    assert measured["training_energy"].value > 2
    assert measured["joules_per_inference"].value * 20 == pytest.approx(measured["energy"].value)
    assert measured["energy"].interval is not None
    assert str(measured.accept("energy <= 1000").decisions.verdict) == "pass"
    with pytest.raises(AssayError, match="cannot be metered"):
        assay.efficiency(lambda x: x, [1], training=lambda: None, energy="none", runs=1, requests=5)


def test_an_estimate_of_energy_is_marked_everywhere_and_never_passes(monkeypatch):
    from assay.tasks.efficiency import driven

    monkeypatch.setattr(driven, "open_codecarbon", lambda: Counter("estimate by codecarbon, not a measurement"))
    estimated = assay.efficiency(lambda x: x, [1], training=lambda: None, energy="estimate=codecarbon", **METERED)
    for name in ENERGY:
        assert estimated[name].interval is None, name
        assert "estimate by codecarbon" in estimated[name].no_interval, name
        assert any("estimate by codecarbon" in note for note in estimated[name].notes), name
    assert str(estimated.accept("energy <= 1000").decisions.verdict) != "pass"
    with pytest.raises(AssayError, match="is not known"):
        assay.efficiency(lambda x: x, [1], energy="estimate=guess", runs=1, requests=5)
    with pytest.raises(AssayError, match="cannot be estimated"):
        assay.efficiency(latencies={"latency": [0.1] * 10}, energy="estimate=codecarbon")
