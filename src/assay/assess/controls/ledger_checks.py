# SPDX-License-Identifier: Apache-2.0
"""Control of the ledger: choices made on test data, and looks at them that the plan does not account for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from assay.assess.conformity.ledger import runs_of
from assay.assess.controls.control_declaration import Inquiry, Outcome, control, no_evidence, settle
from assay.core.text import counted, listed, quoted

TUNING: Final = ("tune", "select", "select threshold", "early stopping", "feature selection")
OPEN: Final = (("by_hand", "outside the chain of lines"), ("without_data", "without the digest of its data"))
"""What of entries keeps them from being more than a statement."""
TIMES: Final = ("time", "purpose", "data")


@dataclass(slots=True, kw_only=True)
class _Found:
    """What a ledger shows."""

    wrong: list[str] = field(default_factory=list)
    """What no reason excuses."""
    again: list[str] = field(default_factory=list)
    """Looks that want a reason."""
    facts: dict[str, Any] = field(default_factory=dict)


@control("CHK-LEDGER")
def ledger(q: Inquiry) -> Outcome:
    """Looks for choices made on test data, and looks at them before the plan was fixed."""
    findings = _Found()
    tests = {one.sha256 for one in q.of_role("test").values()}
    if q.ledger is not None:
        written = [one for one in q.ledger if "shape" not in one and one.get("purpose") != "plan"]
        odd = [i for i, one in enumerate(written, start=1) if not all(isinstance(one.get(key), str) for key in TIMES)]
        if odd:
            return no_evidence(f"entries {listed(odd)} lack {', '.join(TIMES)}", facts={"entries": len(q.ledger)})
        _written(q, written, tests, findings)
    _run(q, tests, findings)
    return _told(q, findings)


def _written(q: Inquiry, written: list[Mapping[str, Any]], tests: set[str], findings: _Found) -> None:
    """Entries that people or other programs made."""
    frozen = q.access.registered_at if q.access is not None else q.frozen_at
    tuned = [one for one in written if one["purpose"].lower() in TUNING and one["data"].lower() in tests]
    tested = [one for one in written if one["purpose"].lower() == "test"]
    early = [one for one in tested if frozen and one["time"] < frozen]
    times = Counter(str(one.get("model", "")) for one in tested if not one.get("reason"))
    twice = [model for model, n in times.items() if n > 1]
    findings.facts |= {
        "entries": len(written),
        "tuned_on_test": len(tuned),
        "tested_early": len(early),
        "tested_twice": twice,
        "by_hand": sum("before" not in one for one in written),
        "without_data": sum(not one["data"] for one in written),
    }
    if tuned:
        findings.wrong.append(f"{counted(len(tuned), 'choice')} made on test data")
    if early:
        findings.again.append(f"{counted(len(early), 'test')} before the plan was fixed")
    if twice:
        findings.again.append(f"tested more than once without a reason: {listed(twice)}")


def _run(q: Inquiry, tests: set[str], findings: _Found) -> None:
    """Entries that runs made themselves."""
    if q.access is None:
        return
    looks = [one for data in sorted(tests) for one in q.access.looks(data)]
    other = [one for data in sorted(tests) for one in q.access.elsewise(data)]
    findings.facts |= {
        "looks": runs_of(looks),
        "looks_for_other_numbers": runs_of(other),
        "altered_lines": list(q.access.ledger.broken),
        "entered": q.access.why_not is None,
    }
    if q.access.ledger.broken:
        findings.wrong.append(f"lines of the ledger were changed or taken out: {listed(q.access.ledger.broken)}")
    if other:
        plans = len({one.get("plan") for one in other})
        told = f"{counted(runs_of(other), 'look')} at the test data by {counted(plans, 'earlier plan')}"
        findings.again.append(f"{told} that asked for other numbers")


def _told(q: Inquiry, findings: _Found) -> Outcome:
    reason, facts = q.plan.tuning.retested, findings.facts
    times = f"; {counted(facts['looks'], 'look')} at the test data" if facts.get("looks") else ""
    clean = f"{counted(facts.get('entries', 0), 'entry', 'entries')}, none made a choice on test data{times}"
    open_ = [f"{counted(facts[key], 'entry', 'entries')} {words}" for key, words in OPEN if facts.get(key)]
    stated = q.signed(q.plan.tuning.test_unused)
    unexcused = findings.wrong or (findings.again and not q.signed(reason))
    return settle(
        (unexcused, "fail", "; ".join([*findings.wrong, *findings.again])),
        (findings.again, "declared", f"{'; '.join(findings.again)}; stated: {quoted(reason)}"),
        (open_, "declared", f"{clean}; {' and '.join(open_)}"),  # no chain tells when these were written
        (q.ledger is not None, "pass", clean),
        (stated, "declared", f"stated: the test data were not used for any choice{times}"),
        (True, "no-evidence", f"no ledger of choices, and no statement{times}"),
        facts=facts,
    )
