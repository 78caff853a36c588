# SPDX-License-Identifier: Apache-2.0
"""Every field of a plan, declared once: what it means, what it may hold, which plan field it answers."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from assay.assess.plan.section_fields import (
    Bias,
    Channels,
    Column,
    Columns,
    Cost,
    Environment,
    Feature,
    GroundTruth,
    Leakage,
    Model,
    Name,
    Place,
    PlanLabel,
    Population,
    Real,
    Section,
    Share,
    Split,
    Text,
    Tuning,
    Whole,
    Yes,
    says,
    spelled,
)


class Thresholds(Section):
    """Thresholds of the checks; all of them are printed with their results."""

    imbalance_ratio: Annotated[float, Field(strict=True, ge=1)] = says(
        "Largest over smallest class up to which classes count as balanced.", 1.5, default=1.5
    )
    prevalence: tuple[Share, Share] = says(
        "Prevalences between which AUROC is trusted.", [0.2, 0.8], default=(0.2, 0.8)
    )
    alpha: Annotated[float, Field(strict=True, gt=0, lt=0.5)] = says("Level of the checks' tests.", 0.05, default=0.05)
    association: Share = says("Cramér's V from which an association counts.", 0.1, default=0.1)
    share_gap: Share = says("Difference of shares that counts.", 0.05, default=0.05)
    excess: Share = says("Excess of a channel-only guess over chance that counts.", 0.05, default=0.05)
    outside: Share = says(
        "Share of test values outside the range of training from which it counts.", 0.01, default=0.01
    )
    proxy_auroc: Share = says(
        "AUROC from which one feature alone is suspected to stand for the label.", 0.99, default=0.99
    )
    proxy_association: Share = says("Cramér's V from which it is.", 0.95, default=0.95)
    stable: Share = says("Share of relabellings that must leave the conclusion as it is.", 0.95, default=0.95)
    near: Share = says(
        "Standard deviations up to which numbers nearly coincide; less where chance would bring such rows.",
        0.001,
        default=0.001,
    )
    similarity: Share = says("Share of their shingles that like texts have in common.", 0.8, default=0.8)
    picture_distance: Annotated[int, Field(strict=True, ge=0, le=32)] = says(
        "Bits of 64 in which like pictures differ at most.", 4, default=4
    )
    distance: Share = says(
        "Gap between the distributions of a feature (Kolmogorov-Smirnov) that counts.", 0.1, default=0.1
    )


Correction = Literal["holm", "benjamini-hochberg", "benjamini-yekutieli", "none"]


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
    type: Name | None = says("The task: binary, multiclass, or another one such as regression.", "binary")
    given: dict[str, Any] | None = says(
        "Of a task other than classification: by role, a column of the test split or a file beside the plan.",
        {"truth": "measured"},
    )
    options: dict[str, Any] | None = says("Of a task other than classification: its options.", {"unit": "patient"})
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


class Tests(Section):
    """Significance tests."""

    answers = ("PF-21",)
    alpha: Annotated[float, Field(strict=True, gt=0, lt=0.5)] | None = says("Significance level.", 0.05)
    chosen: list[Text] | None = says("Tests to run: one of labels, one of scores.", ["mcnemar"])
    justification: Text | None = says("Why these tests.", "paired labels on one test set")
    override: Yes | None = says("Run a chosen test even where it is not admissible; results say so.", example=False)
    correction: Annotated[Correction, spelled(*get_args(Correction))] | None = says(
        "Correction of a family of tests.", "holm"
    )
    values: Place | None = says("Table of values to compare, one column a model, in place of labels.", "values.csv")
    per: Literal["item", "data set", "fold", "repeat", "5x2", "halves"] | None = says(
        "What a value of the table belongs to.", "data set"
    )
    folds: Whole | None = says("Folds a repetition, where values are of folds.", 10)
    independent: Yes | None = says("Whether the values of each model come from items of its own.", example=False)
    variance: Yes | None = says("Whether the spread of values is compared, in place of their means.", example=False)
    lower_is_better: Yes | None = says("Whether smaller values are better.", example=False)
    difference: Share | None = says("Smallest difference of the measure that leads the comparison that matters.", 0.05)
    none: Text | None = says("Why no test is made.", "One model, no comparison is claimed.")


class Fairness(Section):
    """Groups of people, and what is asked of them."""

    answers = ("PF-22",)
    groups: list[Column] | None = says("Columns that tell groups.", ["sex"])
    criterion: Text | None = says("Which criterion, and why this one.", "equal recall: a missed case is the harm")
    judged: Text | None = says("Name of the criterion that is judged by its interval.", "equal_opportunity")
    tolerance: Share | None = says("Largest accepted gap.", 0.05)
    minimum: Whole | None = says("Fewest rows a group needs.", 10)
    cross: list[Text] | None = says("Groups to cross with each other.", ["sex:age_group"])
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
    unknown: Literal["error", "own"] = says("Predicted labels that are not a class.", "error", default="error")


class Run(Section):
    """How predictions are made here, so that machine, time and inputs of them are known: a command, or model files."""

    command: list[Text] | None = says(
        "Program and arguments; {python}, {model}, {split}, {inputs} and {predictions} are filled in.",
        ["{python}", "predict.py", "{model}", "{inputs}", "{predictions}"],
    )
    artefacts: Yes | None = says(
        "Let each model's artefact answer: .onnx, or a scikit-learn estimator in .joblib, fitted or yet to be fitted.",
        example=True,
    )
    seconds: Real = says("Seconds it may take for one model.", 3600.0, default=3600.0)


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


class Plan(Section):
    """A plan: what is declared before anything is counted."""

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
    run: Run = says("How predictions are made here.", default=Run())
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
    not_applicable: dict[str, Text] = says(
        "Why a requirement row or a control does not apply, by its name.", default={}
    )
