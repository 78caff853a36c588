# SPDX-License-Identifier: Apache-2.0
"""What Spark reports, told as errors of ours: a page of Java becomes one sentence and its code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from assay.core.errors import AssayError, EngineError, PlanError, missing_extra
from assay.core.text import counted, visible
from assay.rows.files.formats import damaged

_CONDITION = re.compile(r"\[[A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*\] [^\n]*")
_CAUSE = re.compile(r"^Caused by: \S*?(\w+(?:Exception|Error)): ([^\n]*)", re.MULTILINE)


def reason(error: BaseException) -> str:
    """The one line of an error that says what was wrong: Spark's own condition, else the innermost cause.

    >>> reason(RuntimeError("An error occurred: [PATH_NOT_FOUND] Path does not exist: a. SQLSTATE: 42K03"))
    '[PATH_NOT_FOUND] Path does not exist: a.'
    """
    text = str(error)
    found = _CONDITION.search(text)
    if found:
        return visible(found[0].partition(" SQLSTATE:")[0].strip())
    causes = _CAUSE.findall(text)
    if causes:
        return visible(": ".join(causes[-1]))
    line = next((line for line in text.splitlines() if line.strip()), "")
    return visible(f"{type(error).__name__}: {line}" if line else type(error).__name__)


@contextmanager
def told_as_ours(where: str) -> Iterator[None]:
    """Run Spark's work so that only errors of this project and KeyboardInterrupt come out."""
    try:
        yield
    except AssayError:
        raise
    except Exception as error:
        raise _ours(error, where) from error


def _ours(error: Exception, where: str) -> AssayError:
    text, finding = str(error), reason(error)
    if "[PATH_NOT_FOUND]" in text:
        return PlanError(
            "no-file",
            "the cluster finds no such path",
            where=where,
            found=finding,
            fix="give a path that the driver and every worker can read, such as hdfs://, s3a:// or a shared folder",
        )
    if "FILE_NOT_EXIST" in text:
        return EngineError(
            "engine-failed",
            "a worker does not find the file that the driver sees",
            where=where,
            found=finding,
            fix="give a path that every worker can read, such as hdfs://, s3a:// or a shared folder",
        )
    if "[PACKAGE_NOT_INSTALLED]" in text or "[UNSUPPORTED_PACKAGE_VERSION]" in text:
        return missing_extra("spark", "Spark needs another package", found=finding)
    if "FAILED_READ_FILE" in text or "CANNOT_READ_FILE_FOOTER" in text:
        causes = _CAUSE.findall(text)
        finding = visible(": ".join(causes[-1])) if causes else finding
        return damaged(where, "the cluster cannot read the file in its format", finding)
    return EngineError(
        "engine-failed", "Spark could not run the query", where=where, found=finding, fix="see what Spark says"
    )


def rows_changed(where: str, *sizes: int) -> EngineError:
    """The error for rows that an engine does not give alike each time it is asked."""
    row_counts = [counted(size, "row") for size in sorted(set(sizes))]
    return EngineError(
        "engine-failed",
        "the rows are not the same each time they are read",
        where=where,
        found=f"{row_counts[0]} and {row_counts[-1]}" if len(row_counts) > 1 else "",
        fix="write them to a file or table first, so that nothing changes while they are counted",
    )
