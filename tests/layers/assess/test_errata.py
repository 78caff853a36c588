# SPDX-License-Identifier: Apache-2.0
"""The register is complete and well formed, and its figures follow from the counts of the sources."""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal
from functools import cache
from itertools import pairwise, product
from math import comb, cos, dist, e, erfc, exp, fsum, isqrt, log, pi, sin, sqrt

import pytest

from assay.assess.errata import concerning, errata
from assay.measures import REGISTRY, parse

SOURCES = {
    "TS": ("ISO/IEC TS 4213:2022", 30),
    "RAI": ("Rainio et al. 2024", 22),
    "FUN": ("Fund", 7),
    "SCH": ("Schlosser et al. 2024", 24),
    "XS": ("between sources", 12),
}

# The data the sources print, and the worked cases they lack.
A1 = ((400, 23, 13), (150, 3800, 355), (14, 144, 65))  # TS 4213 Table A.1, turned so that rows are true
RAINIO_2 = ((120, 7, 9, 4), (15, 116, 3, 6), (12, 13, 115, 0), (2, 96, 4, 38))  # rows are true
RAINIO_1 = (261, 107, 39, 193)  # tp, fp, fn, tn of U-Net; the margins of Table 3 give those of InceptionV3:
BOTH_POSITIVE, BOTH_NEGATIVE = ((207, 54), (19, 20)), ((63, 44), (24, 169))  # rows U-Net, columns InceptionV3
RANKED = (1, 1, 0, 1, 0, 0, 1, 0)
TRUE, GUESS = (3.0, 5.0, 4.0, 6.0, 8.0, 7.0), (2.5, 5.5, 4.5, 5.0, 8.5, 7.2)
LABELS, PROBABILITIES = (1, 0, 1, 1, 0), (0.9, 0.2, 0.6, 0.5, 0.4)
FRIEDMAN = (
    (0.80, 0.82, 0.85, 0.79), (0.75, 0.78, 0.77, 0.74), (0.90, 0.91, 0.93, 0.90),
    (0.66, 0.70, 0.72, 0.65), (0.81, 0.80, 0.84, 0.79), (0.72, 0.75, 0.76, 0.70),
)  # fmt: skip
H_FIRST = (
    (0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1),
    (0.0, 0.01, 0.02, 0.03, 0.2, 0.6, 0.66, 0.7, 0.3, 0.35, 0.36, 0.42, 0.5, 0.8, 0.82, 0.99),
)
H_SECOND = (
    (1, 1, 0, 1, 1, 0, 1, 1, 1, 0),
    (
        0.84901876, 0.10282827, 0.43752488, 0.46004468, 0.90878931,
        0.79177719, 0.5297229, 0.13803906, 0.73166264, 0.22959056,
    ),
)  # fmt: skip


def mean(values):
    values = tuple(values)
    return fsum(values) / len(values)


def binary(tp, fp, fn, tn):
    n, po = tp + fp + fn + tn, (tp + tn) / (tp + fp + fn + tn)
    pe = ((tp + fn) * (tp + fp) + (tn + fp) * (tn + fn)) / n**2
    return {
        "accuracy": po,
        "f1": 2 * tp / (2 * tp + fp + fn),
        "kappa": (po - pe) / (1 - pe),
        "mcc": (tp * tn - fp * fn) / sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)),
    }


def f_score(tp, fp, fn, beta):
    return (1 + beta**2) * tp / ((1 + beta**2) * tp + beta**2 * fn + fp)


def eq_44(tp, fp, fn, tn):
    return sqrt(tp / (tp + fn) * tn / (tn + fp) * tp / (tp + fp) * tn / (tn + fn))


def classes(matrix):
    """One (tp, fp, fn, tn) per class."""
    n, columns = sum(map(sum, matrix)), tuple(zip(*matrix, strict=True))
    for i, row in enumerate(matrix):
        tp = row[i]
        yield tp, sum(columns[i]) - tp, sum(row) - tp, n - sum(row) - sum(columns[i]) + tp


def divergence(first, second):
    return fsum(a * log(a / b) for a, b in zip(first, second, strict=True))


def mcnemar(b, c):
    n, low = b + c, min(b, c)
    exact = min(1.0, 2 * sum(comb(n, k) for k in range(low + 1)) / 2**n)
    return {
        "exact": exact,
        "mid-p": exact - comb(n, low) / 2**n,
        "chi-square with continuity": erfc(sqrt((abs(b - c) - 1) ** 2 / n / 2)),
        "chi-square plain": erfc(sqrt((b - c) ** 2 / n / 2)),
    }


