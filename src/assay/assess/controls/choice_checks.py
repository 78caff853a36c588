# SPDX-License-Identifier: Apache-2.0
"""Controls of how models were chosen: folds of cross-validation, and the ledger of choices and looks at test data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from assay.assess.conformity.ledger import Access, runs_of
from assay.assess.controls.control_declaration import Inquiry, Outcome, control, no_evidence, settle
from assay.core.text import counted, listed, quoted

if TYPE_CHECKING:
    from assay.tally.data.split_counts import SplitRows


@control("CHK-FOLDS")
def folds(q: Inquiry) -> Outcome:
    """Looks for folds that do not partition the data."""
    table, column = q.folds, q.plan.columns.id or "id"
    if table is None:
        return no_evidence("the plan names no fold table")
    if not table.has(column, "fold"):
        return no_evidence(f"the fold table has no columns {listed([column, 'fold'])}")
    nested = table.has("inner")
    round_ = (["repetition"] if table.has("repetition") else []) + (["fold"] if nested else [])
    within = "inner" if nested else "fold"
    repeated = table.rows() - table.distinct(column, *round_)
    sizes = _sizes(table, round_, within)
    totals = {sum(one) for one in sizes.values()}
    spread = max((max(one) - min(one) for one in sizes.values()), default=0)
    ks = {len(one) for one in sizes.values()}
    facts: dict[str, Any] = {"folds": sorted(ks), "rounds": len(sizes), "tested_twice": repeated}
    facts |= {"largest_difference": spread} | _subjects(q, table, round_, within)
    shared = facts.get("shared_subjects", 0)
    wrong = {
        f"{counted(repeated, 'sample')} tested more than once": repeated,
        f"{counted(shared or 0, 'subject')} in more than one fold": shared,
        "repetitions differ in size": len(totals) > 1 and not nested,
    }
    bad = [*(_outer(table, column, facts) if nested else []), *(said for said, there in wrong.items() if there)]
    rounds = counted(len(sizes), "round" if nested else "repetition")
    fewest = min(ks, default=0)
    return settle(
        (bad, "fail", "; ".join(bad)),
        (not sizes, "no-evidence", "the fold table holds no fold"),
        (len(ks) > 1 or fewest < 2 or spread > 1, "suspect", f"folds differ in size by up to {spread}"),  # noqa: PLR2004
        (True, "pass", f"{fewest} folds in {rounds}, every sample tested once in each"),
        facts=facts,
        inputs={table.name: table.sha256},
    )


def _subjects(q: Inquiry, table: SplitRows, round_: list[str], within: str) -> dict[str, int]:
    """Subjects whose samples lie in two folds of one round, where the table names subjects."""
    subject = q.plan.columns.subject
    if subject is None or not table.has(subject):
        return {}
    return {"shared_subjects": table.distinct(subject, *round_, within) - table.distinct(subject, *round_)}


def _outer(table: SplitRows, column: str, facts: dict[str, Any]) -> list[str]:
    """What is wrong between the loops: every sample has a row in every outer fold, and is tested in exactly one.

    A row with an inner fold is training data of that outer fold, a row without one is its test data.
    """
    rounds = ["repetition"] if table.has("repetition") else []
    samples, outer = table.distinct(column, *rounds), len(table.table(*rounds, "fold") or {})
    repetitions = len(table.table("repetition") or {}) if rounds else 1
    tested = table.missing()["inner"]
    facts |= {"outer_folds": outer, "tested_outside": tested}
    bad = []
    if table.rows() != samples * outer // max(1, repetitions):
        bad.append("not every sample has a place in every outer fold")
    if tested != samples:
        bad.append(f"{counted(tested, 'test')} in the outer loop of {counted(samples, 'sample')}")
    return bad


@control("CHK-CV-SAME")
def same_folds(q: Inquiry) -> Outcome:
    """Looks for models that were cross-validated on different folds or by different schemes."""
    models = q.trained()
    if len(models) < 2:  # noqa: PLR2004
        return no_evidence("fewer than two models were trained")
    plain = q.plan.tuning.scheme in ("none", "holdout") and not q.fold_tables and q.loaded.signed
    if plain and not any(one.scheme for one in models.values()):
        return Outcome("n/a", f"the validation scheme is {q.plan.tuning.scheme}: there are no folds")
    schemes = {name: one.scheme or q.plan.tuning.scheme for name, one in models.items()}
    if len({str(one).casefold() for one in schemes.values() if one}) > 1:
        shown = ", ".join(f"{name} {quoted(one)}" for name, one in schemes.items() if one)
        return Outcome("fail", f"models have different validation schemes: {shown}", facts={"schemes": schemes})
    return _compare_folds(q, models, schemes)


def _compare_folds(q: Inquiry, models: Iterable[str], schemes: Mapping[str, str | None]) -> Outcome:
    """Whether the fold tables of all models are one."""
    column = q.plan.columns.id or "id"
    digests = {name: _digest(q.fold_tables[name], column) for name in models if name in q.fold_tables}
    facts: dict[str, Any] = {"schemes": schemes, "folds": digests}
    inputs = {name: one.sha256 for name, one in q.fold_tables.items()}
    lacking = [name for name in models if digests.get(name) is None]
    if lacking and not digests and q.folds is not None and q.loaded.signed:
        said = "stated: one fold table for all models"
        return Outcome("declared", said, facts=facts, inputs={q.folds.name: q.folds.sha256})
    return settle(
        (lacking, "no-evidence", f"no fold table with {listed([column, 'fold'])} for {listed(lacking)}"),
        (len(set(digests.values())) > 1, "fail", "models were tested on different folds"),
        (True, "pass", f"{counted(len(schemes), 'model')}, the same fold for every sample"),
        facts=facts,
        inputs=inputs,
    )


def _sizes(table: SplitRows, round_: list[str], within: str) -> dict[tuple[Any, ...], list[int]]:
    """How many samples each fold of a round tests."""
    sizes: dict[tuple[Any, ...], list[int]] = {}
    for (*outer, inner), n in (table.table(*round_, within) or {}).items():
        if inner is not None:  # in a nested table a sample without an inner fold is tested in this outer one
            sizes.setdefault(tuple(outer), []).append(n)
    return sizes


def _digest(table: SplitRows, column: str) -> str | None:
    """The digest of every sample with its repetition and its fold, in any order; None where columns are lacking."""
    if not table.has(column, "fold"):
        return None
    columns = [column, "repetition", "fold"] if table.has("repetition") else [column, "fold"]
    return table.hashes(*columns).digest


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
