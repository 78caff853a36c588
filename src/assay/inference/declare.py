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

Tally: TypeAlias = Any
"""Whatever kind of tally a test takes; its function names them."""
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

    def __call__(self, tally: Tally, **given: object) -> Finding:
        """The finding on one tally.

        >>> from assay.inference.tests.mcnemar import mcnemar_exact
        >>> from assay.tally.contingency_tables import Outcomes
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

    def pairs(self, tally: Tally, **given: object) -> tuple[Finding, ...]:
        """The findings of a test that compares every two models."""
        found = self._run(tally, given)
        return tuple(self._named(one, tally, given) for one in (found if isinstance(found, tuple) else (found,)))

    @property
    def parameters(self) -> dict[str, object]:
        """Parameter names with their defaults."""
        keyword = inspect.Parameter.KEYWORD_ONLY
        found = inspect.signature(self.function).parameters.values()
        return {p.name: p.default for p in found if p.kind is keyword}

    @property
    def where(self) -> tuple[str, int]:
        """File and line of the procedure."""
        function: Any = inspect.unwrap(self.function)
        code = getattr(function, "func", function).__code__
        return code.co_filename, code.co_firstlineno

    def _run(self, tally: Tally, given: dict[str, object]) -> Finding | tuple[Finding, ...]:
        if not isinstance(tally, self.accepts):
            raise PlanError(
                "test-needs",
                f"{self.name} takes a tally of the kind {self.takes.__name__}, not {type(tally).__name__}",
                known=_taken(self.takes),
                fix="let assay.compare count the rows, or build the tally from counts",
            )
        known = self.parameters
        for name in given:
            if name not in known:
                raise PlanError(
                    "test-needs",
                    f'{self.name} has no parameter "{visible(name)}"',
                    known=", ".join(known) or "none",
                    fix="leave it out",
                )
        for name, default in known.items():
            if default is inspect.Parameter.empty and name not in given:
                raise PlanError(
                    "test-needs",
                    f'{self.name} needs its parameter "{name}", which has no default',
                    known=", ".join(known),
                    fix=f"state {name}; it is decided before the data are seen",
                )
        if given.get("alternative", "two-sided") not in ALTERNATIVES:
            raise PlanError(
                "option-unknown",
                f"alternative = {given['alternative']!r} is not one",
                known=", ".join(ALTERNATIVES),
                fix="choose one of them; greater means that the first model is ahead",
            )
        return self.function(tally, **given)

    def _named(self, finding: Finding, tally: Tally, given: dict[str, object]) -> Finding:
        """The finding with what the call and the tally say of it: names, models and level."""
        models = finding.models or tuple(getattr(tally, "models", ()))
        about = finding.about or str(getattr(tally, "about", "") or "")
        level = cast("float", {**self.parameters, **given}["level"])
        return replace(finding, test=self.name, title=self.title, models=models, about=about, level=level)


def _taken(kind: type) -> str:
    parameters: Iterable[str] = getattr(kind, "__dataclass_fields__", {})
    return f"{kind.__name__}({', '.join(parameters)})"


def significance(
    *,
    source: Source | tuple[Source, ...],
    family: str = "",
    **facts: Any,  # noqa: ANN401  what is true of the test
) -> Callable[[Procedure], Significance]:
    """Declare the test whose procedure the decorated function is; `facts` are further fields of `Significance`."""

    def declare(function: Procedure) -> Significance:
        kinds = function.__annotations__["t"]
        named = [] if isinstance(kinds, type) else [function.__globals__[kind] for kind in kinds.split(" | ")]
        return TESTS.add(
            Significance(
                name=function.__name__,
                family=family or function.__name__,
                source=source if isinstance(source, tuple) else (source,),
                accepts=tuple(named or [kinds]),
                pairwise=function.__annotations__["return"] == PAIRWISE,
                function=function,
                **facts,
            )
        )

    return declare


def tabled(function: Procedure, name: str, takes: type, parameters: Mapping[str, object], **facts: Any) -> Significance:  # noqa: ANN401
    """Declare one of several tests that share a function; `parameters` are those of the test with their defaults."""
    known = {key: default for key, default in parameters.items() if default is not inspect.Parameter.empty}

    def procedure(t: object, **given: object) -> Finding | tuple[Finding, ...]:
        return function(t, **{**known, **given})

    keyword = inspect.Parameter.KEYWORD_ONLY
    keyword_parameters = [inspect.Parameter(key, keyword, default=default) for key, default in parameters.items()]
    for attribute, value in {
        "__name__": name,
        "__signature__": inspect.Signature(keyword_parameters),
        "__annotations__": {"t": takes, "return": "Finding"},
        "__wrapped__": function,
    }.items():
        setattr(procedure, attribute, value)
    return significance(**facts)(procedure)
