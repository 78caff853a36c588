# SPDX-License-Identifier: Apache-2.0
"""What other libraries say of a table, by our names; NaN stands for the sentinels they use where there is no value."""

from __future__ import annotations

import math
import warnings

import numpy as np
from pycm import ConfusionMatrix
from scipy.spatial.distance import cityblock, jensenshannon
from scipy.stats import entropy, hmean
from sklearn import metrics
from statsmodels.stats.contingency_tables import Table2x2
from statsmodels.stats.inter_rater import cohens_kappa

NO_VALUE = math.nan
BY_BETA = {0.5: "f_0_5", 1: "f1", 2: "f2"}


def tables(seed, times, *, least=2, most=6):
    """Random matrices with rows = truth, many of them with empty cells, rows or columns, none empty altogether."""
    rng = np.random.default_rng(seed)
    made = 0
    while made < times:
        k = int(rng.integers(least, most + 1))
        matrix = rng.integers(0, rng.choice([2, 4, 30, 10_000, 2_000_000]), (k, k))
        matrix *= rng.random((k, k)) < rng.choice([0.3, 0.7, 1.0])
        if rng.random() < 0.3:
            matrix[rng.integers(k), :] = 0
        if rng.random() < 0.3:
            matrix[:, rng.integers(k)] = 0
        if matrix.sum():
            made += 1
            yield matrix


def as_rows(matrix):
    """Truth, predicted and weight of one row for each cell."""
    k = len(matrix)
    return np.repeat(np.arange(k), k), np.tile(np.arange(k), k), matrix.ravel()