def fewest(rates):
    """The smallest whole number whose fractions round to all the rates."""
    fits = (n for n in range(1, 1000) if all(any(abs(k / n - rate) <= 0.005 for k in range(n + 1)) for rate in rates))
    return next(fits)


def step_down(ps, alpha):
    passed = [p <= alpha / (len(ps) - k) for k, p in enumerate(sorted(ps))]
    return (*passed, False).index(False)


def midranks(values):
    return [sum(w > v for w in values) + (sum(w == v for w in values) + 1) / 2 for v in values]


def friedman(rows):
    blocks, models = len(rows), len(rows[0])
    ranks = [mean(column) for column in zip(*map(midranks, rows), strict=True)]
    plain = 12 * blocks / (models * (models + 1)) * (fsum(r * r for r in ranks) - models * (models + 1) ** 2 / 4)
    ties = sum(t**3 - t for row in rows for t in Counter(row).values())
    return plain, plain / (1 - ties / (blocks * models * (models**2 - 1)))


def h_measure(case, a, b, cells=10_000):
    """The definition, integrated by midpoints over c = sin(angle/2)^2."""
    labels, scores = case
    p1 = mean(labels)
    points = [(0.0, 0.0)]
    for threshold in set(scores):
        called = [y for y, s in zip(labels, scores, strict=True) if s >= threshold]
        points.append((called.count(0) / labels.count(0), called.count(1) / labels.count(1)))
    loss = reference = 0.0
    for k in range(cells):
        angle = pi * (k + 0.5) / cells
        c = (1 - cos(angle)) / 2
        weight = c ** (a - 1) * (1 - c) ** (b - 1) * sin(angle)
        loss += weight * min(c * (1 - p1) * fpr + (1 - c) * p1 * (1 - tpr) for fpr, tpr in points)
        reference += weight * min(c * (1 - p1), (1 - c) * p1)
    return 1 - loss / reference


def box(*sides):
    """The voxels of a box, and those with a neighbour outside it."""
    voxels = set(product(*(range(*side) for side in sides)))
    around = tuple(product((-1, 0, 1), repeat=3))
    inside = {v for v in voxels if all(tuple(map(sum, zip(v, step, strict=True))) in voxels for step in around)}
    return voxels, voxels - inside


def away(voxels, surface):
    return [min(dist(v, s) for s in surface) for v in voxels]


def divergences():
    n = sum(map(sum, A1))
    true, called = [sum(row) for row in A1], [sum(column) for column in zip(*A1, strict=True)]
    t, p = [x / n for x in true], [x / n for x in called]
    t2, p2 = (0.5, 0.5), (368 / 600, 232 / 600)
    yield "E-TS-01", "truth first, Table A.1", divergence(t, p)
    yield "E-TS-01", "prediction first, Table A.1", divergence(p, t)
    yield "E-TS-01", "truth first, Rainio Table 1", divergence(t2, p2)
    yield "E-TS-01", "prediction first, Rainio Table 1", divergence(p2, t2)
    yield "E-TS-03", "shares, Table A.1", divergence(p, t)
    yield "E-TS-03", "counts, Table A.1", divergence(called, true)
    yield "E-TS-03", "shares, true (4, 4) and predicted (2, 2)", divergence((0.5, 0.5), (0.5, 0.5))
    yield "E-TS-03", "counts, true (4, 4) and predicted (2, 2)", divergence((2, 2), (4, 4))
    yield "E-TS-04", "natural logarithm, Table A.1", divergence(t, p)
    yield "E-TS-04", "logarithm to base 2, Table A.1", divergence(t, p) / log(2)
    gaps, most = [abs(a - b) for a, b in zip(t, p, strict=True)], 2 * (1 - min(t))
    csmf = 1 - fsum(gaps) / most
    yield "E-TS-05", "summed over the classes, Table A.1", csmf
    for label, gap in zip("ABC", gaps, strict=True):
        yield "E-TS-05", f"class {label} alone, Table A.1", 1 - gap / most
    yield "E-TS-06", "constant 1 - 1/e, Table A.1", (csmf - 1 + exp(-1)) * e
    yield "E-TS-06", "constant 0.632, Table A.1", (csmf - 0.632) / 0.368


