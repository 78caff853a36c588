# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
import shutil
import subprocess
import tomllib

import pytest

import run

SOURCES = sorted((run.ROOT / "src").rglob("*.py"))
MACHINE = re.compile(r"(?<![\w.])/(?:work|farm|root|home|Users|tmp/bash)[/ ]|\b[A-Z]:\\Users\b")


def named(path):
    return path.relative_to(run.ROOT).as_posix()


def project_files():
    """What git tracks or would track; without git, what a release holds."""
    listing = [shutil.which("git") or "false", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    git = subprocess.run(listing, cwd=run.ROOT, capture_output=True, text=True, check=False)
    if git.returncode == 0:
        paths = [run.ROOT / name for name in git.stdout.split("\0") if name]
    else:
        folders = [run.ROOT / name for name in ("src", "tests", "docs", "bench", ".ci")]
        paths = [*run.ROOT.glob("*"), *(path for folder in folders for path in folder.rglob("*"))]
    return [path for path in paths if path.is_file()]


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_a_source_file_is_short_licensed_and_finished(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 400
    assert lines[0] == "# SPDX-License-Identifier: Apache-2.0"
    assert not [line for line in lines if re.search(r"\b(TODO|FIXME|XXX)\b", line)]


def test_no_module_is_a_drawer_for_odds_and_ends():
    drawers = {"utils", "util", "helpers", "helper", "common", "misc"}
    assert not [named(path) for path in SOURCES if drawers & set(path.relative_to(run.ROOT).with_suffix("").parts)]


def test_every_folder_of_the_package_is_a_declared_layer():
    contracts = tomllib.loads((run.ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = {layer.strip("()") for layer in contracts[0]["layers"]}
    folders = {path.parent.name for path in (run.ROOT / "src" / "assay").glob("*/__init__.py")}
    assert folders
    assert folders <= layers


def test_no_file_names_a_path_of_somebodys_machine():
    files = project_files()
    assert run.ROOT / "pyproject.toml" in files
    found = []
    for path in files:
        text = path.read_bytes().decode("utf-8", errors="ignore")
        found += [f"{named(path)}: {match.group()}" for match in MACHINE.finditer(text)]
    assert not found


def test_the_readme_has_two_commands_to_set_up():
    readme = (run.ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\s*(?:\$ )?(python3 run\.py \w+)", readme, re.MULTILINE) == [
        "python3 run.py demo",
        "python3 run.py test",
    ]
    assert not re.search(r"^\s*(?:\$ )?(?:pip|pipx|uv|conda|make|docker|apt-get)\b", readme, re.MULTILINE)
