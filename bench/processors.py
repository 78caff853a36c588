# SPDX-License-Identifier: Apache-2.0
"""Runs tests and `assay verify` as other processors would compute, and prints which of them pass.

    python bench/processors.py tests/reference tests/laws --record tests/layers/assess/records/scored.json

NumPy, OpenBLAS and the C library choose code by what the processor has. Each setting takes some of that away.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

RECORDS = Path(__file__).parents[1] / "tests" / "layers" / "assess" / "records"
CORES = ("Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX")
"""Kernels of OpenBLAS, from SSE3 to AVX-512; those that this processor cannot run are left out."""
NEEDS = {"Sandybridge": "AVX", "Haswell": "AVX2", "Zen": "AVX2", "SkylakeX": "AVX512F"}
MOVED = "last bits of elementary functions moved"
"""No processor of its own: tests.lastbits stands for those that this machine is not."""
PLAIN_LIBM = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F"


def settings() -> Iterator[tuple[str, dict[str, str]]]:
    """Name and environment of each setting."""
    yield "as it is", {}
    here = [name for name in __cpu_dispatch__ if __cpu_features__[name]]
    for first in range(len(here)):  # each level needs those before it
        yield f"NumPy without {' '.join(here[first:])}", {"NPY_DISABLE_CPU_FEATURES": " ".join(here[first:])}
    for core in CORES:
        if core not in NEEDS or __cpu_features__.get(NEEDS[core]):
            yield f"OpenBLAS {core}", {"OPENBLAS_CORETYPE": core}
    if platform.libc_ver()[0] == "glibc":
        yield "C library without FMA and AVX2", {"GLIBC_TUNABLES": PLAIN_LIBM}
        least = {"NPY_DISABLE_CPU_FEATURES": " ".join(here), "OPENBLAS_CORETYPE": CORES[0]}
        yield "all of these", {**{name: value for name, value in least.items() if value}, "GLIBC_TUNABLES": PLAIN_LIBM}


def verifying(path: Path, name: str) -> list[str]:
    """The command that verifies a Record."""
    if name != MOVED:
        return [sys.executable, "-m", "assay", "verify", str(path), "-q"]
    code = "import tests.lastbits as l; l.pytest_configure(); from assay.app.cli import main; main()"
    return [sys.executable, "-c", code, "verify", str(path), "-q"]


def run(command: list[str], more: dict[str, str]) -> tuple[bool, float, str]:
    """Whether a command passes, how long it takes, and its last words."""
    start = time.perf_counter()
    done = subprocess.run(command, env={**os.environ, **more}, capture_output=True, text=True, check=False)
    said = (done.stdout + done.stderr).strip().splitlines()
    return done.returncode == 0, time.perf_counter() - start, said[-1] if said else ""


def main() -> int:
    """Print one row for each setting; 1 if any of them fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tests", nargs="*", help="what pytest runs; none: only Records are verified")
    parser.add_argument("--record", action="append", type=Path, help="a Record to verify [default: all kept ones]")
    parser.add_argument("-k", default="", help="as for pytest")
    given = parser.parse_args()
    records = given.record or sorted(RECORDS.glob("*.json"))
    print(f"NumPy dispatches on {', '.join(__cpu_dispatch__)}; here: "
          f"{', '.join(name for name in __cpu_dispatch__ if __cpu_features__[name]) or 'none'}\n")  # fmt: skip
    print("| setting | verified | tests | seconds |\n|---|---|---|---|")
    failed = False
    for name, more in (*settings(), (MOVED, {})):
        verified = [run(verifying(path, name), more) for path in records]
        held, seconds, said = sum(one[0] for one in verified), sum(one[1] for one in verified), "none"
        passes = held == len(records)
        if given.tests:
            words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *given.tests, "-k", given.k]
            words += ["-p", "tests.lastbits"] if name == MOVED else []
            done, more_seconds, said = run(words, more)
            passes, seconds = passes and done, seconds + more_seconds
        print(f"| {name} | {held} of {len(records)} | {said} | {seconds:.0f} |", flush=True)
        failed = failed or not passes
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
