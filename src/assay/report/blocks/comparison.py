# SPDX-License-Identifier: Apache-2.0
"""A comparison made readable: what each renderer shows, read from the Record of a comparison and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.assess.record import Record
from assay.core.text import counted, figure, visible
from assay.inference.power import POWER
from assay.inference.tails import shown as p_shown
from assay.report import sentences
from assay.report.blocks import environment as background
from assay.report.blocks.decisions import Verdicts, verdicts
from assay.report.blocks.headline_verdict import Standing, standings
from assay.report.estimate_rows import prose, real

POINTS: Final = 100
RIGHT: Final = "both right"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One finding as people read it."""

    sentence: str
    test: str
    about: str
    pair: str
    minus: str
    """The two models as the difference is taken; empty for several."""
    effect: str
    interval: str
    p: str
    adjusted: str
    chosen: str
    label: str
    mark: str
    power: str
    notes: tuple[str, ...]
    checks: tuple[str, ...]
    counts: tuple[tuple[str, str], ...]
    value: float | None
    low: float | None
    high: float | None
    share: bool
    significant: bool | None
    margin: bool = False
    """Whether it was held to a margin, so that significance speaks of no difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, why its test was taken, and what was refused."""

    question: str
    why: str
    label: str
    refused: tuple[tuple[str, str], ...]
    family: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """Mean ranks, the critical difference, and groups of models that cannot be told apart."""

    places: tuple[tuple[str, float], ...]
    critical: float | None
    cliques: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Everything a renderer of a comparison shows."""

    title: str
    kind: str
    opening: str
    facts: tuple[tuple[str, str], ...]
    ranking: tuple[tuple[str, str, str, str], ...]
    findings: tuple[Told, ...]
    asked: tuple[Asked, ...]
    right: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    estimates: tuple[tuple[str, tuple[str, ...]], ...]
    measures: tuple[str, ...]
    ranks: Ranks | None
    level: str
    rows: str
    notes: tuple[str, ...]
    errata: tuple[background.Choice, ...]
    environment: tuple[tuple[str, str], ...]
    digests: tuple[tuple[str, str], ...]
    verdicts: Verdicts | None
    standing: tuple[Standing, ...]
    remarks: tuple[()] = ()


def read(record: Record) -> Document:
    """The document of a Record of the kind comparison."""
    models = [visible(m) for m in record["models"]]
    findings = tuple(_told(one) for one in record["findings"])
    decided = verdicts(record)
    return Document(
        title=f"{' against '.join(models[:3])}{f' and {len(models) - 3} more' if len(models) > 3 else ''}",  # noqa: PLR2004
        kind=f"comparison of {counted(len(models), 'model')}",
        opening=findings[0].sentence if findings else _none(record),
        facts=tuple(_facts(record)),
        ranking=tuple(_ranking(record)),
        findings=findings,
        asked=tuple(_asked(one) for one in record["answers"]),
        right=tuple(_right(findings)),
        estimates=tuple(_estimates(record)),
        measures=tuple(dict.fromkeys(visible(one["measure"]) for one in record["estimates"])),
        ranks=_ranks(record),
        level=sentences.percent(float(record["plan"]["level"])),
        rows=prose(sentences.rows_equation(record["rows"])),
        notes=tuple(prose(note) for note in (*record.get("notes", ()), *_chance(record))),
        errata=tuple(background.choices(record)),
        environment=tuple(background.environment(record)),
        digests=tuple(_digests(record)),
        verdicts=decided,
        standing=standings(decided),
    )


def sentence(one: Mapping[str, Any]) -> str:
    """A finding in one plain sentence: who is ahead by how much, how sure that is, and by which test."""
    models = [visible(m) for m in one["models"]]
    effect, p = one["effect"], _p(one)
    value = real(effect.get("value"))
    if len(models) != 2 or value is None or "minus" not in str(effect["name"]):  # noqa: PLR2004
        return prose(f"{_global(one)}, {p}.")
    low, high = real(effect.get("low")), real(effect.get("high"))
    ahead, behind = models
    if value < 0:
        ahead, behind = behind, ahead
        value, low, high = -value, None if high is None else -high, None if low is None else -low
    ends = (
        ""
        if low is None or high is None
        else f", {_level(effect)} interval {_size(low, effect)} to {_size(high, effect)}"
    )
    what = _ahead(str(one["about"]), ahead, behind, _amount(value, effect), effect, equal=value == 0)
    lead = _by_margin(one, models) or ("" if one.get("significant") or value == 0 else _not_shown(one))
    named = not what.startswith((ahead, behind))  # a name keeps its spelling, a measure opens the sentence
    return prose(f"{lead}{what if lead or not named else what[:1].upper() + what[1:]}{ends}, {p}.")


def _by_margin(one: Mapping[str, Any], models: Sequence[str]) -> str:
    """What a test against a margin shows or does not; nothing for other tests."""
    first, second = models
    test, found = str(one["test"]), one.get("significant")
    words: dict[object, str] = {}
    if test.endswith("non_inferiority"):
        words = {
            True: f"{first} is not worse than {second} by the margin: ",
            False: f"That {first} is good enough is not shown: ",
            None: f"Whether {first} is good enough cannot be said: ",
        }
    elif test.endswith("equivalence"):
        words = {
            True: f"{first} and {second} are equal within the margin: ",
            False: "Equality within the margin is not shown: ",
            None: "Whether the models are equal within the margin cannot be said: ",
        }
    return words.get(found, "")


def _not_shown(one: Mapping[str, Any]) -> str:
    alone = one["p"] is not None and one["p"] <= 1 - float(one["level"])
    return "Not significant after correction: " if alone else "No difference is shown: "


def _global(one: Mapping[str, Any]) -> str:
    effect = one["effect"]
    value = real(effect.get("value"))
    size = "undefined" if value is None else _amount(value, effect)
    words = {True: "The models differ", False: "No difference is shown", None: "Nothing can be said"}
    found = words[one.get("significant")]
    return f"{found}: {effect['name']} {size}"


def _ahead(about: str, ahead: str, behind: str, size: str, effect: Mapping[str, Any], *, equal: bool) -> str:
    if equal:
        named = sentences.SPOKEN.get(about, about.replace("_", " ")) or _plain(str(effect["name"]))
        return f"{ahead} and {behind} are equal in {named}"
    known = {
        "accuracy": f"{ahead} is right on {size} more of the rows than {behind}",
        "recall": f"{ahead} finds {size} more of the positives than {behind}",
        "specificity": f"{ahead} leaves out {size} more of the negatives than {behind}",
        "mean_cost": f"mistakes of {ahead} cost {size} more a row than those of {behind}",
        "auroc": f"{ahead} ranks positives above negatives better than {behind}: AUROC higher by {size}",
    }
    if about in known:
        return known[about]
    if "mean rank" in str(effect["name"]):
        return f"{behind} ranks better than {ahead}: mean rank lower by {size}"
    name = sentences.SPOKEN.get(about, about.replace("_", " ")) or "mean"
    return f"{name} of {ahead} is higher than that of {behind} by {size}"


def _plain(effect: str) -> str:
    return "mean rank" if "mean rank" in effect else "their mean"


def _amount(value: float, effect: Mapping[str, Any]) -> str:
    return f"{value * POINTS:.1f} points" if effect.get("unit") == "share" else figure(value)


def _size(value: float, effect: Mapping[str, Any]) -> str:
    return f"{value * POINTS:.1f}" if effect.get("unit") == "share" else figure(value)


def _level(effect: Mapping[str, Any]) -> str:
    return sentences.percent(float(effect.get("level", 0.95)))


def _p(one: Mapping[str, Any]) -> str:
    name = str(one["title"])
    if one["p"] is None:
        return f"{name}: p undefined, {one['undefined']}"
    told = f"{name}: p {one['p_shown']}"
    if one.get("adjusted"):
        told += f", {one['adjusted']['by']}-adjusted {p_shown(one['adjusted']['p']).removeprefix('= ')}"
    return told


def _told(one: Mapping[str, Any]) -> Told:
    effect = one["effect"]
    value, low, high = (real(effect.get(k)) for k in ("value", "low", "high"))
    share = effect.get("unit") == "share"
    adjusted = one.get("adjusted")
    least = one.get("least_detectable") or {}
    power = ""
    if one.get("significant") is False and least.get("value") is not None:
        size = _amount(float(real(least["value"]) or 0.0), effect)
        power = f"a difference of {size} would have been detected with a chance of {sentences.percent(POWER)}"
    return Told(
        sentence=sentence(one),
        test=prose(one["title"]),
        about=prose(sentences.SPOKEN.get(one["about"], str(one["about"]).replace("_", " "))),
        pair=" and ".join(visible(m) for m in one["models"]),
        minus=" minus ".join(visible(m) for m in one["models"]) if len(one["models"]) == 2 else "",  # noqa: PLR2004
        effect="undefined" if value is None else _amount(value, effect),
        interval="" if low is None or high is None else f"{_size(low, effect)} to {_size(high, effect)}",
        p="undefined" if one["p"] is None else str(one["p_shown"]).removeprefix("= "),
        adjusted="" if not adjusted else p_shown(adjusted["p"]).removeprefix("= "),
        chosen=prose(one["chosen"]),
        label=sentences.sentence(prose(one.get("label") or "")),
        mark={True: "●", False: "○", None: "∅"}[one.get("significant")],
        power=power,
        notes=tuple(prose(note) for note in one["notes"]),
        checks=tuple(
            prose(f"{'✓' if c['holds'] else '?' if c['holds'] is None else '✗'} {c['assumes']}: {c['seen']}")
            for c in one["checks"]
        ),
        counts=tuple((prose(k), f"{v:,}") for k, v in one["counts"].items()),
        value=value,
        low=low,
        high=high,
        share=share,
        significant=one.get("significant"),
        margin=str(one["test"]).endswith(("non_inferiority", "equivalence")),
    )


def _asked(one: Mapping[str, Any]) -> Asked:
    family = [visible(x) for x in one.get("family", ())]
    return Asked(
        question=prose(one["question"]),
        why=prose(one["why"]),
        label=sentences.sentence(prose(one.get("label") or "")),
        refused=tuple((visible(r["test"]), prose(r["why"])) for r in one["refused"]),
        family=f"{len(family)} questions corrected together: {', '.join(family)}" if len(family) > 1 else "",
        notes=tuple(prose(note) for note in one.get("notes", ())),
    )


def _facts(record: Record) -> Iterable[tuple[str, str]]:
    yield "rows" if record["labels"] else "values a model", f"{int(record['samples']):,}"
    yield "models", ", ".join(visible(m) for m in record["models"])
    if record.get("positive") is not None:
        yield "positive class", visible(record["positive"])
    yield "pairing", prose(record["test_data"].get("pairing") or "not stated")
    yield "correction", visible(record["plan"]["correction"])
    yield "intervals", sentences.percent(float(record["plan"]["level"]))


def _ranking(record: Record) -> Iterable[tuple[str, str, str, str]]:
    for place in record["ranking"]:
        value = real(place["value"])
        ahead = ", ".join(visible(m) for m in place["ahead_of"]) or "nobody by more than chance"
        yield visible(place["model"]), "undefined" if value is None else figure(value), visible(place["measure"]), ahead


def _right(findings: Sequence[Told]) -> Iterable[tuple[str, tuple[tuple[str, str], ...]]]:
    seen = set()
    for one in findings:
        if one.counts and one.counts[0][0] == RIGHT and (one.pair, one.about) not in seen:
            seen.add((one.pair, one.about))
            yield f"{one.pair}, {one.about}", one.counts


def _estimates(record: Record) -> Iterable[tuple[str, tuple[str, ...]]]:
    by: dict[str, list[str]] = {}
    for one in record["estimates"]:
        value, low, high = (real(one.get(k)) for k in ("value", "low", "high"))
        text = "∅ undefined" if value is None else figure(value)
        if low is not None and high is not None:
            text += f" ({figure(low)} to {figure(high)})"
        by.setdefault(visible(one["model"]), []).append(text)
    return ((model, tuple(texts)) for model, texts in by.items())


def _ranks(record: Record) -> Ranks | None:
    places = [(visible(p["model"]), real(p["value"])) for p in record["ranking"] if p["measure"] == "mean rank"]
    known = [(model, value) for model, value in places if value is not None]
    pairs = [one for one in record["findings"] if one["test"] in ("nemenyi", "conover") and len(one["models"]) == 2]  # noqa: PLR2004
    if len(known) < 3:  # noqa: PLR2004  two models need no diagram
        return None
    critical = next((r for one in pairs if one["test"] == "nemenyi" and (r := _half(one)) is not None), None)
    apart = {frozenset(visible(m) for m in one["models"]) for one in pairs if one.get("significant")}
    tied = not pairs
    return Ranks(places=tuple(known), critical=critical, cliques=_cliques([m for m, _ in known], apart, tied=tied))


def _half(one: Mapping[str, Any]) -> float | None:
    low, high = real(one["effect"].get("low")), real(one["effect"].get("high"))
    return None if low is None or high is None else (high - low) / 2


def _cliques(order: Sequence[str], apart: set[frozenset[str]], *, tied: bool) -> tuple[tuple[str, ...], ...]:
    """Longest runs of neighbours in the ranking no two of which differ; without tests of pairs, all are one run."""
    if tied:
        return (tuple(order),)
    runs: list[tuple[str, ...]] = []
    for start in range(len(order)):
        stop = start + 1
        while stop < len(order) and all(frozenset((order[stop], m)) not in apart for m in order[start:stop]):
            stop += 1
        run = tuple(order[start:stop])
        if len(run) > 1 and not any(set(run) <= set(other) for other in runs):
            runs.append(run)
    return tuple(runs)


def _none(record: Record) -> str:
    whys = [str(one["why"]) for one in record["answers"]]
    return prose("; ".join(whys) or "nothing was asked")


def _digests(record: Record) -> Iterable[tuple[str, str]]:
    yield from background.digests(record)
    if record["test_data"].get("digest"):
        yield "ids and truth, the same for every model", visible(record["test_data"]["digest"])


def _chance(record: Record) -> Iterator[str]:
    """The seed and the generator, where chance had a part and the Record names them."""
    generator = record["environment"].get("generator")
    if generator is not None and any("seed" in note for one in record["findings"] for note in one["notes"]):
        seed = record["plan"].get("seed")
        yield f"random swaps and draws start from seed {seed} of the generator {generator}: the same on every machine"
