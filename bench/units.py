# SPDX-License-Identifier: Apache-2.0
"""How often intervals by unit cover the truth, beside those that take rows as independent; and what units cost.

python bench/units.py [--sets 200] [--units 20 50 200 500] [--measures accuracy f1_macro] [--alone] [--cost]

Each unit has an effect of its own on the scores of its rows; truth varies by row. The true values are those of a
million rows. Sizes are 10 rows each, or log-normal with a mean of about 9.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from tempfile import TemporaryDirectory

import numpy as np

import assay

MEASURES = ("accuracy", "recall", "f1", "matthews_corrcoef", "f1_macro", "auroc", "average_precision")
SCORED = ("auroc", "average_precision")


def draw(
    rng: np.random.Generator, units: int, *, unequal: bool, icc: float, shift: float = 1.7
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Rows of some units: truth, prediction, score, unit; `shift` is how far positives stand above negatives."""
    sizes = np.maximum(1, rng.lognormal(1.9, 0.8, units)).astype(int) if unequal else np.full(units, 10)
    unit = np.repeat(np.arange(units), sizes)
    spread = np.sqrt(icc / (1 - icc))
    truth = (rng.random(len(unit)) < 0.3).astype(int)
    score = rng.normal(size=len(unit)) + shift * truth + rng.normal(size=units)[unit] * spread
    return {"truth": truth, "predicted": (score > 1.0 + (shift - 1.7) / 2).astype(int), "score": score}, unit


def cover(sets: int, units: list[int], measures: list[str], *, alone: bool, shift: float) -> None:
    """Print coverage by setting and measure."""
    print(f"{'units':>6} {'sizes':>8} {'icc':>4}  " + "  ".join(f"{name[:17]:>17}" for name in measures), flush=True)
    columns = ["truth", "predicted", *(["score"] if set(measures) & set(SCORED) else [])]
    for icc in (0.1, 0.3):
        true = dict.fromkeys(measures, 0.0)
        for seed in range(4):
            rows, _ = draw(np.random.default_rng([99, seed]), 25_000, unequal=False, icc=icc, shift=shift)
            large = assay.assess(**{name: rows[name] for name in columns}, positive=1, measures=measures)
            true = {name: value + large[name].value / 4 for name, value in true.items()}
        for size in units:
            for unequal in (False, True):
                covered = {name: [0, 0, 0, 0] for name in measures}
                for seed in range(sets):
                    rng = np.random.default_rng([seed, size, unequal, int(icc * 10)])
                    rows, unit = draw(rng, size, unequal=unequal, icc=icc, shift=shift)
                    rows = {name: rows[name] for name in columns}
                    found = [assay.assess(**rows, positive=1, measures=measures, unit=unit)]
                    found += [assay.assess(**rows, positive=1, measures=measures)] if alone else []
                    for name in measures:
                        for place, one in enumerate(found):
                            if one[name].low is not None:
                                covered[name][place] += one[name].low <= true[name] <= one[name].high
                                covered[name][place + 2] += 1
                cells = []
                for own, other, n, m in covered.values():
                    beside = f" ({100 * other / max(m, 1):.1f})" if alone else ""
                    cells.append(f"{100 * own / max(n, 1):.1f}{beside}{'' if n == sets else f' of {n}'}")
                kind = "unequal" if unequal else "10"
                print(f"{size:>6} {kind:>8} {icc:>4}  " + "  ".join(f"{cell:>17}" for cell in cells), flush=True)


def seconds(*runs: Callable[[], object], times: int = 12) -> list[float]:
    """The least processor time of each run; they take turns, so that what else the machine does meets all of them."""
    least = [float("inf")] * len(runs)
    for _ in range(times):
        for place, run in enumerate(runs):
            start = time.process_time()
            run()
            least[place] = min(least[place], time.process_time() - start)
    return least


