# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from assay.core.values import Share, Undefined
from assay.measures import REGISTRY, parse
from assay.tally.labels.one_vs_rest import Binary

TABLE = Binary.of(tp=231, fp=32, fn=27, tn=54)
RATES = {
    "prevalence": (258, 344),
    "predicted_positive_rate": (263, 344),
    "binary_accuracy": (285, 344),
    "precision": (231, 263),
    "recall": (231, 258),
    "specificity": (54, 86),
    "negative_predictive_value": (54, 81),
    "false_positive_rate": (32, 86),
    "false_negative_rate": (27, 258),
    "false_discovery_rate": (32, 263),
    "false_omission_rate": (27, 81),
}


@pytest.mark.parametrize(("name", "parts"), RATES.items(), ids=RATES)
def test_a_rate_keeps_its_numerator_and_denominator(name, parts):
    found = parse(name)(TABLE)
    assert isinstance(found, Share)
    assert (found.numerator, found.denominator) == parts
    assert found.value == parts[0] / parts[1]


def test_every_rate_of_a_class_is_tried_here():
    rates = {m.name for m in REGISTRY if m.takes is Binary and m.family == "rates" and m.gives is Share}
    assert rates == set(RATES)


@pytest.mark.parametrize(
    ("names", "cells", "reason"),
    [
        (("recall", "false_negative_rate"), (0, 3, 0, 5), "no row is truly {positive}"),
        (("specificity", "false_positive_rate"), (3, 0, 5, 0), "no row is truly {negative}"),
        (("precision", "false_discovery_rate"), (0, 0, 2, 5), "no row was predicted {positive}"),
        (("NPV", "FOR"), (2, 5, 0, 0), "no row was predicted {negative}"),
        (("prevalence", "predicted_positive_rate", "binary_accuracy"), (0, 0, 0, 0), "there are no rows"),
    ],
    ids=["no positives", "no negatives", "no positive calls", "no negative calls", "no rows"],
)
def test_the_reason_names_the_margin_that_is_empty(names, cells, reason):
    for name in names:
        found = parse(name)(Binary.of(**dict(zip(("tp", "fp", "fn", "tn"), cells, strict=True))))
        assert isinstance(found, Undefined)
        assert found.reason == reason


def test_false_omission_is_not_the_complement_of_recall():
    # E-FUN-01: on Rainio's Table 1 the rate is 39/232, one minus recall is 0.13.
    one = Binary.of(tp=261, fp=107, fn=39, tn=193)
    assert parse("FOR")(one).value == 39 / 232 != 1 - parse("recall")(one).value


def test_growing_precision_does_not_mean_more_hits():
    # E-TS-10
    before, after = Binary.of(tp=50, fp=50, fn=0, tn=0), Binary.of(tp=10, fp=0, fn=40, tn=50)
    assert parse("precision")(after).value == 2 * parse("precision")(before).value
    assert parse("TP")(after).value < parse("TP")(before).value
