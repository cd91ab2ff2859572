"""Write the README as a package index is to show it: ``python docs/_build_tools/package_index.py``.

There, links into the repository lead nowhere, and pictures of it are not found. As long as no public address of the repository is
known, both are left out; with one, put it into `HOME`.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README, PAGE = ROOT / "README.md", ROOT / "docs" / "package-index.md"
HOME = ""  # such as https://host/owner/budgetsvm/raw/main/, with the slash: of pictures, a page around them will not do

_PICTURE = re.compile(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n+", re.MULTILINE)
_LINK = re.compile(r"(!?\[)([^\]]*)\]\((?!https?:|#)([^)]*)\)")


def for_package_index(text: str, home: str = HOME) -> str:
    """Return a text without relative links and pictures or, with an address, with absolute ones."""
    if home:
        return _LINK.sub(rf"\1\2]({home}\3)", text)
    return _LINK.sub(r"\2", _PICTURE.sub("", text))


if __name__ == "__main__":
    PAGE.write_text(for_package_index(README.read_text("utf-8")), "utf-8")
