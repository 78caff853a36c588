# SPDX-License-Identifier: Apache-2.0
"""Averages over classes are operators on declared measures: `macro(recall)`, `micro(recall)`, `weighted(recall)`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import figure, quoted
from assay.core.traits import POLICIES, TS4213, Policy
from assay.core.values import NO_ROWS, Number, Raw, Share, Undefined, Value, floats
from assay.measures.declare import REGISTRY, Fact, Formula, Measure
from assay.tally.labels.one_vs_rest import Binary, Multiclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.values import Amount

Through: TypeAlias = Callable[[float, int], float]
"""A value as a monotone function of accuracy and the number of classes, so that accuracy's interval serves it too."""
SHOWN = 8
"""Classes without a value that a note names."""
TREATED = {"skip": "left out", "zero": "counted as zero", "one": "counted as one"}
"""What an undefined class value does to an average (errata E-XS-09); `propagate` makes the average undefined too."""


def macro(base: Measure, *, name: str = "", **facts: Fact) -> Measure:
    """The plain mean of the class values; `facts` are what differs from the measure itself."""
    chance = "1/K" if name == "balanced_accuracy" else None
    formula = f"sum({_indexed(base.formula)} for i in classes) / K"
    return _mean_of_classes(base, "macro", formula, "each counting the same", name=name, chance=chance, **facts)


def weighted(base: Measure, **facts: Fact) -> Measure:
    """The mean of the class values, weighted by how many rows truly belong to each class."""
    formula = f"sum(R[i] * ({_indexed(base.formula)}) for i in classes if R[i] > 0) / n"
    return _mean_of_classes(base, "weighted", formula, "each counting by its true size", **facts)


def _mean_of_classes(base: Measure, average: str, formula: str, counting: str, **facts: Fact) -> Measure:
    def averaged(t: Multiclass, *, undefined: Policy = "propagate", **given: object) -> Raw:
        return _mean(base.with_(**given), t, t.actual if average == "weighted" else None, undefined)

    says = f"{base.name.replace('_', ' ')}, averaged over the classes, {counting}"
    return _of_labels(base, averaged, average, "E-XS-09", formula=formula, says=says, **facts)


def micro(base: Measure, **facts: Fact) -> Measure:
    """The measure on the counts of all classes added up."""

    def pooled(t: Multiclass, **given: object) -> Raw:
        found = base.with_(**given).raw(t.pooled())
        # Rows enter the pooled table K times, so a Share would lend it a binomial interval it does not have.
        return Number(found.numerator, found.denominator, found.empty) if isinstance(found, Share) else found

    def through(accuracy: float, k: int) -> float:
        wrong = cast("Amount", 1 - accuracy)
        table = Binary(tp=cast("Amount", accuracy), fp=wrong, fn=wrong, tn=cast("Amount", k - 2 + accuracy))
        return float(base.values(table))

    says = f"{base.name.replace('_', ' ')} of all classes pooled; for one label a row it is a function of accuracy"
    facts = {"formula": _pooled(base.formula), "says": says, "through": None if base.needs else through, **facts}
    return _of_labels(base, pooled, "micro", "E-TS-23", **facts)


def _mean(base: Measure, t: Multiclass, sizes: Amount | None, undefined: Policy) -> Raw:
    demand_policy(undefined)
    stack = base.raw(t.one_vs_rest())
    if isinstance(stack, Undefined):
        return stack
    if isinstance(t.hits, np.ndarray) and t.hits.dtype != object:
        return _mean_of_draws(stack.values, sizes, undefined)
    weights = (np.ones(t.k) if sizes is None else floats(sizes)) * (t.n != 0)
    names = [quoted(label) for label in t.labels]
    return mean_over(names, stack.values, weights, undefined, lambda i: stack.at(i).settled())


def demand_policy(undefined: Policy) -> None:
    """Only ways to average that exist."""
    if undefined not in POLICIES:
        what = f"undefined = {undefined!r} is not a way to average"
        raise PlanError("option-unknown", what, known=", ".join(POLICIES), fix="choose one of them")


