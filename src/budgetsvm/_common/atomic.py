"""Calls that either do all of their work or nothing."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

_Method = TypeVar("_Method", bound=Callable[..., Any])


def all_or_nothing(method: _Method) -> _Method:
    """Let a method that raises anything, Ctrl-C included, leave its object as it was before the call.

    Attributes are put back as they were. What they hold must be replaced, and not changed in place.
    """

    @wraps(method)
    def call(self: Any, *args: Any, **named: Any) -> Any:
        before = self.__dict__.copy()
        try:
            return method(self, *args, **named)
        except BaseException:
            self.__dict__ = before
            raise

    return call  # type: ignore[return-value]
