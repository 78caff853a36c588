# SPDX-License-Identifier: Apache-2.0
"""Options that several commands share: which rows are read and how, and what is computed from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click


def _with_options(command: Callable[..., Any], options: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command


_SHOW_IDS = click.option("--show-ids", is_flag=True, help="Show ids in errors as they are, not as hashes.")


def _exact_scores(text: str) -> Callable[..., Any]:
    return click.option("--exact-scores", metavar="NUMBER", type=int, default=4_000_000, show_default=True, help=text)


_EXACT_SCORES = _exact_scores("Distinct scores up to which they are counted one by one; beyond, rounded to 13 bits.")
_COMPARED_SCORES = _exact_scores(
    "Distinct scores, and rows of subjects or with weights, up to which they are compared one by one; beyond,"
    " scores are rounded to 9 bits, and labels come as sums over the units."
)

_MACHINE = (
    click.option(
        "--memory", metavar="SIZE", help="Memory the embedded engine may use, such as 1GB; it spills to disk beyond."
    ),
    click.option("--threads", type=int, help="Threads the embedded engine may use."),
    click.option("--temp", type=click.Path(), help="Folder the embedded engine may spill to, if not the system's own."),
    click.option(
        "--engine",
        metavar="ENGINE",
        help="Who reads the file: duckdb, spark://HOST:PORT, sc://HOST:PORT [default: duckdb]",
    ),
)

_COSTS = (
    click.option(
        "--cost",
        "cost",
        metavar="TRUTH PREDICTED NUMBER",
        type=(str, str, float),
        multiple=True,
        help="What it costs to call a class another; state every pair of different classes, and mean_cost is given.",
    ),
    click.option(
        "--costs",
        type=click.Path(),
        metavar="FILE",
        help="The same in a file: a square table (.csv, truth to the left, predicted above), a list with the columns"
        " truth,predicted,cost, or .json.",
    ),
)

_TRUTH_FILE = click.option(
    "--truth-file",
    "truth_files",
    metavar="FILE",
    multiple=True,
    type=click.Path(),
    help="Where the true labels are, if not beside the predictions; a folder or pattern too, repeatable.",
)
_UNMATCHED = click.option(
    "--unmatched", default="error", show_default=True, help="Rows whose id is on one side only: error or count."
)
_TRUTH_SELECTED = (
    click.option("--truth-table", metavar="NAME", help="The same for --truth-file, if that is a database."),
    click.option("--truth-query", metavar="SQL", help="Or one SELECT on it."),
)

_ROWS = (
    click.option("--truth", metavar="COLUMN", help="Column with the true labels."),
    click.option("--predicted", metavar="COLUMN", help="Column with the predicted labels."),
    _TRUTH_FILE,
    click.option(
        "--id",
        "ids",
        metavar="COLUMN",
        multiple=True,
        help="Column that names a row, to join truth and predictions by; repeat it if several do together.",
    ),
    _UNMATCHED,
    click.option(
        "--score",
        "score",
        metavar="[LABEL=]COLUMN",
        multiple=True,
        help="Column with the scores of the positive class; or one for each class: repeat LABEL=COLUMN, or COLUMN where"
        " the columns are named after the classes (label or prefix_label).",
    ),
    click.option(
        "--scores",
        metavar="KIND",
        default="any",
        show_default=True,
        help="What the scores are: probability, logit (log-odds, or before a softmax: probabilities come from them"
        " where needed), any. Calibration is measured on probabilities only.",
    ),
    click.option(
        "--threshold",
        metavar="NUMBER|RULE",
        help="Call a row positive when its score is at or above this number, if --predicted is not given;"
        " or a rule that chooses it on the rows of --threshold-from.",
    ),
    click.option(
        "--threshold-from",
        type=click.Path(),
        metavar="FILE",
        help="Rows the threshold is chosen on, with the same columns: validation rows, not these.",
    ),
    click.option(
        "--accept-optimistic-threshold",
        is_flag=True,
        help="Choose the threshold on the very rows it is judged on; every output marks it as optimistic.",
    ),
    click.option(
        "--operating-point",
        "operating_points",
        metavar="NUMBER",
        type=float,
        multiple=True,
        help="Also list TP, FP, FN and TN at this threshold; repeatable.",
    ),
    _EXACT_SCORES,
    click.option(
        "--missing-score",
        metavar="CHOICE",
        help="Rows without a score: error, drop, or worst, which ranks them below all others and counts them"
        " [default: as --missing]",
    ),
    click.option(
        "--renormalise",
        is_flag=True,
        help="Divide the probabilities of a row by their sum where that is not 1; the rows are counted.",
    ),
    click.option("--positive", metavar="LABEL", help="The positive class, if there are two."),
    click.option(
        "--label", "labels", metavar="LABEL", multiple=True, help="Declare a class; repeat for each, in order."
    ),
    click.option(
        "--group", "groups", metavar="COLUMN", multiple=True, help="Also assess each level of this column; repeatable."
    ),
    click.option(
        "--unit",
        "--subject",
        "unit",
        metavar="COLUMN",
        help="Column with what a row belongs to, such as a patient: units vary by chance, not their rows.",
    ),
    click.option("--weight", metavar="COLUMN", help="Column with row weights."),
    click.option(
        "--weight-quantum",
        metavar="NUMBER",
        type=float,
        help="Power of two that weights are multiples of; stated alike, the tallies of sites merge to the last bit.",
    ),
    click.option(
        "--measure", "measures", metavar="NAME", multiple=True, help="Only these measures or families; repeatable."
    ),
    *_COSTS,
    click.option("--level", default=0.95, show_default=True, help="Confidence level of the intervals."),
    click.option("--missing", default="error", show_default=True, help="Rows without a label: error or drop."),
    click.option(
        "--unknown", default="error", show_default=True, help="Predicted labels that are no class: error or own."
    ),
    click.option(
        "--undefined",
        default="propagate",
        show_default=True,
        help="Undefined classes in averages: propagate, skip, zero, one.",
    ),
    click.option(
        "--shares", default="wilson", show_default=True, help="Interval of shares: wilson, clopper-pearson, jeffreys."
    ),
    click.option(
        "--cells",
        default="auto",
        show_default=True,
        help="Interval of the rest: auto, dirichlet, bca, percentile, delta.",
    ),
    click.option("--seed", default=4213, show_default=True, help="Seed of the draws."),
    click.option("--delimiter", help="Field delimiter of a text file, if it cannot be seen from the header."),
    click.option("--decimal", default=".", show_default=True, help="Decimal mark of numbers in a text file."),
    click.option("--max-rows", type=int, help="Refuse files with more rows."),
    click.option(
        "--sha256",
        metavar="[NAME=]DIGEST",
        multiple=True,
        help="Refuse a file with another digest; for several files repeat it, with the names in the Record.",
    ),
    click.option(
        "--digest/--no-digest", default=True, help="Whether to take the digest of what is read [default: take it]"
    ),
    _SHOW_IDS,
    click.option(
        "--table", metavar="NAME", help="Table or view of a database; schema.table where it is not the usual one."
    ),
    click.option("--query", metavar="SQL", help="One SELECT for a database to answer, in place of a table."),
    *_TRUTH_SELECTED,
    *_MACHINE,
)


def of_rows(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command every option about rows, in the order of the list."""
    return _with_options(command, _ROWS)