def three_classes():
    n, sizes, counts = sum(map(sum, A1)), [sum(row) for row in A1], tuple(classes(A1))
    accuracy = sum(tp for tp, *_ in counts) / n
    recalls, precisions = [tp / (tp + fn) for tp, _, fn, _ in counts], [tp / (tp + fp) for tp, fp, _, _ in counts]
    sided, specificities = [(tp + tn) / n for tp, _, _, tn in counts], [tn / (tn + fp) for _, fp, _, tn in counts]

    def weighted(values, weights):
        return 100 * fsum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)

    macro_recall, macro_precision = mean(recalls), mean(precisions)
    yield "E-TS-07", "accuracy, Table A.1", 100 * accuracy
    yield "E-TS-07", "macro average of one-vs-rest accuracy, Table A.1", 100 * mean(sided)
    yield "E-TS-07", "weighted average of one-vs-rest accuracy, Table A.1", weighted(sided, sizes)
    yield "E-TS-07", "macro average of class recall, Table A.1", 100 * macro_recall
    yield "E-TS-07", "weighted average of class recall, Table A.1", weighted(recalls, sizes)
    yield "E-TS-08", "recall of class A, columns true as stated", 100 * recalls[0]
    yield "E-TS-08", "recall of class A, transposed", 100 * precisions[0]
    yield "E-TS-23", "specificity weighted by class size, Table A.1", weighted(specificities, sizes)
    negatives = [n - size for size in sizes]
    yield "E-TS-23", "specificity weighted by number of negatives, Table A.1", weighted(specificities, negatives)
    yield "E-TS-24", "accuracy, Table A.1", 100 * accuracy
    yield "E-TS-24", "accuracy of always naming the largest class, Table A.1", 100 * max(sizes) / n
    yield "E-SCH-03", "weighted by class size, Table A.1", weighted(recalls, sizes)
    yield "E-SCH-03", "balanced accuracy, Table A.1", 100 * macro_recall
    yield "E-XS-04", "mean of class F1, Table A.1", 100 * mean(f_score(tp, fp, fn, 1) for tp, fp, fn, _ in counts)
    of_means = 2 * macro_precision * macro_recall / (macro_precision + macro_recall)
    yield "E-XS-04", "F1 of macro precision and macro recall, Table A.1", 100 * of_means
    yield "E-XS-06", "micro recall, Table A.1", 100 * accuracy
    yield "E-XS-06", "macro recall, Table A.1", 100 * macro_recall


def four_classes():
    n, counts = sum(map(sum, RAINIO_2)), tuple(classes(RAINIO_2))
    diagonal = sum(tp for tp, *_ in counts)
    chance = fsum((tp + fn) * (tp + fp) for tp, fp, fn, _ in counts) / n**2
    yield "E-RAI-02", "from the matrix", (diagonal / n - chance) / (1 - chance)
    yield "E-RAI-04", "sum of the cells", n
    for reading, true_negatives in (
        ("all other cells", [tn for *_, tn in counts]),
        ("other diagonal cells only", [diagonal - tp for tp, *_ in counts]),
    ):
        table = [(tp, fp, fn, tn) for (tp, fp, fn, _), tn in zip(counts, true_negatives, strict=True)]
        sided = mean((tp + tn) / (tp + fp + fn + tn) for tp, fp, fn, tn in table)
        yield "E-RAI-06", f"mean one-vs-rest accuracy, {reading}", sided
        yield "E-RAI-06", f"macro specificity, {reading}", mean(tn / (tn + fp) for _, fp, _, tn in table)
    yield "E-SCH-10", "precision, macro, Rainio Table 2", mean(tp / (tp + fp) for tp, fp, _, _ in counts)
    yield "E-SCH-10", "precision, micro, Rainio Table 2", diagonal / n
    yield "E-SCH-10", "F1, macro, Rainio Table 2", mean(f_score(tp, fp, fn, 1) for tp, fp, fn, _ in counts)
    yield "E-SCH-10", "F1, micro, Rainio Table 2", diagonal / n
    assert mean(tp / (tp + fn) for tp, _, fn, _ in counts) == pytest.approx(diagonal / n, abs=1e-12)
    yield "E-SCH-10", "recall, macro and micro, Rainio Table 2", diagonal / n


