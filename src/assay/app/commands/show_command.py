# SPDX-License-Identifier: Apache-2.0
"""Measures explained for people and for machines, from their declarations alone."""

from __future__ import annotations

import inspect
import os
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from assay.assess.errata import concerning
from assay.inference.estimates import real_to_json
from assay.measures import Measure
from assay.measures.catalogue import grain, guidance_of

PACKAGE: Final = Path(__file__).parents[2]
PARTS: Final = {
    "confusion_matrix": ("how often each true class was called each class", "a.confusion", "tallies.confusion"),
    "confusion_counts": ("true and false positives and negatives", 'a["true_positives"], ...', "estimates"),
    "marginals": ("rows by true class, and by predicted class", "a.class_sizes()", "tallies.confusion"),
    "class_shares": ("shares of the classes in truth and in predictions; csmf", "a.class_sizes()", "tallies.confusion"),
    "roc_curve": ("recall against false positive rate over all thresholds", 'a.record["curves"]', "curves"),
    "precision_recall_curve": ("precision against recall over all thresholds", 'a.record["curves"]', "curves"),
    "cumulative_response_curve": ("share of positives among the rows ranked first", 'a.record["curves"]', "curves"),
    "lift_curve": ("how many times chance the rows ranked first hold", 'a.record["curves"]', "curves"),
    "operating_points": ("counts and rates at stated thresholds", "ScoreSettings(operating_points=[0.5])",
                         "operating_points"),
    "threshold_youden": ("the threshold of the largest Youden index, chosen on other rows", 'threshold="youden"',
                         "operating_points"),
    "error": ("predicted minus true value, row by row", "assay.regression(...)", "estimates of regression"),
    "box_iou": ("overlap of two boxes over their union", "assay.detection(...)", "estimates of detection"),
    "detection_counts": ("matched, missed and superfluous boxes", "assay.detection(...)", "estimates of detection"),
    "fleiss_kappa": ("agreement of raters beyond chance", "assay.agreement(ratings)", "controls: CHK-ANNOTATOR"),
    "krippendorff_alpha": ("agreement of raters who need not rate every item", "assay.agreement(ratings)",
                           "controls: CHK-ANNOTATOR"),
    "calibration_curve": ("share of positives among rows of like scores", 'a.record["curves"]', "curves, reliability"),
}  # fmt: skip
"""What the sources name and what is not a single number: what it is, where Python has it, where a Record has it."""
MEANT: Final = {
    "csmf": "class_shares",
    "kl_truth_pred_binary": "kl_truth_pred",
    "multilabel_micro": "f1_micro",
    "multilabel_macro": "f1_macro",
    "multilabel_samples": "f1_samples",
    "detection_precision_recall": "detection_counts",
    "detection_ap": "map",
    "pr_curve": "precision_recall_curve",
}
"""Names of families and other names, with the thing that is explained."""


def explain_name(name: str) -> tuple[dict[str, Any], str]:
    """Whatever the sources name: a measure, a criterion of fairness, a test, a curve or table; as JSON and as text."""
    from assay.core.errors import PlanError
    from assay.fairness.fairness_criteria import find_criterion
    from assay.inference.declare import TESTS
    from assay.inference.tests_catalogue import find_test, tests_meant
    from assay.measures.catalogue import measure, task_of

    folded = name.strip().casefold().replace("-", "_").replace(" ", "_")
    folded = MEANT.get(folded, folded)
    if folded in PARTS:
        return _page(folded, "", dict(zip(("says", "python", "record"), PARTS[folded], strict=True)))
    if (criterion := find_criterion(name)) is not None:
        own = {"says": criterion.says, "statistics": ", ".join(criterion.statistics), "catalogue": criterion.spec,
               "also": ", ".join(criterion.also), "python": f'a.fairness[GROUP]["{criterion.name}"]',
               "source": str(criterion.source)}  # fmt: skip
        return _page(criterion.name, " (fairness)", own)
    try:
        named_measure = measure(folded if folded in MEANT.values() else name)
    except PlanError:
        if not tests_meant(name) and name not in TESTS:
            raise
        test = (tests_meant(name) or (find_test(name),))[0]
        rows = {"asks": test.asks, "null": test.null, "effect": test.effect, "also": ", ".join(test.also),
                "python": f'assay.test("{test.name}", ...)', "source": "; ".join(map(str, test.source))}  # fmt: skip
        return _page(test.name, " (significance test)", rows)
    task = task_of(named_measure)
    shown = explained(named_measure) + (
        "" if task == "classification" else "\n" + show_row("task", f"{task}: assay.{task}(...)")
    )
    return {**declaration(named_measure), "task": task}, shown


