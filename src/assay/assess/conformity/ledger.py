# SPDX-License-Identifier: Apache-2.0
"""The ledger of a plan: when which plan was fixed, and every look at a test set; lines are only ever added.

A line holds the digest of the line before it, so that a line that is changed or taken out shows. Every Record holds
the number of lines and the digest of the last one, so that lines cut off the end show, too.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.assess.environment import own_version
from assay.core.errors import PlanError, RecordError
from assay.core.json_text import strict_json
from assay.core.text import visible
from assay.tally.base import digest

if TYPE_CHECKING:
    from assay.assess.plan.checked_plan import LoadedPlan

NAME: Final = "assay-ledger.jsonl"
"""The ledger beside a plan that names none."""
LARGEST: Final = 16 * 2**20
"""Bytes a ledger may have."""
SHORT: Final = 16
SHAPING: Final = ("task", "columns", "claims", "intervals", "reading", "checks", "fairness", "tests", "metrics",
                  "run")  # fmt: skip
"""Sections that shape numbers or verdicts, but for the sentences in them."""
OF_MODEL: Final = ("predicted", "score", "scores", "threshold", "threshold_rule", "threshold_from", "predictions",
                   "sha256", "version")  # fmt: skip
OF_DATA: Final = ("role", "path", "sha256", "rows", "truth", "table", "query")
SENTENCES: Final = ("reasons", "averaging_basis", "multilabel_basis", "justification", "none", "criterion", "words",
                    "encoding")  # fmt: skip
"""Keys that say why, and change no number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """Where a ledger ends: how many lines it has, and the digest of the last one."""

    lines: int = 0
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """A file of entries, one JSON object a line."""

    path: Path
    named: bool
    entries: tuple[Mapping[str, Any], ...] = ()
    broken: tuple[int, ...] = ()
    ends: tuple[End, ...] = ()
    """Where the ledger ended after each of its lines."""

    @property
    def end(self) -> End:
        """Where it ends."""
        return self.ends[-1] if self.ends else End()

    def add(self, entries: Sequence[Mapping[str, Any]]) -> End:
        """Add entries at the end, each with the digest of the line before it; all of them whole, or none."""
        with self.path.open("a+b", buffering=0) as file:
            _lock(file.fileno())
            file.seek(0)
            before = file.read(LARGEST + 1)
            lines = [line for line in before.splitlines() if line.strip()]
            made, last = [], lines[-1] if lines else b""
            for one in entries:
                last = json.dumps({**one, "before": _of(last)}, ensure_ascii=False).encode()
                made.append(last)
            content = (b"" if before[-1:] in (b"", b"\n") else b"\n") + b"".join(line + b"\n" for line in made)
            try:
                while content:
                    content = content[file.write(content) or 0 :]
                os.fsync(file.fileno())
            except OSError:
                file.truncate(len(before))
                raise
        return End(lines=len(lines) + len(made), digest=_of(last))


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a ledger tells of the plan and the test sets of a run."""

    ledger: Ledger
    """As this run found it."""
    loaded: LoadedPlan
    mine: tuple[Mapping[str, Any], ...] = ()
    """The entries this run made."""
    registered_at: str = ""
    end: End = field(default_factory=End)
    """Where the ledger ends after this run's entries."""
    why_not: str | None = None
    """Why nothing was entered."""

    @property
    def entries(self) -> tuple[Mapping[str, Any], ...]:
        """All entries, in order."""
        return (*self.ledger.entries, *self.mine)

    def looks(self, data: str) -> list[Mapping[str, Any]]:
        """Every look at a test set, this run's too."""
        return [one for one in self.entries if one.get("purpose") == "test" and one.get("data") == data]

    def elsewise(self, data: str) -> list[Mapping[str, Any]]:
        """Earlier looks at a test set by a plan that asked for other numbers; the same run again is not a new look."""
        shape, earlier = shape_of(self.loaded), replace(self, mine=())
        return [one for one in earlier.looks(data) if one.get("shape", shape) != shape]

    def earlier_plans(self) -> list[dict[str, Any]]:
        """Plans that were fixed before this one, and the sections in which they differ from it."""
        plans, own = [], _sections(self.loaded)
        for entry in self.ledger.entries:
            if entry.get("purpose") == "plan" and entry.get("plan") != self.loaded.digest:
                given = entry.get("sections")
                earlier: Mapping[str, Any] = given if isinstance(given, dict) else {}
                changed = [name for name in sorted({*earlier, *own}) if earlier.get(name) != own.get(name)]
                plans.append({"digest": entry.get("plan"), "at": entry.get("time"), "changed": changed})
        return plans

    def enter(self, at: str, purpose: str, *entries: Mapping[str, Any]) -> Access:
        """The same after writing, or with the reason where nothing can be written: predictions may lie anywhere."""
        start = {"time": at, "purpose": purpose, "plan": self.loaded.digest, "by": f"assay {own_version()}"}
        whole = [{**start, **entry} for entry in entries]
        try:
            return replace(self, end=self.ledger.add(whole), mine=(*self.mine, *whole))
        except OSError as error:
            name = visible(self.ledger.path.name)
            return replace(self, why_not=f"{name} cannot be written: {error.strerror}")

    def to_json(self, data: str) -> dict[str, Any]:
        """As in a Record, for one test set."""
        looks = self.looks(data)
        return {
            "name": visible(self.ledger.path.name),
            "entered": self.why_not is None,
            "why_not": self.why_not,
            "altered_lines": list(self.ledger.broken),
            "data": data,
            "looks": runs_of(looks),
            "models": sorted({str(one.get("model")) for one in looks}),
            "first_look": min((str(one.get("time")) for one in looks), default=None),
            "plan_registered_at": self.registered_at,
            "earlier_plans": self.earlier_plans(),
            "end": {"lines": self.end.lines, "digest": self.end.digest},
        }


