# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.assess.plan.checked_plan import load_plan, plan_schema, planned, stated
from assay.assess.plan.document import read_text
from assay.core.errors import PlanError

TEN = """assay = "1"
titel = "x"
[plan]
asessor = "me"
[task]
type = "binry"
classes = ["a", "b"]
positive = "c"
[population]
classes = {a = 0.5, b = 0.4}
[columns]
truth = "y"
id = "y"
[models.A]
trained_on = "trian"
[data.train]
path = "nothing.csv"
[metrics]
measures = ["recal"]
[intervals]
level = 2.0
"""


CLAIM = """[data.test]
path = "plan.toml"
[models.A]
predicted = "a"
[models.B]
predicted = "b"
[models.P]
results = {recall = 0.9}
[[claims]]
model = "A"
measure = "recall"
"""


def written(folder, text, name="plan.toml"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refused(path):
    with pytest.raises(PlanError) as raised:
        load_plan(path)
    return raised.value


def test_a_plan_with_ten_errors_reports_ten_each_with_its_line(tmp_path):
    error = refused(written(tmp_path, TEN))
    assert error.code == "plan-invalid"
    assert error.what == "the plan has 10 errors"
    told = [line.strip() for line in error.found.splitlines()]
    assert [int(line.split(":")[0].removeprefix("line ")) for line in told] == [2, 4, 6, 8, 10, 13, 15, 17, 19, 21]
    for word in ("assessor", "binary", '"train"', "recall", "sum to 0.9", "truth and id at once"):
        assert word in error.found, word


def test_an_unknown_key_names_the_nearest_one(tmp_path):
    found = refused(written(tmp_path, "[purpose]\nestimnd = 1\n")).found
    assert 'did you mean "estimand"?' in found


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('[models.A]\ntrained_on = "train"\n[data.test]\n', 'no split "train"'),
        ("[data.holdout]\n", "role of this split is not stated"),
        ('[data.test]\nrole = "train"\n', 'called "test" has the role "train"'),
        ('[tuning]\ndata = "test"\n[data.test]\n', "choices were made on test data"),
        ('[population]\nclasses = {a = 1.0}\nabsent = "none"\n', "contradict"),
        ('[channels.person]\ncolumn = "a"\nconstant = "b"\n', "contradict"),
        ('[task]\ntype = "multiclass"\npositive = "a"\n', "no positive class"),
        ('[task]\ntype = "binary"\nclasses = ["a"]\n', "does not have 1 classes"),
        ('[data.test]\npath = "../secret.csv"\n', "does not lie in the folder"),
        ('[data.test]\npath = "/etc/passwd"\n', "does not lie in the folder"),
        ('[justifications]\n"R-5.3.5-9" = "x"\n', "no requirement row"),
        ('[plan]\nprofile = "ts4213-2021"\n', 'did you mean "ts4213-2022"?'),
        ('[ground_truth]\nannotators = ["a"]\n', 'needs "annotations"'),
        ('[columns]\ntruth = "a"\nfeatures = ["a"]\n', "truth and feature at once"),
        ("[use]\nstrata = [{column = 'a'}]\n", "is missing"),
        ("[models.'a/b']\n", "a name has letters"),
        ("models = 3\n", "must be a table"),
        (CLAIM + "at_least = 0.9\nat_most = 0.95\n", "not at_least and at_most"),
        (CLAIM, "a claim says one of at_least, at_most, better_than, equivalent_to"),
        (CLAIM + "at_least = 1.2\n", "1.2 is outside what recall can be"),
        (CLAIM + "at_least = 0.9\nmargin = 0.1\n", "a claim about a number has no margin"),
        (CLAIM + 'at_least = "C"\n', 'there is no model "C"'),
        (CLAIM + 'better_than = "A"\n', "compared with itself"),
        (CLAIM + 'better_than = "P"\n', "has no predictions to count"),
        (CLAIM + 'equivalent_to = "B"\n', "equivalence needs a margin above 0"),
        (CLAIM + 'at_least = "B"\nmargin = 3.0\n', "3 is not a margin of recall"),
        (CLAIM + 'at_least = "B"\ndata = "tset"\n', 'no test split "tset"'),
        (CLAIM.replace('"recall"', '"recal"') + "at_least = 0.9\n", 'did you mean "recall"?'),
        (CLAIM.replace('"recall"', '"recall >= 1"') + "at_least = 0.9\n", "is neither a class nor a level"),
        (CLAIM.replace('"recall"', '"prevalence"') + 'better_than = "B"\n', "no better side"),
        ('[metrics]\naccept = ["recall non-inferior margin 0.02"]\n', "non-inferiority needs a reference"),
        ('[metrics]\naccept = ["recall >= 0.9"]\nagainst = "r.json"\n', "no criterion is held against"),
        ('[metrics]\nagainst = "r.json"\n', 'there is no file "r.json"'),
        ('[tests]\nchosen = ["mcnemr"]\n', 'did you mean "mcnemar"?'),
        ('[tests]\nchosen = ["mcnemar"]\noverride = true\n', "needs a reason"),
    ],
)
def test_what_makes_no_sense_is_told(tmp_path, text, word):
    assert word in refused(written(tmp_path, text)).found


