#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Set assay up in .venv beside this file, then run it. Needs Python 3.11 or newer with pip, or uv.

python3 run.py demo          assess the bundled example and show the report
python3 run.py test [...]    check as below, then pytest, which gets the rest of the line
python3 run.py check         lint, format, types, layers
python3 run.py COMMAND ...   any other assay command, such as: run predictions.csv --truth y --predicted yhat

The first run makes .venv; later ones reuse it until pyproject.toml, the interpreter or the folder changes.
"""

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Dict, List

ROOT = Path(__file__).resolve().parent
BIN = ROOT / ".venv" / ("Scripts" if os.name == "nt" else "bin")
PYTHON = str(BIN / "python")
OUTER = getattr(sys, "_base_executable", "") or sys.executable  # not .venv's own, even when that one runs this file
EXTRAS = ("", "test", "test,spark")  # each holds those before it
SPARK = "tests/engines/spark"
CHECKS = {
    "lint": [PYTHON, "-m", "ruff", "check"],
    "format": [PYTHON, "-m", "ruff", "format", "--check"],
    "types": [PYTHON, "-m", "mypy"],
    "layers": [str(BIN / "lint-imports"), "--no-logo"],
}


def run(*command: str, **options: Any) -> int:  # noqa: ANN401  they go to subprocess as they are
    """Say a command on stderr, so that stdout stays the command's; run it; hand back its exit code."""
    print("$", " ".join(map(shlex.quote, command)), file=sys.stderr, flush=True)
    return subprocess.call(command, **{"cwd": ROOT, **options})


def set_up(extra: str) -> None:
    """Make .venv hold the package with extras, one of EXTRAS; a stamp, written last, says that it does."""
    facts = [(ROOT / "pyproject.toml").read_bytes(), sys.version, Path(OUTER).resolve(), ROOT]
    key = hashlib.sha256(repr(facts).encode()).hexdigest()
    stamps = {name: ROOT / ".venv" / f"stamp-{name}" for name in EXTRAS}
    good = {name for name, stamp in stamps.items() if stamp.is_file() and stamp.read_text() == key}
    if good & set(EXTRAS[EXTRAS.index(extra) :]):
        return
    for stamp in stamps.values():
        stamp.unlink(missing_ok=True)
    if not good and run(OUTER, "-m", "venv", "--clear", "--without-pip", ".venv", stdout=sys.stderr):
        sys.exit("run.py: this Python cannot make .venv; on Debian: apt-get install python3-venv")
    installers = [["uv", "pip", "install", "--python", PYTHON]] if shutil.which("uv") else []
    if subprocess.call([OUTER, "-m", "pip", "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0:
        pip = [OUTER, "-m", "pip", "--disable-pip-version-check", "--python", PYTHON]
        installers.append([*pip, "install", "--no-compile"])  # as uv does: what is imported is compiled then
    if not installers and run(PYTHON, "-m", "ensurepip", stdout=sys.stderr) == 0:
        installers.append([PYTHON, "-m", "pip", "install", "--no-compile"])
    package = ["-e", f".[{extra}]" if extra else "."]
    if not any(run(*installer, *package, stdout=sys.stderr) == 0 for installer in installers):
        sys.exit("run.py: the packages could not be installed" + ("" if installers else "; install pip or uv first"))
    stamps[extra].write_text(key)


def set_up_tests() -> None:
    """The test tools, and Spark where there is Java; a Spark that cannot be had stops no other test."""
    if java():
        try:
            return set_up("test,spark")
        except SystemExit as problem:
            print(problem, "with Spark, so its tests will be skipped", file=sys.stderr)
    return set_up("test")


def browser() -> str:
    """Where a Chromium is, or nothing."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")


def get_browser() -> None:
    """Get a Chromium if there is none; where none can be had say what that means."""
    if not browser():
        from_debian("chromium", "fonts-liberation")
    if not browser():
        print("run.py: no Chromium here, so the browser tests will be skipped", file=sys.stderr)


def java() -> str:
    """Where a Java is, or nothing."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=str(Path(home) / "bin") if home else None) or ""


def get_java() -> None:
    """Get a Java if there is none; where none can be had say what that means."""
    if not java():
        from_debian("openjdk-17-jre-headless")
    if not java():
        print("run.py: no Java here, so the Spark tests will be skipped", file=sys.stderr)


def get_postgres() -> None:
    """Get a PostgreSQL if there is none; where none can be had say what that means."""
    if not (shutil.which("initdb") or list(Path("/usr/lib/postgresql").glob("*/bin/initdb"))):
        from_debian("postgresql")
    if not (shutil.which("initdb") or list(Path("/usr/lib/postgresql").glob("*/bin/initdb"))):
        print("run.py: no PostgreSQL here, so its tests will be skipped", file=sys.stderr)


def from_debian(*packages: str) -> None:
    """As root on Debian install packages; otherwise leave the machine as it is."""
    if shutil.which("apt-get") and os.geteuid() == 0:
        options = {"stdin": subprocess.DEVNULL, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
        run("apt-get", "update", **options)
        run("apt-get", "install", "-y", "--no-install-recommends", *packages, **options)


def check() -> Dict[str, int]:
    """Run every check whatever the others said, print one line each, hand back the exit codes of those that failed."""
    codes, lines = {}, []
    for name, command in CHECKS.items():
        began = time.monotonic()
        codes[name] = run(*command)
        lines.append(f"{name:8}{'FAILED' if codes[name] else 'ok':8}{time.monotonic() - began:5.1f} s")
    print("", *lines, "", sep="\n", flush=True)
    return {name: code for name, code in codes.items() if code}


def check_and_test(rest: List[str]) -> int:
    """Every check, then what was asked for, or every test; those of Spark beside all else: a cluster mostly waits."""
    if rest:
        failed = check()
        return told_again(failed, run(PYTHON, "-m", "pytest", "-n", "2", *rest))
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # two workers share two cores
    with tempfile.TemporaryFile() as told, ThreadPoolExecutor(1) as pool:
        spark = pool.submit(run, PYTHON, "-m", "pytest", SPARK, stdout=told, stderr=subprocess.STDOUT)
        failed = check()
        most = run(PYTHON, "-m", "pytest", "-n", "2", "--dist", "loadfile", "--ignore", SPARK, env=alone)
        code = spark.result()
        told.seek(0)
        print(told.read().decode("utf-8", "replace"), flush=True)
    return told_again(failed, code or most)


def told_again(failed: Dict[str, int], code: int) -> int:
    """The exit code of checks and pytest; checks that failed are named once more below what pytest said."""
    if failed:
        print("FAILED before pytest:", ", ".join(failed), file=sys.stderr)
    return code or next(iter(failed.values()), 0)


def main(command: str, rest: List[str]) -> int:
    """Set up what the command needs, run it, hand back its exit code."""
    if command not in ("check", "test"):
        set_up("")
        return run(str(BIN / "assay"), command, *rest, cwd=None)
    if command == "check":
        set_up("test")
        return next(iter(check().values()), 0)
    get_java()
    get_postgres()
    set_up_tests()
    get_browser()
    return check_and_test(rest)


if __name__ == "__main__":
    if sys.version_info < (3, 11):
        sys.exit(f"assay needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}")
    if len(sys.argv) == 1 or sys.argv[1] in ("-h", "--help"):
        sys.exit(print(__doc__))
    try:
        sys.exit(main(sys.argv[1], sys.argv[2:]))
    except KeyboardInterrupt:
        sys.exit(130)
