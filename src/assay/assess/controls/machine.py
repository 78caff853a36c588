# SPDX-License-Identifier: Apache-2.0
"""The machine: its fingerprint, and controls that it is unchanged, the same for all models, and large enough.

What cannot be read here is None, and is listed as not covered. Identities appear only as salted hashes.
"""

from __future__ import annotations

import hashlib
import locale
import os
import platform
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Final

from assay.assess.controls.control_declaration import Inquiry, Moment, Outcome, Verdict, control, no_evidence, settle
from assay.assess.plan.checked_plan import stated
from assay.assess.plan.section_fields import Families, Model
from assay.core.text import counted, listed
from assay.tally.base import digest

HEADER: Final = re.compile(r"^(Name|Version): *(.*?) *$", re.MULTILINE)
SETTINGS: Final = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES",
    "CUDA_VISIBLE_DEVICES", "PYTHONHASHSEED",
)  # fmt: skip
"""Environment variables that steer numeric libraries."""


def fingerprint(salt: str) -> dict[str, Any]:
    """Every field that is compared between two moments of one assessment."""
    packages = _packages()
    versions = {name: version for name, (version, _) in packages.items()}
    return {
        "system": platform.system(),
        "release": platform.release(),
        "kernel": platform.version(),
        "boot": _hashed(_read("/proc/sys/kernel/random/boot_id"), salt),
        "host": _hashed(platform.node(), salt),
        "machine": platform.machine(),
        "processor": _cpu_lines("model name") or platform.processor() or None,
        "processor_features": _features(),
        "processors": os.cpu_count(),
        "memory": _memory(),
        "accelerators": _accelerators(),
        "driver": (_read("/proc/driver/nvidia/version") or "").partition("\n")[0] or None,
        "firmware": _read("/sys/class/dmi/id/bios_version"),
        "governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "packages": versions,
        "packages_digest": digest(versions),
        "package_hashes": {name: held for name, (_, held) in packages.items()},
        "linear_algebra": _linear_algebra(),
        "usable_processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "thread_pools": _thread_pools(),
        "settings": {name: os.environ[name] for name in SETTINGS if name in os.environ},
        "locale": locale.setlocale(locale.LC_ALL, None),
        "time_zone": list(time.tzname),
        "byte_order": sys.byteorder,
    }


