# SPDX-License-Identifier: Apache-2.0
"""How a measure is declared: the function is the formula, the decorator holds every other fact, once."""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.registry import Registry
from assay.core.text import visible
from assay.core.traits import Better, Source, Task
from assay.core.values import Number, Raw, Share, Undefined, Value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.values import Amount

Tally: TypeAlias = object
"""Whatever a formula reads; its `READS` says whether that was made of labels or of scores."""
Formula: TypeAlias = Callable[..., Raw]  # type: ignore[explicit-any]  # formulas differ in their parameters
Fact: TypeAlias = Any  # type: ignore[explicit-any]  # fields of a measure have any type

# Short names with several meanings: refused, with the candidates (errata E-XS-07, E-TS-07).
AMBIGUOUS = {
    "AP": ("average_precision", "precision_macro"),
    "average precision of classes": ("mean_average_precision", "precision_macro", "precision_weighted"),
    "mAP": ("mean_average_precision", "precision_macro"),
    "FDR": ("false_discovery_rate",),
    "Gini": ("gini_coefficient", "gini_impurity"),
    "calibration error": ("expected_calibration_error", "maximum_calibration_error", "adaptive_calibration_error"),
    **dict.fromkeys(("KL", "KL divergence", "Kullback-Leibler divergence"), ("kl_truth_pred", "kl_pred_truth")),
    **dict.fromkeys(("macro accuracy", "accuracy_macro"), ("recall_macro", "average_accuracy")),
    "weighted accuracy": ("accuracy", "binary_accuracy_weighted", "balanced_accuracy_weighted"),
    **dict.fromkeys(("G", "g"), ("fowlkes_mallows",)),
    **dict.fromkeys(("LR", "likelihood ratio"), ("likelihood_ratio_positive", "likelihood_ratio_negative")),
}

_VALUES: dict[str, type[Share | Number]] = {"Share": Share, "Number": Number}

CUTOFF: Final = "k"
"""The parameter that may be written behind the name, and is in other tasks: `ndcg@10` is `ndcg(k=10)`."""
CATALOGUE: Final = {
    "BIN": 30, "MC": 30, "ML": 9, "DIS": 8, "PRB": 4, "CUR": 14, "CHN": 9, "FAI": 19, "REG": 18, "SEG": 14, "DET": 6,
    "IR": 7, "IMG": 3, "CST": 14,
}  # fmt: skip
"""The last number of each group of the catalogue of measures in the four sources: M-BIN-01 to M-BIN-30, and so on."""
ROUNDING: Final = 1e-9
"""How far past an end of its range sums of doubles may take a value."""

