"""The little Markdown of paragraphs and captions: emphasis, `code`, links, lists. All else is text."""

import re
from collections.abc import Callable
from html import escape

_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\[([^\]]+)\]\(((?:https?://|#|[\w.])[^)\s]*)\)")
_STRONG = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*])")
_SCHEME = re.compile(r"[\w.+-]+:(?!//)")
_KEPT = re.compile("\0(\\d+)\0")


def to_html(text: str) -> str:
    """Write a piece of text for a web page."""

    def link(match: re.Match[str]) -> str:
        label, target = match.groups()
        harmless = not _SCHEME.match(target)  # javascript: and the like stay text
        return f'<a href="{target}">{label}</a>' if harmless else match.group()

    def mark(plain: str) -> str:
        found = _LINK.sub(link, escape(plain))
        return _EMPHASIS.sub(r"<em>\1</em>", _STRONG.sub(r"<strong>\1</strong>", found))

    return _around_code(text, mark, lambda code: f"<code>{escape(code)}</code>")


def to_plain(text: str) -> str:
    """Write a piece of text without any markup."""

    def strip(plain: str) -> str:
        return _EMPHASIS.sub(r"\1", _STRONG.sub(r"\1", _LINK.sub(r"\1", plain)))

    return " ".join(_around_code(text, strip, lambda code: code).split())


def to_markdown(text: str) -> str:
    """Return the text as it is, but for signs that Markdown would take for HTML."""
    return _around_code(text, lambda plain: plain.replace("<", "&lt;"), lambda code: f"`{code}`")


def _around_code(text: str, outside: Callable[[str], str], inside: Callable[[str], str]) -> str:
    """Change the text outside of code and the code; a link may hold code, so it is one text outside."""
    codes: list[str] = []

    def keep(match: re.Match[str]) -> str:
        codes.append(inside(match.group(1)))
        return f"\0{len(codes) - 1}\0"

    changed = outside(_CODE.sub(keep, text.replace("\0", "")))
    return _KEPT.sub(lambda match: codes[int(match.group(1))], changed)


def paragraph_to_html(text: str) -> str:
    """Write a paragraph, or a list if each line begins with a dash."""
    lines = text.strip().splitlines()
    if lines and all(line.startswith("- ") for line in lines):
        items = "".join(f"<li>{to_html(line[2:])}</li>" for line in lines)
        return f"<ul>{items}</ul>"
    return f"<p>{to_html(text.strip())}</p>"
