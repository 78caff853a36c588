# SPDX-License-Identifier: Apache-2.0
"""Speed and memory of detection beside other tools, on a synthetic set of the size of COCO val.

    python bench/detection.py [--images 5000] [--slow] [--large]

Each tool runs in a process of its own and reads the same files. `--slow` adds pycocotools and faster-coco-eval,
`--large` one table of 100,000 images with 300 detections each. Times are processor seconds without imports.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

CLASSES = 80
DETECTIONS = 100
TOOLS = ("assay-json", "assay-parquet", "hotcoco", "ultrafast")
SLOW = ("faster-coco-eval", "pycocotools")
KEYS = ("image", "label", "x", "y", "w", "h")


def make_scenes(images: int, classes: int, detections: int, seed: int = 0) -> tuple[dict, dict]:
    """Objects of a few classes an image, detections near them, and background alarms."""
    rng = np.random.default_rng(seed)
    popular = rng.dirichlet(np.full(classes, 0.8))
    image = np.repeat(np.arange(images), rng.poisson(7.3, images))
    usual = rng.choice(classes, (images, 3), p=popular)
    label = usual[image, rng.integers(0, 3, len(image))]
    size, ratio = np.exp(rng.normal(4.0, 0.9, len(image))), np.exp(rng.normal(0, 0.3, len(image)))
    width, height = np.clip(size * ratio, 4, 500), np.clip(size / ratio, 4, 400)
    box = np.column_stack([rng.uniform(0, 640 - width), rng.uniform(0, 480 - height), width, height])
    near = np.repeat(np.arange(len(image)), rng.poisson(1.6, len(image)))
    quality = rng.beta(2, 2, len(near))
    sides = np.tile(box[near, 2:], 2)
    moved = box[near] + (1 - quality)[:, None] * rng.normal(0, 0.25, (len(near), 4)) * sides
    rest = images * detections - len(near)
    where = rng.integers(0, images, rest)
    alarms = np.column_stack(
        [rng.uniform(0, 600, rest), rng.uniform(0, 440, rest), *np.exp(rng.normal(3.8, 0.8, (2, rest)))]
    )
    wrong = rng.random(len(near)) < 0.12
    labels = np.where(wrong, rng.integers(0, classes, len(near)), label[near])
    others = np.where(rng.random(rest) < 0.5, usual[where, rng.integers(0, 3, rest)], rng.integers(0, classes, rest))
    found = np.vstack([moved, alarms])
    found[:, :2] = np.clip(found[:, :2], 0, [630, 470])
    found[:, 2:] = np.clip(found[:, 2:], 2, [640, 480] - found[:, :2])
    score = np.concatenate([np.clip(quality * 0.8 + rng.normal(0, 0.12, len(near)), 0.01, 0.999), rng.beta(1, 8, rest)])
    of = np.concatenate([image[near], where])
    order = np.argsort(of, kind="stable")
    truth = {
        "image": image,
        "label": label,
        "box": np.round(box, 2),
        "crowd": (rng.random(len(image)) < 0.01).astype(int),
    }
    predicted = {"image": of, "label": np.concatenate([labels, others]), "box": np.round(found, 2), "score": score}
    predicted = {name: column[order] for name, column in predicted.items()}
    return truth, predicted | {"score": np.round(predicted["score"], 5)}


def write_files(folder: Path, images: int) -> None:
    """The same set as COCO files and as Parquet files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    truth, predicted = make_scenes(images, CLASSES, DETECTIONS)
    columns = [truth["image"].tolist(), truth["label"].tolist(), truth["box"].tolist(), truth["crowd"].tolist()]
    annotations = [
        {"id": k + 1, "image_id": i + 1, "category_id": c + 1, "bbox": b, "area": b[2] * b[3], "iscrowd": w}
        for k, (i, c, b, w) in enumerate(zip(*columns, strict=True))
    ]
    listed = [{"id": i + 1, "width": 640, "height": 480, "file_name": f"{i}.jpg"} for i in range(images)]
    categories = [{"id": c + 1, "name": f"c{c + 1}"} for c in range(CLASSES)]
    content = {"images": listed, "categories": categories, "annotations": annotations}
    (folder / "truth.json").write_text(json.dumps(content), "utf-8")
    rows = zip(*(predicted[name].tolist() for name in ("image", "label", "box", "score")), strict=True)
    found = [{"image_id": i + 1, "category_id": c + 1, "bbox": b, "score": s} for i, c, b, s in rows]
    (folder / "found.json").write_text(json.dumps(found), "utf-8")
    for name, part in (("truth", truth), ("found", predicted)):
        table = {"image": part["image"] + 1, "label": part["label"] + 1}
        table |= {key: part["box"][:, place] for place, key in enumerate(KEYS[2:])}
        table |= {key: part[key] for key in ("crowd", "score") if key in part}
        pq.write_table(pa.table(table), folder / f"{name}.parquet")


