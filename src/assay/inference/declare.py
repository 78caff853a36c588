# SPDX-License-Identifier: Apache-2.0
"""How a test is declared: the function computes, the decorator holds every other fact, once.

Forms of one test are named siblings of one family (mcnemar_exact, mcnemar_midp); no switch turns one into another.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, TypeAlias, cast

from assay.core.errors import PlanError
from assay.core.registry import Registry
from assay.core.text import visible
from assay.core.traits import Source
from assay.inference.findings import Finding
from assay.inference.tail_probabilities import ALTERNATIVES

Procedure: TypeAlias = Callable[..., Finding | tuple[Finding, ...]]

PAIRWISE = "tuple[Finding, ...]"

AMBIGUOUS = {
    "t test": ("paired_t", "welch_t", "corrected_resampled_t", "five_by_two_t", "half_sample_t"),
    "chi-squared": ("chi_squared_association", "mcnemar_plain", "mcnemar_continuity"),
    "anova": ("one_way_anova", "welch_anova", "repeated_measures_anova"),
    "wilcoxon": ("wilcoxon", "wilcoxon_pratt", "mann_whitney"),
}
"""Words that mean several tests: refused, with the candidates; `wilcoxon` itself is a name and found first."""

TESTS: Registry[Significance] = Registry(
    "test", {word: names for word, names in AMBIGUOUS.items() if word != "wilcoxon"}
)


def _restore_test(name: str) -> Significance:
    import_module("assay.inference.tests_catalogue")  # declares every test; by name, because it imports this module
    return TESTS.find(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Significance:
    """One declared test: the procedure and everything that is true of it."""

    name: str
    title: str
    asks: str
    null: str
    effect: str
    source: tuple[Source, ...]
    spec: str
    accepts: tuple[type, ...]
    """All kinds of tallies it takes, `takes` being the first."""
    pairwise: bool
    function: Procedure
    parameters: Mapping[str, object]
    """Parameter names with their defaults; `inspect.Parameter.empty` where one must be given."""
    family: str
    also: tuple[str, ...] = ()
    assumes: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()
    symbol: str = ""

    @property
    def takes(self) -> type:
        """The kind of tally it was made for."""
        return self.accepts[0]

    def __call__(self, tally: object, **given: object) -> Finding:
        """The finding on one tally.

        >>> from assay.inference.tests.mcnemar import Outcomes, mcnemar_exact
        >>> round(mcnemar_exact(Outcomes(both=212, only_a=19, only_b=5, neither=22)).p, 4)
        0.0066
        """
        if self.pairwise:
            msg = f"{self.name} gives one finding for each two models: call .pairs()"
            raise TypeError(msg)
        return self._named(cast("Finding", self._run(tally, given)), tally, given)

    def __reduce__(self) -> tuple[object, ...]:
        """As it travels between processes: by name."""
        return _restore_test, (self.name,)

    def __repr__(self) -> str:
        """Its name and what it asks."""
        return f"<Test {self.name}: {self.asks}>"

    def pairs(self, tally: object, **given: object) -> tuple[Finding, ...]:
        """The findings of a test that compares every two models."""
        found = self._run(tally, given)
        return tuple(self._named(one, tally, given) for one in (found if isinstance(found, tuple) else (found,)))

    @property
    def where(self) -> tuple[str, int]:
        """File and line of the procedure."""
        code = getattr(self.function, "func", self.function).__code__
        return code.co_filename, code.co_firstlineno

    def _run(self, tally: object, given: dict[str, object]) -> Finding | tuple[Finding, ...]:
        if not isinstance(tally, self.accepts):
            what = f"{self.name} takes a tally of the kind {self.takes.__name__}, not {type(tally).__name__}"
            fix = "let assay.compare count the rows, or build the tally from counts"
            raise PlanError("test-needs", what, known=_taken(self.takes), fix=fix)
        known = self.parameters
        for name in given:
            if name not in known:
                what = f'{self.name} has no parameter "{visible(name)}"'
                raise PlanError("test-needs", what, known=", ".join(known) or "none", fix="leave it out")
        for name, default in known.items():
            if default is inspect.Parameter.empty and name not in given:
                what = f'{self.name} needs its parameter "{name}", which has no default'
                fix = f"state {name}; it is decided before the data are seen"
                raise PlanError("test-needs", what, known=", ".join(known), fix=fix)
        if given.get("alternative", "two-sided") not in ALTERNATIVES:
            what = f"alternative = {given['alternative']!r} is not one"
            fix = "choose one of them; greater means that the first model is ahead"
            raise PlanError("option-unknown", what, known=", ".join(ALTERNATIVES), fix=fix)
        defaults = {name: default for name, default in known.items() if default is not inspect.Parameter.empty}
        return self.function(tally, **{**defaults, **given})

    def _named(self, finding: Finding, tally: object, given: dict[str, object]) -> Finding:
        """The finding with what the call and the tally say of it: names, models and level."""
        models = finding.models or tuple(getattr(tally, "models", ()))
        about = finding.about or str(getattr(tally, "about", "") or "")
        level = cast("float", {**self.parameters, **given}["level"])
        return replace(finding, test=self.name, title=self.title, models=models, about=about, level=level)


def _taken(kind: type) -> str:
    parameters: Iterable[str] = getattr(kind, "__dataclass_fields__", {})
    return f"{kind.__name__}({', '.join(parameters)})"


def significance(**facts: Any) -> Callable[[Procedure], Significance]:  # noqa: ANN401  what is true of the test
    """Declare the test whose procedure the decorated function is; `facts` are further fields of `Significance`.

    The annotation of the function's first parameter says what tallies it takes.
    """

    def declare(function: Procedure) -> Significance:
        keyword = inspect.Parameter.KEYWORD_ONLY
        signature = inspect.signature(function).parameters.values()
        known = {parameter.name: parameter.default for parameter in signature if parameter.kind is keyword}
        kinds = tuple(function.__globals__[kind] for kind in function.__annotations__["t"].split(" | "))
        pairwise = function.__annotations__["return"] == PAIRWISE
        return declare_test(function, function.__name__, kinds, known, pairwise=pairwise, **facts)

    return declare


def declare_test(
    function: Procedure,
    name: str,
    accepts: tuple[type, ...],
    parameters: Mapping[str, object],
    *,
    source: Source | tuple[Source, ...],
    family: str = "",
    pairwise: bool = False,
    **facts: Any,  # noqa: ANN401
) -> Significance:
    """Declare a test that may share its function with others."""
    return TESTS.add(
        Significance(
            name=name, family=family or name, source=source if isinstance(source, tuple) else (source,),
            accepts=accepts, pairwise=pairwise, function=function, parameters=parameters, **facts,
        )
    )  # fmt: skip
