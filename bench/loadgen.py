# SPDX-License-Identifier: Apache-2.0
"""The four scenarios beside MLPerf LoadGen (mlcommons-loadgen 6.0.17, no wheel beyond Python 3.13): mean latency, samples.

    python bench/loadgen.py [--requests 200]

Both ask a model that takes 20 ms, so that a busy machine disturbs little, and queues are short; LoadGen in its own process, assay in a child process, one after the other.
"""

from __future__ import annotations

import argparse
import queue
import re
import tempfile
import threading
import time
from pathlib import Path

import mlperf_loadgen as lg

import assay

SERVICE = 0.02
RATE = 5.0
STREAMS = 4
SCENARIOS = {
    "single-stream": "SingleStream",
    "multi-stream": "MultiStream",
    "server": "Server",
    "offline": "Offline",
}


def answer(_input: object) -> int:
    """A model that takes its time."""
    time.sleep(SERVICE)
    return 1


class Worker:
    """Answers samples of LoadGen one after the other, in the order in which they come."""

    def __init__(self) -> None:
        self.samples: queue.SimpleQueue[list[int] | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def issue(self, samples: list[lg.QuerySample]) -> None:
        """Take a query."""
        self.samples.put([sample.id for sample in samples])

    def work(self) -> None:
        """Answer until there is nothing more to come."""
        while (ids := self.samples.get()) is not None:
            for place in ids:
                answer(None)
                lg.QuerySamplesComplete([lg.QuerySampleResponse(place, 0, 0)])


def run_loadgen(scenario: str, requests: int) -> tuple[float, float, int]:
    """Mean and median latency in seconds, and completed samples."""
    settings = lg.TestSettings()
    settings.scenario, settings.mode = getattr(lg.TestScenario, SCENARIOS[scenario]), lg.TestMode.PerformanceOnly
    settings.min_duration_ms = 0
    settings.min_query_count = settings.max_query_count = requests
    settings.server_target_qps = RATE
    settings.server_target_latency_ns = 10**9
    settings.multi_stream_samples_per_query = STREAMS
    with tempfile.TemporaryDirectory() as folder:
        output = lg.LogOutputSettings()
        output.outdir, output.copy_summary_to_stdout = folder, False
        logs = lg.LogSettings()
        logs.log_output, logs.enable_trace = output, False
        worker = Worker()
        sut = lg.ConstructSUT(worker.issue, lambda: None)
        samples = lg.ConstructQSL(64, 64, lambda _: None, lambda _: None)
        lg.StartTestWithLogSettings(sut, samples, settings, logs)
        worker.samples.put(None)
        worker.thread.join()
        lg.DestroyQSL(samples)
        lg.DestroySUT(sut)
        summary = (Path(folder) / "mlperf_log_summary.txt").read_text()
        detail = (Path(folder) / "mlperf_log_detail.txt").read_text()
    mean, median = (
        float(re.search(rf"{name} latency \(ns\)\s*:\s*(\d+)", summary)[1]) / 1e9
        for name in ("Mean", "50.00 percentile")
    )
    key = "generated_samples_per_query" if scenario == "offline" else "result_query_count"
    return mean, median, int(re.search(rf'"key": "{key}", "value": (\d+)', detail)[1])


def run_assay(scenario: str, requests: int) -> tuple[float, float, int]:
    """The same of ours."""
    found = assay.efficiency(
        answer, [1.0], scenario=scenario, requests=requests, runs=1, rate=RATE, streams=STREAMS, energy="none"
    )
    return found["latency_mean"].value, found["p50"].value, found.counts.rows - found.counts.durations.failed


def main() -> None:
    """Print one row for each scenario."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=200)
    requests = parser.parse_args().requests
    print("scenario        mean, ms: LoadGen    assay   ratio   median, ms: LoadGen    assay   ratio   completed")
    for scenario in SCENARIOS:
        (mean, median, count), (own_mean, own_median, own) = (
            run_loadgen(scenario, requests),
            run_assay(scenario, requests),
        )
        print(
            f"{scenario:14}  {1000 * mean:17.3f}  {1000 * own_mean:7.3f}  {own_mean / mean:6.3f}  "
            f"{1000 * median:20.3f}  {1000 * own_median:7.3f}  {own_median / median:6.3f}   {count} and {own}",
            flush=True,
        )


if __name__ == "__main__":
    main()
