# SPDX-License-Identifier: Apache-2.0
"""Progress bars on standard error, where somebody watches and the work takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

PATIENCE: Final = 0.5
"""Seconds after which somebody who watches is told how far the work is."""


@contextmanager
def progress_bar(title: str, *, quiet: bool = False, of_bytes: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Give a function that tells how much of a total is done; bytes are those of a large file and shown at once."""
    if quiet or not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    amount = DownloadColumn() if of_bytes else MofNCompleteColumn()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), amount, Remaining())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task, began = bar.add_task(title, total=None), time.monotonic()

    def tell(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)
        if (of_bytes or time.monotonic() - began > PATIENCE) and not bar.live.is_started:
            bar.start()

    try:
        yield tell
    finally:
        bar.stop()
