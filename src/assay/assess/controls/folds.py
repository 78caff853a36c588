# SPDX-License-Identifier: Apache-2.0
"""Controls of cross-validation: folds that partition the data, and the same folds for every model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

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
