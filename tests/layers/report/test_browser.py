# SPDX-License-Identifier: Apache-2.0
"""What a real browser makes of a report: it is watched from a page that holds it in a frame of 360 pixels.

The report's own policy forbids scripts, so the script that measures stands in the outer page.
"""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from markupsafe import escape

from assay.report.html import policy, render, stylesheet
from assay.report.shades import LIGHT
from tests.layers.report import examples

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars"
    " --allow-file-access-from-files --enable-logging=stderr --v=0 --virtual-time-budget=8000"
)
WATCH = """<!doctype html><meta charset="utf-8"><title>watch</title>
<iframe id="frame" src="report.html" style="border:0;width:360px;height:800px"></iframe><pre id="out"></pre>
<script>
const parts = c => (c.match(/[\\d.]+/g) || []).map(Number);
const lum = c => { const [r, g, b] = parts(c).slice(0, 3).map(v => { v /= 255;
  return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
const clear = c => { const p = parts(c); return p.length === 4 && p[3] === 0; };
frame.onload = () => {
  const doc = frame.contentDocument, win = frame.contentWindow, root = doc.documentElement;
  const shut = root.scrollWidth;
  doc.querySelectorAll('details').forEach(d => d.open = true);
  const faint = [], seen = new Set();
  for (const e of doc.body.querySelectorAll('*')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    if (['TITLE', 'DESC', 'title', 'desc'].includes(e.tagName)) continue;
    const css = win.getComputedStyle(e), text = e.namespaceURI.endsWith('svg') ? css.fill : css.color;
    let under = e; while (under && clear(win.getComputedStyle(under).backgroundColor)) under = under.parentElement;
    const ground = win.getComputedStyle(under || doc.body).backgroundColor;
    const [a, b] = [lum(text), lum(ground)].sort((x, y) => y - x), ratio = (a + .05) / (b + .05);
    seen.add(text + ground);
    if (ratio < 4.5) faint.push([e.tagName, e.className.baseVal ?? e.className, text, ground, ratio]);
  }
  out.textContent = JSON.stringify({
    shut, open: root.scrollWidth, width: root.clientWidth, faint: faint.slice(0, 5), pairs: seen.size,
    ground: win.getComputedStyle(doc.body).backgroundColor,
    styled: win.getComputedStyle(doc.querySelector('h2')).fontWeight,
    scripts: doc.scripts.length, images: doc.images.length, dialogs: win.hacked || 0,
    loaded: win.performance.getEntriesByType('resource').map(r => r.name).filter(n => !n.startsWith('data:')),
  });
};
</script>"""


def watched(browser, folder, text, *flags):
    """What the outer page measured, and what the browser complained about."""
    (folder / "report.html").write_text(text, encoding="utf-8")
    (folder / "watch.html").write_text(WATCH, encoding="utf-8")
    command = [browser, *FLAGS.split(), f"--user-data-dir={folder / 'profile'}", *flags, "--dump-dom"]
    told = subprocess.run(
        [*command, (folder / "watch.html").as_uri()], capture_output=True, text=True, timeout=90, check=False
    )
    found = re.search(r'<pre id="out">(\{.*?\})</pre>', told.stdout, re.DOTALL)
    if found is None:
        pytest.skip(f"this Chromium does not run here: {told.stderr[-300:]}")
    complaints = [line for line in told.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(found[1].replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")), complaints


CASES = {
    "screening": examples.screening,
    "nine classes": lambda: examples.classes(9),
    "nasty": examples.nasty,
    "forty classes": lambda: examples.classes(40),
}


@pytest.mark.parametrize(("made", "theme"), [(c, t) for c in CASES for t in ("light", "dark")])
def test_a_browser_shows_a_calm_readable_page_on_a_phone(browser, tmp_path, made, theme):
    flags = ["--blink-settings=preferredColorScheme=0"] if theme == "dark" else []
    seen, complaints = watched(browser, tmp_path, render(CASES[made]().record), *flags)
    assert not complaints
    assert (seen["scripts"], seen["images"], seen["dialogs"], seen["loaded"]) == (0, 0, 0, [])
    assert seen["styled"] == "650"  # the policy let the style through
    assert seen["ground"] == ("rgb(16, 20, 27)" if theme == "dark" else "rgb(246, 247, 249)")
    assert seen["pairs"] > 5
    assert seen["faint"] == []
    assert (seen["shut"], seen["open"]) == (360, 360)


def test_the_watcher_sees_a_script_a_wide_line_and_a_faint_text(browser, tmp_path):
    good = render(examples.infinite().record)
    style = stylesheet()
    pale = style.replace(f"--soft:{LIGHT.soft}", "--soft:#b0b0b0")
    bad = good.replace(style, pale).replace(escape(policy(style)), escape(policy(pale)))
    bad = bad.replace("</main>", f"<p>{'w' * 900}</p><script>window.hacked = 1</script></main>")
    seen, complaints = watched(browser, tmp_path, bad)
    assert any("Content Security Policy" in line for line in complaints)
    assert (seen["scripts"], seen["dialogs"]) == (1, 0)
    assert seen["shut"] > 360
    assert seen["faint"]
