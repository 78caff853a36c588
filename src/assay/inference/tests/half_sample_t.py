# SPDX-License-Identifier: Apache-2.0
"""Cross-validations of one data set judged by the same cross-validation of its halves.

Values of folds cannot tell how far their mean varies from one data set to the next, because all folds share the rows.
Two halves share none, so the squared distance of their results is an estimate of that, training and all.
"""

from __future__ import annotations

import math

from assay.core.traits import EXTENSION, Source
from assay.inference.declare import significance
from assay.inference.findings import Finding
from assay.inference.power import least_student
from assay.inference.tail_probabilities import Alternative, student
from assay.inference.tests.means import NO_DIFFERENCE, degenerate, student_effect
from assay.tally.paired.half_sample_folds import Halved


@significance(
    title="Half-sample t test of cross-validation",
    also=("half-sample t",),
    asks="do two algorithms perform alike on average, judged by cross-validating one data set and halves of it?",
    null="the expected performance of the algorithms is equal",
    effect="mean of A minus B over the folds of all rows",
    assumes=("with half the rows the difference varies about twice as much", "differences are about normal"),
    never=("as proof about one final trained model (TS 4213, 5.3.6)",),
    source=(Source("Nadeau and Bengio 2003", "section 3.4"), EXTENSION),
    spec="T-04",
    errata=("E-RAI-18", "E-XS-10"),
)
def half_sample_t(t: Halved, *, level: float = 0.95, alternative: Alternative = "two-sided") -> Finding:
    name = f"mean of {t.models[0]} minus {t.models[1]}"
    gap, values = float(t.whole), 1 + 2 * t.splits
    if not t.variance:
        return degenerate(name, gap, values, level, NO_DIFFERENCE)
    error, df = math.sqrt(t.variance), t.splits
    return Finding(
        chance=student(gap / error, df, alternative),
        effect=student_effect(name, gap, error, df, level),
        statistic=gap / error,
        statistic_name="t",
        df=(df,),
        n=values,
        level=level,
        alternative=alternative,
        least=least_student(error, df, level),
        notes=(f"standard error from {t.splits} splits into halves, which share no rows",),
    )
