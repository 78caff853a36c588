# SPDX-License-Identifier: Apache-2.0
"""A Record as a document: what is shown and in which order, before anybody decides how it looks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.assess.record import Record
from assay.assess.view import SMALL
from assay.core.text import listed, quoted, visible
from assay.report import sentences
from assay.report import sentences_scores as scoresentences
from assay.report.blocks import environment as background
from assay.report.blocks.claims import Claims, Contests, claims, contests
from assay.report.blocks.conformity import Statement, statement
from assay.report.blocks.confusion_matrix import MOST_CLASSES, Counts, Matrix, Mistake, counts, matrix, mistakes
from assay.report.blocks.curves import Scoring, read_scores
from assay.report.blocks.data_sources import Sources, sources
from assay.report.blocks.decisions import Verdicts, verdicts
from assay.report.blocks.environment import Choice
from assay.report.blocks.headline_verdict import Standing, standings
from assay.report.blocks.sites import Spread, spreads
from assay.report.estimate_rows import About, Entry, about, amount, entry, prose

HEADLINE: Final = {
    "binary": (
        "accuracy",
        "balanced_accuracy",
        "precision",
        "recall",
        "specificity",
        "f1",
        "matthews_corrcoef",
        "cohen_kappa",
    ),
    "multiclass": (
        "accuracy",
        "balanced_accuracy",
        "f1_macro",
        "f1_weighted",
        "precision_macro",
        "recall_macro",
        "matthews_corrcoef",
        "cohen_kappa",
    ),
}
OF_SCORES: Final = {
    "binary": ("auroc", "average_precision", "brier_score", "expected_calibration_error"),
    "multiclass": ("auroc_macro", "log_loss_multiclass"),
}
"""Headlines that are there where scores are."""
NOT_BY_GROUP: Final = ("average_precision", "brier_score", "expected_calibration_error", "log_loss_multiclass")
"""Headlines that depend on how common a class is, which differs between groups by itself."""
NOT_CHARTED: Final = ("matthews_corrcoef", "cohen_kappa", "f1_weighted")
"""Headlines that say of a group what others say more plainly."""
MOST_CHARTS: Final = 6
BASELINE: Final = "no_information_rate"
AVERAGED: Final = ("precision", "recall", "specificity", "f1", "jaccard")
OF_CLASS: Final = ("precision", "recall", "f1")
OF_COSTS: Final = "mean_cost"
"""There where somebody stated costs, who then wants to know."""
MOST_HEADLINES: Final = 8
MOST_ROWS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Measures that belong together."""

    name: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassRow:
    """One class against the rest; without entries where the Record lists none."""

    label: str
    size: str
    called: str
    right: str
    entries: tuple[Entry, ...]
    plotted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """The classes one by one."""

    columns: tuple[About, ...]
    rows: tuple[ClassRow, ...]
    hidden: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """The rows of one level of a group."""

    label: str
    rows: int
    small: bool
    entries: tuple[Entry, ...]
    plotted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """A way to group rows, and its levels."""

    name: str
    columns: tuple[About, ...]
    whole: tuple[Entry, ...]
    levels: tuple[Level, ...]
    hidden: int
    spreads: tuple[Spread, ...]

    @property
    def charted(self) -> tuple[int, ...]:
        """Places of the measures that get a chart; the table has them all."""
        wanted = [i for i, one in enumerate(self.columns) if one.measure not in NOT_CHARTED]
        return tuple(wanted[-MOST_CHARTS:]) or tuple(range(len(self.columns)))[:MOST_CHARTS]


