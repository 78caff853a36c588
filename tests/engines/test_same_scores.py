# SPDX-License-Identifier: Apache-2.0
"""The same scores through every engine give the identical tally, with all digits and rounded."""

from __future__ import annotations

from functools import cache

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score

import assay
from assay.assess.record.verification import verify
from assay.rows.engines import score_expressions as frames_of_scores
from assay.rows.engines.score_expressions import fetched
from assay.rows.open import open_source
from assay.rows.score_columns import score_columns
from assay.rows.scored_source import sound
from assay.rows.source import Roles
from assay.tally.scores import engine_scores as scoreframes
from assay.tally.scores.rounded_scores import Rounding, round_column, round_scores
from assay.tally.scores.score_aggregation import count_ranks, count_scores
from assay.tally.scores.score_tally import Wanted
from assay.tally.scores.true_class_ranks import Ranks
from tests import flat

ENGINES = ["polars", "lazy", "pandas", "pyarrow", "duckdb", "csv", "parquet", "jsonl", "arrow"]


def score_levels(assessment):
    """The scores of every level of every group."""
    return {
        name: {level: tally.scores.whole for level, tally in levels.items()}
        for name, levels in assessment.grouped.factors.items()
    }


@cache
def database():
    return duckdb.connect()


def given(kind, frame, folder):
    writers = {"csv": "write_csv", "parquet": "write_parquet", "jsonl": "write_ndjson", "arrow": "write_ipc"}
    if kind in writers:
        path = folder / f"rows.{kind}"
        getattr(frame, writers[kind])(path)
        return path
    made = {
        "polars": lambda: frame,
        "lazy": frame.lazy,
        "pandas": frame.to_pandas,
        "pyarrow": frame.to_arrow,
        "duckdb": lambda: database().cursor().from_arrow(frame.to_arrow()),
    }
    return made[kind]()


def rounded(tally, *, probability):
    return tally.rounded(Rounding(bits=13, probability=probability))


@cache
def rows(n=700):
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 3, n)
    matrix = rng.dirichlet(np.ones(3) * 0.4, n)
    return pl.DataFrame(
        {
            "y": np.array(["cat", "dog", "eel"])[truth],
            **{f"p_{name}": matrix[:, i] for i, name in enumerate(("cat", "dog", "eel"))},
            "logit": np.round(rng.normal(size=n) * 30, 1),
            "ill": np.where(truth == 0, "yes", "no"),
            "group": rng.choice(["a", "b"], n),
        }
    )


@cache
def one_column_in_memory():
    frame = rows()
    return assay.assess(
        truth=frame["ill"].to_list(),
        score=frame["logit"].to_numpy(),
        threshold=0.5,
        positive="yes",
        group={"group": frame["group"].to_list()},
    )


@pytest.mark.parametrize("kind", ENGINES)
def test_one_column_of_scores(kind, tmp_path):
    frame = rows()
    a = assay.assess(
        data=given(kind, frame, tmp_path), truth="ill", score="logit", threshold=0.5, positive="yes", group="group"
    )
    b = one_column_in_memory()
    assert a.confusion == b.confusion
    assert a.scores.whole == b.scores.whole
    assert score_levels(a) == score_levels(b)


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "duckdb", "csv", "parquet"])
def test_weights_and_their_squares_are_summed_alike(kind, tmp_path):
    frame = rows(200).with_columns(w=pl.Series(np.random.default_rng(3).integers(0, 40, 200) / 8))
    few = {"measures": ["auroc"], "threshold": 0.5, "positive": "yes"}
    a = flat.assess(data=given(kind, frame, tmp_path), truth="ill", score="logit", weight="w", **few)
    b = flat.assess(truth=frame["ill"].to_list(), score=frame["logit"].to_numpy(), weight=frame["w"].to_list(), **few)
    assert a.scores.whole == b.scores.whole
    assert a.scores.whole.columns[0].squares is not None
    assert a.record["operating_points"] == b.record["operating_points"]


NAMES, LABELS = ["p_cat", "p_dog", "p_eel"], ["cat", "dog", "eel"]


@cache
def columns_in_memory():
    frame = rows()
    return assay.assess(
        truth=frame["y"].to_list(),
        score=frame.select(NAMES).to_numpy(),
        labels=LABELS,
        scores=assay.ScoreSettings(kind="probability"),
    )


