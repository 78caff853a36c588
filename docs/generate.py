# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: INP001  a script, not a package
"""Writes docs/reference from the code; nothing in that folder is written by hand.

python docs/generate.py            write every page
python docs/generate.py --check    list the pages that differ, and exit with 1 if there are any
python docs/generate.py --pictures draw the gallery by a Chromium of this machine
python docs/generate.py --site     render all pages into site/ and site.zip (needs the extra docs)
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from generator import python_api
from generator.faces import commands_page, record_page
from generator.measures import index, page
from generator.plans import clauses_page, controls_page, plan_page
from generator.register import errata_page, errors_page
from generator.significance import tests_page
from generator.tasks import other_tasks, task_page

from assay.measures import REGISTRY

REFERENCE = Path(__file__).resolve().parent / "reference"
MARK = "<!-- Written by docs/generate.py from the code; change the code, then run it. -->"


def main(arguments: list[str]) -> int:
    """Write the pages, or only say which ones differ."""
    if arguments == ["--site"]:
        from generator.site import ROOT, build, pack

        sys.stdout.write(f"{len(build(ROOT / 'site'))} pages in site/, and {pack(ROOT / 'site').name}\n")
        return 0
    if arguments == ["--pictures"]:
        from generator.pictures import draw

        sys.stdout.writelines(f"drew {path.name}\n" for path in draw())
        return 0
    if arguments not in ([], ["--check"]):
        sys.stderr.write(__doc__ or "")
        return 2
    stale = differing()
    if arguments:
        sys.stdout.writelines(f"{name}\n" for name in stale)
        return 1 if stale else 0
    wanted = pages()
    for name in stale:
        path = REFERENCE / name
        if name in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[name], encoding="utf-8", newline="\n")
        else:
            path.unlink()
        sys.stdout.write(f"{'wrote' if name in wanted else 'removed'} {name}\n")
    return 0


def differing() -> list[str]:
    """The pages that are missing, differ from what the code says, or belong to nothing any more."""
    wanted = pages()
    there = {path.relative_to(REFERENCE).as_posix(): path for path in REFERENCE.rglob("*") if path.is_file()}
    current = {name: path.read_text(encoding="utf-8") for name, path in there.items()}
    return sorted(name for name in {*wanted, *current} if wanted.get(name) != current.get(name))


@cache
def pages() -> dict[str, str]:
    """Every page by its path below docs/reference."""
    out = {f"measures/{one.name}.md": page(one) for one in REGISTRY}
    out["measures/index.md"] = index()
    out |= {f"tasks/{name}.md": task_page(name) for name in other_tasks()}
    out |= {
        f"python/{name}.md": python_api.page(name) for names in python_api.public_names().values() for name in names
    }
    out["python/index.md"] = python_api.index()
    out["errata.md"] = errata_page()
    out["errors.md"] = errors_page()
    out["cli.md"] = commands_page()
    out["record.md"] = record_page()
    out["plan.md"] = plan_page()
    out["clauses.md"] = clauses_page()
    out["controls.md"] = controls_page()
    out["tests.md"] = tests_page()
    return {name: f"{MARK}\n\n" + "\n".join(lines).strip() + "\n" for name, lines in out.items()}


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
