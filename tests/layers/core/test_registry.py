# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass

import pytest

from assay.core.errors import PlanError
from assay.core.registry import Registry, folded


@dataclass(frozen=True)
class Thing:
    name: str
    symbol: str = ""
    also: tuple[str, ...] = ()


@pytest.fixture
def registry():
    found = Registry("measure", {"AP": ("precision", "area"), "average precision": ("precision",)})
    found.add(Thing("precision", "PPV", ("positive predictive value", "Pre.")))
    found.add(Thing("recall", "TPR", ("sensitivity",)))
    return found


@pytest.mark.parametrize("word", ["recall", "Recall", "TPR", "tpr", "sensitivity", "Sensitivity ", "re_call"])
def test_a_thing_is_found_by_any_of_its_words(registry, word):
    assert registry.find(word).name == "recall"


@pytest.mark.parametrize("word", ["positive predictive value", "Positive-Predictive_Value", "POSITIVEPREDICTIVEVALUE"])
def test_spelling_does_not_matter(registry, word):
    assert registry.find(word).name == "precision"


@pytest.mark.parametrize("word", ["AP", "ap", "A P", "Average-Precision"])
def test_a_word_with_several_meanings_is_refused_with_them(registry, word):
    with pytest.raises(PlanError) as refused:
        registry.find(word)
    assert refused.value.code == "measure-ambiguous"
    assert "precision" in refused.value.known
    assert word in refused.value.what


def test_a_word_that_means_nothing_is_answered_with_the_nearest(registry):
    with pytest.raises(PlanError) as refused:
        registry.find("presicion")
    assert refused.value.code == "measure-unknown"
    assert refused.value.fix == 'did you mean "precision"?'


def test_a_mistyped_alias_leads_to_the_name(registry):
    with pytest.raises(PlanError) as refused:
        registry.find("sensitivty")
    assert refused.value.fix == 'did you mean "recall"?'


def test_a_word_far_from_everything_is_sent_to_the_list(registry):
    with pytest.raises(PlanError) as refused:
        registry.find("qqqqqqq")
    assert "assay measures" in refused.value.fix


def test_a_word_with_control_characters_is_shown_escaped(registry):
    with pytest.raises(PlanError) as refused:
        registry.find("re\x1b[31mcall!")
    assert "\x1b" not in str(refused.value)


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (Thing("recall"), "declared twice"),
        (Thing("other", "TPR"), "names both"),
        (Thing("other", "", ("Sensi-tivity",)), "names both"),
        (Thing("sensitivity"), "names both"),
        (Thing("ap"), "means several"),
        (Thing("other", "", ("average precision",)), "means several"),
    ],
    ids=["name", "symbol", "alias", "name is an alias", "ambiguous name", "ambiguous alias"],
)
def test_a_word_that_is_taken_is_refused_at_declaration(registry, thing, message):
    with pytest.raises(ValueError, match=message):
        registry.add(thing)


def test_the_same_thing_may_have_one_word_twice(registry):
    thing = Thing("f1", "F1", ("F-1", "f 1"))
    assert registry.add(thing) is thing
    assert registry.find("F_1") is thing


def test_things_come_in_the_order_of_declaration(registry):
    assert [thing.name for thing in registry] == ["precision", "recall"]
    assert len(registry) == 2
    assert "recall" in registry
    assert "TPR" not in registry


def test_a_refused_declaration_leaves_no_trace(registry):
    with pytest.raises(ValueError, match="names both"):
        registry.add(Thing("fresh", "FRESH", ("TPR",)))
    assert "fresh" not in registry
    with pytest.raises(PlanError):
        registry.find("FRESH")


@pytest.mark.parametrize(
    ("a", "b"),
    [("F1-score", "f1 score"), ("Cohen's kappa", "cohens KAPPA"), ("Cohen’s", "cohens"), ("STRASSE", "straße")],
)
def test_names_compare_without_case_spaces_hyphens_and_apostrophes(a, b):
    assert folded(a) == folded(b)
