# SPDX-License-Identifier: Apache-2.0
"""What a report says of scores, curves and thresholds; numbers and names come in ready to be shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from assay.core.text import counted
from assay.report.sentences import SEE_TABLE

ROC: Final = "ROC curve"
PRECISION_RECALL: Final = "Precision-recall curve"
DET: Final = "Detection error tradeoff"
RELIABILITY: Final = "Reliability"
DECISION: Final = "Decision curve"
TOP_LABEL: Final = "Class with the largest probability"
POOLED: Final = "all classes pooled"
GAINS: Final = "Gains"
LIFT: Final = "Lift"
GAINS_TABLE: Final = "Positives found when the rows with the highest scores are called"
GAINS_HEAD: Final = ("rows called", "positives found", "lift")
GAINS_SAID: Final = (
    "Rows are called from the highest score down. Gains: the upper line is a perfect order, the dashed one chance."
    " Lift: how many times as many positives as chance would find."
)
ERRORS_TABLE: Final = "Error rates at the last drawn point whose false positive rate is not above a limit"
CLASS_ERRORS: Final = (
    "False negative rate of each class at the last drawn point whose false positive rate is not above a limit"
)
ERRORS_HEAD: Final = ("at most", "false positive rate", "false negative rate", "threshold")
EQUAL_ERROR: Final = "equal error"
DET_SAID: Final = (
    "Detection error tradeoff: both error rates on axes of normal deviates, where small rates have room; lower left is"
    " better, the dashed line is chance, and the dot errs equally often on both sides."
)
HISTOGRAM: Final = "Scores by true class"
NOBODY: Final = "none called"
EVERYBODY: Final = "every row"
OPTIMISTIC: Final = "chosen on the rows it is judged on, so the figures at it flatter"

KINDS: Final = {
    "probability": "stated to be probabilities",
    "logit": "stated to be logits",
    "any": "not stated to be probabilities, so only their order counts",
}


LINKED: Final = {
    "logistic": "Probabilities of {rows} come from them by the logistic function; thresholds are logits.",
    "softmax": "Probabilities of {rows} come from them by the softmax of the classes; thresholds are log-odds of a"
    " class against the rest.",
}


def scores_said(facts: Mapping[str, Any]) -> str:
    """What the scores are."""
    distinct = int(str(facts.get("distinct") or 0))
    said = f"The scores are {KINDS.get(str(facts.get('kind')), str(facts.get('kind')))}; {distinct:,} are distinct"
    tied = facts.get("tied_pairs")
    if isinstance(tied, (int, float)) and tied:
        share = f"{float(tied) * 100:.2g} %" if float(tied) >= 1e-4 else "fewer than 0.01 %"  # noqa: PLR2004
        said += f", and {share} of pairs of a positive and a negative are tied"
    return " ".join((f"{said}.", *_mended(facts)))


def _mended(facts: Mapping[str, Any]) -> Iterator[str]:
    """How the scores were stored, and what the plan had done to them."""
    if stored := facts.get("stored"):
        kinds = " and ".join(map(str, stored))
        yield f"They were stored as {kinds}" + ("." if list(stored) == ["float64"] else " and widened to float64.")
    if last := facts.get("ranked_last"):
        yield f"{counted(last, 'row')} without a score {'ranks' if last == 1 else 'rank'} below all others."
    if linked := facts.get("linked"):
        yield LINKED[linked["by"]].format(rows=counted(linked["rows"], "row"))
    if (mended := facts.get("rescaled")) and mended["rows"]:
        yield (
            f"The probabilities of {counted(mended['rows'], 'row')} did not add up to 1, off by"
            f" {mended['farthest']:.3g} at most, and were divided by their sum."
        )


def roc_described(area: str, label: str) -> str:
    """A ROC curve for who cannot see it."""
    whose = f" of {label}" if label else ""
    return f"True positive rate over false positive rate{whose}; area {area or 'not given'}; {SEE_TABLE}."


def pr_described(area: str, label: str) -> str:
    """A precision-recall curve for who cannot see it."""
    whose = f" of {label}" if label else ""
    return f"Precision over recall{whose}; average precision {area or 'not given'}; {SEE_TABLE}."


def det_described(equal_error: str, label: str) -> str:
    """A curve of two error rates for who cannot see it."""
    whose = f" of {label}" if label else ""
    return (
        f"False negative rate over false positive rate{whose}, on axes of normal deviates; equal error rate"
        f" {equal_error or 'not given'}; {SEE_TABLE}."
    )


def reliability_described(bins: Sequence[tuple[float, float]], label: str, share_of: str) -> str:
    """A reliability diagram for who cannot see it."""
    if not bins:
        return "No bin holds a row."
    score, share = max(bins, key=lambda one: abs(one[0] - one[1]))
    whose = f" of {label}" if label else ""
    return (
        f"{counted(len(bins), 'bin')} of predicted probabilities{whose}; the widest gap is at {score:.2f},"
        f" where the {share_of} is {share:.2f}; {SEE_TABLE}."
    )


def decision_described(best_from: str, best_to: str, label: str) -> str:
    """A decision curve for who cannot see it."""
    whose = f" of {label}" if label else ""
    if not best_from:
        return f"Net benefit{whose} by threshold probability; the model is nowhere better than treating all or none."
    return (
        f"Net benefit{whose} by threshold probability; the model is better than treating all or none"
        f" from {best_from} to {best_to}; {SEE_TABLE}."
    )


def histogram_described(positives: str, negatives: str) -> str:
    """A histogram of scores for who cannot see it."""
    return (
        f"Positives above the line, negatives below, each side drawn to its own height;"
        f" the middle positive scores {positives or 'nothing'}, the middle negative {negatives or 'nothing'}."
    )


def gains_described(rows: Sequence[tuple[str, str, str]], label: str) -> str:
    """A gains chart for who cannot see it."""
    whose = f" of {label}" if label else ""
    some = f"; calling {rows[0][0]} of the rows finds {rows[0][1]}" if rows else ""
    return f"Share of positives{whose} found over the share of rows called positive{some}; {SEE_TABLE}."


def lift_described(rows: Sequence[tuple[str, str, str]], label: str) -> str:
    """A lift chart for who cannot see it."""
    whose = f" of {label}" if label else ""
    some = f"; {rows[0][2]} times chance when {rows[0][0]} of the rows are called" if rows else ""
    return (
        f"Positives{whose} found, as a multiple of chance, over the share of rows called positive{some}; {SEE_TABLE}."
    )


def shaded(level: str) -> str:
    """What the two shades around a curve mean."""
    return f"Shaded: the {level} band that holds at each place, and around it the one that holds for the whole curve."
