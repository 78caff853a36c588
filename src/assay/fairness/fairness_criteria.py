# SPDX-License-Identifier: Apache-2.0
"""The criteria of group fairness, each declared once: the statistics of a group, their denominators, what follows.

Equality of the statistics over groups is the criterion. How far groups are apart is worked out in `gaps`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from assay.core.errors import PlanError
from assay.core.registry import folded
from assay.core.text import nearest, visible
from assay.core.traits import FUND, Source

SOURCE: Final = FUND("fairness")
From = Literal["counts", "scores", "strata", "statement"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """What is equal in every group where a criterion holds."""

    name: str
    spec: str
    also: tuple[str, ...] = ()
    says: str
    statistics: tuple[str, ...]
    """Of one group, by name; the criterion asks for the equality of all of them."""
    denominators: tuple[str, ...]
    """What each statistic is a share of, in words that end `more ...`."""
    needs: From = "counts"
    complement: str = ""
    """The criterion that says the same with one minus the statistic; it is not tested twice."""
    errata: tuple[str, ...] = ()
    source: Source = SOURCE


POSITIVES, NEGATIVES = "rows that are truly positive", "rows that are truly negative"
CALLED, CALLED_NEGATIVE = "rows that were called positive", "rows that were called negative"
ROWS, ERRORS = "rows", "errors"

CRITERIA: Final = (
    Criterion(
        name="statistical_parity",
        spec="M-FAI-01",
        also=("group fairness", "demographic parity"),
        says="the same share of every group is called positive",
        statistics=("predicted_positive_rate",),
        denominators=(ROWS,),
    ),
    Criterion(
        name="conditional_statistical_parity",
        spec="M-FAI-02",
        says="within each level of a legitimate factor, the same share of every group is called positive",
        statistics=("predicted_positive_rate",),
        denominators=(ROWS,),
        needs="strata",
    ),
    Criterion(
        name="balance_positive_class",
        spec="M-FAI-03",
        also=("balance for the positive class",),
        says="the truly positive rows of every group have the same mean score",
        statistics=("mean_score_of_positives",),
        denominators=(POSITIVES,),
        needs="scores",
    ),
    Criterion(
        name="balance_negative_class",
        spec="M-FAI-04",
        also=("balance for the negative class",),
        says="the truly negative rows of every group have the same mean score",
        statistics=("mean_score_of_negatives",),
        denominators=(NEGATIVES,),
        needs="scores",
    ),
    Criterion(
        name="predictive_parity",
        spec="M-FAI-05",
        also=("outcome test", "PPV parity"),
        says="a positive call is right equally often in every group",
        statistics=("precision",),
        denominators=(CALLED,),
    ),
    Criterion(
        name="fdr_parity",
        spec="M-FAI-06",
        also=("equal FDR",),
        says="a positive call is wrong equally often in every group",
        statistics=("false_discovery_rate",),
        denominators=(CALLED,),
        complement="predictive_parity",
    ),
    Criterion(
        name="calibration_parity",
        spec="M-FAI-07",
        also=("calibration", "test fairness", "matching conditional frequencies"),
        says="rows with the same score are truly positive equally often in every group",
        statistics=("positive_share_by_score",),
        denominators=(ROWS,),
        needs="scores",
    ),
    Criterion(
        name="well_calibration",
        spec="M-FAI-08",
        also=("well-calibration",),
        says="in every group a score of s means that a share s of the rows is truly positive",
        statistics=("expected_calibration_error",),
        denominators=(ROWS,),
        needs="scores",
    ),
    Criterion(
        name="false_positive_rate_balance",
        spec="M-FAI-09",
        also=("predictive equality",),
        says="truly negative rows are called positive equally often in every group",
        statistics=("false_positive_rate",),
        denominators=(NEGATIVES,),
    ),
    Criterion(
        name="true_negative_rate_parity",
        spec="M-FAI-10",
        also=("equal TNR",),
        says="truly negative rows are called negative equally often in every group",
        statistics=("specificity",),
        denominators=(NEGATIVES,),
        complement="false_positive_rate_balance",
    ),
    Criterion(
        name="false_negative_rate_balance",
        spec="M-FAI-11",
        also=("equal opportunity",),
        says="truly positive rows are missed equally often in every group",
        statistics=("false_negative_rate",),
        denominators=(POSITIVES,),
        errata=("E-FUN-03",),
    ),
    Criterion(
        name="true_positive_rate_parity",
        spec="M-FAI-12",
        also=("equal TPR",),
        says="truly positive rows are found equally often in every group",
        statistics=("recall",),
        denominators=(POSITIVES,),
        complement="false_negative_rate_balance",
    ),
    Criterion(
        name="equalized_odds",
        spec="M-FAI-13",
        also=("equalised odds", "disparate mistreatment"),
        says="truly positive rows are found, and truly negative ones called positive, equally often in every group",
        statistics=("recall", "false_positive_rate"),
        denominators=(POSITIVES, NEGATIVES),
        errata=("E-FUN-06",),
    ),
    Criterion(
        name="conditional_use_accuracy_equality",
        spec="M-FAI-14",
        also=("equal PPV and NPV", "conditional use accuracy"),
        says="a positive call and a negative call are each right equally often in every group",
        statistics=("precision", "negative_predictive_value"),
        denominators=(CALLED, CALLED_NEGATIVE),
    ),
    Criterion(
        name="overall_accuracy_equality",
        spec="M-FAI-15",
        also=("equal accuracy",),
        says="calls are right equally often in every group",
        statistics=("binary_accuracy",),
        denominators=(ROWS,),
    ),
    Criterion(
        name="treatment_equality",
        spec="M-FAI-16",
        also=("equal FN/FP ratio",),
        says="false negatives are the same share of the errors in every group, so FN / FP is the same",
        statistics=("fn_share_of_errors",),
        denominators=(ERRORS,),
        errata=("E-FUN-07",),
    ),
    Criterion(
        name="causal_discrimination",
        spec="M-FAI-17",
        also=("flip test", "identical individuals, different group"),
        says="predictions stay the same when only the group of a row is changed",
        statistics=("changed_share",),
        denominators=(ROWS,),
        needs="statement",
    ),
    Criterion(
        name="unawareness",
        spec="M-FAI-18",
        also=("fairness through unawareness",),
        says="neither the group nor a declared proxy of it is a feature; the source calls it no fairness measure",
        statistics=("group_features",),
        denominators=("features",),
        needs="statement",
    ),
    Criterion(
        name="fairness_feasibility",
        spec="M-FAI-19",
        also=("impossibility relation",),
        says="which criteria can hold together, given how often the groups are truly positive",
        statistics=("prevalence",),
        denominators=(ROWS,),
        needs="statement",
        errata=("E-FUN-05",),
    ),
)

FOUR_FIFTHS: Final = 0.8
"""The four-fifths rule: the lowest selection rate is at least 80 % of the highest (29 CFR 1607.4 D)."""


def find_criterion(name: str) -> Criterion | None:
    """The criterion of a name or alias; None where it is none."""
    for criterion in CRITERIA:
        if folded(name) in map(folded, (criterion.name, *criterion.also)):
            return criterion
    return None


def refuse_criterion(name: str) -> PlanError:
    """The error of a name that is neither a criterion nor `gap(...)` or `ratio(...)`."""
    known = [criterion.name for criterion in CRITERIA]
    close = nearest(name, known)
    return PlanError(
        "option-unknown",
        f'there is no fairness criterion "{visible(name)}"',
        known=", ".join([*known, "four_fifths", "gap(measure)", "ratio(measure)"]),
        fix=f'did you mean "{close}"?' if close else "choose one of them",
    )
