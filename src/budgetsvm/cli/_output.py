"""What commands print, and whether they do."""

import json
import math
from collections.abc import Callable
from typing import Any

import click

quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress, no messages.")
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the results as one line of JSON."
)


def text_of(value: Any) -> str:
    """Return a label, or a number with all its digits."""
    return value if isinstance(value, str) else f"{value + 0:.17g}"  # no -0


def print_facts(facts: dict[str, Any], *, as_json: bool, otherwise: Callable[[], None]) -> None:
    """Print what a command has found as JSON, or in its own way."""
    if as_json:
        click.echo(json.dumps(_in_words_of_json(facts), allow_nan=False))
    else:
        otherwise()


def _in_words_of_json(value: Any) -> Any:
    """Return null for numbers that JSON does not know: nan, of what cannot be measured, and infinities."""
    if isinstance(value, dict):
        return {name: _in_words_of_json(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_in_words_of_json(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
