# SPDX-License-Identifier: Apache-2.0
"""Runs every code block of the README and of docs/, page by page, and compares what it prints.

`python tests/stories/test_docs.py` writes the outputs of today into the pages; read the difference before keeping it.
"""

from __future__ import annotations

import io
import re
import shlex
import shutil
import sys
import tempfile
import traceback
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from assay.app.cli import main
from assay.core.errors import AssayError

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "reference" not in path.relative_to(ROOT).parts),
]
BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = "src/assay/app/examples"
COLUMNS = "100"


class Reader:
    """Somebody who types a page from top to bottom."""

    def __init__(self):
        self.names = {"__name__": "__main__"}
        self.status = 0

    def python(self, code, place):
        with io.StringIO() as heard, redirect_stdout(heard), redirect_stderr(heard):
            try:
                exec(compile(code, place, "exec"), self.names)  # noqa: S102  our own pages
            except AssayError as error:  # a page may show one of ours; any other is a fault
                heard.write("".join(traceback.format_exception_only(error)))
            return heard.getvalue()

    def console(self, text):
        typed = [line for line in text.splitlines() if line.startswith("$ ")]
        return "".join(f"{line}\n{self.command(line.removeprefix('$ '))}" for line in typed)

    def command(self, line):
        if line == "echo $?":
            return f"{self.status}\n"
        program, *words = shlex.split(line)
        assert program == "assay", f"only assay is run, not {line!r}"
        with (
            pytest.MonkeyPatch.context() as patch,
            io.StringIO() as heard,
            redirect_stdout(heard),
            redirect_stderr(heard),
        ):
            patch.setattr(sys, "argv", ["assay", *words])
            patch.setattr(sys.modules["__main__"], "__package__", None, raising=False)  # or help names pytest
            with pytest.raises(SystemExit) as stopped:
                main()
            self.status = stopped.value.code
            assert self.status != 5, f"assay itself is at fault: {heard.getvalue()}"
            return heard.getvalue()


def rerun(page, folder):
    """The page with the outputs its blocks have today, when typed in a folder."""
    reader, text = Reader(), page.read_text(encoding="utf-8")
    out, done, printed = [], 0, None
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("COLUMNS", COLUMNS)
        shutil.copytree(ROOT / EXAMPLES, folder / EXAMPLES)  # what a page may expect of a clone
        patch.setenv("NO_COLOR", "1")
        for block in BLOCK.finditer(text):
            between, language, shown = text[done : block.start()], block["language"], block["text"]
            shows = language == "text" and printed is not None and not between.strip()
            assert shows or not printed, f"{page.name} does not show what a block prints:\n{printed}"
            if shows:
                shown = printed
            printed = None
            if language == "python":
                printed = plain(reader.python(shown, page.name), folder)
            elif language == "console":
                shown = plain(reader.console(shown), folder)
            out += [between, f"```{language}\n{shown}```"]
            done = block.end()
    assert not printed, f"{page.name} does not show what its last block prints:\n{printed}"
    return "".join([*out, text[done:]])


def plain(text, folder):
    """Without what changes from run to run: the folder, numbers of source lines, spaces at the end of lines."""
    lines = re.sub(r"(?<=\.py:)\d+", "…", text.replace(str(folder), ".")).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_of_a_page_runs_and_prints_what_the_page_says(page, tmp_path):
    assert rerun(page, tmp_path) == page.read_text(encoding="utf-8")


def test_the_pages_that_teach_have_blocks_that_run():
    for name in ("README.md", "docs/start/quickstart.md", "docs/how-to/groups.md"):
        languages = {block["language"] for block in BLOCK.finditer((ROOT / name).read_text(encoding="utf-8"))}
        assert languages & {"python", "console"}, name


def test_a_block_that_prints_something_else_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n", encoding="utf-8")
    assert rerun(page, tmp_path) == "```python\nprint(1 + 1)\n```\n\n```text\n2\n```\n"


def test_a_block_whose_output_is_not_shown_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1 + 1)\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="does not show"):
        rerun(page, tmp_path)


def test_a_block_that_breaks_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\n1 / 0\n```\n\n```text\nZeroDivisionError\n```\n", encoding="utf-8")
    with pytest.raises(ZeroDivisionError):
        rerun(page, tmp_path)


if __name__ == "__main__":
    for each in PAGES:
        with tempfile.TemporaryDirectory() as empty:
            found = rerun(each, Path(empty).resolve())
        if found != each.read_text(encoding="utf-8"):
            each.write_text(found, encoding="utf-8", newline="\n")
