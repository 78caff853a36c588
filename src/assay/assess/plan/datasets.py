# SPDX-License-Identifier: Apache-2.0
"""Sections of a plan about data: where they come from, what they stand for, and how their truth was established."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from assay.assess.plan.field_types import Column, Place, Real, Section, Sha256, Share, Text, Whole, Yes, says


class Split(Section):
    """A data set and where it comes from."""

    answers = ("PF-08", "PF-09")
    role: Literal["train", "validation", "test"] | None = says("Its role, if its name does not say it.", "test")
    path: Place | list[Place] | None = says(
        "Its file, files, pattern or folder, inside the folder of the plan; or postgresql://USER@HOST/DB.", "test.csv"
    )
    table: Text | None = says("The table of a database.", "results")
    query: Text | None = says("Or a SELECT on it.", "SELECT * FROM results WHERE site = 'A'")
    sha256: Sha256 | dict[str, Sha256] | None = says("Digest the file must have; of several, by name.", "a" * 64)
    rows: Whole | None = says("Rows the file must have.", 1200)
    context: Text | None = says("Which context of use it stands for.", "site B")
    source: Text | None = says("Where the data come from.", "Registry of site A, 2024.")
    collection: Text | None = says("How they were collected.", "All consecutive cases.")
    sampling: Text | None = says("How they were sampled and split.", "By patient, at random, 60/20/20.")
    rationale: Text | None = says("Why these data were chosen.", "They cover both devices.")
    deviations: Text | None = says("Departures from the population and their reasons.", "none")


class Columns(Section):
    """Which column plays which part, in every file."""

    answers = ("PF-08",)
    truth: Column | None = says("The true label.", "truth")
    id: Column | None = says("The sample's id.", "id")
    subject: Column | None = says("Who or what a sample comes from.", "patient")
    time: Column | None = says("When a sample was taken (ISO 8601).", "taken_at")
    weight: Column | None = says("Row weights.", "weight")
    features: list[Column] | None = says("What a model saw, for the checks of content.", ["age", "marker"])
    texts: list[Column] | None = says("Those of the features that are free texts.", ["report"])
    picture: Column | None = says("Path of a sample's picture, from the folder of the plan.", "image")


class Population(Section):
    """The real-world distribution, or its absence."""

    answers = ("PF-10",)
    classes: dict[str, Share] | None = says("Share of each class; they sum to 1.", {"healthy": 0.9, "disease": 0.1})
    source: Text | None = says("Where the shares come from.", "National registry 2024")
    absent: Text | None = says("Why no reference is known.", "No registry exists.")
    sample: Place | None = says("File with the features of a reference sample.", "registry.csv")
    quantiles: dict[Column, dict[str, Real]] | None = says(
        "Quantiles of measured features: share below, and value.", {"age": {"0.25": 41.0, "0.5": 55.0, "0.75": 68.0}}
    )
    levels: dict[Column, dict[str, Share]] | None = says(
        "Share of each level of other features; they sum to 1.", {"sex": {"f": 0.5, "m": 0.5}}
    )


class Bias(Section):
    """What was done about bias."""

    answers = ("PF-11",)
    analysis: Text | None = says("How bias was looked for.", "Compared with the registry by age and sex.")
    mitigation: Text | None = says("What was done about it.", "none needed")
    historical: Text | None = says("Whether the data carry historical bias.", "Older devices before 2020.")


class Channel(Section):
    """One family of channels: the column that tells it, or what it always was."""

    column: Column | None = says("Column that tells the channel.", "scanner")
    constant: Text | None = says('What it always was; "unknown" is an answer that shows nothing.', "one scanner")


class Channels(Section):
    """Ways by which data reach the model; each family wants an answer."""

    answers = ("PF-14",)
    acquisition: Channel | None = says("Device or mechanism of acquisition.", {"column": "scanner"})
    preprocessing: Channel | None = says("Variant of preprocessing.", {"constant": "version 3"})
    person: Channel | None = says("Person who took or handled the sample.", {"constant": "unknown"})
    environment: Channel | None = says("Place or surroundings.", {"column": "site"})
    other: list[Column] | None = says("Further channel columns.", ["batch"])
    known_effects: Text | None = says("Channel effects known to be in the training data.", "none known")
    treatment: Text | None = says("How channel effects enter the significance tests.", "stratified by site")


class GroundTruth(Section):
    """How the truth was established."""

    answers = ("PF-15",)
    test: Text | None = says("Method for the test data: who, how many, how settled.", "Two readers, a third decides.")
    train: Text | None = says("Method for the training data.", "One reader.")
    guideline: Text | None = says("The labelling guideline.", "Guideline 4.2")
    consensus: Text | None = says("How disagreement was settled.", "adjudication by a third reader")
    reliability: Text | None = says("How reliable it is and what that does to significance.", "kappa 0.8 in a pilot")
    annotations: Place | None = says("File with every annotator's label by id.", "annotations.csv")
    annotators: list[Column] | None = says("Columns of that file, one an annotator.", ["reader_1", "reader_2"])
    minimum_agreement: Real | None = says("Lowest acceptable kappa.", 0.6)
    error_rate: Share | None = says("Share of labels that are wrong, where no annotations tell it.", 0.02)


class Leakage(Section):
    """What keeps training and test apart."""

    answers = ("PF-16",)
    analysis: Text | None = says("How leakage was looked for.", "Split by patient before anything else.")
    distinct_subjects: Text | None = says("Statement that no two samples share a subject.", "One sample a patient.")
    coincide: Text | None = says("Why distinct samples may have equal features.", "Four yes/no questions only.")


class Feature(Section):
    """One feature at prediction time."""

    available: Yes = Field(description="Whether it is known when a prediction is made.", examples=[True])
    lag: Text | None = says("How long after the event it is known.", "none")
