"""Check a built site as a whole: ``python check_site.py build/docs``.

Every link within it leads to a page and an anchor that exist, and no page makes a browser ask anybody else for anything.
"""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser loads by itself, by tag: attributes that say from where.
LOADED = {
    "audio": ("src",),
    "embed": ("src",),
    "iframe": ("src",),
    "img": ("src", "srcset"),
    "link": ("href",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
}
# Links in the head that tell something, and load nothing.
TOLD = {"author", "canonical", "index", "next", "prev", "search"}
_IN_STYLES = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s]+)""")


class Page(HTMLParser):
    """Anchors of a page, where its links lead, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag says."""
        said = {name: value or "" for name, value in attrs}
        self.anchors |= {said[name] for name in ("id", "name") if said.get(name)}
        if tag == "a" and said.get("href"):
            self.links.append(said["href"])
        if tag == "link" and {*said.get("rel", "").split()} & TOLD:
            return
        for name in LOADED.get(tag, ()):
            self.loads += [
                part.split()[0] for part in said.get(name, "").split(",") if part.strip()
            ]
        self.loads += _IN_STYLES.findall(said.get("style", ""))


def outside(address: str) -> bool:
    """Whether an address is that of somebody else."""
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


def complaints(folder: Path) -> Iterator[str]:
    """Say what is wrong with a site."""
    found = [path for path in folder.rglob("*.html") if "_static" not in path.parts]  # the theme's
    pages = {path.resolve(): Page(path.read_text("utf-8")) for path in found}
    if not pages:
        yield f"{folder} has no pages"
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        for address in page.loads:
            if outside(address):
                yield f"{name} loads {address}"
            elif not address.startswith("data:") and not _target(path, address).exists():
                yield f"{name} loads {address}, which is not there"
        yield from (f"{name}: {text}" for text in _broken(path, page, pages))
    for style in folder.rglob("*.css"):
        for address in _IN_STYLES.findall(style.read_text("utf-8")):
            yield f"{style.relative_to(folder)} loads {address}"


def _broken(path: Path, page: Page, pages: dict[Path, Page]) -> Iterator[str]:
    """Say which links of a page lead nowhere."""
    for address in page.links:
        if outside(address):
            continue
        target, anchor = _target(path, address), unquote(urlsplit(address).fragment)
        if not target.exists():
            yield f"{address} is not there"
        elif anchor and target in pages and anchor not in pages[target].anchors:
            yield f"{address} has no such anchor"


def _target(path: Path, address: str) -> Path:
    """Return the file that an address means on a page."""
    inner = unquote(urlsplit(address).path)
    return (path.parent / inner).resolve() if inner else path


def main(folder: str) -> int:
    """Print all complaints. Returns 1 if there are any."""
    found = sorted({*complaints(Path(folder))})
    for text in found:
        print(text, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
