# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.assess.decide.criteria import Criterion, Rule, criterion
from assay.core.errors import PlanError
from assay.measures import parse

NAMES = st.text(min_size=1, max_size=12).filter(lambda text: text == text.strip() and "\x00" not in text)


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("recall >= 0.85", "recall >= 0.85"),
        ("recall>=.85", "recall >= 0.85"),
        ("  sensitivity  ≥ 0.85 ", "recall >= 0.85"),
        ("true positive rate >= 0.85 guarded acceptance", "recall >= 0.85"),
        ("error_rate < 0.1 simple", "error_rate < 0.1 simple"),
        ("recall >= 0.85 guarded   rejection", "recall >= 0.85 guarded rejection"),
        ("f1[class=cat] >= 0.7", "f1[class=cat] >= 0.7"),
        ("recall{sex=f} >= 0.8", "recall{sex=f} >= 0.8"),
        ("recall{sex=*} >= 0.8", "recall{sex=*} >= 0.8"),
        ('recall{"a=b"="c}d"}[class="x]"] >= 0.8', 'recall[class="x]"]{"a=b"="c}d"} >= 0.8'),
        ("f_beta(beta=2) > 0.5", "f_beta(beta=2) > 0.5"),
        ("recall non-inferior margin 0.02", "recall non-inferior margin 0.02"),
        ("recall{sex=f}non-inferior margin 1e-3", "recall{sex=f} non-inferior margin 0.001"),
        ("true_positives >= 100", "true_positives >= 100"),
    ],
)
def test_a_criterion_is_read_and_spelled_back(text, spelled):
    assert str(criterion(text)) == spelled
    assert str(criterion(spelled)) == spelled


@given(
    label=st.none() | NAMES,
    factor=st.none() | NAMES,
    level=NAMES,
    limit=st.floats(0, 1),
    side=st.sampled_from([">=", ">", "<=", "<"]),
    rule=st.sampled_from([rule for rule in Rule if rule is not Rule.NON_INFERIOR]),
)
def test_every_criterion_survives_being_spelled_and_read(*, label, factor, level, limit, side, rule):
    one = Criterion(
        measure=parse("recall"),
        label=label,
        factor=factor,
        level=None if factor is None else level,
        rule=rule,
        side=side,
        limit=limit,
    )
    assert criterion(str(one)) == one


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ("recal >= 0.8", "measure-unknown", "recall"),
        ("", "criterion-unreadable", "empty"),
        (">= 0.8", "criterion-unreadable", "measure"),
        ("recall", "criterion-unreadable", ">="),
        ("recall = 0.8", "criterion-unreadable", ">="),
        ("recall == 0.8", "criterion-unreadable", ">="),
        ("recall >= high", "criterion-unreadable", "high"),
        ("recall >= nan", "criterion-unreadable", "nan"),
        ("recall >= inf", "criterion-unreadable", "inf"),
        ("recall >= 85%", "criterion-unreadable", "0.85"),
        ("recall >= 85", "value-out-of-domain", "0.85"),
        ("recall >= -1", "value-out-of-domain", "range"),
        ("recall >= 0.8 simpel", "criterion-unreadable", "simple"),
        ("recall[klass=a] >= 0.8", "criterion-unreadable", "class"),
        ("recall[class=a][class=b] >= 0.8", "criterion-unreadable", "once"),
        ("recall{sex} >= 0.8", "criterion-unreadable", "GROUP=LEVEL"),
        ("recall non-inferior", "criterion-unreadable", "margin"),
        ("recall non-inferior margin 0", "value-out-of-domain", "positive"),
        ("recall non-inferior margin -0.1", "value-out-of-domain", "positive"),
        ("recall non-inferior margin 2", "value-out-of-domain", "below 1"),
        ("prevalence non-inferior margin 0.1", "measure-unfit", "limit"),
        ("f_beta >= 0.5", "measure-needs", "beta"),
        ("x" * 5000, "criterion-unreadable", "long"),
    ],
)
def test_what_is_no_criterion_is_refused_with_the_way_out(text, code, told):
    with pytest.raises(PlanError) as found:
        criterion(text)
    assert found.value.code == code
    assert told in str(found.value)
