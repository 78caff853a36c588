# SPDX-License-Identifier: Apache-2.0
"""One Chromium for all browser tests of a process: Debian's, driven by Playwright, which downloads none."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

import run
from tests.browser.pages import page as written


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


class Watched:
    """A page, and all that happened while it was open."""

    def __init__(self, page, path):
        self.page, self.path = page, path
        self.asked, self.told, self.dialogs = [], [], []
        page.on("request", lambda one: self.asked.append(one.url))
        page.on("console", lambda one: self.told.append(one.text))
        page.on("pageerror", lambda one: self.told.append(str(one)))
        page.on("dialog", self._answered)
        page.goto(path.as_uri())

    def _answered(self, dialog):
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    @property
    def elsewhere(self):
        """What was asked of anybody but the file itself."""
        return [url for url in self.asked if url != self.path.as_uri() and not url.startswith("data:")]


@pytest.fixture
def opened(chromium, tmp_path):
    """Open a page by its name, or a text as a page, in a window of its own."""
    with ExitStack() as closing:

        def opening(name, *, width=1280, scripts=True, theme="light", text=None):
            path = tmp_path / "report.html"
            path.write_text(written(name) if text is None else text, encoding="utf-8")
            context = chromium.new_context(
                viewport={"width": width, "height": 900}, color_scheme=theme, java_script_enabled=scripts
            )
            closing.callback(context.close)
            return Watched(context.new_page(), path)

        yield opening
