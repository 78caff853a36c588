# SPDX-License-Identifier: Apache-2.0
"""Rare settings of `assess` and `compare`, in objects, and where keywords of one setting belong."""

from __future__ import annotations

import functools
import inspect
import json
import numbers
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass, replace
from decimal import Decimal
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, ParamSpec, TypeVar, cast

import numpy as np

from assay.core.declared_types import check_fields, is_real, shown_object
from assay.core.errors import PlanError
from assay.core.text import likely_column, nearest, quoted, visible
from assay.inference.resampling import SEED
from assay.measures import Measure
from assay.rows.files.formats import Reading
from assay.rows.limits import EXACT, Limits
from assay.rows.score_columns import Kind, MissingScore, ScoreColumns

if TYPE_CHECKING:
    from assay.core.traits import Policy
    from assay.inference.intervals.interval_choice import Wanted

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalSettings:
    """How confidence intervals are computed.

    shares: the method for shares: "wilson", "clopper-pearson" or "jeffreys"
    cells: the method for other functions of counts: "auto", "dirichlet", "bca", "percentile" or "delta"
    seed: the seed of all random draws
    draws: the least number of random draws; None takes 2,000 for an interval and 9,999 for a test
    undefined: what an average does with a class that has no value: "propagate", "skip", "zero" or "one"

    >>> IntervalSettings(shares="clopper-pearson", seed=7).seed
    7
    """

    shares: str = "wilson"
    cells: str = "auto"
    seed: int = SEED
    draws: int | None = None
    undefined: Policy = "propagate"

    def wanted(self, level: float) -> Wanted:
        """Return the same for a level, checked."""
        from assay.inference.intervals.interval_choice import DRAWS, Wanted

        draws = DRAWS if self.draws is None else self.draws
        return Wanted(level=level, shares=self.shares, cells=self.cells, seed=self.seed, draws=draws)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSettings:
    """What scores are, and how they become predictions.

    kind: what the scores are: "probability", "logit" or "any"
    missing: what becomes of rows without a score: "error", "drop", or "worst" to rank them last; None follows `missing`
    renormalise: whether probabilities that do not add up to 1 are divided by their sum
    threshold_from: the rows on which a threshold by rule is chosen
    accept_optimistic_threshold: whether the rule may choose the threshold on the rows that are assessed
    operating_points: further thresholds whose counts are listed
    exact_scores: the number of distinct scores, or of compared rows, up to which an engine keeps them one by one

    >>> ScoreSettings(kind="probability").kind
    'probability'
    """

    kind: Kind = "any"
    missing: MissingScore | None = None
    renormalise: bool = False
    threshold_from: object = None
    accept_optimistic_threshold: bool = False
    operating_points: Sequence[float] = ()
    exact_scores: int = EXACT


@dataclass(frozen=True, slots=True, kw_only=True)
class TestSettings:
    """Which significance test compares the models, and how their rows are paired.

    test: the name of a test, in place of the one that the table chooses; `because` must say why
    because: the reason for the chosen test
    override: whether `test` runs even where the table refuses it
    margin: the margin of a non-inferiority test
    equivalence: whether equivalence within the margin is tested, in place of non-inferiority
    correction: the correction of p values for several tests
    control: the model with which all others are compared
    variance: whether variances of values are compared, too
    stratified: whether the bootstrap draws within each true class
    independent: whether the models were tested on different rows
    accept_dependence: whether a test that assumes independent values runs on values that are not
    pairing: how tables are matched: by "id" or by "position"
    channel: the column that names the channel of each row; the models are compared within channels

    >>> TestSettings(margin=0.02).correction
    'holm'
    """

    __test__: ClassVar[bool] = False  # pytest would take the class for tests

    test: str | None = None
    because: str | None = None
    override: bool = False
    margin: float | None = None
    equivalence: bool = False
    correction: str = "holm"
    control: str | None = None
    variance: bool = False
    stratified: bool = False
    independent: bool = False
    accept_dependence: bool = False
    pairing: Literal["id", "position"] | None = None
    channel: object = None


