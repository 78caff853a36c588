# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

import assay
from assay.core.errors import PlanError
from assay.core.traits import Task
from assay.measures import REGISTRY
from assay.measures.catalogue import Measures, grain


def test_all_measures_are_listed_in_the_order_of_declaration():
    assert assay.measures() == tuple(REGISTRY)


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_measures_of_a_task_are_those_that_fit_it(task):
    found = assay.measures(task=task)
    assert 0 < len(found) < len(REGISTRY)
    assert all(m.only in (None, Task(task)) for m in found)
    other = ({"binary", "multiclass"} - {task}).pop()
    assert not [m for m in REGISTRY if m not in found and m.only != Task(other)]


@pytest.mark.parametrize("family", sorted({m.family for m in REGISTRY}))
def test_every_family_can_be_listed(family):
    found = assay.measures(family=family)
    assert found
    assert {m.family for m in found} == {family}


@pytest.mark.parametrize(
    ("given", "hint"),
    [({"task": "regresion"}, "regression"), ({"family": "rate"}, '"rates"'), ({"family": "zzz"}, "choose one")],
)
def test_an_unknown_task_or_family_is_refused_with_a_hint(given, hint):
    with pytest.raises(PlanError) as refused:
        assay.measures(**given)
    assert refused.value.code == "option-unknown"
    assert hint in f"{refused.value.known} {refused.value.fix}"


def test_one_measure_is_found_by_any_of_its_names():
    assert assay.measure("sensitivity") is assay.measure("recall") is assay.measure("TPR")


def test_a_measure_says_whether_it_speaks_of_one_class_or_of_all():
    assert grain(assay.measure("recall")) == "one class against the rest"
    assert grain(assay.measure("kappa")) == "all classes together"


@pytest.mark.parametrize("size", [0, 1, 6, 7])
def test_six_measures_are_named_and_more_are_hinted_at(size):
    some = Measures(list(REGISTRY)[:size])
    names = ", ".join(measure.name for measure in list(REGISTRY)[: min(size, 6)])
    assert repr(some) == f"<{size} measure{'' if size == 1 else 's'}: {names}{', ...' if size > 6 else ''}>"
