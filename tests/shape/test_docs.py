# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
import shlex
from fractions import Fraction

import click
import pytest

import run
from assay.app.cli import cli
from assay.assess.errata import errata
from assay.core.errors import CODES
from assay.core.task import find_task, task_names
from assay.core.traits import EXTENSION, HIGHER
from assay.core.values import Share
from assay.measures import REGISTRY, parse
from assay.measures.catalogue import guidance_of, guidance_tables
from assay.measures.declare import measure
from assay.tally.labels.one_vs_rest import Binary

DOCS = run.ROOT / "docs"
README = run.ROOT / "README.md"
PAGES = [README, *sorted(DOCS.rglob("*.md"))]
BY_HAND = [path for path in PAGES if not {"reference", "decisions"} & set(path.relative_to(run.ROOT).parts)]
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
PICTURE = re.compile(r"!\[[^\]]+\]\(([^)\s]+)\)")
SHELVES = ("start", "how-to", "why", "reference")


def named(path):
    return path.relative_to(run.ROOT).as_posix()


def prose(path):
    return FENCED.sub("", path.read_text(encoding="utf-8"))


def anchors(path):
    """The anchors of a page's headings, as code hosts make them."""
    heads = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.fixture(scope="module")
def generate():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS))
        import generate

        yield generate


def test_the_reference_is_what_the_code_says(generate):
    assert generate.differing() == [], "run: python docs/generate.py"


