"""The code on a page, block by block, in the order in which a reader would copy it.

Fences are told apart by their word: `python` and `sh` are run, `c` is compiled; `bash` are commands that a test had better not run (they install
something, or need a program that few have), and `text` is no code.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = ("gallery", "generated", "package-index.md")
#: What others write, with fences that have no word: figures and formulas.
WITHOUT_CODE = ("theory", "reproduction")
RUN, SHOWN = ("python", "sh", "c"), ("bash", "text")
_FENCE = re.compile(r"^(`{3,}|:{3,})([^\n`]*)\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A piece of code, and where it is."""

    language: str
    code: str
    line: int


def names() -> list[str]:
    """Return all pages of the site that somebody has written, and the README."""
    found = (path.relative_to(DOCS) for path in DOCS.rglob("*.md"))
    pages = sorted(str(path.with_suffix("")) for path in found if not {*path.parts} & {*GENERATED})
    return ["README", *pages]


def text_of(name: str) -> str:
    """Return what a page says."""
    folder = ROOT if name == "README" else DOCS
    return (folder / f"{name}.md").read_text("utf-8")


def blocks(name: str) -> list[Block]:
    """Return the fences of a page, without directives."""
    text = text_of(name)
    return [
        Block(match[2].strip(), match[3], text.count("\n", 0, match.start()) + 2)
        for match in _FENCE.finditer(text)
        if not match[2].startswith("{") and match[1].startswith("`")
    ]
