"""What commands print, and whether they do."""

import json
from collections.abc import Callable
from typing import Any

import click

quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress, no messages.")
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the results as one line of JSON."
)


def print_facts(facts: dict[str, Any], *, as_json: bool, otherwise: Callable[[], None]) -> None:
    """Print what a command has found as JSON, or in its own way."""
    if as_json:
        click.echo(json.dumps(facts))
    else:
        otherwise()