CLASSES: Final[Mapping[str, type]] = {
    "reading": Reading,
    "intervals": IntervalSettings,
    "scores": ScoreSettings,
    "tests": TestSettings,
}
PLACES: Final[Mapping[str, tuple[str, str]]] = {
    **{
        field.name: (argument, field.name)
        for argument, kind in CLASSES.items()
        for field in fields(kind)
        if field.name not in ("kind", "missing")
    },
    "scores": ("scores", "kind"),
    "missing_score": ("scores", "missing"),
}
"""By keyword of one setting: the argument that holds it, and its name there."""
ELSEWHERE: Final = {
    "y_true": "truth", "y_pred": "predicted", "y_score": "score", "y_prob": "score", "y_proba": "score",
    "pos_label": "positive", "sample_weight": "weight", "groups": "group",
}  # fmt: skip
"""Keywords of scikit-learn and other libraries, with ours."""
OTHER_FUNCTIONS: Final = {
    name: function
    for function, names in {
        "from_confusion_matrix": "confusion orientation",
        "compare_values": "values model per lower_is_better folds rows test_over_train",
        "compare": "truth predicted score positive labels weight measures costs",
    }.items()
    for name in names.split()
}
"""By keyword: the function that takes it, for those that do not."""


def arrange(**given: Any) -> dict[str, Any]:  # noqa: ANN401  whatever assess and compare take
    """Sort settings by name, as the command line and plans state them, into the objects that hold them.

    >>> arrange(truth="y", seed=7, scores="logit")["intervals"].seed
    7
    """
    arguments, settings = dict(given), dict[str, dict[str, Any]]()
    for name, value in given.items():
        if name in PLACES and not isinstance(value, CLASSES.get(name, ())):
            argument, field = PLACES[name]
            settings.setdefault(argument, {})[field] = arguments.pop(name)
    for argument, own in settings.items():
        before = arguments.get(argument)
        arguments[argument] = CLASSES[argument](**own) if before is None else replace(before, **own)
    return arguments


def _is_label(value: object) -> bool:
    return isinstance(value, (str, int, np.bool_, np.integer))


def _are_names(value: object) -> bool:
    if isinstance(value, (str, Measure)):
        return True
    return isinstance(value, (list, tuple)) and all(isinstance(name, (str, Measure)) for name in value)


def _are_labels(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_is_label(label) or is_real(label) for label in value)
    plain = isinstance(value, (range, np.ndarray)) or hasattr(value, "to_list")
    return plain and np.ndim(cast("Any", value)) == 1


KINDS: Final[Mapping[str, tuple[type | Callable[[Any], bool], str]]] = {
    "level": (numbers.Real, "a number between 0 and 1, such as 0.95"),
    "measures": (_are_names, 'names of measures: "recall", or ["recall", "f1"]'),
    "engine": (str, 'text: "duckdb", "spark://host:7077"'),
    "missing": (lambda value: value in ("error", "drop") if isinstance(value, str) else False, '"error" or "drop"'),
    "positive": (_is_label, "a label: text, a whole number, or True and False"),
    "labels": (_are_labels, 'a list of labels: ["no", "yes"]'),
    "threshold": (lambda value: is_real(value) or isinstance(value, (str, Decimal)), 'a number, or a rule: "youden"'),
    "limits": (Limits, "assay.Limits(...)"),
    "seed": (lambda value: isinstance(value, (int, np.integer)) and int(value) < 2**63, "a whole number from 0"),
    "jobs": (lambda value: isinstance(value, int) and 0 < abs(value) < 2**15, "a number of processes, or -1 for all"),
    "folder": (lambda value: isinstance(value, (str, os.PathLike)) and "\0" not in str(value), "a path"),
    **{name: (kind, f"assay.{kind.__name__}(...)") for name, kind in CLASSES.items()},
}
"""By argument: its type, or what it must fit, and how that is written."""


