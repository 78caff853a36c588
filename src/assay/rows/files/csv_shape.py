# SPDX-License-Identifier: Apache-2.0
"""The shape of a CSV file: quotes closed, no blank lines, as many fields in every row as in the header.

This is a count of quotes, delimiters and line ends, not a parser; the engine parses what passes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from assay.core.errors import RowsError
from assay.core.text import counted, listed, quoted
from assay.rows.files.formats import no_rows, too_many
from assay.rows.files.text_blocks import BOM, CONTROLS, FREE, Text, check_encoding, refuse_controls

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bytes: TypeAlias = NDArray[np.uint8]
    Places: TypeAlias = NDArray[np.intp]

_MARK = b"\x01"  # stands for a line break inside quotes; the file itself holds no control characters
_QUOTE, _NEWLINE, _RETURN = 34, 10, 13
_SHOWN = 3


@dataclass(slots=True, kw_only=True)
class Trouble:
    """Lines that share one fault: how many, and the first few with what stands there."""

    count: int = 0
    first: list[tuple[int, int]] = field(default_factory=list)

    def add(self, line: int, fields: int = 0) -> None:
        """Count one more line."""
        self.count += 1
        if len(self.first) < _SHOWN:
            self.first.append((line, fields))

    def joined(self, other: Trouble) -> Trouble:
        """Both together, this one's lines first."""
        return Trouble(count=self.count + other.count, first=[*self.first, *other.first][:_SHOWN])

    def lines(self) -> str:
        """The first lines, and how many more there are."""
        shown = ", ".join(f"{line:,}" for line, _ in self.first)
        rest = f" and {self.count - len(self.first):,} more" if self.count > len(self.first) else ""
        return f"{'lines' if self.count > 1 else 'line'} {shown}{rest}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first row: its columns, and how the file separates fields and rows."""

    names: list[str]
    delimiter: str
    crlf: bool
    lines: int
    notes: tuple[str, ...]