@pytest.mark.parametrize("kind", ENGINES)
def test_one_column_for_each_class(kind, tmp_path):
    a = assay.assess(
        data=given(kind, rows(), tmp_path), truth="y", score=NAMES, scores=assay.ScoreSettings(kind="probability")
    )
    b = columns_in_memory()
    assert a.confusion == b.confusion
    assert a.scores.whole == b.scores.whole
    assert a.scores.ranks == b.scores.ranks
    assert a.scores.by_row == b.scores.by_row


@pytest.mark.parametrize("kind", ["polars", "lazy", "pyarrow", "duckdb", "parquet"])
def test_scores_rounded_by_an_engine_are_those_of_the_exact_tally(kind, tmp_path):
    frame = rows()
    for column, probability in (("p_cat", True), ("logit", False)):
        a = assay.assess(
            data=given(kind, frame, tmp_path),
            truth="ill",
            score=column,
            scores=assay.ScoreSettings(kind="probability" if probability else "any", exact_scores=20),
            threshold=0.5,
            positive="yes",
            group="group",
        )
        b = assay.assess(truth=frame["ill"].to_list(), score=frame[column].to_numpy(), threshold=0.5, positive="yes")
        assert a.scores.whole == rounded(b.scores.whole, probability=probability)
        assert a["auroc"].value == pytest.approx(b["auroc"].value, abs=1e-5)


def weighing(n=700):
    """Weights at which sums of doubles would err: every size, ones of 53 bits, none at all."""
    rng = np.random.default_rng(11)
    held = 2.0 ** rng.integers(-40, 30, n) * rng.random(n)
    held[::7], held[1::7], held[2::7] = 0.0, 0.1, 2.0 ** rng.integers(-60, 40, len(held[2::7]))
    held[3::7] = np.nextafter(held[2::7], 0)[: len(held[3::7])]
    return held


WEIGHTED = {
    "doubles": ("p_cat", weighing()),
    "whole": ("logit", np.arange(700) % 9),
    "far apart": ("logit", np.where(np.arange(700) % 3, 1e-30, 1e3)),
}


def counted(data, taken, score, weight, *, exact):
    """The tally of all rows and of both groups."""
    roles = Roles(
        truth=taken("ill"),
        predicted=taken("ill"),
        score=score_columns(taken(score)),
        weight=taken(weight),
        group={"group": taken("group")},
    )
    wanted = Wanted(labels=("no", "yes"), scored=("yes",), columns=(0,), probability=score == "p_cat", exact=exact)
    source, _ = sound(open_source(data, roles), "any", single=True, drop=False)
    found = count_scores(source, wanted)
    return [found.whole, *(found.by_factor["group"][level] for level in ("a", "b"))]


@cache
def weighted_rows():
    return rows().with_columns(pl.Series(name, held) for name, (_, held) in WEIGHTED.items())


@cache
def counted_in_memory(column, name):
    frame = weighted_rows()
    return counted(None, lambda role: frame[role].to_numpy(), column, name, exact=len(frame))


@pytest.mark.parametrize("kind", ["lazy", "duckdb", "parquet", "csv", "arrow", "pandas"])
def test_weighted_scores_are_the_same_tally_on_every_engine(kind, tmp_path):
    frame = weighted_rows()
    data = given(kind, frame, tmp_path)
    for name, (column, _) in WEIGHTED.items():
        found = counted(data, str, column, name, exact=len(frame))
        assert found == counted_in_memory(column, name)
        if kind != "pandas":  # rows in memory keep all digits
            few = counted(data, str, column, name, exact=20)
            assert few == [rounded(one, probability=column == "p_cat") for one in found]
        assert all(one.weighted for one in found)


OF_CLASSES = ["auroc_macro", "auroc_weighted", "auroc_one_vs_one", "auroc_micro", "average_precision_micro"]
OF_CLASSES += ["mean_average_precision", "log_loss_multiclass", "brier_score_multiclass", "top_k_accuracy(k=2)"]


WEIGHTED_CLASSES = [("lazy", "w"), ("duckdb", "n"), ("parquet", "w"), ("parquet", "n"), ("csv", "n"), ("pandas", "w")]


