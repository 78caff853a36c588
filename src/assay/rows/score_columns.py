# SPDX-License-Identifier: Apache-2.0
"""Score columns as they are handed over: one of the positive class, or one for each class; checked, never guessed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from assay.core.errors import OutOfRange, PlanError, RowsError, not_numbers, unknown_choice
from assay.core.labels import Label
from assay.core.text import counted, listed, nearest, quoted, visible

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Kind: TypeAlias = Literal["probability", "logit", "any"]
KINDS: Final = ("probability", "logit", "any")
MissingScore: TypeAlias = Literal["error", "drop", "worst"]
MISSING_SCORE: Final = ("error", "drop", "worst")
NORMAL: Final = 1e-6
"""How far the probabilities of one row may add up to something else than 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreColumns:
    """Columns of scores, and the classes they belong to as far as the user said so."""

    columns: tuple[object, ...]
    labels: tuple[Label, ...] | None = None
    single: bool = False

    def named(self) -> dict[str, object]:
        """Every column by the name errors call it."""
        if self.single:
            return {"score": self.columns[0]}
        names = self.labels if self.labels is not None else range(1, len(self.columns) + 1)
        word = "score of" if self.labels is not None else "score column"
        return {f"{word} {quoted(name)}": column for name, column in zip(names, self.columns, strict=True)}

    def mapped(self, take: Callable[[object], object]) -> ScoreColumns:
        """The same with every column replaced."""
        return replace(self, columns=tuple(take(column) for column in self.columns))

    def spelled(self, own: Callable[[Label], Label]) -> ScoreColumns:
        """The same with every class as the data spell it."""
        return self if self.labels is None else replace(self, labels=tuple(map(own, self.labels)))


def score_columns(score: object) -> ScoreColumns | None:
    """What was given as score: a column, a mapping from class to column, names of columns, or a matrix."""
    if score is None:
        return None
    if isinstance(score, Mapping):
        return _by_label(tuple(score), tuple(score.values()))
    if isinstance(score, (list, tuple)) and score and all(isinstance(name, str) for name in score):
        return _by_label(None, tuple(score)) if len(score) > 1 else ScoreColumns(columns=tuple(score), single=True)
    names = getattr(score, "column_names", None) or getattr(score, "columns", None)
    if names is not None and not callable(names) and not isinstance(score, str):
        return _from_frame(score, tuple(names))
    nested = isinstance(score, (list, tuple)) and bool(score) and isinstance(score[0], (list, tuple))
    if nested or getattr(score, "ndim", 1) == 2:  # noqa: PLR2004  rows and columns
        return _matrix(score)
    return ScoreColumns(columns=(score,), single=True)


def _by_label(labels: tuple[Any, ...] | None, columns: tuple[object, ...]) -> ScoreColumns:
    if labels is not None and not columns:
        raise PlanError(
            "score-columns", "the mapping of scores is empty", where="score", fix="name a column for each class"
        )
    plain = None if labels is None else tuple(cast("Label", x.item() if hasattr(x, "item") else x) for x in labels)
    return ScoreColumns(columns=columns, labels=plain)


def _from_frame(frame: Any, names: tuple[Any, ...]) -> ScoreColumns:  # noqa: ANN401  a frame of any library
    """A frame as score: its columns are named after the classes."""
    take = frame.column if hasattr(frame, "column_names") else frame.__getitem__
    return _by_label(names, tuple(take(name) for name in names))


def _matrix(score: object) -> ScoreColumns:
    import numpy as np

    from assay.rows.columns import detached

    rows = cast("Any", score)
    if isinstance(score, (list, tuple)) and (odd := [i for i, row in enumerate(rows) if len(row) != len(rows[0])]):
        raise RowsError(
            "score-columns",
            f"{counted(len(odd), 'row')} of the score matrix {'has' if len(odd) == 1 else 'have'} another length",
            where="score",
            found=f"first at index {odd[0]}",
            fix="give one score for each class in every row",
        )
    matrix = np.asarray(detached(score))
    if matrix.shape[1] < 2:  # noqa: PLR2004  one column is not a matrix
        raise RowsError(
            "score-columns",
            f"the score matrix has shape {matrix.shape}",
            where="score",
            fix="give one column for each class, or a plain column of shape (n,): .ravel() makes one",
        )
    return ScoreColumns(columns=tuple(matrix[:, i] for i in range(matrix.shape[1])))


