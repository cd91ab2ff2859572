"""The report as Markdown, for those who read it where the sources are."""

from collections.abc import Sequence

from experiments.report.content import Data, Table
from experiments.report.forms.markup import to_markdown, to_plain
from experiments.report.parts import Chapter, Ready, Report, cell_text, number_columns


def render(report: Report, chapters: Sequence[Chapter]) -> str:
    """Write the document."""
    contents = [f"- [{chapter.title}](#{chapter.anchor})" for chapter in chapters]
    parts = [f"# {report.title}", *map(to_markdown, report.introduction), "\n".join(contents)]
    for chapter in chapters:
        # Services differ in the ids that they give to headings.
        parts += [f'<a id="{chapter.anchor}"></a>\n\n## {to_markdown(chapter.title)}']
        parts += [to_markdown(text.strip()) for text in chapter.paragraphs]
        parts += [_part(ready) for ready in chapter.parts]
    return "\n\n".join(parts) + "\n"


def _part(ready: Ready) -> str:
    part = ready.part
    links = [f"[CSV](data/{part.name}.csv)"]
    if ready.drawing is not None:
        links += [f"[SVG](figures/{part.name}.svg)"]
    title = f"**{to_markdown(ready.heading)}.**"
    caption = f"{title} {to_markdown(part.caption)} {' '.join(links)}"
    if isinstance(part, Table):
        return f"{caption}\n\n{_table(part.shown)}"
    description = to_plain(part.title).replace("[", "(").replace("]", ")")
    return f"![{description}](figures/{part.name}.png)\n\n{caption}"


def _table(shown: Data) -> str:
    lines = [[_cell(title) for title in shown.columns]]
    lines += [["--:" if is_number else "---" for is_number in number_columns(shown)]]
    lines += [[_cell(cell_text(cell)) for cell in row] for row in shown.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(to_markdown(text).split()).replace("|", "\\|")
