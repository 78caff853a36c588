# SPDX-License-Identifier: Apache-2.0
"""Controls of the models: hyperparameters, tuning effort, preprocessing, training data, artefacts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from assay.assess.controls.control_declaration import Inquiry, Outcome, control, no_evidence, settle
from assay.assess.plan.checked_plan import stated
from assay.assess.plan.plan_answers import splits_of
from assay.assess.plan.section_fields import Model, Step
from assay.core.text import counted, listed, phrases
from assay.tally.base import digest
from assay.tally.data.feature_counts import values_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tally.data.split_counts import SplitRows

    Floats: TypeAlias = NDArray[np.float64]

NOTHING = "none"
"""What a step was fitted on that has no parameters."""
PARITY = 2
"""Ratio of tuning trials from which the effort counts as unequal."""


@control("CHK-HPARAM")
def hyperparameters(q: Inquiry) -> Outcome:
    """Looks for models whose hyperparameters are not stated."""
    models = q.trained()
    bare = [name for name, one in models.items() if one.hyperparameters is None]
    if not models or bare or not q.loaded.signed:
        said = f"no hyperparameters are stated for {listed(bare)}" if bare else "no model is declared in a signed plan"
        return no_evidence(said)
    lists = {name: sorted(one.hyperparameters or {}) for name, one in models.items()}
    gone = list(_without_value(models, lists))
    return settle(
        (gone, "fail", f"no value is stated for {listed(gone)}"),
        (True, "pass", "; ".join(f"{name}: {counted(len(own), 'hyperparameter')}" for name, own in lists.items())),
        facts={"names": lists},
    )


def _without_value(models: Mapping[str, Model], lists: Mapping[str, list[str]]) -> Iterator[str]:
    """Hyperparameters without a value, and those that only another model of the same algorithm states."""
    for name, model in models.items():
        for parameter, declaration in (model.hyperparameters or {}).items():
            if not stated(declaration.value):
                yield f"{parameter} of {name}"
    for name, model in models.items():
        alike = [other for other, own in models.items() if own.algorithm and own.algorithm == model.algorithm]
        of_all = dict.fromkeys(parameter for other in alike for parameter in lists[other])
        yield from (f"{parameter} of {name}" for parameter in of_all if parameter not in lists[name])


@control("CHK-TUNE-PARITY")
def parity(q: Inquiry) -> Outcome:
    """Looks for models that were tuned much harder than others."""
    trials, models = q.plan.tuning.trials or {}, q.trained()
    lacking = [name for name in models if name not in trials]
    if not models or lacking or not q.loaded.signed:
        return no_evidence(f"no trials are stated for {listed(lacking) or 'any model'}")
    counts = [trials[name] for name in models]
    searched = {
        name: sum(bool(h.searched) for h in (one.hyperparameters or {}).values()) for name, one in models.items()
    }
    wide = list(searched.values())
    unequal = max(counts) > PARITY * max(1, min(counts)) or max(wide) > PARITY * max(1, min(wide))
    said = "trials: " + ", ".join(f"{name} {trials[name]:,} over {searched[name]} searched" for name in models)
    facts = {"trials": {name: trials[name] for name in models}, "searched": searched}
    return Outcome("suspect" if unequal else "pass", said, facts=facts, thresholds={"ratio": PARITY})


@control("CHK-PREPROC")
def preprocessing(q: Inquiry) -> Outcome:
    """Looks for preprocessing that differs between models or was fitted on data other than training data."""
    models = q.trained()
    steps = [(name, step) for name, one in models.items() for step in one.preprocessing or ()]
    silent = [name for name, one in models.items() if one.preprocessing is None]
    silent += [f"{name}: {step.step}" for name, step in steps if not step.fitted_on]
    if not models or silent or not q.loaded.signed:
        said = f"no preprocessing, or not on what it was fitted, is stated for {listed(silent) or 'any model'}"
        return no_evidence(said)
    return _fitted(q, models, steps)


def _fitted(q: Inquiry, models: Mapping[str, Model], steps: list[tuple[str, Step]]) -> Outcome:
    """Whether every step was fitted on training data, as stated and by the values it was fitted to."""
    training = (*splits_of(q.loaded, "train"), NOTHING)
    wrong = [f"{name}: {step.step} (on {step.fitted_on})" for name, step in steps if step.fitted_on not in training]
    digests = {
        name: digest([[step.step, step.fitted_on] for step in one.preprocessing or ()]) for name, one in models.items()
    }
    fits = held_against_data(q)
    wrong += [
        f"{name} (the value of {one['fits']})" for name, one in fits.items() if one["fits"] not in (None, "train")
    ]
    odd = [name for name, one in fits.items() if one["fits"] is None]
    facts = {"pipelines": digests, "fitted_elsewhere": wrong, "parameters": fits}
    complete = all(step.fitted or step.fitted_on == NOTHING for _, step in steps)
    pipelines = "one pipeline for all models" if len(models) > 1 else "one pipeline"
    differ = "pipelines differ, so a gap belongs to the pipeline including its preprocessing"
    values = f"{counted(len(fits), 'fitted value')}, all those of the training data"
    several = len(set(digests.values())) > 1
    looked = not wrong and (odd or (not several and fits and complete))
    return settle(
        (wrong, "fail", f"fitted on data other than training data: {phrases(wrong)}"),
        (odd, "suspect", f"not the values of the training data: {phrases(odd)}"),
        (several, "suspect", differ),
        (fits and complete, "pass", values),
        (True, "declared", f"stated: {pipelines}, fitted on training data only"),
        facts=facts,
        inputs=q.digests(*q.splits) if looked else {},
    )


@control("CHK-TRAIN-SAME")
def training_data(q: Inquiry) -> Outcome:
    """Looks for models trained on different data."""
    models = q.trained()
    unknown = [name for name, one in models.items() if one.trained_on is None]
    if not models or unknown or not q.loaded.signed:
        return no_evidence(f"no training data are named for {listed(unknown) or 'any model'}")
    names = {name: str(one.trained_on) for name, one in models.items()}
    same = len({q.digests(one).get(one, one) for one in names.values()}) == 1
    return settle(
        (same, "pass", "all models were trained on the same data"),
        (True, "pass", "models were trained on different data: gaps belong to algorithm and training data together"),
        facts={"trained_on": names, "same": same},
        inputs=q.digests(*names.values()),
    )


@control("CHK-FEATURE")
def features(q: Inquiry) -> Outcome:
    """Looks for features that are not known when a prediction is made."""
    used, stated = q.plan.columns.features or [], q.plan.features
    silent = [name for name in used if name not in stated]
    late = [name for name, one in stated.items() if not one.available]
    open_ = not used or silent or not q.loaded.signed
    return settle(
        (late, "fail", f"not available at prediction time: {listed(late)}"),
        (open_, "no-evidence", "not every feature is declared with its availability"),
        (True, "declared", f"stated: {counted(len(used), 'feature')} available"),
        facts={"features": len(used), "late": late, "silent": silent},
    )


@control("CHK-MODEL-FREEZE")
def frozen(q: Inquiry) -> Outcome:
    """Looks for a model that changed during the assessment."""
    models = q.trained()
    known = {name: one for name, one in models.items() if name in q.artefacts}
    if not models or len(known) < len(models):
        return no_evidence("not every model's file was given, so none can be seen unchanged")
    changed = [name for name, (before, after) in q.artefacts.items() if before != after]
    other = [name for name, one in known.items() if one.sha256 and one.sha256.lower() != q.artefacts[name][0]]
    return settle(
        (changed, "fail", f"changed during the assessment: {listed(changed)}"),
        (other, "fail", f"not the declared file: {listed(other)}"),
        (True, "pass", "the files of all models are the same before and after"),
        facts={name: before for name, (before, _) in q.artefacts.items()},
    )


STATISTICS: Final[dict[str, tuple[Callable[..., Any], ...]]] = {
    "mean": (np.mean,),
    "std": (np.std, lambda x: np.std(x, ddof=1)),  # both are in use
    "min": (np.min,),
    "max": (np.max,),
    "median": (np.median,),
}
CLOSE: Final = 1e-6
"""Relative difference that other software may bring."""


def held_against_data(q: Inquiry) -> dict[str, dict[str, Any]]:
    """Every declared parameter of a fitted step, and the data whose statistic it is: train, with others, or neither."""
    train, rest = q.of_role("train"), {**q.of_role("validation"), **q.of_role("test")}
    fits: dict[str, dict[str, Any]] = {}
    for name, model in q.trained().items():
        for step in model.preprocessing or ():
            for feature, parameters in (step.fitted or {}).items():
                if not train or not all(one.has(feature) for one in train.values()):
                    continue
                seen = _values(train, feature)
                others = {one: _values({one: rows}, feature) for one, rows in rest.items() if rows.has(feature)}
                for statistic, value in parameters.items():
                    fits[f"{name}, {step.step}: {statistic} of {feature}"] = _told(statistic, value, seen, others)
    return fits


def _values(splits: Mapping[str, SplitRows], feature: str) -> Floats:
    return np.concatenate([values_of(one, feature) for one in splits.values()])


def _told(statistic: str, value: float, train: Floats, others: Mapping[str, Floats]) -> dict[str, Any]:
    """Whose statistic a value is; training comes first, since small sets may agree by chance."""
    if not len(train):
        return {"declared": value, "fits": None}
    candidates: dict[str, list[Floats]] = {"train": [train]}
    candidates |= {f"train and {name}": [train, rows] for name, rows in others.items()}
    candidates |= {"all data": [train, *others.values()]} if len(others) > 1 else {}
    candidates |= {name: [rows] for name, rows in others.items()}
    for name, parts in candidates.items():
        rows = np.concatenate(parts)
        if len(rows) and any(_alike(value, float(one(rows))) for one in STATISTICS[statistic]):
            return {"declared": value, "fits": name}
    return {"declared": value, "fits": None, "train": float(STATISTICS[statistic][0](train))}


def _alike(declared: float, computed: float) -> bool:
    """Whether a declared value is a computed one, rounded to the digits it was written with."""
    exponent = Decimal(repr(declared)).as_tuple().exponent
    half = 0.5 * 10.0 ** (exponent if isinstance(exponent, int) else 0)
    return abs(declared - computed) <= max(half, CLOSE * abs(computed)) * (1 + 1e-9)