def test_a_page_that_is_stale_missing_or_left_over_is_listed(generate, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(generate, "REFERENCE", tmp_path)
    (tmp_path / "errors.md").write_text("old", encoding="utf-8")
    (tmp_path / "gone.md").write_text("old", encoding="utf-8")
    assert generate.main(["--check"]) == 1
    assert set(capsys.readouterr().out.split()) == {*generate.pages(), "gone.md"}
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0


def test_every_field_of_a_record_is_explained(generate):
    assert generate.pages()
    from generator.faces import unexplained

    assert unexplained() == []


def test_every_measure_has_its_page_and_its_line_in_the_index():
    index = (DOCS / "reference/measures/index.md").read_text(encoding="utf-8")
    for one in REGISTRY:
        assert (DOCS / "reference/measures" / f"{one.name}.md").is_file()
        assert f"[{one.name}]({one.name}.md)" in index


def test_every_error_code_has_its_section():
    assert set(CODES) <= anchors(DOCS / "reference/errors.md")


def test_every_erratum_has_its_section():
    sections = anchors(DOCS / "reference/errata.md")
    assert all(any(section.startswith(entry.id.lower()) for section in sections) for entry in errata())


def test_every_measure_a_page_asks_for_can_be_asked_for():
    asked = 0
    for path in (DOCS / "reference/measures").glob("*.md"):
        for command in re.findall(r"^assay run .+$", path.read_text(encoding="utf-8"), re.MULTILINE):
            words = shlex.split(command)
            assert parse(words[words.index("--measure") + 1]).name == path.stem
            asked += 1
    assert asked == len([m for m in REGISTRY if not m.from_scores])


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_every_link_leads_somewhere(path):
    for target in LINK.findall(prose(path)):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        there = (path.parent / name).resolve() if name else path
        assert there.exists(), target
        assert run.ROOT in there.parents, target
        assert not anchor or anchor in anchors(there), target


def test_every_page_can_be_reached_from_the_index():
    seen, open_ = set(), [DOCS / "index.md"]
    while open_:
        path = open_.pop()
        if path in seen or path.suffix != ".md" or not path.is_file():
            continue
        seen.add(path)
        links = (target.partition("#")[0] for target in LINK.findall(prose(path)) if "://" not in target)
        open_ += [(path.parent / name).resolve() for name in links if name]
    shelved = {path for path in PAGES if path.relative_to(run.ROOT).parts[:2] in {("docs", shelf) for shelf in SHELVES}}
    assert shelved
    assert not {named(path) for path in shelved - seen}


@pytest.mark.parametrize("path", BY_HAND, ids=named)
def test_a_page_has_one_sentence_a_line(path):
    lines = [line for line in prose(path).splitlines() if not line.startswith(("|", "#"))]
    assert not [line for line in lines if re.search(r"[a-z0-9`)\]][.!?] [A-Z`\[]", line)]


def test_the_readme_shows_the_help_of_the_program():
    readme = README.read_text(encoding="utf-8")
    shown = re.search(r"^\$ assay --help\n(.*?)^(?:```|\$ )", readme, re.MULTILINE | re.DOTALL)
    told = cli.get_help(click.Context(cli, info_name="assay", terminal_width=98, **cli.context_settings))
    assert shown
    assert shown[1].split("\n") == [*(line.rstrip() for line in told.rstrip().split("\n")), ""]


MOST_WORDS = 1500
FIGURES = DOCS / "why"
"""Pages whose tables are measured figures, written by scripts in bench/."""


@pytest.mark.parametrize("path", BY_HAND, ids=named)
def test_a_page_has_at_most_1500_words(path):
    """Examples aside, and tables of measured figures."""
    lines = [line for line in prose(path).splitlines() if path.parent != FIGURES or not line.startswith("|")]
    assert len(" ".join(lines).split()) <= MOST_WORDS


def test_every_page_by_hand_is_in_the_navigation_of_the_site():
    text = (run.ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = set(re.findall(r": ([\w/-]+\.md)$", text, re.MULTILINE))
    assert {path.relative_to(DOCS).as_posix() for path in BY_HAND if path != README} - listed == set()
    assert [name for name in listed if not (DOCS / name).is_file()] == []


def test_pictures_are_few_small_and_shown():
    pictures = sorted((DOCS / "pictures").glob("*"))
    shown = {(page.parent / name).resolve() for page in PAGES for name in PICTURE.findall(prose(page))}
    assert len(pictures) <= 15
    assert [picture.name for picture in pictures if picture.stat().st_size > 60_000] == []
    assert set(pictures) == {name for name in shown if name.parent == DOCS / "pictures"}


LONG = re.compile(r"(?<![\w.])\d+\.\d{11,}(?:e-?\d+)?")


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_a_page_states_reals_to_twelve_digits(path):
    """Elementary functions differ in the last bits between processors; quotients of small counts do not."""
    found = LONG.findall(path.read_text(encoding="utf-8"))
    long = [text for text in found if len(text.replace(".", "").lstrip("0")) > 12]
    assert [text for text in long if float(text) != float(Fraction(text).limit_denominator(1000))] == []


@pytest.mark.parametrize("task", list(task_names()))
def test_every_measure_says_when_to_use_it_and_when_not(task):
    measures = {measure.name: guidance_of(measure) for measure in find_task(task).registry}
    assert [name for name, text in measures.items() if not text.use or not text.avoid] == []
    assert set(guidance_tables(task)["measures"]) <= set(measures), f"tasks/{task}/guidance.toml names no measure"
    texts = [text for guidance in measures.values() for text in (guidance.use, guidance.avoid)]
    assert [text for text in texts if len(text) > 120 or text.endswith(".")] == []


def test_an_id_that_the_catalogue_does_not_have_is_a_sentence():
    def declared(spec):
        @measure(says="x", formula="x", range=(0, 1), better=HIGHER, source=EXTENSION, spec=spec, family="rates")
        def never_registered(t: Binary) -> Share: ...

    for spec in ("M-BIN-31", "M-BIN-1", "M-XYZ-01", "extension"):
        with pytest.raises(ValueError, match=f"'{spec}' is not in the catalogue .*leave spec out"):
            declared(spec)
    with pytest.raises(TypeError, match=r"must be declared as \(t: TALLY\)"):
        measure(says="x", formula="x", range=(0, 1), better=HIGHER, source=EXTENSION, family="rates")(lambda t: t)
    assert "never_registered" not in REGISTRY
