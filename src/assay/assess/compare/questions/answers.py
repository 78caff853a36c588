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


def answered(held: Mapping[str, Any], asked: Asked, positive: Label | None, data: Mapping[str, Any]) -> list[Answer]:
    """Every question the tallies can answer; a test that was named goes to the values it takes."""
    if "values" in held:
        tally = held["values"]
        if isinstance(tally, Groups):
            return of_groups(tally, asked)
        ratio = data.get("test_over_train")
        return of_values(cast("Blocks", tally), asked, UNITS[data["per"]], test_over_train=ratio)
    if "apart" in held:
        return of_apart(held["apart"], asked, positive=positive)
    if "paired" not in held:
        one = of_scores(held["scores"], asked) if "scores" in held else []
        return one + (of_rows(held["rows"], asked, positive=positive) if "rows" in held else [])
    named = _home(asked.test)
    if named is not None and ("scores" if named is PairedScores else "rows") not in held:
        raise PlanError(
            "test-refused", f"{asked.test} compares scores, and there are none", fix="give score=..., or leave it out"
        )
    free = replace(asked, test=None)
    found = of_labels(
        held["paired"], asked if named is None else free, positive=positive, channels=held.get("channels")
    )
    if "scores" in held:
        found += of_scores(held["scores"], asked if named is PairedScores else free)
    if "rows" in held:
        found += of_rows(held["rows"], asked if named is PerUnit else free, positive=positive)
    return found


def _home(test: str | None) -> type | None:
    """What a test that was named takes, if that is scores; None means labels, where it runs or is refused."""
    takes = {one.takes for one in every_test() if test in (one.name, one.family)}
    if PairedScores in takes:
        return PairedScores
    return PerUnit if takes == {PerUnit} else None
