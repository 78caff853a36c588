# SPDX-License-Identifier: Apache-2.0
"""Assessments with scores: predictions made of them where none are given, and thresholds chosen on other rows."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from assay.assess.arguments import ScoreSettings
from assay.assess.scores.score_notes import demand_range, score_notes
from assay.core.errors import PlanError, RowsError, unknown_choice
from assay.core.labels import Label, in_order
from assay.core.text import counted, listed, quoted, visible
from assay.rows.label_types import EXACT, Classes, classes, kind_of
from assay.rows.score_columns import ScoreColumns, demand_kind, labels_by_score, score_columns
from assay.rows.scored_source import (
    Rescaled,
    as_chances,
    by_largest,
    by_threshold,
    log_odds,
    ranked_last,
    renormalised,
    sound,
)
from assay.rows.source import FrameSource, Roles, Source
from assay.tally.by_group import MISSING, free_name
from assay.tally.labels.array_counts import count
from assay.tally.labels.label_cells import Cells, Counted
from assay.tally.scores.ranked_table import Ranked
from assay.tally.scores.row_probabilities import RowScores
from assay.tally.scores.score_aggregation import count_ranks, count_row_scores, count_scores
from assay.tally.scores.score_tally import Scores, UnitScores, Wanted
from assay.tasks.classification.measures import threshold_rules
from assay.tasks.classification.measures.threshold_rules import Chosen
from assay.tasks.classification.score_part import UNCALLED, ScorePart, Threshold

if TYPE_CHECKING:
    from assay.assess.assess import RowRequest

TWO: Final = 2
DEFAULT_RULE: Final = "youden"
Levels: TypeAlias = dict[str, dict[Label, ScorePart]]
Rule: TypeAlias = Callable[[Ranked], Chosen]
KNOWN: Final = (
    "youden, equal error, f1 (f2, f0.5 ...), recall 0.9, specificity 0.9, precision 0.9,"
    " cost 1:5 (of a false positive : of a miss)"
)
_NUMBER: Final = r"(\d+(?:\.\d*)?|\.\d+)"
_TARGET: Final = re.compile(rf"(recall|specificity|precision)(?:\s*(?:>=|=)\s*|\s+){_NUMBER}")
_COST: Final = re.compile(rf"cost(?:\s*=\s*|\s+){_NUMBER}\s*:\s*{_NUMBER}")
_F: Final = re.compile(rf"f\s*{_NUMBER}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A source whose rows have a prediction and a sound score, counted by label."""

    source: Source
    counted: Counted
    lost: int
    labels: Sequence[Label] | None
    """The declared classes, or those of the score columns."""
    score_labels: tuple[Label, ...] | None
    """The class of each score column; None for the one of the positive class."""
    notes: tuple[str, ...]
    decided: str | None
    request: RowRequest
    """What was asked, in labels of the data's own type."""
    thresholds: tuple[Threshold, ...] = ()
    last: int | None = None
    """Rows without a score that were ranked below all others, where that was asked for."""
    rescaled: Rescaled | None = None
    """Rows whose probabilities were divided by their sum, where that was asked for."""
    chosen_on: Scores | None = None
    """The scores that a threshold was chosen on, where those are of other rows."""

    def tallied(
        self, settled: Classes, level: float
    ) -> tuple[ScorePart, Levels, dict[str | None, UnitScores], tuple[str, ...]]:
        """The scores of all rows, of every level of every factor, and of both unit by unit; and notes about them."""
        part, levels, by_unit = _count_parts(self, settled)
        demand_range(part, self.source.where)
        return part, levels, by_unit, (*self.notes, *score_notes(part, settled.positive, level))


