# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from assay.assess.arguments import IntervalSettings
from assay.assess.assess import assess
from assay.assess.record.record import Record
from assay.assess.record.report_formats import RENDERERS
from assay.core.blocks.estimate_rows import about, amount, prose, real
from assay.core.errors import RecordError
from assay.report import sentences
from assay.report.blocks.estimates import method_blocks
from assay.report.report_document import Document
from assay.tasks.classification.blocks.confusion_matrix import matrix, mistakes, read_counts
from tests.layers.report import examples


def names(entries):
    return [one.about.measure for one in entries]


def whole(text):
    return int(text.replace(",", ""))


def test_a_binary_headline_has_its_eight_measures():
    of_two = "accuracy balanced_accuracy precision recall specificity f1 matthews_corrcoef cohen_kappa"
    assert names(Document(examples.screening().record).headline) == of_two.split()


def test_a_multiclass_headline_has_its_eight_measures_and_the_baseline():
    document = Document(examples.classes(9).record)
    of_more = "accuracy balanced_accuracy f1_macro f1_weighted precision_macro recall_macro"
    assert names(document.headline) == [*of_more.split(), "matthews_corrcoef", "cohen_kappa"]
    assert document.floor.entry.about.measure == "no_information_rate"


def test_a_restricted_record_shows_what_is_there():
    document = Document(assess(truth=list("abcabc"), predicted=list("abaaba"), measures=["f2_macro", "f1"]).record)
    assert names(document.headline) == ["f2_macro"]
    assert [column.measure for column in document.classes.columns] == ["f1"]
    assert document.opening() == "6 rows were assessed on 1 measure."


def test_a_record_of_class_measures_alone_has_no_headline():
    document = Document(assess(truth=list("abcabc"), predicted=list("abaaba"), measures=["f1"]).record)
    assert document.headline == ()
    assert [row.label for row in document.classes.levels] == ["a", "b", "c"]


def test_the_opening_says_how_many_how_sure_and_against_what():
    assert Document(examples.pinned("binary")).opening() == (
        "Of 600 rows, 481 were classified rightly: accuracy 0.802, 95 % interval 0.768 to 0.832;"
        " always calling the most frequent class would give 0.800."
    )


def test_the_opening_of_weighted_rows_speaks_of_their_weight():
    opening = Document(examples.weighted().record).opening()
    assert opening.startswith("Of a total weight of 88.75 on 80 rows, ")
    assert "95 % interval" in opening


def test_every_shown_number_is_a_number_of_the_record():
    assessment = examples.classes(9)
    document = Document(assessment.record)
    for one in document.headline:
        found = assessment[one.about.measure]
        assert (one.value, one.low, one.high) == (found.value, found.low, found.high)
    for row in document.classes.levels:
        for one in row.entries:
            found = assessment.by_class[row.label][one.about.measure]
            assert (one.value, one.low, one.high) == (found.value, found.low, found.high)
    for factor in document.factors:
        for level in factor.levels:
            for one in level.entries:
                found = assessment.by_group[factor.name][level.label][one.about.measure]
                assert (one.value, one.low, one.high) == (found.value, found.low, found.high)


def test_an_undefined_value_keeps_its_reason():
    document = Document(examples.pinned("multiclass"))
    reasons = {one.about.measure: one.reason for one in document.estimates.undefined}
    assert reasons["precision_macro"].startswith('class "d" has no value: no row was predicted "d"; counting it as 0:')
    (lost,) = [one for row in document.classes.levels for one in row.entries if not one.defined]
    assert (lost.shown, lost.reason) == ("undefined", 'no row was predicted "d"')


def test_an_infinite_value_is_shown_as_such():
    document = Document(examples.infinite().record)
    shown = {one.about.measure: (one.shown, one.interval) for one in document.estimates.whole.values() if one.endless}
    assert shown["likelihood_ratio_positive"][0] == "infinite"
    assert shown["likelihood_ratio_positive"][1].endswith(" to infinite")


def test_the_matrix_of_many_classes_adds_the_small_ones_up_and_loses_no_row():
    found = read_counts(examples.classes(60).record["tallies"]["confusion"])
    shown = matrix(found)
    assert (len(shown.rows), len(shown.labels), shown.hidden) == (31, 31, 30)
    assert shown.labels[-1] == "other (30 classes)"
    assert sum(map(whole, shown.sums)) == sum(map(whole, shown.totals)) == whole(shown.total) == 1000
    for row, total in zip(shown.rows, shown.sums, strict=True):
        assert sum(whole(cell.text) for cell in row) == whole(total)


