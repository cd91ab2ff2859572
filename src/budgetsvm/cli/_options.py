"""Converters of options. They complain before any work is done."""

from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path

_PICTURES = (".png", ".pdf", ".svg")


def at_least(least: int) -> Callable[[str], int]:
    """Return a converter to integers that are not below `least`."""

    def convert(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            message = f"must be an integer of at least {least}, not {text!r}"
            raise ArgumentTypeError(message)
        return value

    return convert


def picture_path(text: str) -> Path:
    """Convert to the path of a picture that can be written."""
    path = Path(text)
    if path.suffix.lower() not in _PICTURES:
        message = f"must end in {', '.join(_PICTURES[:-1])} or {_PICTURES[-1]}, not {text!r}"
        raise ArgumentTypeError(message)
    if not path.parent.is_dir():
        message = f"there is no folder {str(path.parent)!r}"
        raise ArgumentTypeError(message)
    return path
