# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import json
import socket
import subprocess
import sys
from datetime import UTC, datetime

import numpy as np
import pytest
from pypdf import PdfReader

from assay.assess.arguments import IntervalSettings
from assay.assess.assess import assess
from assay.assess.assessment import Assessment
from assay.assess.record.record import Record
from assay.assess.record.report_formats import BINARY, write_report
from assay.core.errors import PlanError
from assay.report.render import pdf
from tests.layers.report import examples
from tests.paper import read_pages

ATTACKS = [
    '#import "@preview/cetz:0.3.0": *',
    "#panic(1)",
    "$x^2$ and $",
    "]]] [[[ ] #[",
    "\\ #{ } // /* */",
    "`raw` ```typ #1```",
    "<label> @ref *bold* _it_",
    '"); #read("/etc/hostname")',
    "= heading",
    "~ -- --- ' \" …",
    "y" * 4000,
    "שלום עולם",
    "مرحبا بالعالم",
    "नमस्ते दुनिया",
    "🦊👩‍👩‍👧 fox",
    "日本語のラベル",
    "\u202eevil\u2066\u200b",
    "Z" + "\u0351\u036b\u0343" * 40,
    "क\u0301א\u0301",
]


@pytest.fixture(scope="module")
def attacked():
    rng = np.random.default_rng(5)
    truth = np.concatenate([np.arange(len(ATTACKS)), rng.integers(0, len(ATTACKS), 300)])
    called = examples.noisy(rng, truth, len(ATTACKS), 0.7)
    level = rng.choice(ATTACKS[::3], len(truth)).tolist()
    made = assess(
        truth=[ATTACKS[i] for i in truth],
        predicted=[ATTACKS[i] for i in called],
        group={"#import $ ] 🦊": level},
        intervals=IntervalSettings(draws=100),
    )
    return made.record


def opened(content):
    return PdfReader(io.BytesIO(content), strict=False)


def words(content):
    """The text of all pages, without the places where a word may break."""
    return " ".join(read_pages(content))


def wide():
    """A hundred classes and fifty groups."""
    rng = np.random.default_rng(8)
    truth = np.concatenate([np.arange(100), rng.integers(0, 100, 19_900)])
    groups = {"site": np.array([f"site {i:02}" for i in range(50)])[rng.integers(0, 50, 20_000)]}
    return assess(
        truth=truth, predicted=examples.noisy(rng, truth, 100, 0.8), group=groups, measures=["accuracy", "recall", "f1"]
    )


@pytest.mark.parametrize("made", [examples.screening, examples.nasty, examples.lonely, examples.weighted])
def test_a_record_is_typeset_under_both_standards_and_twice_the_same(made):
    content = pdf.render(made().record)
    assert content == pdf.render(made().record)
    about = opened(content).metadata
    assert about is not None
    tagged = content.decode("latin-1")
    assert "<pdfaid:part>3</pdfaid:part>" in tagged
    assert "<pdfaid:conformance>A</pdfaid:conformance>" in tagged
    assert "<pdfuaid:part>1</pdfuaid:part>" in tagged


def test_the_compiler_does_check_the_standards():
    import typst

    bare = b'#image(bytes("<svg xmlns=\\"http://www.w3.org/2000/svg\\" width=\\"9\\" height=\\"9\\"/>"), format: "svg")'
    with pytest.raises(typst.TypstError, match=r"alt|title|date"):
        typst.compile(bare, format="pdf", pdf_standards=list(pdf.STANDARDS))


def test_another_process_with_another_hash_seed_clock_zone_and_locale_makes_the_same_bytes(tmp_path):
    record = examples.pinned("binary")
    record.save(tmp_path / "r.json")
    code = (
        "import sys, hashlib; from assay.assess.record.record import Record;"
        "from assay.report.render.pdf import render;"
        "print(hashlib.sha256(render(Record.load(sys.argv[1]))).hexdigest())"
    )
    import os

    found = {
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "r.json")],
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": "C", "SOURCE_DATE_EPOCH": epoch},
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
        ).stdout
        for seed, zone, epoch in (("1", "Asia/Tokyo", "1"), ("2", "UTC", "1000000000"))
    }
    assert len(found) == 1


@pytest.mark.parametrize("made", [examples.screening, examples.nasty, examples.infinite])
def test_the_attached_file_is_the_record(made):
    record = made().record
    (attached,) = opened(pdf.render(record)).attachments["record.json"]
    assert attached == record.to_text().encode()
    assert json.loads(attached) == dict(record)


def test_an_attached_record_gives_the_assessment_back(tmp_path):
    (attached,) = opened(pdf.render(examples.screening().record)).attachments["record.json"]
    (tmp_path / "r.json").write_bytes(attached)
    again = Assessment.from_record(Record.load(tmp_path / "r.json"))
    assert again["recall"].value == examples.screening()["recall"].value