ELSEWHERE: Final = {
    "accuracy_score": "accuracy", "average_precision_score": "average_precision",
    "balanced_accuracy_score": "balanced_accuracy", "brier_score_loss": "brier_score",
    "neg_brier_score": "brier_score", "neg_log_loss": "log_loss", "cohen_kappa_score": "cohen_kappa",
    "f1_score": "f1", "fbeta_score": "f_beta", "hamming_loss": "error_rate", "jaccard_score": "jaccard",
    "precision_score": "precision", "recall_score": "recall", "roc_auc": "auroc", "roc_auc_score": "auroc",
    "roc_auc_ovr": "auroc_macro", "roc_auc_ovr_weighted": "auroc_weighted", "roc_auc_ovo": "auroc_one_vs_one",
    "top_k_accuracy_score": "top_k_accuracy", "zero_one_loss": "error_rate",
}  # fmt: skip
"""Names of scikit-learn's functions and scorers; the values of those that begin with neg_ have the other sign there."""
REGISTRY: Registry[Measure] = Registry(
    "measure",
    AMBIGUOUS,
    load=lambda: import_module("assay.tasks.classification.measures"),
    elsewhere=ELSEWHERE,
)
_INSIDE: Final = {
    "base", "from_labels", "from_scores", "function", "given", "gives", "infinite", "only", "raw", "spec", "takes",
    "through_accuracy", "values", "with_",
}  # fmt: skip
"""What other layers ask of a measure, and `dir` leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One declared measure: the formula and everything that is true of it."""

    name: str
    says: str
    formula: str
    range: tuple[float, float]
    better: Better
    family: str
    source: tuple[Source, ...]
    spec: tuple[str, ...]
    takes: type[Tally]
    gives: type[Share | Number]
    function: Formula
    symbol: str = ""
    also: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()
    chance: str | None = None
    infinite: bool = False
    unit: str = ""
    """What values are counted in, such as s; nothing for plain numbers and for the unit of the rows."""
    average: str | None = None
    base: str | None = None
    only: Task | None = None
    through_accuracy: Callable[[float, int], float] | None = None
    given: Mapping[str, object] = field(default_factory=dict)
    guidance: Mapping[str, object] = field(default_factory=dict)
    """What the declaration says on choosing it; `measures/catalogue.py` adds what the file of the task says."""

    def __call__(self, tally: Tally) -> Value:
        """The value on one table: a Share, a Number, or Undefined with its reason.

        >>> from assay.tally.labels.one_vs_rest import Binary
        >>> from assay.tasks.classification.measures.rates import recall
        >>> recall(Binary.of(tp=231, fp=0, fn=27, tn=0)).value
        0.8953488372093024
        """
        return self._settled(self.raw(tally))

    def __reduce__(self) -> tuple[object, ...]:
        """As it travels between processes: by name, because the declaration is there as well."""
        return _restore_measure, (self.takes, self.name, dict(self.given))

    def __dir__(self) -> list[str]:
        """What users need; the rest serves other layers."""
        return sorted(name for name in object.__dir__(self) if not name.startswith("_") and name not in _INSIDE)

    def __repr__(self) -> str:
        """Its name and what it says."""
        return f"<Measure {self.title}: {self.says}>"

    def raw(self, tally: Tally) -> Raw:
        """What the formula returns, before asking whether it is defined."""
        return self.function(tally, **self._arguments())

    def values(self, stack: Tally) -> NDArray[np.float64]:
        """The values on a stack of tables; NaN where undefined."""
        raw_values = self.raw(stack)
        if isinstance(raw_values, Undefined):
            msg = f"{self.name} is undefined for every table of a stack: {raw_values.reason}"
            raise TypeError(msg)
        values, (low, high) = raw_values.values, self.range
        if isinstance(raw_values, Share) or not ((values < low) | (values > high)).any():
            return values
        ends = np.clip(values, low, high)
        return np.where(np.abs(values - ends) <= ROUNDING, ends, values)

    def each(self, stack: Tally, size: int) -> list[Value]:
        """The value of each table of a stack of exact counts, as if it stood alone; notes are left out."""
        raw_values = self.raw(stack)
        if isinstance(raw_values, Undefined):
            return [raw_values] * size
        return [self._settled(raw_values.at(i)) for i in range(size)]

    def _settled(self, raw_value: Raw) -> Value:
        if isinstance(raw_value, Undefined):
            return raw_value
        settled = raw_value.settled()
        if isinstance(settled, Number) and (end := _end_of(settled.value, self.range)) is not None:
            return replace(settled, top=cast("Amount", end), over=cast("Amount", 1))
        return settled

    def with_(self, **given: object) -> Measure:
        """The same measure with parameters set; they are part of its printed name."""
        known = self.parameters
        for name in given:
            if name not in known:
                what = f'{self.name} has no parameter "{visible(name)}"'
                fix = "`assay show " + self.name + "` lists its parameters"
                raise PlanError("measure-needs", what, known=", ".join(known) or "none", fix=fix)
        return replace(self, given={**self.given, **given})

    @property
    def parameters(self) -> dict[str, object]:
        """Parameter names with their defaults; `inspect.Parameter.empty` where one must be given."""
        return _parameters(self.function)

    @property
    def from_scores(self) -> bool:
        """Whether it needs scores, and labels alone do not do."""
        return getattr(self.takes, "READS", None) == "scores"

    @property
    def from_labels(self) -> bool:
        """Whether a table of labels is all it reads: neither scores nor stated costs."""
        return getattr(self.takes, "READS", None) == "labels"

    @property
    def needs(self) -> tuple[str, ...]:
        """Parameters that must still be given."""
        if not self.parameters:
            return ()
        missing = inspect.Parameter.empty
        return tuple(name for name, default in self.parameters.items() if default is missing and name not in self.given)

    @property
    def title(self) -> str:
        """The name with its parameters, as it can be typed back."""
        if not self.given:
            return self.name
        if tuple(self.given) == (CUTOFF,) and hasattr(self.takes, "MEASURES"):
            return f"{self.name}@{self.given[CUTOFF]}"
        shown = ", ".join(f"{name}={value!r}" for name, value in self.given.items())
        return f"{self.name}({shown})"

    @property
    def where(self) -> tuple[str, int]:
        """File and line of the formula."""
        code = inspect.unwrap(self.function).__code__
        return code.co_filename, code.co_firstlineno

    @property
    def range_shown(self) -> str:
        """The range in words."""
        words = {-math.inf: "minus infinity", math.inf: "infinity"}
        return " to ".join(words.get(end, f"{end:g}") for end in self.range)

    def _arguments(self) -> dict[str, object]:
        if self.needs:
            parameter = self.needs[0]
            what = f"{self.name} needs {' and '.join(self.needs)}"
            raise PlanError("measure-needs", what, fix=f"write it with the name, as in {self.name}({parameter}=...)")
        return dict(self.given)