def test_the_matrix_of_few_classes_is_the_tally_with_predictions_in_rows():
    assessment = examples.classes(9)
    shown = matrix(read_counts(assessment.record["tallies"]["confusion"]))
    truth_in_rows = [list(column) for column in zip(*([whole(c.text) for c in row] for row in shown.rows), strict=True)]
    assert truth_in_rows == assessment.confusion.matrix()
    assert [cell.right for cell in shown.rows[3]] == [i == 3 for i in range(9)]


def test_the_corner_of_added_up_classes_is_not_called_right_when_mistakes_are_in_it():
    labels = [f"c{i:02}" for i in range(32)]
    truth = [label for label in labels[:30] for _ in range(5)] + labels[30:]
    mixed = [label for label in labels[:30] for _ in range(5)] + labels[30:][::-1]
    for called, right in ((truth, True), (mixed, False)):
        shown = matrix(read_counts(assess(truth=truth, predicted=called).record["tallies"]["confusion"]))
        assert shown.rows[-1][-1].right is right


def test_mistakes_are_listed_from_the_most_frequent():
    found = read_counts(examples.pinned("multiclass")["tallies"]["confusion"])
    listed = [(one.truth, one.predicted, one.n, one.share) for one in mistakes(found)]
    assert listed[:2] == [("d", "c", "10", "71 %"), ("b", "a", "6", "19 %")]
    assert len(listed) == 8


def test_more_than_two_hundred_classes_show_their_counts_and_how_many_are_hidden():
    rng = np.random.default_rng(1)
    truth = np.concatenate([np.arange(300), rng.integers(0, 300, 700)])
    document = Document(assess(truth=truth, predicted=truth).record)
    assert (len(document.classes.levels), document.classes.hidden, document.classes.columns) == (200, 100, ())


def test_small_groups_are_marked():
    document = Document(examples.screening().record)
    (small,) = [level for factor in document.factors for level in factor.levels if level.small]
    assert (small.label, small.rows) == ("Tromsø", 5)
    assert [one.sentence for one in document.remarks()] == ["1 group has fewer than 10 rows and is marked △."]


def test_rows_left_out_are_told_twice_once_as_an_equation():
    document = Document(examples.pinned("multiclass"))
    assert (
        sentences.rows_equation(document.record["rows"])
        == "121 rows read = 120 scored + 1 excluded (truth is missing) + 0 unmatched"
    )
    assert next(document.remarks()).sentence == "1 of 121 rows was left out: truth is missing."


def test_a_measure_nobody_declared_is_shown_by_its_name():
    record = json.loads(examples.pinned("binary").to_text())
    record["estimates"][0]["measure"] = "<b>new</b>\n"
    document = Document(Record(record))
    assert about("<b>new</b>\n", "binary").name == "<b>new</b>\\n"
    assert "<b>new</b>\\n" in [one.about.name for family in document.estimates.families().values() for one in family]


def test_a_value_that_is_no_number_is_refused():
    with pytest.raises(RecordError, match="a value is written as"):
        real("nan")


def test_a_long_note_is_kept_whole_and_an_endless_one_is_cut():
    assert prose("a" * 1000) == "a" * 1000
    assert len(prose("a" * 10_000)) < 1300
    assert prose("x" * 300 + "\u202e") == "x" * 300 + "\\u202e"


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0"),
        (1234567, "1,234,567"),
        (Fraction(12, 1), "12"),
        (Fraction(1, 3), "0.333"),
        (Fraction(8875, 100), "88.75"),
    ],
)
def test_amounts_read_well(count, shown):
    assert amount(count) == shown


def test_a_class_counted_as_zero_is_told_in_every_report():
    record = assess(
        truth=list("abcabc"),
        predicted=list("abaaba"),
        intervals=IntervalSettings(undefined="zero"),
        measures=["precision_macro"],
    ).record
    (note,) = {note for one in Document(record).headline for note in one.notes}
    assert note == '"c": no value, counted as zero'
    for kind in (".html", ".md", "text/plain"):
        assert "no value, counted as zero" in RENDERERS[kind](record)


def test_every_interval_method_is_explained():
    for assessment in (examples.screening(), examples.classes(9)):
        (card,) = method_blocks(Document(assessment.record).estimates, ())
        assert all(term.text for term in card.blocks[0].terms)


@pytest.mark.parametrize("drawn", [[], [2000], [2000, 8000]])
def test_a_method_tells_how_often_it_drew(drawn):
    shown = {0: "", 1: "; 2,000 draws", 2: "; 2,000 to 8,000 draws"}[len(drawn)]
    assert sentences.method("bca on cells", drawn) == sentences.METHODS["bca"] + shown
    assert sentences.method("brand-new", drawn) == shown.removeprefix("; ")
