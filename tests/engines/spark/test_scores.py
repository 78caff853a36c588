# SPDX-License-Identifier: Apache-2.0
"""Scores counted on a cluster, with all digits and rounded, are those of numpy to the last bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from assay.rows.open import open_source
from assay.rows.score_columns import ScoreColumns, score_columns
from assay.rows.scored_source import sound
from assay.rows.source import Roles
from assay.tally.paired.joint_counts import joint_scores
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.scores.rounded_scores import Rounding
from assay.tally.scores.score_aggregation import count_scores
from assay.tally.scores.score_tally import Wanted
from tests import flat
from tests.scorecases import rounded_pair

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
            "weight": np.where(rng.random(len(chance)) < 0.1, 0.0, 2.0 ** rng.integers(-50, 30, len(chance)) * 0.7),
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


def rounded(tallies, *, probability):
    return [one.rounded(Rounding(bits=13, probability=probability)) for one in tallies]


def test_scores_on_a_cluster_are_those_of_arrays_to_the_last_bit(spark, tmp_path):
    frame = rows()
    for part in range(2):
        frame.gather_every(2, part).write_parquet(tmp_path / f"{part}.parquet")
    data = spark.read.parquet(str(tmp_path))
    every, few = len(frame), 10

    (expected,) = counted(None, frame, "chance", every, group=["site"])
    exact, found = counted(data, frame, "chance", every, few, group=["site"])
    assert exact == expected
    assert found == rounded(expected, probability=True)

    (expected,) = counted(None, frame, "wild", every)
    (found,) = counted(data, frame, "wild", few)
    assert found == rounded(expected, probability=False)

    (expected,) = counted(None, frame, "chance", every, weight="weight", group=["site"])
    exact, found = counted(data, frame, "chance", every, few, weight="weight", group=["site"])
    assert exact == expected
    assert found == rounded(expected, probability=True)


def test_joint_counts_of_several_models_are_those_of_arrays(connect):
    frame = rows().select("ill", "chance", "wild")
    data = connect.createDataFrame(frame.rows(), "ill string, chance double, wild double")
    columns = ScoreColumns(columns=("chance", "wild"))
    source = open_source(data, Roles(truth="ill", predicted="ill", score=columns))
    found = joint_scores(source, ("A", "B"), "yes")
    scores = {"A": frame["chance"].to_numpy(), "B": frame["wild"].to_numpy()}
    assert found == rounded_pair(PairedScores.of((frame["ill"] == "yes").to_numpy(), scores), 9)


def test_mended_scores_and_scores_of_whole_rows_are_those_of_arrays(connect):
    rng = np.random.default_rng(9)
    kinds = rng.integers(0, 4, 60)
    chances = rng.dirichlet(np.ones(4), 60) * np.where(np.arange(60) % 4 == 0, 0.8, 1.0)[:, None]
    chances[:9] = [0.5, 0.5, 0.0, 0.0]  # two largest, and one that is not there
    truth = kinds % 2
    score = np.where(rng.random(60) < 0.15, np.nan, np.round(rng.normal(size=60) + truth, 2))
    given = [None if np.isnan(one) else float(one) for one in score]
    heavy = np.where(rng.random(60) < 0.1, 0.0, 2.0 ** rng.integers(-40, 30, 60) * rng.random(60))
    rows = list(zip(kinds.tolist(), *chances.T.tolist(), truth.tolist(), given, heavy.tolist(), strict=True))
    frame = connect.createDataFrame(rows, "k int, a double, b double, c double, d double, y int, s double, w double")

    last = {"threshold": 0.5, "missing_score": "worst", "measures": ["auroc"]}
    expected, found = (
        flat.assess(truth=truth, score=score, **last),
        flat.assess(data=frame, truth="y", score="s", **last),
    )
    assert found.scores.last == expected.scores.last == int(np.isnan(score).sum())
    assert found.scores.whole == expected.scores.whole
    assert found.confusion == expected.confusion

    columns = dict(enumerate("abcd"))
    scaled = {"scores": "probability", "renormalise": True, "measures": ["log_loss_multiclass"]}
    expected = flat.assess(truth=kinds, score=chances, **scaled)
    found = flat.assess(data=frame, truth="k", score=columns, **scaled)
    assert found.scores.rescaled == expected.scores.rescaled
    assert found.scores.rescaled.rows == 12
    assert found.scores.whole == expected.scores.whole
    assert found.scores.by_row == expected.scores.by_row
    assert found.scores.ranks == expected.scores.ranks
    assert found["log_loss_multiclass"].value == expected["log_loss_multiclass"].value

    scaled["measures"] = ["auroc_one_vs_one"]
    rough = flat.assess(data=frame, truth="k", score=columns, exact_scores=9, **scaled)
    assert [rough.scores.whole] == rounded([expected.scores.whole], probability=True)
    exact = flat.assess(truth=kinds, score=chances, **scaled)["auroc_one_vs_one"].value
    assert rough["auroc_one_vs_one"].value == pytest.approx(exact, abs=1e-3)

    expected = flat.assess(truth=kinds, score=chances, weight=heavy, **scaled)
    rough = flat.assess(data=frame, truth="k", score=columns, weight="w", exact_scores=9, **scaled)
    assert [rough.scores.whole] == rounded([expected.scores.whole], probability=True)
    assert rough.scores.ranks == expected.scores.ranks
    assert rough["auroc_one_vs_one"].value == pytest.approx(expected["auroc_one_vs_one"].value, abs=1e-3)
