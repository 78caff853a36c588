# SPDX-License-Identifier: Apache-2.0
"""Asks a target by a schedule that is drawn before the run, and takes the time of every answer.

Latency counts from the time at which a request was due, so that waiting in a queue is part of it.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.conduct.targets import Connection, RequestFailed, Target
from assay.core.errors import RowsError
from assay.core.text import visible

if TYPE_CHECKING:
    from assay.core.arrays import Whole

FAILED: Final = -1
CLOSED: Final = ("single-stream", "multi-stream")
"""Scenarios in which the next request waits for the answer to the one before."""
SLEEP: Final = 0.002
"""Seconds before a request is due at which sleeping ends: systems wake sleepers up late."""
WARM: Final = 20
"""Answers of a section of the warm-up."""
FLAT: Final = 0.1
"""Relative change of the median of a section at which the warm-up ends."""
MOST_WARM: Final = 25
"""Sections of a warm-up at most."""
WARM_SECONDS: Final = 20.0
TICK: Final = 0.2
"""Seconds between two reports of progress."""
STEPS: Final = 6
"""Halvings of the search for a rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How requests come."""

    scenario: str = "single-stream"
    requests: int = 1000
    rate: float | None = None
    streams: int = 8
    workers: int = 4
    timeout: float = 10.0
    warm_up: int | None = None
    seed: int = 4213

    @property
    def batch(self) -> int:
        """Inputs of a request."""
        return self.streams if self.scenario == "multi-stream" else 1

    def schedule(self, run: int) -> Whole | None:
        """Nanoseconds after the start at which each request is due; None where each waits for the one before.

        >>> Pace(scenario="server", rate=100.0, requests=3, seed=1).schedule(0).tolist()
        [10730290, 13814822, 67569190]
        """
        if self.scenario in CLOSED:
            return None
        if self.scenario == "offline" or self.rate is None:
            return np.zeros(self.requests, dtype=np.int64)
        gaps = np.random.default_rng((self.seed, run)).exponential(1 / self.rate, self.requests)
        return np.rint(np.cumsum(gaps) * 1e9).astype(np.int64)


@dataclass(kw_only=True)
class RunTimes:
    """What one run gave, by order of request."""

    due: Whole
    sent: Whole
    done: Whole
    """`FAILED` for requests without an answer."""
    idle: Whole
    """When a worker was free for the request."""
    answers: list[Any]
    began_at: float
    """Seconds of the clock of the machine."""
    warm_up: int = 0
    peak_bytes: int | None = None
    steal: float | None = None
    reasons: dict[str, int] = field(default_factory=dict)

    @property
    def latencies(self) -> Whole:
        """Nanoseconds from due to done."""
        return np.where(self.done == FAILED, FAILED, self.done - self.due)

    @property
    def span(self) -> int:
        """Nanoseconds from the first request to the last answer."""
        return int(max(self.done.max(), self.sent.max()) - self.due.min()) if len(self.due) else 0

    @property
    def lag(self) -> float:
        """Seconds by which the driver itself was late, in all but one of twenty requests."""
        late = np.maximum(self.sent - np.maximum(self.due, self.idle), 0)
        return float(np.quantile(late, 0.95, method="inverted_cdf")) / 1e9 if len(late) else 0.0


def time_run(target: Target, inputs: int, pace: Pace, run: int, tell: Callable[[int], None]) -> RunTimes:
    """One run: connect, warm up, ask by the schedule, close."""
    workers = 1 if target.one_at_a_time or pace.scenario in CLOSED else pace.workers
    connections: list[Connection] = []
    try:
        for _ in range(min(workers, pace.requests)):
            connections.append(target.connect())  # noqa: PERF401  one that fails must not hide those before it
        warm = sum(_warm_up(connection, inputs, pace, target) for connection in connections)
        before = read_steal()
        times = _ask_all(connections, inputs, pace, run, tell)
        times.warm_up, times.steal = warm, _share_stolen(before, read_steal())
        peaks = [peak for connection in connections if (peak := connection.peak_bytes()) is not None]
        times.peak_bytes = sum(peaks) or None
        return times
    finally:
        for connection in connections:
            connection.close()


def _warm_up(connection: Connection, inputs: int, pace: Pace, target: Target) -> int:
    """Ask until the median of a section stays flat; the number of answers that were spent."""
    if pace.warm_up is not None:
        sections, size = (1, pace.warm_up) if pace.warm_up else (0, 0)
    else:
        sections, size = MOST_WARM, min(WARM, max(1, pace.requests))
    median, spent, end = 0.0, 0, time.monotonic() + WARM_SECONDS
    for _ in range(sections):
        times, failures = [], []
        for place in range(size):
            begin = time.perf_counter_ns()
            try:
                connection.ask(_places(spent + place, inputs, pace.batch), pace.timeout)
            except RequestFailed as error:
                failures.append(str(error))
            times.append(time.perf_counter_ns() - begin)
        spent += size
        if len(failures) == size:
            raise RowsError(
                "target-failed",
                f"no request of the warm-up was answered: {visible(failures[-1])}",
                where=visible(target.described),
                fix="start the target, and ask it once by hand",
            )
        last, median = median, float(np.median(times))
        if (last and abs(median - last) <= FLAT * last) or time.monotonic() > end:
            break
    return spent


def _places(request: int, inputs: int, batch: int) -> list[int]:
    return [(request * batch + place) % inputs for place in range(batch)]


def _ask_all(  # noqa: C901  one loop with its threads
    connections: Sequence[Connection], inputs: int, pace: Pace, run: int, tell: Callable[[int], None]
) -> RunTimes:
    """Workers take requests in order; each waits until its request is due."""
    schedule = pace.schedule(run)
    size = pace.requests
    due, sent, done, idle = (np.full(size, FAILED, dtype=np.int64) for _ in range(4))
    answers: list[Any] = [None] * size
    reasons: dict[str, int] = {}
    counter, stop, trouble = itertools.count(), threading.Event(), list[BaseException]()
    began_at, begin = time.time(), time.perf_counter_ns()
    if schedule is not None:
        due[:] = schedule

    def work(connection: Connection) -> None:
        try:
            while not stop.is_set() and (place := next(counter)) < size:
                free = time.perf_counter_ns()
                if schedule is not None:
                    _wait_until(begin + int(schedule[place]), stop)
                now = time.perf_counter_ns()
                idle[place], sent[place] = free - begin, now - begin
                try:
                    answers[place] = connection.ask(_places(place, inputs, pace.batch), pace.timeout)
                    done[place] = time.perf_counter_ns() - begin
                except RequestFailed as error:
                    reasons[str(error)] = reasons.get(str(error), 0) + 1
        except BaseException as error:  # noqa: BLE001  raised again by the thread that waits
            trouble.append(error)
            stop.set()

    threads = [threading.Thread(target=work, args=(connection,), daemon=True) for connection in connections]
    try:
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            threads[0].join(TICK) if threads[0].is_alive() else time.sleep(TICK / 10)
            tell(int((sent != FAILED).sum()))
        tell(int((sent != FAILED).sum()))  # all may be sent before the first look
    finally:
        stop.set()
    if trouble:
        raise trouble[0]
    if schedule is None:
        due = sent.copy()
    return RunTimes(
        due=due, sent=sent, done=done, idle=idle, answers=answers, began_at=began_at, reasons=reasons
    )  # fmt: skip


def _wait_until(moment: int, stop: threading.Event) -> None:
    while (left := (moment - time.perf_counter_ns()) / 1e9) > 0 and not stop.is_set():
        time.sleep(min(left - SLEEP, 0.05) if left > SLEEP else min(left, 0.0002))


def search_rate(
    target: Target, inputs: int, pace: Pace, *, bound: float, share: float, tell: Callable[[int], None]
) -> float:
    """The highest rate of requests, by halving, at which a short run keeps the bound; a run at it has to confirm it."""
    short = min(pace.requests, 300)
    closed = time_run(target, inputs, replace(pace, scenario="single-stream", requests=short), 0, tell)
    answered = closed.latencies[closed.latencies != FAILED]
    if not len(answered):
        raise RowsError("target-failed", "no request was answered", where=visible(target.described), fix="check it")
    low, high = 0.0, 1.5e9 / float(answered.mean()) * (1 if target.one_at_a_time else pace.workers)
    for step in range(STEPS):
        rate = (low + high) / 2
        times = time_run(target, inputs, replace(pace, rate=rate, requests=short), 1000 + step, tell).latencies
        within = float(((times != FAILED) & (times <= bound * 1e9)).mean())
        low, high = (rate, high) if within >= share else (low, rate)
    return low or high


def read_steal() -> tuple[int, int] | None:
    """Ticks that other virtual machines took from this one, and all ticks."""
    try:
        fields = [int(part) for part in Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:]]
    except (OSError, ValueError, IndexError):
        return None
    return (fields[7], sum(fields[:8])) if len(fields) > 7 else None  # noqa: PLR2004  proc(5): the eighth is steal


def _share_stolen(before: tuple[int, int] | None, after: tuple[int, int] | None) -> float | None:
    if before is None or after is None or after[1] <= before[1]:
        return None
    return (after[0] - before[0]) / (after[1] - before[1])
