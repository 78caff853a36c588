# SPDX-License-Identifier: Apache-2.0
"""Whether two columns go together, and whether features are distributed alike; several answers as one family."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from assay.assess.controls.control_declaration import Inquiry, Outcome, no_evidence
from assay.core.text import counted, figure, phrases
from assay.core.values import Undefined
from assay.inference.data_chance import kolmogorov_smirnov, kruskal_wallis_screen
from assay.inference.multiplicity import holm
from assay.inference.tests.contingency import chi_squared_association, chi_squared_fit, fisher_monte_carlo
from assay.tally.contingency_tables import Table
from assay.tally.data.feature_counts import described, values_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tally.data.split_counts import SplitRows

    Floats: TypeAlias = NDArray[np.float64]
    Codes: TypeAlias = NDArray[np.int64]

Cells: TypeAlias = Mapping[tuple[Any, ...], int]
SPARSE = 5
"""Expected counts below this make the chi-squared p a guess, so tables are drawn instead (Cochran 1954)."""
METHODS = {"chi_squared_association": "chi-squared", "fisher_monte_carlo": "random tables of the same margins"}
MANY = 200_000
"""Rows beyond which drawing tables takes long and is not needed."""
PAIR: Final = 2
SCALE: Final = 10**9
"""Declared shares become reference counts of this total; only their ratios matter."""
CODES: Final = 20
"""Different numbers up to which a feature is compared level by level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Association:
    """A table of two columns: how strong the association is and how surprising by chance."""

    p: float
    cramers_v: float
    cramers_v_low: float | None = None
    cramers_v_high: float | None = None
    detectable_v: float | None = None
    largest_share_gap: float = 0.0
    rows: int
    method: str
    test: str
    """The declared test whose p this is."""

    def to_json(self) -> dict[str, Any]:
        """As facts of a control; `flag` adjusts p where several are looked at."""
        facts = {"p": self.p, "p_adjusted": self.p, **asdict(self)}
        del facts["test"]
        return facts


def _largest_gap(rows: tuple[tuple[int, ...], ...], sides: list[int]) -> float:
    """The largest difference of the share of one column between two rows."""
    shares = [[n / side for n in row] for row, side in zip(rows, sides, strict=True) if side]
    return float(max(max(column) - min(column) for column in zip(*shares, strict=True)))


def associated(cells: Mapping[tuple[Any, ...], int]) -> Association | None:
    """The association of two columns; None where one of them has a single level."""
    down = sorted({a for a, _ in cells}, key=repr)
    across = sorted({b for _, b in cells}, key=repr)
    if len(down) < 2 or len(across) < 2:  # noqa: PLR2004
        return None
    rows = tuple(tuple(cells.get((a, b), 0) for b in across) for a in down)
    table = Table(rows=rows)
    chi_squared = chi_squared_association(table)
    sides, total = [sum(row) for row in rows], sum(map(sum, rows))
    columns = [sum(row[j] for row in rows) for j in range(len(across))]
    sparse = min(a * b / total for a in sides for b in columns) < SPARSE and total <= MANY
    finding = fisher_monte_carlo(table) if sparse else chi_squared
    unbiased, ends = chi_squared.more[0].value, chi_squared.more[0].interval
    least = chi_squared.least
    return Association(
        p=1.0 if finding.p is None else finding.p,
        cramers_v=0.0 if isinstance(unbiased, Undefined) else float(unbiased),
        cramers_v_low=0.0 if ends is None else ends.low,
        cramers_v_high=1.0 if ends is None else ends.high,
        detectable_v=float(least) if isinstance(least, (int, float)) else None,
        largest_share_gap=_largest_gap(rows, sides),
        rows=total,
        method=METHODS[finding.test],
        test=finding.test,
    )


def associated_numbers(values: Floats, codes: Codes, classes: int) -> Association | None:
    """The association of a measured column with the class: the root of epsilon squared stands where V stands else."""
    share, p = kruskal_wallis_screen([values[codes == code] for code in range(classes)])
    if classes < 2 or not len(values):  # noqa: PLR2004
        return None
    return Association(
        p=p,
        cramers_v=math.sqrt(share),
        rows=len(values),
        method="Kruskal-Wallis, root of epsilon squared",
        test="mann_whitney" if classes == 2 else "kruskal_wallis",  # noqa: PLR2004  the same test of two groups
    )


