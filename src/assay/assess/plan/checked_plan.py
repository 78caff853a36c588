# SPDX-License-Identifier: Apache-2.0
"""A plan as read and checked: the model, its digest, or every error in it at once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path as FilePath
from typing import Any, get_args

from pydantic import ValidationError

from assay.assess.plan.document import Path, PlanText, Problem, entries, read_text
from assay.assess.plan.fields import Plan
from assay.assess.plan.rules import broken
from assay.assess.plan.section_fields import UNKNOWN, Section, without_none
from assay.core.errors import PlanError
from assay.core.text import counted, nearest, quoted, visible
from assay.tally.base import digest

SHOWN = 100
"""Errors printed; a file with more is not a plan at all."""
_PLACEHOLDERS = ("", "todo", "tbd", "fixme", "xxx", "...", "…", "?", "n.n.", "placeholder", "example")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedPlan:
    """A plan that makes sense, and what it is known by."""

    plan: Plan
    path: str
    format: str
    sha256: str
    document: dict[str, Any]

    @property
    def folder(self) -> FilePath:
        """Where the files lie that it names."""
        return FilePath(self.path).resolve().parent

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of what it declares."""
        return digest(self.document)

    @property
    def signed(self) -> bool:
        """Whether a name and a date stand behind the declarations."""
        return stated(self.plan.plan.assessor) and self.plan.plan.date is not None


def load_plan(path: str | os.PathLike[str]) -> LoadedPlan:
    """Read a plan, or raise one error that tells everything that is wrong with it."""
    text = read_text(path)
    plan, problems = checked(text)
    if problems or plan is None:
        shown = "".join(f"\n           {one.said()}" for one in problems[:SHOWN])
        more = f"\n           and {len(problems) - SHOWN:,} more" if len(problems) > SHOWN else ""
        what = f"the plan has {counted(len(problems), 'error')}"
        fix = "correct them; `assay schema --kind plan` tells editors every key"
        raise PlanError("plan-invalid", what, where=visible(text.path), found=(shown + more).lstrip(), fix=fix)
    document, sha256 = plan.model_dump(mode="json", exclude_unset=True), hashlib.sha256(text.raw).hexdigest()
    return LoadedPlan(plan=plan, path=text.path, format=text.format, sha256=sha256, document=document)


def planned(document: dict[str, Any], folder: str | os.PathLike[str] = ".") -> LoadedPlan:
    """A plan from plain values, as a program would make one; nothing is asked of files.

    >>> planned({"plan": {"title": "t"}}).plan.plan.title
    't'
    """
    plan = Plan.model_validate(document)
    content = plan.model_dump(mode="json", exclude_unset=True)
    path = str(FilePath(folder) / "plan")
    return LoadedPlan(plan=plan, path=path, format="none", sha256=digest(content), document=content)


def checked(text: PlanText) -> tuple[Plan | None, list[Problem]]:
    """The model, if there is one, and every problem in the order of the lines."""
    plan, problems = None, list[Problem]()
    try:
        plan = Plan.model_validate(text.document)
    except ValidationError as error:
        problems += _translated(error, text.document)
    problems += broken(text.document, FilePath(text.path).resolve().parent)
    first_problems: dict[Path, Problem] = {}
    for one in problems:
        first_problems.setdefault(one.path, replace(one, line=text.spots.line(one.path)))
    return plan, sorted(first_problems.values(), key=lambda one: (one.line, [str(part) for part in one.path]))


def stated(value: object) -> bool:
    """Whether an answer says anything: neither empty, nor a placeholder, nor "unknown".

    >>> stated("two readers"), stated("unknown"), stated(" tbd "), stated([]), stated(False)
    (True, False, False, False, True)
    """
    if value is None:
        return False
    if isinstance(value, str):
        text = value.strip().casefold()
        return text != UNKNOWN and text not in _PLACEHOLDERS and not (text.startswith("<") and text.endswith(">"))
    if isinstance(value, (list, tuple)):
        return any(stated(one) for one in value)
    if isinstance(value, dict):
        return bool(value) and all(stated(one) for one in value.values())
    return True


