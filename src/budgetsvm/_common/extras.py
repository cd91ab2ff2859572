"""What to install where a library is missing that comes with an extra."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def extra(name: str, need: str) -> Iterator[None]:
    """Import what an extra brings; where it is missing, say what for it is needed and how to get it."""
    try:
        yield
    except ImportError as error:
        message = f'{need}: pip install "budgetsvm[{name}]"'  # in quotes: brackets mean something to a shell
        raise ImportError(message) from error
