# SPDX-License-Identifier: Apache-2.0
"""Comparing models from the command line: one file a model, or one file with a column a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from assay.app.option_types import Input, named_values
from assay.app.options import limits_of, of_files, of_models, refuse_typed
from assay.app.task_commands import TASK, TaskCommand, compare_by_task, of_task
from assay.core.errors import PlanError
from assay.core.text import listed

if TYPE_CHECKING:
    from assay.assess.compare.comparison import Comparison
    from assay.assess.record.report_formats import Result


@click.command(cls=TaskCommand)
@click.argument("tables", type=Input(), nargs=-1, required=True, metavar="A B ...")
@of_task
@of_models
@of_files
def compare(tables: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401  options by name
    """Compare models on the same test data: one file a model, matched by --id, or one file with a column a model.

    \b
    Predictions:  assay compare old.csv new.csv --truth y --predicted p --id case --positive ill
    Values:       assay compare folds.csv --value A=acc_a --value B=acc_b --per fold --folds 10
                  assay compare runs.csv --value auc --model model --id dataset --per data-set
    """  # noqa: D301  click reads the backspace as: keep these lines
    from assay.app.commands.report_command import Output

    output = Output.taken_from(given)
    task = click.get_current_context().meta.get(TASK)
    given.pop("task", None)
    comparison: Result = (
        compare_files(tables, **given) if task is None else compare_by_task(task, tables, quiet=output.quiet, **given)
    )
    output.finish({"": comparison}, "assay tests   # what every test asks, and when it must not be used")


def compare_files(tables: Sequence[str], **given: Any) -> Comparison:  # noqa: ANN401  options by name
    """Compare models; labels typed as text are matched to the files' own type."""
    import assay
    from assay.app.commands.run_command import typed_costs
    from assay.assess.arguments import arrange
    from assay.assess.compare.model_columns import named

    valued = bool(given.get("values")) or given.get("model") is not None
    _refuse_others(given, valued=valued)
    given |= {"limits": limits_of(given), "costs": typed_costs(given.pop("cost", ()), given.pop("costs", None))}
    for option, name in (("truth_files", "truth_data"), ("measures", "measures"), ("labels", "labels")):
        given[name] = list(given.pop(option, ())) or None
    apart = _select(given) or len(tables) > 1
    given |= {"unit": given.pop("subject", None), "pairing": "position" if given.pop("by_position", False) else None}
    data = tables[0] if len(tables) == 1 else named(tables, None)
    if valued:
        return _of_values(data, apart=apart, **{name: one for name, one in given.items() if name not in OF_PREDICTIONS})
    given = {name: one for name, one in given.items() if name not in OF_VALUES}
    predicted, score = list(given.pop("predicted", ())), list(given.pop("score", ()))
    _check_columns(given, predicted, score)
    given["id"] = next(iter(given.pop("ids", ())), None)
    if apart:
        given |= {"predicted": _one(predicted, "--predicted"), "score": _scores_of_files(score)}
    else:
        given |= {
            "predicted": named_values(predicted, "--predicted", "model") or None,
            "score": _scores_by_model(score) or None,
        }
    return assay.compare(data=data, **arrange(**given, spelled=True))


OF_VALUES: Final = ("values", "model", "per", "folds", "test_over_train", "rows", "lower_is_better", "variance")
"""Options that say something about values only."""
OF_PREDICTIONS: Final = (
    "truth", "truth_data", "truth_table", "truth_query", "predicted", "score", "positive", "labels", "channel",
    "weight", "measures", "costs", "exact_scores",
)  # fmt: skip
"""Arguments that say something about predictions only."""


def _refuse_others(given: dict[str, Any], *, valued: bool) -> None:
    """What is said about values has no meaning for predictions, nor the other way round, and is not passed over."""
    if valued:
        why = "{} is about predictions, and values are given"
        refuse_typed((*OF_PREDICTIONS, "truth_files", "cost"), why, "leave one of them out")
        return
    control = () if given.get("independent") else ("control",)
    why, fix = "{} is about values of a measure, and none are given", "name them: --value NAME=COLUMN"
    refuse_typed((*OF_VALUES, *control), why, f"{fix} (assay compare --help)")


