# SPDX-License-Identifier: Apache-2.0
"""Meters: counters that wrap around, files of watts, and none."""

from __future__ import annotations

import numpy as np
import pytest

from assay.conduct.energy import Powercap, PowerLog, find_meter, measure_idle, read_power_log
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
    meter = Powercap(tmp_path)
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
    assert measure_idle(Powercap(tmp_path), 0.01) == 0.0
    counter.write_text("1")
