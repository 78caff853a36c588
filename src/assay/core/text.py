# SPDX-License-Identifier: Apache-2.0
"""How names and numbers are shown: escaped, elided, spelled out, matched to the nearest known word."""

from __future__ import annotations

import difflib
import hashlib
import re
import unicodedata
from collections.abc import Iterable

SHOWN = 256
"""A name longer than this is cut and marked with a hash (ACCEPTANCE A32, A41)."""

_INVISIBLE = {"Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn"}
_SAME = 1e-12
_LOGIN = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*://[^\s/@:]*):\S*@")
_SECRET = re.compile(
    r"([?&][\w.\-]*(?:password|secret|token|signature|credential|key|sig)=|\bpassword ?= ?)[^&\s]+", re.IGNORECASE
)
_OWN = re.compile(r"(\x1b\[[0-9;]*m)")
_ROLE_WORDS = {
    "truth": "y|truth|true|label|target|class|actual|gold|outcome|diagnosis|reference|ground_?truth",
    "predicted": "p|pred|predicted|prediction|yhat|y_hat|guess|called|output|decision",
    "score": "s|p|p_?1|score|prob|proba|probability|logit|confidence|risk",
}
"""What columns are usually called, so that a call can be proposed; nothing is ever assumed from a name."""


def visible(name: object) -> str:
    r"""The name with control, bidi and zero-width characters written as escapes, cut at 256 characters.

    >>> visible("a\nb"), visible("")
    ('a\\nb', '(empty text)')
    """
    text = redacted(str(name))
    if not text:
        return "(empty text)"
    shown = _escaped(text[: SHOWN + 1])
    if len(text) <= SHOWN:
        return shown
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{shown[: SHOWN - 12]}…#{mark}"


def redacted(text: str) -> str:
    """A text without the passwords of addresses in it, and without what its parameters keep secret.

    >>> redacted("mysql://ann:secret@host/db"), redacted("https://host/x?token=abc&n=1")
    ('mysql://ann:***@host/db', 'https://host/x?token=***&n=1')
    """
    if "://" not in text and "=" not in text:
        return text
    return _SECRET.sub(r"\1***", _LOGIN.sub(r"\1:***@", text))


def one_line(text: str) -> str:
    r"""A message as one line of a terminal or a log: nothing in it but our own colours can act on either.

    >>> one_line("next     assay run a\n::error b\x1b]0;c")
    'next     assay run a\\n::error b\\x1b]0;c'
    """
    return "".join(part if i % 2 else _escaped(part) for i, part in enumerate(_OWN.split(redacted(text))))


def _escaped(text: str) -> str:
    shown = (c.encode("unicode_escape").decode() if unicodedata.category(c) in _INVISIBLE else c for c in text)
    return "".join(shown)


def quoted(label: object) -> str:
    """A label as it must be typed: text in double quotes, everything else as Python writes it.

    >>> quoted("cat"), quoted(1), quoted(True)
    ('"cat"', '1', 'True')
    """
    return f'"{visible(label)}"' if isinstance(label, str) else visible(label)


def listed(items: Iterable[object], *, most: int = 8) -> str:
    """Some items in a row, and how many were left out.

    >>> listed(["a", "b", "c"], most=2)
    '"a", "b" and 1 more'
    """
    every = list(items)
    shown = ", ".join(quoted(item) for item in every[:most])
    rest = len(every) - most
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def phrases(items: Iterable[object], *, most: int = 8) -> str:
    """Some phrases in a row, as they stand, and how many were left out.

    >>> phrases(["age is late", "sex is odd", "x is new"], most=2)
    'age is late; sex is odd; and 1 more'
    """
    every = list(items)
    shown = "; ".join(visible(item) for item in every[:most])
    rest = len(every) - most
    return f"{shown}; and {rest:,} more" if rest > 0 else shown


