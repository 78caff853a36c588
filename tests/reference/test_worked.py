# SPDX-License-Identifier: Apache-2.0
"""Every number of the sources that follows from counts comes out, and every misprint comes out corrected."""

from __future__ import annotations

import ast
from fractions import Fraction
from math import fsum, isclose, log, sqrt

import pytest

from assay.core.values import Share, Undefined
from assay.measures import REGISTRY
from tests.reference import by_definition, worked

CASES = worked.entries("case")
VALUES = {
    f"{name}:{i}:{entry['measure']}": (case, entry)
    for name, case in CASES.items()
    for i, entry in enumerate(case["values"])
}
DEFINED = {name: pair for name, pair in VALUES.items() if "undefined" not in pair[1]}
PRINTED = {name: pair for name, pair in DEFINED.items() if "printed" in pair[1]}
ERRATA = {name: pair for name, pair in PRINTED.items() if "erratum" in pair[1]}
READINGS = {
    f"{name}:{reading['name']}": (case, reading) for name, case in CASES.items() for reading in case.get("readings", [])
}


def each(pairs):
    return pytest.mark.parametrize(("case", "entry"), pairs.values(), ids=pairs)


@each(DEFINED)
def test_a_worked_value_comes_out_in_full_precision(case, entry):
    found = worked.result(case, entry)
    assert not isinstance(found, Undefined), found.reason
    assert abs(found.value - entry["value"]) <= 1e-12 * max(1, abs(entry["value"]))
    if "exact" in entry:
        exact = Fraction(entry["exact"])
        assert isclose(found.value, exact, rel_tol=1e-15)
        if isinstance(found, Share):
            assert Fraction(found.numerator, found.denominator) == exact


@each({name: pair for name, pair in PRINTED.items() if name not in ERRATA})
def test_a_printed_figure_comes_out_to_its_printed_precision(case, entry):
    assert worked.agrees(entry["printed"], worked.result(case, entry).value, worked.scale(entry))


@each(ERRATA)
def test_a_misprinted_figure_comes_out_corrected(case, entry):
    value = worked.result(case, entry).value
    assert not worked.agrees(entry["printed"], value, worked.scale(entry))
    assert worked.agrees(entry["corrected"], value, worked.scale(entry))
    assert entry["erratum"] in REGISTRY.find(entry["measure"]).errata


@each({name: pair for name, pair in VALUES.items() if name not in DEFINED})
def test_what_the_sources_leave_without_a_value_is_undefined(case, entry):
    found = worked.result(case, entry)
    assert isinstance(found, Undefined)
    assert found.reason


@each(VALUES)
def test_the_files_agree_with_the_definitions(case, entry):
    given, matrix = entry.get("given", {}), worked.matrix(case)
    if entry["measure"] in by_definition.OF_A_CLASS:
        place = 1 if "cells" in case else case["labels"].index(entry["class"])
        value = by_definition.by_class(entry["measure"], matrix, **given)[place]
    elif entry["measure"] == "binary_accuracy_micro":
        value = by_definition.micro("binary_accuracy", matrix)
    else:
        value = by_definition.of_all(entry["measure"], matrix, **given)
    if "undefined" in entry:
        assert value is None
        return
    assert float(value) == entry["value"]
    assert "exact" not in entry or Fraction(entry["exact"]) == value
    if "printed" in entry:
        assert worked.agrees(entry["printed"], value, worked.scale(entry)) != ("erratum" in entry)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_public_face_gives_the_worked_values(case):
    found = worked.assessed(case, draws=100, measures=[e["measure"] for e in case["values"] if "given" not in e])
    for entry in case["values"]:
        if "given" in entry:
            continue
        estimate = found.by_class[entry["class"]][entry["measure"]] if "class" in entry else found[entry["measure"]]
        assert (estimate.value is None) == ("undefined" in entry)
        if estimate.value is not None:
            assert isclose(estimate.value, entry["value"], rel_tol=1e-12, abs_tol=1e-15)


# ---------------------------------------------------------------- what the text does not mean


def _other_diagonals(matrix, i):
    tp, fp, fn, _ = by_definition.one_vs_rest(matrix, i)
    return tp, fp, fn, sum(matrix[j][j] for j in range(len(matrix)) if j != i)


def _four(matrix):
    return by_definition.one_vs_rest(matrix, 1)


