# SPDX-License-Identifier: Apache-2.0
"""Sections of a report that only regression has: how errors lie, how large they are, where they are large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.core.blocks import Block, Figure, Paragraph, Reach, Section, chart, number_table, section
from assay.core.text import figure

HEAVY: Final = 9.0


def regression_sections(record: Mapping[str, Any]) -> Iterator[Section]:
    """The sections of each output that has pictures."""
    drawn: Mapping[str, Any] = record.get("figures") or {}
    for place, (output, data) in enumerate(drawn.items()):
        name = f": {output}" if output else ""
        yield section(f"errors{place}", f"Errors{name}", _error_blocks(data))
        yield section(f"where{place}", f"Where errors are large{name}", _place_blocks(data), reach=Reach.REPORT)
        if "coverage" in data or "calibration" in data:
            yield section(f"calibration{place}", f"Predicted intervals and quantiles{name}", _calibration_blocks(data))


def _error_blocks(data: Mapping[str, Any]) -> Iterator[Block]:
    kurtosis = data["shape"][1]
    if kurtosis > HEAVY:
        yield Paragraph(
            f"A few large errors dominate (kurtosis {figure(kurtosis)}, 3 for normal errors): no interval of RMSE, R2 "
            "or a correlation holds its level, so read the mean absolute error first.",
            "warn",
        )
    yield number_table(
        "sizes", "How large errors are", ("share of the rows", "absolute error at most"),
        [(f"{share * 100:g} %", figure(value)) for share, value, *_ in data["quantiles"]],
    )  # fmt: skip
    if data["above"]:
        yield number_table(
            "above", "How often errors are large", ("absolute error above", "share of the rows"),
            [(f"{size:g}", f"{share * 100:.3g} %") for size, share in data["above"]],
        )  # fmt: skip
    zero, axis = [{"x": 0.0, "text": "0"}], "truth minus prediction"
    drawn = chart("distribution", title="Errors", x=axis, **data["distribution"], marks=zero)
    yield Figure(charts=(drawn,), reach=Reach.FULL, alt="The distribution of the errors.")


def _place_blocks(data: Mapping[str, Any]) -> Iterator[Block]:
    axes, zero = {"x": "prediction", "y": "truth minus prediction"}, [{"y": 0.0, "text": "0"}]
    charts = [
        chart("cloud", title="Predicted and true", x="truth", y="prediction", diagonal=True, **data["predicted"]),
        chart("cloud", title="Errors by prediction", **axes, lines=zero, **data["residuals"]),
    ]
    if data["limits"]:
        names = ("lower limit", "bias", "upper limit")
        lines = [
            {"y": value, "text": name, "dashed": name != "bias"}
            for value, name in zip(data["limits"], names, strict=True)
        ]
        axes = {"x": "mean of truth and prediction", "y": "prediction minus truth"}
        charts.append(chart("cloud", title="Agreement (Bland-Altman)", **axes, lines=lines, **data["agreement"]))
    outside = data["predicted"].get("outside", 0)
    note = f"{outside:,} rows in the far tails are not drawn." if outside else ""
    yield Figure(
        charts=tuple(charts), note=note, reach=Reach.FULL,
        alt="Predictions against truth, errors against predictions, and agreement.",
    )  # fmt: skip
    rows = [
        {
            "label": f"{low:g} to {high:g}" if low != high else f"{low:g}", "value": value, "low": least, "high": most,
            "text": figure(value),
        }
        for low, high, _, value, least, most in data["deciles"]
    ]  # fmt: skip
    drawn = chart("intervals", title="Error by size of the truth", x="mean absolute error", rows=rows)
    alt = "The mean absolute error in ten parts of the truth."
    yield Figure(charts=(drawn,), look="wide", reach=Reach.FULL, alt=alt)
    yield number_table(
        "deciles", "Mean absolute error by size of the truth",
        ("truth", "rows", "mean absolute error", "from", "to"),
        [
            (row["label"], f"{part[2]:,.0f}", figure(part[3]), figure(part[4]), figure(part[5]))
            for row, part in zip(rows, data["deciles"], strict=True)
        ],
        small=True,
    )  # fmt: skip


def _calibration_blocks(data: Mapping[str, Any]) -> Iterator[Block]:
    if "coverage" in data:
        stated, observed, width = data["coverage"]
        claim = f"; {stated * 100:g} % are claimed" if stated is not None else "; the claimed level was not stated"
        yield Paragraph(
            f"{observed * 100:.3g} % of the rows are inside their predicted interval{claim}. "
            f"Intervals are {figure(width)} wide on average."
        )
    if "calibration" in data:
        yield number_table(
            "quantiles", "Predicted quantiles", ("stated", "observed"),
            [(f"{stated * 100:g} %", f"{observed * 100:.3g} %") for stated, observed in data["calibration"]],
        )  # fmt: skip
        series = [{"name": "observed", "points": [list(pair) for pair in data["calibration"]]}]
        axes, ends = {"x": "stated share", "y": "observed share"}, {"x_range": [0, 1], "y_range": [0, 1]}
        drawn = chart("lines", title="Calibration of quantiles", **axes, diagonal=True, series=series, **ends)
        alt = "Observed against stated shares of predicted quantiles."
        yield Figure(charts=(drawn,), reach=Reach.FULL, alt=alt)