def two_classes():
    tp, fp, fn, tn = RAINIO_1
    (tt, tf), (ft, ff) = BOTH_POSITIVE
    (pp, pn), (np_, nn) = BOTH_NEGATIVE
    inception = (tt + ft, pp + np_, tf + ff, pn + nn)
    assert (tt + tf, pp + pn, ft + ff, np_ + nn) == RAINIO_1
    for name, short in (("F1", "f1"), ("kappa", "kappa"), ("MCC", "mcc")):
        yield "E-RAI-01", f"{name} from the counts", binary(*inception)[short]
    for form, p in mcnemar(ft, tf).items():
        yield "E-RAI-03", f"sensitivity ({ft} and {tf}), {form}", p
    for form, p in mcnemar(pn, np_).items():
        yield "E-RAI-03", f"specificity ({pn} and {np_}), {form}", p
    yield "E-XS-02", "all rows (63 and 78), exact", mcnemar(ft + pn, tf + np_)["exact"]
    yield "E-XS-02", "positives (19 and 54), exact", mcnemar(ft, tf)["exact"]
    yield "E-XS-02", "negatives (44 and 24), exact", mcnemar(pn, np_)["exact"]
    yield "E-RAI-11", "test images in a fold, from the text", 6000 / 5
    yield "E-RAI-11", "test images in the tables", sum(RAINIO_1)
    yield "E-RAI-13", "TP 0, FP 50, FN 50, TN 0", binary(0, 50, 50, 0)["kappa"]
    yield "E-FUN-01", "1 - NPV, Rainio Table 1", fn / (fn + tn)
    yield "E-FUN-01", "1 - TPR, Rainio Table 1", 1 - tp / (tp + fn)
    yield "E-FUN-07", "FN/FP, Rainio Table 1", fn / fp
    yield "E-FUN-07", "FN/(FN + FP), Rainio Table 1", fn / (fn + fp)
    yield "E-SCH-01", "beta = 2 respected, Rainio Table 1", f_score(tp, fp, fn, 2)
    yield "E-SCH-01", "eq. 22, Rainio Table 1", f_score(tp, fp, fn, 1)
    for name, beta in (("F0", 0), ("F0.5", 0.5), ("F2", 2)):
        yield "E-SCH-02", f"{name}, Rainio Table 1", f_score(tp, fp, fn, beta)
    for name, counts in (
        ("all four counts 50", (50, 50, 50, 50)),
        ("TP 10, FP 40, FN 40, TN 10", (10, 40, 40, 10)),
        ("Rainio Table 1", RAINIO_1),
    ):
        yield "E-SCH-06", f"MCC, {name}", binary(*counts)["mcc"]
        yield "E-SCH-06", f"eq. 44, {name}", eq_44(*counts)
    yield "E-SCH-08", "false positive rate, Rainio Table 1", fp / (fp + tn)
    yield "E-SCH-08", "specificity, Rainio Table 1", tn / (fp + tn)
    yield "E-SCH-11", "macro precision, Rainio Table 1", (tp / (tp + fp) + tn / (tn + fn)) / 2
    steps = tp / (tp + fn) * tp / (tp + fp) + fn / (tp + fn) * (tp + fn) / sum(RAINIO_1)
    yield "E-SCH-11", "average_precision_score, Rainio Table 1", steps
    yield "E-SCH-12", "root of PPV*TPR, Rainio Table 1", sqrt(tp / (tp + fp) * tp / (tp + fn))
    together, called, true = (sum(comb(k, 2) for k in sizes) for sizes in (RAINIO_1, (368, 232), (300, 300)))
    yield "E-SCH-12", "fowlkes_mallows_score, Rainio Table 1", together / sqrt(called * true)
    better, worse = binary(*RAINIO_1)["accuracy"], binary(*inception)["accuracy"]
    yield "E-SCH-14", "reference error over model error, Rainio Table 4", (1 - worse) / (1 - better)
    yield "E-SCH-14", "eq. 54, any data", (1 - 1) / (1 - better)
    yield "E-XS-05", "counts, TP 0, FP 0, FN 1, TN 99", f_score(0, 0, 1, 1)


