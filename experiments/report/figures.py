"""Figures as files that are the same byte for byte whenever the numbers are, and as parts of a web page."""

import re
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

from experiments.report import style
from experiments.report.content import Picture

_DOTS_PER_INCH = 160  # of PNG files: sharp on dense screens, yet small

_REFERENCE = re.compile(r'(\bid="|url\(#|href="#)')
_HEAD = re.compile(r"^.*?(?=<svg\b)", re.DOTALL)
_STYLE = re.compile(r"\s*<defs>\s*<style\b.*?</style>\s*</defs>", re.DOTALL)  # for the whole page
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_SIZE = re.compile(r'(<svg\b[^>]*?) width="[^"]*"( height="[^"]*")?')
_BACKGROUND = re.compile(r'(<g id="patch_1">\s*<path [^>]*style="fill: )#ffffff', re.DOTALL)
_PATH = re.compile(r'\bd="[^"]*"')
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")


class EmptyPartError(ValueError):
    """A table, figure or file of numbers would have nothing in it."""


@dataclass(frozen=True)
class Drawing:
    """A figure, as it is written to files."""

    svg: str
    png: bytes
    width: float  #: in pixels of web pages

    def save(self, folder: Path, name: str) -> None:
        """Write both files."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.svg").write_text(self.svg, encoding="utf-8")
        (folder / f"{name}.png").write_bytes(self.png)


def draw(picture: Picture) -> Drawing:
    """Draw a figure; one that shows nothing is an error."""
    with style.context():
        import matplotlib as mpl

        figure = picture.draw()
        if not any(_has_content(axes) for axes in figure.axes):
            message = f"figure {picture.name!r} is empty"
            raise EmptyPartError(message)
        svg, png = StringIO(), BytesIO()
        with mpl.rc_context({"svg.hashsalt": picture.name}):
            figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
        figure.savefig(png, format="png", dpi=_DOTS_PER_INCH, metadata={"Software": None})
    return Drawing(_rounded(svg.getvalue()), png.getvalue(), 96 * figure.get_figwidth())


def _rounded(svg: str) -> str:
    """Round coordinates to hundredths of a point: half the size, and nobody can see it."""
    return _PATH.sub(lambda path: _LONG_NUMBER.sub(_hundredths, path.group()), svg)


def _hundredths(number: re.Match[str]) -> str:
    return f"{float(number.group()):.2f}".rstrip("0").rstrip(".")


def _has_content(axes: Any) -> bool:
    lines = any(len(line.get_xdata()) for line in axes.lines)
    collections = any(len(c.get_paths()) for c in axes.collections)
    return bool(lines or collections or axes.patches or axes.images or axes.tables)


def inline(svg: str, name: str, description: str) -> str:
    """Make an SVG file a part of a page: ids of its own, the page's size and colours.

    The ids of several files would clash; what is black or white follows the page, light or dark.
    `description` is for those who cannot see the figure, and must be escaped.
    """
    text = svg
    for superfluous in (_HEAD, _METADATA, _STYLE):
        text = superfluous.sub("", text, count=1)
    text = _BACKGROUND.sub(r"\1none", text, count=1)
    text = _REFERENCE.sub(rf"\g<1>{name}--", text)
    for ink in (style.INK, "#000000"):
        text = text.replace(ink, "currentColor")
    text = text.replace("#ffffff", "var(--page)")
    return _SIZE.sub(rf'\1 role="img" aria-label="{description}"', text, count=1)
