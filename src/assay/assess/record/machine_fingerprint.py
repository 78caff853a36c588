# SPDX-License-Identifier: Apache-2.0
"""A fingerprint of the machine: what must not change while an assessment runs, from the standard library alone.

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
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Final

from assay.tally.base import digest

HEADER: Final = re.compile(r"^(Name|Version): *(.*?) *$", re.MULTILINE)
SETTINGS: Final = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_CORETYPE",
    "NPY_DISABLE_CPU_FEATURES",
    "CUDA_VISIBLE_DEVICES",
    "PYTHONHASHSEED",
)


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
