# SPDX-License-Identifier: Apache-2.0
"""Energy from a meter: powercap counters, NVML, or a file of times and watts. Without a meter there is no number.

codecarbon, which models power, is asked on request only; what it says is called an estimate everywhere.
"""

from __future__ import annotations

import csv
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.core.errors import MissingColumn, PlanError, RowsError
from assay.core.text import counted, visible

if TYPE_CHECKING:
    from numpy.typing import NDArray

POWERCAP: Final = Path("/sys/class/powercap")
PARTS: Final = ("package", "dram")
"""Zones that are added up; others are contained in a package."""
MICRO: Final = 1e-6
MILLI: Final = 1e-3
KILOWATT_HOUR: Final = 3.6e6
ESTIMATE: Final = "estimate"
POLLED: Final = 10.0
"""Seconds between readings while something else runs."""
NOT_READABLE: Final = "powercap is not readable: chmod a+r /sys/class/powercap/*/energy_uj as root"


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerLog:
    """Power over time, as a meter wrote it."""

    times: NDArray[np.float64]
    """Seconds, ascending, on the clock of the requests."""
    watts: NDArray[np.float64]

    def joules(self, begin: float, end: float) -> float | None:
        """The energy between two times by the trapezoid rule; None where the log does not cover them.

        >>> PowerLog(times=np.array([0.0, 1.0, 2.0]), watts=np.array([10.0, 20.0, 20.0])).joules(0.5, 2.0)
        28.75
        """
        if len(self.times) < 2 or begin < self.times[0] or end > self.times[-1]:  # noqa: PLR2004  spec: two samples
            return None
        inside = (self.times > begin) & (self.times < end)
        times = np.concatenate([[begin], self.times[inside], [end]])
        watts = np.interp(times, self.times, self.watts)
        return math.fsum((np.diff(times) * (watts[1:] + watts[:-1]) / 2).tolist())

    def amounts(self, begin: float, end: float) -> dict[str, float]:
        """The energy of a run; nothing where it was not covered."""
        joules = self.joules(begin, end)
        return {} if joules is None else {"joules": joules}

    def idle_power(self, first: float, last: float) -> tuple[float, float] | None:
        """Mean watts before the first request and after the last answer; None where the log lacks one of them."""
        before = self.joules(float(self.times[0]), first) if len(self.times) and first > self.times[0] else None
        after = self.joules(last, float(self.times[-1])) if len(self.times) and last < self.times[-1] else None
        if before is None or after is None:
            return None
        return before / (first - float(self.times[0])), after / (float(self.times[-1]) - last)


def read_power_log(path: Path | str) -> PowerLog:
    """The CSV file of a meter, with columns time (seconds) and watt."""
    place = Path(path)
    try:
        with place.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(
            "no-file", "the file of the meter cannot be read", where=visible(place.name), fix="check the path"
        ) from error
    if not rows or not {"time", "watt"} <= set(rows[0]):
        raise MissingColumn(
            "missing-column",
            "the file of a meter needs the columns time and watt",
            where=visible(place.name),
            found=", ".join(map(str, rows[0])) if rows else "no rows",
            fix="write seconds into time and watts into watt",
        )
    values = np.array([[_number(row["time"]), _number(row["watt"])] for row in rows])
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1) | (values[:, 1] < 0))
    if len(bad) or (np.diff(values[:, 0]) <= 0).any():
        back = (np.flatnonzero(np.diff(values[:, 0]) <= 0) + 1).tolist()
        raise RowsError(
            "value-out-of-domain",
            f"{counted(len({*bad.tolist(), *back}), 'row')} of the meter cannot be used",
            where=visible(place.name),
            found=f"row {', '.join(str(row + 2) for row in sorted({*bad.tolist(), *back})[:5])}",
            known="finite times that ascend, and watts from 0 on",
            fix="correct the file of the meter",
        )
    return PowerLog(times=values[:, 0], watts=values[:, 1])


