# SPDX-License-Identifier: Apache-2.0
"""Labels that a threshold makes of scores, where models are compared by them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw

from assay.core.labels import Label
from assay.rows.score_columns import ScoreColumns
from assay.rows.scored_source import sound
from assay.rows.source import ArraySource, Roles, Source, closing_on_failure

CALL = "assay_call_{}"
"""What columns of such labels are called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The positive label at or above a threshold of a score, the other label below (s >= t everywhere)."""

    score: str
    threshold: float
    positive: Label
    negative: Label

    def expression(self, score: str) -> Any:  # noqa: ANN401  a Narwhals expression
        """The label of a row, from a column of numbers, in any engine."""
        above = nw.col(score) >= float(self.threshold)
        return nw.when(above).then(nw.lit(self.positive)).otherwise(nw.lit(self.negative))


def with_scores_of(roles: Roles, cuts: list[Cut]) -> Roles:
    """The roles with the scores that are cut behind the others, for whoever opens a table to check them, too."""
    own = () if roles.score is None else roles.score.columns
    columns = (*own, *(cut.score for cut in cuts))
    return replace(roles, score=ScoreColumns(columns=columns)) if columns else roles


def opened_cut(opened: Callable[[Roles], Source], roles: Roles) -> Source:
    """A table whose labels are columns or cuts of columns, by roles: every cut is a column of its own."""
    cuts = [one for one in (roles.predicted, *roles.group.values()) if isinstance(one, Cut)]
    if not cuts:
        return opened(roles)

    wide = with_scores_of(
        replace(
            roles,
            predicted=None if isinstance(roles.predicted, Cut) else roles.predicted,
            group={name: column for name, column in roles.group.items() if not isinstance(column, Cut)},
        ),
        cuts,
    )
    wide_source = opened(wide)
    with closing_on_failure(wide_source):
        source = sound(wide_source, "any", single=False, drop=False)[0]
    if isinstance(source, ArraySource):  # pragma: no cover  cuts are asked of files and frames
        raise TypeError
    own = len(source.score) - len(cuts)
    made = {CALL.format(i): (cut, score) for i, (cut, score) in enumerate(zip(cuts, source.score[own:], strict=True))}
    names = iter(made)

    def called(column: object, before: str | None) -> str:
        return next(names) if isinstance(column, Cut) else str(before)

    return replace(
        source,
        frame=source.frame.with_columns(**{name: cut.expression(score) for name, (cut, score) in made.items()}),
        predicted=called(roles.predicted, source.predicted),
        group={name: called(column, source.group.get(name)) for name, column in roles.group.items()},
        score=source.score[:own],
        names={**source.names, **{name: cut.score for name, (cut, _) in made.items()}},
    )
