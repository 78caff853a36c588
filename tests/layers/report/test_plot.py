# SPDX-License-Identifier: Apache-2.0
"""Charts by themselves: shown in a notebook, saved, and handed over as data."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_curve

import assay
from assay.core.errors import PlanError
from tests.browser.pages import compared, scored, scores_of
from tests.layers.report import examples

NAMES = ("roc", "precision_recall", "reliability", "confusion", "intervals")


@pytest.fixture(scope="module")
def plots():
    return {name: getattr(scored().plot, name)() for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_plot_shows_itself_and_saves_itself(plots, name, tmp_path):
    plot = plots[name]
    shown = plot._repr_html_()
    assert "<svg" in shown
    assert "<script" not in shown
    assert examples.drawn(plot.save(tmp_path / f"{name}.svg").read_text()) is not None
    assert plot.save(tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert name in repr(plot)
    frame = plot.to_frame("pandas")
    assert list(frame) == list(plot.data)
    assert len(frame) > 3
    assert pickle.loads(pickle.dumps(plot)) == plot  # noqa: S301  our own


def test_the_data_are_those_of_scikit_learn(plots):
    rng = np.random.default_rng(4213)
    ill = rng.random(1000) < 0.25
    score = 1 / (1 + np.exp(-(rng.normal(size=1000) * 1.2 + 1.9 * ill - 1.3)))
    fpr, tpr, thresholds = roc_curve(ill, score, drop_intermediate=False)
    theirs = {float(t): (x, y) for t, x, y in zip(thresholds, fpr, tpr, strict=True)}
    data = pd.DataFrame(plots["roc"].data)
    for row in data[data.threshold.notna()].itertuples():
        assert (row.fpr, row.tpr) == pytest.approx(theirs[row.threshold], abs=1e-12)
    assert (data.fpr.iloc[0], data.tpr.iloc[0]) == (0, 0)


def test_the_calibration_error_is_that_of_the_bins_it_stands_beside(plots):
    bins = pd.DataFrame(plots["reliability"].data)
    error = float((bins.rows * (bins.score - bins.share).abs()).sum() / bins.rows.sum())
    assert error == pytest.approx(scored()["expected_calibration_error"].value, abs=1e-12)
    several = pd.DataFrame(scores_of().plot.reliability().data)
    error = float((several.rows * (several.score - several.share).abs()).sum() / several.rows.sum())
    assert error == pytest.approx(scores_of()["top_label_calibration_error"].value, abs=1e-12)


def test_the_cells_of_the_matrix_are_the_rows(plots):
    cells = pd.DataFrame(plots["confusion"].data)
    assert cells.n.sum() == 1000
    assert cells[cells.truth == "ill"].share_of_truth.sum() == pytest.approx(1)


def test_comparisons_draw_curves_of_all_models_and_their_differences():
    plot = compared().plot.roc()
    assert set(plot.data["model"]) == {"forest", "boosting", "logistic"}
    assert all(model in plot.svg for model in ("forest", "boosting", "logistic"))
    areas = {e["model"]: e["value"] for e in compared().record["estimates"] if e["measure"] == "auroc"}
    for model, curve in pd.DataFrame(plot.data).groupby("model"):
        assert np.trapezoid(curve.tpr, curve.fpr) == pytest.approx(areas[model], abs=2e-3)
    assert len(compared().plot.intervals().data["value"]) == 6
    with pytest.raises(PlanError, match="a comparison has no plot confusion"):
        compared().plot.confusion()


def test_other_tasks_draw_their_intervals():
    a = assay.regression(truth=[1.0, 2.0, 3.0, 4.5, 2.0], predicted=[1.1, 1.9, 3.2, 4.0, 2.5])
    assert "r2" in a.plot.intervals().data["measure"] or a.plot.intervals().data["measure"]
    with pytest.raises(PlanError, match="needs scores"):
        a.plot.roc()


def test_what_cannot_be_drawn_says_what_to_give(tmp_path, plots, monkeypatch):
    labels = assay.assess(truth=[0, 1, 1, 0], predicted=[0, 1, 0, 0])
    with pytest.raises(PlanError, match="roc needs scores") as error:
        labels.plot.roc()
    assert "score=" in error.value.fix
    ranks = assay.assess(truth=[0, 1, 1, 0], score=[1.0, 7.0, 3.0, 2.0], threshold=2.5)
    with pytest.raises(PlanError, match="reliability needs probabilities"):
        ranks.plot.reliability()
    with pytest.raises(PlanError, match=r"not written as \.jpg"):
        plots["roc"].save(tmp_path / "x.jpg")
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(PlanError, match="Typst") as missing:
        plots["roc"].save(tmp_path / "x.png")
    assert "pip install" in missing.value.fix


RANKED = {"q": {"a": 2.0, "b": 1.0}, "r": {"d": 2.0, "c": 1.0}}
CHARTS = {
    "regression": ({"truth": np.arange(60.0), "predicted": np.arange(60.0) ** 1.01}, ("Predicted and true", "Errors")),
    "clustering": ({"truth": [0, 0, 1, 1, 2] * 4, "predicted": [0, 1, 1, 1, 2] * 4}, ("Rows by class and cluster",)),
    "retrieval": (
        {"truth": {"q": {"a": 1, "b": 0}, "r": {"c": 1}}, "predicted": RANKED},
        ("ndcg@10 of single queries",),
    ),
}


@pytest.mark.parametrize("task", [*CHARTS, "classification"])
def test_any_chart_of_a_report_is_drawn_by_its_title(task):
    given, titles = CHARTS.get(task, ({}, ("ROC curve", "scores by true class")))
    a = getattr(assay, task)(**given) if given else scored()
    for title in titles:
        plot = a.plot.figure(title)
        assert "<svg" in plot._repr_html_()
        assert len({len(column) for column in plot.data.values()}) == 1
    if task == "regression":
        assert sum(a.plot.figure("Errors").data["n"]) == sum(a.plot.figure("Predicted and true").data["n"]) == 60
    with pytest.raises(PlanError, match="no chart") as error:
        a.plot.figure("no such")
    assert "Headline measures with 95 % intervals" in str(error.value)