def typed(names: Iterable[str], free: Iterable[str] = ()) -> list[str]:
    """Those among some options that were written on the command line, as they are written there.

    Options about the machine, and those that are free, are left out.
    """
    context = click.get_current_context()
    spelled = {one.name: max(one.opts, key=len) for one in context.command.params}
    ours = {*free, "memory", "threads", "temp"}
    return [
        spelled[name]
        for name in names
        if name not in ours and context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]


_WRITTEN = (
    click.option(
        "--out",
        "-o",
        default="assay-out",
        show_default=True,
        type=click.Path(),
        help="Folder for record.json and report.html.",
    ),
    click.option(
        "--report",
        "reports",
        metavar="FILE",
        multiple=True,
        type=click.Path(),
        help="Also write this report, such as report.pdf; repeatable.",
    ),
)


def of_files(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options about what it writes."""
    return _with_options(command, _WRITTEN)


_MODELS = (
    click.option("--truth", metavar="COLUMN", help="Column with the true labels."),
    _TRUTH_FILE,
    click.option(
        "--predicted", metavar="COLUMN", multiple=True, help="Predictions; with one file NAME=COLUMN, repeated."
    ),
    click.option(
        "--score",
        metavar="COLUMN",
        multiple=True,
        help="Scores; with one file NAME=COLUMN, repeated. Of several classes LABEL=COLUMN, NAME=LABEL=COLUMN.",
    ),
    click.option(
        "--value",
        "values",
        metavar="COLUMN",
        multiple=True,
        help="Values of a measure instead of predictions; with one file NAME=COLUMN, repeated, or COLUMN with --model.",
    ),
    click.option("--model", metavar="COLUMN", help="Column that names the model of each value; one file only."),
    click.option(
        "--per",
        metavar="UNIT",
        default="item",
        show_default=True,
        help="What a value is of: item, data-set, fold or repeat (of one data set), 5x2, halves.",
    ),
    click.option("--folds", type=int, metavar="K", help="With --per fold: folds of one round."),
    click.option(
        "--test-over-train", metavar="RATIO", help="With --per repeat: rows of a test part over its training part, 1/4."
    ),
    click.option("--rows", type=int, default=0, metavar="N", help="With --per 5x2: rows of the data set."),
    click.option("--lower-is-better", is_flag=True, help="Of values: the lower, the better."),
    click.option(
        "--independent", is_flag=True, help="The models were tested on different rows or items; marked in every output."
    ),
    click.option("--variance", is_flag=True, help="Of values: compare their spread, not their size."),
    click.option("--control", metavar="NAME", help="Of values, or with --independent: compare all with this one only."),
    click.option(
        "--id",
        "ids",
        metavar="COLUMN",
        multiple=True,
        help="Column that tells the rows apart, to match by; of values repeat it if several do together.",
    ),
    click.option(
        "--by-position", is_flag=True, help="Files without ids: rows stand in the same order, truths must agree."
    ),
    _UNMATCHED,
    click.option("--positive", metavar="LABEL", help="The positive class, if there are two."),
    click.option(
        "--label", "labels", metavar="LABEL", multiple=True, help="Declare a class; repeat for each, in order."
    ),
    click.option("--channel", metavar="COLUMN", help="Column with the channel of each row; one file only."),
    click.option(
        "--subject", metavar="COLUMN", help="Column with whom a row is of: subjects are compared, not their rows."
    ),
    click.option("--weight", metavar="COLUMN", help="Column with row weights."),
    click.option("--measure", "measures", metavar="NAME", multiple=True, help="Also compare this measure; repeatable."),
    _COMPARED_SCORES,
    *_COSTS,
    click.option("--level", default=0.95, show_default=True, help="Confidence level; alpha is what is left to 1."),
    click.option("--correction", default="holm", show_default=True, help="holm, bonferroni, fdr_bh, fdr_by, sidak."),
    click.option("--margin", type=float, help="Largest difference that does not matter: asks whether A is not worse."),
    click.option("--equivalence", is_flag=True, help="With --margin: asks whether both are equal within it."),
    click.option("--test", metavar="NAME", help="Insist on a test; needs --because."),
    click.option("--because", metavar="TEXT", help="Why that test; stands in every output."),
    click.option("--override", is_flag=True, help="Insist on a test that is not admissible; marked in every output."),
    click.option(
        "--accept-dependence", is_flag=True, help="Insist on a rank test of folds; marked as anticonservative."
    ),
    click.option("--seed", default=4213, show_default=True, help="Seed of swaps and draws."),
    click.option("--draws", default=9999, show_default=True, help="How many swaps and draws are made."),
    click.option("--stratified", is_flag=True, help="Draw within classes, so that no draw loses one."),
    click.option("--delimiter", help="Field delimiter of a text file, if it cannot be seen from the header."),
    click.option("--decimal", default=".", show_default=True, help="Decimal mark of numbers in a text file."),
    _SHOW_IDS,
    click.option(
        "--table",
        "tables_of",
        metavar="[NAME=]TABLE",
        multiple=True,
        help="Table or view of a database; of one that holds a table a model NAME=TABLE, repeated.",
    ),
    click.option(
        "--query",
        "queries_of",
        metavar="[NAME=]SQL",
        multiple=True,
        help="One SELECT for a database to answer, in place of a table.",
    ),
    *_TRUTH_SELECTED,
    *_MACHINE,
)


def of_models(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command every option about models that are compared, in the order of the list."""
    return _with_options(command, _MODELS)


_FAIRNESS = (
    click.option(
        "--fairness",
        metavar="CRITERION",
        multiple=True,
        help='Judge a criterion between groups: equal_opportunity, equalized_odds, "gap(recall)", ...; repeatable.',
    ),
    click.option("--tolerance", type=float, metavar="NUMBER", help="Largest accepted gap of --fairness."),
    click.option("--min-group", type=int, default=10, show_default=True, help="Fewest rows a group is judged with."),
    click.option("--cross", metavar="A:B", multiple=True, help="Cross groups with each other: sex:age; repeatable."),
)

_DECISIONS = (
    click.option(
        "--accept",
        "accept",
        metavar="CRITERION",
        multiple=True,
        help='Decide a criterion, such as "recall >= 0.85", "recall{sex=f} >= 0.8", "f1[class=cat] >= 0.7 simple",'
        ' "recall non-inferior margin 0.02"; repeatable.',
    ),
    click.option(
        "--against",
        metavar="RECORD",
        type=click.Path(),
        help="The reference of non-inferior criteria: a record.json.",
    ),
    click.option(
        "--correction",
        default="holm",
        show_default=True,
        help="Of several criteria: holm keeps the chance of any wrong verdict, none takes each alone.",
    ),
)


def of_fairness(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options about gaps between groups."""
    return _with_options(command, _FAIRNESS)


def of_decisions(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options about criteria."""
    return _with_options(command, _DECISIONS)