def labels_by_score(given: ScoreColumns, seen: set[Label], declared: Sequence[Label] | None) -> tuple[Label, ...]:
    """The classes of the score columns, in the order of the columns; what is not stated and not plain is an error."""
    k = len(given.columns)
    if given.labels is not None:
        return _fitting(given.labels, seen, declared)
    names = [str(name) for name in given.columns] if all(isinstance(c, str) for c in given.columns) else None
    by_name = None if names is None else _by_name(names, seen, declared)
    if declared is not None:
        if k != len(declared):
            raise PlanError(
                "score-columns",
                f"there are {counted(len(declared), 'class', 'classes')} and {counted(k, 'score column')}",
                where="score",
                known=listed(declared),
                fix="give one column for each class, or (for two classes) the one of the positive class",
            )
        if by_name is not None and by_name != tuple(declared):
            raise PlanError(
                "score-columns",
                "the score columns are named after the classes, but stand in another order than the declared labels",
                where="score",
                found=listed(names or ()),
                known=listed(declared),
                fix="give a mapping from class to column, as in score={label: column} (--score LABEL=COLUMN)",
            )
        return tuple(declared)
    if by_name is not None:
        return by_name
    if names is None and seen and all(type(x) is int and 0 <= x < k for x in seen):
        return tuple(range(k))
    raise PlanError(
        "score-columns",
        "the class of each score column is not stated",
        where="score",
        found=listed(names, most=12) if names else f"{k} columns",
        known=listed(sorted(seen, key=str)),
        fix="give score={label: column} (--score LABEL=COLUMN), or declare the classes in the order of the columns",
    )


def _fitting(labels: tuple[Label, ...], seen: set[Label], declared: Sequence[Label] | None) -> tuple[Label, ...]:
    known = list(declared) if declared is not None else sorted(seen, key=str)
    strange = [x for x in labels if x not in known] if declared is not None else []
    bare = [x for x in known if x not in labels]
    if not strange and not bare:
        return labels
    odd = (strange or bare)[0]
    others = known if strange else [x for x in labels if x not in known]
    close = nearest(str(odd), [str(x) for x in others])
    pair = (odd, close) if strange else (close, odd)
    raise PlanError(
        "score-columns",
        f"a score is given for {quoted(odd)}, which is not a class"
        if strange
        else f"no score column is given for the class {quoted(odd)}",
        where="score",
        found=listed(labels),
        known=listed(known),
        fix=(f"{quoted(pair[0])} is given: did you mean {quoted(pair[1])}? " if close else "")
        + "give one column for each class",
    )


def _by_name(names: list[str], seen: set[Label], declared: Sequence[Label] | None) -> tuple[Label, ...] | None:
    """Classes by the names of their columns: every name is a label, or a label after one common prefix_."""
    wanted = [str(x) for x in (declared if declared is not None else seen)]
    if not wanted:
        return None
    for prefix in ("", *sorted({name[: -len(wanted[0])] for name in names if name.endswith(f"_{wanted[0]}")})):
        if all(f"{prefix}{label}" in names for label in wanted) and all(name.startswith(prefix) for name in names):
            texts = [name[len(prefix) :] for name in names]
            known = {str(x): x for x in (declared if declared is not None else seen)}
            whole = all(type(x) is int for x in known.values())
            if declared is not None and len(texts) != len(wanted):
                return None
            return tuple(known.get(t, int(t) if whole and t.isdecimal() else t) for t in texts)
    return None


def score_array(column: object, role: str) -> NDArray[np.float64]:
    """A column of scores in memory as float64; missing ones are NaN, and are looked for later."""
    from assay.rows.columns import as_array
    from assay.rows.number_columns import exact_floats

    def no_number(found: str) -> RowsError:
        return not_numbers(role, "the scores are not numbers", found=found)

    if stored_as(column).startswith("decimal") and hasattr(column, "to_numpy"):  # before a library rounds them
        column = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()  # type: ignore[attr-defined]
    array = as_array(column, role)
    if array.dtype.kind == "b" or (array.dtype.kind == "O" and any(isinstance(value, bool) for value in array)):
        raise no_number(found="truth values")
    return exact_floats(array, unfit=no_number, inexact=partial(inexact, role))


def inexact(role: str, finding: str) -> OutOfRange:
    """Scores that would change on their way into a float64."""
    return OutOfRange(
        "score-not-finite",
        "a score is a number that float64 cannot hold: a whole one above 2^53, or one with too many digits, too large"
        " or too small",
        where=role,
        found=finding,
        fix="give scores as float64, rounded or scaled by yourself",
    )


