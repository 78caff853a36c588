# SPDX-License-Identifier: Apache-2.0
"""What may be a label, and what the labels of two columns together mean."""

from __future__ import annotations

import math
import numbers
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Final, Literal, TypeAlias, cast

from assay.core.errors import PlanError, RowsError, UnknownLabel
from assay.core.labels import Label, in_order
from assay.core.text import counted, listed, look, nearest, quoted, visible
from assay.core.traits import Task

Locate: TypeAlias = Callable[[str, Label | None], str]
"""Role and label -> where its first rows stand, as text."""

LONGEST = 4096
EXACT = 2**53
ZERO_ONE: tuple[tuple[Label, Label], ...] = ((0, 1), (False, True), ("0", "1"), ("False", "True"))
"""The pairs whose positive class needs no statement: 1 and True (DESIGN, section 2)."""


def label_of(value: object, *, where: str) -> Label | None:
    """A cell as a label; None for a missing one.

    >>> label_of(1.0, where="truth"), label_of("a", where="truth"), label_of(float("nan"), where="truth")
    (1, 'a', None)
    """
    if type(value) is int:  # first, because asking abstract classes takes longer than all the rest
        return value
    if type(value) is str:
        return _text(value, where)
    if isinstance(value, Enum):
        value = value.value
    if absent(value):
        return None
    if isinstance(value, str):
        return _text(value, where)
    if isinstance(value, numbers.Integral) or type(value).__name__ == "bool_":
        return bool(value) if type(value).__name__ in ("bool", "bool_") else int(cast("int", value))
    if isinstance(value, (numbers.Real, Decimal)):
        return _whole(cast("float | Decimal", value), where)
    if isinstance(value, (list, tuple, dict, set)) or hasattr(value, "__len__"):
        raise RowsError(
            "column-not-scalar",
            f"a row holds {type(value).__name__}, not one label",
            where=where,
            found=visible(repr(value)[:80]),
            fix="give one value a row (a column of shape (n,), not nested lists or bytes)",
        )
    raise unfit_labels(
        where, f"values of type {type(value).__name__} cannot be labels", found=visible(repr(value)[:80])
    )


def unfit_labels(where: str, what: str, **lines: str) -> RowsError:
    """The error for a column of a type that cannot hold labels."""
    known, fix = "text, whole numbers, booleans, categories", "turn the column into text or whole numbers"
    return RowsError("column-type", what, where=where, known=known, fix=fix, **lines)


