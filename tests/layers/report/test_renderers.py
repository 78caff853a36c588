# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys

import pytest

from assay.assess.record.report_formats import RENDERERS
from assay.core.errors import PlanError
from tests.layers.report import examples

KINDS = {".html", ".md", ".json", "text/html", "text/markdown", "text/plain"}


def test_every_kind_of_output_has_a_renderer():
    import assay.report  # noqa: F401  it introduces them

    assert set(RENDERERS) >= KINDS


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("made", [examples.screening, examples.nasty, examples.lonely, examples.weighted])
def test_every_record_can_be_drawn_in_every_kind(made, kind):
    text = RENDERERS[kind](made().record)
    assert text.endswith("\n") or kind == ".html"
    assert text.encode("utf-8")


@pytest.mark.parametrize("ending", [".html", ".md", ".json", ".HTML"])
def test_a_report_is_written_whole(tmp_path, ending):
    assessment = examples.infinite()
    path = assessment.report(tmp_path / f"x{ending}")
    assert path.read_text(encoding="utf-8") == RENDERERS[ending.lower()](assessment.record)
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


def test_an_unknown_ending_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(PlanError, match=r'no report ends in "\.docx"') as error:
        examples.infinite().report(tmp_path / "x.docx")
    assert ".html" in error.value.known
    assert not list(tmp_path.iterdir())


def test_introducing_the_renderers_loads_neither_jinja2_nor_rich():
    code = "import sys, assay.report; sys.exit(bool({'jinja2', 'markupsafe', 'rich'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