def run_assay(truth: str, found: str, *, images: int | None = None) -> list[float]:
    """The twelve numbers."""
    import assay
    from assay.tasks.detection.box_values import read_values
    from assay.tasks.detection.measures import TWELVE

    more = {} if images is None else {"images": range(1, images + 1)}
    a = assay.detection(truth, found, **more)
    values = read_values(a.counts)
    return [a.measures.find(name)(values).value for name in TWELVE]


def run_peer(tool: str, truth: str, found: str) -> list[float]:
    """The same by a tool with the interface of pycocotools."""
    if tool == "hotcoco":
        from hotcoco import COCO, COCOeval
    elif tool == "ultrafast":
        from ultrafast_pycocotools.coco import COCO
        from ultrafast_pycocotools.cocoeval import COCOeval
    elif tool == "faster-coco-eval":
        from faster_coco_eval import COCO
        from faster_coco_eval import COCOeval_faster as COCOeval
    else:
        from pycocotools.coco import COCO
        from pycocotools.cocoeval import COCOeval
    reference = COCO(truth)
    load = reference.loadRes if hasattr(reference, "loadRes") else reference.load_res
    evaluation = COCOeval(reference, load(found), "bbox")
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    return [float(value) for value in evaluation.stats[:12]]


def measure_tool(tool: str, folder: Path, images: int) -> None:
    """Run one tool here and print its figures as JSON."""
    with contextlib.redirect_stdout(io.StringIO()):  # a tiny run loads what each tool imports, which is not timed
        run_tool(tool if tool in (*TOOLS, *SLOW) else "assay-json", folder / "tiny", 2)
    began, clock = time.process_time(), time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        numbers = run_tool(tool, folder, images)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    used, waited = time.process_time() - began, time.perf_counter() - clock
    print(json.dumps({"tool": tool, "cpu": used, "wall": waited, "mb": peak, "numbers": numbers}))


def run_tool(tool: str, folder: Path, images: int) -> list[float]:
    """The numbers of one tool."""
    if tool == "assay-json":
        return run_assay(str(folder / "truth.json"), str(folder / "found.json"))
    if tool == "assay-parquet":
        return run_assay(str(folder / "truth.parquet"), str(folder / "found.parquet"), images=images)
    if tool == "draws":
        return [draw_thousand(folder)]
    if tool == "intervals":
        return run_intervals(folder)
    if tool == "large":
        return run_large(folder)
    return run_peer(tool, str(folder / "truth.json"), str(folder / "found.json"))


def draw_thousand(folder: Path) -> float:
    """Processor seconds of 1,000 bootstrap draws of map, matching not included."""
    from assay.core.task import Request, find_task
    from assay.tasks.detection.average_precision import draw_precisions

    task = find_task("detection")
    given = {"truth": folder / "truth.json", "predicted": folder / "found.json"}
    tally = task.read(Request(given=given, options={option.name: option.default for option in task.options})).tally
    began, rng = time.process_time(), np.random.default_rng(1)
    size = len(tally.images)
    draws = [np.bincount(rng.integers(0, size, size), minlength=size) for _ in range(1000)]
    draw_precisions(tally, np.stack(draws, axis=1).astype(np.float64))
    return time.process_time() - began


