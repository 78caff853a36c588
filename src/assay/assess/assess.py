# SPDX-License-Identifier: Apache-2.0
"""From rows to an assessment of classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Literal, cast

from assay.assess.arguments import IntervalSettings, ScoreSettings, demand_own_columns, name_factors, with_settings
from assay.assess.assessment import Assessment
from assay.assess.environment import environment
from assay.assess.provenance import about, file_notes
from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label, in_order, speller
from assay.core.parallel import monotonic
from assay.core.text import counted, quoted
from assay.rows.files.formats import Reading
from assay.rows.label_types import Classes, Locate, classes, kind_of
from assay.rows.open import demand_whole, open_source
from assay.rows.score_columns import demand_mended, score_columns
from assay.rows.source import Crossed, Roles, Source, no_rows
from assay.tally.base import together
from assay.tally.by_group import MISSING, Grouped, free_name, note_like_units
from assay.tally.census import Census
from assay.tally.labels.array_counts import count
from assay.tally.labels.confusion import Confusion
from assay.tally.labels.label_cells import UNIT, Cells, Counted
from assay.tasks.classification import CLASSIFICATION
from assay.tasks.classification.settings import Settings, chosen
from assay.tasks.classification.tally import Classified

if TYPE_CHECKING:
    from assay.assess.scores.score_predictions import Decided
    from assay.measures import Measure
    from assay.rows.limits import Limits
    from assay.rows.score_columns import MissingScore, ScoreColumns
    from assay.rows.scored_source import Link
    from assay.tally.scores.score_tally import UnitScores
    from assay.tasks.classification.cost_matrix import Costs
    from assay.tasks.classification.score_part import ScorePart


@with_settings
def assess(
    *,
    truth: object = None,
    predicted: object = None,
    score: object = None,
    data: object = None,
    positive: Label | None = None,
    labels: Sequence[Label] | None = None,
    group: object = None,
    unit: object = None,
    weight: object = None,
    id: object = None,
    threshold: float | str | None = None,
    level: float = 0.95,
    measures: Iterable[str | Measure] | str | None = None,
    costs: object = None,
    missing: Literal["error", "drop"] = "error",
    engine: str | None = None,
    reading: Reading | None = None,
    limits: Limits | None = None,
    intervals: IntervalSettings | None = None,
    scores: ScoreSettings | None = None,
) -> Assessment:
    """Compute every measure with its interval, from labels, scores or both.

    truth, predicted: the labels, as arrays or as names of columns of `data`
    score: the column of the positive class, or one for each class: a mapping, names of columns, or a matrix
    data: a frame, a path, a database address, or a mapping of columns
    positive, labels: the positive class of two, and all classes in order
    group: columns by which the measures are given again; cross="sex:age" crosses two of them
    unit: what was drawn from the population, where that is not a row: subject, patient, image (also `subject`)
    weight, id: the column of weights, and the one that names each row
    threshold: the score from which a row is called positive, or a rule such as "youden"
    level: the confidence level
    measures: names of measures or families; None means all that fit
    costs: what each mistake costs, {("truth", "predicted"): 5, ...} or a file; asks for mean_cost
    missing: "error", or "drop" to leave out rows without a label and count them
    engine: "duckdb", or the address of a Spark cluster: "spark://host:7077", "sc://host:15002"
    reading, limits, intervals, scores: rare settings; see Reading, Limits, IntervalSettings, ScoreSettings

    >>> a = assess(truth=[1, 1, 0, 0, 1], predicted=[1, 0, 0, 0, 1])
    >>> a["recall"].value, a["recall"].numerator, a["recall"].denominator
    (0.6666666666666666, 2, 3)
    """
    reading, intervals, scores = reading or Reading(), intervals or IntervalSettings(), scores or ScoreSettings()
    settings = Settings(
        wanted=intervals.wanted(level), missing=missing, unknown=reading.unknown, unmatched=reading.unmatched,
        undefined=intervals.undefined, measures=chosen(measures), costs=_read_costs(costs),
    )  # fmt: skip
    _check_labels(truth=truth, predicted=predicted, score=score)
    columns = score_columns(score)
    if data is not None and reading.truth_data is None:
        demand_own_columns(
            {"truth": truth, "predicted": predicted, "weight": weight}, columns, group, {"id": id, "unit": unit}
        )
    if columns is not None or threshold is not None or scores != ScoreSettings():
        from assay.assess.scores.score_predictions import demand_scores, plain_threshold

        threshold = plain_threshold(threshold)
        demand_scores(columns, scores, threshold)
    demand_mended(scores.missing, renormalise=scores.renormalise, kind=scores.kind, columns=columns)
    factors = name_factors(group) | ({} if unit is None else {UNIT: unit})
    crossed = {name: factors.pop(name) for name, column in list(factors.items()) if isinstance(column, Crossed)}
    roles = Roles(truth=truth, predicted=predicted, group=factors, weight=weight, id=id, score=columns)
    request = RowRequest(
        roles=roles, reading=replace(reading, progress=monotonic(reading.progress)), limits=limits, engine=engine,
        labels=labels, positive=positive, settings=settings, scores=scores, threshold=threshold,
    )  # fmt: skip
    source = request.open(data, roles, reading.truth_data)
    try:
        demand_whole(source, labels, spelled=reading.spelled)
        if crossed:
            source = import_module("assay.fairness.crossed_groups").cross_source(source, crossed)
        if columns is None:
            return _assessed(source, count(source), request)
        from assay.assess.scores.score_predictions import decided_scores, validation

        decided = decided_scores(source, request, validation(request, data))
        return _assessed(decided.source, decided.counted, replace(request, labels=decided.labels), decided)
    finally:
        source.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class RowRequest:
    """What was asked of the rows, and of their scores."""

    roles: Roles
    reading: Reading
    limits: Limits | None
    engine: str | None
    labels: Sequence[Label] | None
    positive: Label | None
    settings: Settings
    scores: ScoreSettings
    threshold: float | str | None
    """The threshold, or how it is to be chosen."""

    @property
    def columns(self) -> ScoreColumns:
        """The columns of scores, where there are some."""
        return cast("ScoreColumns", self.roles.score)

    @property
    def missing_score(self) -> MissingScore:
        """What becomes of rows without a score."""
        return self.scores.missing or self.settings.missing

    @property
    def link(self) -> Link | None:
        """How probabilities come from the scores, if they are stated to be logits; a missing one has none."""
        if self.scores.kind != "logit" or self.missing_score == "worst":
            return None
        return "logistic" if self.columns.single else "softmax"

    def open(self, data: object, roles: Roles, truth_data: object = None) -> Source:
        """Open the rows of a table."""
        return open_source(data, roles, self.reading, engine=self.engine, limits=self.limits, truth_data=truth_data)

    def in_labels_of(self, seen: Iterable[Label | None]) -> RowRequest:
        """The same in labels of the data's own type, where labels came as text."""
        if not self.reading.spelled:
            return self
        own, columns = speller(seen), self.roles.score
        columns = None if columns is None else columns.spelled(own)
        return replace(
            self,
            labels=None if self.labels is None else [own(x) for x in self.labels],
            positive=None if self.positive is None else own(self.positive),
            roles=replace(self.roles, score=columns),
        )


