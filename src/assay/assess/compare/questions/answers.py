# SPDX-License-Identifier: Apache-2.0
"""From the tallies of a comparison to its answers, when it is made and when it is computed again from its Record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from assay.assess.compare.questions.different_row_questions import of_apart
from assay.assess.compare.questions.label_questions import of_groups, of_labels, of_scores, of_values
from assay.assess.compare.questions.request import Answer, Asked
from assay.assess.compare.questions.unit_questions import of_rows
from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.inference.decision_words import UNITS
from assay.inference.tests_catalogue import every_test
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit
from assay.tally.real_values import Blocks, Groups


def answered(tallies: Mapping[str, Any], asked: Asked, positive: Label | None, data: Mapping[str, Any]) -> list[Answer]:
    """Every question the tallies can answer; a test that was named goes to the values it takes."""
    if "values" in tallies:
        tally = tallies["values"]
        if isinstance(tally, Groups):
            return of_groups(tally, asked)
        ratio = data.get("test_over_train")
        return of_values(cast("Blocks", tally), asked, UNITS[data["per"]], test_over_train=ratio)
    if "apart" in tallies:
        return of_apart(tallies["apart"], asked, positive=positive)
    if "paired" not in tallies:
        one = of_scores(tallies["scores"], asked) if "scores" in tallies else []
        return one + (of_rows(tallies["rows"], asked, positive=positive) if "rows" in tallies else [])
    named = _home(asked.test)
    if named is not None and ("scores" if named is PairedScores else "rows") not in tallies:
        raise PlanError(
            "test-refused", f"{asked.test} compares scores, and there are none", fix="give score=..., or leave it out"
        )
    free = replace(asked, test=None)
    answers = of_labels(
        tallies["paired"], asked if named is None else free, positive=positive, channels=tallies.get("channels")
    )
    if "scores" in tallies:
        answers += of_scores(tallies["scores"], asked if named is PairedScores else free)
    if "rows" in tallies:
        answers += of_rows(tallies["rows"], asked if named is PerUnit else free, positive=positive)
    return answers


def _home(test: str | None) -> type | None:
    """What a test that was named takes, if that is scores; None means labels, where it runs or is refused."""
    takes = {one.takes for one in every_test() if test in (one.name, one.family)}
    if PairedScores in takes:
        return PairedScores
    return PerUnit if takes == {PerUnit} else None
