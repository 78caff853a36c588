# SPDX-License-Identifier: Apache-2.0
"""The rendered site: pages as they are, formulas as MathML, everything in one folder or zip that needs no network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from assay.report.mathml import mathml

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
CONFIGURATION = ROOT / "mkdocs.yml"
SHIM = '<script src="https://unpkg.com/iframe-worker/shim" type="text/javascript"></script>'
"""What the offline search would fetch; `worker.js` does the same from the site itself."""
WORKER = "assets/javascripts/worker.js"
LEFT_OUT = ("generate.py", "generator", "__pycache__")
FORMULA = re.compile(r"^```formula\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
CELL = re.compile(r"^\| formula \| `(.*)` \|$", re.MULTILINE)
OUTSIDE = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)+)([^)#\s]+)\)")


def build(folder: Path) -> list[Path]:
    """Render the pages into a folder; strict: a warning, such as a broken link, is an error."""
    with tempfile.TemporaryDirectory() as place:
        staged = Path(place)
        shutil.copytree(DOCS, staged / "docs", ignore=shutil.ignore_patterns(*LEFT_OUT))
        for page in (staged / "docs").rglob("*.md"):
            page.write_text(_staged(page, staged / "docs"), encoding="utf-8")
        shutil.copy(CONFIGURATION, staged)
        done = subprocess.run(
            [sys.executable, "-m", "zensical", "build", "--strict"],
            cwd=staged, capture_output=True, text=True, check=False, env={**os.environ, "NO_COLOR": "1"},
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(_plain(done.stdout + done.stderr))
        if folder.exists():
            shutil.rmtree(folder)
        shutil.copytree(staged / "site", folder)
    shutil.copy(DOCS / "generator" / "theme" / "worker.js", folder / WORKER)
    pages = sorted(folder.rglob("*.html"))
    for page in pages:
        way = os.path.relpath(folder / WORKER, page.parent)
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(SHIM, f'<script src="{way}"></script>'), encoding="utf-8")
    return pages


def pack(folder: Path) -> Path:
    """The folder as a zip beside it, with fixed times so that equal pages give equal bytes."""
    archive = folder.with_suffix(".zip")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(f"{folder.name}/{path.relative_to(folder).as_posix()}")
            entry.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(entry, path.read_bytes())
    return archive


def _staged(page: Path, docs: Path) -> str:
    """A page with formulas as MathML, and links to files outside of the docs as plain names."""

    def shown(link: re.Match[str]) -> str:
        target = (page.parent / link[2] / link[3]).resolve()
        return link[0] if docs.resolve() in target.parents else f"{link[1]} (`{link[3]}`)"

    text = OUTSIDE.sub(shown, page.read_text(encoding="utf-8"))
    text = FORMULA.sub(lambda block: _drawn(block[1]) or f"```text\n{block[1]}\n```", text)
    return CELL.sub(lambda cell: f"| formula | {_inline(cell[1].replace(chr(92), '')) or f'`{cell[1]}`'} |", text)


def _inline(formula: str) -> str:
    """The part of a formula that is mathematics as MathML, words before and after it as words."""
    before, core = re.match(r"((?:mean|sum) over [\w ]+? of |mean, weighted by true labels, of )?(.*)", formula).groups(
        ""
    )  # type: ignore[union-attr]
    for head, mark, after in ((core, "", ""), core.partition(", "), core.partition("; ")):
        if drawn := mathml(head):
            drawn = drawn.replace("<math>", '<math displaystyle="true">', 1)
            return before + drawn + mark + after.replace("|", chr(92) + "|")
    return ""


def _drawn(formula: str) -> str:
    """A formula as a block of MathML; nothing where it is in words."""
    drawn = mathml(formula)
    return drawn and f'<div class="formula">{drawn.replace("<math>", "<math display=block>", 1)}</div>'


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