def rule(text: str) -> Rule:
    """The rule a text names: youden, equal error, f1, recall 0.9, cost 1:5.

    >>> import numpy as np
    >>> t = Ranked(score=np.array([0.2, 0.5, 0.9]), pos=np.array([0, 1, 1]), neg=np.array([2, 1, 0]))
    >>> rule("recall 1")(t).threshold
    0.5
    """
    plain = text.strip().lower().replace("_", " ").replace("-", " ")
    if plain in ("youden", "equal error"):
        return cast("Rule", getattr(threshold_rules, plain.replace(" ", "_")))
    if match := _F.fullmatch(plain):
        return partial(threshold_rules.largest_f, beta=float(match[1]))
    if match := _COST.fullmatch(plain):
        return partial(threshold_rules.cost_ratio, cost_fp=float(match[1]), cost_fn=float(match[2]))
    if match := _TARGET.fullmatch(plain):
        return partial(getattr(threshold_rules, f"target_{match[1]}"), **{match[1]: float(match[2])})
    words = ("youden", "equal error", "f1", "recall 0.9", "specificity 0.9", "precision 0.9", "cost 1:5")
    what = f'"{visible(text)}" is neither a number nor a rule for a threshold'
    raise unknown_choice(plain, words, what, where="threshold", known=KNOWN, fix="write one of these")


def plain_threshold(given: object) -> float | str | None:
    """A threshold as a plain number, whatever library it is of; rules stay as they are.

    >>> from decimal import Decimal
    >>> plain_threshold(Decimal("0.5")), plain_threshold("youden")
    (0.5, 'youden')
    """
    if given is None or isinstance(given, str):
        return given
    whole = isinstance(given, int) and abs(given) > EXACT
    if isinstance(given, (Real, Decimal)) and not isinstance(given, bool) and not whole and math.isfinite(given):
        return float(given)
    what, known = f"{visible(repr(given))} is not a threshold", "a finite number, or a rule"
    raise PlanError("option-unknown", what, where="threshold", known=known, fix="give a number such as 0.5")


def demand_scores(columns: ScoreColumns | None, settings: ScoreSettings, threshold: object) -> None:
    """Check statements about scores, which need scores."""
    demand_kind(settings.kind)
    threshold_from = settings.threshold_from
    for name, given in (("threshold", threshold), ("threshold_from", threshold_from)):
        if columns is None and given is not None:
            what = f"{name} is given, but no scores are"
            raise PlanError("role-missing", what, where="score", fix="give score=... (--score)")
    if threshold_from is not None and not (threshold is None or isinstance(threshold, str)):
        fix = 'give one of them, or a rule such as threshold="youden"'
        raise PlanError("role-clash", "both a threshold and rows to choose it on are given", where="threshold", fix=fix)
    if settings.operating_points and columns is None:
        raise PlanError("role-missing", "operating points need scores", where="score", fix="give score=... (--score)")


def validation(request: RowRequest, data: object) -> Callable[[], Source] | None:
    """Opens the rows a threshold is chosen on: a table with the same columns, or truth and score as columns."""
    given, roles = request.scores.threshold_from, request.roles
    if given is None:
        return None
    if data is not None:
        return lambda: request.open(given, Roles(truth=roles.truth, predicted=None, score=roles.score))
    if not isinstance(given, Mapping) or set(given) != {"truth", "score"}:
        fix = 'without data=, give threshold_from={"truth": ..., "score": ...}'
        raise PlanError("role-clash", "threshold_from holds no truth and score", where="threshold_from", fix=fix)
    return lambda: request.open(None, Roles(truth=given["truth"], predicted=None, score=score_columns(given["score"])))


def decided_scores(source: Source, request: RowRequest, elsewhere: Callable[[], Source] | None) -> Decided:
    """A source with predictions and thresholds settled: stated, chosen on other rows, or (if accepted) on these."""
    further = tuple(Threshold(value=float(one)) for one in request.scores.operating_points)
    if isinstance(request.threshold, (int, float)):
        stated = Threshold(value=float(request.threshold))
        return replace(decide(source, request, threshold=stated.value), thresholds=(stated, *further))
    if request.threshold is None and elsewhere is None:
        return replace(decide(source, request, threshold=None), thresholds=further)
    text = request.threshold or DEFAULT_RULE
    rule(text)  # a rule that does not exist is told before any row is read
    if elsewhere is not None:
        other = elsewhere()
        try:
            uncalled = replace(request, roles=replace(request.roles, predicted=None))
            chosen, scores = _chosen(decide(other, uncalled, threshold=0.0), text)
        finally:
            other.close()
        decided = replace(decide(source, request, threshold=chosen.value), chosen_on=scores)
        return replace(decided, thresholds=(chosen, *further))
    if request.scores.accept_optimistic_threshold:
        chosen = replace(_chosen(decide(source, request, threshold=0.0), text)[0], optimistic=True)
        return replace(decide(source, request, threshold=chosen.value), thresholds=(chosen, *further))
    what = f"the threshold is to be chosen by {quoted(text)}, but no rows are given to choose it on"
    raise _optimistic(what)