def test_claims_of_several_test_splits_name_theirs(tmp_path):
    text = CLAIM + "at_least = 0.9\n"
    assert load_plan(written(tmp_path, text)).plan.claims[0].at_least == 0.9
    two = text.replace("[models.A]", '[data.later]\nrole = "test"\npath = "plan.toml"\n[models.A]')
    assert "several test splits" in refused(written(tmp_path, two)).found
    assert load_plan(written(tmp_path, two + 'data = "later"\n')).plan.claims[0].data == "later"


def test_one_fault_hides_no_other(tmp_path):
    error = refused(written(tmp_path, "[plan]\ntitle = 3\n[population]\nclasses = {a = 0.5, b = 0.1}\n"))
    assert "2 errors" in error.what


def test_toml_and_json_make_the_same_plan(tmp_path):
    content = {
        "plan": {"title": "t", "version": "1.10", "date": "2026-01-31"},
        "task": {"type": "binary", "classes": ["yes", "no"], "positive": "yes"},
        "intervals": {"level": 0.9},
    }
    toml = '[plan]\ntitle = "t"\nversion = "1.10"\ndate = 2026-01-31\n[task]\ntype = "binary"\n'
    toml += 'classes = ["yes", "no"]\npositive = "yes"\n[intervals]\nlevel = 0.9\n'
    texts = {"a.toml": toml, "a.json": json.dumps(content)}
    loaded = [load_plan(written(tmp_path, text, name)) for name, text in texts.items()]
    assert len({one.digest for one in loaded}) == 1
    assert len({one.sha256 for one in loaded}) == 2
    assert loaded[0].plan.task.classes == ["yes", "no"]


def test_a_plan_in_yaml_is_refused_with_what_to_write(tmp_path):
    error = refused(written(tmp_path, "plan:\n  title: t\n", "p.yaml"))
    assert (error.code, error.known, error.fix) == ("plan-unreadable", ".toml, .json", "write the plan as TOML")


def test_errors_of_json_have_lines_too(tmp_path):
    assert "line 2: plan.titel" in refused(written(tmp_path, '{"plan":\n {"titel": 1}}', "p.json")).found


BOMBS = {
    "deep.json": "[" * 100_000 + "]" * 100_000,
    "deep.toml": "a = " + "[" * 100_000 + "]" * 100_000,
    "dots.toml": ".".join(["a"] * 100_000) + " = 1",
    "tables.toml": "".join(f"[{'.'.join(['a'] * (i + 1))}]\n" for i in range(40)),
    "twice.json": '{"plan": {}, "plan": {}}',
    "nan.json": '{"intervals": {"level": NaN}}',
    "list.json": "[1]",
    "latin.toml": b"[plan]\ntitle = '\xe9'\n",
    "broken.toml": "[plan\n",
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_and_broken_files_are_refused(tmp_path, name):
    path = written(tmp_path, BOMBS[name], name)
    assert refused(path).code in {"plan-unreadable", "plan-too-deep"}


def test_a_plan_of_100_mb_is_refused_without_reading_it(tmp_path, monkeypatch):
    path = tmp_path / "plan.toml"
    with path.open("wb") as file:
        file.truncate(100 * 2**20)
    monkeypatch.setattr(Path, "open", lambda *_, **__: pytest.fail("the file was opened"))
    assert refused(path).code == "plan-too-large"


@given(st.text(max_size=200))
def test_whatever_a_file_holds_only_errors_of_ours_come_out(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("fuzz")
    for name in ("p.toml", "p.json"):
        with suppress(PlanError):
            load_plan(written(folder, text.encode("utf-8", "surrogatepass"), name))


def test_the_schema_accepts_what_the_model_accepts_and_refuses_unknown_keys():
    jsonschema.Draft202012Validator.check_schema(plan_schema())
    validator = jsonschema.Draft202012Validator(plan_schema())
    assert validator.is_valid({"assay": "1", "plan": {"title": "t"}})
    assert not validator.is_valid({"plan": {"titel": "t"}})


def test_a_statement_counts_only_when_it_says_something():
    assert not any(
        stated(x) for x in ("", " ", "TODO", "unknown", "Unknown", "<fill in>", "...", None, [], {}, ["tbd"])
    )
    assert all(stated(x) for x in ("none", 0, False, ["a"], {"a": "b"}))


def test_a_plan_is_signed_by_a_name_and_a_date():
    assert not planned({"plan": {"assessor": "A"}}).signed
    assert not planned({"plan": {"assessor": "todo", "date": "2026-01-31"}}).signed
    assert planned({"plan": {"assessor": "A", "date": "2026-01-31"}}).signed


def test_the_digest_follows_what_is_declared_not_how_it_is_written(tmp_path):
    one = load_plan(written(tmp_path, '[plan]\ntitle = "t"\n'))
    other = load_plan(written(tmp_path, '# words\n[plan]\n\ntitle="t"\n', "o.toml"))
    changed = load_plan(written(tmp_path, '[plan]\ntitle = "u"\n', "c.toml"))
    assert one.digest == other.digest != changed.digest
    assert read_text(tmp_path / "o.toml").format == "TOML"
