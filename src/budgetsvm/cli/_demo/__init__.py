"""``budgetsvm demo``: a spiral, three SVMs, and a picture of the model."""

from pathlib import Path

import click

_LEAST_ROWS = 200  # fewer do not show the pattern, and may lack a class
_PICTURES = (".png", ".pdf", ".svg")


def _picture(_: click.Context, __: click.Parameter, path: Path) -> Path:
    """Look at the path of the picture before any work is done."""
    if path.suffix.lower() not in _PICTURES:
        message = f"must end in {', '.join(_PICTURES[:-1])} or {_PICTURES[-1]}, not {str(path)!r}"
        raise click.BadParameter(message)
    if not path.parent.is_dir():
        message = f"there is no folder {str(path.parent)!r}"
        raise click.BadParameter(message)
    return path


@click.command("demo")
@click.option(
    "--rows",
    type=click.IntRange(_LEAST_ROWS),
    default=100_000,
    show_default=True,
    help="Training rows.",
)
@click.option(
    "--budget", type=click.IntRange(1), default=100, show_default=True, help="Most terms."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    callback=_picture,
    default=Path("budgetsvm-demo.png"),
    show_default=True,
    help="Where the picture goes.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of all random numbers."
)
def command(rows: int, budget: int, out: Path, seed: int) -> None:
    """Train on a made-up problem, compare with other SVMs, and draw the model."""
    from budgetsvm.cli._demo.comparison import compare

    compare(rows, budget, out, seed, _say)


def _say(line: str = "") -> None:
    print(line, flush=True)  # at once, so that it stays in order with the progress bar on stderr
