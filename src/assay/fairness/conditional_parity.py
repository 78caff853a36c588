# SPDX-License-Identifier: Apache-2.0
"""Conditional statistical parity: gaps within each level of a legitimate factor, and one gap over all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from assay.core.labels import Label
from assay.core.text import figure, quoted
from assay.fairness.disparity import Disparity, Equality
from assay.fairness.gaps import combine, measure_gap
from assay.fairness.group_statistics import GroupValue
from assay.inference.intervals.proportion import normal_quantile
from assay.inference.tests.strata import cochran_mantel_haenszel
from assay.tally.contingency_tables import Strata, Table

Cells: TypeAlias = Mapping[Label, Mapping[Label, GroupValue]]
"""By level of the factor and group: the share called positive."""


def conditional_gap(factor: str, condition: str, cells: Cells, level: float) -> Disparity:
    """The largest gap over the levels of a factor, each level a part; of two groups also their common difference."""
    name = "conditional_statistical_parity"
    parts: dict[str, Disparity] = {}
    single: list[str] = []
    for stratum, groups in cells.items():
        part = measure_gap(f"{condition} = {stratum}", factor, list(groups.values()), level, families=len(cells))
        if part.value is None:
            single.append(f"{condition} = {quoted(stratum)}: {part.reason}")
        else:
            parts[part.name] = part
    if not parts:
        reason = "; ".join(single) or "there are no strata"
        return Disparity(name=name, factor=factor, value=None, level=level, reason=reason)
    whole = combine(name, parts, level)
    sizes = [sum(group.rows for group in part.groups) for part in parts.values()]
    mean = sum(n * (part.value or 0.0) for n, part in zip(sizes, parts.values(), strict=True)) / sum(sizes)
    notes = [f"mean of the gaps weighted by rows: {figure(mean)}", *(f"not compared: {text}" for text in single)]
    labels = list(dict.fromkeys(label for groups in cells.values() for label in groups))
    if len(labels) == 2:  # noqa: PLR2004  a common difference
        more, equality = _common(labels, cells, level)
        notes += more
        whole = replace(whole, equality=equality)
    return replace(whole, notes=tuple(notes))


def _common(labels: list[Label], cells: Cells, level: float) -> tuple[list[str], Equality | None]:
    tables: dict[str, Table] = {}
    for stratum, groups in cells.items():
        counts = [groups[label].counts for label in labels if label in groups]
        if len(counts) == 2 and counts[0] and counts[1]:  # noqa: PLR2004  both groups
            tables[str(stratum)] = Table(rows=tuple((top, of - top) for top, of in (counts[0], counts[1])))
    common = common_difference(tables, level)
    if common is None:
        return ["no level holds rows of both groups"], None
    finding = cochran_mantel_haenszel(Strata(tables=tables), level=level)
    words = (
        f"Mantel-Haenszel difference, {quoted(labels[0])} minus {quoted(labels[1])}: "
        f"{figure(common[0])} ({figure(common[1])} to {figure(common[2])})"
    )
    seen = finding.checks[0].seen if finding.checks else ""
    equality, notes = None, (seen,) if seen else ()
    if finding.p is not None and isinstance(finding.statistic, float):
        test = "Cochran-Mantel-Haenszel"
        equality = Equality(test=test, statistic=finding.statistic, df=1, p=finding.p, notes=notes)
    return [words, f"odds ratios over the levels: {seen}"], equality


def common_difference(tables: Mapping[str, Table], level: float) -> tuple[float, float, float] | None:
    """Mantel-Haenszel risk difference, first group minus second, with its ends by the variance of Sato (1989).

    >>> table = Table(rows=((40, 60), (20, 80)))
    >>> [round(part, 3) for part in common_difference({"a": table, "b": table}, 0.95)]
    [0.2, 0.112, 0.288]
    """
    weight = top = p = q = 0.0
    for table in tables.values():
        (a, b), (c, d) = table.rows
        n, m = a + b, c + d
        if not (n and m):
            continue
        t = n + m
        weight += n * m / t
        top += (a * m - c * n) / t
        p += (n * n * c - m * m * a + n * m * (m - n) / 2) / (t * t)
        q += (a * d + b * c) / (2 * t)
    if not weight:
        return None
    value = top / weight
    reach = normal_quantile((1 + level) / 2) * math.sqrt(max(value * p + q, 0.0)) / weight
    return value, value - reach, value + reach
