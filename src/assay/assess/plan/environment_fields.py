# SPDX-License-Identifier: Apache-2.0
"""What a plan says of the machine a model runs on: acceleration, environment, computational cost."""

from __future__ import annotations

from typing import Literal

from assay.assess.plan.field_types import Real, Section, Share, Text, Whole, Yes, says


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
