# SPDX-License-Identifier: Apache-2.0
"""The rows of the decision table for a stated margin: not worse by it, or equal within it."""

from __future__ import annotations

from typing import Final

from assay.inference.kinds import ALWAYS, NEAR_PERFECT, SUMMED, Kind, Question, Row, Way

HARDLY_ERRS: Final = (
    "a model ranks nearly every pair right, or nearly every pair wrong, so DeLong's variance is too small or 0"
)

IN_PLACE: Final = " a large-sample test of sums over the units stands in place of swaps and draws"

MARGINS: Final[tuple[Row, ...]] = (
    Row(
        number=25,
        kinds=(Kind.APART,),
        models=(2, 2),
        questions=(Question.NON_INFERIORITY,),
        ways=(Way("apart_non_inferiority", ALWAYS, "a margin is stated, and the rows differ: the interval of the difference follows from those of both"),),
    ),
    Row(
        number=25,
        kinds=(Kind.APART,),
        models=(2, 2),
        questions=(Question.EQUIVALENCE,),
        ways=(Way("apart_equivalence", ALWAYS, "a margin is stated, and the rows differ: the interval of the difference follows from those of both"),),
    ),
    Row(
        number=25,
        kinds=(Kind.SUBJECTS, Kind.WEIGHTED, Kind.CLASS_SCORES),
        models=(2, 2),
        questions=(Question.NON_INFERIORITY,),
        ways=(
            Way("unit_z_non_inferiority", SUMMED, "a margin is stated: with more than {facts.held_up_to:,} rows" + IN_PLACE),
            Way("unit_non_inferiority", ALWAYS, "a margin is stated: the difference against it, its spread from draws of whole units"),
        ),
    ),
    Row(
        number=25,
        kinds=(Kind.SUBJECTS, Kind.WEIGHTED, Kind.CLASS_SCORES),
        models=(2, 2),
        questions=(Question.EQUIVALENCE,),
        ways=(
            Way("unit_z_equivalence", SUMMED, "a margin is stated: with more than {facts.held_up_to:,} rows" + IN_PLACE),
            Way("unit_equivalence", ALWAYS, "a margin is stated: the difference against both ends of it, its spread from draws of whole units"),
        ),
    ),
    Row(
        number=25,
        kinds=(Kind.LABELS,),
        models=(2, 2),
        questions=(Question.NON_INFERIORITY,),
        ways=(Way("share_non_inferiority", ALWAYS, "a margin is stated: the score test of two shares on the same rows"),),
    ),
    Row(
        number=25,
        kinds=(Kind.LABELS,),
        models=(2, 2),
        questions=(Question.EQUIVALENCE,),
        ways=(Way("share_equivalence", ALWAYS, "a margin is stated: two one-sided score tests on the same rows"),),
    ),
    Row(
        number=25,
        kinds=(Kind.SCORES,),
        models=(2, 2),
        questions=(Question.NON_INFERIORITY,),
        ways=(
            Way("area_non_inferiority", NEAR_PERFECT, "a margin is stated, and " + HARDLY_ERRS + ": the interval of both areas against the margin"),
            Way("auroc_non_inferiority", ALWAYS, "a margin is stated: DeLong's test against the margin"),
        ),
    ),
    Row(
        number=25,
        kinds=(Kind.SCORES,),
        models=(2, 2),
        questions=(Question.EQUIVALENCE,),
        ways=(
            Way("area_equivalence", NEAR_PERFECT, "a margin is stated, and " + HARDLY_ERRS + ": the interval of both areas against both ends of it"),
            Way("auroc_equivalence", ALWAYS, "a margin is stated: DeLong's test against both ends of it"),
        ),
    ),
    Row(
        number=25,
        kinds=(Kind.ITEMS, Kind.DATA_SETS),
        models=(2, 2),
        questions=(Question.NON_INFERIORITY,),
        ways=(Way("mean_non_inferiority", ALWAYS, "a margin is stated: the t test against the margin"),),
    ),
    Row(
        number=25,
        kinds=(Kind.ITEMS, Kind.DATA_SETS),
        models=(2, 2),
        questions=(Question.EQUIVALENCE,),
        ways=(Way("mean_equivalence", ALWAYS, "a margin is stated: two one-sided t tests"),),
    ),
)  # fmt: skip