class Body:
    """The running state of the scan: rows counted with the header, quotes open or closed, faults gathered."""

    def __init__(self, text: Text, header: Header) -> None:
        self.text, self.header, self.where = text, header, text.where
        self.fields = len(header.names)
        self.end = b"\r\n" if header.crlf else b"\n"
        self.mark = header.delimiter.encode()
        self.good = self.mark * (self.fields - 1) + self.end
        self.marks = self.mark + b'"\r\n'
        self.plain = bytes(set(range(256)) - set(self.marks) - set(CONTROLS))
        self.line = 1  # of the row that comes next, or that is open
        self.offset = len(BOM) if text.bom else 0
        self.rows = 0
        self.inside = False
        self.open = b""
        self.opened_at = 0
        self.length, self.longest = 0, 0
        self.folded = False
        self.held = Trouble()
        self.troubles = {kind: Trouble() for kind in ("blank", "ragged", "ending")}

    def feed(self, block: bytes) -> None:
        """Take in the next lines."""
        at, was = self.line + self.open.count(_MARK), self.inside
        kept = block.translate(None, self.plain)
        if kept.translate(None, self.marks):
            refuse_controls(block, self.where, at, self.offset)
        check_encoding(block, self.where, at, self.offset)
        if not block.endswith(b"\n"):
            kept += self.end.removeprefix(b"\r") if block.endswith(b"\r") else self.end
        if was or b'"' in kept:
            kept = self.open + self._outside(block, kept, at)
            cut = kept.rfind(b"\n") + 1
            kept, self.open = kept[:cut], kept[cut:]
        else:
            self.longest = max(self.longest, len(block))
        bare = kept.replace(_MARK, b"") if self.folded else kept
        rows = bare.count(b"\n")
        if bare != self.good * rows:
            self._explain(kept, set(self._blank_lines(block, at, was)))
        else:
            self.rows += rows
            if rows:
                self._settle()
            if self.fields == 1:  # a blank line has the shape of a row
                for line in self._blank_lines(block, at, was):
                    self.troubles["blank"].add(line)
        self.line += rows + kept.count(_MARK)
        self.offset += len(block)
        most = self.text.reading.max_rows
        if most is not None and self.rows - 1 > most:
            raise too_many(self.where, most)

    def _outside(self, block: bytes, kept: bytes, line: int) -> bytes:
        """The delimiters and line ends outside quotes, with line breaks inside them marked; quotes must stand right."""
        import numpy as np

        data = np.frombuffer(block + b"\n", np.uint8)  # the newline stands for what is before and after the block
        at = np.flatnonzero(data == _QUOTE)
        was = int(self.inside)
        self._demand_quoting(block, line, data, at[was::2], at[1 - was :: 2])
        self._measure(data[:-1], at, was)
        self.inside = bool((was + len(at)) & 1)
        if not was and b'"' not in (simple := kept.replace(b'""', b"")):
            return simple  # no quoted field holds a delimiter or a line break
        marks = np.frombuffer(kept, np.uint8)
        quotes = marks == _QUOTE
        inside = np.logical_xor.accumulate(quotes) ^ bool(was)
        broken = inside & (marks == _NEWLINE)
        self.folded |= bool(broken.any()) or bool((inside & (marks == _RETURN)).any())
        out = np.where(broken, _MARK[0], marks)[(~inside & ~quotes) | broken]
        return bytes(out.astype(np.uint8))

    def _demand_quoting(self, block: bytes, line: int, data: Bytes, opening: Places, closing: Places) -> None:
        """A quote opens a field, closes it, or is doubled inside; it stands nowhere else."""
        import numpy as np

        begins, ends = data[opening - 1], data[closing + 1]
        real = opening[begins != _QUOTE]
        if bytes(begins).translate(None, self.mark + b'\n"') or bytes(ends).translate(None, self.marks):
            stray = opening[~np.isin(begins, list(self.mark + b'\n"'))]
            early = closing[~np.isin(ends, list(self.marks))]
            if len(stray) and (not len(early) or stray[0] < early[0]):
                raise self._stray(line + block.count(b"\n", 0, int(stray[0])))
            before = real[real < early[0]]
            opened = line + block.count(b"\n", 0, int(before[-1])) if len(before) else self.opened_at
            raise unclosed(self.where, opened, line + block.count(b"\n", 0, int(early[0])))
        if len(real) and len(opening) + self.inside > len(closing):
            self.opened_at = line + block.count(b"\n", 0, int(real[-1]))

    def _measure(self, data: Bytes, quotes: Places, was: int) -> None:
        """Follow the length of the longest row across blocks; most rows lie within one."""
        import numpy as np

        now = (was + len(quotes)) & 1
        ends = np.flatnonzero(data == _NEWLINE) if was or now else np.array([len(data) - 1])
        if was or now:
            ends = ends[(np.searchsorted(quotes, ends) + was) & 1 == 0]
        if not len(ends):
            self.length += len(data)
            return
        widest = int(np.diff(ends).max()) if len(ends) > 1 else len(data)
        self.longest = max(self.longest, self.length + int(ends[0]) + 1, widest)
        self.length = len(data) - int(ends[-1]) - 1

    def _blank_lines(self, block: bytes, line: int, was: bool) -> Iterator[int]:  # noqa: FBT001  the state before it
        """The numbers of the lines outside quotes that hold nothing."""
        data, needle = b"\n" + block, b"\n" + self.end
        inside, seen, at = int(was), 0, data.find(needle)
        while at >= 0:
            inside ^= data.count(b'"', seen, at) & 1
            line += data.count(b"\n", seen + 1, at + 1)
            seen = at
            if not inside:
                yield line
            at = data.find(needle, at + 1)

    def _explain(self, kept: bytes, blanks: set[int]) -> None:
        """Sort the rows of a block into good ones and faults, by line."""
        line = self.line
        for row in kept.split(b"\n")[:-1]:
            shape = row.replace(_MARK, b"")
            body = shape.removesuffix(b"\r")
            if line in blanks:
                (self.held if self.fields > 1 else self.troubles["blank"]).add(line)
            else:
                self._settle()
                self.rows += 1
                if shape + b"\n" == self.good:
                    pass
                elif b"\r" in body or shape.endswith(b"\r") is not self.header.crlf:
                    self.troubles["ending"].add(line)
                else:
                    self.troubles["ragged"].add(line, body.count(self.mark) + 1)
            line += 1 + row.count(_MARK)

    def _settle(self) -> None:
        """Blank lines are a fault once another row follows them."""
        if self.held.count:
            self.troubles["blank"] = self.troubles["blank"].joined(self.held)
            self.held = Trouble()

    def finish(self) -> None:
        """Raise the fault that comes first."""
        if self.inside:
            raise unclosed(self.where, self.opened_at)
        if faults := [(trouble.first[0][0], kind) for kind, trouble in self.troubles.items() if trouble.count]:
            raise self._fault(min(faults)[1])
        self.longest = max(self.longest, self.length)
        if self.longest > FREE:
            raise self.text.too_long()
        if self.rows < 2:  # noqa: PLR2004  the header is a row too
            raise no_rows(self.where, "a header and no rows")

    def _fault(self, kind: str) -> RowsError:
        trouble = self.troubles[kind]
        if kind == "blank":
            return blank(trouble, self.where)
        if kind == "ending":
            here, there = ("LF", "CRLF") if self.header.crlf else ("CRLF or CR", "LF")
            return RowsError(
                "file-unreadable",
                "line ends are mixed",
                where=f"{self.where}, {trouble.lines()}",
                found=f"{here}, where the header ends in {there}",
                fix="save the file with one kind of line end",
            )
        return self._ragged(trouble)

    def _ragged(self, trouble: Trouble) -> RowsError:
        shown = "; ".join(f"line {line:,} has {counted(found, 'field')}" for line, found in trouble.first)
        extra = {found - self.fields for _, found in trouble.first}
        comma = self.mark == b"," and len(extra) == 1 and 0 < min(extra) <= self.fields
        mark = quoted(self.header.delimiter)
        hint = 'if numbers are written with a decimal comma, separate fields with ";" and state decimal=","; otherwise '
        return RowsError(
            "ragged-row",
            f"{counted(trouble.count, 'row')} of {self.rows - 1:,} with more or fewer fields than the header",
            where=f"{self.where}, {trouble.lines()}",
            found=f"{shown}; the header has {self.fields:,}",
            known=f"columns {listed(self.header.names)}",
            fix=f"{hint if comma else ''}give every row {counted(self.fields, 'field')}; quote fields that hold {mark}",
        )

    def _stray(self, line: int) -> RowsError:
        return RowsError(
            "file-unreadable",
            "a quote stands inside a field that is not quoted",
            where=f"{self.where}, line {line:,}",
            known="a field is quoted as a whole, without spaces around the quotes, its own quotes doubled",
            fix='write "5"" pipe" for 5" pipe',
        )


def unclosed(where: str, line: int, closed: int | None = None) -> RowsError:
    """The error for a quote that is opened and not closed where it should be."""
    end = "it is never closed" if closed is None else f"the next quote, on line {closed:,}, has other text behind it"
    return RowsError(
        "quote-not-closed",
        f"the quoted field opened at line {line:,} is not closed",
        where=f"{where}, line {line:,}",
        found=end,
        known="behind a closing quote stands the delimiter or the end of the line, without a space",
        fix="close the quote, or double it if it belongs to the text",
    )


def blank(trouble: Trouble, where: str) -> RowsError:
    """The error for blank lines between the rows."""
    return RowsError(
        "blank-line",
        f"{counted(trouble.count, 'blank line')} {'stands' if trouble.count == 1 else 'stand'} between the rows",
        where=f"{where}, {trouble.lines()}",
        known="blank lines may stand at the end only; in a single column nowhere",
        fix='remove the blank lines; an empty text in a single column is written ""',
    )