def _number(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return math.nan


@dataclass(frozen=True, slots=True)
class Meter:
    """Counts joules since it was opened; must be asked more often than its counters wrap around."""

    name: str
    joules: Callable[[], float]


def open_powercap(root: Path = POWERCAP) -> Meter:
    """The energy counters of the processor packages and their memory, added up."""
    counters = [counter for place in sorted(root.glob("*:*")) if (counter := _open_zone(place)) is not None]
    if not counters:
        msg = "no readable energy counter"
        raise OSError(msg)
    return Meter("powercap", lambda: sum(read() for read in counters) * MICRO)


def _open_zone(place: Path) -> Callable[[], int] | None:
    """What reads the microjoules of a zone so far; None where it cannot be read, or another zone contains it."""
    try:
        if not (place / "name").read_text().strip().startswith(PARTS):
            return None
        wraps_at, energy = int((place / "max_energy_range_uj").read_text()), place / "energy_uj"
        total, last = 0, int(energy.read_text())
    except (OSError, ValueError):
        return None

    def read() -> int:
        nonlocal total, last
        value = int(energy.read_text())
        total += value - last + (wraps_at if value < last else 0)
        last = value
        return total

    return read


def open_nvml() -> Meter:
    """The energy counters of NVIDIA accelerators, added up."""
    import pynvml  # type: ignore[import-not-found,unused-ignore]

    pynvml.nvmlInit()
    handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
    if not handles:
        msg = "no accelerator"
        raise OSError(msg)

    def read() -> float:
        return float(sum(pynvml.nvmlDeviceGetTotalEnergyConsumption(handle) for handle in handles)) * MILLI

    first = read()
    return Meter("NVML", lambda: read() - first)


def open_codecarbon() -> Meter:
    """What codecarbon's model says of this machine: an estimate, never a measurement."""
    try:
        from codecarbon import OfflineEmissionsTracker
    except ImportError:
        raise PlanError(
            "missing-extra", "estimates of energy need codecarbon", where="energy", fix="pip install codecarbon"
        ) from None
    tracker: Any = OfflineEmissionsTracker(
        country_iso_code="USA", measure_power_secs=1, save_to_file=False, log_level="error"
    )  # the country tells carbon, which is not asked for
    tracker.start_task("0")
    parts: list[float] = []

    def read() -> float:
        parts.append(float(tracker.stop_task().energy_consumed) * KILOWATT_HOUR)
        tracker.start_task(str(len(parts)))
        return sum(parts)

    return Meter(f"{ESTIMATE} by codecarbon, not a measurement", read)


def meter_work(work: Callable[[], object], meter: Meter) -> float:
    """The joules that some work takes, such as training, idle power included."""
    done, first = threading.Event(), meter.joules()

    def watch() -> None:
        while not done.wait(POLLED):
            meter.joules()  # counters wrap around

    watcher = threading.Thread(target=watch, daemon=True)
    if not is_estimate(meter.name):
        watcher.start()
    try:
        work()
    finally:
        done.set()
        if watcher.ident is not None:
            watcher.join()
    return meter.joules() - first


def is_estimate(name: object) -> bool:
    """Whether a meter is a model of power, by its name."""
    return str(name).startswith(ESTIMATE)


def find_meter(root: Path = POWERCAP) -> Meter | str:
    """The meters of this machine, or the reason why there is none."""
    meters: list[Meter] = []
    reasons: list[str] = []
    try:
        meters.append(open_powercap(root))
    except OSError:
        reasons.append(NOT_READABLE if any(root.glob("*:*")) else "powercap is absent")
    try:
        meters.append(open_nvml())
    except Exception:  # noqa: BLE001  the library raises classes of its own where there is no driver
        reasons.append("NVML is absent")
    if not meters:
        return f"no evidence: no meter ({', '.join(reasons)})"
    return Meter(" and ".join(meter.name for meter in meters), lambda: sum(meter.joules() for meter in meters))


def measure_idle(meter: Meter, seconds: float) -> float:
    """Mean watts while nothing is asked."""
    begin, first = time.perf_counter(), meter.joules()
    time.sleep(seconds)
    return (meter.joules() - first) / (time.perf_counter() - begin)
