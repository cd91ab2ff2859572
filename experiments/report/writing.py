"""Writing a report: a web page in one file, the same as Markdown, figures, and the numbers behind them."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from experiments.report.content import Data, Section, Table
from experiments.report.forms import markdown, page
from experiments.report.parts import VERDICTS, Chapter, Report, make_ready

__all__ = ["Report", "anchors", "write"]


def write(report: Report, folder: Path) -> list[Path]:
    """Write a report, and return its files. Nothing is written if a part of it is empty.

    The claims of all sections come first, in a section of their own.
    """
    claims = _claims(report.sections)
    sections = [*claims, *report.sections]
    names = [*("claims" for _ in claims), *anchors(report.sections)]
    chapters = [
        Chapter(section.title, anchor, section.paragraphs, parts)
        for section, anchor, parts in zip(sections, names, make_ready(sections), strict=True)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    for chapter in chapters:
        for ready in chapter.parts:
            ready.save(folder)
    texts = {
        "report.html": page.render(report, chapters),
        "report.md": markdown.render(report, chapters),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


def anchors(sections: Sequence[Section]) -> list[str]:
    """Return an id for each section, made from its title."""
    found: list[str] = []
    for section in sections:
        slug = "-".join(re.findall(r"[a-z0-9]+", section.title.lower()))
        name, number = f"section-{slug}", 1
        while name in found:
            number += 1
            name = f"section-{slug}-{number}"
        found.append(name)
    return found


def _claims(sections: Sequence[Section]) -> list[Section]:
    """Gather the claims of all sections; the list is empty where there are none."""
    rows = [
        (section, anchor, claim)
        for section, anchor in zip(sections, anchors(sections), strict=True)
        for claim in section.claims
    ]
    if not rows:
        return []
    shown = [
        (claim.verdict, claim.statement, claim.seen, claim.where, f"[{section.title}](#{anchor})")
        for section, anchor, claim in rows
    ]
    data = [
        (section.title, claim.statement, claim.where, claim.seen, claim.verdict)
        for section, _, claim in rows
    ]
    counts = Counter(claim.verdict for _, _, claim in rows)
    total = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    table = Table(
        name="claims",
        title="Claims of the paper",
        caption=f"Of {len(rows)} claims: {total}.",
        # The verdict comes first: on a phone the other columns have to be scrolled.
        shown=Data(("verdict", "claim", "what we saw", "in the paper", "here"), shown),
        data=Data(("section", "statement", "where", "seen", "verdict"), data),
        numbered=False,
    )
    return [Section("What held and what did not", (), (table,))]
