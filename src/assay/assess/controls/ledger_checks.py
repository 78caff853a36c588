# SPDX-License-Identifier: Apache-2.0
"""Control of the ledger: choices made on test data, and looks at them that the plan does not account for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from assay.assess.conformity.ledger import Access, runs_of
from assay.assess.controls.control_declaration import Inquiry, Outcome, control, no_evidence, settle
from assay.core.text import counted, listed, quoted

TUNING: Final = ("tune", "select", "select threshold", "early stopping", "feature selection")
OPEN: Final = (("by_hand", "outside the chain of lines"), ("without_data", "without the digest of its data"))
"""What of entries keeps them from being more than a statement."""
TIMES: Final = ("time", "purpose", "data")


@control("CHK-LEDGER")
def ledger(q: Inquiry) -> Outcome:
    """Looks for choices made on test data, and looks at them before the plan was fixed."""
    written = [one for one in q.ledger or () if "shape" not in one and one.get("purpose") != "plan"]
    odd = [i for i, one in enumerate(written, start=1) if not all(isinstance(one.get(key), str) for key in TIMES)]
    if odd:
        return no_evidence(f"entries {listed(odd)} lack {', '.join(TIMES)}", facts={"entries": len(q.ledger or ())})
    tests = sorted({one.sha256 for one in q.of_role("test").values()})
    wrong, again, facts = _written(q, written, tests)
    if q.ledger is None:
        facts = {}
    if q.access is not None:
        looks = _looks(q.access, tests)
        wrong, again, facts = wrong | looks[0], again | looks[1], facts | looks[2]
    return _settled(q, [text for text in wrong if wrong[text]], [text for text in again if again[text]], facts)


def _looks(access: Access, tests: list[str]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The same of entries that runs made themselves."""
    other = [one for data in tests for one in access.elsewise(data)]
    broken, looks = access.ledger.broken, [one for data in tests for one in access.looks(data)]
    facts = {"looks": runs_of(looks), "looks_for_other_numbers": runs_of(other)}
    plans = counted(len({one.get("plan") for one in other}), "earlier plan")
    many = f"{counted(runs_of(other), 'look')} at the test data by {plans} that asked for other numbers"
    wrong = {f"lines of the ledger were changed or taken out: {listed(broken)}": broken}
    return wrong, {many: other}, facts | {"altered_lines": list(broken), "entered": access.why_not is None}


def _written(
    q: Inquiry, written: list[Mapping[str, Any]], tests: list[str]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """What entries of people and other programs show: what no reason excuses, looks that want one, and facts."""
    frozen = q.access.registered_at if q.access is not None else q.frozen_at
    tuned = [one for one in written if one["purpose"].lower() in TUNING and one["data"].lower() in tests]
    tested = [one for one in written if one["purpose"].lower() == "test"]
    early = [one for one in tested if frozen and one["time"] < frozen]
    times = Counter(str(one.get("model", "")) for one in tested if not one.get("reason"))
    twice = [model for model, n in times.items() if n > 1]
    facts = {
        "entries": len(written),
        "tuned_on_test": len(tuned),
        "tested_early": len(early),
        "tested_twice": twice,
        "by_hand": sum("before" not in one for one in written),
        "without_data": sum(not one["data"] for one in written),
    }
    again = {
        f"{counted(len(early), 'test')} before the plan was fixed": early,
        f"tested more than once without a reason: {listed(twice)}": twice,
    }
    return {f"{counted(len(tuned), 'choice')} made on test data": tuned}, again, facts


def _settled(q: Inquiry, wrong: list[str], again: list[str], facts: Mapping[str, Any]) -> Outcome:
    reason = q.plan.tuning.retested
    times = f"; {counted(facts['looks'], 'look')} at the test data" if facts.get("looks") else ""
    clean = f"{counted(facts.get('entries', 0), 'entry', 'entries')}, none made a choice on test data{times}"
    open_ = [f"{counted(facts[key], 'entry', 'entries')} {words}" for key, words in OPEN if facts.get(key)]
    unexcused = wrong or (again and not q.signed(reason))
    return settle(
        (unexcused, "fail", "; ".join([*wrong, *again])),
        (again, "declared", f"{'; '.join(again)}; stated: {quoted(reason)}"),
        (open_, "declared", f"{clean}; {' and '.join(open_)}"),  # no chain tells when these were written
        (q.ledger is not None, "pass", clean),
        (q.signed(q.plan.tuning.test_unused), "declared", f"stated: the test data were not used for any choice{times}"),
        (True, "no-evidence", f"no ledger of choices, and no statement{times}"),
        facts=facts,
    )