def _restore_measure(takes: type[Tally], name: str, given: Mapping[str, object]) -> Measure:
    registry: Registry[Measure] = getattr(takes, "MEASURES", REGISTRY)
    return replace(registry.find(name), given=dict(given))


def _end_of(value: float, range: tuple[float, float]) -> float | None:
    """The end of the range that rounding took a value past; one farther out is not a rounding, and stays visible."""
    low, high = range
    end = low if value < low else high
    return end if abs(value - end) <= ROUNDING and not low <= value <= high else None


@cache
def _parameters(function: Formula) -> dict[str, object]:
    keyword = inspect.Parameter.KEYWORD_ONLY
    return {p.name: p.default for p in inspect.signature(function).parameters.values() if p.kind is keyword}


def measure(
    *,
    source: Source | tuple[Source, ...],
    spec: str | tuple[str, ...] = (),
    through: Callable[[float, int], float] | None = None,
    use: str = "",
    avoid: str = "",
    elsewhere: tuple[str, ...] = (),
    **facts: Fact,
) -> Callable[[Formula], Measure]:
    """Declare the measure whose formula the decorated function is; `facts` are further fields of `Measure`."""
    guidance = {"use": use, "avoid": avoid, "elsewhere": list(elsewhere)} if use or avoid or elsewhere else {}

    def declare(function: Formula) -> Measure:
        notes = {name: str(getattr(kind, "__name__", kind)) for name, kind in function.__annotations__.items()}
        if notes.get("return", "") not in _VALUES or notes.get("t", "") not in function.__globals__:
            msg = f"{function.__name__} must be declared as (t: TALLY) -> Share or Number, with the tally it reads"
            raise TypeError(msg)
        takes: type[Tally] = function.__globals__[notes["t"]]
        registry: Registry[Measure] = getattr(takes, "MEASURES", REGISTRY)  # tasks may use one name for two things
        return registry.add(
            Measure(
                name=function.__name__,
                source=source if isinstance(source, tuple) else (source,),
                spec=_known_ids(function.__name__, spec if isinstance(spec, tuple) else (spec,)),
                takes=takes,
                gives=_VALUES[notes["return"]],
                function=function,
                through_accuracy=through,
                guidance=guidance,
                **facts,
            )
        )

    return declare


def _known_ids(name: str, ids: tuple[str, ...]) -> tuple[str, ...]:
    """The ids, if the catalogue of the sources has them all."""
    for id_ in ids:
        group, _, number = id_.removeprefix("M-").partition("-")
        if not (number.isdigit() and 0 < int(number) <= CATALOGUE.get(group, 0) and id_ == f"M-{group}-{number:0>2}"):
            known = ", ".join(f"M-{group}-01 to M-{group}-{last:02}" for group, last in CATALOGUE.items())
            msg = f"{name}: spec={id_!r} is not in the catalogue ({known}); leave spec out for a measure from elsewhere"
            raise ValueError(msg)
    return ids


def parse(text: str, registry: Registry[Measure] = REGISTRY) -> Measure:
    """The measure a text names, parameters included; by default one of classification.

    >>> parse("f_beta(beta=2)").title
    'f_beta(beta=2)'
    """
    try:
        return _parse(text, registry)
    except PlanError as unknown:
        if unknown.code == "measure-unknown" and (tasks := _tasks_with(text.partition("(")[0], registry)):
            what = f'"{visible(text)}" is a measure of {" and ".join(tasks)}, not of this task'
            fix = f"assay.{tasks[0]}(...) (--task {tasks[0]})"
            raise PlanError("measure-unknown", what, known=unknown.known, fix=fix) from unknown
        raise


def _tasks_with(name: str, registry: Registry[Measure]) -> list[str]:
    """The other tasks that have a measure of this name; asked only where it is unknown."""
    from assay.core.task import find_task, task_names

    tasks = {task: cast("Registry[Measure]", find_task(task).registry) for task in task_names()}
    return [task for task, own in tasks.items() if own is not registry and name.strip() in own]


def _parse(text: str, registry: Registry[Measure]) -> Measure:
    name, at, cutoff = text.partition("@")
    if at and cutoff.strip().isdigit():
        return registry.find(name.strip()).with_(k=int(cutoff))
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return registry.find(text)
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name) or tree.args:
        return registry.find(text)
    base_measure = registry.find(tree.func.id)
    names = [str(keyword.arg) for keyword in tree.keywords]
    if len(set(names)) != len(names):
        raise PlanError("measure-needs", f'"{visible(text)}" gives a parameter twice', fix="give each parameter once")
    try:
        given: dict[str, object] = {str(k.arg): ast.literal_eval(k.value) for k in tree.keywords}
    except ValueError as error:
        what = f'the parameters of "{visible(text)}" are not plain values'
        raise PlanError("measure-needs", what, fix="write numbers, quoted text, or {label: number}") from error
    return base_measure.with_(**given)
