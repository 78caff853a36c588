# SPDX-License-Identifier: Apache-2.0
"""The question of stated costs: whose mistakes cost less, for every two models."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from assay.assess.compare.questions.request import Answer, Asking
from assay.inference.decision_words import Facts, Question
from assay.inference.multiplicity import adjusted

if TYPE_CHECKING:
    from assay.tally.paired.joint_cells import PairedLabels
    from assay.tally.paired.per_unit import PerUnit


def of_costs(asking: Asking, t: PairedLabels | PerUnit, facts: Facts) -> list[Answer]:
    """Nothing where no costs are stated; one family of all pairs otherwise."""
    if asking.asked.costs is None:
        return []
    choice = asking.choice(Question.COST, facts, free=True)
    if choice.test is None:
        return [Answer(question="cost", kind=asking.kind, choice=choice, findings=(), notes=(choice.why,))]
    pairs = list(combinations(t.models, 2))
    found = [one for a, b in pairs for one in asking.run(choice.test, t.only(a, b), choice)]
    family = tuple(f"mean_cost of {a} and {b}" for a, b in pairs) if len(pairs) > 1 else ()
    told = tuple(adjusted(found, asking.asked.correction))
    return [Answer(question="cost", kind=asking.kind, choice=choice, findings=told, family=family)]
