"""Let Chromium look at all pages of a built site, wide and narrow: ``python look_at_site.py build/docs``.

Says which pages have to be scrolled sideways, what they write to the console, and what they ask for that is no file.
"""

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WIDTHS = (1200, 400)
SECONDS = 900

_LOOK = """
const found = [];
async function look(address, width) {
  const frame = document.createElement("iframe");
  frame.style = `width:${width}px;height:900px;border:0`;
  const loaded = new Promise((resolve) => { frame.onload = resolve; });
  frame.src = address;
  document.body.append(frame);
  await loaded;
  const root = frame.contentDocument.documentElement;
  const asked = frame.contentWindow.performance.getEntriesByType("resource").map((one) => one.name);
  found.push({ address, width, wide: root.scrollWidth, room: root.clientWidth, asked });
  frame.remove();
}
(async () => {
  for (const address of ADDRESSES) for (const width of WIDTHS) await look(address, width);
  const out = document.createElement("pre");
  out.id = "found";
  out.textContent = JSON.stringify(found);
  document.body.append(out);
})();
"""


def look(addresses: list[str], folder: Path) -> tuple[list[dict[str, object]], list[str]]:
    """Return what is found on the pages, and the lines of the console."""
    browser = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None
    )
    if browser is None:
        sys.exit("look_at_site: Chromium is not installed")
    script = _LOOK.replace("ADDRESSES", json.dumps(addresses)).replace("WIDTHS", json.dumps(WIDTHS))
    harness = folder / "harness.html"
    harness.write_text(f"<!DOCTYPE html><body><script>{script}</script>", encoding="utf-8")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += ["--allow-file-access-from-files", "--enable-logging=stderr", "--no-first-run"]
    command += ["--virtual-time-budget=600000", "--window-size=1300,1000"]
    command += ["--disable-background-networking", "--disable-dev-shm-usage"]
    command += [f"--user-data-dir={folder / 'profile'}", harness.as_uri()]
    done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=True)
    match = re.search(r'<pre id="found">(.*?)</pre>', done.stdout.decode(), re.DOTALL)
    if match is None:
        sys.exit(f"look_at_site: the browser gave up\n{done.stderr.decode()[-2000:]}")
    console = [line for line in done.stderr.decode().splitlines() if "CONSOLE" in line]
    return json.loads(html.unescape(match[1])), console


def main(site: str) -> int:
    """Print what is wrong. Returns 1 if there is anything."""
    pages = sorted(p for p in Path(site).resolve().rglob("*.html") if "_static" not in p.parts)
    with tempfile.TemporaryDirectory() as folder:
        found, console = look([page.as_uri() for page in pages], Path(folder))
    wrong = {line.partition("CONSOLE")[2] for line in console}
    for one in found:
        if one["wide"] > one["room"]:
            wrong.add(f"{one['address']} is {one['wide']} wide where there are {one['room']}")
        outside = [name for name in one["asked"] if not name.startswith(("file:", "data:"))]
        wrong |= {f"{one['address']} asks for {name}" for name in outside}
    for text in sorted(wrong):
        print(text, file=sys.stderr)
    print(f"looked at {len(pages)} pages, {len(found)} times")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
