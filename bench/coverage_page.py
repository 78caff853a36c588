# SPDX-License-Identifier: Apache-2.0
"""The page docs/why/coverage.md, written from the figures of `bench/coverage.py`."""

from __future__ import annotations

import datetime as dt
import platform
from collections import defaultdict

import numpy as np
from scipy.stats import binom

LOW, HIGH, SMALL = 93.0, 97.0, 50
PEERS = ("percentile", "bca", "delta", "takahashi", "wald", "dirichlet + 1/2")
DISTANCE = "total_variation"
Cell = tuple[int, str, int, str]

INTRO = """\
# How often the intervals cover the truth

A 95 % interval should hold the true value 95 times in 100.
Whether it does was measured, not assumed: tables were drawn from truths we know, every interval was computed, and the hits were counted.
The same was done for the ways other tools take, on the same tables.

## What the defaults are

| value | interval | why |
|---|---|---|
| a share | Wilson; Clopper-Pearson below 4 rows | with 1 to 3 rows Wilson covers some shares only 79 to 83 times in 100 |
| F1 | Wilson of the Jaccard index J, as 2J / (1 + J) | J is a share of the rows that are or were called positive, so F1 and J agree at both ends |
| positive likelihood ratio | Koopman's score | draws cover it only 92 times in 100 when few false positives are seen |
| other values of two classes, or of one class against the rest | Dirichlet draws with 1/2 added to each of the four cells | percentile, BCa and delta fall to 20 to 60 % when one class is rare |
| values of three classes and more | Dirichlet draws with one right and one wrong row of random weight, freed from bias and widened for small classes | 1/2 in each of K x K cells drowns the table; percentile, BCa and delta collapse when few errors are seen |
| ratios of three classes and more | the same draws, without the correction | the mean of a ratio need not exist, so its bias is not a guide |
| distances between class shares | the same draws; the end near no distance is that part of the differences which chance does not explain | chance drives the shares of many classes apart, and draws of a distance never touch zero |

For three classes and more the draws vary around the value of the table with the two added rows.
Their mean differs from that value by a bias, which the estimate has too, so it is taken off twice.
In a class of m rows the draws vary only (m - 1) / (m + 1) as much as the estimate does; m is measured for each measure by how it answers to one more row.
A table without a single error therefore still gets an interval with a width, and no draw is ever undefined.

## How it was measured
"""

PEER_NOTES = """\
The peers' ways are the percentile bootstrap on rows, which is the same as drawing the cells from a multinomial; BCa on the same draws, undefined draws left out; the delta method; for F1 and macro-F1 the formulas that the package `confidenceinterval` 1.0.5 ships under the name Takahashi; for accuracy the interval of Wald; and a Dirichlet with 1/2 in each of K x K cells.
A table in which a value is undefined gives no interval; such tables are left out and their share is shown.
An infinite value counts like any other, with an interval that is open above; the mean width is that of the closed ones.
A method that gives no interval where there is a value misses.
"""


def page(kept: dict) -> str:
    """The whole page."""
    cells = gathered(kept["figures"])
    parts = [INTRO, measured(kept["figures"]), PEER_NOTES, summary(cells), outside(cells), beaten(cells)]
    return "\n".join([*parts, steady(kept["steadiness"]), every(cells)]).rstrip() + "\n"


def gathered(figures: list[dict]) -> dict[Cell, dict[str, dict]]:
    """Figures by cell, then by method."""
    cells: dict[Cell, dict[str, dict]] = defaultdict(dict)
    for one in sorted(figures, key=lambda f: (f["k"], f["n"], f["truth"])):
        cells[one["k"], one["truth"], one["n"], one["measure"]][one["method"]] = one
    return dict(cells)


def measured(figures: list[dict]) -> str:
    """How many tables, by what command, when, with what."""
    from importlib.metadata import version

    tools = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy"))
    sizes: dict[tuple[int, int], set[int]] = defaultdict(set)
    for f in figures:
        if f["tables"]:
            sizes[f["k"], f["tables"]].add(f["n"])
    lines = [
        "```sh",
        "python bench/coverage.py",
        "```",
        "",
        f"Written on {dt.datetime.now(dt.UTC):%Y-%m-%d} with Python {platform.python_version()}, {tools}.",
        "Seeds are fixed; the figures can be had again to the last digit, with the numbers of tables below: `--tables` is multiplied by 4 for 2 classes and divided by 3 for 50.",
        "",
        "| classes | truths | tables for each truth and number of rows | simulation error of a coverage of 95 % |",
        "|---|---|---|---|",
        "| any, for accuracy | all | every number of right rows, by its chance | none |",
        "| 2, up to 50 rows | 12 | all that a truth gives with a chance above 1e-9 | none |",
    ]
    for (k, tables), rows in sorted(sizes.items()):
        truths = len({f["truth"] for f in figures if f["k"] == k})
        error = 100 * np.sqrt(0.95 * 0.05 / tables)
        which = f", {' or '.join(f'{n:,}' for n in sorted(rows))} rows"
        lines.append(f"| {k}{which} | {truths} | {tables:,} | {error:.1f} points |")
    lines += [
        "",
        "The truths of two classes are all pairs of a prevalence (0.02, 0.1, 0.3, 0.5) and a recall with a specificity (0.95 and 0.98, 0.8 and 0.9, 0.6 and 0.7).",
        "Those of more classes have equal shares or shares that fall as 1/rank; classes come in pairs that take 70 % of each other's errors; recalls differ by class around the stated one, or fall from 0.95 to 0.6 as classes get rarer.",
    ]
    return "\n".join(lines) + "\n"


