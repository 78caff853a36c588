# SPDX-License-Identifier: Apache-2.0
"""Every requirement row can pass, can fail, and can lack its subject; rows that cannot are listed with the reason."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from unittest.mock import patch

from assay.assess.conformity.clauses import SUPPLEMENT, may_lack, profile
from assay.assess.controls import Inquiry, results
from assay.assess.plan.checked_plan import planned
from assay.assess.record.record import Record
from assay.assess.record.verification import verify
from tests.laws.generated_assessments import (
    LABEL_MEASURES,
    SIGNED,
    again,
    light,
    made,
    model,
    nothing,
    of,
    replanned,
    several_labels,
    verdicts,
)

ROWS = {row.id: row for row in (*profile().rows, *profile(SUPPLEMENT).rows)}


CLAIM = {"model": "A", "measure": "accuracy", "at_least": 0.5, "about": "algorithm"}
EVERYTHING = dict.fromkeys(may_lack(), "there is none")


def whole():
    """Plans that answer everything, counted: two classes, three classes, and one model alone."""
    yield of(made("binary"))
    yield of(made("multiclass"))
    alone = {"models": {"B": None}, "tests": {"chosen": None, "none": "one model"}, "purpose": {"aims": ["assessment"]}}
    constant = {"channels": {"acquisition": {"column": None, "constant": "one scanner"}}}
    part = made("binary", **alone, **constant, tuning={"trials": {"A": 4}, "ledger": None}, use={"interactive": False},
                cost={"scope": ["latency"]})  # fmt: skip
    yield of(part)
    yield replanned(part, only=["CHK-NAMES"], not_applicable=EVERYTHING)
    yield nothing()


def stated_away():
    """Everything that may be lacking, lacking by statement, in a plan that says nothing else."""
    loaded = planned({"plan": SIGNED, "not_applicable": EVERYTHING})
    yield verdicts(Inquiry(loaded=loaded), [], {})


def other_statements():
    """The same numbers with other statements."""
    two, three = made("binary"), made("multiclass")
    yield replanned(two, only=["CHK-PLAN"], purpose={"stage": "design-development", "aims": ["out-of-sample"]})
    yield replanned(two, only=["CHK-PLAN"], environment={"simulated": True, "impact": "none"})
    yield replanned(two, only=["CHK-TASK"], task={"classes": ["no", "perhaps"]})
    yield replanned(three, only=["CHK-TASK"], task={"classes": ["low", "high"]})
    yield replanned(three, only=["CHK-METRIC-TASK"], metrics={"measures": ["auroc"]})
    yield replanned(three, only=["CHK-BASIS"], metrics={"averaging_basis": {"recall_macro": None}})
    yield replanned(two, only=["CHK-RESULT"], metrics={"measures": ["jaccard"]})
    yield replanned(two, only=["CHK-POPULATION"], population={"classes": {"no": 0.9, "yes": 0.1}})
    yield replanned(two, only=["CHK-COVERAGE"], use={"strata": [{"column": "sex", "level": "x", "minimum": 5}]})
    yield replanned(two, only=["CHK-IMBALANCE"], metrics={"primary": "auroc"}, checks={"prevalence": [0.6, 0.8]})
    yield replanned(two, only=["CHK-HPARAM"], models={"A": {"hyperparameters": {"depth": {"type": None}}}})
    yield replanned(two, only=["CHK-TUNE-PARITY"], tuning={"trials": {"A": 40, "B": 4}})
    yield replanned(two, only=["CHK-ENV-MIN"], environment={"python": "99.0"})
    yield replanned(two, only=["CHK-LATENCY"], cost={"latency_ms": 5.0})
    yield replanned(two, only=["CHK-FEATURE"], features={"size": {"available": False}})
    yield replanned(two, only=["CHK-PREPROC"], models={"A": {"preprocessing": [{"step": "x", "fitted_on": "test"}]}})
    yield replanned(two, only=["CHK-AGE"], use={"maximum_age_days": 1.0})
    yield replanned(two, only=["CHK-POWER"], tests={"difference": 0.001})
    yield replanned(two, only=["CHK-MULT"], tests={"correction": "none"})
    yield replanned(two, only=["CHK-BASELINE"], models={"B": {"kind": "baseline"}})
    yield replanned(two, only=["CHK-ANNOTATOR"], ground_truth={"minimum_agreement": 0.999})
    yield replanned(two, only=["CHK-OPP"], metrics={"operating_points": [0.123]})
    yield replanned(two, only=["CHK-CHANNEL"], channels={"acquisition": {"column": "site"}})
    yield replanned(two, only=["CHK-TRAIN-SAME"], models={"B": {"trained_on": "validation"}})


def other_evidence():
    """The same plan with other data, predictions, machines and results."""
    two, three = made("binary"), made("multiclass")
    q = two.inquiry
    test, train, validation = (q.splits[name] for name in ("test", "train", "validation"))
    moved = replace(q.moments[0], fields={**q.moments[0].fields, "kernel": "another"})
    bare = tuple(replace(one, fields={**one.fields, "accelerators": []}) for one in q.moments)
    armed = tuple(replace(one, fields={**one.fields, "accelerators": ["A100"]}) for one in q.moments)
    twice = opened("five.csv")
    machine = ["CHK-ENV-FP", "CHK-ENV-SAME", "CHK-ACCEL"]
    yield again(two, only=["CHK-PLAN"], counted_at="2000-01-01T00:00:00+00:00")
    yield again(two, only=machine, ran_here=True, moments=bare)
    yield again(two, only=machine, ran_here=True, moments=armed)
    yield again(two, only=machine, moments=(*q.moments[:2], moved, *q.moments[2:]))
    yield again(
        two, only=["CHK-ENV-SAME", "CHK-ENV-FP"], moments=(q.moments[0], q.moments[1], replace(moved, name="model B"))
    )
    yield again(two, only=["CHK-NAMES", "CHK-RESULT"], estimates=({"measure": "precison", "value": 1.0, "n": 1},))
    yield again(two, only=["CHK-N"], estimates=tuple({**one, "n": None} for one in q.estimates))
    yield again(two, only=["CHK-PRED"], predictions={"A": twice})
    yield again(two, only=["CHK-TESTSET-SAME"], predictions={"A": test, "B": validation})
    yield again(two, only=["CHK-MODEL-FREEZE"], artefacts={"A": ("0" * 64, "1" * 64)})
    yield again(
        two, only=["CHK-OVERLAP", "CHK-GROUP", "CHK-TIME"], splits={**q.splits, "train": test, "validation": test}
    )
    yield again(two, only=["CHK-OVERLAP"], splits={**q.splits, "train": validation})
    yield again(two, only=["CHK-TIME"], splits={**q.splits, "train": test, "test": train})
    odd = opened("odd_rows.csv")
    contents = ["CHK-CHANNEL", "CHK-CLASS-DIST", "CHK-RANGE", "CHK-PROXY", "CHK-LABEL-CONFLICT", "CHK-MISSING"]
    yield again(two, only=contents, splits={**q.splits, "test": odd, "train": odd})
    yield again(two, only=["CHK-CLASS-DIST", "CHK-RANGE"], splits={**q.splits, "test": odd})
    yield again(two, only=["CHK-CLAIM"], claims=tuple({**one, "answer": "contradicted"} for one in q.claims))
    yield again(two, only=["CHK-THRESH"], points=tuple({**one, "optimistic": True} for one in q.points))
    yield again(two, only=["CHK-OPP"], points=q.points[:1])
    tuned = {"time": "2024-01-01T00:00:00+00:00", "purpose": "tune", "data": test.sha256}
    yield again(two, only=["CHK-LEDGER"], ledger=(*q.ledger, tuned))
    yield again(two, only=["CHK-BASELINE"], assessment=three.assessment)
    yield again(two, record={})


def opened(name):
    """A table of the data of two classes."""
    from assay.rows.files.formats import Reading
    from assay.tally.data.split_counts import SplitRows

    return SplitRows.of(str(made("binary").inquiry.loaded.folder / name), reading=Reading())


def other_tests():
    """Comparisons by other tests than McNemar's, as planned or against the table."""
    folds = {
        "tuning": {"scheme": "k-fold", "folds": "folds.csv"},
        "purpose": {"aims": ["cv-comparison"], "estimand": "algorithm"},
    }
    nobody, reason = {"chosen": None}, {"justification": "habit"}
    shared = {name: {"folds": "folds.csv"} for name in "AB"}
    third, human = {"C": model(predicted="c")}, {"B": {"kind": "human"}}
    values, odd, even = ({"values": f"{name}.csv", "per": "item"} for name in ("values", "odd", "even"))
    five = {"tuning": {"scheme": "5x2", "folds": "five.csv"}, "data": {"test": {"path": "five_rows.csv"}}}
    nested = {"tuning": {"scheme": "nested", "folds": "nested.csv"}}
    refused = ["chi_squared_association", "fisher_exact", "kruskal_wallis", "one_way_anova", "two_shares", "wilcoxon"]
    for changes in (
        {
            **folds,
            "tests": nobody,
            "models": shared,
            "claims": [CLAIM],
        },
        {**folds, "tests": {"chosen": ["mcnemar"]}, "models": {**shared, "A": {"folds": "five.csv"}}},
        {**folds, "tests": {"chosen": ["paired_t"], **reason}, "models": third},
        {**folds, "tests": {"chosen": ["wilcoxon"], **reason}, "models": human},
        {**five, "tests": nobody},
        {**nested, "tests": nobody},
        {"tests": {**values, **nobody}},
        {"tests": {**odd, "chosen": ["paired_t"], **reason}},
        {"tests": {**even, **nobody}, "models": human},
        {"tests": {**values, **nobody, "variance": True}},
        {"tests": {**odd, **nobody, "variance": True}},
        {"tests": {**values, **nobody}, "models": third},
        {"tests": {**odd, "chosen": ["greenhouse_geisser"], **reason}, "models": third},
        {"tests": {**odd, **nobody, "independent": True}, "models": third},
        {"tests": {"chosen": refused}},
        {"tests": {"chosen": ["mcnemar_plain"], **reason}, "models": {"B": {"predicted": "d"}}},
        {"tests": {"chosen": ["paired_shares"], **reason, "correction": "benjamini-hochberg"}},
        {"tests": nobody, "models": {"A": {"predicted": "c"}}, "tuning": {"scheme": "none"}},
    ):
        part = light("multiclass", **changes)
        yield of(part)
        yield replanned(part, only=["CHK-NAMES"], not_applicable=EVERYTHING)


