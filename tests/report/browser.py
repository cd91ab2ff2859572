"""A real browser looks at pages: what it says, what it asks for, and what does not fit."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
SECONDS = 120

_LOOK = """
const pages = JSON.parse(document.getElementById("pages").textContent), found = [];
const clipped = (one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline";
async function look([name, text], width) {
  const frame = document.createElement("iframe");
  frame.style = `width:${width}px;height:900px;border:0`;
  frame.scrolling = "no"; // bars would take of its width
  const loaded = new Promise((resolve) => { frame.onload = resolve; });
  frame.srcdoc = text;
  document.body.append(frame);
  await loaded;
  const page = frame.contentDocument;
  page.querySelectorAll("details").forEach((one) => { one.open = true; });
  const faults = [];
  for (const one of page.body.querySelectorAll("*")) {
    const box = one.getBoundingClientRect();
    const inside = one.closest("svg");
    const edge = inside && one !== inside ? inside.getBoundingClientRect() : { left: 0, right: width };
    if (box.width && (box.left < edge.left - 1 || box.right > edge.right + 1))
      faults.push(`${one.tagName} from ${box.left} to ${box.right}: ${one.textContent.trim().slice(0, 60)}`);
    else if (!inside && clipped(one)) faults.push(`${one.tagName} is cut off: ${one.textContent.trim().slice(0, 60)}`);
  }
  const root = page.documentElement;
  found.push({
    name, width, faults, wide: root.scrollWidth, height: root.scrollHeight, scripts: page.scripts.length,
    asked: frame.contentWindow.performance.getEntriesByType("resource").map((one) => one.name),
    text: page.body.innerText,
  });
  frame.remove();
}
(async () => {
  for (const page of Object.entries(pages)) for (const width of WIDTHS) await look(page, width);
  const out = document.createElement("pre");
  out.id = "found";
  out.textContent = JSON.stringify(found);
  document.body.append(out);
})();
"""


def find_browser() -> str:
    """Return the program, or skip the test."""
    for name in NAMES:
        path = shutil.which(name)
        if path is not None:
            return path
    pytest.skip("no Chromium is installed: nobody looks at the page")


def look_at(pages: dict[str, str], folder: Path, widths: tuple[int, ...] = (1200, 400)) -> Any:
    """Return what a browser finds in each page at each width, and the lines of its console."""
    given = json.dumps(pages).replace("<", "\\u003c")
    script = _LOOK.replace("WIDTHS", json.dumps(widths))
    harness = folder / "harness.html"
    harness.write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><body style="margin:0">'
        f'<script type="application/json" id="pages">{given}</script><script>{script}</script>',
        encoding="utf-8",
    )
    command = [find_browser(), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += ["--enable-logging=stderr", "--virtual-time-budget=60000", "--window-size=1300,1000"]
    command += ["--disable-background-networking", "--no-first-run", "--disable-dev-shm-usage"]
    command += [f"--user-data-dir={folder / 'profile'}", harness.as_uri()]
    done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=True)
    match = re.search(r'<pre id="found">(.*?)</pre>', done.stdout.decode(), re.DOTALL)
    assert match is not None, done.stderr.decode()[-2000:]
    console = [line for line in done.stderr.decode().splitlines() if "CONSOLE" in line]
    return json.loads(html.unescape(match[1])), console
