# SPDX-License-Identifier: Apache-2.0
"""Criteria about gaps between groups: `gap(recall, sex) <= 0.05`, `equalized_odds(sex) <= 0.1`, `four_fifths(sex)`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from assay.core.traits import HIGHER, LOWER, Better
from assay.core.values import Number, Undefined
from assay.fairness.fairness_criteria import FOUR_FIFTHS, find_criterion
from assay.fairness.settings import split_criterion
from assay.inference.estimates import Estimate, Interval

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.core.values import Amount
    from assay.fairness.disparity import Disparity

OPERATORS: Final = ("gap", "ratio", "four_fifths")
_HEAD: Final = re.compile(r"\s*([A-Za-z_][\w ]*?)\s*\((?=(.*)\)([^()]*)$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class GroupGap:
    """How far the groups of a factor lie apart, in the place where a criterion has a measure."""

    what: str
    """`gap(recall)`, `ratio(recall)`, a criterion of fairness, or `four_fifths`."""
    factor: str
    family: str = "fairness"
    base: None = None
    from_labels: bool = False
    """Not computed from one table of labels."""

    @property
    def title(self) -> str:
        """As it is typed: `gap(recall, sex)`."""
        name, _, inside = self.what.partition("(")
        return f"{name}({inside.removesuffix(')')}, {self.factor})" if inside else f"{name}({self.factor})"

    name = title

    @property
    def better(self) -> Better:
        """A large ratio of the lowest to the highest group is wanted, and a small gap."""
        return HIGHER if self.what.startswith(("ratio(", "four_fifths")) else LOWER

    @property
    def range(self) -> tuple[float, float]:
        """From no gap to any."""
        return (0.0, 1.0) if self.better is HIGHER else (0.0, math.inf)

    @property
    def range_shown(self) -> str:
        """In words."""
        return "0 to 1" if self.better is HIGHER else "0 or more"

    def disparity(self, assessment: Assessment) -> Disparity:
        """What is decided about."""
        return assessment.fairness[self.factor][self.what]

    def estimate(self, assessment: Assessment) -> Estimate:
        """The same with its interval, which holds for all pairs of groups at once."""
        disparity = self.disparity(assessment)
        interval = None
        if disparity.low is not None and disparity.high is not None:
            interval = Interval(low=disparity.low, high=disparity.high, level=disparity.level, method=disparity.method)
        result = (
            Undefined(reason=disparity.reason) if disparity.value is None else Number(cast("Amount", disparity.value))
        )
        return Estimate(
            measure=self.title, result=result, interval=interval, no_interval=disparity.no_interval or None,
            n=assessment.counts.rows,
        )  # fmt: skip

    def not_judged(self, assessment: Assessment) -> str:
        """The groups that the gap does not speak of; a pass needs all of them."""
        return "; ".join(map(str, self.disparity(assessment).left_out))


def read_group_gap(text: str) -> tuple[GroupGap | None, str]:
    """The gap at the beginning of a criterion and what follows it; None where it speaks of a measure.

    >>> gap, rest = read_group_gap("gap(lift_at(share=0.1), sex) <= 0.05")
    >>> gap.title, gap.factor, rest
    ('gap(lift_at(share=0.1), sex)', 'sex', '<= 0.05')
    """
    head = _HEAD.match(text)
    if head is None or not (head[1] in OPERATORS or find_criterion(head[1])):
        return None, text
    name, inside, rest = head[1], head[2], head[3].strip()
    known = find_criterion(name)
    what, factor = split_criterion(f"{known.name if known else name}({inside})")
    if factor is None:
        return None, text
    return GroupGap(what, factor), rest or (f">= {FOUR_FIFTHS}" if what == "four_fifths" else "")
