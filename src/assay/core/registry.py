# SPDX-License-Identifier: Apache-2.0
"""One registry type: finds a declared thing by name, symbol or alias, and refuses what is ambiguous."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, Protocol, TypeVar

from assay.core.errors import PlanError
from assay.core.text import nearest, visible


class Declared(Protocol):
    """What the registry needs to know of a thing."""

    @property
    def name(self) -> str:
        """Its canonical name."""

    @property
    def symbol(self) -> str:
        """Its short form."""

    @property
    def also(self) -> tuple[str, ...]:
        """Its other names."""


CODES = {"measure": ("measure-unknown", "measure-ambiguous"), "test": ("test-unknown", "test-ambiguous")}
"""The errors of each kind of thing: a word nobody knows, and one that means several."""

Thing = TypeVar("Thing", bound=Declared)


def folded(word: str) -> str:
    """Names compare without case, spaces, hyphens and underscores; a final sign and a single letter stay.

    >>> folded("F1-score") == folded("f1 score"), folded("LR-") == folded("LR"), folded("P") == folded("p")
    (True, False, False)
    """
    word = word.strip().replace("\N{MINUS SIGN}", "-")
    if len(word) == 1:
        return word
    sign = word[-1] if word[-1:] in ("+", "-") else ""
    return "".join(c for c in word.casefold() if c not in " -_'’+") + sign


class Registry(Generic[Thing]):
    """Things by name; aliases and symbols lead to the one thing they mean, or to an error that lists the candidates."""

    def __init__(
        self,
        kind: str,
        ambiguous: Mapping[str, tuple[str, ...]],
        load: Callable[[], object] | None = None,
        elsewhere: Mapping[str, str] | None = None,
    ) -> None:
        """`load` imports the modules that declare its things; `elsewhere` are names that other libraries use."""
        self._elsewhere = dict(elsewhere or {})
        self._kind, self._codes, self._load = kind, CODES[kind], load
        self._things: dict[str, Thing] = {}
        self._words: dict[str, str] = {}
        self._ambiguous = {folded(word): names for word, names in ambiguous.items()}

    def add(self, thing: Thing) -> Thing:
        """Register a thing; a word that is taken or declared ambiguous is a programming error, and leaves no trace."""
        keys = {folded(word): word for word in (thing.name, thing.symbol, *thing.also) if word}
        for key, word in keys.items():
            if key in self._ambiguous:
                msg = f"{word!r} means several {self._kind}s and may not name {thing.name}"
                raise ValueError(msg)
            if self._words.get(key, thing.name) != thing.name:
                msg = f"{word!r} names both {self._words[key]} and {thing.name}"
                raise ValueError(msg)
        if thing.name in self._things:
            msg = f"{self._kind} {thing.name!r} is declared twice"
            raise ValueError(msg)
        self._things[thing.name] = thing
        self._words |= dict.fromkeys(keys, thing.name)
        return thing

    def find(self, word: str) -> Thing:
        """The thing a user means by a word."""
        self._fill()
        if word in self._things:
            return self._things[word]
        key = folded(word)
        if key in self._ambiguous:
            options = ", ".join(self._ambiguous[key])
            raise PlanError(
                self._codes[1],
                f'"{visible(word)}" means several {self._kind}s',
                known=options,
                fix=f"name the one you mean: {options}",
            )
        if key in self._words:
            return self._things[self._words[key]]
        if word in self._elsewhere:
            return self._things[self._elsewhere[word]]
        close = nearest(word, [*self._things, *self._words])
        meant = self._words.get(folded(close), close) if close else None
        raise PlanError(
            self._codes[0],
            f'there is no {self._kind} "{visible(word)}"',
            fix=f'did you mean "{meant}"?' if meant else f"`assay {self._kind}s` lists every name",
        )

    def __contains__(self, name: object) -> bool:
        """Whether a canonical name is declared."""
        self._fill()
        return name in self._things

    def __iter__(self) -> Iterator[Thing]:
        """In the order of declaration."""
        self._fill()
        return iter(self._things.values())

    def __len__(self) -> int:
        """How many things there are."""
        self._fill()
        return len(self._things)

    def _fill(self) -> None:
        if self._load is not None:
            self._load()
            self._load = None