@cache
def plan_schema() -> dict[str, Any]:
    """The JSON Schema of a plan, for editors.

    >>> plan_schema()["title"]
    'assay plan'
    """
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:assay:plan:1"}
    return {**head, **Plan.model_json_schema(), "title": "assay plan"}


def keys_at(path: Path) -> list[str] | None:
    """The keys that are known at a path; None where any name will do.

    >>> keys_at(("purpose",)), keys_at(("models", "A"))[0]
    (['stage', 'aims', 'estimand'], 'kind')
    """
    node: Any = Plan
    for part in path:
        if isinstance(node, type) and issubclass(node, Section):
            field = node.model_fields.get(str(part))
            node = None if field is None else without_none(field.annotation)
        else:  # an item of a list, or what stands under a name
            node = without_none((get_args(node) or (None,))[-1])
    return list(node.model_fields) if isinstance(node, type) and issubclass(node, Section) else None


def _translated(error: ValidationError, document: dict[str, Any]) -> Iterator[Problem]:
    """What pydantic found, in words and at the paths of the document."""
    for detail in error.errors(include_url=False):
        path = _in_document(tuple(detail["loc"]), document)
        kind, given = str(detail["type"]), detail.get("input")
        context = detail.get("ctx") or {}
        if kind == "extra_forbidden":
            word = str(path[-1])
            what, known = f"there is no key {quoted(word)} here", keys_at(path[:-1]) or []
            yield _misspelled(path, what, word, known, "remove it")
        elif kind == "literal_error":
            choices = _choices(str(context.get("expected", "")))
            yield _misspelled(path, f"{quoted(given)} is not a choice", str(given), choices)
        elif kind == "string_pattern_mismatch" and "[key]" in detail["loc"]:
            yield Problem(path, "a name has letters, digits, - _ . and at most 64 characters", "rename it")
        elif kind == "missing":
            yield Problem((*path, *detail["loc"][len(path) :]), "is missing", "add it")
        else:
            yield Problem(path, f"{_said(kind, context, str(detail['msg']))}, not {_shown(given)}")


def _misspelled(path: Path, what: str, word: str, known: list[str], fix: str | None = None) -> Problem:
    close = nearest(word, known)
    return Problem(path, what, f'did you mean "{close}"?' if close else fix, known=", ".join(known))


_KINDS = {
    "string_type": "must be text in quotes",
    "string_too_short": "must not be empty",
    "string_too_long": "is too long",
    "string_pattern_mismatch": "must be 64 hexadecimal digits",
    **dict.fromkeys(("int_type", "int_from_float"), "must be a whole number"),
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    **dict.fromkeys(("list_type", "tuple_type"), "must be a list"),
    **dict.fromkeys(("dict_type", "model_type"), "must be a table"),
    "date_type": "must be a date such as 2026-01-31",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "must be {} or more"),
    "greater_than": ("gt", "must be more than {}"),
    "less_than_equal": ("le", "must be {} or less"),
    "less_than": ("lt", "must be less than {}"),
}


def _said(kind: str, context: dict[str, Any], message: str) -> str:
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return words.format(f"{context[name]:g}")
    return _KINDS.get("date_type" if kind.startswith("date") else kind, message[:1].lower() + message[1:])


def _shown(given: object) -> str:
    if isinstance(given, (dict, list)):
        return "a table" if isinstance(given, dict) else f"a list of {len(given)}"
    return quoted(given)


def _choices(expected: str) -> list[str]:
    return [part.strip().strip("'") for part in expected.replace(" or ", ", ").split(",") if part.strip()]


def _in_document(loc: tuple[int | str, ...], document: Any) -> Path:  # noqa: ANN401
    """The path as the user wrote it: pydantic adds the branch of a union and marks of its own."""
    path: list[str | int] = []
    for part in loc:
        if part in (known := entries(document)):
            document = known[part]
            path.append(part)
    return tuple(path)
