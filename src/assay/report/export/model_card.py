# SPDX-License-Identifier: Apache-2.0
"""A Record as a section of a Hugging Face model card: text between markers, and `model-index` in the front matter.

What stands in the file already stays as it is, byte for byte, outside the markers and outside `model-index`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.assess.record.record import Record
from assay.core.errors import PlanError
from assay.core.text import twelve_digits
from assay.report.export.cyclonedx import UNNAMED, task_name
from assay.report.render.markdown import render
from assay.report.report_document import Document

BEGIN: Final = "<!-- assay:begin -->"
END: Final = "<!-- assay:end -->"
INDEX_BEGIN: Final = "# assay:begin"
INDEX_END: Final = "# assay:end"
FRONT: Final = re.compile(r"\A(\ufeff?---[ \t]*\n)(.*?)(^---[ \t]*(?:\n|\Z))", re.DOTALL | re.MULTILINE)
INDEX: Final = re.compile(r"^model-index[ \t]*:.*\n(?:(?:[ \t]*(?:#.*)?\n)*(?:[ \t]+[^\s#].*|-.*)\n)*", re.MULTILINE)
"""The key with everything below it that is indented or a list entry; what follows the last of these is not its own."""
PIPELINE: Final = re.compile(r"^pipeline_tag[ \t]*:[ \t]*[\"']?([A-Za-z0-9_-]+)", re.MULTILINE)


def into(record: Record, text: str) -> str:
    """The text of a model card with the section and the index of a Record, new or replaced."""
    windows = "\r\n" in text
    plain = text.replace("\r\n", "\n")
    if windows and plain.replace("\n", "\r\n") != text:
        what = "the card mixes two kinds of line ends, so it cannot be changed without changing all of it"
        raise PlanError("markers-broken", what, fix="write the file with one kind of line ends")
    found = _sectioned(_fronted(plain, record), record)
    return found.replace("\n", "\r\n") if windows else found


def section(record: Record) -> str:
    """The section of the card, with its markers."""
    body = re.sub(r"^(#+) ", r"#\1 ", render(record), flags=re.MULTILINE).rstrip("\n")
    return f"{BEGIN}\n\n{body}\n\n{END}"


def index(record: Record, front: str) -> list[dict[str, Any]]:
    """The `model-index` of a Record for a front matter: its headline measures, with intervals among their arguments."""
    plan, task = record["plan"], PIPELINE.search(front)
    source = str(plan.get("data", {}).get("from") or "test data")
    document = Document(record)
    result = {
        "task": {"type": task[1] if task else document.task.name, "name": task_name(document)},
        "dataset": {"type": source, "name": source, "split": str(plan.get("split") or "test")},
        "metrics": list(_metrics(document)),
    }
    return [{"name": str(plan.get("model") or UNNAMED), "results": [result]}]


def _metrics(document: Document) -> Iterator[dict[str, Any]]:
    for entry in document.headline:
        if entry.value is None or entry.endless:
            continue  # the index takes numbers only; the section says why there is none
        metric: dict[str, Any] = {"type": entry.about.measure, "value": entry.value, "name": entry.about.name}
        if entry.low is not None and entry.high is not None and math.isfinite(entry.high):
            ends = {"low": twelve_digits(entry.low), "high": twelve_digits(entry.high)}
            metric["args"] = {**ends, "level": document.record["plan"]["level"], "interval": entry.method}
        yield metric


def _sectioned(text: str, record: Record) -> str:
    if (around := _around(text, BEGIN, END, "the markers of the section")) is not None:
        return section(record).join(around)
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}{section(record)}\n"


def _around(text: str, begin: str, end: str, what: str) -> tuple[str, str] | None:
    """What stands before and after a pair of markers, each alone on a line; None where there is neither."""
    begins, ends = (
        list(re.finditer(rf"^{re.escape(marker)}(?=[ \t]*$)", text, re.MULTILINE)) for marker in (begin, end)
    )
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or ends[0].start() < begins[0].start():
        raise PlanError(
            "markers-broken",
            f"{what} are not one pair",
            found=f"{len(begins)} x {begin}, {len(ends)} x {end}",
            fix="keep one begin and one end after it, each on a line of its own, or neither",
        )
    return text[: begins[0].start()], text[ends[0].end() :]


def _fronted(text: str, record: Record) -> str:
    front = FRONT.match(text)
    if front is None:
        # A card without front matter gets one; a byte order mark must stay first.
        mark = "\ufeff" if text.startswith("\ufeff") else ""
        return f"{mark}---\n{_block(record, '')}---\n\n{text.removeprefix(mark)}"
    head, body, foot = front.groups()
    return head + _indexed(body, record) + foot + text[front.end() :]


def _indexed(body: str, record: Record) -> str:
    if (around := _around(body, INDEX_BEGIN, INDEX_END, "the markers in the front matter")) is not None:
        return _block(record, "".join(around)).removesuffix("\n").join(around)
    foreign = INDEX.search(body)
    if foreign is None:
        return body + _block(record, body)
    return body[: foreign.start()] + _merged(foreign.group(), record, body) + body[foreign.end() :]


def _block(record: Record, body: str) -> str:
    return f"{INDEX_BEGIN}\n{_yaml(index(record, body))}{INDEX_END}\n"


def _merged(standing: str, record: Record, body: str) -> str:
    """An index that somebody else wrote, with our results in it: those of the same task and data are replaced."""
    try:
        import yaml
    except ImportError as error:
        what = "the card has a model-index of its own, and reading it needs PyYAML"
        raise PlanError("missing-extra", what, fix="pip install 'assay[yaml]'") from error
    try:
        models = yaml.safe_load(standing)["model-index"] or []
        ours = index(record, body)[0]
        named = [one for one in models if one["name"] == ours["name"]] or models[:1]
        if not named or (record["plan"].get("model") and named[0]["name"] != ours["name"]):
            models.append(ours)
        else:
            kept = [one for one in named[0].get("results") or [] if _same(one) != _same(ours["results"][0])]
            named[0]["results"] = [*kept, *ours["results"]]
        return _yaml(models)
    except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        what = "the model-index of the card cannot be read"
        fix = "correct it, or take it out and let assay write its own"
        raise PlanError("markers-broken", what, found=str(error).splitlines()[0], fix=fix) from error


def _same(result: Mapping[str, Any]) -> tuple[Any, ...]:
    data = result.get("dataset", {})
    return data.get("type"), data.get("name"), data.get("split")


def _yaml(models: list[dict[str, Any]]) -> str:
    """The index as JSON, which YAML reads; what cannot be printed is escaped, so that no name ends the front matter."""
    text = json.dumps(models, indent=1, ensure_ascii=False, allow_nan=False)
    return "model-index: " + "".join(map(_character, text)).replace("\n", "\n ") + "\n"


def _character(character: str) -> str:
    if character == "\n" or character.isprintable():
        return character
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"  # noqa: PLR2004  the first plane