def test_the_date_is_the_one_the_record_was_counted_at():
    about = opened(pdf.render(examples.pinned("binary"))).metadata
    assert about.creation_date.date() == datetime(2026, 1, 2, tzinfo=UTC).date()
    assert about.title == "Assessment of 600 rows"


def test_a_record_without_a_date_can_be_typeset():
    content = {**examples.pinned("binary"), "environment": {"counted_at": "long ago"}}
    assert opened(pdf.render(Record(content))).metadata.creation_date.year == 1970


def test_names_meant_as_markup_stay_names(attacked):
    shown = words(pdf.render(attacked))
    # A name may break where a line ends, so spaces do not count.
    flat = "".join(shown.split())
    for attack in ATTACKS[:10]:
        assert "".join(attack.split()) in flat, attack
    assert "yyyyyyyy" in shown
    assert "\\U0001f98a" in flat
    assert "\\u65e5" in flat
    assert "\\u202eevil" in flat
    assert "written as escapes" in shown


def test_a_hebrew_name_is_set_in_letters():
    record = assess(truth=["שלום", "b", "c"] * 9, predicted=["שלום", "b", "b"] * 9).record
    shown = words(pdf.render(record))
    assert "שלום" in shown or "םולש" in shown
    assert "written as escapes" not in shown


def test_every_character_called_covered_is_covered():
    """Typeset alone in text, in code and in a chart; the compiler refuses a character without a glyph."""
    import typst

    letters = [
        chr(code) for start, end in pdf.COVERED for code in range(start, end + 1) if pdf.spelled(chr(code)) == chr(code)
    ]
    assert len(letters) > 2500
    program = b"""#set document(title: "t", date: datetime(year: 2026, month: 1, day: 2))
#set text(font: "Libertinus Serif")
#for c in json(bytes(sys.inputs.all)) { c; " "; text(font: "DejaVu Sans Mono", c); " "; text(weight: 600, c); " " }
#image(bytes(sys.inputs.svg), format: "svg", alt: "a")"""
    texts = "".join(
        f'<text x="0" y="9">{c}</text>' for c in letters if c not in "<&" and not c.isspace() and c.isprintable()
    )
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" font-family="Libertinus Serif">{texts}</svg>'
    made = typst.compile(
        program,
        format="pdf",
        ignore_system_fonts=True,
        pdf_standards=list(pdf.STANDARDS),
        sys_inputs={"all": json.dumps(letters), "svg": svg},
    )
    assert made.startswith(b"%PDF")


def test_a_mixture_that_no_font_covers_is_written_out_and_our_own_signs_stay(monkeypatch):
    tried = []
    whole = pdf._compiled

    def refusing(record, report, *, strict):
        tried.append(strict)
        return whole(record, report, strict=True) if strict else b""

    monkeypatch.setattr(pdf, "_compiled", refusing)
    shown = words(pdf.render(examples.nasty().record))
    assert tried == [False, True]
    assert "∅" in shown
    assert "\\u05e9" in shown


def test_a_page_says_verdict_headline_contents_and_number():
    content = pdf.render(examples.screening().record)
    first, second = read_pages(content)[:2]
    order = ["were classified rightly", "beats the baseline", "At a glance", "balanced accuracy"]
    places = [first.index(text) for text in order]
    assert places == sorted(places)
    assert "page 1 of" in first
    summary = first + second  # two pages of summary, then the annex
    assert summary.index("Annex") < summary.index("A Confusion matrix")
    outline = [entry.title for entry in opened(content).outline if not isinstance(entry, list)]
    assert outline[0].endswith("At a glance")


def test_every_chart_has_a_text_alternative():
    content = pdf.render(examples.screening().record)
    found = opened(content)
    alternatives, stack = [], [found.trailer["/Root"]["/StructTreeRoot"]]
    while stack:
        node = stack.pop().get_object()
        if isinstance(node, list):
            stack += node
        elif hasattr(node, "get"):
            if node.get("/S") == "/Figure":
                alternatives.append(str(node.get("/Alt")))
            if "/K" in node and not isinstance(node["/K"], int):
                stack.append(node["/K"])
    assert len(alternatives) == 1 + 3 * 6
    assert all(len(one) > 10 for one in alternatives)
    assert any("lowest" in one and "highest" in one for one in alternatives)


def test_fonts_are_embedded_and_nothing_runs_or_calls():
    content = pdf.render(examples.screening().record)
    for word in (b"/JavaScript", b"/Launch", b"/URI", b"/SubmitForm", b"http://www.w3.org/2000/svg"):
        assert word not in content
    fonts = set()
    for page in opened(content).pages:
        for font in page["/Resources"].get("/Font", {}).values():
            fonts.add(font["/BaseFont"].partition("+")[2])
    assert fonts
    assert all(name.startswith(("Libertinus", "NewCM", "DejaVu")) for name in fonts)


