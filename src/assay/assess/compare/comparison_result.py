# SPDX-License-Identifier: Apache-2.0
"""What comparisons of all tasks share: findings by name, places in a ranking, and the frame of their Records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from assay.assess.environment import environment
from assay.assess.record.record import VERSION, Record, open_tallies, sealed
from assay.assess.record.report_formats import Result
from assay.core.errors import PlanError, unknown_choice
from assay.core.text import listed
from assay.inference.estimates import real_to_json
from assay.tally.base import count_to_json, digest
from assay.tally.census import Census

if TYPE_CHECKING:
    from assay.inference.estimates import Estimate
    from assay.inference.findings import Finding

PAIR: Final = 2
OF_MARGIN: Final = ("non_inferiority", "equivalence")
"""Tests that show a model to be good enough, not to be ahead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A model in the ranking: its value, and the models it is ahead of by more than chance."""

    model: str
    value: float
    measure: str
    ahead_of: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {**asdict(self), "value": real_to_json(self.value), "ahead_of": list(self.ahead_of)}


class ComparisonResult(Result):
    """Findings about several models on the same test data."""

    def __init__(
        self,
        *,
        models: tuple[str, ...],
        census: Census,
        notes: tuple[str, ...] = (),
        data: Mapping[str, Any] | None = None,
        found_in: Mapping[str, Any] | None = None,
    ) -> None:
        self.models, self.census, self.notes = models, census, notes
        self._data, self._environment = dict(data or {}), dict(found_in or environment())

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding."""
        raise NotImplementedError

    @property
    def estimates(self) -> dict[str, list[Estimate]]:
        """The values of each model with their intervals."""
        raise NotImplementedError

    @property
    def ranking(self) -> list[Place]:
        """The models from best to worst."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Finding]:
        """The findings."""
        return iter(self.findings)

    def __len__(self) -> int:
        """How many findings there are."""
        return len(self.findings)

    def __getitem__(self, name: str | tuple[str, ...]) -> Finding:
        """A finding by test ("mcnemar"), or by what it is about ("recall"); with three models also by pair.

        c["mcnemar"], c["recall"], c["mcnemar", "A", "B"]
        """
        wanted, *models = (name,) if isinstance(name, str) else name
        matches = [one for one in self.findings if wanted in self._words(one)]
        matches = [one for one in matches if not models or set(models) == set(one.models)]
        if not matches:
            known = list(dict.fromkeys(word for one in self.findings for word in self._words(one)))
            what, shown = f"there is no finding {name!r}", listed(known, most=20)
            fix = "ask for one of the known ones"
            raise unknown_choice(wanted, known, what, code="test-unknown", known=shown, fix=fix)
        pair = matches[0].models
        if len({one.models for one in matches}) > 1 and not models:
            shown = "; ".join(" and ".join(one.models) for one in matches)
            fix = f"name the pair, such as {' and '.join(pair)}: c[{wanted!r}, {pair[0]!r}, {pair[-1]!r}]"
            raise PlanError("test-ambiguous", f"{wanted!r} was asked of several pairs", known=shown, fix=fix)
        return matches[0]

    def _words(self, finding: Finding) -> tuple[str, ...]:
        """The words a finding can be asked for by."""
        return finding.about, finding.test

    def _ranked(self, measure: str, value: Mapping[str, float], about: Sequence[str], *, high: bool) -> list[Place]:
        """The models by their values, each with those that a finding about some of these words puts behind it."""
        ahead: dict[str, list[str]] = {model: [] for model in value}
        for finding in self.findings:
            if len(finding.models) != PAIR or finding.test.endswith(OF_MARGIN):
                continue
            if finding.significant and finding.about in about:
                a, b = finding.models
                better = (value[a] > value[b]) == high
                ahead[a if better else b].append(b if better else a)
        order = sorted(value, key=lambda model: -value[model] if high else value[model])
        return [Place(model=m, value=value[m], measure=measure, ahead_of=tuple(dict.fromkeys(ahead[m]))) for m in order]

    def _recorded(
        self,
        *,
        task: str,
        plan: Mapping[str, Any],
        tallies: Mapping[str, object],
        errata: set[str],
        **own: Any,  # noqa: ANN401
    ) -> Record:
        """The Record; `own` are parts that only some comparisons have."""
        plan = {"given": "ad hoc", **plan, "data": self._data}
        content: dict[str, Any] = {
            "assay": VERSION,
            "kind": "comparison",
            "task": task,
            "samples": count_to_json(self.census.scored),
            "rows": self.census.to_json(),
            "labels": [],
            "positive": None,
            "models": list(self.models),
            "estimates": [{"model": m, **one.to_json()} for m, every in self.estimates.items() for one in every],
            "answers": [],
            "findings": [one.to_json() for one in self.findings],
            "ranking": [place.to_json() for place in self.ranking],
            "test_data": {"pairing": self._data.get("pairing"), "digest": None},
            "controls": [],
            "conformity": {"overall": "conformity not demonstrated", "rows": []},
            "decisions": [],
            "tallies": tallies,
            "plan": {**plan, "digest": digest(plan)},
            "environment": self._environment,
            "errata": sorted(errata),
            "notes": list(self.notes),
            "digests": {"tallies": digest(tallies), "files": self._data.get("files", {})},
        }
        return Record(sealed({**content, **own}))


@contextmanager
def read_whole(record: Record) -> Iterator[dict[str, Any]]:
    """What every comparison takes from its Record, whose tallies must be the ones it was written with."""
    with open_tallies(record):
        rows, plan = record["rows"], record["plan"]
        yield {
            "models": tuple(record["models"]), "notes": tuple(record["notes"]), "data": plan["data"],
            "census": Census(**{part: rows[part] for part in ("read", "scored", "excluded", "unmatched")}),
            "found_in": record["environment"],
        }  # fmt: skip
