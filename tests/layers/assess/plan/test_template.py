# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
import tomllib

from assay.assess.plan.checked_plan import planned
from assay.assess.plan.fields import Plan
from assay.assess.plan.template import template

FIELDS = {f"PF-{n:02}" for n in range(1, 23)}


def test_a_template_is_a_plan_and_stays_one_when_every_example_is_taken():
    filled = {"plan": {"title": 'a "b"'}, "models": {"A": {"predicted": "p"}}, "data": {"test": {"path": "a.csv"}}}
    text = template(filled)
    assert planned(tomllib.loads(text)).plan.models["A"].predicted == "p"
    taken = "\n".join(re.sub(r'^# (\[|\w+ = |"R-)', r"\1", line) for line in text.splitlines())
    Plan.model_validate(tomllib.loads(taken))


def test_the_template_speaks_of_every_section_and_every_plan_field():
    text = template({})
    assert all(f" {name}\n" in text for name in Plan.model_fields if name != "assay")
    assert set(re.findall(r"PF-\d\d", text)) == FIELDS


def test_every_field_says_what_it_means():
    def fields(model, seen):
        if model in seen:
            return
        seen.add(model)
        for name, field in model.model_fields.items():
            yield model.__name__, name, field

    from assay.assess.plan.template import section_of

    seen, open_ = set(), [Plan]
    while open_:
        for owner, name, field in fields(open_.pop(), seen):
            assert field.description, (owner, name)
            if (inner := section_of(field.annotation)) is not None:
                open_.append(inner)
    assert len(seen) > 20
