# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assay.core.errors import PlanError
from assay.core.task import find_task, task_names
from assay.core.values import NO_ROWS, number
from assay.measures import REGISTRY, parse
from assay.measures.declare import REGISTRY as DECLARED
from assay.tally.labels.confusion import Priced
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from assay.tally.scores.ranked_table import Ranked
from assay.tally.scores.row_probabilities import RowScores
from assay.tally.scores.score_tally import Scores
from assay.tally.scores.true_class_ranks import Ranks

TABLE = Binary.of(tp=6, fp=2, fn=1, tn=5)


def test_a_parameter_is_part_of_the_title():
    assert parse("f_beta").with_(beta=2).title == "f_beta(beta=2)"
    assert parse("f_weighted").with_(w_recall=2, w_precision=1).title == "f_weighted(w_recall=2, w_precision=1)"
    assert parse("recall").title == "recall"


def test_a_measure_that_still_needs_a_parameter_says_which():
    with pytest.raises(PlanError) as refused:
        parse("f_weighted")(TABLE)
    assert refused.value.code == "measure-needs"
    assert "w_precision and w_recall" in refused.value.what
    assert parse("f_weighted").with_(w_recall=1).needs == ("w_precision",)


def test_an_unknown_parameter_is_refused_with_the_known_ones():
    with pytest.raises(PlanError) as refused:
        parse("f_beta(gamma=2)")
    assert refused.value.code == "measure-needs"
    assert refused.value.known == "beta"
    with pytest.raises(PlanError) as none:
        parse("recall(beta=2)")
    assert none.value.known == "none"


def test_setting_a_parameter_leaves_the_declaration_alone():
    parse("f_beta").with_(beta=2)
    assert parse("f_beta").given == {}
    assert parse("f_beta").with_(beta=2).with_(beta=3).title == "f_beta(beta=3)"


@pytest.mark.parametrize(
    "text",
    [
        "f_beta(beta=2)",
        "F-beta",
        "fβ",
        "Fβ",
        "f_beta (beta=2)",
        "f_beta(beta = 2)",
        "balanced_accuracy_weighted(weights={'a': 1, 'b': 0.5})",
    ],
)
def test_what_can_be_typed_is_understood(text):
    assert parse(text).name in ("f_beta", "balanced_accuracy_weighted")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("f_beta(beta=x)", "measure-needs"),
        ("f_beta(beta=__import__('os').getcwd())", "measure-needs"),
        ("f_beta(beta=2, **{'a': 1})", "measure-needs"),
        ("f_beta(2)", "measure-unknown"),
        ("", "measure-unknown"),
        ("recall)", "measure-unknown"),
        ("lambda: 1", "measure-unknown"),
        ("a" * 10_000, "measure-unknown"),
        ("(" * 5_000, "measure-unknown"),
        ("\x00", "measure-unknown"),
        ("os.system('x')", "measure-unknown"),
    ],
    ids=[
        "a name",
        "a call",
        "stars",
        "by position",
        "nothing",
        "a bracket",
        "code",
        "long",
        "deep",
        "NUL",
        "attribute",
    ],
)
def test_what_cannot_be_a_measure_is_refused_and_never_run(text, code):
    with pytest.raises(PlanError) as refused:
        parse(text)
    assert refused.value.code == code


def test_a_repeated_parameter_is_refused():
    with pytest.raises(PlanError):
        parse("f_beta(beta=1, beta=2)")


def test_a_measure_knows_where_its_formula_stands():
    path, line = parse("recall").where
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        text = file.read().splitlines()
    assert "def recall" in "".join(text[line - 1 : line + 25])


def test_a_value_on_every_table_of_a_stack_needs_no_loop():
    import numpy as np

    stack = Binary(tp=np.array([6.0, 1.0]), fp=np.array([2.0, 0.0]), fn=np.array([1.0, 1.0]), tn=np.array([5.0, 9.0]))
    assert parse("recall").values(stack).tolist() == [6 / 7, 0.5]


def test_there_is_one_registry_and_it_holds_all_kinds():
    assert REGISTRY is DECLARED
    assert {m.takes for m in REGISTRY} == {Binary, Multiclass, Priced, Ranked, Scores, Ranks, RowScores}


@pytest.mark.parametrize("m", [m for m in REGISTRY if m.from_labels], ids=lambda m: m.name)
def test_what_a_measure_gives_is_what_it_declares(m):
    from tests.strategies import CASES

    case = next(case for case in CASES if case.measure is m)
    table = TABLE if m.takes is Binary else Multiclass.of([[6, 1, 1], [2, 5, 0], [1, 1, 7]])
    assert type(case(table)) is m.gives


def test_rounding_takes_no_value_past_the_end_of_its_range():
    rows = Scores.binary([0.0, 0.5, 1.0, 1.0], [False, False, True, True], [329.8, 0.9, 3.1, 4.6]).one_vs_rest(1)
    area = parse("partial_auroc(max_fpr=1)")
    assert area.raw(rows).value > 1
    assert area(rows).value == 1
    stack = Ranked(score=rows.score, pos=np.stack([rows.pos] * 2), neg=np.stack([rows.neg, rows.neg * 0]))
    assert area.values(stack)[0] == 1
    assert np.isnan(area.values(stack)[1])


def test_a_value_far_past_its_range_is_a_fault_and_stays_in_sight():
    broken = replace(parse("partial_auroc(max_fpr=1)"), function=lambda _, **__: number(1 + 1e-6, empty=NO_ROWS))
    assert broken(TABLE).value > 1
    assert broken.values(TABLE) > 1


@pytest.mark.parametrize("name", [m.name for m in REGISTRY if m.needs])
def test_a_measure_without_its_parameters_names_all_and_shows_how_to_write_the_first(name):
    measure = REGISTRY.find(name)
    with pytest.raises(PlanError, match=f"{name} needs {' and '.join(measure.needs)}") as refused:
        measure(None)
    assert refused.value.code == "measure-needs"
    assert refused.value.fix == f"write it with the name, as in {name}({measure.needs[0]}=...)"


@pytest.mark.parametrize("text", ["pinball_loss", "pinball_loss(quantile=0.5)"])
def test_a_measure_of_another_task_is_told_by_its_name_whatever_its_parameters(text):
    with pytest.raises(PlanError, match="is a measure of regression, not of this task"):
        parse(text)


@pytest.mark.parametrize("name", list(task_names()))
def test_every_range_has_a_low_and_a_high_end(name):
    for one in find_task(name).registry:
        low, high = one.range
        assert low < high, one.name
