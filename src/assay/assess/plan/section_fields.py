# SPDX-License-Identifier: Apache-2.0
"""Sections of a plan about data and models, the kinds of values in them, and one way to declare a field."""

from __future__ import annotations

import re
from types import UnionType
from typing import Annotated, Any, ClassVar, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

UNKNOWN: Final = "unknown"
"""A legal answer everywhere, which shows nothing."""

Text = Annotated[str, StringConstraints(strict=True, max_length=20_000)]
Name = Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.\-]{0,63}$")]
Column = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=4096)]
Place = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=4096)]
Sha256 = Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9a-fA-F]{64}$")]
Whole = Annotated[int, Field(strict=True, ge=0)]
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Yes = Annotated[bool, Field(strict=True)]
PlanLabel = (
    Annotated[bool, Field(strict=True)]
    | Annotated[int, Field(strict=True)]
    | Annotated[str, StringConstraints(strict=True)]
)


def spelled(*names: str) -> BeforeValidator:
    """Take other spellings of some words: case, spaces, underscores and hyphens do not matter, nor do other names."""
    known = {re.sub(r"[\W_]", "", name).casefold(): name for name in names} | {
        "fdrbh": "benjamini-hochberg", "fdrby": "benjamini-yekutieli", "bh": "benjamini-hochberg",
        "repeated": "repeated-k-fold", "loo": "leave-one-out",
    }  # fmt: skip

    def settle(value: object) -> object:
        own = known.get(re.sub(r"[\W_]", "", value).casefold()) if isinstance(value, str) else None
        return own if own in names else value

    return BeforeValidator(settle)


def says(text: str, example: object = None, default: object = None) -> Any:  # noqa: ANN401  what pydantic returns
    """A field that may be left out: what it says, and an example for the template."""
    return Field(default=default, description=text, examples=None if example is None else [example])


def without_none(annotation: object) -> object:
    """The type of a field that may be left out, where there is one."""
    kept = [one for one in get_args(annotation) if one is not type(None)]
    return kept[0] if get_origin(annotation) in (Union, UnionType) and len(kept) == 1 else annotation