def _page(name: str, kind: str, rows: dict[str, str]) -> tuple[dict[str, Any], str]:
    """What is known of a thing, as JSON and as text."""
    return {"name": name, **rows}, "\n".join(
        [f"{name}{kind}", *(show_row(k, text) for k, text in rows.items() if text)]
    )


def declaration(measure: Measure) -> dict[str, Any]:
    """A measure as JSON."""
    file, line = measure.where
    guidance = guidance_of(measure)
    return {
        "name": measure.name,
        "symbol": measure.symbol or None,
        "also": list(measure.also),
        "says": measure.says,
        "formula": measure.formula,
        "range": [real_to_json(end) for end in measure.range],
        "better": str(measure.better),
        "chance": measure.chance,
        "family": measure.family,
        "of": grain(measure),
        "parameters": {
            name: None if value is inspect.Parameter.empty else value for name, value in measure.parameters.items()
        },
        "needs": list(measure.needs),
        "use": guidance.use or None,
        "avoid": guidance.avoid or None,
        "elsewhere": list(guidance.elsewhere),
        "source": [str(source) for source in measure.source],
        "catalogue": list(measure.spec),
        "errata": list(measure.errata),
        "declared": f"{Path(file).name}:{line}",
    }


def explained(measure: Measure) -> str:
    """A measure as a page of text."""
    file, line = measure.where
    guidance = guidance_of(measure)
    head = f"{measure.title} ({measure.symbol})" if measure.symbol else measure.title
    rows = [
        ("says", measure.says),
        ("formula", measure.formula),
        (
            "range",
            f"{measure.range_shown}; {measure.better}" + (f"; chance gives {measure.chance}" if measure.chance else ""),
        ),
        ("of", grain(measure)),
        ("also", ", ".join(measure.also)),
        ("needs", ", ".join(measure.needs)),
        ("options", ", ".join(f"{k}={v!r}" for k, v in measure.parameters.items() if v is not inspect.Parameter.empty)),
        ("use when", guidance.use),
        ("not when", guidance.avoid),
        ("elsewhere", "; ".join(guidance.elsewhere)),
        ("family", measure.family),
        ("source", "; ".join(str(source) for source in measure.source)),
        ("code", f"{Path(os.path.relpath(file, PACKAGE)).as_posix()}:{line}"),
    ]
    text = "\n".join(show_row(name, value) for name, value in rows if value)
    errata = "\n".join(show_row(entry.id, f"{entry.title}. {entry.reading}") for entry in concerning(measure))
    return f"{head}\n{text}" + (f"\n\n  errata readings\n{errata}" if errata else "")


def show_row(name: str, value: str) -> str:
    """A name with what is said of it, wrapped."""
    return "\n".join(textwrap.wrap(value, 96, initial_indent=f"  {name:<9} ", subsequent_indent=" " * 12))


def listing(measures: Iterable[Measure]) -> str:
    """Many measures, by family."""
    families: dict[str, list[Measure]] = {}
    for one in measures:
        families.setdefault(one.family, []).append(one)
    blocks = [
        f"{name}\n" + "\n".join(f"  {m.name:<32} {m.says}" for m in members) for name, members in families.items()
    ]
    count = sum(len(members) for members in families.values())
    return "\n\n".join(blocks) + f"\n\n{count} measures; `assay show NAME` explains one."
