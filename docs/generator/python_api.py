# SPDX-License-Identifier: Apache-2.0
"""One page a public name of the package: its call, parameters, attributes and methods, from the code."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cached_property

import assay
from generator.markdown import block, plain, sentences, table

KINDS = {
    "Functions": inspect.isfunction,
    "Errors": lambda thing: issubclass(thing, Exception),
    "Classes": inspect.isclass,
}


def public_names() -> dict[str, list[str]]:
    """The public names by kind of thing."""
    kinds: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for name in sorted(dir(assay)):
        thing = getattr(assay, name)
        kinds[next(kind for kind, holds in KINDS.items() if holds(thing))].append(name)
    return {kind: kinds[kind] for kind in ("Functions", "Classes", "Errors")}


def index() -> list[str]:
    """All public names."""
    lines = ["# Python", "", "Everything that `import assay` offers; other modules are not public and may change."]
    for kind, names in public_names().items():
        rows = [(f"[{name}]({name}.md)", plain(_parts(getattr(assay, name))[0])) for name in names]
        lines += ["", f"## {kind}", "", *table(("name", "what it does" if kind == "Functions" else "what it is"), rows)]
    return [*lines, "", "Every [task](../tasks/regression.md) has a page with its measures."]


def page(name: str) -> list[str]:
    """The page of one public name."""
    thing = getattr(assay, name)
    first, parameters, rest, examples = _parts(thing)
    lines = [
        f"# assay.{name}",
        "",
        *sentences(plain(first)),
        *(line for text in rest for line in sentences(plain(text))),
    ]
    if inspect.isfunction(thing) or parameters or issubclass(thing, Exception):
        lines += ["", *block("text", _call(f"assay.{name}", thing))]
    if parameters:
        lines += ["", *table(("parameter", "meaning"), ((f"`{key}`", plain(text)) for key, text in parameters))]
    if examples:
        lines += ["", *block("pycon", examples)]
    return [*lines, *(_members(thing) if inspect.isclass(thing) else ())]


def _parts(thing: object) -> tuple[str, list[tuple[str, str]], list[str], str]:
    """A docstring as its first sentence, its parameters, other sentences and examples."""
    text = inspect.getdoc(thing) or ""
    text, mark, examples = text.partition(">>> ")
    first, *lines = [line for line in text.splitlines() if line.strip()]
    known = set(_signature(thing).parameters) if callable(thing) else set()
    parameters, rest = [], []
    for line in lines:
        key, colon, meaning = line.partition(": ")
        if colon and set(re.split(r", ", key)) & known:
            parameters.append((key.replace(", ", "`, `"), meaning))
        else:
            rest.append(line)
    return first, parameters, rest, (mark + examples).rstrip()


def _signature(thing: object) -> inspect.Signature:
    return inspect.signature(thing)  # type: ignore[arg-type]


def _call(name: str, thing: object) -> str:
    """The call, one parameter a line."""
    signature = _signature(thing)
    parameters, starred = [], False
    for parameter in signature.parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            starred = True
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
            parameters.append("*")
            starred = True
        parameters.append(str(parameter.replace(annotation=inspect.Parameter.empty)))
    text = f"{name}({', '.join(parameters)})"
    return text if len(text) <= 100 else f"{name}(\n    " + ",\n    ".join(parameters) + ",\n)"  # noqa: PLR2004


def _members(thing: type) -> Iterator[str]:
    attributes, methods = [], []
    for name in sorted(name for name in dir(thing) if not name.startswith("_")):
        member = inspect.getattr_static(thing, name)
        if not any(name in vars(base) and base.__module__.startswith("assay.") for base in thing.__mro__):
            continue
        if isinstance(member, (property, cached_property)):
            attributes.append((f"`{name}`", _first(member)))
        elif callable(getattr(thing, name, None)):
            call = _call(name, getattr(thing, name)).replace("\n    ", " ").replace(",\n)", ")").replace("( ", "(")
            methods.append((f"`{call}`", _first(getattr(thing, name))))
    fields = [name for name in getattr(thing, "__dataclass_fields__", {}) if not name.startswith("_")]
    known = {key for keys, _ in _parts(thing)[1] for key in keys.split("`, `")}
    said = _field_docs(thing)
    attributes += [(f"`{name}`", said.get(name, "as in a Record")) for name in fields if name not in known]
    for head, rows in (("Attributes", attributes), ("Methods", methods)):
        if rows:
            yield from ("", f"## {head}", "", *table((head.lower()[:-1], "says"), rows))


def _field_docs(thing: type) -> dict[str, str]:
    """The strings below the fields of a class, or else their types."""
    body = ast.parse(inspect.getsource(thing)).body[0].body  # type: ignore[attr-defined]
    said = {}
    for node, below in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else None
            said[node.target.id] = plain(str(text)) if text else f"`{ast.unparse(node.annotation)}`"
    return said


def _first(member: object) -> str:
    return plain((inspect.getdoc(member) or "").partition("\n\n")[0].replace("\n", " ")) or "as its name says"