def _optimistic(what: str) -> PlanError:
    return PlanError(
        "threshold-optimistic",
        what,
        where="threshold",
        fix="give other rows, scores=assay.ScoreSettings(threshold_from=...) (--threshold-from FILE);"
        " or leave threshold_from out and accept that the figures flatter: accept_optimistic_threshold=True"
        " (--accept-optimistic-threshold)",
    )


def _chosen(decided: Decided, text: str) -> tuple[Threshold, Scores]:
    """The threshold a rule chooses on some rows, and their scores."""
    truth = {cell[0] for cell in decided.counted.cells}
    if None in truth and decided.request.missing_score != "drop":
        what = "some rows a threshold is to be chosen on have no true label"
        fix = 'complete the labels, or leave these rows out: missing="drop" (--missing drop)'
        raise RowsError("missing-label", what, where=decided.source.where, fix=fix)
    known = cast("set[Label]", truth - {None})
    settled = _two_classes(known, decided.labels, decided.request.in_labels_of(known), decided.source)
    scores = _count_parts(decided, settled)[0].whole
    found_by_rule = rule(text)(scores.one_vs_rest(cast("Label", settled.positive)))
    place = visible(
        Path(decided.source.where).name if isinstance(decided.source, FrameSource) else decided.source.where
    )
    reason = f"{found_by_rule.reason} ({visible(text)}) on {place}, {counted(scores.rows, 'row')}"
    return Threshold(value=found_by_rule.threshold, chosen=reason), scores


def decide(source: Source, request: RowRequest, *, threshold: float | None) -> Decided:
    """Count the labels of a source, with predictions made of its scores where they are not given."""
    single, drop = request.columns.single, request.missing_score == "drop"
    source, last = ranked_last(source) if request.missing_score == "worst" else (source, None)
    source, lost = sound(source, "any", single=single, drop=drop)
    called = request.roles.predicted is not None
    how = None if called else "threshold" if threshold is not None else UNCALLED if single else "largest"
    ties, place = 0, 0
    if how == "threshold" and not single:
        place = _positive_column(source, request)
    if how == "largest":  # of the scores as given: a quotient may round two of them to one
        source, ties = by_largest(source)
    source, rescaled = renormalised(source, drop=drop) if request.scores.renormalise else (source, None)
    source = source if request.link is None else log_odds(source)
    if how in ("threshold", UNCALLED):  # no score reaches infinity: nothing is called, and nothing is said of calls
        source = by_threshold(source, math.inf if threshold is None else threshold, place)
    counts, truth = _count_truth(source)
    kind_of(truth, where=source.where, locate=source.locate, role="truth")
    request = request.in_labels_of(truth)
    labels = None if single else labels_by_score(request.columns, truth, request.labels)
    if request.scores.kind == "probability":  # once the classes are known: columns that are too few do not add up
        sound(source, request.scores.kind, single=single, drop=drop)
    if how is not None:
        counts = _named(counts, _called(how, truth, labels, request, source))
    share = 100 * ties / max(1, counts.rows)
    tied = f"{counted(ties, 'row')} ({share:.3g} %) with several largest scores: the first of these classes was taken"
    return Decided(
        source=source, counted=counts, lost=lost, request=request, decided=how, last=last, rescaled=rescaled,
        labels=request.labels if labels is None or request.labels is not None else in_order(labels),
        score_labels=labels, notes=(tied,) if ties else (),
    )  # fmt: skip


def _count_truth(source: Source) -> tuple[Counted, set[Label]]:
    """Rows by labels, and the true labels there are."""
    counts = count(source)
    return counts, {cell[0] for cell in counts.cells if cell[0] is not None}


def _positive_column(source: Source, request: RowRequest) -> int:
    """Which of two columns a threshold speaks of: that of the positive class."""
    if len(request.columns.columns) != TWO:
        what = f"a threshold fits one score column, and there are {len(request.columns.columns)}"
        fix = "leave the threshold out: the class with the largest score is then called"
        raise PlanError("score-columns", what, where=source.where, fix=fix)
    truth = _count_truth(by_threshold(source, math.inf))[1]  # one look at the truth, whose labels name the columns
    request = request.in_labels_of(truth)
    labels = labels_by_score(request.columns, truth, request.labels)
    return labels.index(_called("threshold", truth, labels, request, source)[1])


