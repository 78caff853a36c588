# SPDX-License-Identifier: Apache-2.0
"""Sections of a plan about models: what they are, how they were trained, and how choices were made."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from assay.assess.plan.field_types import (
    Column,
    Name,
    Place,
    Real,
    Section,
    Sha256,
    Share,
    Text,
    Whole,
    Yes,
    says,
    spelled,
)


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