def _select(given: dict[str, Any]) -> bool:
    """Set the tables and queries of databases, and return whether they are stated by model."""
    selection = (_selected(given.pop("tables_of", ()), "--table"), _selected(given.pop("queries_of", ()), "--query"))
    by_model = [isinstance(one, dict) for one in selection]
    names = ("tables" if by_model[0] else "table", "queries" if by_model[1] else "query")
    given |= dict(zip(names, selection, strict=True))
    return any(by_model)


def _check_columns(given: dict[str, Any], predicted: list[str], score: list[str]) -> None:
    """Check that the columns of predictions are named, and that nothing is said of what is not given."""
    if given["truth_data"] is None and (given.get("truth_table") or given.get("truth_query")):
        raise PlanError("role-clash", "--truth-table and --truth-query need --truth-file", fix="give --truth-file FILE")
    if len(ids := given.get("ids", ())) > 1:
        what = "rows are matched by one column"
        raise PlanError("role-clash", what, where="--id", found=listed(ids), fix="give --id COLUMN once")
    if given.get("truth") is None:
        what = "missing option: --truth (the column that holds the truth)"
        raise PlanError("role-missing", what, fix="--truth COLUMN")
    if not predicted and not score:
        fix = "--predicted COLUMN or --score COLUMN; for one file with a column a model --predicted NAME=COLUMN"
        raise PlanError("role-missing", "missing option: --predicted or --score (the columns of the models)", fix=fix)


def _of_values(data: object, *, apart: bool, **given: Any) -> Comparison:  # noqa: ANN401  options by name
    """Compare values of folds, data sets or items that were measured elsewhere."""
    import assay
    from assay.assess.arguments import arrange

    values, ids, long = list(given.pop("values", ())), list(given.pop("ids", ())), given.get("model") is not None
    given["id"] = (ids[0] if len(ids) == 1 else ids) if ids else None
    if not values:
        what = "missing option: --value (the column that holds the values)"
        raise PlanError("role-missing", what, fix="--value COLUMN")
    if long and isinstance(data, dict):
        what = "--model names the models of one file, and several are given"
        raise PlanError("role-clash", what, fix="leave --model out")
    given["values"] = _one(values, "--value") if apart or long else named_values(values, "--value", "model")
    return assay.compare_values(data=data, **arrange(**given))


def _scores_by_model(given: Sequence[str]) -> dict[str, Any]:
    """One file: NAME=COLUMN for two classes, NAME=LABEL=COLUMN for each class of several."""
    if not any(text.count("=") > 1 for text in given):
        return dict(named_values(given, "--score", "model"))
    models = dict.fromkeys(text.partition("=")[0] for text in given)
    rest = {name: [text.partition("=")[2] for text in given if text.partition("=")[0] == name] for name in models}
    return {name: named_values(typed, f"--score {name}", "class") for name, typed in rest.items()}


def _scores_of_files(given: Sequence[str]) -> str | dict[str, str] | None:
    """One file a model: COLUMN for two classes, LABEL=COLUMN for each class of several."""
    if len(given) < 2 and not any("=" in text for text in given):  # noqa: PLR2004  one column
        return _one(given, "--score")
    return named_values(given, "--score", "class")


def _selected(given: Sequence[str], option: str) -> str | dict[str, str] | None:
    """A table or query as typed: one for all models, or NAME= before each."""
    heads = [text.partition("=")[0] for text in given if "=" in text]
    named = any(head and not any(letter.isspace() for letter in head) for head in heads)
    return named_values(given, option, "model") if named else _one(given, option)


def _one(given: Sequence[str], option: str) -> str | None:
    if len(given) > 1:
        what = f"{option} is given {len(given)} times, but every file has its own column"
        fix = f"give {option} COLUMN once: the column has the same name in every file"
        raise PlanError("role-clash", what, fix=fix)
    return given[0] if given else None
