# SPDX-License-Identifier: Apache-2.0
"""The best line of the truth on the log-odds is found wherever there is one, however steep."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from assay.core.values import Undefined
from assay.measures import parse
from assay.tally.scores.ranked_table import Ranked
from assay.tasks.classification.measures.logistic_fit import lines

SLOPE = parse("calibration_slope")


def steep(seed, rows=190, slope=30.0, spread=3.0):
    """Log-odds that all but separate the classes, in order, and the truth."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.normal(size=rows) * spread)
    return x, rng.random(rows) < 1 / (1 + np.exp(np.clip(-slope * x, -700, 700)))


def table(x, y):
    return Ranked(score=1 / (1 + np.exp(-x)), pos=y.astype(np.int64), neg=(~y).astype(np.int64))


def separated(y):
    return (~y).nonzero()[0][-1] < y.nonzero()[0][0]


def surprise(line, x, y):
    """What the best line makes smallest: the negative log-likelihood."""
    logit = line[0] + line[1] * x
    return float((np.logaddexp(0, logit) - y * logit).sum())


STEEP = [seed for seed in range(60) if not separated(steep(seed)[1])]


def test_no_line_is_called_endless_that_has_an_end():
    assert len(STEEP) > 20
    for seed in STEEP:
        x, y = steep(seed)
        found = SLOPE(table(x, y)).value
        loss = partial(surprise, x=x, y=y)
        fitted = minimize(
            loss, [0.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 5000}
        )
        assert found == pytest.approx(fitted.x[1], rel=1e-5)
    x = steep(0)[0]
    assert isinstance(SLOPE(table(x, x > 0)), Undefined)


def test_draws_are_left_out_only_where_no_line_ends():
    x, y = steep(STEEP[0])
    rng = np.random.default_rng(1)
    drawn = table(x, y).drawn(*(rng.poisson(cells, size=(250, len(x))).astype(float) for cells in (y, ~y)))
    pos, neg = drawn.pos > 0, drawn.neg > 0
    endless = (len(x) - 1 - neg[:, ::-1].argmax(axis=1)) <= pos.argmax(axis=1)
    assert not endless.all()
    np.testing.assert_array_equal(np.isnan(SLOPE.values(drawn)), endless)


@given(
    st.lists(
        st.tuples(st.floats(-8, 8).map(lambda one: round(one, 2)), st.integers(0, 5), st.integers(0, 5)),
        min_size=3,
        max_size=12,
        unique_by=lambda one: one[0],
    )
)
def test_at_the_line_the_gradient_is_zero(rows):
    x, pos, neg = (np.array(one) for one in zip(*sorted(rows), strict=True))
    logit = x.astype(float)
    there = {name: cells.nonzero()[0] for name, cells in (("pos", pos), ("neg", neg))}
    score = 1 / (1 + np.exp(-logit))
    found = SLOPE(Ranked(score=score, pos=pos.astype(np.int64), neg=neg.astype(np.int64)))
    if not len(there["pos"]) or not len(there["neg"]):
        assert isinstance(found, Undefined)
        return
    apart = there["neg"][-1] <= there["pos"][0] or there["pos"][-1] <= there["neg"][0]
    assert isinstance(found, Undefined) == apart
    if apart:
        return
    centred = logit - logit.mean()
    a, b, failed = lines(
        centred,
        pos[np.newaxis].astype(float),
        (pos + neg)[np.newaxis].astype(float),
        (0.0, 0.0),
        fixed=False,
    )
    assert not failed
    assert b[0] == pytest.approx(found.value, rel=1e-7, abs=1e-9)
    off = pos - (pos + neg) / (1 + np.exp(-(a[0] + b[0] * centred)))
    assert abs(off.sum()) + abs((off * centred).sum()) < 1e-8 * max(1.0, abs(b[0])) * (pos + neg).sum()


def test_many_tables_are_fitted_as_each_alone():
    rng = np.random.default_rng(7)
    x = np.linspace(-2, 2, 300)
    pos = rng.poisson(1 / (1 + np.exp(-x)), size=(250, 300)).astype(float)
    rows = pos + rng.poisson(1 / (1 + np.exp(x)), size=(250, 300))
    for fixed, start in ((False, 0.0), (True, 1.0)):
        a, b, failed = lines(x, pos, rows, (0.0, start), fixed=fixed)
        assert not failed.any()
        for i in (0, 108, 249):
            alone = lines(x, pos[i : i + 1], rows[i : i + 1], (0.0, start), fixed=fixed)
            assert (alone[0][0], alone[1][0]) == (a[i], b[i])
