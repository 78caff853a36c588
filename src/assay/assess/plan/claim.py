# SPDX-License-Identifier: Apache-2.0
"""What a plan claims beforehand: one sentence about a model, a measure, and a number or another model."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from assay.assess.plan.field_types import Name, Real, Section, Text, says


class Claim(Section):
    """Something the assessment is to show; it is answered supported, contradicted or not decidable."""

    model: Name = Field(description="The model it speaks of.", examples=["B"])
    measure: Text = Field(
        description="The measure, of all rows, one class or one group: recall, f1[class=cat], recall{sex=f}.",
        examples=["recall"],
    )
    at_least: Real | Name | None = says("A number the value reaches, or a model it is not worse than by a margin.", "A")
    at_most: Real | None = says("A number the value does not exceed.", 0.1)
    better_than: Name | None = says("A model it is better than, by more than the margin if one is given.", "A")
    equivalent_to: Name | None = says("A model it differs from by less than the margin.", "A")
    margin: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] | None = says(
        "The largest difference that does not matter.", 0.02
    )
    data: Name | None = says("The test split it speaks of, if there are several.", "test")
    about: Literal["trained-model", "algorithm"] | None = says(
        "What a difference is credited to; without it, to the model as it was trained.", "trained-model"
    )
    words: Text | None = says("The claim in words.", "B finds at least as many cases as A.")