def inside(figure: dict | None) -> bool:
    """Whether a coverage lies in the band."""
    return figure is not None and LOW <= figure.get("coverage", 0) <= HIGH


def counted(cells: dict[Cell, dict[str, dict]]) -> dict[Cell, dict[str, dict]]:
    """The cells that the goal speaks of: 50 rows or more, and a value in some table."""
    return {cell: by for cell, by in cells.items() if cell[2] >= SMALL and "coverage" in by.get("ours", {})}


def summary(cells: dict[Cell, dict[str, dict]]) -> str:
    """Lowest and highest coverage, and how many cells lie in the band, by measure and method."""
    lines = [
        f"## In short: {SMALL} rows and more",
        "",
        f"Each entry is the lowest and the highest coverage over all truths and sizes, and how many of them lie between {LOW:g} and {HIGH:g} %.",
    ]
    for k in sorted({cell[0] for cell in cells}):
        those = {cell: by for cell, by in counted(cells).items() if cell[0] == k}
        methods = [m for m in ("ours", *PEERS) if any(m in by for by in those.values())]
        lines += [
            "",
            f"### {k} classes",
            "",
            "| measure | " + " | ".join(methods) + " |",
            "|---" * (len(methods) + 1) + "|",
        ]
        for measure in dict.fromkeys(cell[3] for cell in those):
            row = [measure]
            for method in methods:
                found = [by[method]["coverage"] for cell, by in those.items() if cell[3] == measure and method in by]
                good = sum(LOW <= x <= HIGH for x in found)
                row.append(f"{min(found):.1f} to {max(found):.1f}, {good} of {len(found)}" if found else "")
            lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def error_of(figure: dict) -> float:
    """The simulation error of a coverage of 95 %, in points."""
    seen = (figure["tables"] or 0) * (100 - figure["undefined"]) / 100
    return 100 * float(np.sqrt(0.95 * 0.05 / seen)) if seen else 0.0


def reason(cell: Cell, figure: dict) -> str:
    """Why a coverage leaves the band."""
    from coverage_truths import truths

    k, name, n, measure = cell
    cells = next(t.cells for t in truths(k) if t.name == name)
    rarest, wrong = n * min(cells.sum(axis=0).min(), cells.sum(axis=1).min()), n * (1 - np.trace(cells))
    over = max(LOW - figure["coverage"], figure["coverage"] - HIGH)
    if measure == "accuracy":
        steps = "right rows are a whole number, and coverage jumps from one to the next"
        return steps if reachable(n, np.trace(cells)) else f"{steps}: no interval at all has a coverage inside"
    if over <= 2 * error_of(figure):
        return "within twice the simulation error"
    if measure == DISTANCE:
        above = "the interval reaches it, and is on the safe side"
        below = "what chance adds in each of many classes is more than the draws tell"
        return f"a distance near its best end: {above if figure['coverage'] > HIGH else below}"
    if figure["undefined"] > 5:
        return f"{figure['undefined']:.0f} % of the tables have no value; those that have one are not a fair sample"
    few = f"about {rarest:.1f} rows of the rarest class" if rarest < 10 else f"about {wrong:.1f} wrong rows"
    if min(rarest, wrong) < 10:
        return f"{few}: few tables are likely, and coverage jumps between them"
    return f"about {rarest:.0f} rows of the rarest class and {wrong:.0f} wrong ones"


def reachable(n: int, share: float) -> bool:
    """Whether some run of neighbouring counts has a chance inside the band.

    The counts whose interval holds the share are such a run for every method whose bounds grow with the count.
    """
    sums = np.r_[0.0, binom.cdf(np.arange(n + 1), n, share)]
    chances = 100 * (sums[np.newaxis, :] - sums[:, np.newaxis])
    return bool(((chances >= LOW) & (chances <= HIGH)).any())


def shown(figure: dict | None) -> str:
    """A coverage as it is printed; bold outside the band."""
    if figure is None or "coverage" not in figure:
        return ""
    text = f"{figure['coverage']:.1f}"
    return text if inside(figure) else f"**{text}**"


