# SPDX-License-Identifier: Apache-2.0
"""Score tables the law tests draw from, and every measure of scores with parameters that make it ready to call."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from assay.core.errors import AssayError
from assay.measures import REGISTRY
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.scores.ranked_table import Ranked
from assay.tally.scores.rounded_scores import round_scores
from assay.tally.scores.row_probabilities import RowScores
from assay.tally.scores.score_tally import Scores
from assay.tally.scores.true_class_ranks import Ranks
from tests import flat
from tests.strategies import Case

PARAMETERS = {
    "partial_auroc": [{"max_fpr": 0.3}, {"max_fpr": 1}],
    "partial_auroc_standardised": [{"max_fpr": 0.3}, {"max_fpr": 0.9}],
    "lift_at": [{"share": 0.1}, {"share": 0.5}, {"share": 1}],
    "net_benefit": [{"threshold": 0.25}, {"threshold": 0.5}],
    "h_measure": [{}, {"alpha": 2, "beta": 2}],
    "expected_calibration_error": [{}, {"bins": 4, "binning": "mass"}],
    "maximum_calibration_error": [{}, {"bins": 3, "binning": "mass"}],
    "adaptive_calibration_error": [{}, {"bins": 3}],
    "top_label_calibration_error": [{}, {"bins": 3, "binning": "mass"}],
    "expected_calibration_error_macro": [{}, {"bins": 3, "binning": "mass"}],
    "top_k_accuracy": [{"k": 1}, {"k": 2}],
    "log_loss": [{}, {"clip": 0.01}],
}
SCORE_CASES = [
    Case(m, tuple(given.items())) for m in REGISTRY if m.from_scores for given in PARAMETERS.get(m.name, [{}])
]
RANKED_CASES = [case for case in SCORE_CASES if case.measure.takes is Ranked]
SCORES_CASES = [case for case in SCORE_CASES if case.measure.takes is Scores]
RANKS_CASES = [case for case in SCORE_CASES if case.measure.takes is Ranks]
ROW_CASES = [case for case in SCORE_CASES if case.measure.takes is RowScores]
CURVES = [case for case in RANKED_CASES if case.measure.family == "curves"]

chances = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5, 0.75, 0.9, 1.0]) | st.floats(0, 1)
inner = st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9]) | st.floats(0.01, 0.99)
rows = st.lists(st.tuples(st.one_of(inner, chances), st.booleans()), max_size=25)
classes = st.lists(st.tuples(st.tuples(*[st.integers(0, 8)] * 3), st.integers(0, 2)), max_size=15)


def ranked(some, weight=None):
    return Scores.binary([s for s, _ in some], [y for _, y in some], weight).one_vs_rest(1)


def matrix(some):
    """Rows of three small whole numbers as probabilities that sum to 1."""
    parts = np.array([row for row, _ in some], dtype=np.float64).reshape(-1, 3) + 1
    return parts / parts.sum(axis=1, keepdims=True)


def scores(some):
    return Scores.per_class(matrix(some), [y for _, y in some], ("a", "b", "c"))


def ranks(some):
    return Ranks.of(matrix(some), [y for _, y in some])


def row_scores(some):
    return RowScores.of(matrix(some), [y for _, y in some])


def refused(code, **given):
    """The error an assessment ends with."""
    with pytest.raises(AssayError) as caught:
        flat.assess(**given)
    assert caught.value.code == code, caught.value
    assert caught.value.fix
    return caught.value


def rounded_pair(tally, bits):
    """The same rows of several models as cells of rounded scores, as an engine counts them."""
    rows = np.concatenate([tally.positives, tally.negatives], axis=1)
    is_positive = np.arange(rows.shape[1]) < tally.m
    cells = [round_scores(row, bits, probability=bool(row.min() >= 0 and row.max() <= 1)) for row in rows]
    return PairedScores.of_cells(tally.models, np.stack(cells), is_positive, np.ones(len(is_positive), np.int64), bits)