WIDTHS: Final = {"halffloat": "float16", "float": "float32", "double": "float64", "string": "text", "str": "text"}
"""What others call the widths of numbers."""


def stored_as(column: object) -> str:
    """The type a column of scores was stored with, before it was widened to float64.

    >>> stored_as([0.5, 0.25])
    'float64'
    """
    kind = getattr(column, "dtype", None)
    kind = getattr(column, "type", "float64") if kind is None else kind
    name = str(kind).lower().partition("[")[0].partition("(")[0]
    return WIDTHS.get(name, name)


_FAULTS: Final = {
    "infinite": (
        "score-not-finite",
        "infinite",
        {"fix": "correct the scores, or leave the rows out before assessing"},
    ),
    "missing": (
        "score-not-finite",
        "missing or NaN",
        {
            "fix": 'complete the scores; or leave these rows out and count them: missing="drop" (--missing drop);'
            ' or rank them below all others: missing_score="worst" (--missing-score worst)'
        },
    ),
    "outside": (
        "score-out-of-range",
        "outside 0 to 1",
        {
            "known": "probabilities, as stated",
            "fix": 'correct the scores, or state what they are: scores="logit" or scores="any" (--scores)',
        },
    ),
}
"""By the kind of fault: the code, what the scores are, and further lines of the error."""


def demand_sound(
    counts: Mapping[str, int], *, where: str, first: Callable[[str], str], farthest: Callable[[], float], drop: bool
) -> None:
    """Stop at the first kind of fault among the rows counted; `first` tells the first rows of a kind."""
    for kind, (code, what, lines) in _FAULTS.items():
        if counts.get(kind) and not (drop and kind == "missing"):
            some = f"the scores of {counted(counts[kind], 'row')} of {counts['rows']:,} are {what}"
            raise OutOfRange(code, some, where=where, found=first(kind), **lines)
    if unnormal := counts.get("unnormal"):
        verb = "does" if unnormal == 1 else "do"
        raise OutOfRange(
            "probabilities-not-normalised",
            f"the probabilities of {counted(unnormal, 'row')} of {counts['rows']:,} {verb} not add up to 1",
            where=where,
            found=f"{first('unnormal')}; {farthest():.7g} from 1 at most",
            known=f"1, give or take {NORMAL:g}",
            fix="correct the scores; or divide them by their sum, renormalise=True (--renormalise); or state that they"
            ' are not probabilities: scores="any" (--scores any)',
        )


def demand_kind(kind: object) -> Kind:
    """A kind of score that exists."""
    return cast("Kind", _choice("scores", kind, KINDS, "is not a kind of score"))


def demand_mended(missing_score: object, *, renormalise: bool, kind: Kind, columns: ScoreColumns | None) -> None:
    """Only ways to mend scores that exist, and only where they make sense."""
    if missing_score is not None:
        _choice("missing_score", missing_score, MISSING_SCORE, "is not a choice")
    for name, given in (("missing_score", missing_score is not None), ("renormalise", renormalise)):
        if given and columns is None:
            raise PlanError(
                "role-missing", f"{name} is given, but no scores are", where="score", fix="give score=... (--score)"
            )
    if columns is None:
        return
    if missing_score == "worst" and kind == "probability":
        raise PlanError(
            "role-clash",
            "a missing score can be ranked below all others, but it is not a probability",
            where="missing_score",
            fix='ask for ranks only, scores="any" (--scores any), or leave the rows out: missing_score="drop"',
        )
    if missing_score == "worst" and not columns.single:
        raise PlanError(
            "role-clash",
            f"a missing score is ranked among those of one class, and there are {len(columns.columns)} score columns",
            where="missing_score",
            fix='give the column of the positive class alone, or leave the rows out: missing_score="drop"',
        )
    if renormalise and (columns.single or kind != "probability"):
        raise PlanError(
            "role-clash",
            "renormalise speaks of probabilities of several classes, which should add up to 1",
            where="renormalise",
            fix='give one score column for each class and state scores="probability", or leave renormalise out',
        )


def _choice(name: str, given: object, known: tuple[str, ...], what: str) -> object:
    if given in known:
        return given
    raise unknown_choice(given, known, f"{name}={visible(repr(given))} {what}")
