# SPDX-License-Identifier: Apache-2.0
"""Agreement of classes and clusters by pairs of rows: are both together, or both apart?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from assay.core.traits import EXTENSION, HIGHER, Source
from assay.core.values import NO_ROWS, Number, number, root
from assay.measures.declare import measure
from assay.tasks.clustering.agreement_sums import Agreement

if TYPE_CHECKING:
    from assay.core.values import Amount

FAMILY: Final = "pairs of rows"
NO_CLUSTERED: Final = "no two rows share a cluster"
NO_CLASSED: Final = "no two rows share a class"
of_pairs = partial(measure, range=(0, 1), better=HIGHER, source=EXTENSION, family=FAMILY)


@of_pairs(
    also=("Rand index",),
    says="the share of pairs of rows on which classes and clusters agree: together in both, or apart in both",
    formula="(n * (n - 1) + 2 * together - by_class - by_cluster) / (n * (n - 1))",
    source=(Source("Rand 1971", "section 2"), EXTENSION),
)
def rand_index(t: Agreement) -> Number:
    pairs = t.n * (t.n - 1)
    return number(pairs + 2 * t.together - t.by_class - t.by_cluster, over=pairs, empty="there are fewer than two rows")


@of_pairs(
    symbol="ARI",
    also=("adjusted_rand_score",),
    says="the Rand index corrected for chance: 0 for random clusters of these sizes, 1 for the classes themselves",
    formula="(2 * (n * (n - 1) * (together - n) - (by_class - n) * (by_cluster - n))) / "
    "(n * (n - 1) * (by_class + by_cluster - 2 * n) - 2 * (by_class - n) * (by_cluster - n))",
    range=(-1, 1),
    source=(Source("Hubert and Arabie 1985", "eq. 5"), EXTENSION),
    chance="0",
)
def adjusted_rand_index(t: Agreement) -> Number:
    pairs, classed, clustered = t.n * (t.n - 1), t.by_class - t.n, t.by_cluster - t.n
    chance = classed * clustered
    return number(
        2 * (pairs * (t.together - t.n) - chance),
        over=pairs * (classed + clustered) - 2 * chance,
        empty="both are all one group, or both all single rows: chance alone would agree as well",
    )


@of_pairs(
    says="of the pairs of rows that share a cluster, the share that shares a class, too",
    formula="(together - n) / (by_cluster - n)",
)
def pair_precision(t: Agreement) -> Number:
    return number(t.together - t.n, over=t.by_cluster - t.n, empty=NO_CLUSTERED)


@of_pairs(
    says="of the pairs of rows that share a class, the share that shares a cluster, too",
    formula="(together - n) / (by_class - n)",
)
def pair_recall(t: Agreement) -> Number:
    return number(t.together - t.n, over=t.by_class - t.n, empty=NO_CLASSED)


@of_pairs(
    says="the harmonic mean of pair precision and pair recall",
    formula="2 * (together - n) / (by_class + by_cluster - 2 * n)",
)
def pair_f1(t: Agreement) -> Number:
    empty = "no two rows share a class or a cluster"
    return number(2 * (t.together - t.n), over=t.by_class + t.by_cluster - 2 * t.n, empty=empty)


@of_pairs(
    symbol="FM",
    also=("fowlkes_mallows_score",),
    says="the geometric mean of pair precision and pair recall",
    formula="(together - n) / sqrt((by_class - n) * (by_cluster - n))",
    source=(Source("Fowlkes and Mallows 1983", "eq. 2"), EXTENSION),
)
def fowlkes_mallows(t: Agreement) -> Number:
    classed: Amount = t.by_class - t.n
    clustered: Amount = t.by_cluster - t.n
    return number(
        t.together - t.n,
        over=root(classed * clustered),
        empty=((classed, NO_CLASSED), (clustered, NO_CLUSTERED)),
    )


@of_pairs(
    says="the share of rows that belong to the most frequent class of their cluster; rises with every further cluster",
    formula="matched / n",
    family="matches",
)
def purity(t: Agreement) -> Number:
    return number(t.matched, over=t.n, empty=NO_ROWS)
