# SPDX-License-Identifier: Apache-2.0
"""The models of a plan against each other, on every test split: which tests ran, and which named ones were refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from assay.assess.arguments import arrange
from assay.assess.compare.compare import compare, compare_values
from assay.assess.compare.comparison import ByChannel, by_channel
from assay.assess.compare.plan_comparison import request_of
from assay.assess.plan.checked_plan import stated
from assay.core.errors import PlanError, RowsError
from assay.core.text import listed, visible
from assay.inference.tests_catalogue import tests_meant

if TYPE_CHECKING:
    from assay.assess.compare.comparison import Comparison
    from assay.assess.compare.plan_comparison import Entrant
    from assay.assess.conformity.plan_sources import PlanFiles
    from assay.assess.plan.checked_plan import LoadedPlan
    from assay.rows.limits import Limits

PAIR: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A test that the plan names: whether the table admits it, and why or why not; None where nobody can tell."""

    test: str
    admitted: bool | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """The models on one test split: the comparison, or why there is none, and what became of the named tests."""

    models: tuple[str, ...]
    comparison: Comparison | None
    why_not: str = ""
    named: tuple[Named, ...] = ()
    channels: Mapping[str, ByChannel] = field(default_factory=dict)
    """By channel column, where the rows of its levels could be compared."""


def match(
    loaded: LoadedPlan, entrants: Sequence[Entrant], limits: Limits | None = None, opened: PlanFiles | None = None
) -> dict[str, Contest]:
    """By test split: the models compared on the rows they all answered, or by values; or why they were not."""
    contests = {}
    for split in dict.fromkeys(entrant.split for entrant in entrants):
        here = [entrant for entrant in entrants if entrant.split == split]
        if len(here) < PAIR:
            continue
        contests[split] = fought(loaded, here, limits, opened)
    return contests


def fought(loaded: LoadedPlan, entrants: Sequence[Entrant], limits: Limits | None, opened: PlanFiles | None) -> Contest:
    """Compare models by the table's tests, or by the one that the plan names if it may, or overrides the table."""
    tests, models = loaded.plan.tests, tuple(entrant.name for entrant in entrants)
    try:
        given, channels = request_of(loaded, entrants, limits, opened)
        comparison = _compared(given)
        apart = {one: by_channel(comparison, given, one) for one in channels} if len(models) == PAIR else {}
    except (PlanError, RowsError) as error:
        # Told in the Record: without a comparison there is no evidence. What was found names rows, and ids stay out.
        return Contest(models=models, comparison=None, why_not=error.what)
    named = tuple(_named(name, comparison, given, tests.justification) for name in tests.chosen or ())
    by_hand = [one.test for one in named if one.admitted is None or (one.admitted is False and tests.override)]
    if len(by_hand) > 1:
        raise PlanError(
            "role-clash",
            f"{len(by_hand)} tests are chosen by hand for one question",
            where=f"{visible(loaded.path)}, tests.chosen",
            found=listed(by_hand),
            fix="keep one: of several, the one that pleases would be reported",
        )
    if by_hand and not stated(tests.justification):
        raise PlanError(
            "test-refused",
            f"{by_hand[0]} is not the test that the table gives here, and the plan does not say why it is chosen",
            where=f"{visible(loaded.path)}, tests.justification",
            found=comparison.answers[0].choice.why,
            fix="leave the test out, or state tests.justification",
        )
    if by_hand:
        comparison = _compared(given, test=by_hand[0], because=tests.justification, override=bool(tests.override))
    return Contest(models=models, comparison=comparison, named=named, channels=apart)


def _compared(given: Mapping[str, Any], **more: Any) -> Comparison:  # noqa: ANN401  options by name
    """Labels and scores row by row, or values where they are given."""
    return (compare_values if "values" in given else compare)(**arrange(**given, **more))


def _named(name: str, comparison: Comparison, given: Mapping[str, Any], because: str | None) -> Named:
    """Whether a test that the plan names is the one the table gives, by its own name or by that of its family."""
    meant = {one.name for one in tests_meant(name)}
    for answer in comparison.answers:
        every = (answer.choice.test, *answer.choice.beside, answer.choice.after)
        if meant & {one.name for one in every if one is not None}:
            return Named(test=name, admitted=True, why=answer.choice.why)
    if len(meant) > 1:  # a family of which no form is the table's
        first = comparison.answers[0].choice
        given_ = "no test" if first.test is None else first.test.name
        return Named(test=name, admitted=False, why=f"the table gives {given_}: {first.why}")
    try:
        forced = _compared(given, test=name, because=because)
    except (PlanError, RowsError) as error:
        return Named(test=name, admitted=False, why=f"{error.what}; {error.found or error.fix or ''}".rstrip("; "))
    choice = next(one.choice for one in forced.answers if one.choice.test is not None and one.choice.test.name in meant)
    return Named(test=name, admitted=None, why=choice.label or choice.why)
