# SPDX-License-Identifier: Apache-2.0
"""Windows of a browser, and what happens in them."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from itertools import count

from tests.browser.pages import page as written


class Watched:
    """A page, and all that happened since it was opened."""

    def __init__(self, page, path):
        self.page, self.path = page, path
        self.asked, self.told, self.dialogs = [], [], []
        self._listeners = {
            "request": lambda one: self.asked.append(one.url),
            "console": lambda one: self.told.append(one.text),
            "pageerror": lambda one: self.told.append(str(one)),
            "dialog": self._answered,
        }
        for event, listener in self._listeners.items():
            page.on(event, listener)
        page.goto(path.as_uri())

    def leave(self):
        """Listen no longer; the window stays for the next page."""
        while self._listeners:
            self.page.remove_listener(*self._listeners.popitem())

    def _answered(self, dialog):
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    @property
    def elsewhere(self):
        """What was asked of anybody but the file itself."""
        return [url for url in self.asked if url != self.path.as_uri() and not url.startswith("data:")]


def new_window(chromium, closing, width, scripts):
    """An empty page, closed with the stack."""
    context = chromium.new_context(viewport={"width": width, "height": 900}, java_script_enabled=scripts)
    closing.callback(context.close)
    return context.new_page()


@contextmanager
def opener(chromium, kept_window, folder):
    """Open a page by its name in a kept window, or a text, which may be faulty, in a window of its own."""
    numbers = count()
    with ExitStack() as closing:

        def opening(name, *, width=1280, scripts=True, theme="light", text=None):
            path = folder / f"report {next(numbers)}.html"  # a new address, so that no field is filled in as before
            path.write_text(written(name) if text is None else text, encoding="utf-8")
            page = kept_window(width, scripts) if text is None else new_window(chromium, closing, width, scripts)
            page.emulate_media(media="null", color_scheme=theme)
            page.mouse.move(0, 0)
            watched = Watched(page, path)
            closing.callback(watched.leave)
            return watched

        yield opening
