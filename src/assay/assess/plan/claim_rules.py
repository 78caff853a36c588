# SPDX-License-Identifier: Apache-2.0
"""What must hold of the claims and the acceptance criteria of a plan, asked as it is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.assess.plan.document import Path, Problem, items, table, tables, unknown
from assay.core.errors import AssayError
from assay.core.text import quoted
from assay.core.traits import NEITHER
from assay.measures import Measure

RELATIONS: Final = ("at_least", "at_most", "better_than", "equivalent_to")


def check_claims(document: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with claims."""
    for i, claim in enumerate(items(document.get("claims"))):
        if not isinstance(claim, dict):
            continue
        path: Path = ("claims", i)
        measure = None
        if isinstance(claim.get("measure"), str):
            from assay.assess.decide.criteria import spoken_of

            try:
                measure = spoken_of(claim["measure"]).measure
            except AssayError as error:
                yield Problem((*path, "measure"), error.what, error.fix, known=error.known)
        yield from _relation(claim, path, measure)
        yield from _named(document, claim, path)


def _relation(claim: Mapping[str, Any], path: Path, measure: Measure | None) -> Iterator[Problem]:
    said = [name for name in RELATIONS if name in claim]
    if len(said) != 1:
        what = f"a claim says one of {', '.join(RELATIONS)}" + (f", not {' and '.join(said)}" if said else "")
        yield Problem((*path, said[1]) if len(said) > 1 else path, what, "keep one of them")
        return
    name, value = said[0], claim[said[0]]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if "margin" in claim:
            yield Problem((*path, "margin"), "a claim about a number has no margin", "leave it out")
        if measure is not None and not measure.range[0] <= value <= measure.range[1]:
            what = f"{value:g} is outside what {measure.name} can be"
            yield Problem((*path, name), what, known=measure.range_shown)
    elif isinstance(value, str):
        yield from _to_a_model(name, claim.get("margin"), path, measure)


def _to_a_model(name: str, margin: object, path: Path, measure: Measure | None) -> Iterator[Problem]:
    """What is wrong with a claim that holds one model against another."""
    if name == "equivalent_to" and not margin:
        yield Problem(path, "equivalence needs a margin above 0", "add margin = 0.02, for one")
    if measure is not None and measure.better is NEITHER and name != "equivalent_to":
        what = f"{measure.name} has no better side, so that no model is better or worse in it"
        yield Problem((*path, "measure"), what, "choose a measure with a direction")
    if measure is not None and isinstance(margin, (int, float)) and margin >= measure.range[1] - measure.range[0]:
        yield Problem((*path, "margin"), f"{margin:g} is not a margin of {measure.name}: everything fits it")


def _named(document: Mapping[str, Any], claim: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    """Models with predictions, and the test split, by their names."""
    models = table(document, "models")
    counted = [name for name, model in tables(document, "models") if {"predicted", "score"} & set(model)]
    for key in ("model", *RELATIONS):
        name = claim.get(key)
        if not isinstance(name, str):
            continue
        if name not in models:
            yield unknown((*path, key), "there is no model", name, models)
        elif name not in counted:
            yield Problem((*path, key), f"model {quoted(name)} has no predictions to count")
        elif key != "model" and name == claim.get("model"):
            yield Problem((*path, key), "a model is compared with itself", "name another model")
    tests = [name for name, split in tables(document, "data") if split.get("role", name) == "test" and "path" in split]
    data = claim.get("data")
    if isinstance(data, str) and data not in tests:
        yield unknown((*path, "data"), "there is no test split", data, tests)
    elif data is None and len(tests) > 1:
        yield Problem(path, "there are several test splits, and the claim names none", known=", ".join(tests))


def check_references(document: Mapping[str, Any]) -> Iterator[Problem]:
    """Whether criteria that need a reference have one, and no other has."""
    from assay.assess.decide.criteria import Rule, criterion

    metrics = table(document, "metrics")
    relative = []
    for i, text in enumerate(items(metrics.get("accept"))):
        try:
            if isinstance(text, str) and criterion(text).rule is Rule.NON_INFERIOR:
                relative.append(i)
        except AssayError:
            continue  # told where measures are looked at
    if relative and "against" not in metrics:
        fix = 'add against = "reference.json", the Record of the reference, to [metrics]'
        yield Problem(("metrics", "accept", relative[0]), "non-inferiority needs a reference", fix)
    if "against" in metrics and not relative and isinstance(metrics.get("accept"), list):
        fix = 'add "recall non-inferior margin 0.02" to accept, for one'
        yield Problem(("metrics", "against"), "no criterion is held against the reference", fix)
