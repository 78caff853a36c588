# SPDX-License-Identifier: Apache-2.0
"""One Chromium for all browser tests of a process: Debian's, driven by Playwright, which downloads none."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cache, partial

import pytest

import run
from tests.browser.windows import new_window, opener

pytest.register_assert_rewrite("tests.browser.contrast")  # its assertions tell what they compared


@pytest.fixture(scope="session")
def chromium():
    """A running browser."""
    driver = pytest.importorskip("playwright.sync_api", reason="no Playwright here: pip install 'assay[test]'")
    path = run.browser() or pytest.skip("no Chromium here: apt-get install chromium")
    with driver.sync_playwright() as started:
        # Without a sandbox because containers and root allow none; the pages are our own.
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def kept_window(chromium):
    """Windows by width, with scripts or without, for all tests: to open one takes longer than to load a report."""
    with ExitStack() as closing:
        yield cache(partial(new_window, chromium, closing))


@pytest.fixture
def opened(chromium, kept_window, tmp_path):
    """Open pages for one test."""
    with opener(chromium, kept_window, tmp_path) as opening:
        yield opening
