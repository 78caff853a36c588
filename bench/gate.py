# SPDX-License-Identifier: Apache-2.0
"""How often the gate is wrong: false alarms on two samples of one model, and regressions of the margin's size found.

    python bench/gate.py [--repeats 1000]

The rows are as many as the gate itself asks for: so many that a regression of the margin is to be found, and a model
as good as its reference to be passed, four times in five. Every repeat draws a new model's rows and a new reference.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np

import assay
from assay.assess.assessment import Assessment
from assay.assess.decide.references import Paired
from assay.inference.intervals.proportion import normal_quantile
from assay.inference.power import POWER
from assay.tally.census import Census
from assay.tally.paired.joint_cells import PairedLabels
from assay.tasks.classification import CLASSIFICATION
from assay.tasks.classification.settings import Settings
from assay.tasks.classification.tally import Classified

SEED = 4213
RECALL, SPECIFICITY = 0.9, 0.92


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What is asked, of how many rows, and how many of them the two models answer differently by themselves."""

    name: str
    criteria: tuple[str, ...]
    margin: float
    positives: int
    paired: bool = False


def rows_for(margin: float, family: int, *, matched: bool = False) -> int:
    """Rows of one class on each side by the textbook formula, at the strictest level of Holm.

    Unpaired: the variances of both shares where one is worse by the margin. Paired: 6 in 100 rows are disputed, and
    7.09 in 100 is what the score test fits to them under a loss of the margin (Nam 1997).
    """
    a, b = normal_quantile(1 - 0.025 / family), normal_quantile(POWER)
    apart = RECALL * (1 - RECALL) + (RECALL - margin) * (1 - RECALL + margin)
    null, other = (0.0709, 0.06) if matched else (apart, apart)
    return int(np.ceil((a * np.sqrt(null) + b * np.sqrt(other)) ** 2 / margin**2))


def unpaired(rng: np.random.Generator, setting: Setting, loss: float) -> str:
    """The verdict on a sample of the new model against a sample of the reference."""
    n, samples = setting.positives, []
    for recall, specificity in ((RECALL - loss, SPECIFICITY - loss), (RECALL, SPECIFICITY)):
        tp, tn = rng.binomial(n, recall), rng.binomial(n, specificity)
        cells = [[int(tn), int(n - tn)], [int(n - tp), int(tp)]]
        samples.append(
            assay.from_confusion_matrix(confusion=cells, orientation="rows=truth", labels=[0, 1], measures=["recall"])
        )
    new, reference = samples
    return str(new.accept(*setting.criteria, against=reference).decisions.verdict)


def paired(rng: np.random.Generator, setting: Setting, loss: float) -> str:
    """The verdict where both answer the same rows, of which 6 in 100 are disputed by chance alone."""
    n, cells = setting.positives, {}
    for truth, share in ((1, RECALL), (0, SPECIFICITY)):
        only_new, only_old = 0.03 - loss / 2, 0.03 + loss / 2
        both = share - only_old
        drawn = rng.multinomial(n, [both, only_new, only_old, 1 - both - only_new - only_old]).tolist()
        for (new, old), count in zip(((1, 1), (1, 0), (0, 1), (0, 0)), drawn, strict=True):
            cells[truth, truth if new else 1 - truth, truth if old else 1 - truth] = count
    tally = PairedLabels.from_cells(cells, models=("new", "reference"), labels=(0, 1))
    new = Assessment(
        CLASSIFICATION,
        Classified(confusion=tally.confusion("new"), positive=1),
        Settings(),
        census=Census(read=tally.n, scored=tally.n),
        found_in={"python": ""},
    )
    return str(new.accept(*setting.criteria, against=Paired(tally=tally, positive=1)).decisions.verdict)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=1000)
    repeats = parser.parse_args().repeats
    one, two = (
        ("recall non-inferior margin 0.03",),
        tuple(f"{m} non-inferior margin 0.03" for m in ("recall", "specificity")),
    )
    settings = [
        Setting(name="unpaired, recall", criteria=one, margin=0.03, positives=rows_for(0.03, 1)),
        Setting(name="unpaired, recall and specificity", criteria=two, margin=0.03, positives=rows_for(0.03, 2)),
        Setting(name="paired, recall", criteria=one, margin=0.03, positives=rows_for(0.03, 1, matched=True), paired=True),
        Setting(
            name="paired, recall and specificity", criteria=two, margin=0.03,
            positives=rows_for(0.03, 2, matched=True), paired=True,
        ),
    ]  # fmt: skip
    print(f"{repeats:,} repeats; recall {RECALL}, specificity {SPECIFICITY}, margin 0.03; verdicts in per cent")
    print(
        "| gate | rows of each class | same model: false alarm | pass | open | worse by the margin: found | open | false pass | s |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for place, setting in enumerate(settings):
        start, cells = time.perf_counter(), []
        for loss in (0.0, setting.margin):
            rng = np.random.default_rng([SEED, place, int(loss * 1000)])
            drawn = [(paired if setting.paired else unpaired)(rng, setting, loss) for _ in range(repeats)]
            share = {word: 100 * drawn.count(word) / repeats for word in ("fail", "pass", "inconclusive")}
            order = ("fail", "pass", "inconclusive") if not loss else ("fail", "inconclusive", "pass")
            cells += [f"{share[word]:.1f}" for word in order]
        print(
            f"| {setting.name} | {setting.positives:,} | {' | '.join(cells)} | {time.perf_counter() - start:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
