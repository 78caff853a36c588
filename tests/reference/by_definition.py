# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ARG001, N817  every measure takes the four counts; F is a fraction
"""A second implementation, written from the catalogue of measures alone, in exact fractions, with no thought of speed.

A value is a Fraction, INFINITE, or None where the catalogue says undefined. Roots and logarithms are Fractions of their
first sixty digits.
"""

from __future__ import annotations

import inspect
from decimal import Decimal, localcontext
from fractions import Fraction as F
from math import inf

INFINITE = inf
DIGITS = 60


def decimal(x):
    return Decimal(F(x).numerator) / Decimal(F(x).denominator)


def sqrt(x):
    with localcontext(prec=DIGITS):
        return F(decimal(x).sqrt())


def ln(x):
    with localcontext(prec=DIGITS):
        return F(decimal(x).ln())


def e():
    with localcontext(prec=DIGITS):
        return F(Decimal(1).exp())


def div(a, b):
    """A quotient, or None where it is 0/0 or x/0."""
    return F(a) / F(b) if b else None


def both(*values):
    """Whether none of the values is undefined."""
    return None not in values


# ---------------------------------------------------------------- group 1: four counts


def true_positives(tp, fp, fn, tn):
    return F(tp)


def false_positives(tp, fp, fn, tn):
    return F(fp)


def false_negatives(tp, fp, fn, tn):
    return F(fn)


def true_negatives(tp, fp, fn, tn):
    return F(tn)


def actual_positives(tp, fp, fn, tn):
    return F(tp + fn)


def actual_negatives(tp, fp, fn, tn):
    return F(fp + tn)


def predicted_positives(tp, fp, fn, tn):
    return F(tp + fp)


def predicted_negatives(tp, fp, fn, tn):
    return F(fn + tn)


def prevalence(tp, fp, fn, tn):
    return div(tp + fn, tp + fp + fn + tn)


def predicted_positive_rate(tp, fp, fn, tn):
    return div(tp + fp, tp + fp + fn + tn)


def binary_accuracy(tp, fp, fn, tn):
    return div(tp + tn, tp + fp + fn + tn)


def precision(tp, fp, fn, tn):
    return div(tp, tp + fp)


def recall(tp, fp, fn, tn):
    return div(tp, tp + fn)


def specificity(tp, fp, fn, tn):
    return div(tn, tn + fp)


def negative_predictive_value(tp, fp, fn, tn):
    return div(tn, tn + fn)


def false_positive_rate(tp, fp, fn, tn):
    found = specificity(tp, fp, fn, tn)
    return None if found is None else 1 - found


def false_negative_rate(tp, fp, fn, tn):
    found = recall(tp, fp, fn, tn)
    return None if found is None else 1 - found


def false_discovery_rate(tp, fp, fn, tn):
    found = precision(tp, fp, fn, tn)
    return None if found is None else 1 - found


def false_omission_rate(tp, fp, fn, tn):
    found = negative_predictive_value(tp, fp, fn, tn)
    return None if found is None else 1 - found


def f_beta(tp, fp, fn, tn, *, beta):
    b2 = F(beta) ** 2
    return div((1 + b2) * tp, (1 + b2) * tp + b2 * fn + fp)


def f_0(tp, fp, fn, tn):
    return precision(tp, fp, fn, tn)


def f_0_5(tp, fp, fn, tn):
    return f_beta(tp, fp, fn, tn, beta=F(1, 2))


def f1(tp, fp, fn, tn):
    return f_beta(tp, fp, fn, tn, beta=1)


def f2(tp, fp, fn, tn):
    return f_beta(tp, fp, fn, tn, beta=2)


def f_weighted(tp, fp, fn, tn, *, w_precision, w_recall):
    a, b = F(w_precision), F(w_recall)
    return div((a + b) * tp, (a + b) * tp + a * fp + b * fn)


def youden_index(tp, fp, fn, tn):
    r, s = recall(tp, fp, fn, tn), specificity(tp, fp, fn, tn)
    return r + s - 1 if both(r, s) else None


def markedness(tp, fp, fn, tn):
    p, npv = precision(tp, fp, fn, tn), negative_predictive_value(tp, fp, fn, tn)
    return p + npv - 1 if both(p, npv) else None


def likelihood_ratio_positive(tp, fp, fn, tn):
    r, fpr = recall(tp, fp, fn, tn), false_positive_rate(tp, fp, fn, tn)
    if not both(r, fpr) or r == fpr == 0:
        return None
    return INFINITE if fpr == 0 else r / fpr