def counted(n: int, thing: str, things: str | None = None) -> str:
    """A count with its noun.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class", "classes"), counted(2, "query")
    ('1 row', '1,200 rows', '2 classes', '2 queries')
    """
    return f"{n:,} {thing if n == 1 else things or plural(thing)}"


def plural(thing: str) -> str:
    """A regular noun for several things.

    >>> plural("query"), plural("day")
    ('queries', 'days')
    """
    return f"{thing[:-1]}ies" if thing.endswith("y") and thing[-2:-1] not in "aeiou" else f"{thing}s"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word a mistyped one most likely meant, or None; of longer words more must agree, or endings decide.

    >>> nearest("recal", ["recall", "precision"])
    'recall'
    """
    cutoff = 0.6 if len(word) < 4 else 0.75  # noqa: PLR2004  letters
    close = difflib.get_close_matches(word.casefold(), by_fold := {k.casefold(): k for k in known}, n=1, cutoff=cutoff)
    return by_fold[close[0]] if close else None


def look(label: str) -> str:
    """What a reader sees of a label: compatibility form, case folded, spaces and invisible characters gone.

    >>> look(" True") == look("true")
    True
    """
    plain = unicodedata.normalize("NFKC", label).casefold()
    return "".join(c for c in plain if not c.isspace() and unicodedata.category(c) not in _INVISIBLE)


def figure(value: float, *, digits: int = 3) -> str:
    """A value as people read it: fixed digits, fewer above 10, scientific when tiny or huge, never a false zero or one.

    >>> figure(0.87), figure(0.0000042), figure(0.99996), figure(1756.03), figure(float("inf"))
    ('0.870', '4.2e-06', '> 0.999', '1756', 'infinite')
    """
    if value in (float("inf"), float("-inf")):
        return "infinite" if value > 0 else "-infinite"
    size = abs(value)
    if size < _SAME:
        return f"{0:.{digits}f}"
    if size >= 1e6 or size < 10**-digits / 2:  # noqa: PLR2004  six figures before the point is where reading stops
        return f"{value:.2g}"
    shown = f"{value:.{max(0, digits - sum(size >= ten for ten in (10, 100, 1000)))}f}"
    if abs(float(shown)) == 1.0 and 1.0 - size > _SAME:
        return f"> 0.{'9' * digits}" if value > 0 else f"< -0.{'9' * digits}"
    return f"{value:.6g}" if float(shown) == 1.0 and f"{value:.6g}" != "1" else shown


def chance_shown(p: float) -> str:
    """A p value as people read it: two figures, and never 0.

    >>> chance_shown(0.0066), chance_shown(0.504), chance_shown(1.0), chance_shown(3e-9)
    ('0.0066', '0.50', '1.00', '<0.0001')
    """
    if p < 1e-4:  # noqa: PLR2004  below this nobody decides differently
        return "<0.0001"
    return f"{p:.2f}" if p >= 0.1 else f"{p:#.2g}"  # noqa: PLR2004  two figures either way


def twelve_digits(value: float) -> float:
    """Rounds a real to 12 significant digits, those that all processors agree on.

    >>> twelve_digits(0.08451205953917382)
    0.0845120595392
    """
    return float(f"{value:.12g}")


def fits_role(column: str, role: str) -> bool:
    """Whether a column is called as columns of a role usually are.

    >>> fits_role("y_true", "truth"), fits_role("Predicted class", "predicted"), fits_role("sex", "truth")
    (True, True, False)
    """
    words = _ROLE_WORDS[role]
    around = rf"((the_)?({words})(s|_?(label|class|value)s?)?|(y|label|class)_({words}))"
    return re.fullmatch(around, column.casefold().replace(" ", "_")) is not None


def likely_column(columns: Iterable[str], role: str) -> str | None:
    """The first column that is called so.

    >>> likely_column(["id", "label", "pred"], "predicted")
    'pred'
    """
    return next((column for column in columns if fits_role(column, role)), None)


def percent(level: float) -> str:
    """A confidence level.

    >>> percent(0.95), percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{level * 100:.10g} %"
