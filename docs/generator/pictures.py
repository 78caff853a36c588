# SPDX-License-Identifier: Apache-2.0
"""Pictures for the gallery: first screens and figures of our own reports, by a headless Chromium, 60 KB at most."""

from __future__ import annotations

import csv
import io
import sys
import tempfile
from pathlib import Path
from typing import Any

import assay

PICTURES = Path(__file__).resolve().parents[1] / "pictures"
WIDE, HIGH, LARGEST = 960, 720, 60_000
TASKS = (
    "regression", "multilabel", "segmentation", "image_quality", "detection", "retrieval", "clustering", "efficiency",
)  # fmt: skip


TO_FIGURE = """() => {
  const area = svg => svg.getBoundingClientRect().width * svg.getBoundingClientRect().height;
  const all = [...document.querySelectorAll("svg")].filter(svg => area(svg) > 60000);
  const large = all.find(svg => !/axis from/.test(svg.textContent)) || all[0];
  if (large) (large.closest("figure") || large).scrollIntoView();
}"""
"""Scrolls to the section of the first large figure."""


def draw() -> list[Path]:
    """Draw every picture anew."""
    sys.path.insert(0, str(PICTURES.parents[1]))
    from playwright.sync_api import sync_playwright

    import run

    with tempfile.TemporaryDirectory() as place, sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=run.browser(), args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": WIDE, "height": HIGH})
        return [_drawn(page, name, report) for name, report in _reports(Path(place)).items()]


def _drawn(page: Any, name: str, report: Path) -> Path:  # noqa: ANN401  Playwright's page
    from PIL import Image

    page.goto(report.as_uri())
    if name in TASKS:
        page.evaluate(TO_FIGURE)
    page.wait_for_timeout(300)
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = PICTURES / f"{name}.png"
    for colours in (64, 32, 16, 8):
        image.quantize(colours, dither=Image.Dither.NONE).save(path, optimize=True)
        if path.stat().st_size <= LARGEST:
            break
    return path


def _reports(place: Path) -> dict[str, Path]:
    from assay.app.demo import demo_assessments

    results: dict[str, Any] = dict(demo_assessments(None, place, quiet=True)[0])
    for task in TASKS:
        results[task] = next(iter(demo_assessments(task, place, quiet=True)[0].values()))
    screening = Path(assay.__file__).parent / "app" / "examples" / "screening.csv"
    with screening.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    truth, first, score = ([row[name] for row in rows] for name in ("truth", "predicted", "score"))
    second = ["disease" if float(value) >= 0.5 else "healthy" for value in score]  # noqa: PLR2004  a usual threshold
    results["comparison"] = assay.compare(truth=truth, predicted={"old": first, "new": second}, positive="disease")
    paths = {}
    for name, result in results.items():
        paths[name] = place / f"{name}.html"
        result.report(paths[name])
    return paths
