"""Which options of a command somebody has given, and in which words."""

import shlex
from collections.abc import Collection, Iterator
from typing import Any

import click
from click.core import ParameterSource

from budgetsvm.cli._options.svm import BALANCED

_MOST_DIGITS = 1e6


def was_given(context: click.Context, name: str) -> bool:
    """Whether an option has its value from the command line."""
    source = context.get_parameter_source(name)
    return source not in (None, ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP)


def words_given(but: Collection[str]) -> list[str]:
    """Return the options of the present command that were given, but for some, as another command would take them."""
    context = click.get_current_context()
    return [
        word
        for option in context.command.params
        if isinstance(option, click.Option) and option.name not in but
        if was_given(context, str(option.name))
        for word in _words(option, context.params[str(option.name)])
    ]


def _words(option: click.Option, value: Any) -> Iterator[str]:
    if isinstance(value, bool):
        yield option.opts[0] if value else option.secondary_opts[0]
        return
    for each in value if option.multiple else [value]:
        yield f"{option.opts[0]} {shlex.quote(_text(each))}"


def _text(value: Any) -> str:
    if value == BALANCED:
        return str(value[0])
    if isinstance(value, tuple):  # a label and its weight
        return "=".join(map(_text, value))
    return short_text(value) if isinstance(value, float) else str(value)


def short_text(number: float) -> str:
    """Return a number in as few digits as it takes to be the same one."""
    return repr(int(number)) if number.is_integer() and abs(number) < _MOST_DIGITS else repr(number)
