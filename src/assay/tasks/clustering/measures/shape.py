# SPDX-License-Identifier: Apache-2.0
"""Measures of clusters by themselves, from the features: dense inside, far from each other."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.traits import EXTENSION, HIGHER, LOWER, Source
from assay.core.values import Number, number, undefined_number
from assay.measures.declare import measure
from assay.tasks.clustering.agreement_sums import Agreement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.values import Amount
    from assay.tasks.clustering.geometry import Geometry

FAMILY: Final = "shape"
NO_FEATURES: Final = "no features are given (features=)"
ONE: Final = "there are fewer than two clusters"
MERGED: Final = "it needs pairs of rows, which a merged tally does not hold"
COINCIDE: Final = "two clusters have the same centre"
NO_INTERVAL: Final = "the clusters were made from these very rows, so rows are not a sample for it"
of_shape = partial(measure, range=(0, math.inf), better=LOWER, family=FAMILY)


@of_shape(
    symbol="CH",
    also=("calinski_harabasz_score", "variance ratio criterion"),
    says="spread between the centres of clusters over spread inside them; grows with the number of rows",
    formula="(B / (K - 1)) / (W / (n - K)), B and W sums of squared distances between and within K clusters",
    better=HIGHER,
    source=(Source("Calinski and Harabasz 1974", "eq. 3"), EXTENSION),
)
def calinski_harabasz(t: Agreement) -> Number:
    shape: Geometry | None = t.shape
    if shape is None:
        return undefined_number(NO_FEATURES)
    clusters, rows = len(shape.clusters), shape.rows
    if clusters < 2:  # noqa: PLR2004
        return undefined_number(ONE)
    centre = (shape.count[:, None] * shape.centre).sum(axis=0) / rows
    between = math.fsum((shape.count * ((shape.centre - centre) ** 2).sum(axis=1)).tolist())
    within = math.fsum(shape.within.tolist())
    top: Amount = cast("Any", between * (rows - clusters))
    return number(top, over=cast("Any", within * (clusters - 1)), empty="no cluster has any spread inside")


def _davies_bouldin(shape: Geometry, spread: NDArray[np.float64]) -> Number:
    if len(shape.clusters) < 2:  # noqa: PLR2004
        return undefined_number(ONE)
    apart = np.sqrt(((shape.centre[:, None] - shape.centre[None]) ** 2).sum(axis=2))
    np.fill_diagonal(apart, np.inf)
    if not apart.all():
        return undefined_number(COINCIDE)
    worst = ((spread[:, None] + spread[None]) / apart).max(axis=1)
    return number(cast("Any", math.fsum(worst.tolist())), over=cast("Any", len(worst)), empty=ONE)


@of_shape(
    symbol="DB",
    also=("davies_bouldin_score",),
    says="how much each cluster overlaps with its nearest one, with the mean distance to the centre as spread",
    formula="mean over clusters i of max over j of (s_i + s_j) / d_ij, s = mean distance to the centre",
    source=(Source("Davies and Bouldin 1979", "definition 5, q = 1"), EXTENSION),
)
def davies_bouldin(t: Agreement) -> Number:
    shape: Geometry | None = t.shape
    if shape is None:
        return undefined_number(NO_FEATURES)
    return undefined_number(MERGED) if shape.distance is None else _davies_bouldin(shape, shape.distance)


@of_shape(
    says="as davies_bouldin, with the root mean squared distance to the centre as spread: from sums, also when merged",
    formula="mean over clusters i of max over j of (s_i + s_j) / d_ij, s = root mean squared distance to the centre",
    source=(Source("Davies and Bouldin 1979", "definition 5, q = 2"), EXTENSION),
)
def davies_bouldin_rms(t: Agreement) -> Number:
    shape: Geometry | None = t.shape
    if shape is None:
        return undefined_number(NO_FEATURES)
    return _davies_bouldin(shape, np.sqrt(shape.within / shape.count))


@of_shape(
    also=("silhouette_score", "silhouette coefficient"),
    says="how much closer rows are to their own cluster than to the nearest other one; 0 for a row that is alone",
    formula="mean over rows of (b - a) / max(a, b), a and b mean distances to the own and the nearest other cluster",
    range=(-1, 1),
    better=HIGHER,
    source=(Source("Rousseeuw 1987", "section 2"), EXTENSION),
)
def silhouette(t: Agreement) -> Number:
    shape: Geometry | None = t.shape
    if shape is None:
        return undefined_number(NO_FEATURES)
    if not shape.compared:
        return undefined_number(MERGED)
    if shape.silhouette is None:
        return undefined_number("there are fewer than two clusters, or as many as rows")
    return number(cast("Any", shape.silhouette), empty=ONE)
