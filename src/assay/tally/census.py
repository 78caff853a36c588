# SPDX-License-Identifier: Apache-2.0
"""Row accounting: rows read = rows scored + rows excluded by reason + rows unmatched."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.core.text import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """Where every row went."""

    read: int
    scored: int
    excluded: dict[str, int] = field(default_factory=dict)
    unmatched: int = 0

    def __post_init__(self) -> None:
        """The equation holds, or the counting is at fault."""
        if self.read != self.scored + sum(self.excluded.values()) + self.unmatched:
            msg = f"row accounting does not add up: {self}"
            raise ArithmeticError(msg)

    def __add__(self, other: Census) -> Census:
        """Both accounts together."""
        reasons = sorted({*self.excluded, *other.excluded})
        return Census(
            read=self.read + other.read,
            scored=self.scored + other.scored,
            excluded={reason: self.excluded.get(reason, 0) + other.excluded.get(reason, 0) for reason in reasons},
            unmatched=self.unmatched + other.unmatched,
        )

    def said(self) -> str:
        """The equation as a sentence.

        >>> Census(read=5, scored=4, excluded={"truth is missing": 1}).said()
        '5 rows read = 4 scored + 1 excluded (truth is missing) + 0 unmatched'
        """
        reasons = ", ".join(f"{n:,} {why}" if len(self.excluded) > 1 else why for why, n in self.excluded.items())
        out = sum(self.excluded.values())
        why = f" ({reasons})" if reasons else ""
        lost = f"{out:,} excluded{why} + {self.unmatched:,} unmatched"
        return f"{counted(self.read, 'row')} read = {self.scored:,} scored + {lost}"

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {"read": self.read, "scored": self.scored, "excluded": dict(self.excluded), "unmatched": self.unmatched}
