# SPDX-License-Identifier: Apache-2.0
"""A fixture that makes acceptance criteria a test: `assay_gate(assessment, "recall >= 0.85")`.

pytest loads this file at every start, so it imports nothing of assay before the fixture is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.assess.decide.decision import Decisions


@pytest.fixture
def assay_gate() -> Callable[..., Decisions]:
    """Decides criteria: the test fails if one fails; one that is not decided fails it too, unless said otherwise."""

    def gate(
        given: Any,  # noqa: ANN401  an assessment, a Record or its path
        *criteria: str,
        against: Any = None,  # noqa: ANN401
        correction: str = "holm",
        inconclusive: Literal["fail", "skip", "pass"] = "fail",
    ) -> Decisions:
        import os

        from assay.assess.assessment import Assessment
        from assay.assess.record.record import Record

        one = Record.load(given) if isinstance(given, (str, os.PathLike)) else given
        one = Assessment.from_record(one) if isinstance(one, Record) else one
        decided = (one.accept(*criteria, against=against, correction=correction) if criteria else one).decisions
        verdict = str(decided.verdict)
        lines = [f"{d.verdict}: {d.criterion}: {d.why}" for d in decided if str(d.verdict) != "pass"]
        lines += [f"  {d.needed.why}" for d in decided if d.needed is not None]
        text = "\n".join([f"assay gate: {verdict}", *(lines or ["no criterion is stated"])])
        if verdict == "fail" or (verdict == "inconclusive" and inconclusive == "fail"):
            pytest.fail(text, pytrace=False)
        if verdict == "inconclusive" and inconclusive == "skip":
            pytest.skip(text)
        return decided

    return gate
