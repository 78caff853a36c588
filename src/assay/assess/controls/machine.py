# SPDX-License-Identifier: Apache-2.0
"""Controls of the machine: unchanged throughout, the same for all models, large enough, and its accelerators."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.assess.controls.control_declaration import Outcome, Verdict, control, no_evidence
from assay.assess.controls.evidence import Inquiry
from assay.assess.plan.checked_plan import stated
from assay.assess.plan.model_fields import Model
from assay.assess.record.machine_fingerprint import differ
from assay.core.text import counted, listed
from assay.core.traits import TS4213

HARDWARE: Final = (
    "machine",
    "processor",
    "processors",
    "memory",
    "accelerators",
    "system",
    "release",
    "kernel",
    "boot",
)
FAMILIES: Final = ("special_hardware", "gpu", "asic", "instruction_sets", "sparsity", "pruning", "memory")
NONE: Final = ("none", "no", "not used")


@control(
    "CHK-ENV-FP",
    looks_for="changes of the machine between the start and the end of the assessment",
    clause=TS4213("5.3.11"),
    passes_when="every comparable field of the fingerprint is the same at every moment",
    parts=("hardware",),
)
def unchanged(q: Inquiry) -> Iterator[Outcome]:
    """The machine did not change."""
    for part, keys in (("", None), ("hardware", HARDWARE)):
        if len(q.moments) < 2:  # noqa: PLR2004
            yield Outcome(part=part, verdict="no-evidence", says="fewer than two fingerprints were taken")
            continue
        first, *later = q.moments
        names = [name for name in first.fields if keys is None or name in keys]
        changed = sorted(
            {name for one in later for name in names if differ(name, first.fields[name], one.fields.get(name))}
        )
        unread = [name for name in names if first.fields[name] is None]
        facts = {"moments": [one.name for one in q.moments], "fields": len(names), "changed": changed, "unread": unread}
        said = (
            f"changed during the assessment: {listed(changed)}"
            if changed
            else f"{counted(len(names) - len(unread), 'field')} the same at {counted(len(q.moments), 'moment')}"
        )
        tail = f"; not readable here: {listed(unread)}" if unread else ""
        yield Outcome(part=part, verdict="fail" if changed else "pass", says=said + tail, facts=facts)


@control(
    "CHK-ENV-SAME",
    looks_for="models that were assessed on different machines",
    clause=TS4213("5.3.11"),
    passes_when="the fingerprints taken at each model are the same",
)
def same_machine(q: Inquiry) -> Outcome:
    """All models met the same machine."""
    runs = [one for one in q.moments if one.name.startswith("model ")]
    if len(runs) < 2:  # noqa: PLR2004
        return no_evidence("fewer than two models were assessed")
    first, *later = runs
    changed = sorted(
        {name for one in later for name in one.fields if differ(name, first.fields.get(name), one.fields[name])}
    )
    said = f"different: {listed(changed)}" if changed else f"{counted(len(runs), 'model')}, one machine"
    # Predictions that came as files were made elsewhere, and nobody can see where.
    verdict: Verdict = "fail" if changed else "pass" if q.ran_here else "declared"
    return Outcome(verdict, said, facts={"changed": changed, "predictions_made_here": q.ran_here})


@control(
    "CHK-ENV-MIN",
    looks_for="a machine below what the plan asks for",
    clause=TS4213("5.3.11"),
    passes_when="every declared minimum is reached",
    lacks="a smallest environment",
)
def large_enough(q: Inquiry) -> Outcome:
    """The machine reaches the declared minimum."""
    wanted, here = q.plan.environment, q.moments[0].fields if q.moments else {}
    below: list[str] = []
    looked: list[str] = []

    def ask(name: str, least: Any, actual: Any, *, reached: bool) -> None:  # noqa: ANN401  numbers or versions
        looked.append(name)
        if not reached:
            below.append(f"{name}: {actual} here, {least} asked for")

    if wanted.processors is not None and here.get("processors"):
        ask("processors", wanted.processors, here["processors"], reached=here["processors"] >= wanted.processors)
    if wanted.memory_gb is not None and here.get("memory"):
        size = here["memory"] / 1e9
        ask("memory", f"{wanted.memory_gb:g} GB", f"{size:.1f} GB", reached=size >= wanted.memory_gb)
    if wanted.system is not None and here.get("system"):
        ask("system", wanted.system, here["system"], reached=wanted.system.casefold() in str(here["system"]).casefold())
    if wanted.python is not None and here.get("python"):
        ask("python", wanted.python, here["python"], reached=_version(here["python"]) >= _version(wanted.python))
    packages = here.get("packages") or {}
    for name, least in (wanted.packages or {}).items():
        version = packages.get(name)
        ask(name, least, version or "not there", reached=version is not None and _version(version) >= _version(least))
    if not looked:
        return no_evidence("no minimum is declared, or the machine could not be read")
    said = "; ".join(below) if below else f"reached: {listed(looked)}"
    return Outcome("fail" if below else "pass", said, facts={"looked_at": looked, "below": below})


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:4])


@control(
    "CHK-ACCEL",
    looks_for="acceleration that is not reported, or reported otherwise than found",
    clause=TS4213("5.3.12"),
    passes_when="every model answers for training and testing; where the model ran here, the machine agrees",
    parts=("families",),
)
def acceleration(q: Inquiry) -> Iterator[Outcome]:
    """Acceleration is reported, and the machine does not contradict it."""
    models = q.trained()
    devices = list((q.moments[0].fields.get("accelerators") or ()) if q.moments else ())
    silent, open_, denied = _unanswered(models, devices)
    facts = {"silent": silent, "unanswered": open_, "devices": devices, "predictions_made_here": q.ran_here}
    if not models or silent or not q.loaded.signed:
        yield no_evidence(f"nothing is stated for {listed(silent) or 'any model'}", facts=facts)
    elif denied and q.ran_here:
        said = f"{listed(denied)} states no graphics processor; found here: {listed(devices)}"
        yield Outcome("fail", said, facts=facts)
    elif q.ran_here:
        yield Outcome("pass", "stated for every model and phase, and the machine agrees", facts=facts)
    else:
        said = "stated for every model and phase; predictions came as files, so no machine can be asked"
        yield Outcome("declared", said, facts=facts)
    complete: Verdict = "no-evidence" if not models or silent or open_ or not q.loaded.signed else "declared"
    said = "every family is answered" if complete == "declared" else f"unanswered: {listed([*silent, *open_])}"
    yield Outcome(part="families", verdict=complete, says=said, facts={"unanswered": open_})


def _unanswered(models: Mapping[str, Model], devices: list[Any]) -> tuple[list[str], list[str], list[str]]:
    """Phases nothing is stated of, families without an answer, and models that deny a device that is here."""
    silent, open_, denied = [], [], []
    for name, one in models.items():
        for phase in ("training", "testing"):
            given = None if one.acceleration is None else getattr(one.acceleration, phase)
            unstated = [family for family in FAMILIES if given is None or not stated(getattr(given, family))]
            if given is None or len(unstated) == len(FAMILIES):
                silent.append(f"{name}, {phase}")
                continue
            open_ += [f"{name}, {phase}, {family}" for family in unstated]
            if phase == "testing" and devices and (given.gpu or "").strip().casefold() in NONE:
                denied.append(name)
    return silent, open_, denied
