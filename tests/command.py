# SPDX-License-Identifier: Apache-2.0
"""The command line as a person types it, run in this process, which saves the second that another one takes to start.

That `python -m assay` is the same is shown by the tests that start it.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from dataclasses import dataclass
from unittest import mock

from assay.app.cli import main


@dataclass(frozen=True)
class Done:
    """What a command left with and wrote; named as those of `subprocess` are."""

    returncode: int
    stdout: str
    stderr: str


def assay(*arguments, cwd=None, env=None, stdin=b"") -> Done:
    """Run a command with nobody at the keyboard, in a folder, with other variables of the environment."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    with contextlib.ExitStack() as stack:
        if cwd is not None:
            stack.enter_context(contextlib.chdir(cwd))
        if env is not None:
            stack.enter_context(mock.patch.dict(os.environ, env, clear=True))
        stack.enter_context(mock.patch.object(sys, "argv", ["assay", *map(str, arguments)]))
        stack.enter_context(mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin))))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        try:
            main()
        except SystemExit as left:
            code = left.code
    for stream in (out, err):
        stream.flush()
    return Done(int(code or 0), out.buffer.getvalue().decode(), err.buffer.getvalue().decode())