def test_rendering_opens_no_socket(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError

    monkeypatch.setattr(socket, "socket", refuse)
    assert pdf.render(examples.pinned("multiclass"))


def test_decisions_come_first_with_every_criterion():
    accepted = examples.screening().accept("recall >= 0.75", "precision >= 0.95")
    shown = words(pdf.render(accepted.record))
    assert shown.index("fail") < shown.index("were classified rightly")
    assert "1 of 2 criteria met, 1 not met" in shown
    for one in accepted.record["decisions"]:
        assert one["criterion"] in shown
        assert f"{one['value']:.3f}" in shown


def test_fifty_groups_of_a_hundred_classes_all_stand_on_paper():
    """How long it takes is measured by bench/render.py."""
    shown = words(pdf.render(wide().record))
    assert [i for i in range(50) if f"site {i:02}" not in shown] == []


def test_merged_sites_show_whether_they_differ_by_more_than_chance():
    from assay.assess.merge import merge

    parts = []
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        truth = rng.random(200) < 0.4
        called = np.where(rng.random(200) < 0.85, truth, ~truth)
        parts.append(assess(truth=truth, predicted=called))
    merged = merge(*[part.tally(site=f"site {i}", smallest_cell=1) for i, part in enumerate(parts)])
    shown = words(pdf.render(merged.record))
    assert "beyond chance" in shown


def test_scores_are_drawn_and_their_operating_points_listed():
    rng = np.random.default_rng(4)
    truth = rng.random(200) < 0.4
    score = np.clip(truth * 0.3 + rng.random(200) * 0.7, 0, 1)
    record = assess(truth=truth, predicted=score >= 0.5, score=score).record
    shown = words(pdf.render(record))
    for part in ("Scores and thresholds", "ROC curve", "Precision-recall curve", "AUROC"):
        assert part in shown


def test_a_conformity_statement_is_printed_row_by_row():
    def row(name, clause, demand, verdict, says):
        told = {"id": name, "clause": clause, "strength": "shall", "demand": demand, "verdict": verdict, "says": says}
        return {**told, "answer": "two readers", "evidence": [], "parts": []}

    rows = [
        row("R-5.1-1", "5.1", "The task is #fixed.", "pass", "it is"),
        row("R-A-1", "Annex A", "Labels are true.", "declared", "stated: $truth$"),
    ]
    counts = {"pass": 1, "fail": 0, "suspect": 0, "declared": 1, "no-evidence": 0, "n/a": 0}
    judged = {
        "profile": "ts4213-2022",
        "overall": "conforming by declaration",
        "document": "TS",
        "says": "so",
        "counts": counts,
        "rows": rows,
    }
    shown = words(pdf.render(Record({**examples.pinned("binary"), "conformity": judged})))
    for part in (
        "conforming by declaration",
        "5.1 the whole process",
        "Annex A example",
        "R-5.1-1",
        "The task is #fixed.",
        "✎ declared",
        "$truth$",
    ):
        assert part in shown
    assert shown.index("conforming by declaration") < shown.index("At a glance")


def test_a_comparison_is_typeset_with_its_record_attached(tmp_path):
    from assay.assess.compare.compare import compare

    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 300)
    systems = {
        name: np.where(rng.random(300) < p, truth, 1 - truth) for name, p in (("A #1", 0.9), ("$B$", 0.7), ("🦊", 0.7))
    }
    found = compare(truth=truth, predicted=systems, positive=1)
    content = found.report(tmp_path / "c.pdf").read_bytes()
    assert content == BINARY[".pdf"](found.record)
    (attached,) = opened(content).attachments["record.json"]
    assert json.loads(attached) == dict(found.record)
    shown = words(content)
    for part in ("What was found", "A #1", "$B$", "\\U0001f98a", "Cochran", "McNemar", "Why these tests"):
        assert part in shown


def test_a_comparison_has_no_card_and_no_bill_of_materials(tmp_path):
    from assay.assess.compare.compare import compare

    found = compare(truth=[1, 0] * 9, predicted={"A": [1, 0] * 9, "B": [1, 1] * 9}, positive=1)
    for name, kind in (("x.cdx.json", None), ("README.md", "modelcard"), ("x.md", "claim")):
        with pytest.raises(PlanError, match="a comparison has no report of this kind"):
            write_report(found.record, tmp_path / name, kind)
    assert not list(tmp_path.iterdir())


def test_a_pdf_is_written_by_its_ending(tmp_path):
    path = examples.infinite().report(tmp_path / "x.PDF")
    assert path.read_bytes() == BINARY[".pdf"](examples.infinite().record)
    assert [found.name for found in tmp_path.iterdir()] == ["x.PDF"]
