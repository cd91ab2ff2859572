"""The check of the built site finds what it looks for."""

import runpy
from pathlib import Path

import pytest
from docs.pages import DOCS

complaints = runpy.run_path(str(DOCS / "_build_tools" / "check_site.py"))["complaints"]

GOOD = '<link rel="canonical" href="https://a.org"><a href="other.html#here">x</a><a href="https://b.org">y</a><img src="data:,">'


@pytest.mark.parametrize(
    ("html", "complaint"),
    [
        (GOOD, None),
        ('<a href="missing.html">x</a>', "missing.html is not there"),
        ('<a href="other.html#there">x</a>', "other.html#there has no such anchor"),
        ('<a href="#there">x</a>', "#there has no such anchor"),
        ('<script src="https://cdn.org/a.js"></script>', "loads https://cdn.org/a.js"),
        ('<img src="//cdn.org/a.png">', "loads //cdn.org/a.png"),
        ('<img src="a.png">', "loads a.png, which is not there"),
        ('<p style="background: url(https://cdn.org/a.png)">', "loads https://cdn.org/a.png"),
    ],
)
def test_complaints(tmp_path: Path, html: str, complaint: str | None) -> None:
    (tmp_path / "page.html").write_text(html, "utf-8")
    (tmp_path / "other.html").write_text('<p id="here">', "utf-8")
    found = [*complaints(tmp_path)]
    assert len(found) == (complaint is not None)
    assert complaint is None or complaint in found[0]


def test_styles_and_empty_folders(tmp_path: Path) -> None:
    assert "has no pages" in next(iter(complaints(tmp_path)))
    (tmp_path / "page.html").write_text("", "utf-8")
    (tmp_path / "page.css").write_text("@import 'https://fonts.org/a.css';", "utf-8")
    assert [*complaints(tmp_path)] == ["page.css loads https://fonts.org/a.css"]
