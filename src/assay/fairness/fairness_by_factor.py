# SPDX-License-Identifier: Apache-2.0
"""Fairness of an assessment: criteria, gaps and ratios by factor, tested as one family and held to tolerances."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from assay.core.errors import unknown_choice
from assay.core.labels import Label
from assay.core.text import listed, quoted
from assay.fairness.conditional_parity import conditional_gap
from assay.fairness.disparity import FAIL, INCONCLUSIVE, PASS, Disparity, Form, judge
from assay.fairness.fairness_criteria import CRITERIA, FOUR_FIFTHS, Criterion, find_criterion, refuse_criterion
from assay.fairness.feasibility import Feasibility, Unawareness, check_feasibility, check_unawareness, flip_test
from assay.fairness.gaps import combine, measure_gap
from assay.fairness.group_statistics import CELLS, NO_ROWS, GroupValue, value_of_measure
from assay.fairness.score_balance import (
    calibration_gap,
    calibration_lines,
    find_edges,
    mean_score,
    read_scores,
    roc_lines,
)
from assay.fairness.settings import FairnessSettings
from assay.inference.estimates import Estimates
from assay.inference.multiplicity import holm

if TYPE_CHECKING:
    from assay.tally.labels.one_vs_rest import Binary
    from assay.tally.scores.ranked_table import Ranked

OPERATOR: Final = re.compile(r"\s*(gap|ratio)\s*\(\s*(.+?)\s*\)\s*")


class Fairness(dict[str, "FactorFairness"]):
    """By factor: criteria, gaps and ratios, from the estimates and the tally of each level of each factor of any task.

    `measures` are those whose gaps a Record lists where the task has no positive class.
    """

    def __init__(
        self,
        groups: Mapping[str, Mapping[Label, Estimates]],
        tallies: Mapping[str, Mapping[Label, object]],
        *,
        level: float = 0.95,
        measures: Sequence[str] = (),
        settings: FairnessSettings | None = None,
    ) -> None:
        self.settings, self.level = settings or FairnessSettings(), level
        for name, levels in groups.items():
            self[name] = FactorFairness(
                name, levels, tallies[name], level=level, measures=measures, settings=self.settings
            )

    def __missing__(self, factor: str) -> NoReturn:
        """Refuse a factor that is not there."""
        what, known = f"there is no group {quoted(factor)}", listed(self) or "none: no group was given"
        fix = "give it: group=... (--group)"
        raise unknown_choice(factor, self, what, code="missing-column", known=known, fix=fix)

    @cached_property
    def listed(self) -> list[Disparity]:
        """What a Record lists: every criterion of every factor, p values corrected over all of them (Holm)."""
        disparities = [disparity for factor in self.values() for disparity in factor.listed()]
        tested = [i for i, d in enumerate(disparities) if d.equality is not None and not _repeats(d)]
        corrected = holm([cast("Any", disparities[i].equality).p for i in tested])
        by_test = {(disparities[i].factor, disparities[i].name): p for i, p in zip(tested, corrected, strict=True)}
        return [_adjust(d, by_test, len(tested)) for d in disparities]

    @property
    def judged(self) -> list[Disparity]:
        """Those that a tolerance is stated for."""
        return [disparity for disparity in self.listed if disparity.verdict is not None]

    @property
    def verdict(self) -> str | None:
        """Fail if any fails, else inconclusive if any is, else pass; None where nothing is judged."""
        words = {disparity.verdict for disparity in self.judged}
        return next((word for word in (FAIL, INCONCLUSIVE, PASS) if word in words), None)

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "level": self.level,
            "minimum": self.settings.minimum,
            "reason": self.settings.reason,
            "verdict": self.verdict,
            "criteria": [disparity.to_json() for disparity in self.listed],
            "factors": {name: factor.to_json() for name, factor in self.items()},
        }


class FactorFairness(Mapping[str, Disparity]):
    """Criteria, gaps and ratios of one factor, computed when asked for."""

    def __init__(
        self,
        factor: str,
        groups: Mapping[Label, Estimates],
        tallies: Mapping[Label, object],
        *,
        level: float,
        measures: Sequence[str],
        settings: FairnessSettings,
    ) -> None:
        self.factor, self.level, self.settings = factor, level, settings
        self._groups, self._tallies, self._measures = groups, tallies, tuple(measures)
        self._disparities: dict[str, Disparity] = {}

    def __getitem__(self, name: str) -> Disparity:
        """A criterion, `gap(measure)`, `ratio(measure)` or `four_fifths`."""
        if name not in self._disparities:
            self._disparities[name] = self._judge(name, self._measure(name))
        return self._disparities[name]

    def __iter__(self) -> Iterator[str]:
        """What a Record lists of this factor."""
        return iter(self._names)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._names)

    def listed(self) -> list[Disparity]:
        """What a Record lists of this factor."""
        return [self[name] for name in self._names]

    @cached_property
    def _names(self) -> tuple[str, ...]:
        names: list[str] = []
        if self.binary:
            names += [c.name for c in CRITERIA if c.needs == "counts"]
            if self.tables:
                scored = [c.name for c in CRITERIA if c.needs == "scores"]
                names += scored if self._probability else [name for name in scored if name != "well_calibration"]
        names += [] if self.binary else [f"gap({measure})" for measure in self._measures]
        names += ["conditional_statistical_parity"] if self.settings.conditions.get(self.factor) else []
        names += ["causal_discrimination"] if self.factor in self.settings.flips else []
        return tuple(dict.fromkeys([*names, *map(canonical_name, self.settings.criteria)]))

    @cached_property
    def binary(self) -> dict[Label, Binary]:
        """The four cells of each group, where the task has a positive class."""
        cells = {}
        for level, tally in self._tallies.items():
            positive = getattr(tally, "positive", None)
            if positive is not None:
                cells[level] = cast("Any", tally).confusion.binary(positive)
        return cells

    @cached_property
    def tables(self) -> dict[Label, Ranked]:
        """The scores of each group, where there are any."""
        found = {level: read_scores(tally) for level, tally in self._tallies.items()}
        return {level: table for level, table in found.items() if table is not None}

    @property
    def _probability(self) -> bool:
        return bool(self.tables) and cast("Any", next(iter(self._tallies.values()))).scores.probability

    def _rows(self, level: Label) -> int:
        return cast("Any", self._tallies[level]).rows if level in self._tallies else 0

    def _values(self, statistic: str) -> list[GroupValue]:
        """The statistic of every group, declared ones without rows among them."""
        levels = list(dict.fromkeys([*self._groups, *self.settings.declared.get(self.factor, ())]))
        return [replace(self._value(statistic, level), judged=self._enough(level)) for level in levels]

    def _enough(self, level: Label) -> bool:
        return self._rows(level) >= self.settings.minimum

    def _value(self, statistic: str, level: Label) -> GroupValue:
        rows = self._rows(level)
        if level not in self._tallies:
            return GroupValue(level=level, rows=0, value=None, reason=NO_ROWS)
        if statistic in CELLS:
            weighted = cast("Any", self._tallies[level]).confusion.weighted
            return CELLS[statistic](self.binary[level], level, rows, weighted=weighted)
        if statistic.startswith("mean_score_of_"):
            return mean_score(self.tables[level], level, rows, positive=statistic.endswith("positives"))
        return value_of_measure(self._groups[level], statistic, level, rows)

    def _measure(self, name: str) -> Disparity:
        """The gap or ratio that a name asks for, not yet judged."""
        if name == "four_fifths":
            return replace(self._gap("predicted_positive_rate", "ratio", "rows"), name=name)
        if match := OPERATOR.fullmatch(name):
            return replace(self._gap(match[2], cast("Form", match[1])), name=name)
        criterion = find_criterion(name)
        if criterion is None:
            raise refuse_criterion(name)
        if criterion.name == "fairness_feasibility":
            return replace(self._gap("prevalence", "gap", "rows"), name=criterion.name)
        if reason := self._why_not(criterion):
            return Disparity(name=criterion.name, factor=self.factor, value=None, level=self.level, reason=reason)
        return self._criterion(criterion)

    def _why_not(self, criterion: Criterion) -> str:
        """Why a criterion cannot be asked of this factor; empty where it can."""
        if criterion.name == "unawareness":
            return "it is a statement about features, not a gap: see `unawareness`"
        if criterion.name == "causal_discrimination":
            return "" if self.factor in self.settings.flips else "no predictions with the group changed were given"
        if not self.binary:
            return "the task has no positive class"
        if criterion.needs == "scores" and not self.tables:
            return "there are no scores"
        if criterion.needs == "strata" and not self.settings.conditions.get(self.factor):
            return "no factor to condition on was stated"
        return ""

    def _criterion(self, criterion: Criterion) -> Disparity:
        name = criterion.name
        if name == "causal_discrimination":
            return flip_test(self.factor, *self.settings.flips[self.factor], self.level)
        if name == "conditional_statistical_parity":
            return self._conditional()
        if name in ("calibration_parity", "well_calibration"):
            return self._calibration(name)
        families = len(criterion.statistics)
        parts = {s: self._gap(s, "gap", word, families=families) for s, word in criterion.statistics.items()}
        return combine(name, parts, self.level) if families > 1 else replace(*parts.values(), name=name)

    def _gap(self, statistic: str, form: Form, denominator: str = "", families: int = 1) -> Disparity:
        return measure_gap(
            f"{form}({statistic})", self.factor, self._values(statistic), self.level, form=form, families=families,
            reference=self.settings.reference.get(self.factor), denominators=(denominator,) if denominator else (),
        )  # fmt: skip

    def _conditional(self) -> Disparity:
        rate = "predicted_positive_rate"
        parts = {}
        for condition, strata in self.settings.conditions[self.factor].items():
            cells = {
                stratum: {level: value_of_measure(own, rate, level, int(own[rate].n)) for level, own in levels.items()}
                for stratum, levels in strata.items()
            }
            parts[f"given {condition}"] = conditional_gap(self.factor, condition, cells, self.level)
        first, *others = parts.values()
        return combine("conditional_statistical_parity", parts, self.level) if others else first

    def _calibration(self, name: str) -> Disparity:
        parity = calibration_gap(
            self.factor,
            self.tables,
            self.level,
            judged={level: self._enough(level) for level in self.tables},
            probability=self._probability,
            bins=self.settings.bins,
        )
        if name == "calibration_parity":
            return parity
        errors = self._gap("expected_calibration_error", "gap", "rows")
        return replace(
            combine(name, {"calibration_parity": parity, "gap(expected_calibration_error)": errors}, self.level),
            equality=parity.equality,
        )

    def _judge(self, name: str, disparity: Disparity) -> Disparity:
        """Held to the tolerance that is stated for it."""
        tolerance = self.settings.tolerance
        if name == "four_fifths":
            return judge(disparity, FOUR_FIFTHS)
        if canonical_name(name) not in set(map(canonical_name, self.settings.criteria)):
            return disparity
        if isinstance(tolerance, Mapping):
            tolerance = {canonical_name(own): limit for own, limit in tolerance.items()}.get(canonical_name(name))
        return disparity if tolerance is None else judge(disparity, tolerance)

    @cached_property
    def feasibility(self) -> Feasibility | None:
        """Which criteria cannot hold together here."""
        return check_feasibility(self.factor, self.binary, self["gap(prevalence)"]) if self.binary else None

    @cached_property
    def unawareness(self) -> Unawareness | None:
        """Whether the features name the group; None where no features were stated."""
        if self.settings.features is None:
            return None
        return check_unawareness(self.factor, self.settings.features, self.settings.proxies.get(self.factor, ()))

    def to_json(self) -> dict[str, object]:
        """What a Record keeps of the factor beside its criteria: notes and the curves of the groups."""
        out: dict[str, object] = {}
        if self.feasibility is not None:
            out["feasibility"] = self.feasibility.to_json()
        if self.unawareness is not None:
            out["unawareness"] = self.unawareness.to_json()
        if self.binary:
            out["fn_over_fp"] = [g.to_json(self.level) for g in self._values("fn_over_fp")]
        if self.tables:
            out["roc"] = roc_lines(self.tables)
            edges = find_edges(list(self.tables.values()), probability=self._probability, bins=self.settings.bins)
            if not isinstance(edges, str):
                out["calibration"] = calibration_lines(self.tables, edges)
        return out


def canonical_name(name: str) -> str:
    """The name of a criterion by any of its names; `gap(...)` without spaces."""
    criterion = find_criterion(name)
    return criterion.name if criterion is not None else "".join(name.split())


def _repeats(disparity: Disparity) -> bool:
    criterion = find_criterion(disparity.name)
    return criterion is not None and bool(criterion.complement)


def _adjust(disparity: Disparity, by_test: Mapping[tuple[str, str], float], of: int) -> Disparity:
    criterion = find_criterion(disparity.name)
    name = (criterion.complement or criterion.name) if criterion is not None else disparity.name
    p = by_test.get((disparity.factor, name))
    if disparity.equality is None or p is None:
        return disparity
    return replace(disparity, equality=replace(disparity.equality, adjusted=p, of=of))