def quantile_cells(values: Floats, codes: Codes, parts: int = 20) -> dict[tuple[int, int], int]:
    """Rows by part of a measured column and by class; parts hold about as many rows each."""
    cuts = np.unique(np.quantile(values, np.linspace(0, 1, parts + 1)[1:-1]))
    cells, n = np.unique(np.stack([np.searchsorted(cuts, values), codes]), axis=1, return_counts=True)
    return {(int(a), int(b)): int(c) for (a, b), c in zip(cells.T, n, strict=True)}


def flag(facts: Mapping[str, dict[str, Any]], alpha: float, large: Callable[[dict[str, Any]], bool]) -> list[str]:
    """Flag what departs beyond chance, Holm-adjusted, and by size among facts that have a p; their names.

    >>> facts = {"a": {"p": 0.001, "size": 0.5}, "b": {"p": 0.9, "size": 0.5}, "c": {"left_out": "one level"}}
    >>> flag(facts, 0.05, lambda fact: fact["size"] > 0.1), facts["a"]["p_adjusted"]
    (['a'], 0.002)
    """
    judged = {name: fact for name, fact in facts.items() if "p" in fact}
    for fact, p in zip(judged.values(), holm([fact["p"] for fact in judged.values()]) if judged else (), strict=True):
        fact["p_adjusted"], fact["flagged"] = p, p < alpha and large(fact)
    return [name for name, fact in judged.items() if fact["flagged"]]


def alike(q: Inquiry, features: Sequence[str], pairs: Mapping[str, tuple[SplitRows, SplitRows]]) -> Outcome:
    """Each feature in each pair of data sets: the gap of distributions of numbers, the association of categories."""
    facts: dict[str, Any] = {}
    for name, (first_split, other) in pairs.items():
        for feature in features:
            if first_split.has(feature) and other.has(feature):
                facts[f"{feature}, {name}"] = _compared(first_split, other, feature)
    return judge_alike(q, "features", facts)


def judge_alike(q: Inquiry, part: str, facts: dict[str, Any]) -> Outcome:
    """Whether nothing differs both beyond chance and beyond the size that counts for its statistic."""
    limits = q.plan.checks
    bounds = {"D": limits.distance, "V": limits.association, "total variation": limits.share_gap}
    bad = flag(facts, limits.alpha, lambda fact: fact["value"] >= bounds[fact["statistic"]])
    judged = sum("p" in fact for fact in facts.values())
    if not judged:
        return no_evidence("there is nothing to compare", part=part, facts=facts)
    shown = phrases([f"{name} ({facts[name]['statistic']} {figure(facts[name]['value'])})" for name in bad])
    said = f"distributed otherwise: {shown}" if bad else f"{counted(judged, 'comparison')}, all alike"
    thresholds = {"alpha": limits.alpha, "distance": limits.distance, "cramers_v": limits.association}
    thresholds |= {"total_variation": limits.share_gap}
    return Outcome("fail" if bad else "pass", said, part=part, facts=facts, thresholds=thresholds)


def as_declared(q: Inquiry, splits: Mapping[str, SplitRows]) -> Outcome | None:
    """Features against the quantiles and shares that the plan declares of the population; None if it declares none."""
    quantiles, levels = q.plan.population.quantiles or {}, q.plan.population.levels or {}
    if not quantiles and not levels:
        return None
    facts: dict[str, Any] = {}
    for name, split in splits.items():
        facts |= {f"{one}, {name}": _quantiles(split, one, quantiles[one]) for one in quantiles if split.has(one)}
        facts |= {f"{one}, {name}": compare_levels(split, one, levels[one]) for one in levels if split.has(one)}
    return judge_alike(q, "declared", facts)


