"""The report as one web page: no other files, no scripts, nothing from the network."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from experiments.report.content import Data, Table
from experiments.report.figures import inline
from experiments.report.forms.markup import paragraph_to_html, to_html, to_plain
from experiments.report.parts import VERDICTS, Chapter, Ready, Report, cell_text, number_columns

# The browser itself makes sure that nothing is fetched.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_LONG_TEXT, _SHORT_TEXT = 60, 20  # characters: cells that must not be narrow, or broken
_MANY_COLUMNS = 8  # beyond, a table is set in smaller letters
_LEAST_SCALE, _GREATEST_SCALE = (
    0.75,
    1.1,
)  # of figures: beyond, they are scrolled or stay as they are


def render(report: Report, chapters: Sequence[Chapter]) -> str:
    """Write the page."""
    style = (Path(__file__).parent / "report.css").read_text(encoding="utf-8")
    introduction = "\n".join(paragraph_to_html(text) for text in report.introduction)
    body = "\n".join(_chapter(chapter) for chapter in chapters)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>{escape(report.title)}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<header>
<h1>{escape(report.title)}</h1>
{introduction}
</header>
{_contents(chapters)}
<main>
{body}
</main>
</body>
</html>
"""


def _contents(chapters: Sequence[Chapter]) -> str:
    items = []
    for chapter in chapters:
        parts = "".join(
            f'<li><a href="#{ready.anchor}">{ready.label}</a> {escape(ready.part.title)}</li>'
            for ready in chapter.parts
        )
        below = f"<ul>{parts}</ul>" if parts else ""
        items.append(f'<li><a href="#{chapter.anchor}">{escape(chapter.title)}</a>{below}</li>')
    return (
        '<nav aria-label="Contents">\n<h2>Contents</h2>\n<ol>\n'
        + "\n".join(items)
        + "\n</ol></nav>"
    )


def _chapter(chapter: Chapter) -> str:
    heading = f'<h2 id="{chapter.anchor}-title">{escape(chapter.title)}</h2>'
    paragraphs = (paragraph_to_html(text) for text in chapter.paragraphs)
    inside = "\n".join([heading, *paragraphs, *(_part(ready) for ready in chapter.parts)])
    return (
        f'<section id="{chapter.anchor}" aria-labelledby="{chapter.anchor}-title">\n'
        f"{inside}\n</section>"
    )


def _part(ready: Ready) -> str:
    part = ready.part
    content = _table(part.shown) if isinstance(part, Table) else _figure(ready)
    label = escape(f"{ready.label}: {part.title}")
    # Who uses the keyboard must be able to reach what scrolls.
    scroll = f'<div class="scroll" tabindex="0" role="group" aria-label="{label}">{content}</div>'
    caption = (
        f"<figcaption><strong>{escape(ready.heading)}.</strong> "
        f"{to_html(part.caption)} {_files(ready)}</figcaption>"
    )
    # The title of a table belongs above it, that of a figure below.
    inside = f"{caption}\n{scroll}" if isinstance(part, Table) else f"{scroll}\n{caption}"
    return f'<figure id="{ready.anchor}" class="{ready.kind.lower()}">\n{inside}\n</figure>'


def _files(ready: Ready) -> str:
    name = ready.part.name
    links = [f'<a href="data/{name}.csv">CSV</a>']
    if ready.drawing is not None:
        links += [f'<a href="figures/{name}.{kind}">{kind.upper()}</a>' for kind in ("png", "svg")]
    return f'<span class="files">{" ".join(links)}</span>'


def _figure(ready: Ready) -> str:
    drawing, part = ready.drawing, ready.part
    if drawing is None:
        raise TypeError(part.name)
    description = escape(f"{part.title}. {to_plain(part.caption)}")
    width = drawing.width
    limits = f"min-width:{_LEAST_SCALE * width:.0f}px;max-width:{_GREATEST_SCALE * width:.0f}px"
    return f'<div style="{limits}">{inline(drawing.svg, part.name, description)}</div>'


def _table(shown: Data) -> str:
    numbers = number_columns(shown)
    head = "".join(
        f'<th scope="col" role="columnheader"{_class("number" if is_number else "")}>{to_html(title)}</th>'
        for title, is_number in zip(shown.columns, numbers, strict=True)
    )
    body = "\n".join(
        '<tr role="row">'
        + "".join(
            _cell(cell_text(cell), title, is_number)
            for cell, title, is_number in zip(row, shown.columns, numbers, strict=True)
        )
        + "</tr>"
        for row in shown.rows
    )
    # Narrow screens show a row as a list: what is no table to the eye stays one to those who listen.
    wide = _class("wide" if len(shown.columns) > _MANY_COLUMNS else "")
    return (
        f'<table role="table"{wide}>\n<thead><tr role="row">{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table>"
    )


def _cell(text: str, title: str, is_number: bool) -> str:
    label = f'role="cell" data-label="{escape(to_plain(title))}"'
    if text in VERDICTS:
        name = text.replace(" ", "-")
        return f'<td {label}><span class="verdict {name}">{escape(text)}</span></td>'
    if is_number:
        return f'<td {label} class="number">{to_html(text)}</td>'
    length = len(to_plain(text))
    name = "long" if length > _LONG_TEXT else "short" if length <= _SHORT_TEXT else ""
    # A list has two columns: the label, and all that a cell holds.
    return f"<td {label}{_class(name)}><span>{to_html(text)}</span></td>"


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""
