# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import subprocess
import sys

import pytest

import run

SOURCE = (run.ROOT / "run.py").read_text(encoding="utf-8")


def test_an_old_python_can_read_run_py_and_say_that_it_is_too_old():
    ast.parse(SOURCE, feature_version=(3, 6))


def test_run_py_needs_the_standard_library_only():
    trees = [node for node in ast.walk(ast.parse(SOURCE)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in trees if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in trees if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


@pytest.mark.parametrize("arguments", [[], ["-h"], ["--help"]], ids=["nothing", "-h", "--help"])
def test_run_py_explains_itself(arguments, tmp_path):
    told = subprocess.run(
        [sys.executable, run.ROOT / "run.py", *arguments], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    for command in ("demo", "test", "check"):
        assert f"python3 run.py {command}" in told.stdout


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A `run` that believes it lives in an empty folder and whose commands succeed without being run."""
    said = []
    (tmp_path / "pyproject.toml").write_text("one")
    (tmp_path / ".venv").mkdir()
    monkeypatch.setattr(run, "ROOT", tmp_path)
    monkeypatch.setattr(run, "run", lambda *command, **_: said.append(" ".join(command)) or 0)
    monkeypatch.setattr(run, "has_pip", lambda: True)
    monkeypatch.setattr(run, "has_own_index", lambda: False)
    monkeypatch.setattr(run.shutil, "which", lambda *_, **__: None)
    return said


def test_setting_up_twice_does_the_work_once(copy):
    run.set_up("test")
    first = len(copy)
    assert first >= 2
    run.set_up("test")
    run.set_up("")  # what the tests need holds what the demo needs
    assert len(copy) == first


def test_adding_the_test_tools_keeps_what_is_there(copy):
    run.set_up("")
    copy.clear()
    run.set_up("test")
    assert not [command for command in copy if "--clear" in command]
    assert copy[-1].endswith("-e .[test]")


def test_adding_spark_keeps_the_test_tools_and_holds_them(copy):
    run.set_up("test")
    copy.clear()
    run.set_up("test,spark")
    assert not [command for command in copy if "--clear" in command]
    assert copy[-1].endswith("-e .[test,spark]")
    copy.clear()
    run.set_up("test")
    assert not copy


def test_a_changed_project_is_set_up_afresh(copy):
    run.set_up("test")
    copy.clear()
    (run.ROOT / "pyproject.toml").write_text("two")
    run.set_up("test")
    assert "--clear" in copy[0]


def test_pip_brings_uv_and_installs_itself_where_that_fails(copy, monkeypatch):
    run.set_up("test")
    _, tool, packages = copy
    assert tool.startswith(run.OUTER)
    assert tool.endswith("install --no-compile uv")
    assert packages.startswith(str(run.BIN / "uv"))
    for refused in ("uv", ".[test]"):  # uv cannot be had, or it cannot install
        (run.ROOT / "pyproject.toml").write_text(refused)
        codes = iter([0, int(refused == "uv"), int(refused != "uv"), 0])
        monkeypatch.setattr(
            run, "run", lambda *command, codes=codes, **_: copy.append(" ".join(command)) or next(codes)
        )
        run.set_up("test")
        assert copy[-1].startswith(f"{run.OUTER} -m pip")
        assert copy[-1].endswith("-e .[test]")


def test_an_index_of_ones_own_is_asked_by_pip_which_knows_it(copy, monkeypatch):
    monkeypatch.setattr(run, "has_own_index", lambda: True)
    run.set_up("test")
    assert not [word for command in copy for word in command.split() if word.endswith("uv")]
    monkeypatch.undo()
    for name, own in (("PIP_INDEX_URL", True), ("PIP_EXTRA_INDEX_URL", False)):
        monkeypatch.setenv("PIP_CONFIG_FILE", run.os.devnull)
        monkeypatch.setenv(name, "https://example.org/simple")
        assert run.has_own_index() is own
        monkeypatch.delenv(name)


def test_without_any_installer_it_says_what_to_install(copy, monkeypatch):
    monkeypatch.setattr(run, "has_pip", lambda: False)
    monkeypatch.setattr(run, "run", lambda *command, **_: copy.append(" ".join(command)) or int("ensurepip" in command))
    with pytest.raises(SystemExit, match="install pip or uv first"):
        run.set_up("")
    monkeypatch.setattr(run.shutil, "which", lambda name, **_: name)
    run.set_up("")
    assert copy[-1].startswith("uv pip install")


@pytest.mark.usefixtures("copy")
def test_a_set_up_that_failed_is_not_taken_for_done(monkeypatch):
    monkeypatch.setattr(run, "run", lambda *command, **_: int("install" in command))
    with pytest.raises(SystemExit, match="could not be installed"):
        run.set_up("")
    assert not list((run.ROOT / ".venv").glob("stamp-*"))


def test_every_check_runs_and_the_first_failure_is_the_exit_code(monkeypatch, capsys):
    ran = []
    codes = {"mypy": 3, "pytest": 0}

    def fake(*command, **_):
        ran.append(command)
        return next((code for word, code in codes.items() if word in command), 0)

    monkeypatch.setattr(run, "run", fake)
    monkeypatch.setattr(run, "set_up", ran.append)
    monkeypatch.setattr(run, "get_programs", lambda: None)
    monkeypatch.setattr(run, "java", lambda: "")
    assert run.main("test", ["-k", "recall"]) == 3
    assert len(ran) == 1 + len(run.CHECKS) + 1
    assert ran[0] == "test"
    assert ran[-1][-2:] == ("-k", "recall")
    assert "types   FAILED" in capsys.readouterr().out


def test_with_java_the_tests_get_spark_and_go_on_where_it_cannot_be_had(monkeypatch, capsys):
    asked = []
    ran = []
    monkeypatch.setattr(run, "run", lambda *command, **_: ran.append(command) or 0)
    monkeypatch.setattr(run, "set_up", asked.append)
    monkeypatch.setattr(run, "get_programs", lambda: None)
    monkeypatch.setattr(run, "java", lambda: "/usr/bin/java")
    assert run.main("test", []) == 0
    pytests = {command[3:] for command in ran if "pytest" in command}
    spread = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")
    assert pytests == {(*spread, "--ignore", run.SPARK), (run.SPARK,)}
    assert asked == ["test", "test,spark"]

    def fails(extra):
        asked.append(extra)
        if "spark" in extra:
            sys.exit("run.py: the packages could not be installed")

    monkeypatch.setattr(run, "set_up", fails)
    assert run.main("test", []) == 0
    assert asked[2:] == ["test", "test,spark"]
    assert "its tests will be skipped" in capsys.readouterr().err


@pytest.fixture
def bare(monkeypatch):
    """A Debian machine without the programs, whose user is root; what would be run is kept."""
    tried = []
    for name in ("browser", "java", "postgres"):
        monkeypatch.setattr(run, name, lambda: "")
    monkeypatch.setattr(run.shutil, "which", lambda name: name)
    monkeypatch.setattr(run, "run", lambda *command, **_: tried.append(command) or 100)
    monkeypatch.setattr(run.os, "geteuid", lambda: 0, raising=False)
    monkeypatch.delenv(run.NO_INSTALL, raising=False)
    return tried


PACKAGES = {"Spark": "openjdk-17-jre-headless", "PostgreSQL": "postgresql", "browser": "chromium fonts-liberation"}


def test_root_is_told_which_packages_are_installed_and_why_before_it_happens(bare, monkeypatch, capsys):
    said = []
    monkeypatch.setattr(run, "run", lambda *command, **_: said.append(capsys.readouterr().err) or bare.append(command))
    run.get_programs()
    assert [command[4:] for command in bare if "install" in command] == [tuple(p.split()) for p in PACKAGES.values()]
    for (tests, packages), before in zip(PACKAGES.items(), said[::2], strict=True):
        assert f"the {tests} tests need" in before
        assert f"installed: {packages}" in before
        assert run.NO_INSTALL in before


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda patch: patch.setattr(run.os, "geteuid", lambda: 1000, raising=False), "only root"),
        (lambda patch: patch.setattr(run.shutil, "which", lambda _: None), "no apt-get"),
        (lambda patch: patch.setenv(run.NO_INSTALL, "1"), "ASSAY_NO_INSTALL is set"),
    ],
    ids=["not root", "no apt-get", "not wanted"],
)
def test_where_nothing_may_be_installed_the_tests_are_skipped_with_the_reason(
    change, reason, bare, monkeypatch, capsys
):
    change(monkeypatch)
    run.get_programs()
    said = capsys.readouterr().err
    assert not bare
    assert said.count(reason) == len(PACKAGES)
    for tests, packages in PACKAGES.items():
        assert packages in said
        assert f"{tests} tests will be skipped" in said


def test_a_package_that_cannot_be_had_skips_its_tests(bare, capsys):
    run.get_programs()
    assert bare
    assert capsys.readouterr().err.count("tests will be skipped") == len(PACKAGES)


def test_java_is_looked_for_where_java_home_points(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert run.java() == ""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").write_text("")
    (tmp_path / "bin" / "java").chmod(0o755)
    assert run.java() == str(tmp_path / "bin" / "java")