def outside(cells: dict[Cell, dict[str, dict]]) -> str:
    """Every cell of ours that leaves the band."""
    bad = {cell: by for cell, by in counted(cells).items() if not inside(by["ours"])}
    below = {cell: by for cell, by in bad.items() if by["ours"]["coverage"] < LOW}
    lines = [
        "## Where our default leaves 93 to 97 %",
        "",
        f"That is so in {len(bad)} of {len(counted(cells))} cells with {SMALL} rows and more; in {len(bad) - len(below)} of them the interval covers too often, which is the safe side.",
        "The cells below 93 %:",
        "",
        "| classes | truth | rows | measure | coverage | best peer | why |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [row(cell, by) for cell, by in sorted(below.items(), key=lambda c: c[1]["ours"]["coverage"])]
    lines += [
        "",
        "The cells above 97 %:",
        "",
        "| classes | truth | rows | measure | coverage | best peer | why |",
        "|---|---|---|---|---|---|---|",
    ]
    above = [(cell, by) for cell, by in bad.items() if cell not in below]
    lines += [row(cell, by) for cell, by in sorted(above, key=lambda c: -c[1]["ours"]["coverage"])]
    return "\n".join(lines) + "\n"


def row(cell: Cell, by: dict[str, dict]) -> str:
    """One line of a list of cells."""
    k, truth, n, measure = cell
    peers = {m: by[m] for m in PEERS if m in by}
    best = min(peers, key=lambda m: abs(peers[m]["coverage"] - 95))
    told = f"{peers[best]['coverage']:.1f} ({best})"
    return f"| {k} | {truth} | {n} | {measure} | {by['ours']['coverage']:.1f} | {told} | {reason(cell, by['ours'])} |"


def beaten(cells: dict[Cell, dict[str, dict]]) -> str:
    """Where a peer lies in the band and we do not, and the other way round."""
    those = counted(cells)
    lines = [
        "## Beside each peer",
        "",
        "| peer | cells | both inside | only ours | only the peer's | neither |",
        "|---|---|---|---|---|---|",
    ]
    for peer in PEERS:
        pairs = [(inside(by["ours"]), inside(by[peer])) for by in those.values() if peer in by]
        both, ours, theirs = pairs.count((True, True)), pairs.count((True, False)), pairs.count((False, True))
        lines.append(f"| {peer} | {len(pairs)} | {both} | {ours} | {theirs} | {len(pairs) - both - ours - theirs} |")
    return "\n".join(lines) + "\n"


def steady(found: list[dict]) -> str:
    """The Monte Carlo error of the bounds."""
    if not found:
        return ""
    errors, draws = np.array([f["error"] for f in found]), np.array([f["draws"] for f in found])
    worst = sorted(found, key=lambda f: -f["error"])[:8]
    lines = [
        "## How steady the bounds are",
        "",
        "Draws start at 2,000, and are taken up to 8,000 and 48,000 while the Monte Carlo error of a bound is above 2 % of the width.",
        f"With {len(found)} pairs of a table and a measure, each drawn with many seeds, the standard deviation of the worse bound was {errors.mean():.1f} % of the width on average and {errors.max():.1f} % at most, with {draws.mean():,.0f} draws on average.",
        f"Of the pairs, {100 * (errors <= 2).mean():.0f} % lie at or below 2 %; the standard deviation itself is known to about a tenth.",
        "",
        "| classes | rows | truth | measure | error, % of the width | draws |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {f['k']} | {f['n']} | {f['truth']} | {f['measure']} | {f['error']:.2f} | {f['draws']:,} |" for f in worst
    ]
    return "\n".join(lines) + "\n"


def every(cells: dict[Cell, dict[str, dict]]) -> str:
    """All figures."""
    lines = [
        "## All figures",
        "",
        "Coverage in percent, bold outside 93 to 97; for ours also how often the truth lies left and right of the interval, and the mean width.",
        "The columns after it are the coverages of the peers, and the share of tables without a value.",
    ]
    for k in sorted({cell[0] for cell in cells}):
        for measure in dict.fromkeys(cell[3] for cell in cells if cell[0] == k):
            those = {cell: by for cell, by in cells.items() if cell[0] == k and cell[3] == measure}
            peers = [m for m in PEERS if any(m in by for by in those.values())]
            lines += ["", f"### {measure}, {k} classes", ""]
            lines += [
                "| truth | rows | ours | left | right | width | " + " | ".join(peers) + " | no value |",
                "|---" * (7 + len(peers)) + "|",
            ]
            for (_, truth, n, _), by in those.items():
                ours = by["ours"]
                if "coverage" not in ours:
                    lines.append(f"| {truth} | {n} |" + " |" * (4 + len(peers)) + " 100.0 |")
                    continue
                own = f"{shown(ours)} | {ours['left']:.1f} | {ours['right']:.1f} | {ours.get('width', np.inf):.3g}"
                others = " | ".join(shown(by.get(m)) for m in peers)
                lines.append(f"| {truth} | {n} | {own} | {others} | {max(ours['undefined'], 0):.1f} |")
    return "\n".join(lines) + "\n"
