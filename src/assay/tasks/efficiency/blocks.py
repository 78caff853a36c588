# SPDX-License-Identifier: Apache-2.0
"""Sections of a report that only efficiency has: distribution, time line, benchmark table (Annex C), Pareto front."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.core.blocks import Chart, Figure, Paragraph, Section, Table, number_table, section, table
from assay.core.text import counted, figure
from assay.tally.base import ModelTallies
from assay.tally.data.durations import NANOSECONDS
from assay.tasks.efficiency.tally import Measured

SHARES: Final = (0.001, 0.01, 0.05, *(place / 20 for place in range(2, 19)), 0.95, 0.98, 0.99, 0.995, 0.999, 1.0)
DRAWN: Final = 10
"""Runs that are drawn one by one."""
STALL: Final = 10.0
"""How many times the median a section's longest time is, at least, to be marked as a stall."""
MARKED: Final = 12
FACTS: Final = {
    "scenario": "scenario",
    "bound": "latency bound (s)",
    "rate": "requests a second",
    "streams": "requests at once",
    "batch": "batch size",
    "workers": "requests under way at most",
    "threads": "threads of the model",
    "depth": "layers",
    "parameters": "parameters",
    "macs": "multiply-accumulate operations",
    "bytes": "bytes of the model",
    "training_joules": "energy of training (J)",
    "meter": "meter",
}
AMOUNTS: Final = {
    "peak_bytes": "peak memory (bytes)",
    "warm_up": "warm-up answers left out, at most",
    "lag": "lag of the driver (s), at most",
    "steal": "processor time taken by other machines, at most",
}
MEASURES: Final = ("latency_mean", "p99", "latency_compliance", "throughput", "joules_per_inference")
PARETO: Final = {
    "quality": ("share of correct answers", 1),
    "p99": ("p99 (s)", -1),
    "throughput": ("answers in time a second", 1),
    "joules_per_correct_inference": ("joules a correct answer", -1),
}


def figure_data(tally: Measured) -> dict[str, Any]:
    """What figures need, small enough for a Record."""
    durations = tally.durations
    if not durations.rows - durations.failed:
        return {}
    whole = [[time, share] for share in SHARES if (time := durations.at(share)) is not None]
    runs = [
        [[time, share] for share in SHARES[2:] if (time := durations.only(run).at(share)) is not None]
        for run in durations.runs[:DRAWN]
    ]
    sections: list[list[float | None]] = []
    edges: list[int] = []
    for run in durations.runs[:DRAWN]:
        edges.append(len(sections))
        for part in run.sections:
            answered = part.asked - part.failed
            mean = part.nanoseconds / answered / NANOSECONDS if answered else None
            sections.append([mean, part.longest / NANOSECONDS, part.failed])
    return {"distribution": whole, "runs": runs, "sections": sections, "edges": edges}


def assessment_sections(record: Mapping[str, Any]) -> Iterator[Section]:
    """Sections of one model."""
    figures = record.get("figures") or {}
    if figures:
        yield section("latency", "How long answers took", _latency_blocks(record, figures))
        yield section("stalls", "Time line", _timeline_blocks(figures))
    yield section("benchmark", "Benchmark table (Annex C)", [_benchmark(record)])


def _latency_blocks(record: Mapping[str, Any], figures: Mapping[str, Any]) -> Iterator[Any]:
    series = [{"name": "all runs", "points": figures["distribution"], "step": True}]
    series += [{"name": "single runs", "points": points, "quiet": True} for points in figures["runs"]]
    bound = record["tallies"].get("model", {}).get("bound")
    kept = next((part["value"] for part in record["estimates"] if part["measure"] == "latency_compliance"), None)
    data = {
        "title": "Share answered within a time", "x": "seconds", "y": "share", "series": series,
        "log_x": True, "y_range": [0, 1],
        "marks": [] if bound is None or kept is None else [{"x": bound, "y": kept, "text": "bound"}],
    }  # fmt: skip
    middle, last = _time_at(figures, 0.5), _time_at(figures, 0.99)
    alt = f"Half of the requests were answered within {middle} s, 99 % within {last} s."
    yield Figure(charts=(Chart("lines", (data,)),), alt=alt)
    if len(figures["runs"]) == DRAWN:
        yield Paragraph(f"Up to {DRAWN} runs are drawn one by one.", "soft")


def _time_at(figures: Mapping[str, Any], share: float) -> str:
    return next((figure(time) for time, part in figures["distribution"] if part >= share), "an unknown time")