def _eq_44(matrix):
    names = ("recall", "specificity", "precision", "negative_predictive_value")
    return sqrt(float(by_definition.OF_A_CLASS[names[0]](*_four(matrix)))
                * float(by_definition.OF_A_CLASS[names[1]](*_four(matrix)))
                * float(by_definition.OF_A_CLASS[names[2]](*_four(matrix)))
                * float(by_definition.OF_A_CLASS[names[3]](*_four(matrix))))  # fmt: skip


def _harmonic(a, b):
    return 2 * a * b / (a + b)


def _mean_with(cells, name, matrix):
    values = [by_definition.OF_A_CLASS[name](*cells(matrix, i)) for i in range(len(matrix))]
    return sum(values) / len(values)


OTHER = {
    "specificity weighted by the number of negatives": lambda m: by_definition.micro("specificity", m),
    "divergence summed over counts": lambda m: fsum(
        c * log(c / r) for c, r in zip(by_definition.calls(m), by_definition.sizes(m), strict=True)
    ),
    "F1 of macro precision and macro recall": lambda m: _harmonic(
        by_definition.macro("precision", m), by_definition.macro("recall", m)
    ),
    "recall weighted by class sizes": lambda m: by_definition.weighted("recall", m),
    "chance level rounded to 0.632": lambda m: (float(by_definition.csmf_accuracy(m)) - 0.632) / 0.368,
    "one absolute difference instead of their sum": lambda m: (
        1
        - abs(by_definition.shares(m)[0][0] - by_definition.shares(m)[1][0])
        / (2 * (1 - min(by_definition.shares(m)[0])))
    ),
    "TN as the other diagonal cells, average accuracy": lambda m: _mean_with(_other_diagonals, "binary_accuracy", m),
    "TN as the other diagonal cells, specificity": lambda m: _mean_with(_other_diagonals, "specificity", m),
    "one minus recall": lambda m: 1 - by_definition.recall(*_four(m)),
    "root of the product of four rates": _eq_44,
}


@each(READINGS)
def test_another_reading_of_the_text_gives_another_number(case, entry):
    """The file states what the other reading gives; it is really that, and we do not give it."""
    assert isclose(OTHER[entry["name"]](worked.matrix(case)), entry["value"], rel_tol=1e-12)
    ours = worked.result(case, entry).value
    assert abs(ours - entry["value"]) > 1e-5 * abs(entry["value"])


def test_table_a4_row_one_does_not_average_the_row_table_a3_calls_accuracy():
    # E-TS-07: averaging the class recalls gives 69.72 / 85.92 / 85.92, the document prints 90.61 / 87.43 / 90.61.
    printed = {e["measure"]: e for e in CASES["ts4213_annex_a:G-TS-A4"]["values"]}
    for average, name in (
        ("macro", "average_accuracy"),
        ("weighted", "binary_accuracy_weighted"),
        ("micro", "binary_accuracy_micro"),
    ):
        other = next(e for e in CASES["ts4213_annex_a:G-TS-A4-ALT"]["values"] if e["measure"] == f"recall_{average}")
        assert not worked.agrees(printed[name]["printed"], other["value"], 100)


def test_the_number_of_rows_of_rainio_table_2_is_that_of_its_cells():
    case = CASES["rainio_tables:G-RAI-T2"]
    rows = worked.assessed(case).confusion.rows
    assert rows == case["rows"]["corrected"] != int(case["rows"]["printed"])


@pytest.mark.parametrize("entry", worked.entries("paired").values(), ids=worked.entries("paired"))
def test_the_margins_of_a_paired_table_are_the_counts_of_each_model(entry):
    positives, negatives = entry["positives"], entry["negatives"]
    rows = {"tp": sum(positives[0]), "fn": sum(positives[1]), "fp": sum(negatives[0]), "tn": sum(negatives[1])}
    turned = [[list(c) for c in zip(*table, strict=True)] for table in (positives, negatives)]
    columns = {"tp": sum(turned[0][0]), "fn": sum(turned[0][1]), "fp": sum(turned[1][0]), "tn": sum(turned[1][1])}
    assert rows == {cell: entry["rows"][cell] for cell in rows}
    assert columns == {cell: entry["columns"][cell] for cell in columns}
    by_model = {c["cells"]["tp"]: c["cells"] for c in CASES.values() if "cells" in c}
    assert by_model[rows["tp"]] == rows
    assert by_model[columns["tp"]] == columns


