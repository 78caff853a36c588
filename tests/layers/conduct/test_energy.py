# SPDX-License-Identifier: Apache-2.0
"""Meters: counters that wrap around, files of watts, and none."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from assay.conduct.energy import (
    POWERCAP,
    PowerLog,
    find_meter,
    is_estimate,
    measure_idle,
    meter_work,
    open_codecarbon,
    open_nvml,
    open_powercap,
    read_power_log,
)
from assay.core.errors import AssayError


def zone(root, name, value, called="package-0", wraps_at=1_000_000):
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{called}\n")
    (folder / "max_energy_range_uj").write_text(f"{wraps_at}\n")
    (folder / "energy_uj").write_text(f"{value}\n")
    return folder / "energy_uj"


def test_counters_are_added_and_may_wrap_around(tmp_path):
    package, memory = zone(tmp_path, "intel-rapl:0", 900_000), zone(tmp_path, "intel-rapl:0:0", 10, "dram")
    zone(tmp_path, "intel-rapl:0:1", 0, "core")  # contained in the package
    meter = open_powercap(tmp_path)
    package.write_text("950000")
    assert meter.joules() == pytest.approx(0.05)
    package.write_text("100000")
    memory.write_text("20010")
    assert meter.joules() == pytest.approx(0.05 + 0.15 + 0.02)


def test_a_machine_without_counters_gives_no_evidence(tmp_path):
    assert find_meter(tmp_path).startswith("no evidence: no meter (powercap is absent")
    (tmp_path / "intel-rapl:0").mkdir()
    assert "powercap is not readable" in find_meter(tmp_path)
    zone(tmp_path, "intel-rapl:1", 5)
    assert find_meter(tmp_path).name == "powercap"


def test_the_energy_of_a_log_is_the_trapezoid_rule():
    rng = np.random.default_rng(1)
    times = np.cumsum(rng.random(50))
    log = PowerLog(times=times, watts=rng.random(50) * 100)
    assert log.joules(times[0], times[-1]) == pytest.approx(np.trapezoid(log.watts, times))
    middle = (times[10] + times[11]) / 2
    parts = log.joules(times[0], middle) + log.joules(middle, times[-1])
    assert parts == pytest.approx(log.joules(times[0], times[-1]))
    assert log.joules(times[0] - 1, times[5]) is None
    assert log.joules(times[40], times[-1] + 1) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("time,power\n1,2\n", "needs the columns"),
        ("", "needs the columns"),
        ("time,watt\n1,2\n1,3\n", "cannot be used"),
        ("time,watt\n1,soon\n2,3\n", "cannot be used"),
        ("time,watt\n1,-2\n2,3\n", "cannot be used"),
    ],
)
def test_a_file_that_is_no_log_of_power_is_an_error(tmp_path, text, told):
    path = tmp_path / "meter.csv"
    path.write_text(text)
    with pytest.raises(AssayError, match=told):
        read_power_log(path)
    with pytest.raises(AssayError, match="cannot be read"):
        read_power_log(tmp_path / "absent.csv")


def test_idle_power_is_energy_by_time(tmp_path):
    counter = zone(tmp_path, "intel-rapl:0", 0)
    assert measure_idle(open_powercap(tmp_path), 0.01) == 0.0
    counter.write_text("1")


def test_counters_of_accelerators_are_added_in_millijoules(monkeypatch):
    counts = {0: 1_000.0, 1: 5_000.0}
    library = SimpleNamespace(
        nvmlInit=lambda: None, nvmlDeviceGetCount=lambda: len(counts), nvmlDeviceGetHandleByIndex=lambda place: place,
        nvmlDeviceGetTotalEnergyConsumption=counts.__getitem__,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "pynvml", library)
    meter = open_nvml()
    counts[0] += 1_500
    counts[1] += 250
    assert meter.joules() == pytest.approx(1.75)
    assert find_meter(POWERCAP / "absent").name == "NVML"
    counts.clear()
    assert str(find_meter(POWERCAP / "absent")).startswith("no evidence: no meter")


class FakeTracker:
    """codecarbon's tracker, whose every task took a tenth of a watt-hour."""

    def __init__(self, **options):
        assert options["save_to_file"] is False

    def start_task(self, name):
        self.name = name

    def stop_task(self):
        return SimpleNamespace(energy_consumed=1e-4)


@pytest.fixture
def codecarbon(monkeypatch):
    monkeypatch.setitem(sys.modules, "codecarbon", SimpleNamespace(OfflineEmissionsTracker=FakeTracker))


@pytest.mark.usefixtures("codecarbon")
def test_a_model_of_power_is_called_an_estimate():
    meter = open_codecarbon()
    assert (meter.joules(), meter.joules()) == (360.0, 720.0)
    assert is_estimate(meter.name)
    assert not is_estimate("powercap")


def test_without_codecarbon_an_estimate_is_an_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "codecarbon", None)
    with pytest.raises(AssayError, match="need codecarbon"):
        open_codecarbon()


def test_work_is_metered_while_counters_wrap_around(tmp_path, monkeypatch):
    package = zone(tmp_path, "intel-rapl:0", 900_000)
    monkeypatch.setattr(sys.modules[open_powercap.__module__], "POLLED", 0.002)

    def work():
        for value in (990_000, 400_000, 950_000, 100_000):  # two wraps, which only readings in between tell
            (tmp_path / "next").write_text(str(value))
            (tmp_path / "next").replace(package)  # never seen half written, as counters are not
            time.sleep(0.1)

    assert meter_work(work, open_powercap(tmp_path)) == pytest.approx(0.09 + 0.41 + 0.55 + 0.15)
