# SPDX-License-Identifier: Apache-2.0
"""How often tests reject at 5 %: when nothing differs (size), and when something does (power).

    python bench/size_and_power.py [--runs 1000] [--seed 1] [--only "one test set" ...]

Recommended ways stand beside the ways they replace. The standard error of a rate of 5 % from R runs is
sqrt(0.05 x 0.95 / R): 0.7 points for 1,000. Exact tests may stay below 5 %; nothing recommended may go above 6 %.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy.special import ndtri

import assay
from assay.inference.tests.auc_beyond_delong import area_difference, auroc_permutation
from assay.inference.tests.contingency import two_shares
from assay.inference.tests.delong import delong
from assay.inference.tests.independent_models import apart_difference, delong_unpaired
from assay.inference.tests.mcnemar import mcnemar_continuity, mcnemar_exact, mcnemar_midp, mcnemar_plain
from assay.inference.tests.means import corrected_resampled_t, five_by_two_f, five_by_two_t, half_sample_t, paired_t
from assay.inference.tests.ranks import sign_test, wilcoxon
from assay.inference.tests.several_ranks import friedman, friedman_permutation, iman_davenport
from assay.inference.tests_catalogue import find_test
from assay.inference.units.cost_difference import cost_permutation
from assay.inference.units.permutation_and_bootstrap import (
    class_score_permutation,
    paired_bootstrap,
    paired_permutation,
    score_permutation,
    subject_permutation,
    weighted_permutation,
)
from assay.tally.contingency_tables import Outcomes
from assay.tally.labels.confusion import Confusion
from assay.tally.paired.different_rows import Apart
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit
from assay.tally.real_values import Blocks, FiveByTwo, Folds, Halved, Pairs

ALPHA = 0.05
Rejected = dict[str, bool]
Learner = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def lda(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Which side of a linear discriminant rows fall on; features are independent, so variances suffice."""
    a, b = x[y], x[~y]
    weight = (a.mean(axis=0) - b.mean(axis=0)) / x.var(axis=0)
    return (z - (a.mean(axis=0) + b.mean(axis=0)) / 2) @ weight > 0


