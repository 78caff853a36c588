# SPDX-License-Identifier: Apache-2.0
"""Controls of the machine: unchanged throughout, the same for all models, large enough, and its accelerators."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from assay.assess.controls.control_declaration import Inquiry, Moment, Outcome, Verdict, control, no_evidence, settle
from assay.assess.plan.checked_plan import stated
from assay.assess.plan.section_fields import Families, Model
from assay.assess.record.machine_fingerprint import differ
from assay.core.text import counted, listed

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
NONE: Final = ("none", "no", "not used")


@control("CHK-ENV-FP")
def unchanged(q: Inquiry) -> Iterator[Outcome]:
    """Looks for changes of the machine between the start and the end of the assessment."""
    for part, keys in (("", None), ("hardware", HARDWARE)):
        if len(q.moments) < 2:  # noqa: PLR2004
            yield no_evidence("fewer than two fingerprints were taken", part=part)
            continue
        names = [name for name in q.moments[0].fields if keys is None or name in keys]
        changed = _changed(q.moments, names)
        unread = [name for name in names if q.moments[0].fields[name] is None]
        tail = f"; not readable here: {listed(unread)}" if unread else ""
        same = f"{counted(len(names) - len(unread), 'field')} the same at {counted(len(q.moments), 'moment')}{tail}"
        facts = {"moments": [one.name for one in q.moments], "fields": len(names), "changed": changed, "unread": unread}
        odd = f"changed during the assessment: {listed(changed)}{tail}"
        yield settle((changed, "fail", odd), (True, "pass", same), part=part, facts=facts)


def _changed(moments: Sequence[Moment], names: Iterable[str]) -> list[str]:
    """Fields that differ from those of the first moment."""
    first, *later = (moment.fields for moment in moments)
    return sorted({name for now in later for name in names if differ(name, first.get(name), now.get(name))})


@control("CHK-ENV-SAME")
def same_machine(q: Inquiry) -> Outcome:
    """Looks for models that were assessed on different machines."""
    runs = [one for one in q.moments if one.name.startswith("model ")]
    if len(runs) < 2:  # noqa: PLR2004
        return no_evidence("fewer than two models were assessed")
    changed = _changed(runs, {name for run in runs[1:] for name in run.fields})
    said = f"different: {listed(changed)}" if changed else f"{counted(len(runs), 'model')}, one machine"
    # Predictions that came as files were made elsewhere, and nobody can see where.
    verdict: Verdict = "fail" if changed else "pass" if q.ran_here else "declared"
    return Outcome(verdict, said, facts={"changed": changed, "predictions_made_here": q.ran_here})


@control("CHK-ENV-MIN")
def large_enough(q: Inquiry) -> Outcome:
    """Looks for a machine below what the plan asks for."""
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


@control("CHK-ACCEL")
def acceleration(q: Inquiry) -> Iterator[Outcome]:
    """Looks for acceleration that is not reported, or reported otherwise than found."""
    models = q.trained()
    devices = list((q.moments[0].fields.get("accelerators") or ()) if q.moments else ())
    silent, open_, denied = _unanswered(models, devices)
    facts = {"silent": silent, "unanswered": open_, "devices": devices, "predictions_made_here": q.ran_here}
    bare = not models or silent or not q.loaded.signed
    files = "stated for every model and phase; predictions came as files, so no machine can be asked"
    yield settle(
        (bare, "no-evidence", f"nothing is stated for {listed(silent) or 'any model'}"),
        (not q.ran_here, "declared", files),
        (denied, "fail", f"{listed(denied)} states no graphics processor; found here: {listed(devices)}"),
        (True, "pass", "stated for every model and phase, and the machine agrees"),
        facts=facts,
    )
    yield settle(
        (bare or open_, "no-evidence", f"unanswered: {listed([*silent, *open_])}"),
        (True, "declared", "every family is answered"),
        part="families",
        facts={"unanswered": open_},
    )


def _unanswered(models: Mapping[str, Model], devices: list[Any]) -> tuple[list[str], list[str], list[str]]:
    """Phases nothing is stated of, families without an answer, and models that deny a device that is here."""
    silent, open_, denied = [], [], []
    for name, one in models.items():
        for phase in ("training", "testing"):
            given = None if one.acceleration is None else getattr(one.acceleration, phase)
            families = Families.model_fields
            unstated = [family for family in families if given is None or not stated(getattr(given, family))]
            if given is None or len(unstated) == len(families):
                silent.append(f"{name}, {phase}")
                continue
            open_ += [f"{name}, {phase}, {family}" for family in unstated]
            if phase == "testing" and devices and (given.gpu or "").strip().casefold() in NONE:
                denied.append(name)
    return silent, open_, denied
