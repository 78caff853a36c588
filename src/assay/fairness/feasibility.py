# SPDX-License-Identifier: Apache-2.0
"""What cannot hold together, and what needs more than counts of groups: flipped predictions, a list of features."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.core.labels import Label
from assay.core.registry import folded
from assay.core.text import figure, quoted
from assay.fairness.disparity import Disparity
from assay.fairness.group_statistics import value_of_share
from assay.tally.labels.one_vs_rest import Binary


def false_positive_rate_from_identity(prevalence: float, ppv: float, tpr: float) -> float:
    """The false positive rate that prevalence, precision and recall leave no choice about.

    >>> round(false_positive_rate_from_identity(0.5, 261 / 368, 0.87), 10)
    0.3566666667
    """
    return prevalence / (1 - prevalence) * (1 - ppv) / ppv * tpr


@dataclass(frozen=True, slots=True, kw_only=True)
class Feasibility:
    """Whether predictive parity and equalised odds can hold together, and why not."""

    possible: bool
    sentence: str
    exceptions: str = (
        "Exceptions: a classifier without errors (precision 1, false positive rate 0) and one that calls nothing "
        "positive (recall and false positive rate 0)."
    )
    implied: Mapping[Label, float]
    """By group: the false positive rate if precision and recall of all rows held in it."""

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        implied = [{"level": level, "false_positive_rate": value} for level, value in self.implied.items()]
        return {"possible": self.possible, "sentence": self.sentence, "exceptions": self.exceptions, "implied": implied}


def check_feasibility(factor: str, tables: Mapping[Label, Binary], prevalence: Disparity) -> Feasibility | None:
    """The conflict of predictive parity and equalised odds where prevalences differ (E-FUN-05); None if undefined."""
    whole = sum(tables.values(), Binary.of(tp=0, fp=0, fn=0, tn=0))
    if not (whole.tp and whole.called and whole.actual) or prevalence.worst is None or prevalence.low is None:
        return None
    ppv, tpr = float(whole.tp) / float(whole.called), float(whole.tp) / float(whole.actual)
    implied = {}
    for level, table in tables.items():
        share = float(table.actual) / float(table.n) if table.n else 0.0
        if 0 < share < 1:
            implied[level] = false_positive_rate_from_identity(share, ppv, tpr)
    high, low = prevalence.worst
    if high not in implied or low not in implied:
        return None
    shares = [float(tables[level].actual) / float(tables[level].n) for level in (high, low)]
    facts = f"prevalence is {figure(shares[0])} for {quoted(high)} and {figure(shares[1])} for {quoted(low)}"
    if prevalence.low <= 0:
        return Feasibility(
            possible=True,
            sentence=f"By {factor}, {facts}; chance explains the difference, so the criteria need not conflict.",
            implied=implied,
        )
    sentence = (
        f"By {factor}, {facts}, so predictive parity and equalised odds cannot both hold: with precision {figure(ppv)} "
        f"and recall {figure(tpr)} in both groups, the false positive rate must be {figure(implied[high])} for "
        f"{quoted(high)} and {figure(implied[low])} for {quoted(low)}, because "
        "FPR = prevalence / (1 - prevalence) x (1 - PPV) / PPV x TPR."
    )
    return Feasibility(possible=False, sentence=sentence, implied=implied)


def flip_test(factor: str, changed: int, rows: int, level: float) -> Disparity:
    """Causal discrimination: the share of rows whose prediction changes with the group alone."""
    share = value_of_share(changed, rows, "all rows", rows)
    blank = Disparity(name="causal_discrimination", factor=factor, value=None, level=level)
    if share.ends is None:
        return replace(blank, reason="no row has a flipped prediction")
    low, high = share.ends(level)
    sure = replace(blank, value=share.value, low=low, high=high, method="wilson")
    return replace(sure, groups=(share,), denominators=("rows",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unawareness:
    """Whether a list of features names the group or a declared proxy of it."""

    factor: str
    aware_by: tuple[str, ...]
    note: str = (
        "The absence of the group from the features is not evidence of fairness: other features may stand for it."
    )

    @property
    def unaware(self) -> bool:
        """No feature of the list names it."""
        return not self.aware_by

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        named = {"factor": self.factor, "unaware": self.unaware, "features": list(self.aware_by)}
        return {"criterion": "unawareness", **named, "note": self.note}


def check_unawareness(factor: str, features: Sequence[str], proxies: Iterable[str] = ()) -> Unawareness:
    """Compare the names of features with the group and its proxies; encoded columns (`sex_f`, `sex=f`) count.

    >>> check_unawareness("sex", ["age", "Sex_male", "income"]).aware_by
    ('Sex_male',)
    """
    names = {folded(part) for name in (factor, *proxies) for part in (name, *name.split(":"))}

    def named(feature: str) -> bool:
        words = re.split(r"[=:._\s-]+", feature)
        starts = {folded("".join(words[:end])) for end in range(1, len(words) + 1)}
        return bool(names & starts)

    return Unawareness(factor=factor, aware_by=tuple(feature for feature in features if named(feature)))
