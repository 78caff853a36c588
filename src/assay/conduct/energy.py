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
from typing import TYPE_CHECKING, Any, Final, Protocol

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


class Meter(Protocol):
    """Counts joules since it was opened."""

    @property
    def name(self) -> str:
        """What it is called."""

    def joules(self) -> float:
        """Joules so far; must be asked more often than the counters wrap around."""


@dataclass(slots=True)
class _Zone:
    energy: Path
    wraps_at: int
    last: int
    total: int = 0

    def read(self) -> int:
        """Microjoules so far."""
        value = int(self.energy.read_text())
        step = value - self.last
        self.total += step if step >= 0 else step + self.wraps_at
        self.last = value
        return self.total


class Powercap:
    """The energy counters of the processor packages and their memory."""

    def __init__(self, root: Path = POWERCAP) -> None:
        self.name = "powercap"
        self.zones = [zone for place in sorted(root.glob("*:*")) if (zone := _open_zone(place)) is not None]
        if not self.zones:
            msg = "no readable energy counter"
            raise OSError(msg)

    def joules(self) -> float:
        """The sum of all zones."""
        return sum(zone.read() for zone in self.zones) * MICRO


def _open_zone(place: Path) -> _Zone | None:
    try:
        name = (place / "name").read_text().strip()
        if not name.startswith(PARTS):
            return None
        wraps_at, energy = int((place / "max_energy_range_uj").read_text()), place / "energy_uj"
        return _Zone(energy, wraps_at, int(energy.read_text()))
    except (OSError, ValueError):
        return None


class Nvml:
    """The energy counters of NVIDIA accelerators."""

    def __init__(self) -> None:
        import pynvml  # type: ignore[import-not-found,unused-ignore]

        self.name, self._library = "NVML", pynvml
        pynvml.nvmlInit()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
        if not handles:
            msg = "no accelerator"
            raise OSError(msg)
        self._handles: list[Any] = handles
        self._first = self._read()

    def _read(self) -> float:
        return float(sum(self._library.nvmlDeviceGetTotalEnergyConsumption(handle) for handle in self._handles))

    def joules(self) -> float:
        """The sum of all accelerators."""
        return (self._read() - self._first) * MILLI


@dataclass(frozen=True, slots=True)
class Meters:
    """Several meters at once."""

    parts: tuple[Meter, ...]

    @property
    def name(self) -> str:
        """All their names."""
        return " and ".join(meter.name for meter in self.parts)

    def joules(self) -> float:
        """The sum of all meters."""
        return sum(meter.joules() for meter in self.parts)


class Codecarbon:
    """What codecarbon's model says of this machine: an estimate, never a measurement."""

    def __init__(self) -> None:
        try:
            from codecarbon import OfflineEmissionsTracker
        except ImportError:
            raise PlanError(
                "missing-extra", "estimates of energy need codecarbon", where="energy", fix="pip install codecarbon"
            ) from None
        self.name = f"{ESTIMATE} by codecarbon, not a measurement"
        self._tracker: Any = OfflineEmissionsTracker(
            country_iso_code="USA", measure_power_secs=1, save_to_file=False, log_level="error"
        )  # the country tells carbon, which is not asked for
        self._parts, self._total = 1, 0.0
        self._tracker.start_task("0")

    def joules(self) -> float:
        """Joules so far, by the model."""
        self._total += float(self._tracker.stop_task().energy_consumed) * KILOWATT_HOUR
        self._tracker.start_task(str(self._parts))
        self._parts += 1
        return self._total


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
        meters.append(Powercap(root))
    except OSError:
        reasons.append(NOT_READABLE if any(root.glob("*:*")) else "powercap is absent")
    try:
        meters.append(Nvml())
    except Exception:  # noqa: BLE001  the library raises classes of its own where there is no driver
        reasons.append("NVML is absent")
    return Meters(tuple(meters)) if meters else f"no evidence: no meter ({', '.join(reasons)})"


def measure_idle(meter: Meter, seconds: float) -> float:
    """Mean watts while nothing is asked."""
    begin, first = time.perf_counter(), meter.joules()
    time.sleep(seconds)
    return (meter.joules() - first) / (time.perf_counter() - begin)
