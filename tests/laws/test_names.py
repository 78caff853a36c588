# SPDX-License-Identifier: Apache-2.0
"""Every name, symbol, alias and title leads back to its measure; a name with several meanings is refused."""

from __future__ import annotations

from collections import Counter

import pytest

from assay.core.errors import PlanError
from assay.core.registry import folded
from assay.measures import REGISTRY, parse
from assay.measures.declare import AMBIGUOUS
from tests.scorecases import SCORE_CASES
from tests.strategies import CASES

WORDS = [(word, m.name) for m in REGISTRY for word in (m.name, m.symbol, *m.also) if word]


@pytest.mark.parametrize(("word", "name"), WORDS, ids=[word for word, _ in WORDS])
def test_every_word_leads_to_its_measure(word, name):
    assert parse(word).name == name
    assert REGISTRY.find(word).name == name


@pytest.mark.parametrize(("word", "name"), WORDS, ids=[word for word, _ in WORDS])
def test_case_spaces_and_hyphens_do_not_matter(word, name):
    if len(word) > 1:  # a single letter keeps its case: P counts the positives, p is the standard's precision
        assert parse(word.upper()).name == parse(word.lower()).name == name
    assert parse(f" {word} ").name == name


def test_no_word_names_two_measures():
    meant = Counter(folded(word) for word, _ in {(folded(w), n) for w, n in WORDS})
    assert not [word for word, times in meant.items() if times > 1]


def test_no_measure_is_declared_twice():
    assert len({m.name for m in REGISTRY}) == len(list(REGISTRY)) == len(REGISTRY)


@pytest.mark.parametrize("case", [*CASES, *SCORE_CASES], ids=str)
def test_a_title_can_be_typed_back(case):
    ready = case.ready(3)
    again = parse(ready.title)
    assert again.title == ready.title
    assert again.name == ready.name
    assert dict(again.given) == dict(ready.given)
    assert not again.needs


@pytest.mark.parametrize(("word", "candidates"), AMBIGUOUS.items(), ids=AMBIGUOUS)
def test_an_ambiguous_name_is_refused_with_its_candidates(word, candidates):
    for spelled in (word, word.upper(), word.lower(), word.replace(" ", "_")):
        with pytest.raises(PlanError) as refused:
            parse(spelled)
        assert refused.value.code == "measure-ambiguous"
        assert all(name in refused.value.fix for name in candidates)


@pytest.mark.parametrize("candidates", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_the_candidates_of_an_ambiguous_name_are_measures(candidates):
    assert all(name in REGISTRY for name in candidates)


@pytest.mark.parametrize("word", ["AP", "mAP", "FDR", "Gini", "KL", "macro accuracy", "SVD", "accuracy of a class"])
def test_the_short_names_the_sources_use_for_different_things_are_refused(word):
    with pytest.raises(PlanError):
        parse(word)


@pytest.mark.parametrize("word", ["LR", "lr", "L R"])
def test_a_likelihood_ratio_without_its_sign_is_not_guessed(word):
    with pytest.raises(PlanError):
        parse(word)


def test_a_letter_that_means_precision_in_the_standard_is_not_taken_for_a_count():
    # TS 4213 writes p for precision; P counts the actual positives.
    assert parse("P").name == "actual_positives"
    with pytest.raises(PlanError):
        parse("p")


def test_the_letter_of_all_rows_is_not_taken_for_the_negatives():
    # Every printed formula writes n for all rows; N counts the actual negatives.
    assert parse("N").name == "actual_negatives"
    with pytest.raises(PlanError):
        parse("n")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("recal", "recall"), ("acuracy", "accuracy"), ("f1 makro", "f1_macro"), ("matthews_corcoef", "matthews_corrcoef")],
)
def test_a_mistyped_name_is_answered_with_the_nearest_one(typed, meant):
    with pytest.raises(PlanError) as refused:
        parse(typed)
    assert refused.value.code == "measure-unknown"
    assert f'"{meant}"' in refused.value.fix


def test_the_catalogue_of_the_specification_is_complete():
    asked = {f"M-BIN-{i:02}" for i in range(1, 31)} | {f"M-MC-{i:02}" for i in range(1, 31) if i != 24}
    asked |= {f"M-DIS-{i:02}" for i in (1, 2, 3, 5, 6, 7, 8)} | {f"M-CHN-{i:02}" for i in (1, 2, 4, 5, 6, 7, 8, 9)}
    asked |= {"M-MC-24"} | {f"M-PRB-{i:02}" for i in range(1, 5)} | {f"M-CUR-{i:02}" for i in range(1, 15)}
    assert not asked - {spec for m in REGISTRY for spec in m.spec}


@pytest.mark.parametrize("m", REGISTRY, ids=lambda m: m.name)
def test_every_measure_says_what_it_is_and_where_it_is_written_down(m):
    assert m.says
    assert not m.says.endswith(".")
    assert m.source
    assert all(str(source).count(", ") >= 1 for source in m.source)
    assert m.where[0].endswith(".py")
    assert m.where[1] > 0
