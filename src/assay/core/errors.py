# SPDX-License-Identifier: Apache-2.0
"""Every error a user can meet, with the place, what was found, what is known, and the fix.

AssayError
├── PlanError        what was asked for cannot be done as asked            exit 2
├── RowsError        the data are unfit                                    exit 4
│   ├── UnknownLabel     a label nobody declared
│   ├── MissingColumn    a column or file part that is not there
│   ├── OutOfRange       a value outside its domain (weights, counts)
│   └── UnpairedRows     truth and predictions do not belong together
├── EngineError      the engine that holds the data failed                 exit 5
└── RecordError      a Record cannot be read, written or trusted           exit 2
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar, Final

from assay.core.text import listed, nearest, quoted, redacted

CODES: dict[str, str] = {
    "no-rows": "The input holds no rows, so there is nothing to assess.",
    "no-file": "A path does not exist or cannot be read.",
    "file-listed-twice": "One file is named twice, so that its rows would be counted twice.",
    "no-database": "A database is not there, cannot be reached, or does not let us in.",
    "no-table": "A database has no such table.",
    "query-refused": "A query is not one SELECT, or the database refuses it.",
    "out-exists": "An output path cannot be written.",
    "run-refused": "A plan runs a command, and nobody agreed to that.",
    "run-failed": "The command of a plan failed, or wrote no predictions.",
    "missing-column": "A named column is not in the data.",
    "duplicate-column": "Two columns carry the same name.",
    "role-missing": "A role that the assessment needs was not given.",
    "role-clash": "Two ways of giving the data were mixed.",
    "rows-unmatched": "Truth and predictions do not have the same rows.",
    "duplicate-id": "An id stands in more than one row.",
    "missing-id": "A row has no id.",
    "label-not-declared": "A row carries a label that is not among the classes.",
    "label-types-differ": "Truth and predictions hold labels of different types.",
    "mixed-types-in-column": "One column mixes types, such as the number 1 and the text 1.",
    "missing-label": "A label is missing (null, NaN, or an empty unquoted field).",
    "label-precision": "A number used as a label is not whole, or is too large to be exact.",
    "labels-look-alike": "Two labels differ only in case, spaces or invisible characters.",
    "name-too-long": "A label is longer than 4 KiB.",
    "positive-class-undeclared": "A binary assessment needs its positive class to be stated.",
    "positive-not-binary": "A positive class was stated for data with more than two classes.",
    "unknown-positive": "The stated positive class is not among the labels.",
    "mask-values": "Labels 0 and 255 look like an image mask; the foreground must be stated.",
    "mask-not-binary": "A mask holds values between its labels, and no threshold was stated.",
    "mask-shapes-differ": "The masks or images of a pair have different shapes, or lie differently in space.",
    "spacing-not-positive": "The size of a pixel is 0, negative or not finite, or not one for each axis.",
    "weight-negative": "A weight is below zero.",
    "weight-not-finite": "A weight is missing, NaN or infinite.",
    "score-not-finite": "A score is missing, NaN or infinite, or too large to be exact.",
    "score-out-of-range": "A score that must be a probability lies outside 0 to 1.",
    "one-class": "A threshold was to be chosen on rows of one class only.",
    "target-not-reached": "No threshold reaches the target that was asked for.",
    "score-columns": "The score columns do not fit the classes.",
    "probabilities-not-normalised": "The probabilities of a row do not add up to 1.",
    "threshold-optimistic": "A threshold was to be chosen on the very rows it is judged on.",
    "count-overflow": "A count is larger than 2^63 - 1.",
    "count-not-whole": "A cell of a confusion matrix is negative, fractional or not finite.",
    "orientation-undeclared": "A confusion matrix came without saying what its rows are.",
    "matrix-shape": "A confusion matrix is not square, or does not fit its labels.",
    "column-not-numeric": "A column that must hold numbers holds something else.",
    "column-not-scalar": "A column holds lists or nested values, not one value a row.",
    "column-type": "A column has a type that cannot hold labels.",
    "column-type-differs": "A column has one type in one file and another type in another.",
    "column-ambiguous": "A column stands both in the truth and in the predictions, so that either could be meant.",
    "ragged-row": "A row has more or fewer fields than the header.",
    "blank-line": "A blank line stands between the rows.",
    "quote-not-closed": "A quoted field is opened and never closed.",
    "control-character": "A file holds a NUL or another control character.",
    "encoding": "A text file is not UTF-8.",
    "file-truncated": "A file ends before it is complete.",
    "file-unreadable": "A file cannot be read in its format.",
    "digest-mismatch": "A file or Record is not the one that was pinned.",
    "too-many-rows": "The input holds more rows than the stated limit.",
    "expands-past-limit": "A compressed file expands past the stated limit.",
    "refused-format": "The format can run code or is not a table, so it is never opened.",
    "missing-extra": "The format needs a package that is not installed.",
    "confidence-level-range": "A confidence level lies outside 0.5 to 1.",
    "option-unknown": "An option has a value that is not among the known ones.",
    "measure-unknown": "No measure has this name.",
    "measure-ambiguous": "A short name means several measures.",
    "measure-needs": "A measure needs a parameter that was not given, or refuses the one that was.",
    "costs-invalid": "Stated costs name an unknown class, leave out a mistake, or hold what is not a cost.",
    "test-unknown": "No test has this name.",
    "test-ambiguous": "A short name means several tests.",
    "test-refused": "The test is not admissible for values of this kind.",
    "comparison-needs": "A comparison lacks what its question needs.",
    "test-needs": "A test was given something it cannot take.",
    "too-few-rows": "There are too few rows, rows of a class, or groups for the folds that were asked for.",
    "folds-unsound": "Training and test parts share rows or groups, or are not made of rows.",
    "fold-failed": "A model failed to train or to predict in one fold.",
    "estimator-unfit": "An estimator cannot be trained and asked for predictions as scikit-learn does it.",
    "target-failed": "What was to be timed cannot be loaded, or does not answer.",
    "value-not-finite": "A value is missing, NaN or infinite.",
    "value-out-of-domain": "A value lies outside what it can be.",
    "measure-unfit": "The measure does not fit the task.",
    "criterion-unreadable": "An acceptance criterion is not written as one.",
    "measure-undefined": "A scorer must give a number, and the measure has none on these rows.",
    "plan-unreadable": "A file is not a plan in TOML or JSON.",
    "plan-invalid": "A plan has errors; all of them are listed with their lines.",
    "plan-too-deep": "A plan is nested more than 32 levels deep.",
    "plan-too-large": "A plan is larger than 256 KiB.",
    "markers-broken": "A text that a report belongs into has markers, line ends or an index that cannot be followed.",
    "record-unreadable": "A file is not a Record this version can read.",
    "signature-wrong": "A signature does not fit the Record or the key.",
    "key-unreadable": "A file is not an Ed25519 key, or not the half of it that is needed.",
    "tally-mismatch": "Two tallies cannot be merged.",
    "cell-too-small": "A tally to be shared holds a cell with fewer rows than may leave the site.",
    "disk-full": "A disk is full, so that nothing more can be written.",
    "memory-short": "There is less memory than the work needs.",
    "engine-failed": "The engine that holds the data reported a failure.",
    "internal": "A fault of assay itself.",
}
"""Every code, with its sentence on `docs/reference/errors.md`; a test keeps raised codes inside this table."""


_VALUE = r"(?:\[[^\]]*\]|\{[^}]*\}|\"[^\"]*\"|'[^']*'|[\w.]+\([^()]*\)|[\w.]*)"
_BOTH: Final = re.compile(
    rf"(assay\.[\w.]+\([^()]*\)|[a-z_]+={_VALUE}(?: or [a-z_]+={_VALUE})?) \((?:command line: )?(--[^()]*)\)"
)
"""A remedy in both spellings: `labels=[...] (--label LABEL)`."""


class AssayError(Exception):
    """The root: one error, told once, with every offending row gathered first."""

    exit_code: ClassVar[int] = 5
    plain: AssayError | None = None
    """The same with ids as they are, where ids are hashed; never shown unless asked for."""

    def __init__(
        self,
        code: str,
        what: str,
        *,
        where: str | None = None,
        found: str | None = None,
        known: str | None = None,
        fix: str | None = None,
    ) -> None:
        if code not in CODES:
            msg = f"error code {code!r} is not declared in assay.core.errors.CODES"
            raise KeyError(msg)
        self.code, self.what = code, redacted(what)
        told = (None if text is None else redacted(text) for text in (where, found, known, fix))
        self.where, self.found, self.known, mends = told
        self.fix = None if mends is None else _BOTH.sub(r"\1", mends)
        self.typed = None if mends is None else _BOTH.sub(r"\2", mends)
        super().__init__(self.what)

    def __reduce__(self) -> tuple[object, ...]:
        """As it travels between processes, with all its lines."""
        return _restore_error, (type(self), self.__dict__ | {"code": self.code, "what": self.what})

    @property
    def read(self) -> str:
        """The command that explains it, wherever assay is installed."""
        return f"assay explain E-{self.code.upper()}"

    def lines(self) -> dict[str, str]:
        """The lines below the first one, by name, without the empty ones."""
        fields = {"where": self.where, "found": self.found, "known": self.known, "fix": self.fix, "read": self.read}
        return {name: text for name, text in fields.items() if text}

    def to_json(self) -> dict[str, object]:
        """The same facts for machines."""
        return {"error": self.code, "kind": type(self).__name__, "what": self.what, **self.lines()}

    def __str__(self) -> str:
        """`error[E-CODE]: what is wrong`, then where, found, known, fix."""
        body = "".join(f"\n  {name:<6} {text}" for name, text in self.lines().items())
        return f"error[E-{self.code.upper()}]: {self.what}{body}"


def _restore_error(kind: type[AssayError], state: dict[str, object]) -> AssayError:
    error = kind(str(state["code"]), str(state["what"]))
    error.__dict__.update(state)
    return error


class PlanError(AssayError):
    """What was asked for cannot be done as asked."""

    exit_code = 2


class RowsError(AssayError):
    """The data are unfit."""

    exit_code = 4


class UnknownLabel(RowsError):  # noqa: N818  the name users read in the traceback says what is wrong
    """A row carries a label nobody declared."""


class MissingColumn(RowsError):  # noqa: N818
    """A column or file that is not there."""


class OutOfRange(RowsError):  # noqa: N818
    """A value outside its domain."""


class UnpairedRows(RowsError):  # noqa: N818
    """Truth and predictions do not belong together."""


class EngineError(AssayError):
    """The engine that holds the data failed."""

    exit_code = 5


class RecordError(AssayError):
    """A Record cannot be read, written or trusted."""

    exit_code = 2


def missing_extra(extra: str, what: str, **lines: str) -> PlanError:
    """The error for a package that is not installed.

    >>> missing_extra("postgres", "a PostgreSQL table needs psycopg to be read").fix
    'pip install "assay[postgres]"'
    """
    return PlanError("missing-extra", what, fix=f'pip install "assay[{extra}]"', **lines)


def damaged_record(*, what: str, found: str | None = None) -> RecordError:
    """The error for a part of a Record that cannot be what was written."""
    return RecordError("record-unreadable", what, found=found, fix="restore the file from its source")


def unknown_choice(
    word: object, words: Iterable[object], what: str, *, code: str = "option-unknown",
    fix: str = "choose one of them", **lines: str,
) -> PlanError:  # fmt: skip
    """The error for a word that is none of those that are known, with the nearest one that is.

    >>> unknown_choice("regresion", ["regression", "retrieval"], "there is no such task").fix
    'did you mean "regression"?'
    """
    names = [str(name) for name in words]
    close = nearest(str(word), names)
    mend = fix if close is None else f'did you mean "{close}"?'
    return PlanError(code, what, fix=mend, **{"known": ", ".join(names), **lines})


def missing_column(name: str, columns: Iterable[object], where: str, known: str | None = None) -> MissingColumn:
    """The error for a column that is not there, with the nearest one that is.

    >>> missing_column("lable", ["label", "id"], "rows.csv").fix
    'did you mean "label"?'
    """
    names = list(columns)
    close = nearest(name, [str(column) for column in names])  # those of pandas may be numbers
    return MissingColumn(
        "missing-column",
        f"there is no column {quoted(name)}",
        where=where,
        found=quoted(name),
        known=listed(names, most=12) if known is None else known,
        fix=f"did you mean {quoted(close)}?" if close else "name one of the known columns",
    )


def repeated_column(name: str, times: int, where: str) -> RowsError:
    """The error for several columns of one name."""
    what = f"{times} columns are called {quoted(name)}"
    return RowsError("duplicate-column", what, where=where, fix="rename one of them")


def nested_column(where: str, shown: str, kind: object) -> RowsError:
    """The error for a column whose rows hold lists, objects or the like."""
    what = f"{shown} holds {kind}, not one value a row"
    return RowsError("column-not-scalar", what, where=where, fix="give a column with one value a row")


def not_numbers(where: str, what: str, fix: str = "give one number a row", **lines: str) -> RowsError:
    """The error for a column that should hold numbers and does not."""
    return RowsError("column-not-numeric", what, where=where, fix=fix, **lines)
