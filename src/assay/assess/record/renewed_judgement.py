# SPDX-License-Identifier: Apache-2.0
"""Judging a Record again: every requirement row from the plan, the controls and the results that the Record holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from assay.assess.conformity.statement import judge
from assay.assess.controls import CONTROLS, Checked, Inquiry
from assay.assess.controls.control_declaration import Outcome
from assay.assess.plan.checked_plan import planned

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment


def rejudged(record: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The statement as stored and as judged again, without sentences."""
    conformity = record["conformity"]
    asked = Inquiry(
        loaded=planned(record["plan"]["declared"]),
        model=record["plan"]["model"],
        split=record["plan"]["split"],
        assessment=cast("Assessment", SimpleNamespace(task=record["task"])),
        findings=tuple(record["findings"]),
    )
    return _plain(conformity), _plain(judge(asked, _checked(record["controls"]), record).to_json())


def _checked(controls: list[Mapping[str, Any]]) -> Iterator[Checked]:
    for one in controls:
        outcome = Outcome(part=one["part"] or "", verdict=one["verdict"], says=one["says"], facts=one["facts"])
        yield Checked(control=CONTROLS[one["check"]], outcome=outcome, at=one["at"])


def _plain(conformity: Mapping[str, Any]) -> dict[str, Any]:
    """Everything but sentences, which a later version may put otherwise; the digest of the whole answers for them."""
    kept = {name: value for name, value in conformity.items() if name != "says"}
    for part in ("rows", "supplement"):
        kept[part] = [
            {
                **{name: value for name, value in row.items() if name != "says"},
                "evidence": [{name: one[name] for name in ("kind", "name", "verdict")} for one in row["evidence"]],
            }
            for row in conformity[part]
        ]
    return kept
