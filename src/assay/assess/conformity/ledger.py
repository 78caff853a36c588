# SPDX-License-Identifier: Apache-2.0
"""The ledger of a plan: when which plan was fixed, and every look at a test set; lines are only ever added.

A line holds the digest of the line before it, so that a line that is changed or taken out shows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.core.errors import PlanError
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
SHAPING: Final = ("task", "columns", "claims", "intervals", "reading", "checks", "fairness", "tests", "metrics")
"""Sections that shape numbers or verdicts, but for the sentences in them."""
OF_MODEL: Final = ("predicted", "score", "scores", "threshold", "threshold_rule", "threshold_from", "predictions",
                   "sha256", "version")  # fmt: skip
OF_DATA: Final = ("role", "path", "sha256", "rows", "truth", "table", "query")
SENTENCES: Final = ("reasons", "averaging_basis", "multilabel_basis", "justification", "none", "criterion", "words",
                    "encoding")  # fmt: skip
"""Keys that say why, and change no number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a ledger tells of the plan and the test sets of a run."""

    name: str
    named: bool
    """Whether the plan names it, or it is the one that runs keep of their own accord."""
    plan: str
    shape: str
    sections: Mapping[str, str]
    before: tuple[Mapping[str, Any], ...] = ()
    """The entries this run found."""
    mine: tuple[Mapping[str, Any], ...] = ()
    """The entries this run made."""
    broken: tuple[int, ...] = ()
    """Lines whose line before is not the one they were written after."""
    registered_at: str = ""
    why_not: str | None = None
    """Why nothing was entered."""

    @property
    def entries(self) -> tuple[Mapping[str, Any], ...]:
        """All entries, in order."""
        return (*self.before, *self.mine)

    def looks(self, data: str) -> list[Mapping[str, Any]]:
        """Every look at a test set, this run's too."""
        return [one for one in self.entries if one.get("purpose") == "test" and one.get("data") == data]

    def elsewise(self, data: str) -> list[Mapping[str, Any]]:
        """Earlier looks at a test set by a plan that asked for other numbers; the same run again is no new look."""
        seen = [one for one in self.before if one.get("purpose") == "test" and one.get("data") == data]
        return [one for one in seen if "shape" in one and one["shape"] != self.shape]

    def earlier_plans(self) -> list[dict[str, Any]]:
        """Plans that were fixed before this one, and the sections in which they differ from it."""
        found = []
        for one in self.before:
            if one.get("purpose") != "plan" or one.get("plan") == self.plan:
                continue
            given = one.get("sections")
            held: Mapping[str, Any] = given if isinstance(given, dict) else {}
            names = sorted({*held, *self.sections})
            changed = [name for name in names if held.get(name) != self.sections.get(name)]
            found.append({"digest": one.get("plan"), "at": one.get("time"), "changed": changed})
        return found

    def to_json(self, data: str) -> dict[str, Any]:
        """As in a Record, for one test set."""
        looks = self.looks(data)
        return {
            "name": self.name,
            "entered": self.why_not is None,
            "why_not": self.why_not,
            "altered_lines": list(self.broken),
            "data": data,
            "looks": runs_of(looks),
            "models": sorted({str(one.get("model")) for one in looks}),
            "first_look": min((str(one.get("time")) for one in looks), default=None),
            "plan_registered_at": self.registered_at,
            "earlier_plans": self.earlier_plans(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """A file of entries, one JSON object a line."""

    path: Path
    named: bool
    entries: tuple[Mapping[str, Any], ...] = ()
    broken: tuple[int, ...] = ()
    last: bytes = field(default=b"", repr=False)

    def add(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Add entries at the end, each with the digest of the line before it; one writer at a time."""
        with self.path.open("a+b") as file:
            _lock(file.fileno())
            file.seek(0)
            lines = file.read(LARGEST + 1).splitlines()
            last = next((line for line in reversed(lines) if line.strip()), b"")
            made = []
            for one in entries:
                last = json.dumps({**one, "before": _of(last)}, ensure_ascii=False).encode()
                made.append(last)
            file.write(b"".join(line + b"\n" for line in made))


def ledger_of(loaded: LoadedPlan) -> Ledger:
    """The ledger that a plan names, or the one beside it; one that does not exist yet has no entries."""
    named = loaded.plan.tuning.ledger
    path = loaded.folder / (named if named is not None else NAME)
    shown = visible(path.name)
    if not path.is_file():
        return Ledger(path=path, named=named is not None)
    if path.stat().st_size > LARGEST:
        raise PlanError("plan-too-large", "the ledger is larger than any ledger", where=shown, fix="begin a new one")
    entries, broken, last = [], [], b""
    for i, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        one = strict_json(line.decode("utf-8", "replace"), f"{shown}, line {i}")
        entry = one if isinstance(one, dict) else {}
        if "before" in entry and entry["before"] != _of(last):
            broken.append(i)
        entries.append(entry)
        last = line
    return Ledger(path=path, named=named is not None, entries=tuple(entries), broken=tuple(broken), last=last)


def registered(loaded: LoadedPlan, at: str, *, enter: bool = True) -> Access:
    """Enter a plan before anything is counted, unless it is in the ledger already."""
    ledger = ledger_of(loaded)
    sections = {name: digest(one)[:SHORT] for name, one in loaded.document.items()}
    held = [str(x["time"]) for x in ledger.entries if x.get("purpose") == "plan" and x.get("plan") == loaded.digest]
    access = Access(
        name=visible(ledger.path.name),
        named=ledger.named,
        plan=loaded.digest,
        shape=shape_of(loaded),
        sections=sections,
        before=ledger.entries,
        broken=ledger.broken,
        registered_at=min(held, default=at),
        why_not=None if enter else "the run was asked not to",
    )
    if held or not enter:
        return access
    return _entered(loaded, access, [_entry(at, "plan", access, sections=sections)])


def looked(loaded: LoadedPlan, access: Access, looks: Iterable[Mapping[str, Any]]) -> Access:
    """Enter looks at test sets: model, split and digest of the data."""
    if access.why_not is not None:
        return access
    now = datetime.now(tz=UTC).isoformat(timespec="microseconds")
    return _entered(loaded, access, [_entry(now, "test", access, shape=access.shape, **one) for one in looks])


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
    held = loaded.document
    shaping: dict[str, Any] = {name: _without_sentences(held[name]) for name in SHAPING if name in held}
    for name, keys in (("models", OF_MODEL), ("data", OF_DATA)):
        parts = held.get(name, {})
        shaping[name] = {part: {key: one[key] for key in keys if key in one} for part, one in parts.items()}
    return digest(shaping)


def _without_sentences(part: Any) -> Any:  # noqa: ANN401  plain values
    if isinstance(part, list):
        return [_without_sentences(one) for one in part]
    if isinstance(part, dict):
        return {name: one for name, one in part.items() if name not in SENTENCES}
    return part


def _entry(at: str, purpose: str, access: Access, **more: Any) -> dict[str, Any]:  # noqa: ANN401  plain values
    return {"time": at, "purpose": purpose, "plan": access.plan, "by": f"assay {_version()}", **more}


def _entered(loaded: LoadedPlan, access: Access, entries: Sequence[Mapping[str, Any]]) -> Access:
    """The same after writing; a folder that cannot be written is told, for predictions may lie where nobody writes."""
    try:
        ledger_of(loaded).add(entries)
    except OSError as error:
        return replace(access, why_not=f"{access.name} cannot be written: {error.strerror}")
    return replace(access, mine=(*access.mine, *entries))


def _of(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest() if line else ""


def _lock(number: int) -> None:
    """Wait for other runs; where files cannot be locked, lines are still written in one piece."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(number, fcntl.LOCK_EX)


def _version() -> str:
    try:
        return version("assay")
    except PackageNotFoundError:
        return "from source"
