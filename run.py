#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Set assay up in .venv beside this file, then run it. Needs Python 3.11 or newer with pip, or uv.

python3 run.py demo          assess the bundled example and show the report
python3 run.py test [...]    check as below, then pytest, which gets the rest of the line
python3 run.py check         lint, format, types, layers
python3 run.py COMMAND ...   any other assay command, such as: run predictions.csv --truth y --predicted yhat

The first run makes .venv. Later runs reuse it until pyproject.toml, the interpreter or the folder changes.
`test` as root on Debian installs Java, PostgreSQL and Chromium for the tests that need them, and says so before.
With ASSAY_NO_INSTALL=1 it installs none of them and skips those tests.
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
from typing import Any, Callable, Dict, Iterator, List

ROOT = Path(__file__).resolve().parent
BIN = ROOT / ".venv" / ("Scripts" if os.name == "nt" else "bin")
PYTHON = str(BIN / "python")
OUTER = getattr(sys, "_base_executable", "") or sys.executable  # not .venv's own, even when that one runs this file
EXTRAS = ("", "test", "test,spark")  # each includes those before it
CACHE = ROOT / ".venv" / "pycache"  # tests start hundreds of processes, which would compile every module anew
SPARK = "tests/engines/spark"
NO_INSTALL = "ASSAY_NO_INSTALL"
CHECKS = {
    "lint": [PYTHON, "-m", "ruff", "check"],
    "format": [PYTHON, "-m", "ruff", "format", "--check"],
    "layers": [str(BIN / "lint-imports"), "--no-logo"],
    "types": [PYTHON, "-m", "mypy"],
}


def run(*command: str, **options: Any) -> int:  # noqa: ANN401  passed on to subprocess
    """Print a command on stderr, run it and return its exit code. Stdout belongs to the command."""
    print("$", " ".join(map(shlex.quote, command)), file=sys.stderr, flush=True)
    return subprocess.call(command, **{"cwd": ROOT, **options})


def set_up(extra: str) -> None:
    """Install the package into .venv with extras, one of EXTRAS; a stamp file, written last, marks it as done."""
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
    package, tried = ["-e", f".[{extra}]" if extra else "."], False
    for installer in find_installers():
        tried = True
        if run(*installer, *package, stdout=sys.stderr, env={"UV_SYSTEM_CERTS": "1", **os.environ}) == 0:  # as pip does
            break
    else:
        sys.exit("run.py: the packages could not be installed" + ("" if tried else "; install pip or uv first"))
    stamps[extra].write_text(key)


def find_installers() -> Iterator[List[str]]:
    """Find the commands that can install into .venv: uv, which pip brings in seconds where it asks PyPI, then pip."""
    arguments, pip = ["pip", "install", "--python", PYTHON], [OUTER, "-m", "pip", "--disable-pip-version-check"]
    install = ["install", "--no-compile"]  # like uv: modules are compiled when imported
    uv = shutil.which("uv") or shutil.which("uv", path=str(BIN))
    if uv:
        yield [uv, *arguments]
    if has_pip():
        pip += ["--python", PYTHON, *install]
        if not uv and not has_own_index() and run(*pip, "uv", stdout=sys.stderr) == 0:
            yield [str(BIN / "uv"), *arguments]
        yield pip
    elif run(PYTHON, "-m", "ensurepip", stdout=sys.stderr) == 0:
        yield [PYTHON, *pip[1:], *install]


