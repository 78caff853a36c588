# SPDX-License-Identifier: Apache-2.0
"""The result of a cross-validation: values of each fold, the folds themselves, the answers, and the comparison."""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.assess.compare.comparison import Comparison
from assay.assess.compare.questions.request import Asked
from assay.assess.compare.questions.value_questions import of_values
from assay.conduct.fold_cache import Outcome
from assay.conduct.schemes import Scheme
from assay.conduct.splits import Fold, Rows, digest
from assay.core.errors import PlanError, unknown_choice
from assay.core.labels import Label
from assay.core.shown import Shown, TableRows
from assay.core.text import counted, figure, quoted
from assay.core.traits import Better
from assay.core.values import Undefined
from assay.inference.decision_words import Kind
from assay.inference.findings import Finding
from assay.inference.intervals.interval_choice import Wanted
from assay.inference.multiplicity import adjusted
from assay.measures import Measure
from assay.rows.temporary_files import write_whole
from assay.tally.census import Census
from assay.tally.real_values import Blocks
from assay.tasks.classification.estimates import value_alone
from assay.tasks.classification.settings import chosen, demand_costs, why_unfit
from assay.tasks.classification.tally import Classified

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALGORITHMS: Final = "cross-validation judges algorithms; it does not assess one model trained on all rows (5.3.6)"
IN_TIME: Final = "the correction for shared rows was derived for random parts; for parts in order of time it is a guide"
PER: Final = {Kind.FIVE_BY_TWO: "5x2", Kind.RESAMPLES: "fold", Kind.HALVED: "halves"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Conducted(Shown):
    """Several classifiers, trained and tested on the same folds."""

    PUBLIC = (
        "compare", "estimators", "findings", "folds", "labels", "measures", "models", "notes", "outcomes", "positive",
        "predictions", "rows", "save_folds", "scheme", "seed", "table", "timing", "to_json", "values",
    )  # fmt: skip
    scheme: Scheme
    seed: int
    folds: tuple[Fold, ...]
    rows: Rows
    positive: Label | None
    measures: tuple[Measure, ...]
    estimators: Mapping[str, str]
    outcomes: Mapping[str, list[Outcome]]
    tallies: Mapping[str, tuple[Classified, ...]]
    ids: NDArray[Any] | None = None
    notes: tuple[str, ...] = ()

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(self.estimators)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The classes."""
        return self.rows.labels

    def values(self, measure: str | Measure) -> dict[str, tuple[float | None, ...]]:
        """The value of any measure in each fold, by model; None where it is undefined.

        measure: its name
        """
        one = self._measure(measure)
        found = {model: [value_alone(tally, one) for tally in own] for model, own in self.tallies.items()}
        return {m: tuple(None if isinstance(v, Undefined) else v.value for v in own) for m, own in found.items()}

    @property
    def table(self) -> dict[str, NDArray[Any]]:
        """Which row was tested when, as columns: id (the number of the row unless given), repetition, fold."""
        sizes = [len(fold.test) for fold in self.folds]
        places = np.concatenate([fold.test for fold in self.folds])
        return {
            "id": places if self.ids is None else self.ids[places],
            "repetition": np.repeat([fold.repeat for fold in self.folds], sizes),
            "fold": np.repeat([fold.fold for fold in self.folds], sizes),
        }

    def save_folds(self, path: str | os.PathLike[str]) -> Path:
        """Write the fold table as CSV, as the control of folds reads it.

        path: the file
        """
        table = self.table
        with io.StringIO(newline="") as text:
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(table)
            writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
            return write_whole(path, text.getvalue().encode("utf-8"))

    @property
    def digest(self) -> str:
        """SHA-256 of the folds and the true classes: the same for every model (5.3.6)."""
        hasher = hashlib.sha256(digest(self.folds).encode())
        hasher.update(repr(self.labels).encode())
        hasher.update(self.rows.classes.astype("<i8").tobytes())
        return hasher.hexdigest()

    def predictions(self, model: str) -> dict[str, NDArray[Any]]:
        """What a model answered for rows it was not trained on, as columns; with repeats a row stands there often.

        model: its name
        """
        own = self.outcomes[self._model(model)]
        names = np.empty(len(self.labels), dtype=object)
        names[:] = self.labels
        out: dict[str, NDArray[Any]] = {
            **self.table,
            "truth": names[self.rows.classes[np.concatenate([fold.test for fold in self.folds])]],
            "predicted": names[np.concatenate([one.predicted for one in own])],
        }
        scores = [one.scores for one in own if one.scores is not None]
        if len(scores) < len(own):
            return out
        whole = np.concatenate(scores)
        if self.positive is not None:
            return out | {"score": whole[:, self.labels.index(self.positive) if whole.shape[1] > 1 else 0]}
        return out | {f"score of {label}": whole[:, i] for i, label in enumerate(self.labels)}

    @property
    def timing(self) -> dict[str, dict[str, tuple[float, ...]]]:
        """Seconds each model took in each fold to fit and to predict."""
        return {
            model: {"fit": tuple(one.fitting for one in own), "predict": tuple(one.predicting for one in own)}
            for model, own in self.outcomes.items()
        }

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The admissible tests of every measure that was asked for; all of them are one family, corrected together."""
        asked, kind, ratio = Asked(rows=self.rows.n), self.scheme.kind, self._ratio
        blocks = [self._blocks(measure) for measure in self.measures]
        answers = [answer for own in blocks for answer in of_values(own, asked, kind, test_over_train=ratio)]
        main = [(a, f) for a in answers for f in a.findings if a.choice.test and f.test == a.choice.test.name]
        corrected = iter(adjusted([finding for _, finding in main], "holm"))
        known = {id(finding) for _, finding in main}
        return tuple(next(corrected) if id(f) in known else f for a in answers for f in a.findings)

    def compare(
        self,
        measure: str | Measure | None = None,
        *,
        level: float = 0.95,
        correction: str = "holm",
        test: str | None = None,
        because: str | None = None,
        override: bool = False,
        accept_dependence: bool = False,
    ) -> Comparison:
        """The models compared by one measure.

        measure: the first that was asked for, unless it is named
        level: the confidence level
        correction: the correction of p values for several tests
        test, because: a test in place of the one that the table chooses, and why
        override: whether it runs even where the table refuses it
        accept_dependence: whether a test that assumes independent values runs on folds

        Of a 5x2 cross-validation the combined F test and the t test, of halves the half-sample t test, of other folds
        the corrected resampled t test; the plain t test takes folds for independent ones and is refused.
        """
        Wanted(level=level)
        resolved_measure = self.measures[0] if measure is None else self._measure(measure)
        blocks = self._blocks(resolved_measure)
        asked = Asked(
            level=level, correction=correction, test=test, because=because, override=override,
            accept_dependence=accept_dependence, rows=self.rows.n, lower_is_better=blocks.lower_is_better,
        )  # fmt: skip
        more: tuple[str, ...] = (IN_TIME,) if self.scheme.name == "time_ordered" else ()
        if others := [m.title for m in self.measures if m.title != resolved_measure.title]:
            more += (f"{', '.join(others)}: asked for too, and corrected together with it in .findings",)
        per, made_by = PER[self.scheme.kind], f"{self.scheme.title} of {counted(self.rows.n, 'row')}, seed {self.seed}"
        return Comparison(
            {"values": blocks}, asked, models=self.models, census=Census(read=blocks.j, scored=blocks.j),
            data={"from": made_by, "pairing": f"by {per}", "files": {}, "per": per, "independent": False,
                  "test_over_train": str(self._ratio), "conduct": self.to_json()},
            notes=(ALGORITHMS, *more, *self.notes), proof=self.digest,
        )  # fmt: skip

    def to_json(self) -> dict[str, object]:
        """How it was conducted, as in a Record."""
        return {
            "scheme": self.scheme.title,
            "seed": self.seed,
            "rows": self.rows.n,
            "groups": None if self.rows.groups is None else len(np.unique(self.rows.groups)),
            "classes": [[label, int((self.rows.classes == i).sum())] for i, label in enumerate(self.labels)],
            "folds": [[f.repeat, f.fold, len(f.train), len(f.test), len(f.inner)] for f in self.folds],
            "digest": self.digest,
            "estimators": dict(self.estimators),
        }

    def __str__(self) -> str:
        """The mean and the spread over folds of what was asked for."""
        whole = self.folds[: self._whole]
        sizes = [
            sorted({len(part) for part in parts}) for parts in zip(*((f.train, f.test) for f in whole), strict=True)
        ]
        train, test = (f"{span[0]:,}" if len(span) == 1 else f"{span[0]:,} to {span[-1]:,}" for span in sizes)
        head = f"{self.scheme.title} of {counted(self.rows.n, 'row')}, seed {self.seed}: "
        head += f"{counted(len(whole), 'fold')}, {train} rows to train on, {test} to test on"
        if self.scheme.halved:
            head += f"; the same within both halves of {counted(self.scheme.options['splits'], 'split')}"
        wide = max(map(len, self.models))
        lines = [head]
        for measure in self.measures:
            lines.append(f"\n{measure.title}, mean and standard deviation over folds")
            for model, fold_values in self.values(measure).items():
                values = fold_values[: self._whole]
                known = [value for value in values if value is not None]
                spread = figure(stdev(known)) if len(known) > 1 else "–"
                text = f"{figure(fmean(known))}   {spread}" if known else "undefined"
                text += f"   undefined in {counted(lost, 'fold')}" if (lost := len(values) - len(known)) else ""
                lines.append(f"  {model:<{wide}}   {text}")
        return "\n".join([*lines, *(f"\nnote: {note}" for note in self.notes)])

    def __repr__(self) -> str:
        """What it is about, in one line."""
        return f"<Conducted: {', '.join(self.models)}; {self.scheme.title}, {counted(len(self.folds), 'fold')}>"

    def _table(self) -> TableRows:
        head, *lines = str(self).splitlines()
        return head, (self.scheme.title,), [(line.strip(),) for line in lines if line.strip()]

    @property
    def _ratio(self) -> Fraction:
        """Rows tested over rows trained on: 1/(k - 1) for k folds, also where they cannot be of one size."""
        return Fraction(sum(len(f.test) for f in self.folds), sum(len(f.train) for f in self.folds))

    @property
    def _whole(self) -> int:
        """Folds of all rows; those of halves come after them."""
        return self.scheme.halved or len(self.folds)

    def _model(self, name: str) -> str:
        if name not in self.estimators:
            raise unknown_choice(name, self.models, f"there is no model {quoted(name)}")
        return name

    def _measure(self, measure: str | Measure) -> Measure:
        choices = chosen([measure]) or ()
        if len(choices) != 1:
            raise PlanError("measure-ambiguous", f"{measure} are several measures", fix="name one measure")
        resolved_measure = choices[0]
        demand_costs(resolved_measure, None)
        if resolved_measure.from_scores:
            for model, own in self.tallies.items():
                kinds = {None if tally.scores is None else tally.scores.kind for tally in own}
                why = why_unfit(resolved_measure, next(iter(kinds)) if len(kinds) == 1 else None)
                if why is not None:
                    fix = "leave the model out, or give one with predict_proba"
                    raise PlanError("measure-unfit", f"{resolved_measure.name} {why}", where=model, fix=fix)
        return resolved_measure

    def _blocks(self, measure: Measure) -> Blocks:
        """The values of a measure, fold by fold, which all models must have."""
        if len(self.models) < 2:  # noqa: PLR2004  nothing to compare with
            raise PlanError("comparison-needs", "there is only one model", fix="conduct two models or more")
        columns: dict[str, list[float]] = {}
        lost: list[str] = []
        resolved_measure = self._measure(measure)
        for model, own in self.tallies.items():
            columns[model] = []
            for tally, fold in zip(own, self.folds, strict=True):
                value = value_alone(tally, resolved_measure)
                if isinstance(value, Undefined):
                    lost.append(f"{model}, {fold.name}: {value.reason}")
                else:
                    columns[model].append(value.value)
        if lost:
            raise PlanError(
                "comparison-needs",
                f"{resolved_measure.title} is undefined in {counted(len(lost), 'test part')}",
                found="; ".join(lost[:3]) + (f" and {len(lost) - 3:,} more" if len(lost) > 3 else ""),  # noqa: PLR2004
                fix="compare by another measure, or use fewer, larger folds",
            )
        if parts := self.scheme.halved:  # one value of all rows, and one of each half
            columns = {m: [fmean(own[i : i + parts]) for i in range(0, len(own), parts)] for m, own in columns.items()}
        unit, about = "fold" if self.scheme.kind is Kind.RESAMPLES else "half", f"mean {resolved_measure.title}"
        blocks = Blocks.of(columns, unit=unit, lower_is_better=resolved_measure.better is Better.LOWER, about=about)
        if blocks.j < 2:  # noqa: PLR2004  no spread to judge by
            raise PlanError("comparison-needs", "there is only one fold", fix="use two folds or more")
        return blocks
