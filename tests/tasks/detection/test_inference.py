# SPDX-License-Identifier: Apache-2.0
"""Intervals from half samples, and comparisons of detectors."""

from __future__ import annotations

import numpy as np
import pytest

import assay
from assay.assess.record.verification import verify
from assay.inference.intervals.interval_choice import Wanted
from assay.measures.declare import parse
from assay.tasks.detection import TASK
from assay.tasks.detection.intervals import HalfSamples, count_freedom
from tests.tasks.detection.reference import random_scenes

SETTINGS = assay.IntervalSettings(draws=100)


@pytest.fixture(scope="module")
def scenes():
    return random_scenes(11, images=60)


@pytest.fixture(scope="module")
def whole(scenes):
    return assay.detection(*scenes, intervals=SETTINGS)


def spoil(found, seed, share):
    rng = np.random.default_rng(seed)
    return [d for d in found if rng.random() > share]


def test_every_interval_holds_its_value(whole):
    for name in whole:
        estimate = whole[name]
        if estimate.interval is not None:
            assert estimate.low <= estimate.value <= estimate.high, name


def test_the_bias_of_map_is_told_and_taken_off(whole):
    estimate = whole["map"]
    assert any("too high; the interval allows for it" in note for note in estimate.interval.notes)
    assert estimate.high - estimate.value < estimate.value - estimate.low


def test_the_same_seed_gives_the_same_interval(scenes, whole):
    again = assay.detection(*scenes, intervals=SETTINGS)
    assert (again["map"].low, again["map"].high) == (whole["map"].low, whole["map"].high)
    other = assay.detection(*scenes, intervals=assay.IntervalSettings(draws=100, seed=1))
    assert other["map"].low != whole["map"].low


def test_an_interval_shrinks_with_more_images():
    wide, narrow = (assay.detection(*random_scenes(12, images=size), intervals=SETTINGS)["map"] for size in (30, 240))
    assert narrow.high - narrow.low < 0.6 * (wide.high - wide.low)


def test_few_images_and_rare_classes_have_no_interval():
    assert "needs 20" in assay.detection(*random_scenes(1, images=12))["map"].no_interval
    truth, found = random_scenes(2, images=24, classes=40)
    a = assay.detection(truth, found, intervals=SETTINGS)
    assert "too few for an interval" in a["map"].no_interval
    rare = [a.by_class[label]["ap"] for label in a.by_class]
    assert any("fewer than 5 images" in (estimate.no_interval or "") for estimate in rare)


def test_images_of_one_patient_are_drawn_together(scenes, whole):
    truth, found = scenes
    patients = {image["id"]: image["id"] % 25 for image in truth["images"]}
    a = assay.detection(truth, found, unit=patients, intervals=SETTINGS)
    assert a["map"].value == whole["map"].value
    assert a["map"].low != whole["map"].low
    assert a["map"].n == 25


def test_a_detector_does_not_differ_from_itself(scenes):
    truth, found = scenes
    c = assay.compare(task="detection", truth=truth, predicted={"A": found, "B": found}, intervals=SETTINGS)
    assert c["map"].p == 1
    assert c["map"].effect.value == 0


def test_a_spoiled_detector_is_found_out(scenes):
    truth, found = scenes
    models = {"whole": found, "spoiled": spoil(found, 1, 0.5)}
    c = assay.compare(task="detection", truth=truth, predicted=models, intervals=SETTINGS)
    finding = c["map"]
    assert finding.p < 0.02
    assert finding.effect.value > 0
    assert finding.effect.interval.low > 0
    assert len(finding.more) == 3
    assert finding.counts["only the second"] <= finding.counts["only the first"]
    assert any("after Holm over 3 classes" in note for note in finding.notes)
    assert c.ranking[0].model == "whole"
    swapped = assay.compare(task="detection", truth=truth, predicted=dict(reversed(models.items())), intervals=SETTINGS)
    assert swapped["map"].effect.value == pytest.approx(-finding.effect.value)
    result = verify(c.record)
    assert result.holds, result.mismatches


def test_the_permutation_test_holds_its_level():
    rejected = 0
    for seed in range(16):
        truth, found = random_scenes(100 + seed, images=20, classes=2)
        models = {"A": spoil(found, seed, 0.3), "B": spoil(found, 1000 + seed, 0.3)}
        c = assay.compare(task="detection", truth=truth, predicted=models, measures=["map_50"], intervals=SETTINGS)
        rejected += c["map_50"].p <= 0.1
    assert rejected <= 5


def test_sections_of_the_report_come_from_the_record(whole):
    from assay.tasks.detection import TASK

    sections = {part.id: part for part in TASK.blocks(whole.record)}
    assert set(sections) == {"curves", "errors", "confidence", "worst-images"}
    assert all(part.blocks for part in sections.values())


def test_sites_merge_and_criteria_decide():
    first, second = (
        assay.detection(*random_scenes(seed, images=30, first=start), intervals=SETTINGS)
        for seed, start in ((1, 1), (2, 100))
    )
    both = assay.merge(first, second)
    assert both.counts == first.counts + second.counts
    assert both.census.read == 60
    assert str(both.accept("map >= 0.01").decisions.verdict) == "pass"
    assert str(both.accept("map >= 0.99").decisions.verdict) == "fail"
    assert both.by_unit["1"].keys() == {"precision", "recall", "errors"}


def test_rare_classes_lower_the_degrees_of_freedom():
    truth, found = random_scenes(5, images=40, classes=2)
    rare = [o for o in truth["annotations"] if o["category_id"] == 2]
    kept = {o["image_id"] for o in rare[:3]}
    few = {**truth, "annotations": [o for o in truth["annotations"] if o["category_id"] == 1 or o["image_id"] in kept]}
    for content, below in ((truth, False), (few, True)):
        tally = assay.detection(content, found).counts
        halves = HalfSamples(tally, Wanted(level=0.95, draws=200))
        free = count_freedom([halves], parse("map", TASK.registry))
        assert (2 <= free < 39) if below else free == 39
