# SPDX-License-Identifier: Apache-2.0
"""A fingerprint of the machine: what must not change while an assessment runs, from the standard library alone.

What cannot be read here is None, and is listed as not covered. Identities appear only as salted hashes.
"""

from __future__ import annotations

import hashlib
import locale
import os
import platform
import sys
import time
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Final

from assay.tally.base import digest

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
    return {
        "system": platform.system(),
        "release": platform.release(),
        "kernel": platform.version(),
        "boot": _hashed(_read("/proc/sys/kernel/random/boot_id"), salt),
        "host": _hashed(platform.node(), salt),
        "machine": platform.machine(),
        "processor": _processor(),
        "processor_features": _features(),
        "processors": os.cpu_count(),
        "memory": _memory(),
        "accelerators": _accelerators(),
        "governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "packages": packages,
        "packages_digest": digest(packages),
        "linear_algebra": _linear_algebra(),
        "settings": {name: os.environ[name] for name in SETTINGS if name in os.environ},
        "locale": locale.setlocale(locale.LC_ALL, None),
        "time_zone": list(time.tzname),
        "byte_order": sys.byteorder,
    }


def _packages() -> dict[str, str]:
    found = {str(one.metadata["Name"]): str(one.version) for one in distributions() if one.metadata["Name"]}
    return dict(sorted(found.items()))


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


def _processor() -> str | None:
    return _cpu_lines("model name") or platform.processor() or None


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
    found = []
    for info in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        text = _read(str(info)) or ""
        model = next((line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("Model")), "GPU")
        found.append(model)
    found += [one.name for one in sorted(Path("/dev").glob("kfd"))]
    return found + [one.name for one in sorted(Path("/dev/accel").glob("*"))]


def _linear_algebra() -> Any:  # noqa: ANN401  whatever numpy says of its build
    import numpy as np

    try:
        built: Any = np.show_config(mode="dicts")
    except (TypeError, ValueError):
        return None
    return {name: str(one.get("name")) for name, one in (built or {}).get("Build Dependencies", {}).items() if one}
