# SPDX-License-Identifier: Apache-2.0
"""A commented plan to begin with, written from the declared fields."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from pydantic import BaseModel

from assay.assess.plan.fields import Identity, Plan
from assay.assess.plan.section_fields import Section, without_none

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

HEAD = (
    "# The plan of an assessment by ISO/IEC TS 4213:2022. Fill in what you know and delete what does not apply;",
    "# lines that begin with # say nothing yet. `assay plan check` tells what is wrong and what is still missing,",
    "# `assay run` counts. A statement counts only with an assessor and a date.",
)

SHORT = "# `assay plan check` ranks what to answer next; `assay init --full` lists every field."


def toml_value(value: object) -> str:
    """A plain value as TOML writes it.

    >>> toml_value({"a": [1, "x"]}), toml_value(True)
    ('{a = [1, "x"]}', 'true')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        # JSON strings are TOML basic strings, but for DEL, which TOML wants escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{toml_key(str(k))} = {toml_value(v)}" for k, v in value.items()) + "}"
    return str(value)  # a date


def toml_key(name: str) -> str:
    """A key as TOML writes it.

    >>> toml_key("a_b"), toml_key("a b")
    ('a_b', '"a b"')
    """
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if plain else toml_value(name)


def short_template(filled: Mapping[str, Any]) -> str:
    """The plan as TOML: what is filled in, and nothing else but who signs it."""
    lines = [SHORT, 'assay = "1"', "", "[plan]"]
    identity = filled.get("plan", {})
    for name, field in Identity.model_fields.items():
        if name in identity or name in ("assessor", "date"):
            mark = "" if name in identity else "# "
            lines.append(f"{mark}{name} = {toml_value(identity.get(name, example(field)))}")
    for name, part in filled.items():
        if name != "plan":
            lines += ["", *_plain_section(name, part)]
    return "\n".join(lines) + "\n"


def _plain_section(name: str, part: Mapping[str, Any]) -> Iterator[str]:
    """A section without comments; the sections in it follow its own fields."""
    tables = {
        key: value
        for key, value in part.items()
        if isinstance(value, Mapping) and (name in ("data", "models") or _wide(value))
    }
    if len(tables) < len(part) or not part:
        yield f"[{name}]"
    yield from (f"{toml_key(key)} = {toml_value(value)}" for key, value in part.items() if key not in tables)
    for key, value in tables.items():
        yield from _plain_section(f"{name}.{toml_key(key)}", value)


def _wide(value: Mapping[str, Any]) -> bool:
    """Whether a table deserves lines of its own."""
    return any(isinstance(one, (Mapping, list)) for one in value.values()) or len(value) > 2  # noqa: PLR2004


def template(filled: Mapping[str, Any]) -> str:
    """The plan as TOML: what is filled in, and the rest as comments with examples."""
    lines = [*HEAD, "", 'assay = "1"']
    for name, field in Plan.model_fields.items():
        if name != "assay":
            lines += ["", f"# {'-' * 70} {name}", *_section(name, field, filled.get(name, {}))]
    return "\n".join(lines) + "\n"


def _section(name: str, field: FieldInfo, given: Any) -> Iterator[str]:  # noqa: ANN401  a table, or a list of them
    """What a section is about, and its fields: once, for every name, or for every entry of a list."""
    section, kind = section_of(field.annotation), get_origin(field.annotation)
    if kind in (dict, list):
        yield f"# {field.description}"
    if section is None:
        yield from (f"# [{name}]", '# "R-5.3.13-3" = "No other model exists for this task."')
        return
    said = " ".join((section.__doc__ or "").split())
    yield f"# {said}" + (f" ({', '.join(section.answers)})" if section.answers else "")
    parts = [(f"[{name}]", given)]
    if kind is dict:
        parts = [(f"[{name}.{toml_key(key)}]", part) for key, part in given.items()] or [(f"# [{name}.NAME]", {})]
    elif kind is list:
        parts = [(f"[[{name}]]", part) for part in given] or [(f"# [[{name}]]", {})]
    for place, (head, part) in enumerate(parts):
        yield from ["", head] if place else [head]
        yield from _fields(section, part)


def _fields(section: type[Section], given: Mapping[str, Any]) -> Iterator[str]:
    for name, field in section.model_fields.items():
        words = choices(field.annotation)
        said = f"{field.description}" + (f" One of: {', '.join(words)}." if words else "")
        if name in given:
            yield f"{name} = {toml_value(given[name])}  # {said}"
        else:
            yield f"# {name} = {toml_value(example(field))}  # {said}"


def choices(annotation: object) -> list[str]:
    """The words a field may hold, if they are counted.

    >>> choices(Plan.model_fields["reading"].annotation.model_fields["missing"].annotation)
    ['error', 'drop']
    """
    bare = without_none(annotation)
    if get_origin(bare) is Literal:
        return [str(one) for one in get_args(bare)]
    return choices(get_args(bare)[0]) if get_origin(bare) is list else []


def example(field: FieldInfo) -> object:
    """The declared example of a field, or one made of the examples of what it holds."""
    if field.examples:
        return field.examples[0]
    inner = section_of(field.annotation)
    if inner is None:
        return "a" * 64 if "hexadecimal" in str(field.description) or "igest" in str(field.description) else "..."
    made = {name: example(one) for name, one in inner.model_fields.items() if one.examples}
    if get_origin(without_none(field.annotation)) is list:
        return [made]
    return {"name": made} if get_origin(without_none(field.annotation)) is dict else made


def section_of(annotation: object) -> type[Section] | None:
    """The section that a field holds, itself or within a list or table."""
    bare = without_none(annotation)
    if isinstance(bare, type) and issubclass(bare, BaseModel):
        return bare if issubclass(bare, Section) else None
    for one in get_args(bare)[::-1]:
        if (found := section_of(one)) is not None:
            return found
    return None