def of_the_program():
    """A program whose formulas do not give what the standard prints."""
    with patch.object(results, "_differing", lambda: ("f1_macro",)):
        yield again(made("multiclass"), only=["CHK-KNOWN"])


def contradictions():
    """Plans that state away what their data show."""
    design = {"purpose": {"stage": "design-development"}, "environment": {"simulated": True, "impact": "none"}}
    for task, other in (("binary", {}), ("multiclass", design)):
        yield replanned(made(task), only=["CHK-NAMES"], not_applicable=EVERYTHING, **other)


def of_labels():
    """Plans of several labels a sample, and of another task, counted."""
    basis = dict.fromkeys(LABEL_MEASURES, "each label matters alike")
    for stated in (basis, {"f1_micro": "it matters"}):
        part = several_labels("multilabel", json.dumps({"metrics": {"multilabel_basis": stated}}))
        yield of(part)
    yield replanned(part, only=["CHK-BASIS"], not_applicable=EVERYTHING)
    yield of(several_labels("regression"))


def test_general_rows_of_another_task_are_judged_by_analogy_and_clause_6_does_not_apply():
    part = several_labels("regression")
    found = part.judged().record["conformity"]
    assert found["overall"] == "outside the scope of TS 4213:2022"
    assert found["by_analogy"]
    assert found["document"] == "ISO/IEC TS 4213:2022 (by analogy)"
    told = {row["id"]: row["verdict"] for row in found["rows"]}
    assert {told[name] for name in told if name.startswith(("R-6", "R-A", "R-B", "R-C", "R-D"))} == {"n/a"}
    assert [told[name] for name in ("R-5.1-1", "R-5.1-4", "R-5.3.11-1", "R-7.1-1")] == ["pass"] * 4
    labels = several_labels("multilabel").judged().record
    assert labels["conformity"]["overall"] in {"conformity not demonstrated", "non-conforming"}
    assert verify(Record(json.loads(part.judged().record.to_text()))).mismatches == ()
    assert verify(Record(json.loads(labels.to_text()))).mismatches == ()