def has_pip() -> bool:
    """Whether the Python outside .venv has pip."""
    return subprocess.call([OUTER, "-m", "pip", "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0


def has_own_index() -> bool:
    """Whether pip is told to ask another index than PyPI, which uv would not know of."""
    settings = subprocess.run([OUTER, "-m", "pip", "config", "list"], stdout=subprocess.PIPE, check=False).stdout
    names = {line.partition("=")[0].rpartition(".")[2] for line in settings.decode("utf-8", "replace").splitlines()}
    return bool(names & {"index-url", "no-index"})


def set_up_spark() -> None:
    """Install pyspark where there is Java; without it only the Spark tests are skipped."""
    if java():
        try:
            set_up("test,spark")
        except SystemExit as problem:
            print(problem, "with Spark, so its tests will be skipped", file=sys.stderr)


def browser() -> str:
    """Return the path of a Chromium, or an empty string."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")


def java() -> str:
    """Return the path of a Java, or an empty string."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=str(Path(home) / "bin") if home else None) or ""


def postgres() -> str:
    """Return the path of PostgreSQL's initdb, or an empty string."""
    return shutil.which("initdb") or next(map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")), "")


def get_program(find: Callable[[], str], name: str, tests: str, *packages: str) -> None:
    """Install Debian packages if `find` finds no program and this is allowed; print what happens and why."""
    if find():
        return
    names = " ".join(packages)
    refusal = why_not_install()
    if refusal:
        print(f"run.py: the {tests} tests need {name} (Debian: {names}); not installed: {refusal}", file=sys.stderr)
    else:
        print(
            f"run.py: the {tests} tests need {name}, so these Debian packages are installed: {names}", file=sys.stderr
        )
        print(f"run.py: to prevent that, set {NO_INSTALL}=1; the {tests} tests are then skipped", file=sys.stderr)
        options = {"stdin": subprocess.DEVNULL, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
        run("apt-get", "update", **options)
        run("apt-get", "install", "-y", "--no-install-recommends", *packages, **options)
    if not find():
        print(f"run.py: no {name} here, so the {tests} tests will be skipped", file=sys.stderr)


def why_not_install() -> str:
    """Return why Debian packages may not be installed here, or an empty string."""
    if os.environ.get(NO_INSTALL, "0") not in ("", "0"):
        return f"{NO_INSTALL} is set"
    if not shutil.which("apt-get"):
        return "there is no apt-get here"
    return "" if os.geteuid() == 0 else "only root may install packages"


def get_programs() -> None:
    """Install what the tests need beside Python packages, where that is allowed."""
    get_program(java, "Java", "Spark", "openjdk-17-jre-headless")
    get_program(postgres, "PostgreSQL", "PostgreSQL", "postgresql")
    get_program(browser, "Chromium", "browser", "chromium", "fonts-liberation")


def check() -> Dict[str, int]:
    """Run all checks, print one line for each, and return the exit codes of those that failed."""
    codes, lines = {}, []
    for name, command in CHECKS.items():
        began = time.monotonic()
        codes[name] = run(*command)
        lines.append(f"{name:8}{'FAILED' if codes[name] else 'ok':8}{time.monotonic() - began:5.1f} s")
    print("", *lines, "", sep="\n", flush=True)
    return {name: code for name, code in codes.items() if code}


def check_and_test(rest: List[str]) -> int:
    """Check while Spark is installed, then run the given tests or all, those of Spark beside the others."""
    compiled = {**os.environ, "PYTHONPYCACHEPREFIX": str(CACHE), "PYTHONDONTWRITEBYTECODE": ""}
    with tempfile.TemporaryFile() as output, ThreadPoolExecutor(1) as pool:
        spark = pool.submit(set_up_spark)
        failed = check()
        spark.result()
        if rest:
            return combine_exit_codes(failed, run(PYTHON, "-m", "pytest", "-n", "2", *rest, env=compiled))
        cluster = [PYTHON, "-m", "pytest", SPARK]  # it mostly waits
        other = pool.submit(run, *cluster, stdout=output, stderr=subprocess.STDOUT, env=compiled)
        alone = {**compiled, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # two workers share two cores
        spread = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]  # in the order of tests/conftest.py
        most = run(PYTHON, "-m", "pytest", *spread, "--ignore", SPARK, env=alone)
        code = other.result()
        output.seek(0)
        print(output.read().decode("utf-8", "replace"), flush=True)
    return combine_exit_codes(failed, code or most)


def combine_exit_codes(failed: Dict[str, int], code: int) -> int:
    """Return the exit code of checks and pytest, and name the failed checks again below pytest's output."""
    if failed:
        print("FAILED before pytest:", ", ".join(failed), file=sys.stderr)
    return code or next(iter(failed.values()), 0)


def main(command: str, rest: List[str]) -> int:
    """Set up what the command needs, run it and return its exit code."""
    if command not in ("check", "test"):
        set_up("")
        typed = f"python3 {shlex.quote(sys.argv[0])}"  # so that the commands it proposes work as printed
        return run(str(BIN / "assay"), command, *rest, cwd=None, env={**os.environ, "ASSAY_PROGRAM": typed})
    if command == "check":
        set_up("test")
        return next(iter(check().values()), 0)
    get_programs()
    set_up("test")
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