def _called(
    how: str, truth: set[Label], labels: tuple[Label, ...] | None, request: RowRequest, source: Source
) -> tuple[Label, ...]:
    """The labels that stand for the codes of predictions made of scores."""
    if how == "largest":
        return cast("tuple[Label, ...]", labels)
    settled = _two_classes(truth, request.labels if request.labels is not None else labels, request, source)
    return next(x for x in settled.labels if x != settled.positive), cast("Label", settled.positive)


def _two_classes(truth: set[Label], declared: Sequence[Label] | None, request: RowRequest, source: Source) -> Classes:
    """The classes of some rows that have no predictions, which must be two."""
    settled = classes(truth, set(), declared, request.positive, where=source.where, locate=source.locate)
    demand_two(settled)
    return settled


def demand_two(settled: Classes) -> None:
    """One column of scores serves two classes."""
    if settled.positive is None:
        what = f"there is one score column and there are {counted(len(settled.labels), 'class', 'classes')}"
        fix = "give one column for each class: score={label: column} (--score LABEL=COLUMN)"
        raise PlanError("score-columns", what, where="score", known=listed(settled.labels), fix=fix)


def _named(counts: Counted, called: tuple[Label, ...]) -> Counted:
    """Codes of predictions as labels."""

    def named(cells: Cells) -> Cells:
        return {(*cell[:-1], called[cast("int", cell[-1])]): held for cell, held in cells.items()}

    return replace(
        counts,
        cells=named(counts.cells),
        by_factor={name: named(cells) for name, cells in counts.by_factor.items()},
        units=None if counts.units is None else counts.units.with_predicted(called),
        within={name: table.with_predicted(called) for name, table in counts.within.items()},
    )


def _count_parts(decided: Decided, settled: Classes) -> tuple[ScorePart, Levels, dict[str | None, UnitScores]]:
    if decided.score_labels is None:
        demand_two(settled)
        positive = cast("Label", settled.positive)
        other = next(x for x in settled.labels if x != positive)
        wanted = Wanted(labels=(other, positive), scored=(positive,), columns=(0,))
    else:
        places = {label: i for i, label in enumerate(decided.score_labels)}
        if lost := [x for x in settled.labels if x not in places]:
            what, known = f"no score column is given for the class {quoted(lost[0])}", listed(decided.score_labels)
            raise PlanError("score-columns", what, where="score", known=known, fix="give one column for each class")
        columns = tuple(places[label] for label in settled.labels)
        wanted = Wanted(labels=settled.labels, scored=settled.labels, columns=columns)
    request = decided.request
    wanted = replace(
        wanted,
        probability=request.scores.kind == "probability",
        exact=request.scores.exact_scores,
        followed=settled.positive if request.link is None else None,
    )
    tallies = count_scores(decided.source, wanted)
    if decided.chosen_on is not None and decided.chosen_on == tallies.whole:
        what = "the threshold was chosen on the very rows that are assessed: truth and scores are the same"
        raise _optimistic(what)
    part = ScorePart(
        kind=request.scores.kind, whole=tallies.whole, stored=decided.source.stored, link=request.link,
        ranks=count_ranks(decided.source, wanted) if decided.score_labels is not None else None,
        by_row=_by_row(decided, wanted) if settled.positive is None else None, thresholds=decided.thresholds,
        decided=decided.decided, last=decided.last, rescaled=decided.rescaled,
    )  # fmt: skip
    groups: Levels = {}
    for name, levels in tallies.by_factor.items():
        missing = free_name(MISSING, levels)
        groups[name] = {missing if level is None else level: part.level(tally) for level, tally in levels.items()}
    return part, groups, tallies.by_unit


def _by_row(decided: Decided, wanted: Wanted) -> RowScores | None:
    """What the probabilities of each row say together, where there are some."""
    if decided.request.link is None:
        return count_row_scores(decided.source, wanted) if wanted.probability else None
    return count_row_scores(as_chances(decided.source), replace(wanted, probability=True))
