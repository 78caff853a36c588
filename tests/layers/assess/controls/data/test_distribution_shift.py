# SPDX-License-Identifier: Apache-2.0
"""Features of splits and of a reference sample, measured channels, baselines by a test."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare, kruskal, ks_2samp, norm

from assay.assess.assess import assess
from assay.assess.plan.checked_plan import load_plan
from assay.core.errors import PlanError
from assay.inference.data_chance import kolmogorov_smirnov, kruskal_wallis_screen
from tests.layers.assess.controls.looking import DATA, asked, look, opened, splits


def table(rng, n, shift=0.0, share=0.5):
    rows = zip(rng.normal(shift, 1, n), rng.random(n) < share, rng.random(n) < 0.5, strict=True)
    return "x,c,y\n" + "".join(f"{x},{'uv'[int(c)]},{'ab'[int(y)]}\n" for x, c, y in rows)


def test_gaps_and_chances_are_those_of_scipy():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=300), rng.normal(0.2, 1, 200).round(1)
    peer = ks_2samp(x, y, method="asymp")
    assert kolmogorov_smirnov(x, y) == pytest.approx((peer.statistic, peer.pvalue))
    groups = [rng.normal(size=50), rng.normal(0.5, 1, 60)]
    assert kruskal_wallis_screen(groups)[1] == pytest.approx(kruskal(*groups).pvalue)
    assert kruskal_wallis_screen([np.ones(5), np.ones(4)]) == (0.0, 1.0)


def test_features_that_differ_between_splits_are_told(tmp_path):
    rng = np.random.default_rng(2)
    plan = {**DATA, "columns": {"truth": "y", "features": ["x", "c"]}}
    same = splits(tmp_path, train=table(rng, 800), test=table(rng, 600))
    assert look("CHK-CLASS-DIST", asked(plan, splits=same), "features").verdict == "pass"
    other = splits(tmp_path, train=table(rng, 800), test=table(rng, 600, shift=0.5, share=0.8))
    found = look("CHK-CLASS-DIST", asked(plan, splits=other), "features")
    assert found.verdict == "fail"
    assert all(one["flagged"] for one in found.facts.values())


def test_features_are_held_against_a_reference_sample(tmp_path):
    rng = np.random.default_rng(3)
    plan = {"data": {"test": {}}, "columns": {"truth": "y", "features": ["x"]},
            "population": {"classes": {"a": 0.5, "b": 0.5}}}  # fmt: skip
    reference = opened(tmp_path, table(rng, 900), "reference.csv")
    good = splits(tmp_path, test=table(rng, 500))
    assert look("CHK-POPULATION", asked(plan, splits=good, reference=reference)).verdict == "pass"
    odd = splits(tmp_path, test=table(rng, 500, shift=1.0))
    assert look("CHK-POPULATION", asked(plan, splits=odd, reference=reference)).verdict == "fail"
    assert "features distributed otherwise" in look("CHK-POPULATION", asked(plan, splits=odd, reference=reference)).says


def test_a_measured_channel_that_tells_the_class_fails(tmp_path):
    rng = np.random.default_rng(4)
    plan = {"data": {"test": {}}, "columns": {"truth": "y"}, "channels": {"other": ["t"]}}

    def of(shift):
        rows = [(y, rng.normal(20 + shift * (y == "b"), 1)) for y in "ab" * 300]
        text = "y,t\n" + "".join(f"{y},{t}\n" for y, t in rows)
        return look("CHK-CHANNEL", asked(plan, splits=splits(tmp_path, test=text)))

    assert of(0.0).verdict == "pass"
    found = of(1.0)
    assert found.verdict == "fail"
    assert found.facts["t in test"]["method"].startswith("Kruskal-Wallis")
    assert found.facts["t in test"]["guess_above_chance"] > 0.1


def test_the_largest_class_is_beaten_by_a_test_on_the_same_rows():
    truth = ["a"] * 70 + ["b"] * 30

    def of(predicted):
        return look("CHK-BASELINE", asked(assessment=assess(truth=truth, predicted=predicted, positive="b")), "beats")

    good = of(["a"] * 66 + ["b"] * 30 + ["a"] * 4)  # misses 4 of either class
    assert (good.verdict, good.facts["test"]) == ("pass", "mcnemar_midp")
    assert good.facts["difference"] == pytest.approx((26 - 4) / 100)
    assert good.facts["difference_low"] > 0
    assert of(["a"] * 100).verdict == "suspect"
    assert of(["b"] * 60 + ["a"] * 40).verdict == "fail"


def of_population(tmp_path, values, sexes, **population):
    rows = "".join(f"{i},{float(value)!r},{sex},a\n" for i, (value, sex) in enumerate(zip(values, sexes, strict=True)))
    test = opened(tmp_path, "id,age,sex,y\n" + rows, "t.csv")
    plan = {"data": {"test": {}}, "columns": {"truth": "y"}, "population": population}
    return asked(plan, splits={"test": test})


def test_declared_quantiles_and_levels_are_held_against_the_rows(tmp_path):
    rng = np.random.default_rng(5)
    ages = rng.normal(50, 10, 2000)
    sexes = rng.choice(["f", "m"], 2000)
    right = {f"{share}": float(norm.ppf(share, 50, 10)) for share in (0.1, 0.25, 0.5, 0.75, 0.9)}
    even = {"sex": {"f": 0.5, "m": 0.5}}
    fine = look(
        "CHK-POPULATION", of_population(tmp_path, ages, sexes, quantiles={"age": right}, levels=even), "declared"
    )
    assert fine.verdict == "pass", fine.says
    told = fine.facts["age, test"]
    seen = [(ages <= value).mean() for value in right.values()]
    assert told["value"] == pytest.approx(max(abs(a - float(b)) for a, b in zip(seen, right, strict=True)))
    edges = [-np.inf, *right.values(), np.inf]
    expected = np.diff([0, *map(float, right), 1]) * len(ages)
    assert told["p"] == pytest.approx(chisquare(np.histogram(ages, edges)[0], expected).pvalue, rel=1e-6)
    older = {share: value + 8 for share, value in right.items()}
    for population, word in (
        ({"quantiles": {"age": older}}, "age, test (D 0.2"),
        ({"levels": {"sex": {"f": 0.3, "m": 0.7}}}, "sex, test (total variation 0.1"),
        ({"levels": {"sex": {"f": 1.0}}}, "sex, test (total variation 0.5"),
    ):
        inquiry = of_population(tmp_path, ages, sexes, **population)
        found = look("CHK-POPULATION", inquiry, "declared")
        assert found.verdict == "fail"
        assert word in found.says
        assert look("CHK-POPULATION", inquiry).verdict == "fail"
    near = {share: value + 3 for share, value in right.items()}
    few = of_population(tmp_path, ages[:30], sexes[:30], quantiles={"age": near})
    assert look("CHK-POPULATION", few, "declared").verdict == "pass", "thirty rows cannot tell"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('quantiles = {age = {"0.5" = 3.0, "0.9" = 2.0}}', "do not rise"),
        ("quantiles = {age = {median = 3.0}}", "between 0 and 1"),
        ('quantiles = {age = {"1.0" = 3.0}}', "between 0 and 1"),
        ("levels = {sex = {f = 0.5, m = 0.4}}", "sum to 0.9"),
    ],
)  # fmt: skip
def test_a_population_that_makes_no_sense_is_an_error_of_the_plan(tmp_path, text, word):
    (tmp_path / "plan.toml").write_text(f"[population]\n{text}\n", encoding="utf-8")
    with pytest.raises(PlanError) as error:
        load_plan(tmp_path / "plan.toml")
    assert "line 2" in error.value.found
    assert word in error.value.found
