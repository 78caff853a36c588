# SPDX-License-Identifier: Apache-2.0
"""Options that several commands share: which rows are read and how, and what is computed from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from assay.app.option_types import flag, give_options, named_values, row, words
from assay.core.errors import PlanError
from assay.core.text import listed

if TYPE_CHECKING:
    from assay.rows.limits import Limits

QUIET = flag("--quiet -q", "Print nothing for people.")
_RECORD_JSON = flag("--json as_json", "Print the Record on standard output, and the summary on standard error.")
_SHOW_IDS = flag("--show-ids", "Show ids in errors as they are, not as hashes.")
_LEVEL = row("--level", "NUMBER", "Confidence level of the intervals.", type=float, default=0.95)
_SEED = row("--seed", "NUMBER", "Seed of the random draws.", type=int, default=4213)
_TRUTH = row("--truth", "COLUMN", "Column with the true labels.")
_TRUTH_FILE = row(
    "--truth-file truth_files", "FILE",
    "Where the true labels are, if not beside the predictions; a folder or pattern too, repeatable.", multiple=True,
)  # fmt: skip
_UNMATCHED = words("--unmatched", "error count", "Rows whose id is on one side only.", default="error")
_POSITIVE = row("--positive", "LABEL", "The positive class, if there are two.")
_LABELS = row("--label labels", "LABEL", "Declare a class; repeat for each, in order.", multiple=True)
_WEIGHT = row("--weight", "COLUMN", "Column with row weights.")
_EXACT: Final = {"type": int, "default": 4_000_000}
_COSTS = (
    row(
        "--cost", "TRUTH PREDICTED NUMBER",
        "What it costs to call a class another; state every pair of different classes, and mean_cost is given.",
        type=(str, str, float), multiple=True,
    ),
    row(
        "--costs", "FILE",
        "The same in a file: a square table (.csv, truth to the left, predicted above), a list with the columns"
        " truth,predicted,cost, or .json.",
    ),
)  # fmt: skip
_TEXT_FILES = (
    row("--delimiter", "TEXT", "Field delimiter of a text file, if it cannot be seen from the header."),
    row("--decimal", "TEXT", "Decimal mark of numbers in a text file.", default="."),
)
_TRUTH_SELECTED = (
    row("--truth-table", "NAME", "Table of --truth-file, if that is a database."),
    row("--truth-query", "SQL", "Or one SELECT on it."),
)
_MACHINE = (
    row("--memory", "SIZE", "Memory the embedded engine may use, such as 1GB; it spills to disk beyond."),
    row("--threads", "NUMBER", "Threads the embedded engine may use.", type=int),
    row("--temp", "FOLDER", "Folder the embedded engine may spill to, if not the system's own."),
    row("--engine", "ENGINE", "Who reads the file: duckdb, spark://HOST:PORT, sc://HOST:PORT [default: duckdb]"),
)

of_rows = give_options(
    {
        "Columns": (
            _TRUTH,
            row("--predicted", "COLUMN", "Column with the predicted labels."),
            _POSITIVE,
            _LABELS,
            row("--group groups", "COLUMN", "Also assess each level of this column; repeatable.", multiple=True),
            row(
                "--unit --subject unit", "COLUMN",
                "Column with what a row belongs to, such as a patient: units vary by chance, not their rows.",
            ),
            _WEIGHT,
            row(
                "--weight-quantum", "NUMBER",
                "Power of two that weights are multiples of; stated alike, the tallies of sites merge to the last bit.",
                type=float,
            ),
            _TRUTH_FILE,
            row(
                "--id ids", "COLUMN",
                "Column that names a row, to join truth and predictions by; repeat it if several do together.",
                multiple=True,
            ),
            _UNMATCHED,
            words("--missing", "error drop", "Rows without a label.", default="error"),
            words("--unknown", "error own", "Predicted labels that are not a class.", default="error"),
        ),
        "Scores": (
            row(
                "--score", "[LABEL=]COLUMN",
                "Column with the scores of the positive class; or one for each class: repeat LABEL=COLUMN, or COLUMN"
                " where the columns are named after the classes (label or prefix_label), or a quoted pattern: 'p_*'.",
                multiple=True,
            ),
            words(
                "--scores", "probability logit any",
                "What the scores are; logits are log-odds, or what stands before a softmax. Calibration is measured on"
                " probabilities only.",
                default="any",
            ),
            row(
                "--threshold", "NUMBER|RULE",
                "Call a row positive when its score is at or above this number, if --predicted is not given;"
                " or a rule that chooses it on the rows of --threshold-from.",
            ),
            row(
                "--threshold-from", "FILE",
                "Rows the threshold is chosen on, with the same columns: validation rows, not these.",
            ),
            flag(
                "--accept-optimistic-threshold",
                "Choose the threshold on the very rows it is judged on; every output marks it as optimistic.",
            ),
            row(
                "--operating-point operating_points", "NUMBER",
                "Also list TP, FP, FN and TN at this threshold; repeatable.", type=float, multiple=True,
            ),
            words(
                "--missing-score", "error drop worst",
                "Rows without a score; worst ranks them below all others and counts them [default: as --missing]",
            ),
            flag(
                "--renormalise",
                "Divide the probabilities of a row by their sum where that is not 1; the rows are counted.",
            ),
        ),
        "Measures": (
            row("--measure measures", "MEASURE", "Only these measures or families; repeatable.", multiple=True),
            *_COSTS,
            words(
                "--undefined", "propagate skip zero one", "Classes without a value in averages.", default="propagate"
            ),
        ),
        "Intervals": (
            _LEVEL,
            words("--shares", "wilson clopper-pearson jeffreys", "Interval of shares.", default="wilson"),
            words("--cells", "auto dirichlet bca percentile delta", "Interval of the rest.", default="auto"),
            _SEED,
        ),
        "Files": (
            *_TEXT_FILES,
            row("--table", "NAME", "Table or view of a database; schema.table where it is not the usual one."),
            row("--query", "SQL", "One SELECT for a database to answer, in place of a table."),
            *_TRUTH_SELECTED,
            row(
                "--sha256", "[NAME=]DIGEST",
                "Refuse a file with another digest; for several files repeat it, with the names in the Record.",
                multiple=True,
            ),
            flag("--digest/--no-digest", "Whether to take the digest of what is read [default: take it]", default=True),
            _SHOW_IDS,
        ),
        "Large data": (
            row("--max-rows", "NUMBER", "Refuse files with more rows.", type=int),
            row(
                "--exact-scores", "NUMBER",
                "Distinct scores up to which they are counted one by one; beyond, rounded to 13 bits.", **_EXACT,
            ),
            *_MACHINE,
        ),
    }
)  # fmt: skip
"""Give a command every option about rows."""

of_models = give_options(
    {
        "Columns": (
            _TRUTH,
            row("--predicted", "COLUMN", "Predictions; with one file NAME=COLUMN, repeated.", multiple=True),
            row(
                "--score", "COLUMN",
                "Scores; with one file NAME=COLUMN, repeated. Of several classes LABEL=COLUMN, NAME=LABEL=COLUMN.",
                multiple=True,
            ),
            _POSITIVE,
            _LABELS,
            row("--subject", "COLUMN", "Column with whom a row is of: subjects are compared, not their rows."),
            row("--channel", "COLUMN", "Column with the channel of each row; one file only."),
            _WEIGHT,
            _TRUTH_FILE,
            row(
                "--id ids", "COLUMN",
                "Column that tells the rows apart, to match by; of values repeat it if several do together.",
                multiple=True,
            ),
            flag("--by-position", "Files without ids: rows stand in the same order, truths must agree."),
            _UNMATCHED,
            flag(
                "--independent", "The models were tested on different rows or items; marked in every output."
            ),
        ),
        "Measures": (
            row("--measure measures", "MEASURE", "Also compare this measure; repeatable.", multiple=True),
            *_COSTS,
        ),
        "Models": (
            row(
                "--value values", "COLUMN",
                "Values of a measure instead of predictions; with one file NAME=COLUMN, repeated, or COLUMN with"
                " --model.",
                multiple=True,
            ),
            row("--model", "COLUMN", "Column that names the model of each value; one file only."),
            words("--per", "item data-set fold repeat 5x2 halves", "What a value is of.", default="item"),
            row("--folds", "K", "With --per fold: folds of one round.", type=int),
            row(
                "--test-over-train", "RATIO",
                "With --per repeat: rows of a test part over its training part, 1/4.",
            ),
            row("--rows", "N", "With --per 5x2: rows of the data set.", type=int, default=0),
            flag("--lower-is-better", "Of values: the lower, the better."),
            flag("--variance", "Of values: compare their spread, not their size."),
        ),
        "Tests": (
            row("--control", "NAME", "Of values, or with --independent: compare all with this one only."),
            words("--correction", "holm bonferroni fdr_bh fdr_by sidak", "Of several tests.", default="holm"),
            row(
                "--margin", "NUMBER", "Largest difference that does not matter: asks whether A is not worse.",
                type=float,
            ),
            flag("--equivalence", "With --margin: asks whether both are equal within it."),
            row("--test", "NAME", "Insist on a test; needs --because."),
            row("--because", "TEXT", "Why that test; stands in every output."),
            flag("--override", "Insist on a test that is not admissible; marked in every output."),
            flag("--accept-dependence", "Insist on a rank test of folds; marked as anticonservative."),
        ),
        "Intervals": (
            row("--level", "NUMBER", "Confidence level; alpha is what is left to 1.", type=float, default=0.95),
            _SEED,
            row("--draws", "NUMBER", "How many swaps and draws are made.", type=int, default=9999),
            flag("--stratified", "Draw within classes, so that no draw loses one."),
        ),
        "Files": (
            *_TEXT_FILES,
            row(
                "--table tables_of", "[NAME=]TABLE",
                "Table or view of a database; of one that holds a table a model NAME=TABLE, repeated.", multiple=True,
            ),
            row(
                "--query queries_of", "[NAME=]SQL", "One SELECT for a database to answer, in place of a table.",
                multiple=True,
            ),
            *_TRUTH_SELECTED,
            _SHOW_IDS,
        ),
        "Large data": (
            row(
                "--exact-scores", "NUMBER",
                "Distinct scores, and rows of subjects or with weights, up to which they are compared one by one;"
                " beyond, scores are rounded to 9 bits, and labels come as sums over the units.", **_EXACT,
            ),
            *_MACHINE,
        ),
    }
)  # fmt: skip
"""Give a command every option about models that are compared."""

of_decisions = give_options(
    {
        "Criteria": (
            row(
                "--accept", "CRITERION",
                'Decide a criterion, such as "recall >= 0.85", "recall{sex=f} >= 0.8", "f1[class=cat] >= 0.7 simple",'
                ' "recall non-inferior margin 0.02"; repeatable.',
                multiple=True,
            ),
            row("--against", "RECORD", "The reference of non-inferior criteria: a record.json.", type=click.Path()),
            words(
                "--correction", "holm none",
                "Of several criteria: holm keeps the chance of any wrong verdict, none takes each alone.",
                default="holm",
            ),
        )
    }
)  # fmt: skip
"""Give a command the options about criteria."""

of_fairness = give_options(
    {
        "Criteria": (
            row(
                "--fairness", "CRITERION",
                'Judge a criterion between groups: equal_opportunity, equalized_odds, "gap(recall)", ...; repeatable.',
                multiple=True, type=str,
            ),
            row("--tolerance", "NUMBER", "Largest accepted gap of --fairness.", type=float),
            row("--min-group", "NUMBER", "Fewest rows a group is judged with.", type=int, default=10),
            row("--cross", "A:B", "Cross groups with each other: sex:age; repeatable.", multiple=True, type=str),
        )
    }
)  # fmt: skip
"""Give a command the options about gaps between groups."""

of_plans = give_options(
    {
        "Criteria": (
            row(
                "--require", None, "Leave with 3 unless the plan conforms: at all, or also by declaration.",
                type=click.Choice(["conforming", "declared"]),
            ),
            flag("--ledger/--no-ledger", "Enter the run of a plan in its ledger [default: enter it]", default=True),
            flag("--allow-command", "Let the plan run the command that makes its predictions."),
        )
    }
)  # fmt: skip
"""Give a command the options about running a plan."""

of_output = give_options({"Output": (_RECORD_JSON, QUIET)})
"""Give a command the options about what it prints."""

of_files = give_options(
    {
        "Output": (
            row("--out -o", "FOLDER", "Folder for record.json and report.html.", default="assay-out"),
            row("--report reports", "FILE", "Also write this report, such as report.pdf; repeatable.", multiple=True),
            flag("--no-report bare", "Write record.json only."),
            _RECORD_JSON,
            flag("--json-short as_short", "Print the values of all rows, intervals and verdicts only, as JSON."),
            QUIET,
        )
    }
)
"""Give a command the options about what it writes and prints."""


def refuse_typed(names: Iterable[str], why: str, fix: str, free: Iterable[str] = ()) -> None:
    """Refuse options that were typed and would be passed over, because somebody relies on them.

    Options about the machine, and those that are free, are left out; `{}` in the reason stands for the options.
    """
    context = click.get_current_context()
    spelled = {one.name: max(one.opts, key=len) for one in context.command.params}
    ours = {*free, "memory", "threads", "temp"}
    typed = [
        spelled[name]
        for name in names
        if name not in ours and context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
    if typed:
        raise PlanError("role-clash", why.format(listed(typed)), found=", ".join(typed), fix=fix)


def door_arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Options that every task has as keywords of its door; the columns of crossed groups are groups, too."""
    from assay.assess.arguments import arrange

    for option, name in (("groups", "group"), ("labels", "labels"), ("measures", "measures")):
        given[name] = list(given.pop(option, None) or ()) or None
    if crossed := list(given.pop("cross", None) or ()):
        columns = [*(given["group"] or ()), *(part for name in crossed for part in name.split(":"))]
        given |= {"group": list(dict.fromkeys(columns)), "cross": crossed}
    given |= {"sha256": pins_of(given.pop("sha256", ())), "limits": limits_of(given)}
    return arrange(**given)


def limits_of(given: dict[str, Any]) -> Limits | None:
    """The limits among options, taken out of them."""
    from assay.rows.limits import Limits

    allowed = {name: given.pop(name, None) for name in ("memory", "threads", "temp")}
    return Limits(**allowed) if any(one is not None for one in allowed.values()) else None


def pins_of(given: str | Sequence[str] | None) -> str | dict[str, str] | None:
    """Digests as typed: one alone, or each with its file's name before it."""
    typed = [given] if isinstance(given, str) else list(given or ())
    if len(typed) == 1 and "=" not in typed[0]:
        return typed[0]
    return named_values(typed, "--sha256", "file", code="option-unknown") or None
