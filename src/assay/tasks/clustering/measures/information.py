# SPDX-License-Identifier: Apache-2.0
"""Agreement of classes and clusters by information: what does the cluster of a row say about its class?

Logarithms are natural. How entropies are averaged is part of the name.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.traits import EXTENSION, HIGHER, Source
from assay.core.values import NO_ROWS, Number, number
from assay.measures.declare import Measure, measure
from assay.tasks.clustering.agreement_sums import Agreement

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.core.values import Amount

FAMILY: Final = "information"
VINH: Final = Source("Vinh, Epps and Bailey 2010", "table 2")
ROSENBERG: Final = Source("Rosenberg and Hirschberg 2007", "section 2")
ONE_CLASS: Final = "all rows have one class, so there is nothing to tell"
ONE_CLUSTER: Final = "all rows are in one cluster"
NOTHING: Final = "all rows have one class and are in one cluster"
TINY: Final = 1e-12
"""Entropies below this are rounding."""
of_information = partial(measure, range=(0, 1), better=HIGHER, source=(ROSENBERG, EXTENSION), family=FAMILY)


def _log(x: Amount) -> Amount:
    if isinstance(x, np.ndarray):
        return cast("Amount", np.log(np.maximum(x, 1.0)))
    return cast("Amount", math.log(x) if x > 0 else 0.0)


def _zeroed(x: Amount) -> Amount:
    """Entropies that are 0 but for rounding."""
    if isinstance(x, np.ndarray):
        return cast("Amount", np.where(np.abs(x) < TINY, 0.0, x))
    return cast("Amount", 0.0 if abs(x) < TINY else x)


def class_entropy(t: Agreement) -> Amount:
    """Entropy of the classes, times n."""
    return _zeroed(t.n * _log(t.n) - t.class_log)


def cluster_entropy(t: Agreement) -> Amount:
    """Entropy of the clusters, times n."""
    return _zeroed(t.n * _log(t.n) - t.cluster_log)


def shared_information(t: Agreement) -> Amount:
    """Mutual information, times n."""
    return _zeroed(t.joint_log + t.n * _log(t.n) - t.class_log - t.cluster_log)


def _lower(a: Amount, b: Amount) -> Amount:
    return cast("Amount", np.minimum(a, b) if isinstance(a, np.ndarray) else min(a, b))


def _higher(a: Amount, b: Amount) -> Amount:
    return cast("Amount", np.maximum(a, b) if isinstance(a, np.ndarray) else max(a, b))


def _between(a: Amount, b: Amount) -> Amount:
    return cast("Amount", np.sqrt(a * b))


AVERAGES: Final[dict[str, tuple[Callable[[Amount, Amount], Amount], str, str]]] = {
    "arithmetic": (lambda a, b: (a + b) / 2, "(H_class + H_cluster) / 2", NOTHING),
    "geometric": (_between, "sqrt(H_class * H_cluster)", f"{ONE_CLASS}, or {ONE_CLUSTER}"),
    "max": (_higher, "max(H_class, H_cluster)", NOTHING),
    "min": (_lower, "min(H_class, H_cluster)", f"{ONE_CLASS}, or {ONE_CLUSTER}"),
}


@of_information(
    symbol="MI",
    also=("mutual_info_score",),
    says="how much the cluster of a row tells about its class, in nats",
    formula="log(n) + (joint_log - class_log - cluster_log) / n",
    range=(0, math.inf),
    source=(VINH, EXTENSION),
)
def mutual_information(t: Agreement) -> Number:
    return number(shared_information(t), over=t.n, empty=NO_ROWS)


@of_information(
    says="1 where every cluster holds rows of one class only",
    formula="MI / H_class",
)
def homogeneity(t: Agreement) -> Number:
    return number(shared_information(t), over=class_entropy(t), empty=ONE_CLASS)


@of_information(
    says="1 where all rows of a class are in one cluster",
    formula="MI / H_cluster",
)
def completeness(t: Agreement) -> Number:
    return number(shared_information(t), over=cluster_entropy(t), empty=ONE_CLUSTER)


@of_information(
    symbol="V",
    says="the harmonic mean of homogeneity and completeness; equal to nmi_arithmetic",
    formula="2 * MI / (H_class + H_cluster)",
)
def v_measure(t: Agreement) -> Number:
    return number(2 * shared_information(t), over=class_entropy(t) + cluster_entropy(t), empty=NOTHING)


def _declare(name: str, *, adjusted: bool) -> Measure:
    """The normalised or adjusted information with one way to average entropies."""
    average, text, empty = AVERAGES[name]

    def formula(t: Agreement) -> Number:
        whole = average(class_entropy(t), cluster_entropy(t))
        shared = shared_information(t)
        if not adjusted:
            return number(shared, over=whole, empty=empty)
        chance = t.n * t.expected
        return number(shared - chance, over=_zeroed(whole - chance), empty=f"{empty}; or chance alone agrees as well")

    formula.__name__ = f"{'ami' if adjusted else 'nmi'}_{name}"
    formula.__annotations__ = {"t": "Agreement", "return": "Number"}
    declare: Any = measure(
        says=f"mutual information {'beyond chance ' if adjusted else ''}as a share of its most: {text}",
        formula=f"(MI - E) / ({text} - E), E = MI expected by chance" if adjusted else f"MI / ({text})",
        range=(-1, 1) if adjusted else (0, 1),
        better=HIGHER,
        source=(VINH, EXTENSION),
        chance="0" if adjusted else None,
        family=FAMILY,
    )
    return cast("Measure", declare(formula))


NORMALISED: Final = [_declare(name, adjusted=False) for name in AVERAGES]
ADJUSTED: Final = [_declare(name, adjusted=True) for name in AVERAGES]
