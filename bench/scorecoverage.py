# SPDX-License-Identifier: Apache-2.0
"""How often the intervals of score measures hold the true value, beside those of other tools.

    python bench/scorecoverage.py [--tables 1000] [--only auroc] [--json results.json]
    python bench/scorecoverage.py --page results.json ... > tables.md

Rank measures: scores of negatives are normal around 0, those of positives around a shift, with the spread of the
negatives or another one. Calibration: probabilities off by a logistic line. Beside ours stand DeLong's interval without
a scale, which is the default of R pROC, for AUROC, and the percentile bootstrap for every measure.
"""

from __future__ import annotations

import argparse
import json
import math
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from assay.core.values import Undefined
from assay.inference.estimates import Interval
from assay.inference.intervals.auc import delong_variance
from assay.inference.intervals.interval_choice import Wanted
from assay.inference.intervals.score_draws import ScoreDraws
from assay.inference.intervals.score_intervals import ScoreUncertainty
from assay.measures import parse
from assay.measures.declare import Measure
from assay.tally.scores.ranked_table import Ranked
from assay.tally.scores.score_tally import Scores

LEVEL = 0.95
GOAL = (93.5, 96.5)
DRAWS = 500
RANKS = ("auroc", "average_precision", "h_measure", "kolmogorov_smirnov", "lift_at(share=0.1)", "equal_error_rate")
LINES = (
    "expected_calibration_error",
    "adaptive_calibration_error",
    "calibration_slope",
    "calibration_intercept",
    "brier_score",
    "log_loss",
)
MANY = 2_000_000


@dataclass(frozen=True, slots=True)
class Setting:
    """Where tables come from: `first` and `second` are prevalence and shift, or intercept and slope of a line."""

    kind: str
    rows: int
    first: float
    second: float
    spread: float = 1.0

    @property
    def said(self) -> str:
        """As in a table."""
        if self.kind == "lines":
            return f"intercept {self.first:g}, slope {self.second:g}"
        wider = "" if self.spread == 1 else f", spread {self.spread:g}"
        return f"prevalence {self.first:g}, shift {self.second:g}{wider}"

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Scores and truth of one table."""
        if self.kind == "lines":
            q = expit(1.2 * rng.normal(size=self.rows) - 0.5)
            return q, rng.random(self.rows) < expit(self.first + self.second * logit(q))
        truth = rng.random(self.rows) < self.first
        return rng.normal(size=self.rows) * np.where(truth, self.spread, 1.0) + self.second * truth, truth

    def population(self, measure: Measure) -> float:
        """The value without chance: the expected table on a fine grid."""
        if self.kind == "lines":
            score = expit(1.2 * norm.ppf((np.arange(MANY) + 0.5) / MANY) - 0.5)
            pos = expit(self.first + self.second * logit(score))
            neg = 1 - pos
        else:
            reach = 7 * max(self.spread, 1.0)
            score = np.linspace(-reach, reach + self.second, 200_001)
            pos = self.first * np.diff(norm.cdf((score - self.second) / self.spread), append=1.0)
            neg = (1 - self.first) * np.diff(norm.cdf(score), append=1.0)
        return float(measure.values(Ranked(score=score, pos=pos[np.newaxis], neg=neg[np.newaxis]))[0])


EQUAL = [Setting("normals", n, share, d) for n in (100, 400) for share in (0.1, 0.3, 0.5) for d in (0.5, 1.5, 2.5)]
UNEQUAL = [
    Setting("normals", n, share, d, spread)
    for n in (100, 400)
    for share in (0.1, 0.5)
    for d, spread in ((1.5, 2.0), (1.2, 0.5))
]
LINE = [Setting("lines", n, a, b) for n in (100, 400) for a, b in ((0.0, 1.0), (0.0, 0.6), (0.0, 1.8), (0.7, 1.0))]


def delong(measure: Measure, table: Ranked, value: float) -> tuple[float, float]:
    """The interval of R pROC: value plus and minus quantiles of the normal, cut at 0 and 1; nothing for others."""
    if measure.name != "auroc":
        return math.nan, math.nan
    reach = norm.ppf((1 + LEVEL) / 2) * math.sqrt(delong_variance(table))
    return max(value - reach, 0.0), min(value + reach, 1.0)


def percentile(measure: Measure, table: Ranked) -> tuple[float, float]:
    """The percentile bootstrap of rows."""
    drawn = ScoreDraws(table, 1).values(measure, DRAWS)
    low, high = np.nanquantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def studied(name: str, setting: Setting, tables: int) -> dict[str, object]:
    """Coverage and mean width of the three intervals, and how many tables have one."""
    measure, wanted = parse(name), Wanted(draws=2 * DRAWS, level=LEVEL)
    rng = np.random.default_rng(zlib.crc32(repr((name, setting)).encode()))
    true, seen = setting.population(measure), 0
    held, widths = np.zeros(3), np.zeros(3)
    for _ in range(tables):
        scores, truth = setting.draw(rng)
        if not 2 <= truth.sum() <= setting.rows - 2:
            continue
        table = Scores.binary(scores, truth).one_vs_rest(1)
        value = measure(table)
        if isinstance(value, Undefined):
            continue
        found = ScoreUncertainty(table, wanted).interval(measure, value)
        if not isinstance(found, Interval):
            continue
        seen += 1
        ends = ((found.low, found.high), delong(measure, table, value.value), percentile(measure, table))
        held += [low <= true <= high for low, high in ends]
        widths += [high - low for low, high in ends]
    return {
        "measure": name,
        "rows": setting.rows,
        "setting": setting.said,
        "true": true,
        "tables": seen,
        "coverage": [None if np.isnan(w) else 100 * float(h) / seen for h, w in zip(held, widths, strict=True)],
        "width": [None if np.isnan(w) else float(w) / seen for w in widths],
    }


def shown(one: dict[str, object]) -> str:
    """One line of a table."""
    cells = []
    for covered, width in zip(one["coverage"], one["width"], strict=True):  # type: ignore[call-overload]
        inside = covered is not None and GOAL[0] <= covered <= GOAL[1]
        text = "" if covered is None else f"{covered:.1f}" if inside else f"**{covered:.1f}**"
        cells.append(text if covered is None else f"{text} ({width:.3f})")
    return f"| {one['measure']} | {one['rows']} | {one['setting']} | {one['true']:.3f} | " + " | ".join(cells) + " |"


HEAD = "| measure | rows | setting | true | ours | DeLong, as in pROC | percentile bootstrap |\n|---|---|---|---|---|---|---|"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--only", action="append")
    parser.add_argument("--json", type=Path, help="also write the results here, after every line")
    parser.add_argument("--page", nargs="*", type=Path, help="print tables of results that were written before")
    given = parser.parse_args()
    print(HEAD)
    if given.page:
        for path in given.page:
            print("\n".join(shown(one) for one in json.loads(path.read_text())))
        raise SystemExit
    results = []
    for names, settings in ((RANKS, [*EQUAL, *UNEQUAL]), (LINES, LINE)):
        for name in (one for one in names if not given.only or one in given.only):
            for setting in settings:
                results.append(studied(name, setting, given.tables))
                print(shown(results[-1]), flush=True)
                if given.json:
                    given.json.write_text(json.dumps(results, indent=1) + "\n")
