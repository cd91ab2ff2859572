"""Names that are public, wherever the file lies that defines them."""

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

_Thing = TypeVar("_Thing", bound=Callable[..., Any])


def public_in(package: str) -> Callable[[_Thing], _Thing]:
    """Let a class or a function say that it lives in the package from which users import it.

    So it is shown, documented and pickled under its public name, and files can be moved. What a class
    defines follows it: doctest looks for examples only in the module that a thing says it lives in.
    """

    def publish(thing: _Thing) -> _Thing:
        members = vars(thing).values() if isinstance(thing, type) else ()
        for each in (thing, *members):
            inner = each.__func__ if isinstance(each, (classmethod, staticmethod)) else each
            if inner is thing or isinstance(inner, FunctionType):
                inner.__module__ = package
        return thing

    return publish