def curves():
    tp = fp = 0
    path = [(0, 0)]
    for y in RANKED:
        tp, fp = tp + y, fp + 1 - y
        path.append((tp, fp))
    recall, precision = [t / tp for t, _ in path], [1.0, *(t / (t + f) for t, f in path[1:])]
    steps = mean(p for p, y in zip(precision[1:], RANKED, strict=True) if y)
    lines = fsum((b - a) * (p + q) / 2 for (a, b), (p, q) in zip(pairwise(recall), pairwise(precision), strict=True))
    # Along a hit from a to a + 1 the false positives f stay, and t/(t + f) integrates to 1 - f*ln((a + 1 + f)/(a + f)).
    hits = [(t, f) for (t, f), y in zip(path[1:], RANKED, strict=True) if y]
    bends = mean(1 - f * log((t + f) / (t - 1 + f)) if f else 1.0 for t, f in hits)
    yield "E-TS-09", "area of a flawless ranking at prevalence 0.8", 0.8 / 2 + (1 - 0.8) * 1
    yield "E-TS-09", "the same, rescaled to AUROC", (0.6 - 0.8 / 2) / (1 - 0.8)
    yield "E-TS-26", "steps, eight rows", steps
    yield "E-TS-26", "straight lines, eight rows", lines
    yield "E-TS-26", "Davis and Goadrich, eight rows", bends
    won = sum(a > b for i, a in enumerate(RANKED) for b in RANKED[i:])  # positives ranked above negatives
    yield "E-SCH-07", "AUROC, eight rows", won / (tp * fp)
    yield "E-SCH-07", "eq. 46, eight rows", mean(recall)
    yield "E-SCH-07", "average precision, eight rows", steps
    yield "E-SCH-07", "eq. 47, eight rows", mean(precision[1:])
    yield "E-SCH-09", "first case, Beta(2, 2)", h_measure(H_FIRST, 2, 2)
    yield "E-SCH-09", "first case, Beta(1 + pi1, 1 + pi0)", h_measure(H_FIRST, 1.5, 1.5)
    yield "E-SCH-09", "second case, Beta(1 + pi1, 1 + pi0)", h_measure(H_SECOND, 1.7, 1.3)
    yield "E-SCH-09", "second case, Beta(2, 1 + pi0/pi1)", h_measure(H_SECOND, 2, 1 + 3 / 7)


def errors():
    pairs, n, average = tuple(zip(TRUE, GUESS, strict=True)), len(TRUE), mean(TRUE)
    absolute, squared = fsum(abs(y - g) for y, g in pairs), fsum((y - g) ** 2 for y, g in pairs)
    rmse, moves = sqrt(squared / n), fsum(abs(b - a) for a, b in pairwise(TRUE))
    signed = 100 * mean((y - g) / y for y, g in pairs)
    yield "E-RAI-10", "absolute errors, mean of six", absolute / n
    yield "E-RAI-10", "absolute errors, sum of six", absolute
    yield "E-RAI-10", "squared errors, mean of six", squared / n
    yield "E-RAI-10", "squared errors, sum of six", squared
    yield "E-SCH-13", "Murphy, six values", 1 - squared / fsum((y - average) ** 2 for y in TRUE)
    yield "E-SCH-13", "eq. 53, any data", 1 - 0 / squared
    yield "E-SCH-15", "Hyndman and Koehler, six values", absolute / n / (moves / (n - 1))
    yield "E-SCH-15", "eq. 62, six values", signed / ((1 / n - 1) * moves)
    yield "E-SCH-16", "NMB, literature, six values", fsum(g - y for y, g in pairs) / fsum(TRUE)
    yield "E-SCH-16", "NMB, eq. 64, six values", fsum(y - g for y, g in pairs) / fsum(GUESS)
    yield "E-SCH-16", "MNB, literature, six values", mean((g - y) / y for y, g in pairs)
    yield "E-SCH-16", "MNB, eq. 63, six values", mean((y - g) / g for y, g in pairs)
    yield "E-SCH-17", "MAPE, six values", 100 * mean(abs(y - g) / y for y, g in pairs)
    yield "E-SCH-17", "MPE, six values", signed
    yield "E-SCH-18", "divided by the mean, six values", rmse / average
    yield "E-SCH-18", "divided by the range, six values", rmse / (max(TRUE) - min(TRUE))
    yield "E-SCH-18", "divided by the Euclidean norm, six values", sqrt(squared / fsum(y * y for y in TRUE))
    yield "E-SCH-22", "over deviations from the mean, six values", absolute / fsum(abs(y - average) for y in TRUE)
    yield "E-SCH-22", "over true magnitudes, six values", absolute / fsum(TRUE)
    log_losses = [-log(q if y else 1 - q) for y, q in zip(LABELS, PROBABILITIES, strict=True)]
    yield "E-RAI-07", "mean over both classes, five rows", mean(log_losses)
    yield "E-RAI-07", "sum over the positives, five rows", fsum(x for x, y in zip(log_losses, LABELS, strict=True) if y)