@pytest.mark.parametrize(("kind", "name"), WEIGHTED_CLASSES)
def test_rounded_weighted_classes_are_those_of_the_exact_tally_on_every_engine(kind, name, tmp_path):
    frame = rows(200).with_columns(w=pl.Series(weighing(200)), n=pl.Series(np.arange(200) % 5, dtype=pl.Int32))
    few = {"scores": "probability", "measures": OF_CLASSES, "exact_scores": 9}
    data = given(kind, frame, tmp_path)
    a = flat.assess(data=data, truth="y", score=NAMES, weight=name, group="group", **few)
    b = flat.assess(
        truth=frame["y"].to_list(),
        score=frame.select(NAMES).to_numpy(),
        labels=LABELS,
        weight=frame[name].to_numpy(),
        group={"group": frame["group"].to_list()},
        **few,
    )
    assert a.scores.ranks == b.scores.ranks
    assert a["top_k_accuracy(k=2)"].value == b["top_k_accuracy(k=2)"].value
    if kind == "pandas":  # rows in memory are counted one by one
        assert a.scores.whole == b.scores.whole
        return
    assert a.scores.whole == rounded(b.scores.whole, probability=True)
    for level, tally in score_levels(b)["group"].items():
        assert score_levels(a)["group"][level] == rounded(tally, probability=True)
    for one in OF_CLASSES[:-1]:
        assert a[one].value == pytest.approx(b[one].value, rel=1e-3)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_ranks_of_weighted_rows_come_back_as_so_many_cells_however_the_weights_differ(kind, tmp_path, monkeypatch):
    weight = np.random.default_rng(2).lognormal(0, 1, 200).round(9)
    frame = rows(200).with_columns(w=pl.Series(weight))
    sizes = []

    def told(source, asked):
        found = fetched(source, asked)
        sizes.append(len(found))
        return found

    for module in (scoreframes, frames_of_scores):
        monkeypatch.setattr(module, "fetched", told)
    roles = Roles(truth="y", predicted="y", score=score_columns(NAMES), weight="w")
    source, _ = sound(open_source(given(kind, frame, tmp_path), roles), "any", single=False, drop=False)
    found = count_ranks(source, Wanted(labels=tuple(LABELS), scored=tuple(LABELS), columns=(0, 1, 2)))
    codes = [LABELS.index(one) for one in frame["y"]]
    assert found == Ranks.of(frame.select(NAMES).to_numpy(), codes, weight)
    assert max(sizes) <= 24  # of 200 rows


def test_rounded_weighted_classes_come_near_what_scikit_learn_computes(tmp_path):
    frame = rows(400).with_columns(w=pl.Series(np.random.default_rng(2).lognormal(0, 1, 400)))
    named = ["auroc_macro", "auroc_weighted", "auroc_micro"]
    named += ["mean_average_precision", "average_precision_micro", "log_loss_multiclass"]
    a = assay.assess(
        data=given("parquet", frame, tmp_path),
        truth="y",
        score=NAMES,
        weight="w",
        scores=assay.ScoreSettings(exact_scores=9, kind="probability"),
        measures=named,
    )
    assert a.scores.whole.weighted
    truth, chance, weight = frame["y"].to_numpy(), frame.select(NAMES).to_numpy(), frame["w"].to_numpy()
    one_hot = (truth[:, np.newaxis] == np.array(LABELS)).astype(int)
    theirs = {
        f"{name}_{average}": function(one_hot, chance, average=average, sample_weight=weight)
        for name, function in (("auroc", roc_auc_score), ("average_precision", average_precision_score))
        for average in ("macro", "weighted", "micro")
    }
    theirs["mean_average_precision"] = theirs["average_precision_macro"]
    theirs["log_loss_multiclass"] = log_loss(truth, chance, sample_weight=weight, labels=LABELS)
    for name in named:
        assert a[name].value == pytest.approx(theirs[name], abs=1e-4), name


def test_a_record_of_rounded_weighted_classes_is_verified_and_merged(tmp_path):
    frame = rows(200).with_columns(w=pl.Series(np.random.default_rng(2).lognormal(0, 1, 200)))
    few = {"truth": "y", "score": NAMES, "weight": "w", "exact_scores": 9, "scores": "probability", "group": "group"}
    few["measures"] = [*OF_CLASSES, "expected_calibration_error_macro", "top_label_calibration_error", "accuracy"]
    whole, first, last = (
        flat.assess(data=given("lazy", part, tmp_path), **few) for part in (frame, frame.head(80), frame.tail(120))
    )
    whole.save(tmp_path / "a.json")
    again = assay.load(tmp_path / "a.json")
    assert verify(again.record).holds
    assert again.scores.whole == whole.scores.whole
    whole.report(tmp_path / "a.html")
    both = assay.merge(first, last)
    assert both.scores.whole == whole.scores.whole
    assert score_levels(both) == score_levels(whole)
    for name in few["measures"]:
        assert both[name].value == whole[name].value


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), None])
def test_a_weight_that_is_none_is_refused_also_where_scores_are_rounded(wrong, tmp_path):
    frame = rows(60).with_columns(w=pl.Series([1.5] * 59 + [wrong]))
    with pytest.raises(assay.AssayError, match="a weight is"):
        counted(given("parquet", frame, tmp_path), str, "logit", "w", exact=20)


