# SPDX-License-Identifier: Apache-2.0
"""The decision table as data: what kind of values, how many models, which question; hence which test, and why.

Row numbers are those of the specification of tests; the first row that fits is the one that counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from assay.inference.decision_words import (
    ALWAYS,
    FEW_OF_A_CLASS,
    FEW_SETS,
    FOUR_CELLS,
    LARGE_COUNTS,
    MANY,
    MANY_ROWS,
    MANY_UNITS,
    NEAR_PERFECT,
    NORMAL,
    NORMAL_ALIKE,
    ROWS_KNOWN,
    SMALL,
    VERY_MANY,
    Condition,
    Kind,
    Question,
    Row,
    Way,
)

ONE, TWO, MORE, SEVERAL, ANY = (1, 1), (2, 2), (3, MANY), (2, MANY), (1, MANY)
"""How many models a row is for, at least and at most."""
PAIRED: Final = "it takes different items for independent ones, but all models answered the same items (E-TS-22)"
FOLDS: Final = "the values come from one data set, so they are not independent: about 42 % false alarms at 5 % (7.2)"
OF_HALVES: Final = (
    "the values are one of all rows and the others of halves of them, so they are not a sample of like values"
)
SPREAD: Final = "it takes the two samples for independent, but they are paired (E-RAI-15)"
DEPENDENT: Final = ("wilcoxon", "wilcoxon_pratt", "sign_test", "friedman", "iman_davenport", "repeated_measures_anova",
                    "greenhouse_geisser", "friedman_permutation")  # fmt: skip
"""Tests that may be run on resamples once the dependence is accepted."""

_INDEPENDENT: Final = ("chi_squared_association", "fisher_exact", "fisher_monte_carlo", "two_shares", "kruskal_wallis",
                       "one_way_anova", "welch_anova", "welch_t", "mann_whitney", "delong_unpaired", "apart_difference")  # fmt: skip
CLUSTERED: Final = (
    "it takes all rows for independent, but rows of one subject are not: five images a subject gave 27 % false alarms "
    "at 5 %"
)
WEIGHED: Final = "it counts every row once, but the rows have weights"
_OF_AREAS: Final = ("delong", "delong_many", "area_difference", "area_differences", "auroc_permutation",
                    "auroc_permutations")  # fmt: skip
_ONE_BY_ONE: Final = ("mcnemar_exact", "mcnemar_midp", "mcnemar_continuity", "mcnemar_plain", "cochran_q", *_OF_AREAS,
                      "paired_permutation", "paired_bootstrap", "score_permutation", "class_score_permutation")  # fmt: skip
"""Tests that take every row for one independent observation of weight 1."""
KNOWN_AREA: Final = "it takes an area of 1 or 0 for known, so its interval of the difference is too narrow"
ONE_COLUMN: Final = "it takes the scores of one class, but every class has a column of its own"
NO_PAIRS: Final = "it compares two answers to the same row, but the models were tested on different rows"
_SPREADS: Final = ("variance_f", "bartlett", "levene", "brown_forsythe")
_SAME_ITEMS: Final = dict.fromkeys(_INDEPENDENT, (PAIRED, True)) | dict.fromkeys(_SPREADS, (SPREAD, True))

ALWAYS_REFUSED: Final[Mapping[Kind, Mapping[str, tuple[str, bool]]]] = {
    Kind.LABELS: _SAME_ITEMS,
    Kind.SCORES: _SAME_ITEMS,
    Kind.CLASS_SCORES: _SAME_ITEMS | dict.fromkeys((*_OF_AREAS, "score_permutation"), (ONE_COLUMN, True)),
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
"""Tests that a kind of values never gets: why, and whether that takes more than a reason to overrule."""

HARDLY_ERRS: Final = (
    "a model ranks nearly every pair right, or nearly every pair wrong, so DeLong's variance is too small or 0"
)
SWAPS_OF_RANKS: Final = (
    "{facts.fewest} rows of the smaller class: below 50 p comes from swaps of ranks, which find more differences than "
    "DeLong's test at the same level; the interval stays"
)
IN_PLACE: Final = " a large-sample test, by how far each unit moves the measure, stands in place of swaps and draws"
BOTH_INTERVALS: Final = ", and the rows differ: the interval of the difference follows from those of both"
OVER_LIMIT: Final = f": with more than {MANY_UNITS:,} units" + IN_PLACE
NEAR_AN_END: Final = f", and {HARDLY_ERRS}: the interval of both areas against "
OF_UNITS: Final = " its spread from draws of whole units"


def _rows(kinds: tuple[Kind, ...], *ways: tuple[str, Condition, str, str]) -> tuple[Row, Row]:
    """Rows of both questions; a way is a difference, when it is taken, and why for each question."""
    why = "a margin is stated"
    not_worse = tuple(Way(f"{name}_non_inferiority", when, why + one) for name, when, one, _ in ways)
    alike = tuple(Way(f"{name}_equivalence", when, why + both) for name, when, _, both in ways)
    return (
        Row(25, kinds, TWO, (Question.NON_INFERIORITY,), ways=not_worse),
        Row(25, kinds, TWO, (Question.EQUIVALENCE,), ways=alike),
    )


MARGINS: Final[tuple[Row, ...]] = (
    *_rows((Kind.APART,), ("apart", ALWAYS, BOTH_INTERVALS, BOTH_INTERVALS)),
    *_rows(
        (Kind.SUBJECTS, Kind.WEIGHTED, Kind.CLASS_SCORES),
        ("unit_z", VERY_MANY, OVER_LIMIT, OVER_LIMIT),
        ("unit", ALWAYS, f": the difference against it,{OF_UNITS}", f": the difference against both ends of it,{OF_UNITS}"),
    ),
    *_rows(
        (Kind.LABELS,),
        ("share", ALWAYS, ": the score test of two shares on the same rows", ": two one-sided score tests on the same rows"),
    ),
    *_rows(
        (Kind.SCORES,),
        ("area", NEAR_PERFECT, f"{NEAR_AN_END}the margin", f"{NEAR_AN_END}both ends of it"),
        ("auroc", ALWAYS, ": DeLong's test against the margin", ": DeLong's test against both ends of it"),
    ),
    *_rows(
        (Kind.ITEMS, Kind.DATA_SETS),
        ("mean", ALWAYS, ": the t test against the margin", ": two one-sided t tests"),
    ),
)  # fmt: skip
FEW_ROWS: Final = (
    "so the corrected resampled t test is used, because below 1,000 rows the tests of 7.2 raise up to 11 % false alarms "
    "at 5 %"
)

TABLE: Final[tuple[Row, ...]] = (
    Row(
        1, (Kind.TOTALS,), SEVERAL, (Question.ACCURACY, Question.MEASURE),
        ways=(Way(None, ALWAYS, "only totals are known, so it is lost which items each model got right; give the answers item by item"),),
        refuses={
            "chi_squared_association": (PAIRED, True),
            "fisher_exact": (PAIRED, True),
            "two_shares": ("admissible only if the test items differ", True),
        },
    ),
    Row(
        2, (Kind.LABELS,), ONE, (Question.FIXED,),
        ways=(Way("exact_binomial", ALWAYS, "one share against a stated one: the exact binomial test"),),
    ),
    Row(
        3, (Kind.LABELS,), TWO, (Question.ACCURACY,),
        ways=(Way("mcnemar_midp", ALWAYS, "{facts.disagree:,} rows disagree; the mid-p form is used, which raised at most 5.3 % false alarms at 5 %"),),
        refuses={
            "mcnemar_exact": ("it guarantees its level, but finds up to half as many differences; on request", False),
            "mcnemar_continuity": ("it finds fewer differences than the mid-p form and guarantees nothing", False),
            "mcnemar_plain": ("with few rows in dispute it rejects a little too often", False),
            "paired_t": ("right and wrong are not measured values", False),
        },
    ),
    Row(
        5, (Kind.LABELS,), MORE, (Question.ACCURACY,),
        ways=(Way("cochran_q", ALWAYS, "{models} models on the same rows, right or wrong: Cochran's Q of all, and McNemar by pairs, which Holm's correction keeps at the level whatever Q says"),),
    ),
    Row(
        6, (Kind.SCORES,), TWO, (Question.AUROC,),
        ways=(
            Way("auroc_permutation", FEW_OF_A_CLASS, SWAPS_OF_RANKS),
            Way("area_difference", NEAR_PERFECT, HARDLY_ERRS + ": the intervals of both areas are squared and added"),
            Way("delong", ALWAYS, "two models scored the same rows: DeLong's test takes their correlation into account"),
        ),
        refuses={"delong": (KNOWN_AREA, False)},
    ),
    Row(
        6, (Kind.SCORES,), MORE, (Question.AUROC,),
        ways=(
            Way("auroc_permutations", FEW_OF_A_CLASS, SWAPS_OF_RANKS),
            Way("area_differences", NEAR_PERFECT, HARDLY_ERRS + ": the intervals of every two areas are squared and added"),
            Way("delong_many", ALWAYS, "{models} models scored the same rows: DeLong's test of all areas at once, and of pairs"),
        ),
        refuses={"delong_many": (KNOWN_AREA, False)},
        after="delong_pairs",
    ),
    Row(
        7, (Kind.LABELS,), SEVERAL, (Question.MEASURE,),
        ways=(Way("paired_permutation", ALWAYS, "no closed form is exact for this measure: the answers are swapped row by row, in the joint cells"),),
        refuses={"paired_bootstrap": ("its p is less exact than that of the swaps; it gives the interval", False)},
    ),
    Row(
        7, (Kind.SCORES,), SEVERAL, (Question.MEASURE,),
        ways=(Way("score_permutation", ALWAYS, "no closed form is exact for this measure: the scores are swapped row by row, or their ranks where only the order counts"),),
    ),
    Row(
        7, (Kind.CLASS_SCORES,), SEVERAL, (Question.MEASURE,),
        ways=(Way("class_score_permutation", ALWAYS, "scores of all classes have no closed form: all scores of a row are swapped at once, or their ranks where only the order counts"),),
    ),
    Row(
        7, (Kind.SUBJECTS,), SEVERAL, (Question.MEASURE,),
        ways=(
            Way(None, FEW_SETS, "rows of few subjects ({facts.blocks}): with fewer than six no test can be significant, so nothing is tested"),
            Way("unit_z", VERY_MANY, "{facts.n:,} rows of {facts.blocks:,} subjects, which are the independent units: with so many" + IN_PLACE),
            Way("subject_permutation", ALWAYS, "{facts.n:,} rows of {facts.blocks:,} subjects, which are the independent units: all answers on a subject are swapped at once"),
        ),
    ),
    Row(
        7, (Kind.WEIGHTED,), SEVERAL, (Question.MEASURE,),
        ways=(
            Way("unit_z", VERY_MANY, "{facts.n:,} rows with weights: with so many" + IN_PLACE),
            Way("weighted_permutation", ALWAYS, "the rows have weights, which no closed form takes: the answers are swapped row by row, weights kept"),
        ),
    ),
    Row(
        7, (Kind.LABELS, Kind.SUBJECTS, Kind.WEIGHTED), SEVERAL, (Question.COST,),
        ways=(
            Way("unit_z_cost", VERY_MANY, "costs are stated: with {facts.blocks:,} units" + IN_PLACE),
            Way("cost_permutation", ALWAYS, "costs are stated: what the answers to a row, or on a whole subject, cost is swapped between the models"),
        ),
    ),
    Row(
        8, (Kind.ITEMS,), TWO, (Question.LOCATION,),
        ways=(
            Way("paired_t", NORMAL, "{facts.n:,} differences look normal: the paired t test"),
            Way("wilcoxon", ALWAYS, "the differences do not look normal, or are too few to tell: the signed-rank test"),
        ),
        refuses={"sign_test": ("it throws the sizes of the differences away", False)},
    ),
    Row(
        9, (Kind.ITEMS,), MORE, (Question.LOCATION,),
        ways=(
            Way("greenhouse_geisser", NORMAL, "residuals look normal: repeated-measures analysis of variance, corrected for unequal correlations"),
            Way("iman_davenport", ALWAYS, "residuals do not look normal, or are too few to tell: ranks within items"),
        ),
        refuses={"paired_t": ("it compares two models; among three or more, pairs of t tests raise false alarms (7.2)", True)},
        after="conover",
    ),
    Row(
        10, (Kind.DATA_SETS,), TWO, (Question.LOCATION,),
        ways=(
            Way(None, FEW_SETS, "{facts.blocks} data sets: with fewer than six no test can be significant, so the values are only described"),
            Way("wilcoxon", ALWAYS, "{facts.blocks} independent data sets: the signed-rank test"),
        ),
        beside=("sign_test",),
        refuses={"paired_t": ("values of different data sets are rarely of one scale", False)},
    ),
    Row(
        11, (Kind.DATA_SETS,), MORE, (Question.LOCATION,),
        ways=(
            Way("friedman_permutation", SMALL, "{facts.blocks} data sets and {models} models are few: Friedman's test by random permutation"),
            Way("iman_davenport", ALWAYS, "{facts.blocks} independent data sets, {models} models: ranks within data sets"),
        ),
        after="nemenyi",
    ),
    *(
        Row(
            12, (Kind.FIVE_BY_TWO,), models, (Question.LOCATION,),
            ways=(
                Way("five_by_two_f", MANY_ROWS, f"ten differences of a 5x2 cross-validation of {{facts.rows:,}} rows{more}: the combined F test, which holds its level from 1,000 rows on"),
                Way("corrected_resampled_t", ROWS_KNOWN, "{facts.rows:,} rows were halved five times; " + FEW_ROWS),
                Way("corrected_resampled_t", ALWAYS, "the number of rows that were halved five times is not stated; " + FEW_ROWS),
            ),
            beside=beside,
            refuses=dict.fromkeys(("paired_t", *DEPENDENT), (FOLDS, True)),
        )
        for models, more, beside in ((TWO, "", ("five_by_two_f", "five_by_two_t", "corrected_resampled_t")), (MORE, " for every pair", ()))
    ),
    Row(
        13, (Kind.RESAMPLES,), TWO, (Question.LOCATION,),
        ways=(Way("corrected_resampled_t", ALWAYS, "{facts.n} values from resampling one data set share rows: the corrected resampled t test"),),
    ),
    Row(
        14, (Kind.RESAMPLES,), MORE, (Question.LOCATION,),
        ways=(Way("corrected_resampled_t", ALWAYS, "values from resampling one data set share rows: the corrected resampled t test by pairs"),),
    ),
    Row(
        13, (Kind.HALVED,), SEVERAL, (Question.LOCATION,),
        ways=(Way("half_sample_t", ALWAYS, "the same cross-validation was run on halves of the rows, which show how far its result varies: the half-sample t test"),),
        refuses=dict.fromkeys(("paired_t", "corrected_resampled_t", *DEPENDENT), (OF_HALVES, True)),
    ),
    Row(
        15, (Kind.INDEPENDENT,), TWO, (Question.LOCATION,),
        ways=(
            Way("welch_t", NORMAL, "values look normal in both groups: Welch's t test, whatever their spread"),
            Way("mann_whitney", ALWAYS, "values do not look normal, or are too few to tell: the rank-sum test"),
        ),
    ),
    Row(
        16, (Kind.INDEPENDENT,), MORE, (Question.LOCATION,),
        ways=(
            Way("one_way_anova", NORMAL_ALIKE, "values look normal and scatter alike: analysis of variance"),
            Way("welch_anova", NORMAL, "values look normal but do not scatter alike: Welch's analysis of variance"),
            Way("kruskal_wallis", ALWAYS, "values do not look normal, or are too few to tell: ranks over all groups"),
        ),
        after="dunn",
    ),
    Row(
        17, (Kind.INDEPENDENT,), ANY, (Question.ASSOCIATION,),
        ways=(
            Way("chi_squared_association", LARGE_COUNTS, "expected counts are large enough: the chi-squared test"),
            Way("fisher_exact", FOUR_CELLS, "expected counts are small: Fisher's exact test"),
            Way("fisher_monte_carlo", ALWAYS, "expected counts are small: Fisher's test by random tables"),
        ),
    ),
    Row(
        18, (Kind.ITEMS, Kind.DATA_SETS), TWO, (Question.VARIANCE,),
        ways=(Way("pitman_morgan", ALWAYS, "spread of paired values: Pitman-Morgan takes the pairing into account"),),
    ),
    Row(
        19, (Kind.INDEPENDENT,), SEVERAL, (Question.VARIANCE,),
        ways=(Way("brown_forsythe", ALWAYS, "spread of independent groups: Brown-Forsythe holds its level whatever their shape"),),
        refuses={
            "variance_f": ("admissible only where every group passes a check of normality (E-RAI-14)", False),
            "bartlett": ("admissible only where every group passes a check of normality (E-RAI-14)", False),
        },
    ),
    Row(
        20, (Kind.RESAMPLES, Kind.FIVE_BY_TWO, Kind.HALVED), ANY, (Question.VARIANCE,),
        ways=(Way(None, ALWAYS, "resampling one data set does not show how performance varies over data sets: described, not tested"),),
    ),
    Row(
        21, (Kind.LABELS,), TWO, (Question.CHANNELS,),
        ways=(Way("channel_heterogeneity", ALWAYS, "channels are declared: is one model ahead by as much in every channel (5.3.8)?"),),
    ),
    Row(
        22, (Kind.APART,), SEVERAL, (Question.ACCURACY,),
        ways=(
            Way("two_shares", LARGE_COUNTS, "different rows, so nothing pairs the answers: the test of two independent shares"),
            Way("fisher_exact", ALWAYS, "different rows, so nothing pairs the answers, and expected counts are small: Fisher's exact test"),
        ),
    ),
    Row(
        22, (Kind.APART,), SEVERAL, (Question.AUROC,),
        ways=(
            Way("apart_difference", NEAR_PERFECT, "different rows, and " + HARDLY_ERRS + ": the interval of the difference follows from those of both"),
            Way("delong_unpaired", ALWAYS, "different rows, so the areas are independent: DeLong's variances add up"),
        ),
        refuses={"delong_unpaired": (KNOWN_AREA, False)},
    ),
    Row(
        22, (Kind.APART,), SEVERAL, (Question.MEASURE, Question.COST),
        ways=(Way("apart_difference", ALWAYS, "different rows, so the values are independent: the interval of the difference follows from those of both"),),
    ),
    *MARGINS,
)  # fmt: skip
"""Rows 23 and 24 of the specification are not a choice of a test between models: annotators, multiplicity."""
