# SPDX-License-Identifier: Apache-2.0
"""Which tests a kind of values never gets, and why; part of the decision table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from assay.inference.decision_words import Kind

PAIRED: Final = "it takes different items for independent ones, but all models answered the same items (E-TS-22)"
FOLDS: Final = "the values come from one data set, so they are not independent: about 42 % false alarms at 5 % (7.2)"
OF_HALVES: Final = (
    "the values are one of all rows and the others of halves of them, so they are no sample of like values"
)
SPREAD: Final = "it takes the two samples for independent, but they are paired (E-RAI-15)"
DEPENDENT: Final = ("wilcoxon", "wilcoxon_pratt", "sign_test", "friedman", "iman_davenport", "repeated_measures_anova",
                    "greenhouse_geisser", "friedman_permutation")  # fmt: skip
"""Tests that may be run on resamples once the dependence is accepted."""

_INDEPENDENT: Final = (
    "chi_squared_association",
    "fisher_exact",
    "fisher_monte_carlo",
    "two_shares",
    "kruskal_wallis",
    "one_way_anova",
    "welch_anova",
    "welch_t",
    "mann_whitney",
    "delong_unpaired",
    "apart_difference",
)
CLUSTERED: Final = (
    "it takes all rows for independent, but rows of one subject are not: five images a subject gave 27 % false alarms "
    "at 5 %"
)
WEIGHED: Final = "it counts every row once, but the rows have weights"
_ONE_BY_ONE: Final = (
    "mcnemar_exact",
    "mcnemar_midp",
    "mcnemar_continuity",
    "mcnemar_plain",
    "cochran_q",
    "delong",
    "delong_many",
    "area_difference",
    "area_differences",
    "auroc_permutation",
    "auroc_permutations",
    "paired_permutation",
    "paired_bootstrap",
    "score_permutation",
    "class_score_permutation",
)
"""Tests that take every row for one independent observation of weight 1."""
KNOWN_AREA: Final = "it takes an area of 1 or 0 for known, so its interval of the difference is too narrow"
ONE_COLUMN: Final = "it takes the scores of one class, but every class has a column of its own"
NO_PAIRS: Final = "it compares two answers to the same row, but the models were tested on different rows"
_SPREADS: Final = ("variance_f", "bartlett", "levene", "brown_forsythe")
_SAME_ITEMS: Final = dict.fromkeys(_INDEPENDENT, (PAIRED, True)) | dict.fromkeys(_SPREADS, (SPREAD, True))

ALWAYS_REFUSED: Final[Mapping[Kind, Mapping[str, tuple[str, bool]]]] = {
    Kind.LABELS: _SAME_ITEMS,
    Kind.SCORES: _SAME_ITEMS,
    Kind.CLASS_SCORES: _SAME_ITEMS
    | dict.fromkeys(
        (
            "delong",
            "delong_many",
            "area_difference",
            "area_differences",
            "auroc_permutation",
            "auroc_permutations",
            "score_permutation",
        ),
        (ONE_COLUMN, True),
    ),
    Kind.ITEMS: _SAME_ITEMS,
    Kind.DATA_SETS: _SAME_ITEMS,
    Kind.FIVE_BY_TWO: _SAME_ITEMS,
    Kind.HALVED: _SAME_ITEMS,
    Kind.SUBJECTS: _SAME_ITEMS | dict.fromkeys((*_ONE_BY_ONE, "weighted_permutation"), (CLUSTERED, True)),
    Kind.WEIGHTED: _SAME_ITEMS | dict.fromkeys(_ONE_BY_ONE, (WEIGHED, True)),
    Kind.APART: dict.fromkeys(_ONE_BY_ONE, (NO_PAIRS, True)),
    Kind.RESAMPLES: _SAME_ITEMS
    | dict.fromkeys((*DEPENDENT, "paired_t", "mean_permutation", "pitman_morgan"), (FOLDS, True)),
}