def ledger_of(loaded: LoadedPlan) -> Ledger:
    """The ledger that a plan names, or the one beside it; one that does not exist yet has no entries."""
    named = loaded.plan.tuning.ledger
    return read_ledger(loaded.folder / (named if named is not None else NAME), named=named is not None)


def read_ledger(path: Path, *, named: bool = True) -> Ledger:
    """A ledger by its path."""
    shown = visible(path.name)
    if not path.is_file():
        return Ledger(path=path, named=named)
    if path.stat().st_size > LARGEST:
        raise PlanError("plan-too-large", "the ledger is larger than any ledger", where=shown, fix="begin a new one")
    content = path.read_bytes()
    entries, broken, ends, last = [], [], list[End](), b""
    for i, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value = strict_json(line.decode("utf-8", "replace"), f"{shown}, line {i}")
        except RecordError as error:
            raise _unreadable(shown, i, line, cut=content.endswith(line), found=error.found or error.what) from error
        entry = value if isinstance(value, dict) else {}
        if "before" in entry and entry["before"] != _of(last):
            broken.append(i)
        entries.append(entry)
        last = line
        ends.append(End(lines=len(entries), digest=_of(last)))
    return Ledger(path=path, named=named, entries=tuple(entries), broken=tuple(broken), ends=tuple(ends))


def _unreadable(shown: str, number: int, line: bytes, *, cut: bool, found: str) -> RecordError:
    """A line that is not JSON; the last one may be half of what a killed program wrote."""
    what = "the last line of the ledger is cut off" if cut else "a line of the ledger is not JSON"
    fix = f"restore the file, or delete line {number}: what it was to say was not entered"
    begins = visible(line[:60].decode("utf-8", "replace"))
    return RecordError("record-unreadable", what, where=f"{shown}, line {number}", found=f"{begins}; {found}", fix=fix)


def now() -> str:
    """The time of an entry."""
    return datetime.now(tz=UTC).isoformat(timespec="microseconds")


def add_note(path: Path, says: str, *, purpose: str, data: str, model: str | None) -> End:
    """Enter what was done before the test, at the end of the chain of a ledger."""
    note = {"time": now(), "purpose": purpose, "data": data, "says": says, "by": f"assay {own_version()}"}
    read_ledger(path)  # nothing is added behind a line that nobody can read
    try:
        return Ledger(path=path, named=True).add([note | ({} if model is None else {"model": model})])
    except OSError as error:
        where = visible(path)
        what = f"the ledger cannot be written: {error.strerror}"
        raise PlanError("out-exists", what, where=where, fix="give a path that can be written") from error


def registered(loaded: LoadedPlan, at: str, *, enter: bool = True) -> Access:
    """Enter a plan before anything is counted, unless it is in the ledger already."""
    ledger = ledger_of(loaded)
    times = [str(x["time"]) for x in ledger.entries if x.get("purpose") == "plan" and x.get("plan") == loaded.digest]
    why_not = None if enter else "the run was asked not to"
    registered_at = min(times, default=at)
    access = Access(ledger=ledger, loaded=loaded, registered_at=registered_at, end=ledger.end, why_not=why_not)
    return access if times or not enter else access.enter(at, "plan", {"sections": _sections(loaded)})


def looked(access: Access, looks: Iterable[Mapping[str, Any]]) -> Access:
    """Enter looks at test sets: model, split and digest of the data."""
    if access.why_not is not None:
        return access
    shape = shape_of(access.loaded)
    return access.enter(now(), "test", *({"shape": shape, **look} for look in looks))


def _sections(loaded: LoadedPlan) -> dict[str, str]:
    return {name: digest(part)[:SHORT] for name, part in loaded.document.items()}


def runs_of(looks: Iterable[Mapping[str, Any]]) -> int:
    """How many runs looked: the models of one run are entered at one time."""
    return len({str(one.get("time")) for one in looks})


def shape_of(loaded: LoadedPlan) -> str:
    """The digest of everything in a plan that shapes numbers and verdicts.

    >>> from assay.assess.plan.checked_plan import planned
    >>> one, other = ({"metrics": {"primary": "f1", "reasons": {"f1": why}}} for why in ("a", "b"))
    >>> shape_of(planned(one)) == shape_of(planned(other)) != shape_of(planned({"metrics": {"primary": "recall"}}))
    True
    """
    document = loaded.document
    shaping: dict[str, Any] = {name: _without_sentences(document[name]) for name in SHAPING if name in document}
    for name, keys in (("models", OF_MODEL), ("data", OF_DATA)):
        parts = document.get(name, {})
        shaping[name] = {part: {key: one[key] for key in keys if key in one} for part, one in parts.items()}
    return digest(shaping)


def _without_sentences(part: Any) -> Any:  # noqa: ANN401  plain values
    if isinstance(part, list):
        return [_without_sentences(one) for one in part]
    if isinstance(part, dict):
        return {name: one for name, one in part.items() if name not in SENTENCES}
    return part


def _of(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest() if line else ""


def _lock(number: int) -> None:
    """Wait for other runs; where files cannot be locked, lines are still written in one piece."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(number, fcntl.LOCK_EX)
