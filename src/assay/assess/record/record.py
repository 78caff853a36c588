# SPDX-License-Identifier: Apache-2.0
"""The Record: everything an assessment found, as versioned JSON that any program can read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from assay.core.errors import PlanError, RecordError
from assay.core.json_text import strict_json
from assay.core.labels import Label
from assay.core.text import visible
from assay.rows.temporary_files import write_whole
from assay.tally.base import digest

VERSION = "1"
LARGEST = 2**30
EVIDENCE = ("kind", "rows", "controls", "conformity", "ledger", "notes")
"""Parts of a Record that do not follow from its tallies and its plan."""
OF_TALLY = (
    "assay", "kind", "site", "task", "samples", "rows", "labels", "positive", "tallies", "plan", "environment", "notes",
    "digests",
)  # fmt: skip
"""The parts of a Record of the kind tally, which has not all of them."""


class Record(Mapping[str, Any]):
    """The content of a record.json; reads like the JSON it is."""

    def __init__(self, content: dict[str, Any], thumbnails: Mapping[Label, str] | None = None) -> None:
        self._content = content
        self.thumbnails = thumbnails or {}
        """Pictures for a report of the call that made this Record; they are not a part of it and are not saved."""

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401  JSON
        """A part of the Record."""
        return self._content[key]

    def __iter__(self) -> Iterator[str]:
        """The names of the parts."""
        return iter(self._content)

    def __len__(self) -> int:
        """How many parts there are."""
        return len(self._content)

    def to_text(self) -> str:
        """The JSON text, one estimate a line; NaN and infinities never appear."""
        parts = (f" {_line(str(name))}: {_block(part)}" for name, part in self._content.items())
        return "{\n" + ",\n".join(parts) + "\n}\n"

    def __repr__(self) -> str:
        """What it is of, in one line."""
        told = (self._content.get(name) for name in ("kind", "task", "samples"))
        return f"<Record: {', '.join(str(text) for text in told if text is not None)}>"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it, whole or not at all."""
        return write_whole(path, self.to_text().encode("utf-8", "surrogatepass"))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, unsealed: bool = False) -> Record:
        """Read one; anything that is not a Record of a known version is refused, and so is one that was changed.

        With `unsealed` a changed one is read all the same, so that it can be told what was changed.
        """
        shown = os.fspath(path)
        try:
            if Path(path).stat().st_size > LARGEST:
                what = "the file is larger than 1 GiB"
                raise RecordError("record-unreadable", what, where=shown, fix="give a record.json")
            text = Path(path).read_bytes().decode("utf-8")
        except OSError as error:
            reason, fix = error.strerror, "give the path of a record.json"
            if "://" in shown:
                reason, fix = "an address, and addresses are not read", "fetch the file first, then give its path"
            what, where = f"cannot read {visible(shown)}", visible(shown)
            raise PlanError("no-file", what, where=where, found=reason, fix=fix) from error
        except UnicodeDecodeError as error:
            what = "the file is not UTF-8 text"
            raise RecordError("record-unreadable", what, where=shown, fix="give a record.json") from error
        content = _checked(strict_json(text, shown), shown)
        if not unsealed:
            demand_seal(content, shown)
        return cls(content)


def content_digest(content: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical form of everything but the digest itself."""
    rest = {name: one for name, one in content["digests"].items() if name != "record"}
    return digest({**content, "digests": rest})


def demand_seal(content: Mapping[str, Any], where: str) -> None:
    """Refuse content that is not what was written."""
    digests = content.get("digests")
    stated = digests.get("record") if isinstance(digests, dict) else None
    if stated is None or stated != content_digest(content):
        fix = f"restore the file from its source; assay verify {visible(where)} names what was changed"
        what = "the Record was changed after it was written"
        raise RecordError("digest-mismatch", what, where=visible(where), fix=fix)


def _block(part: object) -> str:
    """A part over several lines where it holds further parts; Python's own indenting takes twice as long."""
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    if not any(isinstance(one, (dict, list)) for one in inner):
        return _line(part)
    if isinstance(part, dict):
        return "{\n" + ",\n".join(f"  {_line(str(name))}: {_line(one)}" for name, one in part.items()) + "\n }"
    return "[\n" + ",\n".join(f"  {_line(one)}" for one in inner) + "\n ]"


_line = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _checked(content: object, where: str) -> dict[str, Any]:
    if not isinstance(content, dict) or content.get("assay") != VERSION or "tallies" not in content:
        version = content.get("assay") if isinstance(content, dict) else type(content).__name__
        what = "the file is not a Record this version can read"
        found = f"version {version!r}"
        fix = "give a record.json written by assay run or .save()"
        raise RecordError("record-unreadable", what, where=where, found=found, known=f"version {VERSION!r}", fix=fix)
    return cast("dict[str, Any]", content)


@cache
def schema(kind: str = "assessment") -> dict[str, Any]:
    """The JSON Schema of a Record of one kind.

    >>> schema()["title"], schema("tally")["title"]
    ('assay Record', 'assay Record: tally')
    """
    name = "comparison.schema.json" if kind == "comparison" else "record.schema.json"
    text = files("assay.assess.record").joinpath(name).read_text(encoding="utf-8")
    whole = cast("dict[str, Any]", json.loads(text))
    if kind != "tally":
        return whole
    properties = {name: found for name, found in whole["properties"].items() if name in OF_TALLY}
    return {
        **whole,
        "$id": f"{whole['$id']}:{kind}",
        "title": f"{whole['title']}: {kind}",
        "description": "Counts that a site shares instead of its rows. Unknown fields are ignored by readers.",
        "required": list(OF_TALLY),
        "properties": {
            **properties,
            "kind": {"const": kind},
            "site": {"description": "What the site calls itself.", "type": ["string", "null"]},
        },
    }


def sealed(content: dict[str, Any]) -> dict[str, Any]:
    """A Record's content with digests of what cannot be computed again, and of the whole, by which any change shows.

    Times differ between two runs of one assessment, so the environment carries its digest itself.
    """
    surroundings = {name: value for name, value in content["environment"].items() if name != "digest"}
    evidence = {name: content[name] for name in EVIDENCE if name in content}
    signed = {
        **content,
        "environment": {**surroundings, "digest": digest(surroundings)},
        "digests": {**content["digests"], "evidence": digest(evidence)},
    }
    return {**signed, "digests": {**signed["digests"], "record": content_digest(signed)}}


@contextmanager
def open_tallies(record: Record, where: str | None = None) -> Iterator[Any]:
    """The tallies, if they are those the Record was written with; what is missing or malformed is refused."""
    fix = "restore the file from its source"
    try:
        if digest(record["tallies"]) != record["digests"]["tallies"]:
            what = "the tallies are not the ones this Record was written with"
            raise RecordError("digest-mismatch", what, where=where, fix=fix)
        yield record["tallies"]
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
        what = f"a part of the Record is missing or malformed: {visible(error)}"
        raise RecordError("record-unreadable", what, where=where, fix=fix) from error
