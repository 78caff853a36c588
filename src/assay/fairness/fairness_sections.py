# SPDX-License-Identifier: Apache-2.0
"""The fairness of a Record as sections of a report: criteria by factor, a forest plot of each, curves, conflicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from assay.core.blocks import Block, Chart, Figure, Fold, Paragraph, Section, bullets, chart, number_table, section
from assay.core.text import chance_shown, figure, quoted
from assay.fairness.fairness_criteria import find_criterion

Content: TypeAlias = Mapping[str, Any]
TONES: Final = {"pass": "good", "fail": "bad", "inconclusive": "open"}
DRAWN: Final = 40
"""Groups of a forest plot; of more the largest are drawn."""


def fairness_blocks(part: Content | None) -> Iterator[Section]:
    """Sections from `record["fairness"]`; none where there are no groups."""
    if not part or not part["criteria"]:
        return
    criteria = [entry for entry in part["criteria"] if not _is_complement(entry)]
    blocks: list[Block] = []
    if part["verdict"] is not None:
        reason = f" {part['reason']}" if part["reason"] else ""
        blocks.append(Paragraph(f"Verdict: {part['verdict']}.{reason}", "strong"))
    blocks.append(_matrix(part, criteria))
    blocks += [Paragraph(_sentence(entry)) for entry in criteria if entry["verdict"] is not None]
    for factor, content in part["factors"].items():
        blocks += _of_factor(factor, content, [entry for entry in criteria if entry["factor"] == factor], part)
    blocks.append(Paragraph(_method(part), "soft"))
    yield section("fairness", "Fairness", blocks)


def _matrix(part: Content, criteria: Sequence[Content]) -> Figure:
    """Criteria by factors, each cell a gap with its verdict."""
    names = list(dict.fromkeys(entry["criterion"] for entry in criteria))
    factors = list(part["factors"])
    by_place = {(entry["criterion"], entry["factor"]): entry for entry in criteria}
    cells = [[_cell(by_place.get((name, factor))) for factor in factors] for name in names]
    title, rows = "Gap between groups, by criterion and factor", [_title(name) for name in names]
    drawn = chart("matrix", title=title, rows=rows, columns=factors, cells=cells)
    return Figure(charts=(drawn,), alt="Gaps between groups with their intervals and verdicts.", look="wide")


def _cell(entry: Content | None) -> dict[str, object]:
    if entry is None:
        return {"text": ""}
    if entry["value"] is None:
        return {"text": "undefined", "tone": "open"}
    return {"text": figure(entry["value"]), "tone": TONES.get(entry["verdict"] or "", "")}


def _of_factor(factor: str, content: Content, criteria: Sequence[Content], part: Content) -> Iterator[Block]:
    if "feasibility" in content:
        feasible = content["feasibility"]
        tone = "" if feasible["possible"] else "warn"
        more = "" if feasible["possible"] else f" {feasible['exceptions']}"
        yield Paragraph(feasible["sentence"] + more, tone)
    if "unawareness" in content:
        aware = content["unawareness"]
        names = ", ".join(aware["features"])
        named = f"features that name {factor}: {names}" if names else f"no feature names {factor}"
        yield Paragraph(f"Unawareness: {named}. {aware['note']}")
    left = {f"{quoted(g['level'])} ({g['n']:,} rows): {g['reason']}" for entry in criteria for g in entry["left_out"]}
    if left:
        yield Paragraph(f"Not judged by {factor}, in at least one criterion:")
        yield bullets(sorted(left))
    yield _table(factor, criteria)
    if charts := tuple(_forest(title, entry) for title, entry in _with_groups(criteria)):
        alt = f"Values of the groups of {factor} with {part['level'] * 100:g} % intervals, one plot a criterion."
        yield Fold(title=f"Groups of {factor}", blocks=(Figure(charts=charts, alt=alt, look="many"),), open=True)
    curves = [_curves(name, content[name]) for name in ("roc", "calibration") if content.get(name)]
    if curves:
        yield Figure(charts=tuple(curves), alt=f"ROC curves and calibration of the groups of {factor}.")


def _table(factor: str, criteria: Sequence[Content]) -> Block:
    heads = ("criterion", "gap", "interval", "farthest apart", "p (Holm)", "verdict")
    rows = []
    for entry in criteria:
        equality = entry["equality"]
        p = "" if equality is None else chance_shown(equality.get("adjusted", {}).get("p", equality["p"]))
        unsure = entry.get("low") is None
        ends = entry.get("no_interval", "") if unsure else f"{figure(entry['low'])} to {figure(entry['high'])}"
        value = "undefined" if entry["value"] is None else figure(entry["value"])
        worst = "" if entry["worst"] is None else " / ".join(map(str, entry["worst"]))
        rows.append((_title(entry["criterion"]), value, entry.get("undefined", ends), worst, p, entry["verdict"] or ""))
    return number_table(f"fairness-{factor}", f"Criteria of fairness by {factor}", heads, rows, small=True)


def _with_groups(criteria: Sequence[Content]) -> Iterator[tuple[str, Content]]:
    """Every statistic that has values of groups, by title: a criterion, or its parts."""
    for entry in criteria:
        if entry["groups"]:
            yield _title(entry["criterion"]), entry
        for name, part in entry["parts"].items():
            if part.get("groups"):
                yield f"{_title(entry['criterion'])}: {name.replace('_', ' ')}", part


def _forest(title: str, entry: Content) -> Chart:
    rows = []
    for group in sorted(entry["groups"], key=lambda g: -g["n"])[:DRAWN]:
        few = "" if group["judged"] else ", not judged"
        text = "undefined" if group["value"] is None else figure(group["value"]) + few
        ends = {end: group.get(end) for end in ("value", "low", "high")}
        rows.append({"label": str(group["level"]), "text": text, **ends})
    return chart("intervals", title=title, x="value of the group", rows=rows)


def _curves(name: str, series: Sequence[Content]) -> Chart:
    names, more = ("Calibration by group", "mean score", "share truly positive"), {}
    if name == "roc":
        names, more = ("ROC by group", "false positive rate", "recall"), {"x_range": [0, 1], "diagonal": True}
    title, x, y = names
    return chart("lines", title=title, x=x, y=y, series=list(series), y_range=[0, 1], **more)


def _sentence(entry: Content) -> str:
    return f"{_title(entry['criterion'])} by {entry['factor']}: {entry['verdict']}; {entry['why']}."


def _method(part: Content) -> str:
    return (
        f"Intervals hold for all pairs of groups at once at {part['level'] * 100:g} %; p values are corrected over all "
        f"criteria and factors (Holm). Groups of fewer than {part['minimum']} rows are shown, not judged. "
        "Fairness is not part of the conformity verdict."
    )


def _title(name: str) -> str:
    return name if "(" in name else name.replace("_", " ").capitalize()


def _is_complement(entry: Content) -> bool:
    criterion = find_criterion(entry["criterion"])
    return criterion is not None and bool(criterion.complement) and entry["verdict"] is None