def check_kinds(arguments: Mapping[str, Any]) -> None:
    """Refuse an argument of a kind that nothing could be done with."""
    for name, value in arguments.items():
        if value is None or name not in KINDS:
            continue
        fits, known = KINDS[name]
        if not (isinstance(value, fits) if isinstance(fits, type) else fits(value)):
            found = f"{type(value).__name__} {quoted(shown_object(value))}"
            what = f"{name} cannot be this"
            raise PlanError("option-unknown", what, where=name, found=found, known=known, fix=f"give {known}")
        if is_dataclass(value):
            check_fields(value)


def with_settings(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function accept `subject` for `unit`, and name the place of a keyword that is a setting."""
    known = inspect.signature(function).parameters
    takes_more = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    takes_tables = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in known.values())

    @functools.wraps(function)
    def checked(*tables: P.args, **given: P.kwargs) -> R:
        arguments = cast("dict[str, Any]", given)
        if tables and not takes_tables:
            raise _by_position(function.__name__, tables, arguments, known)
        rename(arguments, known)
        demand_names(function.__name__, arguments, known, more=takes_more)
        own = ("labels", "positive") if arguments.get("task") else ()  # a task checks its options itself
        check_kinds({name: value for name, value in arguments.items() if name in known and name not in own})
        return function(*tables, **given)

    return checked


def rename(arguments: dict[str, Any], known: Collection[str]) -> None:
    """`subject` is another name of `unit`, and `cross` adds groups to `group`."""
    if "subject" in arguments and "unit" in known:
        if arguments.get("unit") is not None:
            raise PlanError("role-clash", "unit and subject are two names of one role", fix="give unit=... only")
        arguments["unit"] = arguments.pop("subject")
    if isinstance(arguments.get("measures"), (AbstractSet, Iterator)):
        arguments["measures"] = list(arguments["measures"])
    labels = arguments.get("labels")
    if "labels" in known and hasattr(labels, "tolist") and _are_labels(labels):
        arguments["labels"] = cast("Any", labels).tolist()
    if "cross" in arguments and "group" in known and (cross := arguments.pop("cross")) is not None:
        from assay.fairness.crossed_groups import add_crossed

        arguments["group"] = add_crossed(name_factors(arguments.get("group")), cross)


def demand_names(function: str, arguments: Mapping[str, object], known: Collection[str], *, more: bool = False) -> None:
    """Check that keywords are those of a function; the call that is meant is told with the user's own arguments."""
    if theirs := [name for name in arguments if name not in known and ELSEWHERE.get(name) in known]:
        what = f"{function} takes {listed_names(ELSEWHERE[name] for name in theirs)}, not {listed_names(theirs)}"
        call = write_call(function, {ELSEWHERE.get(name, name): value for name, value in arguments.items()})
        raise PlanError("option-unknown", what, where=", ".join(theirs), fix=f"write {call}")
    for name, value in arguments.items():
        if name in known and not (name in CLASSES and isinstance(value, str)):
            continue
        what = f"{function} does not take {name} as a keyword of its own"
        if place := _place(name, known):
            raise PlanError("option-unknown", what, where=name, fix=f"write {place}")
        if name not in known and not more:  # those of a task are checked by it
            close = nearest(name, known)
            fix = f"did you mean {close}=...?" if close else f"leave it out; help(assay.{function}) lists what there is"
            raise PlanError("option-unknown", f'{function} has no parameter "{visible(name)}"', where=name, fix=fix)


def listed_names(names: Iterable[str]) -> str:
    """Keywords as they are written."""
    return ", ".join(f"{name}=..." for name in names)


def _by_position(
    function: str, given: tuple[object, ...], arguments: Mapping[str, object], known: Collection[str]
) -> PlanError:
    """The error of arguments without names, whose order libraries do not agree on."""
    ours = {ELSEWHERE.get(name, name): value for name, value in arguments.items()}
    named = {name: value for name, value in ours.items() if name in known}
    columns = [str(name) for name in getattr(given[0], "columns", given[0] if isinstance(given[0], Mapping) else ())]
    if columns or isinstance(given[0], (str, PathLike)):
        for role, place in (("truth", 1), ("predicted", 2)):
            proposed = given[place] if len(given) > place else likely_column(columns, role) or "COLUMN"
            named.setdefault(role, proposed) if role == "truth" or "score" not in named else None
        call = write_call(function, {"data": given[0], **named})
        what = f"a {type(given[0]).__name__} is given without saying what it is"
        return PlanError("role-missing", what, known=", ".join(map(quoted, columns[:20])) or None, fix=f"write {call}")
    roles = ("truth", "score" if len(given) > 1 and _is_score(given[1]) else "predicted", "score")
    call = write_call(function, {**dict(zip(dict.fromkeys(roles), given, strict=False)), **named})
    what = "columns are given by position, and libraries do not agree whether truth or prediction comes first"
    return PlanError("role-missing", what, found=f"{len(given)} positional arguments", fix=f"name them: {call}")


def _is_score(column: object) -> bool:
    """Whether a column is of real numbers, as no labels are."""
    if str(getattr(column, "dtype", "")).lower().startswith(("float", "torch.float")):
        return True
    return isinstance(column, (list, tuple)) and any(type(x) is float and not x.is_integer() for x in column[:100])


def write_call(function: str, arguments: Mapping[str, object]) -> str:
    """A call as its user would write it: their names of variables, short values, and dots for the rest."""
    frame = sys._getframe()  # noqa: SLF001  their variables stand in the first frame that is not ours
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("assay."):
        frame = frame.f_back
    variables = {**frame.f_globals, **frame.f_locals}

    def written(value: object) -> str:
        if value is None or isinstance(value, (str, int, float)):
            return json.dumps(value) if isinstance(value, str) else repr(value)
        own = [name for name, one in variables.items() if one is value and not name.startswith("_")]
        if own:
            return own[-1]
        if isinstance(value, Mapping) and len(value) < 4 and all(isinstance(key, str) for key in value):  # noqa: PLR2004
            return "{" + ", ".join(f"{json.dumps(key)}: {written(part)}" for key, part in value.items()) + "}"
        return "..."

    return f"assay.{function}({', '.join(f'{name}={written(value)}' for name, value in arguments.items())})"


def _place(name: str, known: Collection[str]) -> str | None:
    """Return how a setting is written, if it is one of a function with these parameters."""
    argument, field = PLACES.get(name, ("", ""))
    if argument in known:
        return f"{argument}=assay.{CLASSES[argument].__name__}({field}=...)"
    return f"assay.{OTHER_FUNCTIONS[name]}(...)" if name in OTHER_FUNCTIONS else None


def name_factors(group: object) -> dict[str, object]:
    """Groups by name, however they were given."""
    if group is None:
        return {}
    if isinstance(group, Mapping):
        return {str(name): column for name, column in group.items()}
    if isinstance(group, str):
        return {group: group}
    texts = isinstance(group, (list, tuple)) and bool(group) and all(isinstance(name, str) for name in group)
    if texts and len(set(cast("list[str]", group))) == len(cast("list[str]", group)):
        return {name: name for name in cast("list[str]", group)}
    return {str(getattr(group, "name", None) or "group"): group}


def demand_own_columns(
    roles: Mapping[str, object], scores: ScoreColumns | None, group: object, names: Mapping[str, object]
) -> None:
    """Check that no column plays two roles: truth that is its own prediction is always right.

    `names` are columns that name things; one column may be several of these.
    """
    named = [*roles.items(), *(("score", column) for column in (() if scores is None else scores.columns))]
    named += [*(("group", column) for column in name_factors(group).values()), *names.items()]
    taken: dict[str, str] = {}
    for role, column in named:
        before = taken.setdefault(column, role) if isinstance(column, str) else role
        if before != role and not {before, role} <= {"group", *names}:
            what = f"column {quoted(column)} is {before} and {role} at once"
            raise PlanError("role-clash", what, where=role, fix="give each role its own column")