def quiet(function, *arguments, **given):
    """A call whose warnings about sentinels are not our concern here."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*arguments, **given)


# ---------------------------------------------------------------- scikit-learn


def scikit_learn_by_class(matrix, beta):
    """Per class: precision, recall, F and Jaccard."""
    truth, predicted, weight = as_rows(matrix)
    common = {"labels": range(len(matrix)), "sample_weight": weight, "average": None}
    p, r, f, size = quiet(
        metrics.precision_recall_fscore_support, truth, predicted, beta=beta, zero_division=np.nan, **common
    )
    named = {"precision": p, "recall": r, f"f_beta(beta={beta!r})": f, "actual_positives": size}
    if beta in BY_BETA:
        named[BY_BETA[beta]] = f
    jaccard = quiet(metrics.jaccard_score, truth, predicted, zero_division=0, **common)
    mentioned = matrix.sum(axis=0) + matrix.sum(axis=1) > 0
    return {**named, "jaccard": np.where(mentioned, jaccard, NO_VALUE)}


def scikit_learn_averages(matrix, beta, policy):
    """Macro, weighted and micro averages, classes without a value treated as the policy says."""
    truth, predicted, weight = as_rows(matrix)
    stand_in = {"skip": np.nan, "zero": 0, "one": 1}[policy]
    never_called = policy == "skip" and not matrix.sum(axis=0)[matrix.sum(axis=1) > 0].any()
    named = {}
    for average in ("macro", "weighted", "micro"):
        common = {"labels": range(len(matrix)), "sample_weight": weight, "average": average}
        p, r, f, _ = quiet(
            metrics.precision_recall_fscore_support, truth, predicted, beta=beta, zero_division=stand_in, **common
        )
        named |= {f"precision_{average}": p, f"recall_{average}": r, f"f_beta_{average}(beta={beta!r})": f}
        if beta in BY_BETA:
            named[f"{BY_BETA[beta]}_{average}"] = f
        if average == "weighted" and never_called:
            named["precision_weighted"] = NO_VALUE  # scikit-learn's stand-in here is 0, whatever it was told
        if policy != "skip":
            named[f"jaccard_{average}"] = quiet(
                metrics.jaccard_score, truth, predicted, zero_division=stand_in, **common
            )
    return named


def scikit_learn(matrix):
    """Of all classes together."""
    truth, predicted, weight = as_rows(matrix)
    labels = {"labels": range(len(matrix))}
    constant = 1 in ((matrix.sum(axis=0) > 0).sum(), (matrix.sum(axis=1) > 0).sum())
    mcc = quiet(metrics.matthews_corrcoef, truth, predicted, sample_weight=weight)
    return {
        "accuracy": metrics.accuracy_score(truth, predicted, sample_weight=weight),
        "error_rate": metrics.zero_one_loss(truth, predicted, sample_weight=weight),
        "cohen_kappa": quiet(metrics.cohen_kappa_score, truth, predicted, sample_weight=weight, **labels),
        "matthews_corrcoef": NO_VALUE if constant else mcc,
        "balanced_accuracy(undefined='skip')": quiet(
            metrics.balanced_accuracy_score, truth, predicted, sample_weight=weight
        ),
    }


def scikit_learn_binary(matrix):
    """Of the class that stands second, against the first."""
    truth, predicted, weight = as_rows(matrix)
    positive, negative = quiet(
        metrics.class_likelihood_ratios,
        truth,
        predicted,
        labels=[0, 1],
        sample_weight=weight,
        replace_undefined_by=np.nan,
    )

    def of_first(function):
        return quiet(function, truth, predicted, pos_label=0, sample_weight=weight, zero_division=np.nan)

    return {
        "likelihood_ratio_positive": positive,
        "likelihood_ratio_negative": negative,
        "specificity": of_first(metrics.recall_score),
        "negative_predictive_value": of_first(metrics.precision_score),
    }


# ---------------------------------------------------------------- PyCM

PYCM_BY_CLASS = {
    "TP": "true_positives",
    "FP": "false_positives",
    "FN": "false_negatives",
    "TN": "true_negatives",
    "P": "actual_positives",
    "N": "actual_negatives",
    "TOP": "predicted_positives",
    "TON": "predicted_negatives",
    "ACC": "binary_accuracy",
    "PPV": "precision",
    "TPR": "recall",
    "TNR": "specificity",
    "NPV": "negative_predictive_value",
    "FPR": "false_positive_rate",
    "FNR": "false_negative_rate",
    "FDR": "false_discovery_rate",
    "FOR": "false_omission_rate",
    "BM": "youden_index",
    "MK": "markedness",
    "G": "fowlkes_mallows",
    "J": "jaccard",
    "DOR": "diagnostic_odds_ratio",
    "PLR": "likelihood_ratio_positive",
    "NLR": "likelihood_ratio_negative",
    "PRE": "prevalence",
    "F1": "f1",
    "F05": "f_0_5",
    "F2": "f2",
}
PYCM_OVERALL = {
    "Overall_ACC": "accuracy",
    "HammingLoss": "error_rate",
    "Kappa": "cohen_kappa",
    "Overall_MCC": "matthews_corrcoef",
    "NIR": "no_information_rate",
    "KL": "kl_truth_pred",
    "ACC_Macro": "average_accuracy",
    "PPV_Macro": "precision_macro",
    "PPV_Micro": "precision_micro",
    "TPR_Macro": "recall_macro",
    "TPR_Micro": "recall_micro",
    "TNR_Macro": "specificity_macro",
    "TNR_Micro": "specificity_micro",
    "F1_Macro": "f1_macro",
    "F1_Micro": "f1_micro",
    "FPR_Macro": "false_positive_rate_macro",
    "FPR_Micro": "false_positive_rate_micro",
    "FNR_Macro": "false_negative_rate_macro",
    "FNR_Micro": "false_negative_rate_micro",
    "NPV_Macro": "negative_predictive_value_macro",
    "NPV_Micro": "negative_predictive_value_micro",
}
PYCM_AVERAGES = {
    "PPV": "precision",
    "TNR": "specificity",
    "F1": "f1",
    "NPV": "negative_predictive_value",
    "FDR": "false_discovery_rate",
    "FOR": "false_omission_rate",
    "FPR": "false_positive_rate",
    "J": "jaccard",
    "F05": "f_0_5",
    "F2": "f2",
    "G": "fowlkes_mallows",
    "MK": "markedness",
    "BM": "youden_index",
    "FNR": "false_negative_rate",
    "TPR": "recall",
}


def _number(x):
    return NO_VALUE if x is None or x == "None" else float(x)


def pycm_matrix(matrix):
    k = range(len(matrix))
    return ConfusionMatrix(matrix={i: {j: int(matrix[i][j]) for j in k} for i in k})


def pycm_by_class(cm):
    return {name: [_number(getattr(cm, theirs)[i]) for i in cm.classes] for theirs, name in PYCM_BY_CLASS.items()}


def pycm_overall(cm):
    found = {name: _number(getattr(cm, theirs)) for theirs, name in PYCM_OVERALL.items()}
    found["kl_truth_pred"] *= math.log(2)  # theirs is in bits
    found["average_error_rate"] = math.fsum(cm.ERR.values()) / len(cm.classes)
    return found


def pycm_averages(cm):
    """Averages PyCM forms on request; it refuses one as soon as a class has no value, even a class of weight zero."""
    found = {}
    for theirs, name in PYCM_AVERAGES.items():
        if "None" not in getattr(cm, theirs).values():
            word = {"F05": "F0.5"}.get(theirs, theirs)
            found[f"{name}_macro"] = cm.average(word)
            if name != "youden_index":  # not among our weighted averages
                found[f"{name}_weighted"] = cm.weighted_average(word)
    found["binary_accuracy_weighted"] = cm.weighted_average("ACC")
    return found


# ---------------------------------------------------------------- statsmodels and SciPy


def statsmodels_overall(matrix):
    return {"cohen_kappa": quiet(cohens_kappa, matrix, return_results=False)}


def statsmodels_binary(matrix):
    """Odds and risks of a call among the positives, against those among the negatives."""
    (tn, fp), (fn, tp) = matrix.tolist()
    found, other = (Table2x2(np.array(t), shift_zeros=False) for t in ([[tp, fn], [fp, tn]], [[fn, tp], [tn, fp]]))
    return {
        "diagnostic_odds_ratio": quiet(lambda: found.oddsratio),
        "likelihood_ratio_positive": quiet(lambda: found.riskratio),
        "likelihood_ratio_negative": quiet(lambda: other.riskratio),
    }


def scipy_overall(matrix):
    truth, called = matrix.sum(axis=1) / matrix.sum(), matrix.sum(axis=0) / matrix.sum()
    return {
        "kl_truth_pred": float(entropy(truth, called)),
        "kl_pred_truth": float(entropy(called, truth)),
        "jensen_shannon": float(jensenshannon(truth, called) ** 2),
        "total_variation": float(cityblock(truth, called) / 2),
        "csmf_accuracy": float(1 - cityblock(truth, called) / (2 * (1 - truth.min()))),
        "stratified_chance_accuracy": float(truth @ truth),
        "gini_impurity": float(1 - truth @ truth),
    }


def scipy_p4(rates):
    """The harmonic mean of four rates."""
    return float(hmean(rates))


BY_SCIPY = {
    "kl_truth_pred",
    "kl_pred_truth",
    "jensen_shannon",
    "total_variation",
    "csmf_accuracy",
    "stratified_chance_accuracy",
    "gini_impurity",
    "p4",
}
BY_SCIKIT_LEARN = {
    "precision",
    "recall",
    "f_beta",
    "f_0_5",
    "f1",
    "f2",
    "jaccard",
    "actual_positives",
    "accuracy",
    "error_rate",
    "cohen_kappa",
    "matthews_corrcoef",
    "balanced_accuracy",
    "likelihood_ratio_positive",
    "likelihood_ratio_negative",
    "specificity",
    "negative_predictive_value",
    "f_0",
    "f_weighted",
    "average_class_accuracy",
    "balanced_accuracy_weighted",
    "no_information_rate",
    "gini_impurity",
    *(
        f"{m}_{a}"
        for m in ("precision", "recall", "f_beta", "f_0_5", "f1", "f2", "jaccard")
        for a in ("macro", "weighted", "micro")
    ),
}
BY_PYCM = {
    *PYCM_BY_CLASS.values(),
    *PYCM_OVERALL.values(),
    "average_error_rate",
    "binary_accuracy_weighted",
    *(
        f"{m}_{a}"
        for m in PYCM_AVERAGES.values()
        for a in ("macro", "weighted")
        if (m, a) != ("youden_index", "weighted")
    ),
}
BY_STATSMODELS = {"cohen_kappa", "diagnostic_odds_ratio", "likelihood_ratio_positive", "likelihood_ratio_negative"}
