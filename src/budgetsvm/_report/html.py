"""Pieces of HTML. Whatever is not a piece is text, and is escaped where it becomes part of one."""

from collections.abc import Iterable, Sequence
from html import escape

_STACKED = 3  # columns: with more, a table is a list of its rows on a narrow page


class Html(str):
    """A piece of HTML, in which all text is escaped already."""

    __slots__ = ()


def text(thing: object) -> Html:
    """Return a thing as HTML: a piece as it is, anything else as text."""
    return thing if isinstance(thing, Html) else Html(escape(str(thing)))


def join(*things: object) -> Html:
    """Return things one after the other."""
    return Html("".join(text(one) for one in things))


def element(tag: str, *inside: object, **attributes: str) -> Html:
    """Return an element; of the names of attributes, underscores at the end do not count, and others are hyphens."""
    names = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    given = "".join(f' {name}="{escape(value)}"' for name, value in names.items() if value)
    return Html(f"<{tag}{given}>{join(*inside)}</{tag}>")


def table(head: Sequence[str], rows: Iterable[Sequence[object]], *, kind: str = "") -> Html:
    """Return a table. On a narrow page, one of many columns becomes a list of its rows, unless it is of the kind "tight"."""
    top = element("tr", *(element("th", one, scope="col") for one in head))
    lines = []
    for row in rows:
        cells = [
            element("td", one, data_label=name, class_="" if _is_text(one) else "number")
            for name, one in zip(head, row, strict=True)
        ]
        lines.append(element("tr", *cells))
    kind = kind or ("stacked" if len(head) > _STACKED else "")
    return element("table", element("thead", top), element("tbody", *lines), class_=kind)


def facts(pairs: Iterable[tuple[str, object]]) -> Html:
    """Return names with what there is to say of them."""
    lines = (
        element("tr", element("th", name, scope="row"), element("td", value))
        for name, value in pairs
    )
    return element("table", element("tbody", *lines), class_="facts")


def section(name: str, title: str, *inside: object) -> Html:
    """Return a section of the page, which can be linked to by its name."""
    return element("section", element("h2", title), *inside, id=name)


def note(*inside: object) -> Html:
    """Return a remark."""
    return element("p", *inside, class_="note")


def _is_text(thing: object) -> bool:
    """Whether a cell holds words."""
    words = str(thing).replace(",", "").replace(" %", "").replace("−", "-")
    try:
        float(words)
    except ValueError:
        return True
    return False