def _timeline_blocks(figures: Mapping[str, Any]) -> Iterator[Any]:
    rows = figures["sections"]
    median = next((time for time, share in figures["distribution"] if share >= 0.5), 0.0)  # noqa: PLR2004  the median
    stalls = [place for place, (_, time, failed) in enumerate(rows) if failed or time > STALL * median]
    data = {
        "title": "Longest latency by section", "x": "section of a run, in order", "y": "seconds",
        "series": [{"points": [[place, time] for place, (_, time, _) in enumerate(rows)], "thin": True}], "low": True,
        "spans": [{"from": place - 0.5, "to": place + 0.5, "text": "stall"} for place in stalls[:MARKED]],
    }  # fmt: skip
    said = f"{counted(len(stalls), 'section')} of {len(rows)} had a stall or a failure"
    yield Figure(charts=(Chart("lines", (data,)),), alt=f"{said}.", look="wide")
    if stalls:
        shown = ", ".join(
            f"section {place} ({figure(rows[place][1])} s{', failed requests' if rows[place][2] else ''})"
            for place in stalls[:MARKED]
        )
        more = f" and {len(stalls) - MARKED} more" if len(stalls) > MARKED else ""
        yield Paragraph(f"{said}, ten times the median or more: {shown}{more}.", "warn")


def _benchmark(record: Mapping[str, Any]) -> Table:
    facts, runs = record["tallies"].get("model", {}), record["tallies"]["durations"]["runs"]
    rows = [("runs", str(len(runs))), ("requests", f"{int(record['samples']):,}")]
    rows += [(label, _shown(facts[name])) for name, label in FACTS.items() if facts.get(name) is not None]
    for name, label in AMOUNTS.items():
        values = [run["amounts"][name] for run in runs if name in run["amounts"]]
        rows += [(label, _shown(max(values)))] if values else []
    for estimate in record["estimates"]:
        if estimate["measure"] in MEASURES:
            rows.append((estimate["measure"], _estimate_text(estimate)))
    return number_table("benchmark", "What was run, and what it took", ("what", "value"), rows)


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if value == int(value) and abs(value) >= 1 else figure(value)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _estimate_text(estimate: Mapping[str, Any]) -> str:
    value = estimate.get("value")
    if not isinstance(value, (int, float)):
        return "undefined" if value is None else "infinite"
    low, high = estimate.get("low"), estimate.get("high")
    if low is None:
        return figure(value)
    top = figure(high) if isinstance(high, (int, float)) else "no limit"
    return f"{figure(value)} ({figure(low)} to {top})"


def comparison_sections(record: Mapping[str, Any]) -> Iterator[Section]:
    """The Pareto front of several models."""
    models = ModelTallies.read(Measured, record["tallies"]).models
    values = {model: _objectives(measured) for model, measured in models.items()}
    used = [name for name in PARETO if all(own.get(name) is not None for own in values.values())]
    if not used:
        return
    beaten = {model: _beaten_by(model, values, used) for model in values}
    heads = ("model", "name", 1), *((PARETO[name][0], "number", 1) for name in used), ("beaten by", "text", 1)
    rows = [
        (model, *(figure(own[name]) for name in used), ", ".join(beaten[model]) or "none")
        for model, own in values.items()
    ]
    blocks: list[Any] = [table("pareto", "A model is beaten if another is better in all of these", heads, rows)]
    pair = [name for name in ("p99", "quality", "throughput") if name in used][:2]
    if len(pair) == 2:  # noqa: PLR2004  two axes
        series = [{"name": model, "points": [[own[pair[0]], own[pair[1]]]]} for model, own in values.items()]
        data = {"title": "Models", "x": PARETO[pair[0]][0], "y": PARETO[pair[1]][0], "series": series}
        front = ", ".join(model for model, others in beaten.items() if not others)
        blocks.insert(0, Figure(charts=(Chart("lines", (data,)),), alt=f"On the Pareto front: {front}."))
    yield section("pareto", "Pareto front", blocks)


def _objectives(measured: Measured) -> dict[str, Any]:
    from assay.core.values import Undefined

    costs = measured.costs(measured.table.total())
    judged = float(costs.judged) == float(costs.runs) and float(costs.asked) > 0
    values: dict[str, Any] = {"quality": float(costs.correct) / float(costs.asked) if judged else None}
    for name in PARETO:
        if name != "quality":
            value: Any = costs.MEASURES.find(name)(costs)  # type: ignore[operator]
            values[name] = None if isinstance(value, Undefined) else value.value
    return values


def _beaten_by(model: str, values: Mapping[str, Mapping[str, float]], used: list[str]) -> list[str]:
    own = [values[model][name] * PARETO[name][1] for name in used]
    others = []
    for other, theirs in values.items():
        signed = [theirs[name] * PARETO[name][1] for name in used]
        if other != model and all(b >= a for a, b in zip(own, signed, strict=True)) and signed != own:
            others.append(other)
    return others
