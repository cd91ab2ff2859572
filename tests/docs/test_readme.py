"""The README: its links lead somewhere, its table agrees with itself, and a package index can show it."""

import re
import runpy

from docs.pages import DOCS, ROOT, text_of

tool = runpy.run_path(str(DOCS / "_build_tools" / "package_index.py"))
LINK = re.compile(r"\]\(([^)]+)\)")


def test_links_lead_somewhere() -> None:
    inside = [link.partition("#")[0] for link in LINK.findall(text_of("README"))]
    inside = [link for link in inside if not link.startswith("https://")]
    assert inside
    assert [link for link in inside if not (ROOT / link).exists()] == []


def test_the_page_for_package_indices_is_up_to_date() -> None:
    expected = tool["for_package_index"](text_of("README"))
    assert tool["PAGE"].read_text("utf-8") == expected  # or run docs/_build_tools/package_index.py
    assert all(link.startswith("https://") for link in LINK.findall(expected))


def test_an_address_makes_links_absolute() -> None:
    text = "![a](docs/a.png) and [b](https://b.org) and [c](c.md#d)"
    found = tool["for_package_index"](text, "https://home/")
    assert (
        found == "![a](https://home/docs/a.png) and [b](https://b.org) and [c](https://home/c.md#d)"
    )


def test_the_table_agrees_with_itself() -> None:
    rows = re.findall(r"^\| [A-Z].*$", text_of("README"), re.MULTILINE)
    assert len(rows) >= 4
    for row in rows:
        *_, theirs, _, ours, times = [cell.strip() for cell in row.strip("|").split("|")]
        said = float(times.removesuffix(" ×"))
        assert abs(float(theirs) / float(ours) - said) <= 0.05 * said