def likelihood_ratio_negative(tp, fp, fn, tn):
    fnr, s = false_negative_rate(tp, fp, fn, tn), specificity(tp, fp, fn, tn)
    if not both(fnr, s) or fnr == s == 0:
        return None
    return INFINITE if s == 0 else fnr / s


def diagnostic_odds_ratio(tp, fp, fn, tn):
    if tp + fn == 0 or fp + tn == 0 or tp * tn == 0 == fp * fn:
        return None
    return INFINITE if fp * fn == 0 else F(tp * tn) / F(fp * fn)


def fowlkes_mallows(tp, fp, fn, tn):
    p, r = precision(tp, fp, fn, tn), recall(tp, fp, fn, tn)
    return sqrt(p * r) if both(p, r) else None


def jaccard(tp, fp, fn, tn):
    return div(tp, tp + fp + fn)


def p4(tp, fp, fn, tn):
    if tp * tn == 0:
        return F(0) if fp + fn else None
    rates = (f(tp, fp, fn, tn) for f in (precision, recall, specificity, negative_predictive_value))
    return 4 / sum(1 / rate for rate in rates)


def average_class_accuracy(tp, fp, fn, tn, *, weight):
    r, s, w = recall(tp, fp, fn, tn), specificity(tp, fp, fn, tn), F(weight)
    return w * r + (1 - w) * s if both(r, s) else None


def expected_cost(tp, fp, fn, tn, *, cost_fp, cost_fn):
    n = tp + fp + fn + tn
    return (F(cost_fp) * fp + F(cost_fn) * fn) / n if n else None


class Definitions(dict):
    """Functions of this module by name; a forgotten one is a sentence."""

    def __init__(self, first):
        functions = [thing for thing in globals().values() if inspect.isfunction(thing)]
        super().__init__({f.__name__: f for f in functions if next(iter(inspect.signature(f).parameters), "") == first})

    def __missing__(self, name):
        msg = (
            f"{name} has no definition to compare with; write def {name}(tp, fp, fn, tn) for one class, "
            f"or def {name}(matrix) for all, in tests/reference/by_definition.py"
        )
        raise LookupError(msg)


OF_A_CLASS = Definitions("tp")

# ---------------------------------------------------------------- group 2: K x K counts, rows = truth


def sizes(matrix):
    return [sum(row) for row in matrix]


def calls(matrix):
    return [sum(column) for column in zip(*matrix, strict=True)]


def total(matrix):
    return sum(sizes(matrix))


def one_vs_rest(matrix, i):
    """TN as n minus row minus column plus diagonal (errata E-RAI-06)."""
    k = range(len(matrix))
    tp = matrix[i][i]
    fn = sum(matrix[i][j] for j in k if j != i)
    fp = sum(matrix[j][i] for j in k if j != i)
    return tp, fp, fn, sum(matrix[j][m] for j in k for m in k if j != i != m)


def by_class(name, matrix, **given):
    return [OF_A_CLASS[name](*one_vs_rest(matrix, i), **given) for i in range(len(matrix))]


def macro(name, matrix, *, undefined="propagate", **given):
    return _mean(by_class(name, matrix, **given), [1] * len(matrix), undefined) if total(matrix) else None


def weighted(name, matrix, *, undefined="propagate", **given):
    return _mean(by_class(name, matrix, **given), sizes(matrix), undefined) if total(matrix) else None


def micro(name, matrix, **given):
    counts = zip(*(one_vs_rest(matrix, i) for i in range(len(matrix))), strict=True)
    return OF_A_CLASS[name](*map(sum, counts), **given)


def _mean(values, weights, undefined):
    counted = [(v, w) for v, w in zip(values, weights, strict=True) if w > 0]
    if undefined == "propagate" and any(v is None for v, _ in counted):
        return None
    stand_in = {"zero": F(0), "one": F(1)}.get(undefined)
    counted = [(stand_in if v is None else v, w) for v, w in counted]
    counted = [(v, F(w)) for v, w in counted if v is not None]
    return sum(v * w for v, w in counted) / sum(w for _, w in counted) if counted else None


def accuracy(matrix):
    return div(sum(matrix[i][i] for i in range(len(matrix))), total(matrix))


def error_rate(matrix):
    found = accuracy(matrix)
    return None if found is None else 1 - found