def mean_over(
    names: Sequence[str],
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    undefined: Policy,
    why: Callable[[int], Value],
) -> Raw:
    """The mean of the values of classes, or pairs of them; what a missing one does is the plan's to say (E-XS-09)."""
    if not weights.any():
        return Undefined(reason=NO_ROWS, code="n=0")
    lost = np.flatnonzero(np.isnan(values) & (weights > 0)).tolist()
    if lost and undefined == "propagate":
        return Undefined(reason=_reason(names, values, weights, lost, why(lost[0])), code="absent-class")
    mean = averaged_values(values, weights, undefined)
    if mean is None:
        return Undefined(reason="no class has a value", code="absent-class")
    more = f" and {len(lost) - SHOWN:,} more" if len(lost) > SHOWN else ""
    shown = ", ".join(names[i] for i in lost[:SHOWN])
    return Number(cast("Amount", mean), note=f"{shown}{more}: no value, {TREATED[undefined]}" if lost else None)


def averaged_values(values: NDArray[np.float64], weights: NDArray[np.float64], undefined: Policy) -> float | None:
    """One mean with one rounding; None when nothing is left to average."""
    hole = np.isnan(values)
    values = np.where(hole, 1.0 if undefined == "one" else 0.0, values)
    kept = weights > 0 if undefined in ("zero", "one") else (weights > 0) & ~hole
    if not kept.any():
        return None
    return math.fsum((values * weights)[kept]) / math.fsum(weights[kept])


def _reason(
    names: Sequence[str], values: NDArray[np.float64], weights: NDArray[np.float64], lost: list[int], first: Value
) -> str:
    name = names[lost[0]]
    why = first.named(positive=name, negative=f"anything but {name}").reason if isinstance(first, Undefined) else ""
    more = f" (and {len(lost) - 1} more without a value)" if len(lost) > 1 else ""
    as_zero, left = (averaged_values(values, weights, policy) for policy in ("zero", "skip"))
    out = f"leaving it out: {figure(left)}" if left is not None else "leaving it out: nothing is left"
    return f"class {name} has no value: {why}{more}; counting it as 0: {figure(as_zero or 0.0)}; {out}"


def _mean_of_draws(values: NDArray[np.float64], sizes: Amount | None, undefined: Policy) -> Number:
    """A draw in which a small class vanished averages the classes that are left, unless the plan says otherwise."""
    weights = np.ones_like(values) if sizes is None else np.broadcast_to(floats(sizes), values.shape)
    hole = np.isnan(values)
    values = np.where(hole, 1.0 if undefined == "one" else 0.0, values)
    if undefined not in ("zero", "one"):
        weights = np.where(hole, 0.0, weights)
    return Number((values * weights).sum(axis=-1), weights.sum(axis=-1))


def _of_labels(
    base: Measure,
    function: Formula,
    average: str,
    erratum: str,
    *,
    through: Through | None = None,
    **facts: Fact,
) -> Measure:
    source = (TS4213("6.4.3"), *(s for s in base.source if s.document != "ISO/IEC TS 4213:2022"))
    errata, chance = (*base.errata, erratum), facts.pop("chance", None)
    return declare_average(
        base, function, average, takes=Multiclass, through_accuracy=through, source=source, only=None,
        family="averages", errata=errata, chance=chance, **facts,
    )  # fmt: skip


def declare_average(
    base: Measure,
    function: Formula,
    average: str,
    *,
    name: str = "",
    spec: Sequence[str] = (),
    **facts: Fact,
) -> Measure:
    """Declare an average of a measure, from which it differs by `facts`."""
    own = {
        "symbol": "",
        "also": (),
        "name": name or f"{base.name}_{average}",
        "spec": tuple(spec) or base.spec,
        **facts,
    }
    shown = with_signature(function, base)
    return REGISTRY.add(replace(base, function=shown, average=average, base=base.name, gives=Number, given={}, **own))


def with_signature(function: Formula, base: Measure) -> Formula:
    """Show the base measure's parameters as the operator's own."""
    import inspect

    own = [p for p in inspect.signature(function).parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    borrowed = [
        p for p in inspect.signature(base.function).parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    function.__signature__ = inspect.Signature([*own, *borrowed])  # type: ignore[attr-defined]
    return function


def _indexed(formula: str) -> str:
    return re.sub(r"\b(TP|FP|FN|TN)\b", r"\1[i]", formula)


def _pooled(formula: str) -> str:
    return re.sub(r"\bn\b", "K*n", re.sub(r"\b(TP|FP|FN|TN)\b", r"sum(\1)", formula))