def absent(value: object) -> bool:
    """Whether a cell holds nothing: None, NaN, or a library's own word for it.

    >>> absent(None), absent(float("nan")), absent("nan")
    (True, True, False)
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, numbers.Real) and value != value  # noqa: PLR0124  NaN differs from itself


def _text(value: str, where: str) -> str:
    if 4 * len(value) > LONGEST and len(value.encode("utf-8", "surrogatepass")) > LONGEST:
        raise RowsError(
            "name-too-long",
            f"a label is {len(value):,} characters long",
            where=where,
            found=visible(value),
            known=f"at most {LONGEST:,} bytes",
            fix="give the classes short names",
        )
    return str(value)


AS_SCORES = "give scores as scores: score=... (--score COLUMN --scores probability)"
AS_NUMBERS = "measured numbers are assessed by assay.regression(truth=..., predicted=...) (--task regression)"
SHOWN_LABELS = 4
MEASURED = 0.9
"""Share of predicted whole numbers that are never true from which on they are measured, not classes."""
MANY = 12
"""Labels nobody declared, from which on they are not slips of the pen."""


def _looks_like(extra: Sequence[Label], known: Sequence[Label]) -> tuple[str, str] | None:
    """What numbers in the place of labels are taken for, and what to do with them."""

    def parsed(labels: Sequence[Label]) -> list[float] | None:
        try:
            return [float(label) for label in labels]
        except (ValueError, OverflowError):
            return None

    values, others = parsed(extra), parsed(known)
    if values is None or len(extra) < MANY or all(value.is_integer() for value in values):
        return None
    if others is not None and not all(value.is_integer() for value in others):
        return "numbers, as in a regression", AS_NUMBERS
    return ("numbers that look like probabilities", AS_SCORES) if all(0 <= x <= 1 for x in values) else None


def _whole(value: float | Decimal, where: str) -> int:
    if math.isinf(value) or not -EXACT < value < EXACT or value != int(value):
        share = where.startswith("predicted") and 0 <= value <= 1
        raise RowsError(
            "label-precision",
            f"the number {visible(value)} cannot be a label" + (": it looks like a probability" if share else ""),
            where=where,
            found=visible(repr(value)),
            known="whole numbers below 2^53, text, booleans",
            fix=AS_SCORES if share else f"labels are names: give whole numbers or text; {AS_NUMBERS}",
        )
    return int(value)


def kind_of(labels: Iterable[Label], *, where: str, locate: Locate, role: str) -> str | None:
    """The one type of a column's labels: text, integer or boolean."""
    kinds: dict[str, Label] = {}
    for label in labels:
        kinds.setdefault(
            "boolean" if isinstance(label, bool) else "text" if isinstance(label, str) else "integer", label
        )
    if len(kinds) > 1:
        shown = "; ".join(f"{kind} {quoted(label)} {locate(role, label)}" for kind, label in sorted(kinds.items()))
        raise RowsError(
            "mixed-types-in-column",
            f"the {role} column mixes {' and '.join(sorted(kinds))} labels",
            where=where,
            found=shown,
            fix='make them one type: 1 and "1" are different labels',
        )
    return next(iter(kinds), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """The class list of an assessment, and which class is positive if there are two."""

    labels: tuple[Label, ...]
    positive: Label | None
    task: Task
    notes: tuple[str, ...]


LETTERS: Final = str.maketrans(
    "\u0410\u0412\u0415\u0405\u0406\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0430"
    "\u0441\u0435\u0456\u0458\u043e\u0440\u0455\u0443\u0445\u0391\u0392\u0395\u0396\u0397\u0399\u039a"
    "\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u0475",
    "ABESIJKMHOPCTYXaceijopsyxABEZHIKMNOPTYXov",
)
"""Cyrillic and Greek letters that look like Latin ones."""


def look_alike_notes(labels: Iterable[Label]) -> list[str]:
    """Labels that a reader takes for one: letters of other alphabets, and one number written in several ways.

    >>> look_alike_notes(["1", "1.0"])
    ['"1" and "1.0" are one number written in several ways, and count as different classes']
    """
    numbers: dict[float, list[str]] = {}
    shapes: dict[str, list[str]] = {}
    for label in (given for given in labels if isinstance(given, str)):
        with suppress(ValueError):
            numbers.setdefault(float(label), []).append(label)
        shapes.setdefault(label.translate(LETTERS), []).append(label)
    reasons = [(alike, "are one number written in several ways") for alike in numbers.values()]
    reasons += [(alike, "look alike, but are written with letters of different alphabets") for alike in shapes.values()]
    return [
        f"{' and '.join(map(quoted, alike))} {how}, and count as different classes"
        for alike, how in reasons
        if len(alike) > 1
    ]


def classes(
    truth: set[Label],
    predicted: set[Label],
    declared: Sequence[Label] | None,
    positive: Label | None,
    *,
    where: str,
    unknown: Literal["error", "own"] = "error",
    locate: Locate = lambda *_: "",
) -> Classes:
    """Settle the class list and the positive class; what is not stated and not plain is an error, never a guess."""
    notes: list[str] = []
    stated: Label | None = getattr(positive, "item", lambda: positive)()  # a number of NumPy's
    listed_labels = None if declared is None else _declared(declared)
    positive = _of_own_kind(stated, {*truth, *predicted, *(listed_labels or ())})
    if type(positive) is not type(stated):
        notes.append(f"positive={stated!r} is read as the label {positive!r}")
    known = _known(truth, predicted, positive) if listed_labels is None else listed_labels
    extra = {*truth, *predicted} - set(known)
    if listed_labels is None and len(truth) > 2 and all(_is_whole(x) for x in {*truth, *extra}):  # noqa: PLR2004
        _refuse_measured(extra, truth, predicted, where)
        unknown = "own"
    more = _outside(extra, known, truth, unknown=unknown, where=where, locate=locate, notes=notes)
    labels = (*known, *more)
    if listed_labels is None:
        labels = in_order({*labels})
        _refuse_look_alikes(labels, where)
    notes += look_alike_notes(labels)
    return _with_positive(labels, positive, declared=declared is not None, where=where, notes=notes)


def _of_own_kind(positive: Label | None, labels: set[Label]) -> Label | None:
    """The positive class as the data write it: 1 for True, "1" for 1 in a file of text; else as it is."""
    if labels and positive is not None and all(isinstance(label, str) for label in labels) and str(positive) in labels:
        return str(positive)
    if type(positive).__name__ == "bool":
        whole = bool(labels) and labels <= {0, 1} and not any(isinstance(label, bool) for label in labels)
        return int(cast("int", positive)) if whole else positive
    flags = bool(labels) and all(isinstance(label, bool) for label in labels)
    return bool(positive) if type(positive) is int and positive in (0, 1) and flags else positive


def _declared(declared: Sequence[Label]) -> tuple[Label, ...]:
    known = tuple(declared)
    twice = sorted(str(x) for x, times in Counter(known).items() if times > 1)
    if twice or not known:
        raise PlanError(
            "option-unknown",
            "the declared labels are empty" if not known else f"labels are declared twice: {listed(twice)}",
            fix="name every class once: labels=[...]",
        )
    return known


def _refuse_measured(extra: set[Label], truth: set[Label], predicted: set[Label], where: str) -> None:
    """Refuse whole numbers that are measured values: hardly a predicted one ever occurs as the truth."""
    if min(len(extra), len(truth)) >= MANY and len(extra) > MEASURED * len(predicted):
        raise UnknownLabel(
            "label-not-declared",
            f"{len(extra):,} of {len(predicted):,} predicted labels are never true: numbers, as in a regression",
            where=where,
            found=listed(in_order(extra)),
            known=listed(in_order(truth)),
            fix=f"{AS_NUMBERS}; if they are classes, declare every class: labels=[...] (--label)",
        )


def _is_whole(label: Label) -> bool:
    """Whether a label is a whole number, as it is or as the text of a file that knows no types."""
    if isinstance(label, str):
        return label.removeprefix("-").isdecimal() and label.isascii()
    return not isinstance(label, bool)


def _known(truth: set[Label], predicted: set[Label], positive: Label | None) -> tuple[Label, ...]:
    seen = {*truth, *predicted} | ({positive} if positive is not None else set())
    for pair in ZERO_ONE:
        if seen <= set(pair) and all(type(x) is type(pair[0]) for x in seen):
            return pair
    return in_order(truth | ({positive} if positive is not None and len(truth) < 2 else set()))  # noqa: PLR2004


def _outside(
    extra: set[Label],
    known: Sequence[Label],
    truth: set[Label],
    *,
    unknown: str,
    where: str,
    locate: Locate,
    notes: list[str],
) -> tuple[Label, ...]:
    """Labels outside the class list: refused, or classes of their own that no row truly belongs to."""
    if not extra:
        return ()
    order = in_order(extra)
    if unknown == "own":
        verb = "is" if len(order) == 1 else "are"
        own = "a class of its own" if len(order) == 1 else "classes of their own"
        notes.append(f"{listed(order)} {verb} never true; counted as wrong, as {own}")
        return order
    role = "predicted" if not extra & truth else "truth"
    shown = "; ".join(f"{quoted(x)} {locate('truth' if x in truth else 'predicted', x)}" for x in order[:3])
    more = f" and {len(order) - 3} more" if len(order) > 3 else ""  # noqa: PLR2004
    likely = _looks_like(order, known)
    like = f": {likely[0]}" if likely else ""
    close = nearest(str(order[0]), [str(x) for x in known])
    labels = [*known, *order]
    meant = f'"{visible(close)}" may be meant; ' if close else ""
    typed = " ".join(f"--label {visible(x)}" for x in labels[:SHOWN_LABELS]) + (" ..." if labels[SHOWN_LABELS:] else "")
    declare = f"declare every class: labels=[{listed(labels)}] ({typed})"
    raise UnknownLabel(
        "label-not-declared",
        f"the {role} column holds {counted(len(order), 'label')} not among the classes{like}",
        where=where,
        found=shown + more,
        known=listed(known),
        fix=likely[1] if likely else f"{meant}correct the data, or {declare}",
    )


def _refuse_look_alikes(labels: Sequence[Label], where: str) -> None:
    seen: dict[str, str] = {}
    for label in (text for text in labels if isinstance(text, str)):
        twin = seen.setdefault(look(label), label)
        if twin != label:
            raise RowsError(
                "labels-look-alike",
                f"the labels {quoted(twin)} and {quoted(label)} look alike",
                where=where,
                found=f"{twin!a} and {label!a}",
                fix="correct the data, or declare both as classes: labels=[...]",
            )


def _with_positive(
    labels: tuple[Label, ...], positive: Label | None, *, declared: bool, where: str, notes: list[str]
) -> Classes:
    if positive is not None:
        return _stated(labels, positive, declared=declared, where=where, notes=notes)
    if len(labels) != 2:  # noqa: PLR2004
        return Classes(labels=labels, positive=None, task=Task.MULTICLASS, notes=tuple(notes))
    for pair in ZERO_ONE:
        if set(labels) == set(pair) and type(labels[0]) is type(pair[0]):
            notes.append(f"positive class {quoted(pair[1])}: not stated, taken because the other is {quoted(pair[0])}")
            return Classes(labels=pair, positive=pair[1], task=Task.BINARY, notes=tuple(notes))
    code = "mask-values" if set(labels) == {0, 255} else "positive-class-undeclared"
    raise PlanError(
        code,
        "there are two classes, and the positive one is not stated",
        where=where,
        known=listed(labels),
        fix=f"state it: positive={quoted(labels[0])} or positive={quoted(labels[1])}"
        f" (--positive {visible(labels[0])} or --positive {visible(labels[1])})",
    )


def _stated(labels: tuple[Label, ...], positive: Label, *, declared: bool, where: str, notes: list[str]) -> Classes:
    if positive not in labels or type(positive) is not type(labels[labels.index(positive)]):
        twin = next((x for x in labels if str(x) == str(positive)), None)
        close = nearest(str(positive), [str(x) for x in labels])
        fix = f'did you mean "{visible(close)}"?' if close else "name one of the labels"
        if twin is not None:
            fix = f"{quoted(positive)} and {quoted(twin)} are of different types: positive={quoted(twin)}"
        raise PlanError(
            "unknown-positive",
            f"the positive class {quoted(positive)} is not among the labels",
            where=where,
            known=listed(labels),
            fix=fix,
        )
    if len(labels) > 2:  # noqa: PLR2004
        raise PlanError(
            "positive-not-binary",
            f"a positive class is stated, but there are {len(labels)} classes",
            where=where,
            known=listed(labels),
            fix="leave positive out for a multi-class assessment, or map the labels to two classes",
        )
    if len(labels) == 1:
        if not isinstance(positive, str):
            raise PlanError(
                "positive-class-undeclared",
                f"every row is {quoted(positive)}, so the other class has no name",
                where=where,
                fix=f"declare both classes: labels=[..., {quoted(positive)}]",
            )
        labels = (f"not {positive}", positive)
        notes.append(f"every row is {quoted(positive)}; the other class is shown as {quoted(labels[0])}")
    if not declared:
        labels = tuple(sorted(labels, key=lambda x: x == positive))
    return Classes(labels=labels, positive=positive, task=Task.BINARY, notes=tuple(notes))