def masks():
    first, first_surface = box((5, 14), (5, 14), (5, 14))
    second, second_surface = box((6, 15), (5, 15), (4, 13))
    assert (len(first_surface), len(second_surface)) == (386, 418)
    total = fsum(away(first_surface, second_surface)) + fsum(away(second_surface, first_surface))
    yield "E-RAI-08", "divided by surface voxels, two boxes", total / (len(first_surface) + len(second_surface))
    yield "E-RAI-08", "divided by mask voxels, two boxes", total / (len(first) + len(second))
    yield "E-RAI-09", "cube of edge 9 against itself, over its surface", max(away(first_surface, first_surface))
    yield "E-RAI-09", "cube of edge 9 against itself, over all its voxels", max(away(first, first_surface))


def the_rest():
    ps = (0.01, 0.02, 0.03, 0.005)
    yield "E-TS-02", "hypotheses rejected, step-down as instructed", step_down(ps, 0.05)
    yield "E-TS-02", "hypotheses rejected, Bonferroni", sum(p <= 0.05 / len(ps) for p in ps)
    yield "E-TS-11", "F_2 at precision 0.5, recall 1", (1 + 4) * 0.5 * 1 / (1 + 4 * 0.5)
    yield "E-TS-11", "F(1p, 2r) at precision 0.5, recall 1", (1 + 2) * 0.5 * 1 / (1 * 1 + 2 * 0.5)
    yield "E-TS-12", "fewest positives that fit the printed rates", fewest((0.18, 0.68, 0.75, 0.96, 1.0))
    yield "E-TS-12", "fewest negatives that fit the printed rates", fewest((0.0, 0.02, 0.03, 0.14, 0.59))
    yield "E-TS-14", "AlexNet accuracy from its top-1 error", 100 - 37.5
    joules = 0.2 * (10 + 14) / 2 + 0.21 * (14 + 12) / 2
    yield "E-TS-17", "per inference, 5.13 J and 4 inferences", joules / 4
    yield "E-TS-17", "per correct inference, 3 correct", joules / 3
    yield "E-TS-21", "five independent tests at 5 %", 1 - 0.95**5
    yield "E-TS-21", "bound for any five tests at 5 %", 5 * 0.05
    yield "E-TS-27", "six empty rows of 200 left out", 0.5437 * 200 / 194
    yield "E-TS-27", "six empty rows of 200 count as 1", 0.5437 + 6 / 200
    tail = 2 * sum(comb(20, k) for k in range(11)) / 2**20
    yield "E-RAI-16", "sign test 10 of 20, twice the tail", tail
    yield "E-RAI-16", "sign test 10 of 20, cut at 1", min(1, tail)
    plain, corrected = friedman(FRIEDMAN)
    yield "E-RAI-21", "chi-square without tie correction", plain
    yield "E-RAI-21", "chi-square with tie correction", corrected
    yield "E-FUN-03", "selection rate of the first group", (40 + 5) / 100
    yield "E-FUN-03", "selection rate of the second group", (40 + 25) / 100
    yield "E-FUN-04", "class 1 from its row", 137 / sum((137, 13, 3, 0, 0, 1, 1, 0, 0))
    yield "E-FUN-04", "class 5 from its row", 44 / sum((0, 0, 3, 0, 44, 2, 2, 1, 2))
    for place, k in (("first", 0.01), ("second", 0.03)):
        yield "E-SCH-19", f"{place} constant, L = 255", (k * 255) ** 2
        yield "E-SCH-19", f"{place} constant as printed", (k * 2**8 - 1) ** 2
    yield "E-SCH-21", "largest Gini impurity, two classes", 1 - 2 * (1 / 2) ** 2
    yield "E-SCH-21", "largest Gini impurity, three classes", 1 - 3 * (1 / 3) ** 2
    below = isqrt(isqrt(16 * (2**63 - 1)))
    yield "E-XS-12", "rows from which the product overflows, margins n/2", below + 1