@pytest.mark.parametrize("entry", worked.entries("uniform").values(), ids=worked.entries("uniform"))
def test_guessing_among_equal_classes_is_right_once_in_so_many(entry):
    k = entry["classes"]
    case = {
        "matrix": [[1 if i == j else 0 for j in range(k)] for i in range(k)],
        "orientation": "rows=truth",
        "labels": list(range(k)),
    }
    assert worked.result(case, {"measure": "uniform_chance_accuracy"}).value == float(Fraction(entry["exact"]))


COEFFICIENTS = {
    f"{e['id']}:{e['measure']}": e for doc in worked.documents().values() for e in doc.get("coefficients", [])
}


@pytest.mark.parametrize("entry", COEFFICIENTS.values(), ids=COEFFICIENTS)
def test_the_coefficients_of_an_f_score_are_the_printed_ones(entry):
    beta = Fraction(str(entry["beta"]))
    assert Fraction(entry["hits"]) == 1 + beta**2
    assert Fraction(entry["misses"]) == beta**2
    formula = REGISTRY.find(entry["measure"]).formula
    numbers = [str(node.value) for node in ast.walk(ast.parse(formula)) if isinstance(node, ast.Constant)]
    assert sorted(set(numbers)) == sorted({entry["hits"], entry["misses"]})


def test_selection_rates_can_differ_where_prevalence_and_misses_agree():
    a, b = (CASES[f"fund:G-FUN-EO-{group}"] for group in "ab")

    def value(case, name):
        return worked.result(case, {"measure": name}).value

    assert value(a, "prevalence") == value(b, "prevalence") == 0.5
    assert value(a, "false_negative_rate") == value(b, "false_negative_rate") == 0.2
    assert isclose(value(a, "selection rate") - value(b, "selection rate"), -0.2)


def test_the_false_positive_rate_follows_from_prevalence_precision_and_recall():
    case = CASES["fund:G-FUN-IMP"]
    pi, ppv, tpr = (worked.result(case, {"measure": m}).value for m in ("prevalence", "precision", "recall"))
    assert isclose(worked.result(case, {"measure": "FPR"}).value, pi / (1 - pi) * (1 - ppv) / ppv * tpr, rel_tol=1e-14)


def test_dice_and_iou_of_a_mask_are_f1_and_jaccard_of_its_pixels():
    case = CASES["rainio_tables:G-RAI-FIG2"]
    dice, iou = (worked.result(case, {"measure": m}).value for m in ("f1", "jaccard"))
    assert sum(case["cells"].values()) == 128 * 128
    assert isclose(iou, dice / (2 - dice), rel_tol=1e-15)
    assert isclose(1 - dice, 47 / 409, rel_tol=1e-14)
    assert isclose(1 - iou, 47 / 228, rel_tol=1e-14)


def test_the_model_that_calls_everybody_healthy_has_no_skill():
    case = CASES["fund:G-FUN-BASE-DISEASE"]
    skill = worked.result(case, {"measure": "skill_score", "given": {"reference": "majority"}})
    assert skill.value == 0
    assert isclose(1000 * worked.result(case, {"measure": "error_rate"}).value, 0.1)


CHANCE = [(int(k), level) for entry in worked.entries("chance").values() for k, level in entry["levels"].items()]


@pytest.mark.parametrize(("k", "level"), CHANCE)
def test_the_finite_chance_level_of_csmf_accuracy_is_the_simulated_one(k, level):
    matrix = [[2 if i == j else 0 for j in range(k)] for i in range(k)]
    matrix[0][-1] = 1
    case = {"matrix": matrix, "orientation": "rows=truth", "labels": list(range(k))}
    plain = worked.result(case, {"measure": "csmf_accuracy"}).value
    corrected = worked.result(case, {"measure": "cccsmf_accuracy", "given": {"baseline": "finite-k"}}).value
    chance = (plain - corrected) / (1 - corrected)
    assert abs(chance - level) <= 0.0003  # three standard errors of the simulation
    assert k != 2 or isclose(chance, log(2), rel_tol=1e-12)


def test_every_file_names_its_document_and_every_case_its_place():
    assert len(worked.documents()) == 5
    assert all(doc["document"] for doc in worked.documents().values())
    assert all(case["place"] and case["origin"] in ("source", "derived") for case in CASES.values())
    assert len(PRINTED) >= 75
    assert len(ERRATA) == 6
