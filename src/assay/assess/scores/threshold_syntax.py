# SPDX-License-Identifier: Apache-2.0
"""Rules that choose a threshold, as they are typed: youden, equal error, f1, recall 0.9, cost 1:5."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from numbers import Real
from typing import Final, TypeAlias

from assay.core.errors import PlanError, unknown_choice
from assay.core.text import visible
from assay.rows.label_types import EXACT
from assay.tally.scores.ranked_table import Ranked
from assay.tasks.classification.measures import threshold_rules
from assay.tasks.classification.measures.threshold_rules import Chosen

Rule: TypeAlias = Callable[[Ranked], Chosen]

KNOWN: Final = (
    "youden, equal error, f1 (f2, f0.5 ...), recall 0.9, specificity 0.9, precision 0.9,"
    " cost 1:5 (of a false positive : of a miss)"
)
_NUMBER: Final = r"(\d+(?:\.\d*)?|\.\d+)"
_TARGET: Final = re.compile(rf"(recall|specificity|precision)(?:\s*(?:>=|=)\s*|\s+){_NUMBER}")
_COST: Final = re.compile(rf"cost(?:\s*=\s*|\s+){_NUMBER}\s*:\s*{_NUMBER}")
_F: Final = re.compile(rf"f\s*{_NUMBER}")


def rule(text: str) -> Rule:
    """The rule a text names.

    >>> import numpy as np
    >>> t = Ranked(score=np.array([0.2, 0.5, 0.9]), pos=np.array([0, 1, 1]), neg=np.array([2, 1, 0]))
    >>> rule("recall 1")(t).threshold
    0.5
    """
    plain = text.strip().lower().replace("_", " ").replace("-", " ")
    if plain == "youden":
        return threshold_rules.youden
    if plain == "equal error":
        return threshold_rules.equal_error
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
    raise PlanError(
        "option-unknown",
        f"{visible(repr(given))} is not a threshold",
        where="threshold",
        known="a finite number, or a rule",
        fix="give a number such as 0.5",
    )
