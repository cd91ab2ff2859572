"""Links of the pages lead somewhere where these are read in the repository, too."""

import re
import runpy

import pytest
from docs.pages import DOCS, blocks, names, text_of

on_site = runpy.run_path(str(DOCS / "_build_tools" / "gallery_links.py"))["on_site"]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def links(name: str) -> list[str]:
    """Return where the links of a page lead to within the repository, without those in code."""
    text = text_of(name)
    for block in blocks(name):
        text = text.replace(block.code, "")
    found = (link.partition("#")[0] for link in LINK.findall(text))
    return [link for link in found if link and not link.startswith(("http://", "https://"))]


@pytest.mark.parametrize("name", [name for name in names() if name != "README"])
def test_they_lead_somewhere(name: str) -> None:
    folder = (DOCS / name).parent
    assert [link for link in links(name) if not (folder / link).exists()] == []


def test_on_the_site_they_lead_to_the_gallery() -> None:
    text = "[a](../examples/plot_01_boundary.py) and [b](../../examples/README.rst)"
    assert on_site(text) == "[a](/gallery/plot_01_boundary.rst) and [b](/gallery/index.rst)"
    programs = "[c](../examples/recipe/serve.py) and [d](recipe.md#serve)"
    assert on_site(programs) == programs
