# SPDX-License-Identifier: Apache-2.0
"""Every sentence a report says, in one place; numbers and names come in ready to be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from assay.core.text import counted

FAMILIES: Final = {
    "counts": "Counts",
    "rates": "Rates",
    "F": "F-scores and overlaps",
    "chance-corrected": "Corrected for chance",
    "ratios": "Ratios",
    "averages": "Averages over classes",
    "baselines": "Baselines",
    "constants": "Constants",
    "class shares": "Class shares, true against predicted",
    "curves": "Curves over all thresholds",
    "probabilities": "Probabilities, scored row by row",
    "calibration": "Calibration: do probabilities mean what they say",
    "cost": "Cost and benefit",
}

METHODS: Final = {  # by the first words of the method, because what follows says what it was applied to
    "wilson": "Wilson score interval of a share: the true shares that would make the observed one unsurprising",
    "clopper-pearson": "Clopper-Pearson interval of a share: never covers less often than its level says",
    "jeffreys": "Jeffreys interval of a share: the middle of Beta(x + 1/2, n - x + 1/2)",
    "debiased": "the rows at each score are drawn anew; what chance adds to the best of many thresholds is taken off",
    "dirichlet-jeffreys": "the four cells of the table are drawn anew from a Dirichlet distribution"
    " with Jeffreys' weight (count + 1/2), and the measure is computed on every draw",
    "bca": "the cells of the confusion matrix, not the rows, are drawn anew; the percentiles are corrected"
    " for bias and acceleration (BCa)",
    "percentile": "the cells of the confusion matrix, not the rows, are drawn anew; plain percentiles",
    "corrected": "the cells of the confusion matrix are drawn anew from a Dirichlet distribution; the draws are"
    " moved and stretched for the bias and the spread that small classes cause",
    "weighted": "every row gets a random weight beside its own; cells are drawn from their sums of weights and squares",
    "dirichlet": "the cells of the confusion matrix are drawn anew from a Dirichlet distribution",
    "koopman": "Koopman's score interval of a ratio of two shares",
    "delong-logit": "DeLong's variance of an area under the ROC curve, from ranks, on the logit scale; where few rows"
    " are ranked wrongly it borrows from a smooth curve",
    "newcombe": "Newcombe's score interval of an area under the ROC curve, for a ranking without mistakes",
    "newcombe at": "Newcombe's interval of a difference of two shares at the threshold that makes it largest;"
    " what chance adds to the best of many thresholds is taken off by draws of the rows at each score",
    "logit": "the rows at each score are drawn anew; the spread of the draws, on the logit scale",
    "log": "the rows at each score are drawn anew; the spread of the draws, on the logarithmic scale",
    "plain": "the rows at each score are drawn anew; the spread of the draws",
    "inverted": "the true calibration errors that would make the observed one unsurprising, from draws of the rows at"
    " each score",
    "score": "the mean costs that would make the observed one unsurprising, among the declared costs; with two costs"
    " Wilson's interval",
    "delta": "the delta method on the cells of the confusion matrix",
    "jackknife": "each unit is left out once; how the value changes tells its standard error",
    "inverted jackknife": "the times whose share of answers, by the jackknife, would not be surprising",
    "linearised": "what each row adds to the value, to first order, tells its standard error",
    "influence": "what each row does to the value, to first order, tells its standard error",
    "order statistics": "the ranks between which the quantile lies, by the binomial distribution",
}

MARKS_SAID: Final = (
    "One sentence a question: ● significant, ○ not significant, ∅ nothing can be said. "
    "p values of questions asked together are corrected."
)
HEADLINE: Final = "Headline measures"
CONFORMITY: Final = "conformity with ISO/IEC TS 4213:2022"


def sentence(text: str) -> str:
    """A remark as a sentence of its own.

    >>> sentence("no basis for a choice"), sentence("")
    ('No basis for a choice.', '')
    """
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""


def rows_equation(rows: Mapping[str, object]) -> str:
    """Row accounting, as an equation in words.

    >>> rows_equation({"read": 5, "scored": 4, "excluded": {"truth is missing": 1}, "unmatched": 0})
    '5 rows read = 4 scored + 1 excluded (truth is missing) + 0 unmatched'
    """
    read, scored, unmatched = (int(str(rows[name])) for name in ("read", "scored", "unmatched"))
    given = rows["excluded"]
    excluded = {str(why): int(n) for why, n in given.items()} if isinstance(given, Mapping) else {}
    reasons = ", ".join(f"{n:,} {why}" if len(excluded) > 1 else why for why, n in excluded.items())
    out = f"{sum(excluded.values()):,} excluded" + (f" ({reasons})" if reasons else "")
    return f"{counted(read, 'row')} read = {scored:,} scored + {out} + {unmatched:,} unmatched"


SPREAD: Final = (
    "Do the sites differ by more than chance? p tests that all share one value; the last column is the share of "
    "their spread that chance does not explain (I²)."
)


def method(name: str, draws: Sequence[int] = ()) -> str:
    """What an interval method does, and how often it drew.

    >>> method("wilson of accuracy")
    'the wilson interval of accuracy, carried over to measures that are functions of it'
    """
    first, _, of = name.partition(" of ")
    carried = of.isidentifier()
    says = f"the {first} interval of {of}, carried over to measures that are functions of it" if carried else ""
    words = name.lower().replace(",", "").split(" ")
    says = says or METHODS.get(" ".join(words[:2])) or METHODS.get(words[0], "")
    if not draws:
        return says
    many = f"{min(draws):,}" if len(set(draws)) == 1 else f"{min(draws):,} to {max(draws):,}"
    return f"{says}{'; ' if says else ''}{many} draws"
