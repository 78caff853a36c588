# SPDX-License-Identifier: Apache-2.0
"""Every field of a plan, declared once: what it means, what it may hold, which plan field it answers."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from assay.assess.plan.bounds import Thresholds
from assay.assess.plan.claim import Claim
from assay.assess.plan.parts import Column, Name, Place, PlanLabel, Real, Section, Sha256, Share, Text, Whole, Yes, says
from assay.assess.plan.surroundings import Acceleration, Cost, Environment

VERSION: Final = "1"


class Identity(Section):
    """Who planned what, and when; declarations count only with a name and a date."""

    answers = ("PF-01",)
    title: Text | None = says("What is assessed, in a few words.", "Screening test, second reader")
    version: Text | None = says("Version of this plan.", "1")
    assessor: Text | None = says("Who answers for the statements in this plan.", "Ada Example")
    date: dt.date | None = says("The day the plan was signed.", "2026-01-31")
    scope: Text | None = says("What the conformity statement covers.", "The released model on the test set of site A.")
    profile: Name | None = says("Requirement profile to judge by.", "ts4213-2022")


class Purpose(Section):
    """Why the assessment is made."""

    answers = ("PF-02",)
    stage: Literal["design-development", "verification-validation"] | None = says(
        "Whether a model is being designed or a finished one verified.", "verification-validation"
    )
    aims: list[Literal["assessment", "comparison", "out-of-sample", "out-of-time", "cv-comparison"]] | None = says(
        "What the results are for.", ["assessment"]
    )
    estimand: Literal["trained-model", "algorithm"] | None = says(
        "Whether values speak of one trained model or of the algorithm that trains it.", "trained-model"
    )


class Task(Section):
    """What kind of answer is assessed."""

    answers = ("PF-03",)
    type: Literal["binary", "multiclass", "multilabel"] | None = says("The classification task.", "binary")
    classes: list[PlanLabel] | None = says("Every class, in order.", ["healthy", "disease"])
    positive: PlanLabel | None = says("The positive class, if there are two.", "disease")
    ordered: Yes | None = says("Whether the classes have a natural order.", example=False)
    one_class: Yes | None = says("Whether only the target class is modelled, the rest being outliers.", example=False)
    encoding: Text | None = says("How labels are written in the files.", "text, as in the clinical system")


class Stratum(Section):
    """A part of the intended use that the test data must cover."""

    column: Column = Field(description="Column that tells the stratum.", examples=["age_group"])
    level: PlanLabel = Field(description="Its value in that column.", examples=["65+"])
    minimum: Whole = Field(description="Fewest test rows.", examples=[100])


class Use(Section):
    """What the model is for, and where it will work."""

    answers = ("PF-04",)
    intended: Text | None = says("The intended use.", "Second reader of chest images in adults.")
    system: Text | None = says("The system around the model and how its answer is used.", "A radiologist decides.")
    interactive: Yes | None = says("Whether somebody waits for the answer.", example=False)
    costs: Text | None = says("What the kinds of error cost.", "A missed case costs about ten false alarms.")
    strata: list[Stratum] | None = says("Strata to cover, with their fewest rows.")
    maximum_age_days: Real | None = says("Days up to which the newest sample of a split is not too old.", 730.0)


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
    artefact: Place | None = says("The model's file; it is hashed before and after, and never opened.", "model.onnx")
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
    latencies: Place | None = says('Time of each answer in the order given, column "milliseconds".', "latency_a.csv")

    @property
    def counted(self) -> bool:
        """Whether it has predictions to count."""
        return self.predicted is not None or self.score is not None


class Metrics(Section):
    """What is measured, and why."""

    answers = ("PF-06",)
    measures: list[Text] | None = says("Measures or families; left out, all that fit.", ["recall", "specificity", "f1"])
    primary: Text | None = says("The measure the conclusion rests on.", "recall")
    reasons: dict[str, Text] | None = says("Why each measure was chosen.", {"recall": "missed cases cost most"})
    averaging_basis: dict[str, Text] | None = says(
        "Why each average over classes was chosen.", {"f1_macro": "every class matters equally"}
    )
    multilabel_basis: dict[str, Text] | None = says(
        "Why each multi-label measure was chosen.", {"hamming_loss": "both kinds of error matter alike"}
    )
    operating_points: list[Real] | None = says("Thresholds at which counts and rates are reported.", [0.5])
    costs: dict[str, dict[str, Real]] | None = says(
        "What each mistake costs, by true and then by predicted class; right calls cost 0 if unsaid.",
        {"disease": {"healthy": 10.0}, "healthy": {"disease": 1.0}},
    )
    accept: list[Text] | None = says("Acceptance criteria, decided by their intervals.", ["recall >= 0.85"])
    against: Place | None = says("Record of the reference of non-inferiority criteria.", "reference.json")
    correction: Literal["holm", "none"] = says("Correction of the family of criteria.", "holm", default="holm")
    undefined: Literal["propagate", "skip", "zero", "one"] = says(
        "What a class without a value does to an average.", "propagate", default="propagate"
    )


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


class Bias(Section):
    """What was done about bias."""

    answers = ("PF-11",)
    analysis: Text | None = says("How bias was looked for.", "Compared with the registry by age and sex.")
    mitigation: Text | None = says("What was done about it.", "none needed")
    historical: Text | None = says("Whether the data carry historical bias.", "Older devices before 2020.")


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
    scheme: Literal["none", "holdout", "k-fold", "repeated-k-fold", "leave-one-out", "nested", "5x2"] | None = says(
        "The validation scheme.", "holdout"
    )
    folds: Place | None = says("Fold table: id, repetition, fold.", "folds.csv")
    selection_bias: Text | None = says("How selection bias was dealt with.", "Equal budgets on validation data only.")
    seeds: list[Whole] | None = says("Seeds of training.", [1, 2, 3])


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


class Tests(Section):
    """Significance tests."""

    answers = ("PF-21",)
    alpha: Annotated[float, Field(strict=True, gt=0, lt=0.5)] | None = says("Significance level.", 0.05)
    chosen: list[Text] | None = says("Tests to run: one of labels, one of scores.", ["mcnemar"])
    justification: Text | None = says("Why these tests.", "paired labels on one test set")
    override: Yes | None = says("Run a chosen test even where it is not admissible; results say so.", example=False)
    correction: Literal["holm", "benjamini-hochberg", "benjamini-yekutieli", "none"] | None = says(
        "Correction of a family of tests.", "holm"
    )
    difference: Share | None = says("Smallest difference of the measure that leads the comparison that matters.", 0.05)
    none: Text | None = says("Why no test is made.", "One model, no comparison is claimed.")


class Fairness(Section):
    """Groups of people, and what is asked of them."""

    answers = ("PF-22",)
    groups: list[Column] | None = says("Columns that tell groups.", ["sex"])
    criterion: Text | None = says("Which criterion, and why this one.", "equal recall: a missed case is the harm")
    tolerance: Share | None = says("Largest accepted gap.", 0.05)
    minimum: Whole | None = says("Fewest rows a group needs.", 10)
    smallest_cell: Whole | None = says("Fewest rows a cell of a group may show; smaller ones are pooled.", 10)


class Intervals(Section):
    """How uncertainty is stated."""

    level: Annotated[float, Field(strict=True, ge=0.5, lt=1)] = says("Confidence level.", 0.95, default=0.95)
    shares: Literal["wilson", "clopper-pearson", "jeffreys"] = says("Interval of shares.", "wilson", default="wilson")
    cells: Literal["auto", "dirichlet", "bca", "percentile", "delta"] = says(
        "Interval of the rest.", "auto", default="auto"
    )
    seed: Whole = says("Seed of the draws.", 4213, default=4213)


class Reading(Section):
    """How files are read."""

    delimiter: Text | None = says("Field delimiter, if the header does not show it.", ",")
    decimal: Literal[".", ","] = says("Decimal mark.", ".", default=".")
    max_rows: Whole | None = says("Refuse files with more rows.", 10_000_000)
    engine: Text | None = says("Engine that counts, if not the embedded one.", "spark://host:7077")
    missing: Literal["error", "drop"] = says("Rows without a label.", "error", default="error")
    unmatched: Literal["error", "count"] = says("Rows without a partner.", "error", default="error")
    unknown: Literal["error", "own"] = says("Predicted labels that are no class.", "error", default="error")


class Plan(Section):
    """A plan: what is declared before anything is counted."""

    sections_of_names: ClassVar[tuple[str, ...]] = ("models", "data", "features", "justifications")
    assay: Literal["1"] = says("Version of the plan format.", "1", default="1")
    plan: Identity = says("Who planned what, and when.", default=Identity())
    purpose: Purpose = says("Why the assessment is made.", default=Purpose())
    task: Task = says("The task.", default=Task())
    use: Use = says("The intended use.", default=Use())
    models: dict[Name, Model] = says("Models and comparators by name.", default={})
    metrics: Metrics = says("Measures and the basis of their choice.", default=Metrics())
    columns: Columns = says("Columns by role.", default=Columns())
    data: dict[Name, Split] = says("Data sets by name.", default={})
    population: Population = says("The real-world distribution.", default=Population())
    bias: Bias = says("Bias.", default=Bias())
    tuning: Tuning = says("Choices before the test.", default=Tuning())
    channels: Channels = says("Channels.", default=Channels())
    ground_truth: GroundTruth = says("Ground truth.", default=GroundTruth())
    leakage: Leakage = says("Leakage.", default=Leakage())
    features: dict[Column, Feature] = says("Features at prediction time (PF-17).", default={})
    environment: Environment = says("Environment.", default=Environment())
    cost: Cost = says("Computational cost.", default=Cost())
    tests: Tests = says("Significance tests.", default=Tests())
    claims: list[Claim] = says("What the assessment is to show.", default=[])
    fairness: Fairness = says("Fairness.", default=Fairness())
    intervals: Intervals = says("Intervals.", default=Intervals())
    reading: Reading = says("Reading of files.", default=Reading())
    checks: Thresholds = says("Thresholds of the checks.", default=Thresholds())
    justifications: dict[str, Text] = says(
        "Answers to suspicions and reasons for deviations, by requirement row.", default={}
    )
