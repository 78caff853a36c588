# SPDX-License-Identifier: Apache-2.0
"""Verifying a Record: every number is computed again from its tallies, every digest and the row accounting checked."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from assay.assess.assessment import Assessment
from assay.assess.compare.comparison import ByChannel, Comparison
from assay.assess.compare.task_comparison import TaskComparison
from assay.assess.decide.plan_results import comparison_digest, comparison_records
from assay.assess.environment import environment
from assay.assess.record import consistency_checks
from assay.assess.record.consistency_checks import BROKEN, DIGEST, Mismatch, accounted
from assay.assess.record.record import EVIDENCE, Record, content_digest
from assay.core.errors import AssayError
from assay.core.text import visible
from assay.tally.base import digest
from assay.tasks.classification.curves import CELLS

CLASSIFIED: Final = ("binary", "multiclass", "values")
"""What Records of comparisons of classifiers, or of values from elsewhere, call their task."""


def load(path: str | os.PathLike[str]) -> Assessment | Comparison | TaskComparison:
    """The assessment or comparison a record.json was written from.

    path: the record.json"""  # noqa: D209
    record = Record.load(path)
    return Assessment.from_record(record) if record.get("kind") != "comparison" else restore_comparison(record)


def restore_comparison(record: Record) -> Comparison | TaskComparison:
    """The comparison a Record was written from, whatever its task."""
    return (Comparison if record.get("task") in CLASSIFIED else TaskComparison).from_record(record)


COPIED: Final = ("assay", "kind", "plan", "environment", "controls", "conformity", "ledger", "notes", "digests", "site")
"""Parts that come from outside and are not computed from tallies: digests answer for them."""
WORDS: Final = ("why", "notes", "undefined", "undefined_code", "no_interval", "interval_notes", "title", "chosen",
                "asks", "says")  # fmt: skip
"""Sentences, which another build of this program may put otherwise; the digest of the whole answers for them then."""
DIGITS: Final = 1e-12
"""Relative difference allowed for reals: elementary functions differ in the last bits between processors."""
CLOSE: Final = 1e-9
"""The same where other versions of the numeric packages recompute, and for ends from numeric derivatives."""
DERIVED: Final = ("bca on", "delta on", "corrected dirichlet on")
"""Interval methods that take numeric derivatives of a measure, which lose six digits."""
ENDS: Final = ("value", "low", "high")
"""Numbers of one estimate, held to the digits of the largest: an end near 0 is a difference of larger numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was checked, and what did not hold."""

    mismatches: tuple[Mismatch, ...]
    checked: Mapping[str, int] = field(default_factory=dict)
    """Values computed again, by part of the Record."""
    unchecked: tuple[str, ...] = ()
    """What could not be computed again, and why."""
    made_by: str | None = None
    """The version of assay that made the Record, where it is another one: then only that version recomputes it."""

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.mismatches

    def to_json(self) -> dict[str, object]:
        """For machines."""
        return {
            "verified": self.holds,
            "made_by": self.made_by,
            "checked": dict(self.checked),
            "unchecked": list(self.unchecked),
            "mismatches": [one.to_json() for one in self.mismatches],
        }


def verify(record: Record) -> Verification:
    """Check a Record against itself: digests, row accounting, and every number that its tallies give.

    A Record of another version of assay is not recomputed: `made_by` names the version that does.

    >>> from assay.assess.assess import assess
    >>> verify(assess(truth=[1, 0, 1], predicted=[1, 0, 0]).record).holds
    True
    """
    mismatches = list(chain(_digests(record), accounted(record)))
    if (version := _other_version(record)) is not None:
        unchecked = (f"all numbers: assay {visible(version)} made this Record, and only that version recomputes it",)
        return Verification(mismatches=tuple(mismatches), unchecked=unchecked, made_by=version)
    return _recomputed(record, mismatches)


def _recomputed(record: Record, mismatches: list[Mismatch]) -> Verification:
    """Compare every number with the one that its tallies give now."""
    checked: dict[str, int] = {}
    try:
        again = _rebuilt(record)
    except BROKEN as error:
        why = f"cannot be rebuilt: {_said(error)}"
        mismatches.append(Mismatch(path="tallies", stored=None, recomputed=None, why=why))
        again = {}
    words, digits = _same(record, "build"), DIGITS if _same(record, "python", "packages") else CLOSE
    rounded = bool(again) and consistency_checks.rounds_scores(record)
    if rounded:
        mismatches += consistency_checks.check_points(record, again)
        checked["operating_points"] = len(CELLS) * len(record["operating_points"])
    for part, recomputed in again.items():
        if part in COPIED or part not in record or (rounded and part == "operating_points"):
            continue
        checker = _Comparing(digits, words=words)
        mismatches += checker.compared(record[part], recomputed, part)
        checked[part] = checker.values
    for path, stored, recomputed in chain(referred(record), _judged_again(record)):
        checker = _Comparing(digits, words=words)
        mismatches += checker.compared(stored, recomputed, path)
        part = path.partition("[")[0]
        checked[part] = checked.get(part, 0) + checker.values
    return Verification(mismatches=tuple(mismatches), checked=checked)


def _judged_again(record: Record) -> Iterator[tuple[str, object, object]]:
    """The conformity statement as stored, and as the plan, the controls and the results of the Record give it."""
    try:
        if record.get("conformity", {}).get("rows"):
            from assay.assess.conformity.statement import rejudged

            yield "conformity", record["conformity"], rejudged(record).to_json()
    except BROKEN as error:
        yield "conformity", "as stored", f"cannot be judged again: {visible(error)}"


def first_mismatch(record: Record) -> Mismatch | None:
    """The first mismatch, found as quickly as may be; None where there is none."""
    return next(chain(_digests(record), accounted(record)), None) or next(iter(verify(record).mismatches), None)


def _digests(record: Record) -> Iterator[Mismatch]:
    digests, plan, surroundings = (record.get(part) for part in ("digests", "plan", "environment"))
    if not (isinstance(digests, dict) and isinstance(plan, dict) and isinstance(surroundings, dict)):
        yield Mismatch(path="digests", stored=digests, recomputed=None, why="digests, plan or environment are missing")
        return
    evidence = {name: record[name] for name in EVIDENCE if name in record}
    rest = {name: one for name, one in surroundings.items() if name != "digest"}
    wanted: dict[str, tuple[object, object]] = {
        "digests.tallies": (digests.get("tallies"), digest(record.get("tallies"))),
        "plan.digest": (plan.get("digest"), digest({name: one for name, one in plan.items() if name != "digest"})),
        "digests.record": (digests.get("record"), content_digest(record)),
        "digests.evidence": (digests.get("evidence"), digest(evidence)),
        "environment.digest": (surroundings.get("digest"), digest(rest)),
    }
    if "declared" in plan:
        wanted["plan.declared_digest"] = (plan.get("declared_digest"), digest(plan["declared"]))
    if record.get("kind") != "tally":
        data = plan.get("data")
        wanted["digests.files"] = (digests.get("files"), data.get("files", {}) if isinstance(data, dict) else {})
    for path, (stored, recomputed) in wanted.items():
        if stored != recomputed:
            yield Mismatch(path=path, stored=stored, recomputed=recomputed, why=DIGEST)


def _rebuilt(record: Record) -> Mapping[str, Any]:
    """The Record computed again from its tallies and settings; a wrong digest has been told already."""
    trusted = Record({**record, "digests": {**record["digests"], "tallies": digest(record["tallies"])}})
    if record["kind"] == "comparison":
        return restore_comparison(trusted).record
    again = Assessment.from_record(trusted).computed_again(lambda compared: restore_comparison(compared).record).record
    if record["kind"] == "tally":
        return {part: again[part] for part in ("task", "samples", "rows", "labels", "positive", "tallies")}
    return again


def _other_version(record: Record) -> str | None:
    """The version of assay that made a Record, if it is not this one; None where the Record is too broken to say."""
    try:
        version = str(record["environment"]["packages"]["assay"])
    except BROKEN:
        return None
    return None if version == environment()["packages"].get("assay") else version


def _same(record: Record, *names: str) -> bool:
    """Whether parts of the environment are those that made the Record."""
    now, then = environment(), record.get("environment")
    return isinstance(then, Mapping) and all(then.get(name) == now.get(name) for name in names)


class _Comparing:
    """Walks two contents side by side and counts what it looked at."""

    def __init__(self, digits: float = DIGITS, *, words: bool = True) -> None:
        self._digits, self._words, self.values = digits, words, 0

    def compared(self, stored: object, again: object, path: str, within: float = 0.0) -> Iterator[Mismatch]:
        """Every place where they differ; what only the computed side has is not compared, but entries of lists are.

        Reals may differ by their last digits, or by `within`.
        """
        if isinstance(stored, Mapping) and isinstance(again, Mapping):
            if "stored_value" in stored:
                yield from consistency_checks.check_value(stored, path)
            for name, part in stored.items():
                here = f"{path}.{visible(name)}"
                if name not in again:
                    yield Mismatch(path=here, stored=part, recomputed=None, why="not computed")
                elif self._words or name not in WORDS:
                    yield from self.compared(part, again[name], here, self._within(again, name))
            return
        if isinstance(stored, (list, tuple)) and isinstance(again, (list, tuple)):
            if len(stored) != len(again):
                yield Mismatch(path=path, stored=len(stored), recomputed=len(again), why="another number of entries")
            for place, (one, other) in enumerate(zip(stored, again, strict=False)):
                yield from self.compared(one, other, f"{path}[{place}]")
            return
        self.values += 1
        if not self._alike(stored, again, within, exact=path.startswith("tallies")):
            yield Mismatch(path=path, stored=stored, recomputed=again, why="computed again from the tallies")

    def _within(self, again: Mapping[str, Any], name: str) -> float:
        """By how much a number of an entry may differ; below 0 where it must be equal, as a quotient of counts."""
        if name not in ENDS:
            return 0.0
        if name == "value" and again.get("numerator") is not None:
            return -1.0
        derived = name != "value" and str(again.get("interval")).startswith(DERIVED)
        reals = [abs(one) for one in map(again.get, ENDS) if isinstance(one, float)]
        return (CLOSE if derived else self._digits) * max(reals, default=0.0)

    def _alike(self, stored: object, again: object, within: float, *, exact: bool) -> bool:
        if type(stored) is type(again) and stored == again:
            return True
        if exact or within < 0:
            return False
        if not (isinstance(stored, float) and isinstance(again, float)):
            return False
        return math.isclose(stored, again, rel_tol=self._digits, abs_tol=within)


def referred(record: Mapping[str, Any]) -> Iterator[tuple[str, object, object]]:
    """Path, what a control says of a comparison, and what it should be, by the one in this Record or by its tallies."""
    plan, controls = record.get("plan"), record.get("controls")
    own = plan.get("split") if isinstance(plan, Mapping) else None
    for i, control in enumerate(controls if isinstance(controls, list) else ()):
        told = control.get("facts") if isinstance(control, Mapping) else None
        for split, facts in told.items() if isinstance(told, Mapping) else ():
            path = f"controls[{i}].facts.{visible(split)}"
            if not isinstance(facts, Mapping):
                continue
            if isinstance(facts.get("comparison"), str) and split == own:
                yield f"{path}.comparison", facts["comparison"], _known(record)
            channels = facts.get("by_channel")
            for channel, stored in channels.items() if isinstance(channels, Mapping) else ():
                if isinstance(stored, Mapping):
                    yield f"{path}.by_channel.{visible(channel)}.findings", stored.get("findings"), _again(stored)


def _known(record: Mapping[str, Any]) -> str:
    try:
        first = next(comparison_records(record))
        return comparison_digest(first, first["findings"])
    except (*BROKEN, StopIteration) as error:
        return f"no comparison that can be read: {_said(error)}"


def _again(stored: Mapping[str, Any]) -> object:
    try:
        return [one.to_json() for one in ByChannel.from_json(stored).answer.findings]
    except BROKEN as error:
        return f"cannot be computed again: {_said(error)}"


def _said(error: Exception) -> str:
    return visible(error.what if isinstance(error, AssayError) else f"{type(error).__name__}: {error}")
