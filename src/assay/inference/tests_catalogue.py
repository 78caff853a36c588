# SPDX-License-Identifier: Apache-2.0
"""Every declared test in one place; importing this module declares them all."""

from __future__ import annotations

from functools import cache

from assay.inference.declare import TESTS, Significance
from assay.inference.tests import (  # noqa: F401  importing declares
    anova,
    auc_beyond_delong,
    contingency,
    delong,
    independent_models,
    mcnemar,
    means,
    ranks,
    several_ranks,
    strata,
    variance,
)
from assay.inference.units import (  # noqa: F401  importing declares
    cost_difference,
    margins,
    permutation_and_bootstrap,
)


def find_test(name: str) -> Significance:
    """One test by name or alias.

    >>> find_test("RM-ANOVA").name
    'repeated_measures_anova'
    """
    return TESTS.find(name)


def every_test(*, family: str | None = None) -> tuple[Significance, ...]:
    """Every declared test, or the siblings of one family.

    >>> [one.name for one in every_test(family="mcnemar")]
    ['mcnemar_exact', 'mcnemar_midp', 'mcnemar_continuity', 'mcnemar_plain']
    """
    found = [one for one in TESTS if family in (None, one.family)]
    # By place in the specification and in the file: the order of declaration depends on what was imported first.
    return tuple(sorted(found, key=lambda one: (one.spec, one.where)))


@cache
def tests_meant(word: str) -> tuple[Significance, ...]:
    """The tests that a word means: one by its name or alias, else all of a family; none where nobody knows it.

    >>> [[one.name for one in tests_meant(word)] for word in ("delong", "wilcoxon", "t")]
    [['delong'], ['wilcoxon'], []]
    """
    exact = tuple(one for one in every_test() if word == one.name or word in one.also)
    return exact or every_test(family=word)