def _check_labels(*, truth: object, predicted: object, score: object) -> None:
    """Check that truth is given, and predictions or scores."""
    for role, column in (("truth", truth), ("predicted", predicted)):
        if column is None and (role == "truth" or score is None):
            fix = f"give {role}=..., or a confusion matrix: assay.from_confusion_matrix(..., orientation='rows=truth')"
            raise PlanError("role-missing", f"no {role} column is given", where=role, fix=fix)


def _assessed(source: Source, counted_: Counted, request: RowRequest, decided: Decided | None = None) -> Assessment:
    """Turn counted rows into an assessment."""
    if not counted_.rows:
        raise no_rows(source.where)
    scored, census = _scored_cells(source, counted_, request.settings, 0 if decided is None else decided.lost)
    kinds = {}
    for place, role in enumerate(("truth", "predicted")):
        named = cast("set[Label]", {cell[place] for cell in scored})
        kinds[role] = kind_of(named, where=source.where, locate=source.locate, role=role)
    scored, notes = _one_kind(scored, kinds, source)
    truth, predicted = ({cell[i] for cell in scored} for i in (0, 1))
    asked = request.in_labels_of({*truth, *predicted})
    labels = cast("set[Label]", truth), cast("set[Label]", predicted), asked.labels
    policy, locate = request.settings.unknown, _aware(source.locate, kinds)
    settled = classes(*labels, asked.positive, where=source.where, unknown=policy, locate=locate)
    confusion = _confusion(scored, settled, counted_.weighted)
    if confusion.worth is not None:
        notes.append(f"the weighted rows are worth about {confusion.worth:,.0f} rows of equal weight (Kish)")
    part, scores_by_level, by_unit, more = (
        (None, {}, {}, ()) if decided is None else decided.tallied(settled, request.settings.wanted.level)
    )
    grouped = _grouped(counted_, settled, kinds, source, scores_by_level, by_unit=by_unit)
    whole = Classified(confusion=confusion, positive=settled.positive, scores=part)
    settings = request.settings.fitted(settled.labels, spelled=request.reading.spelled)
    if counted_.units is not None:
        from assay.tasks.classification.unit_estimates import add_units

        whole, settings, told = add_units(whole, counted_.units, by_unit.get(None), settings)
        notes += told
    elif repeated := note_like_units(grouped, confusion.rows):
        notes.append(repeated)
    return Assessment(
        CLASSIFICATION, whole, settings, census=census, grouped=grouped,
        notes=(*notes, *settled.notes, *more, *file_notes(source, request.roles)),
        data=about(source, request.roles, request.reading), found_in=environment(request.limits),
    )  # fmt: skip


def _read_costs(costs: object) -> Costs | None:
    if costs is None:
        return None
    from assay.tasks.classification.cost_matrix import Costs

    return Costs.read(costs)


