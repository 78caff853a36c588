# SPDX-License-Identifier: Apache-2.0
"""Controls of the ground truth: how far annotators agree, and what errors in it do to values and conclusions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from assay.assess.controls.control_declaration import Inquiry, Outcome, control, no_evidence
from assay.assess.controls.results import values_on
from assay.assess.decide.criteria import EVERY, Rule, criterion
from assay.core.labels import Label
from assay.core.text import counted, figure
from assay.inference import data_chance
from assay.inference.intervals.rater_agreement import coefficients, kappas
from assay.measures import parse
from assay.tally.contingency_tables import Ratings
from assay.tally.data.feature_counts import beside
from assay.tally.data.split_counts import SplitRows
from assay.tally.labels.confusion import Confusion
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from assay.tasks.classification.estimates import View
from assay.tasks.classification.settings import Settings
from assay.tasks.classification.tally import Classified

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.assess.assessment import Assessment

Cells: TypeAlias = Mapping[tuple[Any, ...], int]
TOGETHER: Final = {"fleiss_kappa": "Fleiss' kappa", "krippendorff_alpha": "alpha", "gwet_ac1": "AC1"}


@control("CHK-ANNOTATOR")
def annotators(q: Inquiry) -> Outcome:
    """Looks for annotators who do not agree."""
    names, table = q.plan.ground_truth.annotators or [], q.annotations
    if table is None or len(names) < 2 or not table.has(*names):  # noqa: PLR2004
        return no_evidence("the plan names no annotation table with two annotators")
    least, level = q.plan.ground_truth.minimum_agreement, q.plan.intervals.level
    rows = table.table(*names)
    ranked = None if rows is None else _ranked(q, names, rows)
    agreed = {pair: one for pair in combinations(names, 2) if (one := _compare(table, pair, ranked, level))}
    pairs: dict[str, Any] = {f"{a}, {b}": one for (a, b), one in agreed.items()}
    if not pairs:
        return no_evidence("no item was labelled by two annotators")
    facts: dict[str, Any] = {"pairs": pairs}
    if rows is not None:
        tally = Ratings.from_cells(rows, labels=ranked)
        facts["together"] = {"items": tally.items, "items_labelled_twice": tally.several.items}
        facts["together"] |= coefficients(tally, level, ordered=ranked is not None, raters=3)
    shown = _described(pairs, facts.get("together") if len(names) > 2 else None)  # noqa: PLR2004  two are a pair
    low = [] if least is None else _below(agreed, least)
    said = f"below the declared minimum: {'; '.join(low)}" if low else shown
    thresholds = {} if least is None else {"minimum_kappa": least}
    inputs = {table.name: table.sha256}
    return Outcome("fail" if low else "pass", said, facts=facts, thresholds=thresholds, inputs=inputs)


def _below(agreed: Mapping[tuple[str, str], dict[str, Any]], least: float) -> list[str]:
    """Pairs of annotators whose kappa is below the declared minimum."""
    kappas_of = {pair: one["kappa"] for pair, one in agreed.items() if one["kappa"] is not None}
    return [f"{a} and {b}: kappa {figure(kappa)}" for (a, b), kappa in kappas_of.items() if kappa < least]


def _described(pairs: Mapping[str, Any], together: Mapping[str, Any] | None) -> str:
    """The coefficients of all annotators where they are more than two, and of the first pairs."""
    words = [] if together is None else [f"{symbol} {_shown(together[name]['value'], together[name])}"
                                         for name, symbol in TOGETHER.items()]  # fmt: skip
    first = [
        f"{name}: agreement {figure(pair['agreement'])}, kappa {_shown(pair['kappa'], pair)}"
        for name, pair in list(pairs.items())[:3]
    ]
    return "; ".join([*([", ".join(words)] if words else []), *first])


def _shown(value: float | None, facts: dict[str, Any]) -> str:
    if value is None:
        return "undefined"
    ends = f"{figure(facts['low'])} to {figure(facts['high'])}" if facts["low"] is not None else "no interval"
    return f"{figure(value)} ({ends})"


def _compare(table: SplitRows, pair: tuple[str, str], ranked: tuple[Label, ...] | None, level: float) -> dict[str, Any]:
    """The agreement of two annotators on the items that both labelled; nothing where there are none."""
    cells = {key: n for key, n in (table.table(*pair) or {}).items() if None not in key}
    ordered = {} if ranked is None or not cells else kappas(cells, ranked, level, ordered=True)
    return _pair(cells) | {f"kappa{tail}": kappa for tail, kappa in ordered.items() if tail} if cells else {}


def _pair(cells: Cells) -> dict[str, Any]:
    labels = tuple(sorted({label for key in cells for label in key}, key=str))
    n = sum(cells.values())
    agreement = sum(count for (a, b), count in cells.items() if a == b) / n
    first = {label: sum(c for (a, _), c in cells.items() if a == label) / n for label in labels}
    second = {label: sum(c for (_, b), c in cells.items() if b == label) / n for label in labels}
    by_class = {
        str(label): 2 * cells.get((label, label), 0) / (n * (first[label] + second[label]))
        for label in labels
        if first[label] + second[label]
    }
    kappa: dict[str, Any] = dict.fromkeys(("kappa", "low", "high"))
    if len(labels) > 1:
        tally = Confusion.from_cells({(a, b): c for (a, b), c in cells.items()}, labels=labels, rows=n)
        estimate = View(Classified(confusion=tally, positive=None), Settings())["cohen_kappa"]
        kappa = {"kappa": estimate.value, "low": estimate.low, "high": estimate.high}
    return {
        "items": n,
        "agreement": agreement,
        **kappa,
        "by_class": by_class,
        "bias_index": max(abs(first[label] - second[label]) for label in labels),
        "largest_share": max((first[label] + second[label]) / 2 for label in labels),
    }


def _ranked(q: Inquiry, names: list[str], rows: Cells) -> tuple[Label, ...] | None:
    """The classes in their order, if they have one and every label given is among them."""
    classes = q.plan.task.classes
    if not q.plan.task.ordered or not classes:
        return None
    own = {str(one): one for key in rows for one in key if one is not None}
    found = tuple(own.get(str(one), one) for one in classes)
    return found if set(own.values()) <= set(found) and names else None


ENDS: Final = (2.5, 97.5)
NEVER: Final = "no number of labels turns it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """How often truths are wrong, by true class, and where that is known from."""

    matrix: NDArray[np.float64]
    source: str
    facts: Mapping[str, Any]


@control("CHK-GT-IMPACT")
def impact(q: Inquiry) -> Outcome:
    """Looks for conclusions that a few wrong labels would turn."""
    if q.assessment is None:
        return no_evidence("nothing was counted")
    if q.assessment.confusion.weighted:
        return no_evidence("the rows are weighted, and only rows that count as one are relabelled")
    errors = _errors(q, q.assessment)
    if isinstance(errors, str):
        return no_evidence(errors)
    stable, model = q.plan.checks.stable, q.assessment
    spread, conclusions = _value(q, model, errors), {**_criteria(q, model, errors), **_rivals(q, errors)}
    shaky = any(one["same"] < stable for one in conclusions.values())
    ends = f"{figure(spread['low'])} to {figure(spread['high'])}"
    said = f"errors {errors.source}: {spread['measure']} {figure(spread['value'])} becomes {ends}"
    for name, conclusion in conclusions.items():
        fewest = conclusion.get("fewest_labels")
        turn = conclusion.get("fewest_none") if fewest is None else f"{counted(fewest, 'wrong label')} would turn it"
        said += f"; {name}: the same in {100 * conclusion['same']:.0f} % of relabellings{f', {turn}' if turn else ''}"
    return Outcome(
        "suspect" if shaky else "pass",
        said,
        facts={"source": errors.source, **errors.facts, "value": spread, "conclusions": conclusions},
        thresholds={"stable": stable},
        inputs={} if q.annotations is None else {q.annotations.name: q.annotations.sha256},
    )


def _errors(q: Inquiry, model: Assessment) -> Errors | str:
    """The chance of each wrong label, from annotations beside the truth, or as declared; else why it is not known."""
    labels = [str(one) for one in model.labels]
    table, names = q.annotations, q.plan.ground_truth.annotators or []
    key, truth, split = q.plan.columns.id, q.plan.columns.truth, q.splits.get(q.split)
    joined = table is not None and split is not None and truth is not None and key is not None
    if joined and names and table.has(key, *names) and split.has(key, truth):  # type: ignore[union-attr]
        return _annotated(beside(split, table, str(key), [str(truth)], names), labels)  # type: ignore[arg-type]
    rate = q.plan.ground_truth.error_rate
    if rate is not None and q.loaded.signed and len(labels) > 1:
        matrix = data_chance.even_errors(rate, len(labels))
        return Errors(matrix=matrix, source="at the declared rate", facts={"error_rate": rate})
    return "no annotations can be set beside the truth by id, and no error rate is declared"


def _annotated(cells: Mapping[tuple[Any, ...], int], labels: list[str]) -> Errors | str:
    """The errors that annotations beside the truth show; the first of a cell is the truth."""
    place = {label: i for i, label in enumerate(labels)}
    pairs: dict[tuple[int, int], int] = {}
    disputed = items = 0
    for cell, n in cells.items():
        given = [annotation for annotation in cell[1:] if annotation in place]
        if cell[0] in place and given:
            items += n
            disputed += n * any(annotation != cell[0] for annotation in given)
            for annotation in given:
                pair = place[cell[0]], place[annotation]
                pairs[pair] = pairs.get(pair, 0) + n
    if not pairs:
        return "no annotated item is among the test rows"
    matrix = data_chance.error_rates(pairs, len(labels))
    rates = {label: float(1 - matrix[i, i]) for i, label in enumerate(labels)}
    facts = {"items": items, "disputed": disputed, "error_rate_by_class": rates}
    return Errors(matrix=matrix, source="as often as annotators err", facts=facts)


def _relabelled(model: Assessment, errors: Errors) -> Multiclass:
    """The tables of classes that relabelling makes of the rows of a model."""
    cells = model.confusion
    count = np.array([int(n) for n in cells.count], dtype=np.int64)
    codes = np.stack([cells.truth, cells.predicted], axis=1).astype(np.int64)
    return data_chance.Relabelled(labels=model.labels, codes=codes, count=count, error=errors.matrix).tables(0)


def _value(q: Inquiry, model: Assessment, errors: Errors) -> dict[str, Any]:
    """The primary measure, and where relabelling takes it; accuracy where the primary one needs scores."""
    name = q.plan.metrics.primary or "accuracy"
    wanted = parse(name)
    if not wanted.from_labels or (wanted.takes is Binary and model.positive is None):
        wanted = parse("accuracy")
    draws = values_on(wanted, _relabelled(model, errors), model)
    draws = draws[np.isfinite(draws)]
    low, high = np.percentile(draws, ENDS) if len(draws) else (np.nan, np.nan)
    return {"measure": wanted.title, "value": model[wanted.title].value, "low": float(low), "high": float(high)}


def _criteria(q: Inquiry, model: Assessment, errors: Errors) -> dict[str, dict[str, Any]]:
    """Acceptance criteria: how often relabelling leaves the value on its side."""
    conclusions: dict[str, dict[str, Any]] = {}
    for text in q.plan.metrics.accept or ():
        requirement = criterion(text)
        measure, label = requirement.measure, requirement.label
        plain = requirement.factor is None and label != EVERY and requirement.rule is not Rule.NON_INFERIOR
        known = label in map(str, model.labels) if label is not None else True
        whole = measure.takes is not Binary or label is not None or model.positive is not None
        if not (plain and measure.from_labels and known and whole):
            continue
        own = next((view for name, view in model.by_class.items() if str(name) == label), model)
        value = own[measure.title].value
        if value is not None:
            draws = values_on(measure, _relabelled(model, errors), model, label)
            kept = np.array([requirement.keeps(float(x)) for x in draws])
            same = float((kept == requirement.keeps(value)).mean())
            conclusions[str(requirement)] = {"value": value, "same": same}
    return conclusions


def _rivals(q: Inquiry, errors: Errors) -> dict[str, dict[str, Any]]:
    """Comparisons with other models: how often relabelling keeps ranking and significance, and the fewest labels."""
    held = q.contests.get(q.split)
    comparison = None if held is None else held.comparison
    if comparison is None or comparison.paired is None or q.assessment is None:
        return {}
    paired, alpha = comparison.paired, comparison.findings[0].alpha
    if q.model not in paired.models or paired.labels != q.assessment.labels:
        return {}
    drawn = data_chance.Relabelled(labels=paired.labels, codes=paired.codes, count=paired.count, error=errors.matrix)
    names = list(combinations(paired.models, 2))
    tables = [paired.outcomes(*pair) for pair in names]
    raw = data_chance.mcnemar_p(np.array([one.only_a for one in tables]), np.array([one.only_b for one in tables]))
    disputes = [drawn.disputes(*(paired.models.index(one) for one in pair)) for pair in names]
    draws = np.stack([data_chance.mcnemar_p(*one) for one in disputes])
    now, then = data_chance.holm_many(raw[:, np.newaxis])[:, 0], data_chance.holm_many(draws)
    conclusions = {}
    for place, pair in enumerate(names):
        if q.model in pair:
            (other,) = {*pair} - {q.model}
            only, drawn_only = (tables[place].only_a, tables[place].only_b), disputes[place]
            ranking = np.sign(drawn_only[0] - drawn_only[1]) == np.sign(only[0] - only[1])
            ps = float(raw[place]), float(now[place])
            conclusions[f"{q.model} against {other}"] = _judge_pair(only, ranking, then[place] < alpha, ps, alpha)
    return conclusions


def _judge_pair(
    only: tuple[int, int],
    ranking: NDArray[np.bool_],
    significant: NDArray[np.bool_],
    ps: tuple[float, float],
    alpha: float,
) -> dict[str, Any]:
    """How often relabelling keeps ranking and significance, and the fewest labels that turn the conclusion.

    only: rows that only one of the two models gets right
    ranking, significant: by relabelling, whether the order is the same, and whether the difference is significant
    ps: McNemar's p, by itself and corrected over all pairs of models
    """
    (p, adjusted), ahead, behind = ps, max(only), min(only)
    # The level this pair is held to among all pairs, as its own p was corrected.
    level = alpha * p / adjusted if adjusted else alpha
    fewest = data_chance.fewest_to_lose_significance(ahead, behind, level) if adjusted < alpha else None
    same = ranking & significant if adjusted < alpha else ~significant
    return {
        "p": p,
        "p_adjusted": adjusted,
        "same": float(same.mean()),
        "same_ranking": float(ranking.mean()),
        "significant": float(significant.mean()),
        "fewest_labels": fewest,
        "fewest_none": None if fewest is not None else NEVER if adjusted < alpha else "it is not significant",
        "fewest_to_reverse_ranking": data_chance.fewest_to_reverse(ahead, behind),
    }
