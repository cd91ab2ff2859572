"""Links to examples: in the repository they lead to the programs, and on the site to the pages that are made of these."""

import re
from typing import Any

_EXAMPLE = re.compile(r"\]\((?:\.\./)+examples/(?:(plot_\w+)\.py|README\.rst)\)")


def on_site(text: str) -> str:
    """Return the text of a page with links into the gallery."""
    return _EXAMPLE.sub(lambda link: f"](/gallery/{link[1] or 'index'}.rst)", text)


def read(_app: Any, _docname: str, source: list[str]) -> None:
    """Change what Sphinx has read."""
    source[0] = on_site(source[0])


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