def balanced_accuracy(matrix, *, undefined="propagate"):
    return macro("recall", matrix, undefined=undefined)


def average_accuracy(matrix, *, undefined="propagate"):
    return macro("binary_accuracy", matrix, undefined=undefined)


def average_error_rate(matrix):
    found = average_accuracy(matrix)
    return None if found is None else 1 - found


def balanced_accuracy_weighted(matrix, *, weights):
    w = [F(weights[i]) for i in range(len(matrix))]
    terms = [(wi, div(matrix[i][i], r)) for i, (wi, r) in enumerate(zip(w, sizes(matrix), strict=True)) if wi > 0]
    return sum(wi * v for wi, v in terms) / sum(w) if all(v is not None for _, v in terms) else None


# ---------------------------------------------------------------- group 4 and 7: shares, agreement, baselines


def shares(matrix):
    n = total(matrix)
    return [F(r) / n for r in map(F, sizes(matrix))], [F(c) / n for c in map(F, calls(matrix))]


def _kl(first, second):
    if any(a > 0 == b for a, b in zip(first, second, strict=True)):
        return INFINITE
    return sum((a * ln(a / b) for a, b in zip(first, second, strict=True) if a > 0), F(0))


def kl_truth_pred(matrix):
    return _kl(*shares(matrix)) if total(matrix) else None


def kl_pred_truth(matrix):
    return _kl(*reversed(shares(matrix))) if total(matrix) else None


def jensen_shannon(matrix):
    if not total(matrix):
        return None
    t, p = shares(matrix)
    middle = [(a + b) / 2 for a, b in zip(t, p, strict=True)]
    return (_kl(t, middle) + _kl(p, middle)) / 2


def total_variation(matrix):
    return sum(abs(a - b) for a, b in zip(*shares(matrix), strict=True)) / 2 if total(matrix) else None


def gini_impurity(matrix):
    return 1 - sum(t * t for t in shares(matrix)[0]) if total(matrix) else None


def csmf_accuracy(matrix):
    if not total(matrix) or len(matrix) == 1:
        return None
    t, p = shares(matrix)
    return 1 - sum(abs(a - b) for a, b in zip(t, p, strict=True)) / (2 * (1 - min(t)))


def cccsmf_accuracy(matrix):
    found = csmf_accuracy(matrix)
    return None if found is None else (found - (1 - 1 / e())) * e()


def cohen_kappa(matrix):
    n = F(total(matrix))
    if not n:
        return None
    chance = sum(r * c for r, c in zip(sizes(matrix), calls(matrix), strict=True)) / n**2
    return div(accuracy(matrix) - chance, 1 - chance)


def matthews_corrcoef(matrix):
    n, r, c = F(total(matrix)), sizes(matrix), calls(matrix)
    spread = (n**2 - sum(x * x for x in c)) * (n**2 - sum(x * x for x in r))
    if not spread:
        return None
    covariance = n * sum(matrix[i][i] for i in range(len(matrix))) - sum(a * b for a, b in zip(r, c, strict=True))
    return covariance / sqrt(spread)


def no_information_rate(matrix):
    return max(shares(matrix)[0]) if total(matrix) else None


def stratified_chance_accuracy(matrix):
    return sum(t * t for t in shares(matrix)[0]) if total(matrix) else None


def uniform_chance_accuracy(matrix):
    return F(1, len(matrix))


def skill_score(matrix, *, reference):
    found = accuracy(matrix)
    return None if found is None else div(found - F(reference), 1 - F(reference))


def relative_improvement_factor(matrix, *, reference):
    found = accuracy(matrix)
    if found is None or found == F(reference) == 1:
        return None
    return INFINITE if found == 1 else (1 - F(reference)) / (1 - found)


OF_ALL = Definitions("matrix")
AVERAGES = {"macro": macro, "weighted": weighted, "micro": micro}


def of_all(name, matrix, **given):
    """A measure of the whole matrix by its canonical name; averages are `<class measure>_<average>`."""
    if name in OF_ALL:
        return OF_ALL[name](matrix, **given)
    base, _, average = name.rpartition("_")
    return AVERAGES[average](base, matrix, **given) if average in AVERAGES else OF_ALL[name]


def knows(name):
    """Whether there is a definition of a measure here."""
    base, _, average = name.rpartition("_")
    return name in OF_ALL or name in OF_A_CLASS or (average in AVERAGES and base in OF_A_CLASS)