def stump(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Which side of the one best threshold of the one best feature rows fall on: a learner that jumps."""
    order = np.argsort(x, axis=0)
    held = y[order]
    right = np.cumsum(~held, axis=0) + held.sum(axis=0) - np.cumsum(held, axis=0)
    place, feature = np.unravel_index(int(np.argmax(right)), right.shape)
    return z[:, feature] > x[order[place, feature], feature]


def neighbours(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """What most of the five nearest rows are."""
    apart = (z**2).sum(axis=1)[:, np.newaxis] + (x**2).sum(axis=1) - 2 * z @ x.T
    return y[np.argpartition(apart, 5, axis=1)[:, :5]].mean(axis=1) > 0.5


def folds(y: np.ndarray, k: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Random folds of equal size, as masks of the test rows."""
    order = rng.permutation(len(y))
    for part in np.array_split(order, k):
        held = np.zeros(len(y), dtype=bool)
        held[part] = True
        yield held


def resampling(rng: np.random.Generator, shift: float, rows: int = 100) -> Rejected:
    """Two learners on disjoint halves of 20 features; `shift` makes the first half better."""
    y = rng.random(rows) < 0.5
    centre = np.r_[np.full(10, 0.35 + shift), np.full(10, 0.35)]
    x = rng.normal(size=(rows, 20)) + y[:, np.newaxis] * centre
    first, second = x[:, :10], x[:, 10:]

    def right(x: np.ndarray, test: np.ndarray) -> float:
        return float((lda(x[~test], y[~test], x[test]) == y[test]).mean())

    held = [test for _ in range(5) for test in folds(y, 5, rng)]
    pairs = Pairs.of([right(first, t) for t in held], [right(second, t) for t in held])
    halves = [list(folds(y, 2, rng)) for _ in range(5)]
    gaps = [[right(first, t) - right(second, t) for t in run] for run in halves]
    ten = FiveByTwo.of(gaps)
    flat = Folds.of(Pairs.of([x for run in gaps for x in run], [0.0] * 10), test_over_train=1)
    return _rejected(
        {
            "corrected resampled t, 5x5 folds": corrected_resampled_t(Folds.of(pairs, test_over_train="1/4")).p,
            "corrected resampled t, 5x2 halves": corrected_resampled_t(flat).p,
            "5x2 cv F": five_by_two_f(ten).p,
            "5x2 cv t": five_by_two_t(ten).p,
            "*paired t, 5x5 folds": paired_t(pairs).p,
            "*Wilcoxon, 5x5 folds": wilcoxon(pairs).p,
            "*sign test, 5x5 folds": sign_test(pairs).p,
        }
    )


def halved(rng: np.random.Generator, shift: float, rows: int, learner: Learner) -> Rejected:
    """Two rounds of five folds of all rows and of the halves of ten splits, beside five rounds of five folds."""
    y = rng.random(rows) < 0.5
    centre = np.r_[np.full(10, 0.35 + shift), np.full(10, 0.35)]
    x = rng.normal(size=(rows, 20)) + y[:, np.newaxis] * centre

    def gap(among: np.ndarray, test: np.ndarray) -> float:
        held, rest = among[test], among[~test]
        right = [(learner(x[rest, a:b], y[rest], x[held, a:b]) == y[held]).mean() for a, b in ((0, 10), (10, 20))]
        return float(right[0] - right[1])

    def rounds(among: np.ndarray, repeats: int) -> list[float]:
        return [gap(among, test) for _ in range(repeats) for test in folds(y[among], 5, rng)]

    every = np.arange(rows)
    values = [float(np.mean(rounds(every, 2)))]
    for _ in range(10):
        values += [float(np.mean(rounds(half, 2))) for half in np.array_split(rng.permutation(rows), 2)]
    many = rounds(every, 5)
    five = Folds.of(Pairs.of(many, [0.0] * len(many)), test_over_train="1/4")
    return _rejected(
        {
            "half-sample t, 2x5 folds and 10 splits": half_sample_t(Halved.of(Pairs.of(values, [0.0] * 21))).p,
            "*corrected resampled t, 5x5 folds": corrected_resampled_t(five).p,
        }
    )


def one_test_set(rng: np.random.Generator, shift: float) -> Rejected:
    """Two classifiers with correlated scores on 200 rows, 40 % positive."""
    y = rng.random(200) < 0.4
    base = rng.normal(size=200)
    a, b = (0.7 * base + 0.7 * rng.normal(size=200) + y * gain for gain in (1.0 + shift, 1.0))
    calls = np.stack([y, a > 0.5, b > 0.5]).astype(int)
    cells = Counter(zip(*calls.tolist(), strict=True))
    t = PairedLabels.from_cells(dict(cells), models=("A", "B"), labels=(0, 1))
    o = t.outcomes("A", "B")
    few = {"measure": "f1", "positive": 1, "draws": 399, "seed": int(rng.integers(2**31))}
    scores = PairedScores.of(y, {"A": a, "B": b})
    chances = PairedScores.of(y, {name: 1 / (1 + np.exp(0.9 - 1.4 * s)) for name, s in (("A", a), ("B", b))})
    drawn = {"draws": 399, "seed": few["seed"]}
    weighted = rows_of(y, a, b, weight=rng.integers(1, 4, 200) / 2)
    independent = _two_shares(o)
    return _rejected(
        {
            "McNemar, mid-p": mcnemar_midp(o).p,
            "*McNemar, exact": mcnemar_exact(o).p,
            "*McNemar, corrected": mcnemar_continuity(o).p,
            "DeLong": delong(scores).p,
            "permutation of average precision": score_permutation(scores, measure="average_precision", **drawn).p,
            "permutation of the Brier score": score_permutation(chances, measure="brier_score", **drawn).p,
            "permutation of accuracy, weighted rows": weighted_permutation(weighted, measure="accuracy", **drawn).p,
            "permutation of F1": paired_permutation(t, **few).p,
            "bootstrap of F1": paired_bootstrap(t, **few).p,
            "*McNemar plain": mcnemar_plain(o).p,
            "*two shares as if independent": independent,
        }
    )


def disagreeing(rng: np.random.Generator, shift: float, rows: int, share: float) -> Rejected:
    """Right and wrong of two models that disagree on a share of the rows."""
    only_a, only_b, alike = rng.multinomial(rows, [share * (0.5 + shift), share * (0.5 - shift), 1 - share]).tolist()
    o = Outcomes(both=alike, only_a=only_a, only_b=only_b, neither=0)
    return _rejected(
        {
            "McNemar, mid-p": mcnemar_midp(o).p,
            "*McNemar, exact": mcnemar_exact(o).p,
            "*McNemar, corrected": mcnemar_continuity(o).p,
            "*McNemar, plain": mcnemar_plain(o).p,
        }
    )


def few_positives(rng: np.random.Generator, shift: float, rows: int, positives: int, shared: float) -> Rejected:
    """Scores of two models, areas of 0.856, correlated; `shift` is taken from one area and given to the other."""
    y, both = np.arange(rows) < positives, rng.normal(size=(2, rows))
    both[1] = shared * both[0] + math.sqrt(1 - shared**2) * both[1]
    gains = (math.sqrt(2) * float(ndtri(0.856 + sign * shift)) for sign in (1, -1))
    t = PairedScores.of(y, {name: s + y * gain for name, s, gain in zip("AB", both, gains, strict=True)})
    found = auroc_permutation(t, draws=999, seed=int(rng.integers(2**31)))
    return _rejected({"swaps of ranks": found.p, "*DeLong": delong(t).p, "*intervals of both": area_difference(t).p})


def four_models(rng: np.random.Generator, shift: float) -> Rejected:
    """Right and wrong of four models on 200 rows, any of six pairs found to differ; `shift` makes the first better."""
    easy = rng.normal(size=200)
    right = easy + rng.normal(size=(4, 200)) + np.array([shift, 0, 0, 0])[:, np.newaxis] > -0.8
    truth = np.ones(200, dtype=int)
    c = assay.compare(truth=[*truth.tolist(), 0], positive=1,
                      predicted={m: [*row.astype(int).tolist(), 0] for m, row in zip("ABCD", right, strict=True)})  # fmt: skip
    pairs = any(one.significant for one in c.findings if one.test == "mcnemar_midp")
    whole = c["cochran_q"].significant
    return {"Holm over mid-p McNemar": pairs, "*the same behind Cochran's Q": bool(whole) and pairs}


def data_sets(rng: np.random.Generator, shift: float) -> Rejected:
    """Values on 12 independent data sets of different difficulty: two models, then four."""
    level = rng.normal(size=(12, 1)) * 2
    x = level + rng.standard_t(4, size=(12, 4)) + np.array([shift, 0, 0, 0])
    pairs, blocks = Pairs.of(x[:, 0], x[:, 1]), Blocks.of({str(i): column for i, column in enumerate(x.T)})
    few = Blocks.of({str(i): column for i, column in enumerate(x[:7, :3].T)})
    return _rejected(
        {
            "Wilcoxon, 12 sets": wilcoxon(pairs).p,
            "sign test, 12 sets": sign_test(pairs).p,
            "paired t, 12 sets": paired_t(pairs).p,
            "Iman-Davenport, 12 sets, 4 models": iman_davenport(blocks).p,
            "Friedman by permutation, 7 sets, 3 models": friedman_permutation(
                few, draws=399, seed=int(rng.integers(2**31))
            ).p,
            "*Friedman chi-squared, 7 sets, 3 models": friedman(few).p,
        }
    )


def clustered(rng: np.random.Generator, shift: float) -> Rejected:
    """Forty subjects with five images each; the difference between the models varies by subject."""
    gap = rng.normal(size=(40, 1)) + rng.normal(size=(40, 5)) + shift
    means = gap.mean(axis=1)
    return _rejected(
        {
            "Wilcoxon on subject means": wilcoxon(Pairs.of(means, np.zeros(40))).p,
            "paired t on subject means": paired_t(Pairs.of(means, np.zeros(40))).p,
            "*Wilcoxon on images": wilcoxon(Pairs.of(gap.ravel(), np.zeros(200))).p,
            "*paired t on images": paired_t(Pairs.of(gap.ravel(), np.zeros(200))).p,
        }
    )


def rows_of(y: np.ndarray, a: np.ndarray, b: np.ndarray, **more: object) -> PerUnit:
    """Scores of two models and the calls they make at one half."""
    return PerUnit.of(
        truth=y.tolist(),
        labels=(False, True),
        models=("A", "B"),
        calls=[(a > 0.5).tolist(), (b > 0.5).tolist()],
        scores={"A": a, "B": b},
        **more,  # type: ignore[arg-type]
    )


def clustered_rows(rng: np.random.Generator, shift: float) -> Rejected:
    """Forty subjects with five rows each; each model finds some subjects easier than others."""
    who = np.repeat(np.arange(40), 5)
    y = rng.random(200) < 0.4
    sign = 2 * y - 1
    a, b = (sign * (gain + rng.normal(size=40)[who]) + rng.normal(size=200) + 0.5 for gain in (0.8 + shift, 0.8))
    t = rows_of(y, a, b, subject=who.tolist())
    drawn = {"positive": True, "draws": 399, "seed": int(rng.integers(2**31))}
    right = [(s > 0.5) == y for s in (a, b)]
    o = Outcomes(
        both=int((right[0] & right[1]).sum()),
        only_a=int((right[0] & ~right[1]).sum()),
        only_b=int((~right[0] & right[1]).sum()),
        neither=int((~right[0] & ~right[1]).sum()),
    )
    return _rejected(
        {
            "accuracy by subject": subject_permutation(t, measure="accuracy", **drawn).p,
            "recall by subject": subject_permutation(t, measure="recall", **drawn).p,
            "F1 by subject": subject_permutation(t, measure="f1", **drawn).p,
            "AUROC by subject": subject_permutation(t, measure="auroc", **drawn).p,
            "average precision by subject": subject_permutation(t, measure="average_precision", **drawn).p,
            "*McNemar on rows": mcnemar_continuity(o).p,
            "*DeLong on rows": delong(PairedScores.of(y, {"A": a, "B": b})).p,
        }
    )


def several_classes(rng: np.random.Generator, shift: float) -> Rejected:
    """Two models with correlated scores of three classes on 150 rows; the second is on another scale."""
    truth = rng.choice(3, size=150, p=(0.5, 0.3, 0.2))
    own = np.eye(3)[truth]
    base = rng.normal(size=(150, 3))
    a, b = (0.7 * base + 0.7 * rng.normal(size=(150, 3)) + own * gain for gain in (1.0 + shift, 1.0))
    chances = {m: np.exp(s) / np.exp(s).sum(axis=1, keepdims=True) for m, s in (("A", a), ("B", b))}
    given = {"truth": truth.tolist(), "labels": (0, 1, 2), "models": ("A", "B")}
    ranked = PerUnit.of(**given, scores={"A": a, "B": 5 * b - 2})
    rows = PerUnit.of(**given, scores=chances)
    drawn = {"draws": 399, "seed": int(rng.integers(2**31))}
    tests = {
        "permutation of macro AUROC": (ranked, "auroc_macro"),
        "permutation of AUROC over pairs": (ranked, "auroc_one_vs_one"),
        "permutation of log loss": (rows, "log_loss_multiclass"),
        "permutation of top-2 accuracy": (rows, "top_k_accuracy(k=2)"),
    }
    return _rejected({name: class_score_permutation(t, measure=m, **drawn).p for name, (t, m) in tests.items()})


def different_rows(rng: np.random.Generator, shift: float) -> Rejected:
    """Two samples of 150 and 200 rows, 45 % positive, each scored by a model of its own."""
    confusions, scores = [], []
    for name, n, share, gain in (("A", 150, 0.45, 1.2 + shift), ("B", 200, 0.45, 1.2)):
        y = rng.random(n) < share
        s = y * gain + rng.normal(size=n)
        cells = Counter(zip(y.tolist(), (s > 0.6).tolist(), strict=True))
        confusions.append(Confusion.from_cells(dict(cells), labels=(False, True)))
        scores.append(PairedScores.of(y, {name: s}))
    t = Apart(models=("A", "B"), labels=(False, True), confusions=tuple(confusions), scores=tuple(scores))
    measured = {"positive": True, "seed": int(rng.integers(2**31))}
    return _rejected(
        {
            "two shares, accuracy": two_shares(t.shares("accuracy", None)).p,
            "DeLong unpaired": delong_unpaired(t).p,
            "intervals of both, F1": apart_difference(t, measure="f1", **measured).p,
            "intervals of both, Matthews correlation": apart_difference(t, measure="matthews_corrcoef", **measured).p,
            "intervals of both, average precision": apart_difference(t, measure="average_precision", **measured).p,
        }
    )


def margins_by_subject(rng: np.random.Generator, shift: float) -> Rejected:
    """40 subjects, five rows each: A is worse than B by exactly the margin of 10 points, or better by `shift`."""
    y = rng.random(200) < 0.5
    easy = np.repeat(rng.normal(size=40), 5)
    a, b = (rng.random(200) < _logistic(easy + level) for level in (1.0, 1.0))
    # B keeps its answers; of A's, some turn wrong, so that its accuracy lies 10 points below on average.
    a &= rng.random(200) >= (0.1 - shift) / 0.697
    weight = rng.integers(1, 4, 200) / 2
    calls = [np.where(right, y, ~y).tolist() for right in (a, b)]
    given = {"truth": y.tolist(), "labels": (False, True), "models": ("A", "B"), "calls": calls}
    who = np.repeat(np.arange(40), 5).tolist()
    drawn = {"margin": 0.1, "draws": 399, "seed": int(rng.integers(2**31))}
    return _rejected(
        {
            "non-inferiority by subject": find_test("unit_non_inferiority")(
                PerUnit.of(**given, subject=who), **drawn
            ).p,
            "non-inferiority by subject, weighted": find_test("unit_non_inferiority")(
                PerUnit.of(**given, subject=who, weight=weight), **drawn
            ).p,
        }
    )


def margins_on_different_rows(rng: np.random.Generator, shift: float) -> Rejected:
    """150 and 200 rows: A is worse than B by exactly the margin of 10 points, or better by `shift`."""
    confusions, scores = [], []
    for name, n, right, area in (("A", 150, 0.7 + shift, 0.75 + shift), ("B", 200, 0.8, 0.85)):
        y = rng.random(n) < 0.45
        called = np.where(rng.random(n) < right, y, ~y)
        cells = Counter(zip(y.tolist(), called.tolist(), strict=True))
        confusions.append(Confusion.from_cells(dict(cells), labels=(False, True)))
        scores.append(PairedScores.of(y, {name: y * math.sqrt(2) * float(ndtri(area)) + rng.normal(size=n)}))
    t = Apart(models=("A", "B"), labels=(False, True), confusions=tuple(confusions), scores=tuple(scores))
    return _rejected(
        {
            "non-inferiority of accuracy": find_test("apart_non_inferiority")(t, margin=0.1).p,
            "non-inferiority of AUROC": find_test("apart_non_inferiority")(t, margin=0.1, measure="auroc").p,
            "equivalence of accuracy": find_test("apart_equivalence")(t, margin=0.1).p,
            "equivalence of AUROC": find_test("apart_equivalence")(t, margin=0.1, measure="auroc").p,
        }
    )


def classes_on_different_rows(rng: np.random.Generator, shift: float) -> Rejected:
    """Scores of three classes on 150 rows of one model and 200 of the other."""
    rows = []
    for name, n, gain in (("A", 150, 1.2 + shift), ("B", 200, 1.2)):
        truth = rng.choice(3, size=n, p=(0.5, 0.3, 0.2))
        s = rng.normal(size=(n, 3)) + np.eye(3)[truth] * gain
        chances = np.exp(s) / np.exp(s).sum(axis=1, keepdims=True)
        rows.append(PerUnit.of(truth=truth.tolist(), labels=(0, 1, 2), models=(name,), scores={name: chances}))
    t = Apart(models=("A", "B"), labels=(0, 1, 2), rows=tuple(rows))
    names = {"macro AUROC": "auroc_macro", "log loss": "log_loss_multiclass", "top-2 accuracy": "top_k_accuracy(k=2)"}
    return _rejected({f"intervals of both, {name}": apart_difference(t, measure=m).p for name, m in names.items()})


def stated_costs(rng: np.random.Generator, shift: float) -> Rejected:
    """Two models on 200 rows of three classes; to miss the rarest costs 10, other mistakes 1."""
    truth = rng.choice(3, size=200, p=(0.5, 0.3, 0.2))
    hard = rng.normal(size=200)
    calls = []
    for gain in (1.0 + shift, 1.0):
        right = hard + rng.normal(size=200) < gain
        calls.append(np.where(right, truth, (truth + rng.integers(1, 3, 200)) % 3))
    cells = Counter(zip(truth.tolist(), *(one.tolist() for one in calls), strict=True))
    t = PairedLabels.from_cells(dict(cells), models=("A", "B"), labels=(0, 1, 2))
    costs = {(i, j): 0.0 if i == j else 10.0 if i == 2 else 1.0 for i in range(3) for j in range(3)}
    found = cost_permutation(t, costs=costs, draws=399, seed=int(rng.integers(2**31)))
    clear = found.effect.interval is not None and not found.effect.interval.low <= 0 <= found.effect.interval.high
    return _rejected(
        {
            "permutation of the mean cost": found.p,
            "its interval does not hold 0": 0.0 if clear else 1.0,
        }
    )


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _two_shares(o: Outcomes) -> float:
    from assay.inference.tests.contingency import two_shares
    from assay.tally.contingency_tables import Table

    rows = tuple((right, o.n - right) for right in (o.both + o.only_a, o.both + o.only_b))
    return float(two_shares(Table(rows=rows)).p or 1.0)


def _rejected(p: dict[str, float | None]) -> Rejected:
    return {name: value is not None and value <= ALPHA for name, value in p.items()}


WAYS: dict[str, tuple[Callable[[np.random.Generator, float], Rejected], float]] = {
    "resampling one data set": (resampling, 0.25),
    "resampling 1,000 rows": (lambda rng, shift: resampling(rng, shift, 1000), 0.06),
    "resampling 3,000 rows": (lambda rng, shift: resampling(rng, shift, 3000), 0.035),
    "halves, discriminants, 100 rows": (lambda rng, shift: halved(rng, shift, 100, lda), 0.25),
    "halves, discriminants, 1,000 rows": (lambda rng, shift: halved(rng, shift, 1000, lda), 0.06),
    "halves, neighbours, 100 rows": (lambda rng, shift: halved(rng, shift, 100, neighbours), 0.25),
    "halves, stumps, 100 rows": (lambda rng, shift: halved(rng, shift, 100, stump), 0.25),
    "halves, stumps, 400 rows": (lambda rng, shift: halved(rng, shift, 400, stump), 0.15),
    "one test set": (one_test_set, 0.35),
    **{
        f"{rows:,} rows, {share:.0%} in dispute": (partial(disagreeing, rows=rows, share=share), shift)
        for rows, share, shift in (
            (30, 0.3, 0.4),
            (100, 0.04, 0.4),
            (100, 0.3, 0.23),
            (300, 0.04, 0.35),
            (1000, 0.04, 0.2),
        )
    },
    **{
        f"scores of {rows} rows, {positives} positive, correlation {shared:g}": (
            partial(few_positives, rows=rows, positives=positives, shared=shared),
            0.04,
        )
        for rows, positives, shared in (
            (30, 15, 0.9),
            (60, 12, 0.9),
            (60, 30, 0.5),
            (100, 10, 0.9),
            (100, 10, 0.5),
            (200, 40, 0.7),
        )
    },
    "four models, 200 rows": (four_models, 0.35),
    "several data sets": (data_sets, 1.3),
    "several images a subject": (clustered, 0.5),
    "several rows a subject": (clustered_rows, 0.45),
    "several classes": (several_classes, 0.35),
    "different rows": (different_rows, 0.6),
    "a margin, several rows a subject": (margins_by_subject, 0.1),
    "stated costs": (stated_costs, 0.6),
    "a margin, different rows": (margins_on_different_rows, 0.1),
    "several classes, different rows": (classes_on_different_rows, 0.6),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=[*WAYS])
    given = parser.parse_args()
    print(
        f"Rejections at 5 % in {given.runs:,} runs; standard error of 5 %: {100 * math.sqrt(0.05 * 0.95 / given.runs):.1f} points."
    )
    print("\n| values | test | nothing differs | something differs |\n|---|---|---|---|")
    for name, (way, shift) in WAYS.items():
        if given.only and name not in given.only:
            continue
        rng = np.random.default_rng([given.seed, len(name)])
        sizes: Counter[str] = Counter()
        powers: Counter[str] = Counter()
        tests: list[str] = []
        for _ in range(given.runs):
            for counts, by in ((sizes, 0.0), (powers, shift)):
                found = way(rng, by)
                tests = list(found)
                counts.update(test for test, rejected in found.items() if rejected)
        for test in tests:
            naive = test.startswith("*")
            rates = [f"{100 * counts[test] / given.runs:.1f} %" for counts in (sizes, powers)]
            print(
                f"| {name} | {test.lstrip('*')}{' (not recommended)' if naive else ''} | {rates[0]} | {rates[1]} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