def cost(rows: int = 1_000_000, units: int = 10_000) -> None:
    """Print processor time with and without units, beside a bare group-by of the same rows in the same run.

    The group-by of a file is what a second one costs in an engine that was opened for a first one without units.
    """
    import duckdb
    import pandas as pd

    rng = np.random.default_rng(1)
    unit, truth = rng.integers(0, units, rows), rng.integers(0, 2, rows)
    predicted = np.where(rng.random(rows) < 0.85, truth, 1 - truth)
    columns = {"truth": truth, "predicted": predicted, "unit": unit}
    text = {
        "truth": np.where(truth == 1, "yes", "no"),
        "predicted": np.where(predicted == 1, "yes", "no"),
        "unit": np.array([f"p{number:05d}" for number in range(units)])[unit],
    }
    few, many = rng.integers(0, 1000, rows) / 1000 + 0.3 * truth, rng.normal(size=rows) + truth
    scored = {"measures": ["accuracy", "auroc"]}

    def group(table: dict[str, np.ndarray]) -> Callable[[], object]:
        return lambda: pd.DataFrame(table).groupby(list(table)).size()

    def ask(path: str, *keys: str) -> Callable[[], object]:
        def run() -> None:
            with duckdb.connect() as engine:
                for key in keys:
                    engine.execute(f"SELECT {key}, count(*) FROM '{path}' GROUP BY ALL").fetchnumpy()  # noqa: S608

        return run

    with TemporaryDirectory() as folder:
        cases: dict[str, tuple[dict[str, object], list[Callable[[], object]]]] = {
            "whole numbers, NumPy": (
                columns, [lambda: np.unique(unit * 4 + truth * 2 + predicted, return_counts=True)]
            ),
            "whole numbers, pandas": (columns, [group(columns)]),
            "units as text, pandas": (columns | {"unit": text["unit"]}, [group(columns | {"unit": text["unit"]})]),
            "all as text, pandas": (text, [group(text)]),
            "1,300 scores, pandas": (columns | {"score": few} | scored, [group(columns | {"score": few})]),
            "1,000,000 scores, pandas": (columns | {"score": many} | scored, [group(columns | {"score": many})]),
        }  # fmt: skip
        for name, table in (("whole numbers", columns), ("text", text)):
            path = f"{folder}/{name}.parquet"
            pd.DataFrame(table).to_parquet(path)
            given = {"data": path, **{column: column for column in table}}
            pair = "truth, predicted"
            cases[f"Parquet, {name}, DuckDB"] = given, [ask(path, pair, f"unit, {pair}"), ask(path, pair)]

        for name, (given, bare) in cases.items():
            table = {"positive": "yes" if "text" in name and "units" not in name else 1, **given}
            alone = {column: values for column, values in table.items() if column != "unit"}
            for whole in (False, True):

                def assessed(given: dict[str, object], whole: bool = whole) -> None:  # noqa: FBT001
                    a = assay.assess(**given)  # type: ignore[arg-type]
                    dict(a.record if whole else {})

                plain, by_unit, group_by, *without = seconds(partial(assessed, alone), partial(assessed, table), *bare)
                group_by -= sum(without)
                part = "assess and Record" if whole else "assess"
                spare = 1.03 * plain + group_by - by_unit
                print(
                    f"{name}: {part} {plain:.3f} s, by unit {by_unit:.3f} s, group-by {group_by:.3f} s; "
                    f"{abs(spare):.3f} s {'within' if spare >= 0 else 'above'} 1.03 x + group-by",
                    flush=True,
                )


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--units", type=int, nargs="+", default=[20, 50, 200, 500])
    parser.add_argument("--measures", nargs="+", default=list(MEASURES))
    parser.add_argument("--shift", type=float, default=1.7, help="3.4 makes 5 to 7 %% errors, 1.7 about 20 %%")
    parser.add_argument("--alone", action="store_true", help="beside the intervals of independent rows")
    parser.add_argument("--cost", action="store_true", help="processor time instead of coverage")
    asked = parser.parse_args()
    if asked.cost:
        cost()
    else:
        cover(asked.sets, asked.units, asked.measures, alone=asked.alone, shift=asked.shift)


if __name__ == "__main__":
    main()