def _packages() -> dict[str, tuple[str, str | None]]:
    """Name -> version, and the digest of the list of its files with their hashes, as the installer wrote it."""
    packages = {}
    for distribution in distributions():
        # Parsed as mail, as importlib does it, a hundred of these headers take half a second.
        headers = dict(
            HEADER.findall(
                (distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or "").partition("\n\n")[0]
            )
        )
        if "Name" in headers:
            files = distribution.read_text("RECORD")
            held = None if files is None else hashlib.sha256(files.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            packages[headers["Name"]] = (headers.get("Version", ""), held)
    return dict(sorted(packages.items()))


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def _hashed(text: str | None, salt: str) -> str | None:
    return hashlib.sha256(f"{salt}:{text}".encode()).hexdigest()[:16] if text else None


def _cpu_lines(key: str) -> str | None:
    text = _read("/proc/cpuinfo") or ""
    return next((line.partition(":")[2].strip() for line in text.splitlines() if line.startswith(key)), None)


def _features() -> str | None:
    """A digest of the instruction sets the processor offers."""
    flags = _cpu_lines("flags") or _cpu_lines("Features")
    return digest(sorted(flags.split()))[:16] if flags else None


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _accelerators() -> list[str]:
    """Devices the kernel shows; none of them is spoken to."""
    devices = []
    for info in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        text = _read(str(info)) or ""
        model = next((line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("Model")), "GPU")
        devices.append(model)
    devices += [one.name for one in sorted(Path("/dev").glob("kfd"))]
    return devices + [one.name for one in sorted(Path("/dev/accel").glob("*"))]


def _thread_pools() -> dict[str, int] | None:
    """Threads of each numeric library that is loaded by now, where the package that can tell is there."""
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return None
    return {f"{one['internal_api']} {one.get('version') or ''}".strip(): one["num_threads"]
            for one in threadpool_info()}  # fmt: skip


def differ(name: str, first_value: Any, other: Any) -> bool:  # noqa: ANN401  fields of any kind
    """Whether a field changed; a library that was loaded in between is not a change, but another number of threads is.

    >>> differ("thread_pools", {"openblas": 2}, {"openblas": 2, "openmp": 2}), differ("python", "3.11", "3.12")
    (False, True)
    """
    if name == "thread_pools" and first_value is not None and other is not None:
        return any(first_value[library] != other[library] for library in first_value if library in other)
    return bool(first_value != other)


def _linear_algebra() -> Any:  # noqa: ANN401  whatever numpy says of its build
    import numpy as np

    try:
        built: Any = np.show_config(mode="dicts")
    except (TypeError, ValueError):
        return None
    held = (built or {}).get("Build Dependencies", {})
    return {name: f"{one.get('name')} {one.get('version') or ''}".strip() for name, one in held.items() if one}


HARDWARE: Final = (
    "machine", "processor", "processors", "memory", "accelerators", "system", "release", "kernel", "boot",
)  # fmt: skip
NONE: Final = ("none", "no", "not used")


@control("CHK-ENV-FP")
def unchanged(q: Inquiry) -> Iterator[Outcome]:
    """Looks for changes of the machine between the start and the end of the assessment."""
    for part, keys in (("", None), ("hardware", HARDWARE)):
        if len(q.moments) < 2:  # noqa: PLR2004
            yield no_evidence("fewer than two fingerprints were taken", part=part)
            continue
        names = [name for name in q.moments[0].fields if keys is None or name in keys]
        changed = _changed(q.moments, names)
        unread = [name for name in names if q.moments[0].fields[name] is None]
        tail = f"; not readable here: {listed(unread)}" if unread else ""
        same = f"{counted(len(names) - len(unread), 'field')} the same at {counted(len(q.moments), 'moment')}{tail}"
        facts = {"moments": [one.name for one in q.moments], "fields": len(names), "changed": changed, "unread": unread}
        odd = f"changed during the assessment: {listed(changed)}{tail}"
        yield settle((changed, "fail", odd), (True, "pass", same), part=part, facts=facts)


def _changed(moments: Sequence[Moment], names: Iterable[str]) -> list[str]:
    """Fields that differ from those of the first moment."""
    first, *later = (moment.fields for moment in moments)
    return sorted({name for now in later for name in names if differ(name, first.get(name), now.get(name))})


@control("CHK-ENV-SAME")
def same_machine(q: Inquiry) -> Outcome:
    """Looks for models that were assessed on different machines."""
    runs = [one for one in q.moments if one.name.startswith("model ")]
    if len(runs) < 2:  # noqa: PLR2004
        return no_evidence("fewer than two models were assessed")
    changed = _changed(runs, {name for run in runs[1:] for name in run.fields})
    said = f"different: {listed(changed)}" if changed else f"{counted(len(runs), 'model')}, one machine"
    # Predictions that came as files were made elsewhere, and nobody can see where.
    verdict: Verdict = "fail" if changed else "pass" if q.ran_here else "declared"
    return Outcome(verdict, said, facts={"changed": changed, "predictions_made_here": q.ran_here})


@control("CHK-ENV-MIN")
def large_enough(q: Inquiry) -> Outcome:
    """Looks for a machine below what the plan asks for."""
    wanted, here = q.plan.environment, q.moments[0].fields if q.moments else {}
    below: list[str] = []
    looked: list[str] = []

    def ask(name: str, least: Any, actual: Any, *, reached: bool) -> None:  # noqa: ANN401  numbers or versions
        looked.append(name)
        if not reached:
            below.append(f"{name}: {actual} here, {least} asked for")

    if wanted.processors is not None and here.get("processors"):
        ask("processors", wanted.processors, here["processors"], reached=here["processors"] >= wanted.processors)
    if wanted.memory_gb is not None and here.get("memory"):
        size = here["memory"] / 1e9
        ask("memory", f"{wanted.memory_gb:g} GB", f"{size:.1f} GB", reached=size >= wanted.memory_gb)
    if wanted.system is not None and here.get("system"):
        ask("system", wanted.system, here["system"], reached=wanted.system.casefold() in str(here["system"]).casefold())
    if wanted.python is not None and here.get("python"):
        ask("python", wanted.python, here["python"], reached=_version(here["python"]) >= _version(wanted.python))
    packages = here.get("packages") or {}
    for name, least in (wanted.packages or {}).items():
        version = packages.get(name)
        ask(name, least, version or "not there", reached=version is not None and _version(version) >= _version(least))
    if not looked:
        return no_evidence("no minimum is declared, or the machine could not be read")
    said = "; ".join(below) if below else f"reached: {listed(looked)}"
    return Outcome("fail" if below else "pass", said, facts={"looked_at": looked, "below": below})


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:4])


@control("CHK-ACCEL")
def acceleration(q: Inquiry) -> Iterator[Outcome]:
    """Looks for acceleration that is not reported, or reported otherwise than found."""
    models = q.trained()
    devices = list((q.moments[0].fields.get("accelerators") or ()) if q.moments else ())
    silent, open_, denied = _unanswered(models, devices)
    facts = {"silent": silent, "unanswered": open_, "devices": devices, "predictions_made_here": q.ran_here}
    bare = not models or silent or not q.loaded.signed
    files = "stated for every model and phase; predictions came as files, so no machine can be asked"
    yield settle(
        (bare, "no-evidence", f"nothing is stated for {listed(silent) or 'any model'}"),
        (not q.ran_here, "declared", files),
        (denied, "fail", f"{listed(denied)} states no graphics processor; found here: {listed(devices)}"),
        (True, "pass", "stated for every model and phase, and the machine agrees"),
        facts=facts,
    )
    yield settle(
        (bare or open_, "no-evidence", f"unanswered: {listed([*silent, *open_])}"),
        (True, "declared", "every family is answered"),
        part="families",
        facts={"unanswered": open_},
    )


def _unanswered(models: Mapping[str, Model], devices: list[Any]) -> tuple[list[str], list[str], list[str]]:
    """Phases nothing is stated of, families without an answer, and models that deny a device that is here."""
    silent, open_, denied = [], [], []
    for name, one in models.items():
        for phase in ("training", "testing"):
            given = None if one.acceleration is None else getattr(one.acceleration, phase)
            families = Families.model_fields
            unstated = [family for family in families if given is None or not stated(getattr(given, family))]
            if given is None or len(unstated) == len(families):
                silent.append(f"{name}, {phase}")
                continue
            open_ += [f"{name}, {phase}, {family}" for family in unstated]
            if phase == "testing" and devices and (given.gpu or "").strip().casefold() in NONE:
                denied.append(name)
    return silent, open_, denied
