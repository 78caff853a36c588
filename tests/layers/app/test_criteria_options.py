# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest

from assay.assess.record.record import Record
from assay.report.render.html import render as page
from assay.report.render.markdown import render as markdown
from assay.report.render.terminal import summary
from tests.command import assay
from tests.layers.assess.recorded import records


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with 400 rows: recall 0.9, specificity 0.9."""
    folder = tmp_path_factory.mktemp("decided")
    rows = ["truth,guess,sex"]
    for truth, other in (("yes", "no"), ("no", "yes")):
        rows += [f"{truth},{other if i % 10 == 0 else truth},{'f' if i % 2 else 'm'}" for i in range(200)]
    (folder / "rows.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def run(place, *words, code=0):
    found = assay(*words, cwd=place)
    assert found.returncode == code, found.stderr
    return found


ROWS = ("rows.csv", "--truth", "truth", "--predicted", "guess", "--positive", "yes", "--group", "sex")


@pytest.mark.parametrize(
    ("criteria", "code", "said"),
    [
        (["recall >= 0.8"], 0, "pass: the criterion is met"),
        (["recall >= 0.8", "specificity >= 0.8"], 0, "pass: all 2 criteria are met"),
        (["recall >= 0.99"], 1, "fail: 0 of 1 criterion met, 1 not met"),
        (["recall >= 0.9"], 3, "inconclusive: 0 of 1 criterion met, 1 not decided"),
        (["recall >= 0.9", "recall >= 0.99"], 1, "fail: 0 of 2 criteria met, 1 not met, 1 not decided"),
    ],
)
def test_a_run_leaves_with_the_code_of_its_decisions(place, criteria, code, said):
    words = [word for one in criteria for word in ("--accept", one)]
    found = run(place, "run", *ROWS, *words, "--out", f"out-{len(criteria)}-{code}", code=code)
    assert f"verdict  {said}" in found.stdout
    record = json.loads((place / f"out-{len(criteria)}-{code}" / "record.json").read_text(encoding="utf-8"))
    assert [one["criterion"] for one in record["decisions"]] == criteria


def test_a_mistyped_criterion_costs_no_count_and_writes_nothing(place):
    found = run(place, "run", "nowhere.csv", "--accept", "recal >= 0.8", "--out", "never", code=2)
    assert 'did you mean "recall"' in found.stderr
    found = run(place, "run", *ROWS, "--accept", "recall{sec=f} >= 0.8", "--out", "never", code=2)
    assert 'did you mean "sex"' in found.stderr
    assert not (place / "never").exists()
    assert "no criterion" in run(place, "run", *ROWS, "--against", "x.json", code=2).stderr


def test_a_run_can_be_held_against_a_reference_and_the_record_verifies_without_it(place):
    run(place, "run", *ROWS, "--out", "old")
    words = ("--accept", "recall non-inferior margin 0.1", "--against", "old/record.json")
    found = run(place, "run", *ROWS, *words, "--out", "new")
    assert "not worse by the margin: unpaired difference +0.000" in " ".join(found.stdout.split())
    assert "verified" in run(place, "verify", "new/record.json").stdout


def test_verify_names_what_was_changed_and_leaves_with_1(place):
    run(place, "run", *ROWS, "--out", "sound")
    text = (place / "sound" / "record.json").read_text(encoding="utf-8")
    assert '"value": 0.9,' in text
    (place / "forged.json").write_text(text.replace('"value": 0.9,', '"value": 0.92,', 1), encoding="utf-8")
    found = run(place, "verify", "forged.json", "--json", code=1)
    told = json.loads(found.stdout)
    assert not told["verified"]
    assert any(one["stored"] == 0.92 and one["recomputed"] == 0.9 for one in told["mismatches"])
    assert "mismatch digests.record: the digest does not fit" in found.stderr
    assert "mismatch estimates[" in found.stderr
    run(place, "verify", "nowhere.json", code=2)
    (place / "empty.json").write_text("{}", encoding="utf-8")
    run(place, "verify", "empty.json", code=2)


def test_every_report_says_the_verdict_before_anything_else():
    record = records()["decided"]
    for text, follows in ((summary(record), "Of 200 rows"), (markdown(record), "Of 200 rows"), (page(record), "<main")):
        assert text.index("inconclusive") < text.index(follows)
        assert "recall non-inferior margin 0.1" in text
        assert "would decide 4 times in 5" in " ".join(text.split())
    plain = records()["binary"]
    for text in (summary(plain), markdown(plain), page(plain)):
        assert "inconclusive" not in text.replace(".decided.inconclusive", "")


def test_names_in_criteria_stay_text_in_every_report():
    from assay.assess.assess import assess

    nasty = '<img src=x onerror="alert(1)">|`'
    truth = ["a", nasty, "c"] * 20
    a = assess(truth=truth, predicted=truth, group={nasty: [nasty, "x"] * 30})
    a = a.accept("recall[class=*] >= 0.5", f"accuracy{{{json.dumps(nasty)}=*}} >= 0.5")
    assert "<img" not in page(a.record).split("</style>")[1]
    rows = [line for line in markdown(a.record).splitlines() if "✓ pass |" in line]
    assert rows
    assert all("<img" not in line for line in rows)
    assert isinstance(a.record, Record)