def _quantiles(split: SplitRows, feature: str, below: Mapping[str, float]) -> dict[str, Any]:
    """The largest gap between the declared shares and those of the rows at the same values."""
    shares = sorted((float(share), value) for share, value in below.items())
    values = values_of(split, feature)
    if not len(values):
        return {"left_out": "there is no number"}
    counts = np.histogram(values, bins=[-np.inf, *(np.nextafter(value, np.inf) for _, value in shares), np.inf])[0]
    seen = np.cumsum(counts)[:-1] / len(values)
    wanted = np.array([share for share, _ in shares])
    p = _fits(counts.tolist(), np.diff([0.0, *wanted, 1.0]).tolist())
    return {"statistic": "D", "value": float(np.abs(seen - wanted).max()), "p": p, "rows": len(values)}


def compare_levels(split: SplitRows, feature: str, shares: Mapping[str, float]) -> dict[str, Any]:
    """Half the sum of the gaps between declared shares and those of the rows, and the chance of as much."""
    table = split.table(feature)
    if table is None:
        return {"left_out": "too many different values to be categories"}
    counts = {str(key[0]): n for key, n in table.items() if key[0] is not None}
    if not counts:
        return {"left_out": "there is no value"}
    total, known = sum(counts.values()), [level for level, share in shares.items() if share]
    strange = sorted(level for level in counts if level not in known)
    gap = sum(abs(counts.get(one, 0) / total - shares.get(one, 0.0)) for one in {**shares, **counts}) / 2
    fits = not strange and len(known) >= PAIR
    p = _fits([counts.get(one, 0) for one in known], [shares[one] for one in known]) if fits else 0.0
    return {"statistic": "total variation", "value": gap, "p": p, "rows": total, "not_in_population": strange}


def _fits(counts: Sequence[int], shares: Sequence[float]) -> float:
    """The chance of counts as far from declared shares."""
    reference = tuple(max(1, round(share * SCALE)) for share in shares)
    return chi_squared_fit(Table(rows=(tuple(counts), reference))).p or 0.0


def _compared(first_split: SplitRows, other: SplitRows, feature: str) -> dict[str, Any]:
    short = [described(split, feature) for split in (first_split, other)]
    if all(summary.numeric for summary in short) and max(summary.distinct for summary in short) > CODES:
        gap, p = kolmogorov_smirnov(values_of(first_split, feature), values_of(other, feature))
        return {"statistic": "D", "value": gap, "p": p}
    tables = [split.table(feature) for split in (first_split, other)]
    if None in tables:
        return {"left_out": "too many different values to be categories"}
    cells = {
        (side, key[0]): n for side, table in enumerate(tables) for key, n in (table or {}).items() if key[0] is not None
    }
    summary = associated(cells) if cells else None
    if summary is None:
        return {"left_out": "there is one level only"}
    low, high = summary.cramers_v_low, summary.cramers_v_high
    return {"statistic": "V", "value": summary.cramers_v, "low": low, "high": high, "p": summary.p}


def guessed_by(cells: Cells) -> tuple[float, float]:
    """How far the guess "the class this channel holds most of" lies above chance, each row left out of its own vote.

    Classes vote by shares of their rows: by numbers, a frequent class would win everywhere and hide what the channel
    tells of a rare one. The second figure is the lower end of a 95 % interval.

    >>> [round(x, 2) for x in guessed_by({("a", 1): 50, ("b", 0): 50})]
    [0.5, 0.5]
    """
    levels: dict[Any, dict[Any, int]] = {}
    classes: dict[Any, int] = {}
    for (level, label), n in cells.items():
        levels.setdefault(level, {})[label] = n
        classes[label] = classes.get(label, 0) + n
    right: dict[Any, float] = dict.fromkeys(classes, 0.0)
    for votes in levels.values():
        for label, n in votes.items():
            own = (n - 1) / max(1, classes[label] - 1)
            others = [m / classes[other] for other, m in votes.items() if other != label]
            ties = sum(one == own for one in others)
            right[label] += n if own > max(others, default=0) else n / (1 + ties) if own and ties else 0
    recalls = {label: right[label] / n for label, n in classes.items()}
    k = len(classes)
    balanced = sum(recalls.values()) / k
    spread = math.sqrt(sum(r * (1 - r) / classes[label] for label, r in recalls.items())) / k
    return balanced - 1 / k, balanced - 1 / k - 1.96 * spread