@dataclass(frozen=True, slots=True, kw_only=True)
class AverageRow:
    """One measure averaged over the classes in several ways; None where a way does not exist."""

    name: str
    entries: tuple[Entry | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something to know before trusting a number: a sign, a word and a sentence."""

    sign: str
    word: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Everything a report says, in order; every text from outside has been made visible."""

    title: str
    kind: str
    positive: str
    k: int
    opening: str
    remarks: tuple[Remark, ...]
    facts: tuple[tuple[str, str], ...]
    level: str
    weighted: bool
    headline: tuple[Entry, ...]
    baseline: Entry | None
    matrix: Matrix
    mistakes: tuple[Mistake, ...]
    classes: Classes | None
    averages: tuple[AverageRow, ...]
    families: tuple[Family, ...]
    undefined: tuple[Entry, ...]
    infinite: tuple[Entry, ...]
    factors: tuple[Factor, ...]
    scoring: Scoring | None
    rows: str
    notes: tuple[str, ...]
    methods: tuple[tuple[str, str], ...]
    settings: tuple[str, ...]
    errata: tuple[Choice, ...]
    environment: tuple[tuple[str, str], ...]
    digests: tuple[tuple[str, str], ...]
    glossary: tuple[About, ...]
    sources: Sources
    statement: Statement | None
    verdicts: Verdicts | None
    standing: tuple[Standing, ...]
    claims: Claims | None
    contests: Contests | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sorted:
    """The estimates of a Record by what they speak of."""

    whole: dict[str, Mapping[str, Any]]
    of_class: dict[str, dict[object, Mapping[str, Any]]]
    of_level: dict[tuple[str, str], dict[str, Mapping[str, Any]]]
    methods: dict[str, set[int]]
    """Interval methods, and how many draws they took."""


def read(record: Record) -> Document:
    """The document of a Record."""
    found = _sorted(record["estimates"])
    tally = counts(record["tallies"]["confusion"])
    whole = {title: entry(estimate) for title, estimate in found.whole.items()}
    headline = _headline(str(record["task"]), whole)
    classes = _classes(found, tally)
    factors = tuple(_factors(record, found, [one for one in headline if one.about.measure not in NOT_BY_GROUP]))
    undefined = tuple(one for one in whole.values() if not one.defined)
    families = _families(whole.values())
    stated, decided, claimed = statement(record), verdicts(record), claims(record)
    return Document(
        title=background.title(record),
        kind=sentences.kind(str(record["task"]), len(tally.labels)),
        positive=quoted(record["positive"]) if record.get("positive") is not None else "",
        k=len(tally.labels),
        opening=_opening(record, whole, tally),
        remarks=tuple(_remarks(record, undefined, len(whole), tally, factors)),
        facts=tuple(background.facts(record, tally)),
        level=sentences.percent(float(record["plan"]["level"])),
        weighted=tally.weighted,
        headline=headline,
        baseline=whole.get(BASELINE),
        matrix=matrix(tally),
        mistakes=mistakes(tally),
        classes=classes,
        averages=_averages(whole.values()),
        families=families,
        undefined=undefined,
        infinite=tuple(one for one in whole.values() if one.endless),
        factors=factors,
        scoring=read_scores(record, record["estimates"]),
        rows=prose(sentences.rows_equation(record["rows"])),
        notes=tuple(prose(note) for note in record.get("notes", ())),
        methods=tuple(
            (visible(name), prose(sentences.method(name, sorted(drawn)))) for name, drawn in found.methods.items()
        ),
        settings=tuple(background.settings(record, tally, drawn=any(found.methods.values()))),
        errata=tuple(background.choices(record)),
        environment=tuple(background.environment(record)),
        digests=tuple(background.digests(record)),
        glossary=_glossary(whole.values(), classes),
        sources=sources(record),
        statement=stated,
        verdicts=decided,
        standing=standings(stated, decided, claimed),
        claims=claimed,
        contests=contests(record),
    )


def _sorted(estimates: Iterable[Mapping[str, Any]]) -> _Sorted:
    found = _Sorted(whole={}, of_class={}, of_level={}, methods={})
    for one in estimates:
        label, slice_, title = one.get("class"), one.get("slice"), str(one["measure"])
        if one.get("interval"):
            drawn = found.methods.setdefault(str(one["interval"]), set())
            drawn |= {int(one["draws"])} if "draws" in one else set()
        if slice_ is None and label is None:
            found.whole[title] = one
        elif slice_ is None:
            found.of_class.setdefault(title, {})[label] = one
        elif label is None and len(slice_) == 1:
            ((factor, level),) = slice_.items()
            found.of_level.setdefault((factor, repr(level)), {})[title] = one
    return found


def _headline(task: str, whole: Mapping[str, Entry]) -> tuple[Entry, ...]:
    wanted = [whole[name] for name in (*HEADLINE.get(task, ()), *OF_SCORES.get(task, ()), OF_COSTS) if name in whole]
    return tuple(wanted or [one for one in whole.values() if one.about.family != "counts"][:MOST_HEADLINES])


def _opening(record: Record, whole: Mapping[str, Entry], tally: Counts) -> str:
    rows, accuracy = background.rows(record), whole.get("accuracy")
    if accuracy is None:
        return sentences.asked_for(rows, len(whole) or len(record["estimates"]))
    if not accuracy.defined:
        return sentences.accuracy_undefined(rows, accuracy.reason)
    baseline = whole.get(BASELINE)
    return sentences.said_rightly(
        rows=sentences.of_weight(amount(tally.total), rows) if tally.weighted else rows,
        right=sentences.were(amount(sum(tally.hits))),
        value=accuracy.shown,
        how_sure=sentences.how_sure(
            accuracy.interval, sentences.percent(float(record["plan"]["level"])), accuracy.missing
        ),
        baseline=sentences.trivial(baseline.shown) if baseline is not None and baseline.defined else "",
    )


def _remarks(
    record: Record, undefined: Sequence[Entry], measures: int, tally: Counts, factors: Sequence[Factor]
) -> Iterable[Remark]:
    rows = record["rows"]
    out = {prose(why): int(n) for why, n in rows["excluded"].items()}
    if out:
        sentence = sentences.excluded_rows(sum(out.values()), int(rows["read"]), sentences.joined(list(out)))
        yield Remark(sign="−", word="left out", sentence=sentence)
    if rows["unmatched"]:
        sentence = sentences.unmatched_rows(int(rows["unmatched"]), int(rows["read"]))
        yield Remark(sign="−", word="unmatched", sentence=sentence)
    for word, margin, says in (
        ("never predicted", tally.called, sentences.never_predicted),
        ("never true", tally.actual, sentences.never_true),
    ):
        lost = [label for label, n in zip(tally.labels, margin, strict=True) if not n]
        if lost:
            yield Remark(sign="∅", word=word, sentence=prose(says(listed(lost), len(lost))))
    if undefined:
        yield Remark(sign="∅", word="undefined", sentence=sentences.undefined_measures(len(undefined), measures))
    small = sum(level.small for factor in factors for level in factor.levels)
    if small:
        yield Remark(sign="△", word="small groups", sentence=sentences.small_groups(small, SMALL))
    for one in record.get("operating_points", ()):
        if one.get("optimistic"):
            yield Remark(sign="△", word="optimistic threshold", sentence=scoresentences.optimistic(one["threshold"]))
    if tally.weighted:
        yield Remark(sign="△", word="weighted", sentence=sentences.weighted_rows())


def _classes(found: _Sorted, tally: Counts) -> Classes | None:
    k = len(tally.labels)
    there = [title for title, by_label in found.of_class.items() if len(by_label) == k]
    titles: list[str] = [title for title in OF_CLASS if title in there]
    titles = titles or [title for title in there if about(title).family != "counts"][: len(OF_CLASS)]
    if not titles and k <= MOST_ROWS:
        return None  # a binary table has none: the other class is the mirror image
    rows = tally.largest(MOST_ROWS)
    plotted = set(tally.largest(MOST_CLASSES))
    return Classes(
        columns=tuple(about(title) for title in titles),
        rows=tuple(
            ClassRow(
                label=visible(tally.labels[i]),
                size=amount(tally.actual[i]),
                called=amount(tally.called[i]),
                right=amount(tally.hits[i]),
                entries=tuple(entry(found.of_class[title][tally.labels[i]]) for title in titles),
                plotted=i in plotted,
            )
            for i in rows
        ),
        hidden=k - len(rows),
        total=k,
    )


def _averages(entries: Iterable[Entry]) -> tuple[AverageRow, ...]:
    by_base: dict[str, dict[str, Entry]] = {}
    for one in entries:
        if one.about.average in sentences.AVERAGES and one.about.measure == f"{one.about.base}_{one.about.average}":
            by_base.setdefault(one.about.base, {})[one.about.average] = one
    return tuple(
        AverageRow(name=about(base).name, entries=tuple(found.get(way) for way in sentences.AVERAGES))
        for base, found in by_base.items()
        if len(found) > 1 and base in AVERAGED
    )


def _families(entries: Iterable[Entry]) -> tuple[Family, ...]:
    by_name: dict[str, list[Entry]] = {name: [] for name in sentences.FAMILIES}
    for one in entries:
        by_name.setdefault(one.about.family, []).append(one)
    return tuple(
        Family(name=sentences.FAMILIES.get(name, name or "Others"), entries=tuple(found))
        for name, found in by_name.items()
        if found
    )


def _factors(record: Record, found: _Sorted, headline: Sequence[Entry]) -> Iterable[Factor]:
    for name, levels in record["tallies"].get("groups", {}).items():
        by_size = sorted(range(len(levels)), key=lambda i: (-int(levels[i]["confusion"]["rows"]), i))
        kept, plotted = set(by_size[:MOST_ROWS]), set(by_size[:MOST_CLASSES])
        titles = [one.about.measure for one in headline]
        rows = []
        for i, one in enumerate(levels):
            estimates = found.of_level.get((name, repr(one["level"])), {})
            if i not in kept or not all(title in estimates for title in titles):
                continue
            n = int(one["confusion"]["rows"])
            rows.append(
                Level(
                    label=visible(one["level"]),
                    rows=n,
                    small=n < SMALL,
                    entries=tuple(entry(estimates[title]) for title in titles),
                    plotted=i in plotted,
                )
            )
        yield Factor(
            name=visible(name),
            columns=tuple(one.about for one in headline),
            whole=tuple(headline),
            levels=tuple(rows),
            hidden=len(levels) - len(rows),
            spreads=spreads(record, name, titles),
        )


def _glossary(entries: Iterable[Entry], classes: Classes | None) -> tuple[About, ...]:
    known = {one.about.measure: one.about for one in entries}
    for column in classes.columns if classes is not None else ():
        known.setdefault(column.measure, column)
    return tuple(known.values())
