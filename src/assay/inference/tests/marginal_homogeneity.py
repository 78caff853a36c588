# SPDX-License-Identifier: Apache-2.0
"""Several models on the same rows: are they right equally often, and do they call the classes equally often?"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from assay.core.traits import EXTENSION, TS4213
from assay.core.values import Undefined
from assay.inference.declare import significance
from assay.inference.findings import Check, Effect, Finding
from assay.inference.power import least_chi_squared, least_disagreement
from assay.inference.tail_probabilities import CERTAIN, chi_squared
from assay.inference.tests.mcnemar import NO_DISPUTE, NO_ROWS
from assay.tally.contingency_tables import Calls, Patterns

MANY: Final = 24
"""Rows in dispute times models from which the chi-squared form of Cochran's Q is trusted (Tate and Brown 1970)."""
LABELS: Final = "largest difference between the shares of one class called by A and by B"


@significance(
    title="Cochran's Q test",
    asks="are several models right equally often on the same rows?",
    null="every model is right with the same chance",
    effect="largest minus smallest share of right rows",
    assumes=("rows are independent", "all models were run on the same rows", "many rows in dispute"),
    never=("on models tested on different rows",),
    source=(TS4213("7.9"), EXTENSION),
    spec="T-16",
)
def cochran_q(t: Patterns, *, level: float = 0.95) -> Finding:
    k, right = len(t.models), t.right
    disputed = {key: n for key, n in t.counts.items() if 0 < sum(key) < k}
    dispute = sum(disputed.values())
    shares = [x / t.n for x in right] if t.n else []
    rows = sum(sum(key) * n for key, n in t.counts.items())
    squares = sum(sum(key) ** 2 * n for key, n in t.counts.items())
    under = k * rows - squares
    value = (k - 1) * (k * sum(x * x for x in right) - sum(right) ** 2) / under if under else NO_DISPUTE
    lost = NO_ROWS if not t.n else NO_DISPUTE
    return Finding(
        chance=NO_ROWS if not t.n else CERTAIN if isinstance(value, Undefined) else chi_squared(value, k - 1),
        effect=Effect(
            name=f"largest minus smallest {t.about}",
            value=max(shares) - min(shares) if shares else NO_ROWS,
            no_interval="see the differences of the pairs",
            share=True,
        ),
        statistic=value if not isinstance(value, Undefined) else lost,
        statistic_name="Q",
        df=(k - 1,),
        n=t.n,
        counts={**{f"{name} right": x for name, x in zip(t.models, right, strict=True)}, "rows in dispute": dispute},
        checks=(
            Check(
                assumes="rows in dispute times models is 24 or more",
                holds=dispute * k >= MANY,
                seen=f"{dispute:,} rows in dispute, {k} models",
            ),
        ),
        notes=("all models are right on exactly the same rows",) if t.n and not dispute else (),
        least=least_disagreement(max((one.disagree for one in t.pairs()), default=0), t.n, level),
    )


@significance(
    title="Bowker's test of symmetry",
    asks="where A and B call a row differently, do the swaps go both ways equally often?",
    null="P(A calls i, B calls j) = P(A calls j, B calls i) for all classes",
    effect=LABELS,
    assumes=("rows are independent", "many rows called differently"),
    never=("as a test of accuracy: use McNemar's test on right and wrong",),
    source=(TS4213("7.9"), EXTENSION),
    spec="T-35",
)
def bowker(t: Calls, *, level: float = 0.95) -> Finding:
    value, pairs = 0.0, 0
    for i, row in enumerate(t.rows):
        for j in range(i + 1, len(row)):
            there, back = row[j], t.rows[j][i]
            if there + back:
                value += (there - back) ** 2 / (there + back)
                pairs += 1
    return _labels(t, value, pairs, level)


@significance(
    title="Stuart-Maxwell test of marginal homogeneity",
    also=("marginal homogeneity",),
    asks="do A and B call every class equally often?",
    null="P(A calls i) = P(B calls i) for every class",
    effect=LABELS,
    assumes=("rows are independent", "many rows called differently"),
    never=("as a test of accuracy: use McNemar's test on right and wrong",),
    source=(TS4213("7.9"), EXTENSION),
    spec="T-35",
    errata=("E-TS-30",),
)
def stuart_maxwell(t: Calls, *, level: float = 0.95) -> Finding:
    cells = np.array(t.rows, dtype=np.float64)
    gap = cells.sum(axis=1) - cells.sum(axis=0)
    moves = cells + cells.T
    np.fill_diagonal(moves, 0.0)
    used = moves.sum(axis=1) > 0
    if not used.any():
        return _labels(t, 0.0, 0, level)
    spread = np.diag(moves.sum(axis=1)) - moves
    # Rows and columns of each connected set of classes add up to zero, so the rank is what counts, not K - 1.
    inverse, rank = np.linalg.pinv(spread, hermitian=True), int(np.linalg.matrix_rank(spread, hermitian=True))
    return _labels(t, float(gap @ inverse @ gap), rank, level)


def _labels(t: Calls, value: float, df: int, level: float) -> Finding:
    rows, n = np.array(t.rows, dtype=np.float64), t.n
    gaps = (rows.sum(axis=1) - rows.sum(axis=0)) / n if n else np.zeros(1)
    worst = int(np.argmax(np.abs(gaps)))
    lost = NO_ROWS if not n else Undefined(reason="the models call every row the same", code="no-discordant-pairs")
    return Finding(
        chance=NO_ROWS if not n else chi_squared(value, df) if df else CERTAIN,
        effect=Effect(
            name=f"share called {t.labels[worst]!s}, {t.models[0]} minus {t.models[1]}",
            value=float(gaps[worst]) if n else NO_ROWS,
            no_interval="the largest of several differences",
            share=True,
        ),
        statistic=value if df else lost,
        statistic_name="chi-squared",
        df=(df,),
        n=n,
        counts={"called differently": n - int(np.trace(rows))},
        notes=("the models call every row the same",) if n and not df else (),
        least=min(1.0, least_chi_squared(df, n, level) * math.sqrt((n - np.trace(rows)) / n)) if df else lost,
    )
