# SPDX-License-Identifier: Apache-2.0
"""Retrieval measures of one query as their definitions say, rank by rank and order by order."""

from __future__ import annotations

import math
from itertools import permutations, product


def ordered(scores):
    """Documents by score falling, then by name falling."""
    return sorted(scores, key=lambda name: (scores[name], name), reverse=True)


def orders(scores):
    """Every order that agrees with the scores."""
    groups = {}
    for name in ordered(scores):
        groups.setdefault(scores[name], []).append(name)
    return [[name for part in parts for name in part] for parts in product(*(permutations(g) for g in groups.values()))]


def values(grades, ranking, k=5, p=0.8, highest=None):
    """Every measure of one query; None where it has no value."""
    got = [grades.get(name, 0) for name in ranking]
    hit = [grade >= 1 for grade in got]
    relevant = sum(grade >= 1 for grade in grades.values())
    others = len(grades) - relevant
    if not relevant:
        return None
    ideal = sorted(grades.values(), reverse=True)
    highest = max(grades.values()) if highest is None else highest

    def dcg(list_, gain, most=None):
        return sum(gain(g) / math.log2(i + 2) for i, g in enumerate(list_[:most]))

    def linear(grade):
        return grade

    def exponential(grade):
        return 2**grade - 1

    full = [highest] * k
    stay, satisfied = 1.0, 0.0
    for i, grade in enumerate(got[:k]):
        chance = (2**grade - 1) / 2**highest
        satisfied += stay * chance / (i + 1)
        stay *= 1 - chance
    bad, preference = 0, 0.0
    for name in ranking:
        if name in grades and grades[name] < 1:
            bad += 1
        elif name in grades:
            preference += 1 - min(bad, relevant) / min(others, relevant) if bad else 1
    return {
        f"precision@{k}": sum(hit[:k]) / k,
        f"recall@{k}": sum(hit[:k]) / relevant,
        "map": sum(sum(hit[: i + 1]) / (i + 1) for i, h in enumerate(hit) if h) / relevant,
        f"map@{k}": sum(sum(hit[: i + 1]) / (i + 1) for i, h in enumerate(hit[:k]) if h) / relevant,
        "mrr": next((1 / (i + 1) for i, h in enumerate(hit) if h), 0.0),
        f"hit_rate@{k}": float(any(hit[:k])),
        "r_precision": sum(hit[:relevant]) / relevant,
        "bpref": preference / relevant,
        f"rbp(p={p})": (1 - p) * sum(p**i for i, h in enumerate(hit) if h),
        f"err@{k}": satisfied,
        "ndcg": dcg(got, linear) / dcg(ideal, linear),
        f"ndcg@{k}": dcg(got, linear, k) / dcg(ideal, linear, k),
        f"ndcg_exp@{k}": dcg(got, exponential, k) / dcg(ideal, exponential, k),
        f"ndcg_full@{k}": dcg(got, linear, k) / dcg(full, linear),
        f"ndcg_exp_full@{k}": dcg(got, exponential, k) / dcg(full, exponential),
        f"dcg@{k}": dcg(got, linear, k),
        "retrieval_precision": sum(hit) / len(ranking) if ranking else 0.0,
        "retrieval_recall": sum(hit) / relevant,
    }