@cache
def reached():
    """Row -> the verdicts that some input gives it."""
    found = {name: set() for name in ROWS}
    for source in SOURCES:
        for told in source():
            for name, verdict in told.items():
                found[name].add(verdict)
    return found


SOURCES = [whole, stated_away, other_statements, other_evidence, other_tests, of_the_program, contradictions, of_labels]

STATED = "only a statement can answer it, and a statement is declared at best"
OTHER_TASK = "it speaks of another task than classification, and no check is built for it"
CANNOT_PASS = {
    STATED: """R-0-3 R-5.2-1 R-5.2-2 R-5.2-5 R-5.3.2-3 R-5.3.6-5 R-5.3.6-6 R-5.3.8-2 R-5.3.11-5 R-5.3.11-6 R-5.3.12-3
        R-5.3.14-1 R-5.3.14-2 R-6.1-2 R-6.2.6-1 R-6.3.4-1 R-6.4.3-3 R-6.4.3-4 R-6.6.1-1 R-6.6.5-1 R-6.6.5-2 R-8-4
        S-RAI-3 S-FUN-2 S-FUN-4""",
    "whether a feature is known in time, or a family of acceleration used, can only be stated": "R-5.3.7-3 R-5.3.12-4",
    OTHER_TASK: "R-7.8-2 S-RAI-9 S-RAI-14 S-RAI-15 S-SCH-4",
    "the table gives such a test only beyond a million rows; a plan that chooses one rests on its reason": "R-7.8-1",
}
CANNOT_FAIL = {
    "a measure is reported or it is not": "R-0-2 R-6.2.4-1 R-C-1 S-RAI-8 S-FUN-3 S-SCH-1",
    "what is described or computed is there or it is not": """R-5.1-5 R-5.3.13-1 R-5.3.13-2 R-5.3.14-3 R-6.2.2-1 R-8-2
        R-8-7""",
    "nothing computed can contradict the statement": "R-5.2-1 R-5.3.12-4 R-5.3.14-1 R-6.1-2 R-6.6.1-1 R-8-4",
    OTHER_TASK: "R-7.8-2 S-RAI-9 S-RAI-14 S-RAI-15 S-SCH-4",
}
ALWAYS_APPLIES = {
    "every assessment has a plan, a task, data, results and a machine": """R-0-1 R-2-1 R-3-1 R-5.1-1 R-5.1-2 R-5.1-3
        R-5.1-4 R-5.1-5 R-5.1-6 R-5.1-7 R-5.2-1 R-5.3.1-1 R-5.3.11-1 R-5.3.11-2 R-5.3.14-1 R-5.3.14-3 R-7.1-1 R-8-2
        R-8-3 R-8-4 R-8-7""",
    "samples come from somewhere, and labels from somebody": "R-5.3.2-1 R-5.3.2-2 R-5.3.2-4 R-5.3.2-5 R-5.3.9-1",
    "what was trained can have seen the test data": "R-5.3.5-2 R-5.3.7-1 R-5.3.10-4",
    "that nothing is accelerated must be said": "R-5.3.12-2 R-5.3.12-4",
    "classes have sizes, and precision has a counterpart": "R-0-2 S-RAI-8 S-FUN-3 S-SCH-1",
}


def lacking(*wanted):
    """Rows that no input gives one of some verdicts."""
    return {name for name, verdicts in reached().items() if not verdicts & set(wanted)}


def listed(reasons):
    """The rows of an allow-list."""
    return {name for names in reasons.values() for name in names.split()}


def test_every_row_passes_for_some_input():
    assert lacking("pass") == listed(CANNOT_PASS)


def test_every_row_fails_or_is_suspect_for_some_input():
    assert lacking("fail", "suspect") == listed(CANNOT_FAIL)


def test_every_row_does_not_apply_for_some_input():
    assert lacking("n/a") == listed(ALWAYS_APPLIES)


def test_rows_that_only_a_statement_answers_are_declared_for_some_input():
    assert not {name for name in CANNOT_PASS[STATED].split() if "declared" not in reached()[name]}


def test_no_row_is_met_where_nothing_is_known():
    shown = {name for name, verdict in nothing().items() if verdict in ("pass", "declared")}
    assert shown <= {"R-3-1", "R-6.4.2-1", "R-6.4.3-6", "R-A-1"}, "only what the program shows of itself"