PARTS = (divergences, three_classes, four_classes, two_classes, curves, errors, masks, the_rest)


@cache
def recomputed():
    return {(id, name): value for part in PARTS for id, name, value in part()}


def quoted(id, name):
    """A figure that only its origin can vouch for: printed, read from the authors' notebook, or simulated."""
    return name.endswith(("as printed", ", printed", ", notebook", "(simulated)")) or (id, name) in {
        ("E-TS-27", "six empty rows of 200 count as 0"),
        ("E-XS-05", "harmonic mean, TP 0, FP 0, FN 1, TN 99"),
    }


READINGS = [(entry.id, reading.name, reading.value) for entry in errata() for reading in entry.readings]


@pytest.mark.parametrize(("id", "name", "value"), READINGS)
def test_a_reading_follows_from_the_counts_to_its_printed_precision(id, name, value):
    if (id, name) not in recomputed():
        assert quoted(id, name)
        return
    shown = Decimal(value.split()[0])
    places = int(shown.as_tuple().exponent)
    # Half a unit of the last digit; whole numbers are exact.
    slack = Decimal(5).scaleb(places - 1) if places < 0 else Decimal(0)
    assert abs(Decimal(recomputed()[id, name]) - shown) <= slack + Decimal("1e-12")


def test_no_figure_is_recomputed_for_nothing():
    assert not recomputed().keys() - {(id, name) for id, name, _ in READINGS}


def test_there_are_95_entries_numbered_without_gaps():
    expected = [f"E-{part}-{k:02}" for part, (_, n) in SOURCES.items() for k in range(1, n + 1)]
    assert len(expected) == 95
    assert [entry.id for entry in errata()] == expected


@pytest.mark.parametrize("entry", errata(), ids=lambda entry: entry.id)
def test_an_entry_is_complete_and_well_formed(entry):
    assert entry.source == SOURCES[entry.id.split("-")[1]][0]
    assert all((entry.where, entry.title, entry.problem, entry.reading))
    assert entry.severity in {"A", "B", "C"}
    assert set(entry.kinds) <= {"wrong", "clash", "open", "ocr", "fact"}
    assert entry.kind == entry.kinds[0]
    assert entry.proof or {"open", "ocr"} & set(entry.kinds)
    assert all(text.endswith(".") for text in (entry.problem, entry.reading, entry.proof) if text)
    assert all(re.fullmatch(r"G-[A-Z]+(-[A-Za-z0-9.]+)+", case) for case in entry.golden)
    for names in (entry.golden, [reading.name for reading in entry.readings]):
        assert len(set(names)) == len(names)


def test_entries_refer_only_to_entries_that_exist():
    known = {entry.id for entry in errata()}
    for entry in errata():
        assert set(re.findall(r"E-[A-Z]+-\d+", f"{entry.problem} {entry.proof} {entry.reading}")) <= known - {entry.id}


def test_the_last_exception_of_the_impossibility_result_holds():
    groups = ((0, 50, 10, 40), (0, 20, 16, 64))  # tp, fn, fp, tn as in E-FUN-05
    rates = [(tp / (tp + fn), fp / (fp + tn), tp / (tp + fp)) for tp, fn, fp, tn in groups]
    assert rates[0] == rates[1] == (0.0, 0.2, 0.0)
    assert [(tp + fn) / (tp + fn + fp + tn) for tp, fn, fp, tn in groups] == [0.5, 0.2]


def test_no_count_of_positives_turns_table_b1_into_its_printed_rates():
    for hits, rate in ((1, 0.18), (3, 0.68)):
        assert not [n for n in range(hits, 1000) if abs(hits / n - rate) <= 0.005]


def test_chance_csmf_accuracy_of_two_classes_is_ln_2():
    cells = 10_000
    shares = [(k + 0.5) / cells for k in range(cells)]
    assert mean(1 - abs(t - 0.5) / (1 - min(t, 1 - t)) for t in shares) == pytest.approx(log(2), abs=1e-7)


def test_a_measure_leads_to_the_entries_that_name_it():
    assert [entry.id for entry in concerning(parse("matthews_corrcoef"))] == [
        "E-RAI-01",
        "E-RAI-20",
        "E-SCH-06",
        "E-XS-12",
    ]
    known = {entry.id for entry in errata()}
    assert all(id in known for measure in REGISTRY for id in measure.errata)


def test_the_register_is_read_once():
    assert errata() is errata()
