"""``budgetsvm demo``: a spiral, three SVMs, and a picture of the model."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from budgetsvm.cli._options import at_least, picture_path

SUMMARY = "train on a made-up problem, compare with other SVMs, and draw the model"

_LEAST_ROWS = 200  # fewer do not show the pattern, and may lack a class


def add_options(parser: ArgumentParser) -> None:
    """Declare the size of the problem and of the model, the seed, and the file."""
    add = parser.add_argument
    add("--rows", type=at_least(_LEAST_ROWS), default=100_000, help="number of training rows")
    add("--budget", type=at_least(1), default=100, help="largest number of terms")
    add(
        "--out",
        type=picture_path,
        default=Path("budgetsvm-demo.png"),
        help="where the picture goes",
    )
    add("--seed", type=at_least(0), default=0, help="seed of all random numbers")


def run(arguments: Namespace) -> None:
    """Train, compare and draw."""
    from budgetsvm.cli._demo.comparison import compare

    compare(arguments.rows, arguments.budget, arguments.out, arguments.seed, _say)


def _say(line: str = "") -> None:
    print(line, flush=True)  # at once, so that it stays in order with the progress bar on stderr