@pytest.mark.parametrize("kind", ["polars", "lazy", "pyarrow", "duckdb", "parquet"])
def test_rounded_scores_of_several_classes_hold_every_true_class_apart(kind, tmp_path):
    frame = rows()
    names, labels = ["p_cat", "p_dog", "p_eel"], ["cat", "dog", "eel"]
    named = ["auroc_one_vs_one", "auroc_micro", "average_precision_micro", "auroc_macro", "auroc_weighted"]
    given_ = {"scores": "probability", "measures": named}
    a = flat.assess(data=given(kind, frame, tmp_path), truth="y", score=names, group="group", exact_scores=20, **given_)
    matrix = frame.select(names).to_numpy()
    group = {"group": frame["group"].to_list()}
    b = flat.assess(truth=frame["y"].to_list(), score=matrix, labels=labels, group=group, **given_)
    assert a.scores.whole == rounded(b.scores.whole, probability=True)
    for level, tally in score_levels(b)["group"].items():
        assert score_levels(a)["group"][level] == rounded(tally, probability=True)
    for name in named:
        assert a[name].value == pytest.approx(b[name].value, abs=1e-4)


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "pyarrow", "duckdb"])
@pytest.mark.parametrize("bits", [7, 9, 13])
def test_every_engine_rounds_every_score_to_the_same_double(kind, bits):
    rng = np.random.default_rng(9)
    edges = 2.0 ** -rng.integers(0, 1074, 300)
    probabilities = np.concatenate([rng.random(2000), edges, 1 - edges, np.nextafter(edges, 0), [0, 1, 0.5, 5e-324]])
    wild = rng.normal(size=2000) * 10.0 ** rng.uniform(-300, 300, 2000)
    reals = np.concatenate([wild, [0.0, -0.0, 2.0**32, -(2.0**32), 1.7e308, -1.7e308, 5e-324]])
    for probability, scores in ((True, probabilities), (False, reals)):
        native = given(kind, pl.DataFrame({"s": scores}), None)
        found = nw.from_native(native).select(r=round_column(nw.col("s"), bits, probability=probability))
        eager = found.collect() if isinstance(found, nw.LazyFrame) else found
        expected = round_scores(scores, bits, probability=probability)
        np.testing.assert_array_equal(eager.get_column("r").to_numpy(), expected)


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow", "duckdb", "parquet"])
@pytest.mark.parametrize("stored", [pl.Int8, pl.Boolean])
def test_a_row_without_a_true_label_is_of_no_class(kind, stored, tmp_path):
    frame = pl.DataFrame({"y": pl.Series([0, 1, None, 1, 0, None]).cast(stored), "s": [0.1, 0.9, 0.3, 0.7, 0.3, 0.8]})
    for exact in (10, 1):
        a = assay.assess(
            data=given(kind, frame, tmp_path),
            truth="y",
            score="s",
            threshold=0.5,
            missing="drop",
            scores=assay.ScoreSettings(exact_scores=exact),
        )
        assert a.scores.whole.rows == 4
        assert a["auroc"].value == 1


def test_a_score_that_is_nan_in_a_file_is_missing_not_infinite(tmp_path):
    score = [0.1, 0.9, float("nan"), 0.4]
    pl.DataFrame({"y": [0, 1, 1, 0], "s": score}).write_parquet(tmp_path / "a.parquet")  # whose statistics have no NaN
    given = {"data": tmp_path / "a.parquet", "truth": "y", "score": "s", "threshold": 0.5, "measures": "auroc"}
    with pytest.raises(assay.AssayError, match="1 row of 4 are missing or NaN"):
        flat.assess(**given)
    found = flat.assess(**given, missing="drop")
    assert (found.census.read, found.census.scored, found["auroc"].value) == (4, 3, 1.0)
