# SPDX-License-Identifier: Apache-2.0
"""Which measure, which test, how many rows: answered from declarations, the decision table and facts of the data."""

from __future__ import annotations

import json
import math
import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from assay.assess.decide.criteria import Criterion
    from assay.inference.choose_test import Choice
    from assay.measures.declare import Measure

CLASSIFICATION: Final = "classification"
RANKING: Final = (0.2, 0.8)
"""Shares of the positive class between which AUROC may lead (E-XS-01)."""
PAIR, MANY = 2, 10**5
MISSES, ALARMS = "misses", "alarms"
WIDTH: Final = 98
SECTIONS: Final = {"measures": "Which measure", "tests": "Which test", "rows": "How many rows"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What is known before an assessment; 0 and None where it is not stated."""

    task: str = CLASSIFICATION
    classes: int = 0
    rows: int = 0
    smallest: int = 0
    """Rows of the smallest class; of two classes, of the positive one."""
    prevalence: float | None = None
    ratio: float | None = None
    """Rows of the largest class over those of the smallest."""
    scores: bool = False
    models: int = 1
    unit: str | None = None
    units: int = MANY
    """Units of the file; very many where there is no file."""
    costly: str | None = None
    disagree: float | None = None
    """Share of rows that one of two models gets right and the other wrong."""
    difference: float | None = None
    expected: float | None = None
    level: float = 0.95
    criteria: tuple[Criterion, ...] = ()

    @property
    def balanced(self) -> bool:
        """Whether classes are known to be about equally large (E-TS-24)."""
        from assay.inference.decision_words import BALANCED

        return self.ratio is not None and self.ratio <= BALANCED


@click.command()
@click.argument("source", type=click.Path(), required=False, metavar="[PREDICTIONS|PLAN]")
@click.option("--task", default=CLASSIFICATION, show_default=True, metavar="TASK", help="What is assessed.")
@click.option("--truth", metavar="COLUMN", help="Column with the true labels.")
@click.option("--predicted", metavar="COLUMN", multiple=True, help="Column with predicted labels; one a model.")
@click.option("--positive", metavar="LABEL", help="The positive class, if there are two.")
@click.option("--unit", metavar="COLUMN", help="What rows belong to, if not themselves: patient, image.")
@click.option("--classes", type=click.IntRange(2), metavar="NUMBER", help="Classes, where there is no file yet.")
@click.option("--prevalence", type=click.FloatRange(0, 1), metavar="SHARE", help="Share of the smallest class.")
@click.option("--rows", type=click.IntRange(1), metavar="NUMBER", help="Rows of the test data.")
@click.option("--scores", is_flag=True, help="The models give scores or probabilities.")
@click.option("--models", type=click.IntRange(1), metavar="NUMBER", help="Models to be compared.")
@click.option("--costly", type=click.Choice([MISSES, ALARMS]), help="Which mistake is the worse one.")
@click.option("--criterion", "criteria", multiple=True, metavar="TEXT", help='What must hold: "recall >= 0.9".')
@click.option("--expected", type=float, metavar="VALUE", help="The value you expect the criterion's measure to have.")
@click.option("--difference", type=float, metavar="VALUE", help="Smallest difference of accuracy that matters.")
@click.option("--disagree", type=float, metavar="SHARE", help="Share of rows that only one of two models gets right.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level.")
@click.option("--json", "as_json", is_flag=True, help="Print the answers as JSON.")
def advise(source: str | None, *, as_json: bool, **given: Any) -> None:  # noqa: ANN401  options by name
    """Say which measure, which test and how many rows: from a file, a plan, or facts you state.

    \b
    assay advise predictions.csv --truth label --predicted old --predicted new --positive ill
    assay advise plan.toml
    assay advise --classes 2 --prevalence 0.02 --scores --criterion "recall >= 0.9" --expected 0.95
    """  # noqa: D301  click reads the backspace as: keep these lines
    situation = read_situation(source, given)
    answers = {name: list(answer(situation)) for name, answer in ANSWERS.items()}
    if as_json:
        click.echo(json.dumps(answers, indent=1, ensure_ascii=False))
        return
    for name, lines in answers.items():
        click.echo(SECTIONS[name])
        for line in lines:
            click.echo(textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent="      "))
    click.echo("Read on: `assay show MEASURE`, `assay tests TEST`.")


def read_situation(source: str | None, given: dict[str, Any]) -> Situation:
    """The facts that options state, completed by those of a file or plan."""
    from assay.app.input_kind import is_plan
    from assay.assess.decide.criteria import read
    from assay.core.task import find_task

    task = find_task(given["task"])
    models = given["models"] or max(1, len(given["predicted"]))
    share, rows = given["prevalence"], given["rows"] or 0
    situation = Situation(
        task=task.name, classes=given["classes"] or 0, rows=rows, models=models, unit=given["unit"],
        smallest=round(rows * share) if share is not None else 0, prevalence=share,
        ratio=(1 - share) / ((given["classes"] or 2) - 1) / share if share else None,  # the other classes being alike
        scores=given["scores"], costly=given["costly"],
        disagree=given["disagree"], difference=given["difference"], expected=given["expected"], level=given["level"],
        criteria=tuple(read(text, task.registry) for text in given["criteria"]),  # type: ignore[arg-type]
    )  # fmt: skip
    if source is None:
        return situation
    if is_plan(source, columns=given["truth"] is not None):
        return _from_plan(source, situation)
    if given["truth"] is None or situation.task != CLASSIFICATION:
        return situation
    return _from_file(source, given["truth"], given["predicted"], given["positive"], situation)


def _from_file(path: str, truth: str, predicted: tuple[str, ...], positive: object, situation: Situation) -> Situation:
    from assay.core.errors import PlanError
    from assay.core.text import quoted
    from assay.rows.engines.duckdb_engine import quote_identifier
    from assay.rows.files.file_set import open_files
    from assay.rows.files.opened_file import check_scalar

    opened = open_files(path)
    for name in (truth, *predicted, *([situation.unit] if situation.unit else [])):
        check_scalar(opened, name)
    column = quote_identifier(truth)
    query = f"SELECT {column}, count(*) FROM rows WHERE {column} IS NOT NULL GROUP BY 1"  # noqa: S608  quoted
    sizes = {str(label): int(count) for label, count in opened.fetch(query)}
    rows = sum(sizes.values())
    if not rows:
        raise PlanError("role-missing", f"the column {quoted(truth)} holds no labels", fix="name another column")
    smallest = sizes.get(str(positive), min(sizes.values())) if positive is not None else min(sizes.values())
    disagree = situation.disagree
    if disagree is None and len(predicted) == PAIR:
        first, second = (f"{quote_identifier(name)} = {column}" for name in predicted)
        count = opened.fetch(f"SELECT count(*) FROM rows WHERE ({first}) <> ({second})")[0][0]  # noqa: S608
        disagree = int(count) / rows
    units = situation.units
    if situation.unit:
        units = int(opened.fetch(f"SELECT count(DISTINCT {quote_identifier(situation.unit)}) FROM rows")[0][0])  # noqa: S608
    return replace(
        situation,
        units=units,
        classes=len(sizes),
        rows=rows,
        smallest=smallest,
        prevalence=smallest / rows,
        ratio=max(sizes.values()) / min(sizes.values()),
        disagree=disagree,
    )


def _from_plan(path: str, situation: Situation) -> Situation:
    from assay.assess.decide.criteria import read
    from assay.assess.plan.checked_plan import load_plan
    from assay.core.task import find_task

    loaded = load_plan(path)
    plan = loaded.plan
    task = find_task(plan.task.type or CLASSIFICATION)
    models = list(plan.models.values())
    situation = replace(
        situation,
        task=task.name,
        classes=len(plan.task.classes or ()) or situation.classes,
        models=max(1, len(models)),
        unit=plan.columns.subject,
        scores=any(getattr(model, "score", None) for model in models) or situation.scores,
        difference=plan.tests.difference if situation.difference is None else situation.difference,
        level=1 - plan.tests.alpha if plan.tests.alpha else situation.level,
        criteria=(*situation.criteria, *(read(text, task.registry) for text in plan.metrics.accept or ())),  # type: ignore[arg-type]
    )
    tests = [split for split in plan.data.values() if split.role in ("test", None) and isinstance(split.path, str)]
    file = loaded.folder / str(tests[0].path) if tests else None
    if file is None or not file.is_file() or plan.columns.truth is None or task.name != CLASSIFICATION:
        return situation
    predicted = tuple(model.predicted for model in models if model.predicted is not None)
    return _from_file(str(file), plan.columns.truth, predicted[:2], plan.task.positive, situation)


def advise_measures(situation: Situation) -> list[str]:
    """The measures that fit, first the one to lead with, each with its reason."""
    from assay.core.task import find_task
    from assay.measures.catalogue import guidance_of, proposed
    from assay.measures.declare import parse

    task = find_task(situation.task)
    registry: Any = task.registry
    names = _fitting(situation, proposed(task.name)) or list(task.headline)
    asked = [criterion.measure.title for criterion in situation.criteria]
    chosen: list[Measure] = [parse(name, registry) for name in dict.fromkeys([*asked, *names])]
    lines = [f"{measure.title}: use it when {guidance_of(measure).use}" for measure in chosen]
    lines += [f"{measure.title}: not when {guidance_of(measure).avoid}" for measure in chosen[:1]]
    if situation.ratio and not situation.balanced:
        for name in proposed(task.name).get("never_alone", []):
            largest = f"the largest class is {situation.ratio:.3g} times the smallest"
            lines.append(f"not {name} alone: {guidance_of(registry.find(name)).avoid}; {largest}")
    return lines


def _fitting(situation: Situation, by_case: dict[str, list[str]]) -> list[str]:
    """Names of measures by what is known."""
    several = "several" if situation.classes > PAIR else "two"
    low, high = RANKING
    usual = situation.prevalence is not None and low <= situation.prevalence <= high
    cases = [situation.costly or f"{several}_{'balanced' if situation.balanced else 'unbalanced'}"]
    if situation.scores:
        cases.append("scores_several" if several == "several" else "scores_usual" if usual else "scores_rare")
    return [name for case in cases for name in by_case.get(case, [])]


def advise_tests(situation: Situation) -> list[str]:
    """The test that the decision table gives, the reason, and the tests it refuses."""
    from assay.core.task import find_task
    from assay.inference.choose_test import choose
    from assay.inference.decision_words import Facts, Kind, Question

    if situation.models == 1 and not situation.criteria:
        return ["one model: no test is needed; read its intervals, or state a criterion (--criterion)"]
    if situation.models == 1:
        return ["one model and a criterion: the interval decides, as `assay gate` does; no further test is needed"]
    if situation.task != CLASSIFICATION:
        task = find_task(situation.task)
        return [
            f"`assay compare --task {task.name}` pairs the models by {situation.unit or task.unit}; it names its test"
        ]
    disagree = round((situation.disagree or 0) * situation.rows)
    facts = Facts(
        n=situation.rows, disagree=disagree, rows=situation.rows, models=situation.models, blocks=situation.units
    )
    asked = [(Kind.SUBJECTS, Question.MEASURE)]
    if not situation.unit:
        asked = [(Kind.LABELS, Question.ACCURACY), (Kind.LABELS, Question.MEASURE)]
        asked += [(Kind.SCORES, Question.AUROC)] if situation.scores else []
    lines: list[str] = []
    refused: dict[str, str] = {}
    for values, question in asked:
        choice = choose(values, situation.models, question, facts)
        lines.append(f"{question} of {situation.models} models: {_explained(choice, situation)}")
        refused |= {refusal.test: refusal.why for refusal in choice.refused if refusal.hard}
    lines += [
        f"not {', '.join(test for test, reason in refused.items() if reason == why)}: {why}"
        for why in dict.fromkeys(refused.values())
    ]
    return [*lines, "correction for several models or measures: Holm, unless the plan states another"]


def _explained(choice: Choice, situation: Situation) -> str:
    """The test and its reason; where the fact it turns on is not known, all that may come."""
    name = choice.test.name if choice.test else "no test"
    if name.startswith("mcnemar") and (situation.disagree is None or not situation.rows):
        return "mcnemar_exact or mcnemar_continuity; exact below 25 rows that only one model gets right"
    if situation.unit and situation.units == MANY:
        return f"{name}; all answers on one {situation.unit} are swapped at once; it needs six of them at least"
    return f"{name}; {choice.why}"


def advise_rows(situation: Situation) -> list[str]:
    """Rows for criteria, differences and widths of intervals."""
    from assay.assess.decide.criteria import Rule
    from assay.inference.power import POWER, rows_for_limit, rows_for_mcnemar

    lines = []
    for criterion in situation.criteria:
        limit, expected = criterion.limit, situation.expected
        if expected is None or criterion.rule is not Rule.ACCEPTANCE or not 0 < limit < 1:
            lines.append(f"{criterion}: state the value you expect to be told the rows (--expected)")
            continue
        needed = rows_for_limit(expected, limit, situation.level)
        lines.append(
            f"{criterion}: {needed:,} {_grain(criterion.measure)} for a decision in {POWER:.0%} of the tests,"
            f" if it truly is {expected:g}{_in_all(needed, criterion.measure, situation)}"
        )
    if situation.difference:
        share = situation.disagree if situation.disagree is not None else min(1.0, 3 * situation.difference)
        guess = "" if situation.disagree is not None else " (a guess; state --disagree)"
        needed = rows_for_mcnemar(situation.difference, max(share, situation.difference), situation.level)
        lines.append(
            f"a difference of {situation.difference:g} between two models: {needed:,} rows,"
            f" if {share:.3g} of them are right for one model only{guess}"
        )
    if situation.task == CLASSIFICATION:
        lines += _widths(situation)
    else:
        lines.append(
            "intervals rest on units: 30 at least, better 200; assess a pilot and scale its width by 1 / sqrt(n)"
        )
    return lines


def _grain(measure: Measure) -> str:
    return {"recall": "positive rows", "specificity": "negative rows", "precision": "rows called positive"}.get(
        measure.name, "rows"
    )


def _in_all(needed: int, measure: Measure, situation: Situation) -> str:
    """The whole test set that holds so many rows of a class."""
    if measure.name == "recall" and situation.prevalence:
        return f", so {math.ceil(needed / situation.prevalence):,} rows in all"
    return ""


def _widths(situation: Situation) -> list[str]:
    from assay.inference.intervals.proportion import normal_quantile

    z = normal_quantile((1 + situation.level) / 2)
    if situation.smallest:
        reach = z / math.sqrt(situation.smallest + z * z) / 2
        part = "positive class" if situation.classes <= PAIR else "smallest class"
        counts = f"{situation.smallest:,} of {situation.rows:,} rows"
        return [f"{part}: {counts}, so its recall is known to +/-{reach:.2g} at worst"]
    wanted = {half: math.ceil((z / 2 / half) ** 2 - z * z) for half in (0.1, 0.05, 0.02, 0.01)}
    shown = ", ".join(f"{rows:,} for +/-{half:g}" for half, rows in wanted.items())
    return [f"rows of a class to know its recall at worst: {shown}"]


ANSWERS: Final = {"measures": advise_measures, "tests": advise_tests, "rows": advise_rows}
