"""What docstrings that come from scikit-learn refer to: links to its site, found without asking it."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

SITE = "https://scikit-learn.org/stable"
PAGES = {
    "accuracy_score": "modules/model_evaluation.html#accuracy-score",
    "metadata_routing": "metadata_routing.html",
    "r2_score": "modules/model_evaluation.html#r2-score",
    "meta-estimator": "glossary.html#term-meta-estimator",
}


def resolve(_app: Any, _env: Any, node: Any, content: Any) -> nodes.reference | None:
    """Return a link for a reference that is one to scikit-learn's pages."""
    if (page := PAGES.get(node.get("reftarget"))) is None:
        return None
    link = nodes.reference("", "", internal=False, refuri=f"{SITE}/{page}")
    link.append(content)
    return link


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
