# SPDX-License-Identifier: Apache-2.0
"""Controls of cross-validation: folds that partition the data, and the same folds for every model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from assay.assess.controls.declare import Outcome, control
from assay.assess.controls.inquiry import Inquiry
from assay.core.text import counted, listed, quoted
from assay.core.traits import TS4213

if TYPE_CHECKING:
    from assay.tally.splits import SplitRows


@control(
    "CHK-FOLDS",
    looks_for="folds that do not partition the data",
    clause=TS4213("5.3.6"),
    passes_when="every sample is tested exactly once a repetition, and folds differ by at most one in size",
)
def folds(q: Inquiry) -> Iterator[Outcome]:
    """Folds partition the data."""
    table = q.folds
    if table is None:
        yield Outcome(verdict="no-evidence", says="the plan names no fold table")
        return
    column = q.plan.columns.id or "id"
    if not table.has(column, "fold"):
        yield Outcome(verdict="no-evidence", says=f"the fold table has no columns {listed([column, 'fold'])}")
        return
    by = [column, "repetition"] if table.has("repetition") else [column]
    repeated = table.rows() - table.distinct(*by)
    cells = table.table(*[*by[1:], "fold"]) or {}
    sizes: dict[Any, list[int]] = {}
    for (*round_, _), n in cells.items():
        sizes.setdefault(tuple(round_), []).append(n)
    totals = {sum(one) for one in sizes.values()}
    spread = max(max(one) - min(one) for one in sizes.values())
    ks = {len(one) for one in sizes.values()}
    facts = {"folds": sorted(ks), "repetitions": len(sizes), "tested_twice": repeated, "largest_difference": spread}
    inputs = {table.name: table.sha256}
    if repeated or len(totals) > 1:
        said = f"{counted(repeated, 'sample')} tested more than once" if repeated else "repetitions differ in size"
        yield Outcome(verdict="fail", says=said, facts=facts, inputs=inputs)
    elif len(ks) > 1 or min(ks) < 2 or spread > 1:  # noqa: PLR2004
        yield Outcome(verdict="suspect", says=f"folds differ in size by up to {spread}", facts=facts, inputs=inputs)
    else:
        said = f"{min(ks)} folds in {counted(len(sizes), 'repetition')}, every sample tested once in each"
        yield Outcome(verdict="pass", says=said, facts=facts, inputs=inputs)


@control(
    "CHK-CV-SAME",
    looks_for="models that were cross-validated on different folds or by different schemes",
    clause=TS4213("5.3.6"),
    passes_when="every model has the same scheme and the same fold for every sample; n/a without cross-validation",
)
def same_folds(q: Inquiry) -> Iterator[Outcome]:
    """All models meet the same folds."""
    models = q.trained()
    if len(models) < 2:  # noqa: PLR2004
        yield Outcome(verdict="no-evidence", says="fewer than two models were trained")
        return
    plain = q.plan.tuning.scheme in ("none", "holdout") and not q.fold_tables and q.loaded.signed
    if plain and not any(one.scheme for one in models.values()):
        yield Outcome(verdict="n/a", says=f"the validation scheme is {q.plan.tuning.scheme}: there are no folds")
        return
    schemes = {name: one.scheme or q.plan.tuning.scheme for name, one in models.items()}
    facts: dict[str, Any] = {"schemes": schemes}
    if len({str(one).casefold() for one in schemes.values() if one}) > 1:
        shown = ", ".join(f"{name} {quoted(one)}" for name, one in schemes.items() if one)
        yield Outcome(verdict="fail", says=f"models have different validation schemes: {shown}", facts=facts)
        return
    column = q.plan.columns.id or "id"
    digests = {name: _digest(q.fold_tables[name], column) for name in models if name in q.fold_tables}
    inputs = {name: one.sha256 for name, one in q.fold_tables.items()}
    facts["folds"] = digests
    lacking = [name for name in models if digests.get(name) is None]
    if lacking and not digests and q.folds is not None and q.loaded.signed:
        said = "stated: one fold table for all models"
        yield Outcome(verdict="declared", says=said, facts=facts, inputs={q.folds.name: q.folds.sha256})
    elif lacking:
        said = f"no fold table with {listed([column, 'fold'])} for {listed(lacking)}"
        yield Outcome(verdict="no-evidence", says=said, facts=facts, inputs=inputs)
    elif len(set(digests.values())) > 1:
        yield Outcome(verdict="fail", says="models were tested on different folds", facts=facts, inputs=inputs)
    else:
        said = f"{counted(len(models), 'model')}, the same fold for every sample"
        yield Outcome(verdict="pass", says=said, facts=facts, inputs=inputs)


def _digest(table: SplitRows, column: str) -> str | None:
    """The digest of every sample with its repetition and its fold, in any order; None where columns are lacking."""
    if not table.has(column, "fold"):
        return None
    columns = [column, "repetition", "fold"] if table.has("repetition") else [column, "fold"]
    return table.hashes(*columns).digest
