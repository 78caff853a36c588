# SPDX-License-Identifier: Apache-2.0
"""Scores counted on a cluster, one by one and in bins, are those of numpy to the last bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from assay.rows.opening import Roles, open_source
from assay.rows.scored import sound
from assay.rows.scores import score_columns
from assay.tally.binned import bin_map, binned
from assay.tally.scoring import Wanted, count_scores

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

LABELS = ("no", "yes")


def rows():
    """Scores at every edge where an engine could err: powers of two and their neighbours, both zeros, ties, ends."""
    rng = np.random.default_rng(5)
    powers = 2.0 ** -np.arange(1.0, 75.0)
    edges = np.concatenate([powers, np.nextafter(powers, 0), 1 - powers, [0.0, -0.0, 1.0, 0.5, 5e-324]])
    chance = np.concatenate([edges, rng.random(300), rng.random(200).round(1)])
    wild = np.concatenate([edges * 2.0**40, -edges, rng.normal(size=500 - len(edges)) * 1e6])[: len(chance)]
    truth = rng.random(len(chance)) < 0.4
    return pl.DataFrame(
        {
            "ill": np.where(truth, "yes", "no"),
            "called": np.where(rng.random(len(chance)) < 0.5, "yes", "no"),
            "chance": chance,
            "wild": rng.permutation(np.resize(wild, len(chance))),
            "site": rng.choice(["a", "b"], len(chance)),
            "weight": rng.integers(1, 9, len(chance)) / 8,
        }
    )


def counted(data, frame, score, *exact, **further):
    """The tally of all rows and of each site, of a frame or of its arrays, once for each limit of exact scores."""
    taken = (lambda name: name) if data is not None else lambda name: frame[name].to_numpy()
    roles = {role: {name: taken(name) for name in names} for role, names in further.items() if role == "group"}
    roles |= {role: taken(name) for role, name in further.items() if role != "group"}
    source = open_source(
        data, Roles(truth=taken("ill"), predicted=taken("called"), score=score_columns(taken(score)), **roles)
    )
    source, _ = sound(source, "any", single=True, drop=False)
    wanted = Wanted(labels=LABELS, scored=LABELS[1:], columns=(0,), probability=score == "chance")
    for limit in exact:
        found = count_scores(source, replace(wanted, exact=limit))
        yield [found.whole, *(levels[site] for levels in found.by_factor.values() for site in ("a", "b"))]


def in_bins(tallies, *, probability):
    return [binned(one, bin_map(probability=probability)) for one in tallies]


def test_scores_on_a_cluster_are_those_of_arrays_to_the_last_bit(spark, tmp_path):
    frame = rows()
    for part in range(2):
        frame.gather_every(2, part).write_parquet(tmp_path / f"{part}.parquet")
    data = spark.read.parquet(str(tmp_path))
    every, few = len(frame), 10

    (expected,) = counted(None, frame, "chance", every, group=["site"])
    exact, bins = counted(data, frame, "chance", every, few, group=["site"])
    assert exact == expected
    assert bins == in_bins(expected, probability=True)
    for mine, theirs in zip(bins, in_bins(expected, probability=True), strict=True):
        np.testing.assert_array_equal(mine.columns[0].only, theirs.columns[0].only)

    (expected,) = counted(None, frame, "wild", every)
    (bins,) = counted(data, frame, "wild", few)
    assert bins == in_bins(expected, probability=False)

    (expected,), (exact,) = (counted(one, frame, "chance", every, weight="weight") for one in (None, data))
    assert exact == expected