class Section(BaseModel):
    """Fields that belong together; a key that is not among them is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=False)

    answers: ClassVar[tuple[str, ...]] = ()
    """Plan fields of the requirements that this section answers."""


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


class Families(Section):
    """Every family of acceleration, answered; "none" is an answer."""

    special_hardware: Text | None = says("Special-purpose hardware.", "none")
    gpu: Text | None = says("Graphics processors.", "1 x NVIDIA A100")
    asic: Text | None = says("Application-specific circuits.", "none")
    instruction_sets: Text | None = says("Instruction sets of the processor.", "AVX2")
    sparsity: Text | None = says("Sparse computation.", "none")
    pruning: Text | None = says("Pruned or quantised weights.", "none")
    memory: Text | None = says("Other savings of memory bandwidth.", "none")


class Acceleration(Section):
    """Acceleration by phase."""

    answers = ("PF-19",)
    training: Families | None = says("While the model was trained.")
    testing: Families | None = says("While the model was tested.")
    unused: Text | None = says("Why an accelerator that is there is not used.", "the model runs on processors only")


class Environment(Section):
    """The environment the model needs."""

    answers = ("PF-18",)
    processors: Whole | None = says("Fewest processors.", 2)
    memory_gb: Real | None = says("Least memory, in GB.", 4.0)
    system: Text | None = says("Operating system.", "Linux")
    python: Text | None = says("Oldest Python.", "3.11")
    packages: dict[str, Text] | None = says("Oldest versions of packages.", {"numpy": "2.0"})
    simulated: Yes | None = says("Whether the environment of use is simulated.", example=False)
    impact: Text | None = says("What simulation does to time and cost.", "no effect on labels")


class Cost(Section):
    """Computational cost."""

    answers = ("PF-20",)
    scope: list[Literal["latency", "throughput", "efficiency", "energy"]] | None = says(
        "What is in scope.", ["latency"]
    )
    out_of_scope: Text | None = says("Why the others are not.", "The model runs in nightly batches.")
    not_measured: Text | None = says("Why nothing was measured.", "Predictions came as a file.")
    latency_ms: Real | None = says("Latency bound in milliseconds.", 200.0)
    percentile: Share | None = says("Share of answers that must keep it.", 0.95)
    warm_up: Whole | None = says("First answers that do not count, because the model was warming up.", 10)
    throughput: Real | None = says("Fewest answers in time, per second.", 50.0)
    objective: Text | None = says("What efficiency achieves: answers, in_time, correct, or a number.", "correct")
    resource: Text | None = says("What efficiency divides by: joules, seconds, cost.", "joules")
    joules: Real | None = says("Most joules for an answer.", 0.5)
    energy: Text | None = says("Energy bound, or that it was not measured.", "not measured")
    training_energy: Text | None = says("Energy of training, or that it was not measured.", "not measured")


Scheme = Literal["none", "holdout", "k-fold", "repeated-k-fold", "leave-one-out", "nested", "5x2"]


class Hyperparameter(Section):
    """One hyperparameter of an algorithm and its value."""

    value: Any = Field(description="Its value in this model.", examples=[0.1])
    type: Text | None = says("Its type.", "real")
    domain: Text | None = says("The values it may take.", "0 to 1")
    searched: Yes | None = says("Whether it was tuned.", example=True)


class Step(Section):
    """One step of preprocessing."""

    step: Text = Field(description="What is done.", examples=["missing values replaced by the median"])
    fitted_on: Name | None = says('The split its parameters were fitted on; "none" if it has none.', "train")
    reason: Text | None = says("Why, if other models have no such step.", "the algorithm cannot take missing values")
    fitted: dict[Column, dict[Literal["mean", "std", "min", "max", "median"], Real]] | None = says(
        "What was fitted, by feature; it is held against the data.", {"age": {"mean": 54.2, "std": 11.9}}
    )


class Model(Section):
    """A model or something it is compared with."""

    answers = ("PF-05", "PF-07", "PF-12", "PF-13")
    kind: Literal["model", "human", "published", "baseline"] = says("What it is.", "model", default="model")
    version: Text | None = says("Its version.", "2.1")
    predicted: Column | None = says("Column with its predicted labels.", "predicted")
    score: Column | list[Column] | dict[str, Column] | None = says(
        "Column with its score of the positive class, or a column for each class; alone, they make the labels.", "score"
    )
    scores: Literal["probability", "logit", "any"] = says(
        "What the scores are; of logits probabilities are made where needed.", "probability", default="any"
    )
    given: dict[str, Any] | None = says(
        "Of a task other than classification: what this model has by role, a column or a file.",
        {"predicted": "estimate_a"},
    )
    missing_score: Literal["error", "drop", "worst"] | None = says(
        "Rows without a score: error, drop, or worst (ranked below all); left out, as reading.missing.", "worst"
    )
    renormalise: Yes = says(
        "Divide the probabilities of a row by their sum where that is not 1.", example=True, default=False
    )
    threshold: Real | None = says("Threshold of the score, chosen before (score >= threshold is positive).", 0.5)
    threshold_rule: Text | None = says("Rule that chooses the threshold on another split.", "youden")
    threshold_from: Name | None = says("The split on which the rule chooses.", "validation")
    predictions: Place | list[Place] | None = says(
        "File, or files, with its predictions and the truth, if not the test split's own.", "a.csv"
    )
    joined: Yes | None = says("Whether truth and groups come from the test split, matched by columns.id.", example=True)
    sha256: Sha256 | None = says("Digest of the model's artefact.")
    artefact: Place | None = says(
        "The model's file; it is hashed before and after, and opened only by run.artefacts.", "a.onnx"
    )
    source: Text | None = says("Where a published result comes from.", "Example et al. 2025, Table 2")
    results: dict[str, Real] | None = says("Published values by measure.", {"recall": 0.88})
    objective: Text | None = says("What training optimised.", "cross-entropy")
    algorithm: Text | None = says("The algorithm and its version.", "gradient boosting, scikit-learn 1.7")
    trained_on: Name | None = says("The split it was trained on.", "train")
    hyperparameters: dict[str, Hyperparameter] | None = says("Hyperparameters by name.")
    preprocessing: list[Step] | None = says("Steps before the model, in order; an empty list says there are none.")
    acceleration: Acceleration | None = says("Use of acceleration, by phase and family (PF-19).")
    scheme: Text | None = says("Its validation scheme, if models have schemes of their own.", "5-fold")
    folds: Place | None = says("Its own fold table: id, repetition, fold.", "folds_a.csv")
    latencies: Place | None = says(
        'Time of each answer in the order given, column "milliseconds", empty where it failed; runs by column "run"; '
        "for cost also scheduled (seconds), correct and joules.",
        "latency_a.csv",
    )

    @property
    def counted(self) -> bool:
        """Whether it has predictions to count."""
        return self.predicted is not None or self.score is not None or self.given is not None


class Tuning(Section):
    """How hyperparameters, thresholds and other choices were made."""

    answers = ("PF-12",)
    data: Name | None = says("The split the choices were made on.", "validation")
    test_unused: Text | None = says(
        "Statement that nothing of the test data was used for any choice.", "Test labels were sealed until the release."
    )
    trials: dict[str, Whole] | None = says("Trials by model.", {"A": 50})
    ledger: Place | None = says("Ledger of evaluations, one JSON object a line.", "ledger.jsonl")
    retested: Text | None = says(
        "Why the test data were looked at more than once, or before this plan.", "Only a name was corrected."
    )
    scheme: Annotated[Scheme, spelled(*get_args(Scheme))] | None = says("The validation scheme.", "holdout")
    folds: Place | None = says("Fold table: id, repetition, fold.", "folds.csv")
    selection_bias: Text | None = says("How selection bias was dealt with.", "Equal budgets on validation data only.")
    seeds: list[Whole] | None = says("Seeds of training.", [1, 2, 3])