def run_intervals(folder: Path) -> list[float]:
    """The public call with the Record: all measures, classes and intervals."""
    import assay

    a = assay.detection(folder / "truth.json", folder / "found.json")
    return [a["map"].low, a["map"].high, len(a.record["estimates"])]


def write_large(folder: Path, images: int, detections: int) -> None:
    """One table with a row a box, written in pieces."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer, step = None, 5000
    for first in range(0, images, step):
        truth, predicted = make_scenes(step, CLASSES, detections, seed=first)
        tables = []
        for part in (truth, predicted):
            columns = {"image": part["image"] + first, "label": part["label"]}
            columns |= {key: part["box"][:, place] for place, key in enumerate(KEYS[2:])}
            tables.append(pa.table(columns | {"score": pa.array(part.get("score"), pa.float64()) if "score" in part
                                              else pa.nulls(len(part["image"]), pa.float64())}))  # fmt: skip
        table = pa.concat_tables(tables)
        writer = writer or pq.ParquetWriter(folder / "large.parquet", table.schema)
        writer.write_table(table)
    writer.close()


def run_large(folder: Path) -> list[float]:
    """The numbers of the large table, by batches of images."""
    import assay
    from assay.tasks.detection.box_values import read_values

    a = assay.detection(data=str(folder / "large.parquet"), limits=assay.Limits(memory="200MB"))
    values = read_values(a.counts)
    return [float(a.measures.find(name)(values).value) for name in ("map", "map_50", "recall")]


def main() -> None:
    """Print a table of all tools."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--large-images", type=int, default=100_000)
    parser.add_argument("--run", nargs=2, metavar=("TOOL", "FOLDER"))
    given = parser.parse_args()
    if given.run:
        tool, folder = given.run[0], Path(given.run[1])
        if tool == "write":
            write_files(folder, given.images)
            (folder / "tiny").mkdir()
            write_files(folder / "tiny", 2)
        elif tool == "write-large":
            write_large(folder, given.large_images, 300)
        else:
            measure_tool(tool, folder, given.images)
        return
    large = ("write-large", "large") if given.large else ()
    tools = ("write", *TOOLS, *(SLOW if given.slow else ()), "draws", "intervals", *large)
    with tempfile.TemporaryDirectory() as place:
        results = {}
        for tool in tools:  # each in a process of its own, also those that write: a child inherits the peak memory
            command = [sys.executable, __file__, "--images", str(given.images), "--run", tool, place]
            command += ["--large-images", str(given.large_images)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{tool}: failed: {done.stderr.strip().splitlines()[-1]}")
                continue
            if tool.startswith("write"):
                continue
            results[tool] = json.loads(done.stdout.splitlines()[-1])
    report(results)


def report(results: dict[str, dict]) -> None:
    """Times, memory, the ratio to ours, and the largest difference of the twelve numbers."""
    own = results["assay-json"]
    print(f"{'tool':<18}{'cpu s':>8}{'wall s':>8}{'MB':>8}{'x ours':>8}   largest difference")
    for tool, figures in results.items():
        same = ""
        if len(figures["numbers"]) == len(own["numbers"]):
            same = f"{max(abs(a - b) for a, b in zip(figures['numbers'], own['numbers'], strict=True)):.1e}"
        ratio = figures["cpu"] / own["cpu"]
        print(f"{tool:<18}{figures['cpu']:8.2f}{figures['wall']:8.2f}{figures['mb']:8.0f}{ratio:8.2f}   {same}")
    if "draws" in results:
        print(f"1,000 bootstrap draws of map: {results['draws']['numbers'][0]:.2f} processor seconds")


if __name__ == "__main__":
    main()