def _aware(locate: Locate, kinds: dict[str, str | None]) -> Locate:
    """Looks labels up by the type their column has, when booleans and 0/1 were put together."""
    return lambda role, label: locate(
        role, bool(label) if kinds.get(role) == "boolean" and label is not None else label
    )


def _scored_cells(source: Source, counted_: Counted, settings: Settings, unscored: int) -> tuple[Cells, Census]:
    """Return the cells with both labels, and how many rows were left out and why."""
    lost = {"truth": 0, "predicted": 0}
    for (truth, predicted), (rows, _) in counted_.cells.items():
        if truth is None or predicted is None:
            lost["truth" if truth is None else "predicted"] += rows
    if any(lost.values()) and settings.missing == "error":
        shown = "; ".join(
            f"{counted(n, 'row')} without {role} {source.locate(role, None)}".rstrip() for role, n in lost.items() if n
        )
        total = sum(lost.values())
        what = f"{counted(total, 'row')} of {counted_.rows:,} {'has' if total == 1 else 'have'} no label"
        raise RowsError(
            "missing-label", what, where=source.where, found=shown,
            fix='complete the labels, or leave these rows out and count them: missing="drop" (--missing drop)',
        )  # fmt: skip
    kept = {cell: found for cell, found in counted_.cells.items() if None not in cell}
    excluded = {f"{role} is missing": n for role, n in {**lost, "score": unscored}.items() if n}
    alone, read = 0 if source.join is None else source.join.unmatched, counted_.rows + unscored
    scored = read - sum(excluded.values())
    census = Census(read=read + alone, scored=scored, excluded=excluded, unmatched=alone)
    if not scored:
        what = "no row has both a true and a predicted label"
        raise RowsError("no-rows", what, where=source.where, found=census.said(), fix="check the columns")
    return kept, census


def _one_kind(cells: Cells, kinds: dict[str, str | None], source: Source) -> tuple[Cells, list[str]]:
    """Truth and prediction must hold labels of one type; booleans beside 0 and 1 are the one plain exception."""
    a, b = kinds["truth"], kinds["predicted"]
    if a == b or a is None or b is None:
        return cells, []
    labels = {label for cell in cells for label in cell}
    if {a, b} == {"boolean", "integer"} and labels <= {0, 1}:
        merged: Cells = {}
        for (t, p), (rows, weight) in cells.items():
            key = (int(cast("int", t)), int(cast("int", p)))
            before = merged.get(key, (0, 0))
            merged[key] = (before[0] + rows, together(before[1], weight))
        return merged, [f"{'truth' if a == 'boolean' else 'predicted'} is boolean: False is read as 0, True as 1"]
    first = {
        role: next(iter(in_order(cast("set[Label]", {c[i] for c in cells}))))
        for i, role in enumerate(("truth", "predicted"))
    }
    what = f"truth holds {a} labels, predicted holds {b} ones"
    shown = "; ".join(f"{role}: {quoted(label)}" for role, label in first.items())
    fix = 'make both one type before assessing, for instance both text; 1 and "1" are different labels'
    raise RowsError("label-types-differ", what, where=source.where, found=shown, fix=fix)


def _confusion(cells: Cells, settled: Classes, weighted: bool) -> Confusion:  # noqa: FBT001
    pairs = {(cast("Label", t), cast("Label", p)): weight for (t, p), (_, weight) in cells.items()}
    rows = sum(count for count, _ in cells.values())
    return Confusion.from_cells(pairs, labels=settled.labels, rows=rows, weighted=weighted)


def _grouped(
    counted_: Counted,
    settled: Classes,
    kinds: dict[str, str | None],
    source: Source,
    scores: Mapping[str, Mapping[Label, ScorePart]],
    *,
    by_unit: Mapping[str | None, UnitScores],
) -> Grouped[Classified]:
    factors: dict[str, dict[Label, Classified]] = {}
    if counted_.units is not None:
        first = {type(name): name for name in reversed(counted_.units.labels[0].names) if name is not None}
        kind_of(first.values(), where=source.where, locate=source.locate, role=UNIT)
    for name, cells in counted_.by_factor.items():
        kind_of((cell[0] for cell in cells if cell[0] is not None), where=source.where, locate=source.locate, role=name)
        by_level: dict[Label | None, Cells] = {}
        for (level, *pair), found in cells.items():
            if None not in pair:
                by_level.setdefault(level, {})[tuple(pair)] = found
        named: list[Label | None] = [*in_order(level for level in by_level if level is not None)]
        missing = free_name(MISSING, by_level)
        factors[name] = {}
        for level in named + [None] * (None in by_level):
            confusion = _confusion(_one_kind(by_level[level], kinds, source)[0], settled, counted_.weighted)
            shown = missing if level is None else level
            part = scores.get(name, {}).get(shown)
            factors[name][shown] = Classified(confusion=confusion, positive=settled.positive, scores=part)
        if name in counted_.within:
            from assay.tasks.classification.unit_part import group_units

            factors[name] = group_units(factors[name], counted_.within[name], by_unit.get(name), missing)
    return Grouped(factors=factors)
