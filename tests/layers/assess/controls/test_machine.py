# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import platform
from importlib.metadata import version

from assay.assess.controls import Moment
from assay.assess.controls.machine import differ, fingerprint
from tests.layers.assess.controls.looking import asked, look


def test_the_machine_must_not_change_and_must_reach_the_minimum():
    fields = {"kernel": "1", "python": "3.11.7", "processors": 2, "memory": 4e9, "packages": {"numpy": "2.1.0"}}
    same = (Moment(name="start", fields=fields), Moment(name="end", fields=dict(fields)))
    other = (same[0], Moment(name="end", fields={**fields, "python": "3.12"}))
    assert look("CHK-ENV-FP", asked(moments=same)).verdict == "pass"
    assert look("CHK-ENV-FP", asked(moments=other)).facts["changed"] == ["python"]
    assert look("CHK-ENV-FP", asked(moments=other), "hardware").verdict == "pass"
    assert look("CHK-ENV-FP", asked(moments=same[:1])).verdict == "no-evidence"
    reached = {"environment": {"processors": 2, "memory_gb": 4.0, "python": "3.11", "packages": {"numpy": "2.0"}}}
    assert look("CHK-ENV-MIN", asked(reached, moments=same)).verdict == "pass"
    for lacking in ({"processors": 8}, {"python": "3.12"}, {"packages": {"torch": "2.0"}}, {"memory_gb": 64.0}):
        assert look("CHK-ENV-MIN", asked({"environment": lacking}, moments=same)).verdict == "fail", lacking


def test_the_fingerprint_holds_hashes_of_packages_threads_and_linear_algebra_and_no_name_of_the_machine():
    here = fingerprint("salt")
    assert here["packages"]["numpy"] == version("numpy")
    assert len(here["package_hashes"]["numpy"]) == 16
    assert here["usable_processors"] >= 1
    assert all(n >= 1 for n in here["thread_pools"].values())
    assert here["linear_algebra"]["blas"]
    assert here["accelerators"] == [] or all(here["accelerators"])
    assert platform.node() not in str(here)
    assert here["host"] != fingerprint("other salt")["host"]
    again = fingerprint("salt")
    assert [name for name in here if differ(name, here[name], again[name])] == []
    fewer = {**here, "thread_pools": {**here["thread_pools"], "openblas": 1}}
    more = {**here, "thread_pools": {**here["thread_pools"], "openblas": 8}}
    moved = (Moment(name="start", fields=fewer), Moment(name="end", fields=more))
    assert look("CHK-ENV-FP", asked(moments=moved)).facts["changed"] == ["thread_pools"]
    packed = {**here, "package_hashes": {**here["package_hashes"], "numpy": "0" * 16}}
    moved = (Moment(name="start", fields=here), Moment(name="end", fields=packed))
    assert look("CHK-ENV-FP", asked(moments=moved)).verdict == "fail"
