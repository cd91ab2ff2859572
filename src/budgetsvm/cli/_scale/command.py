"""What the command does."""

from typing import Any

import click

from budgetsvm.cli._data import data_options, open_data
from budgetsvm.cli._files import DATA, FILE_TO_READ, FILE_TO_WRITE, keep_apart
from budgetsvm.cli._options.effects import warn_without_effect


@click.command("scale", context_settings={"show_default": True})
@click.option("-l", "--lower", type=float, default=-1.0, help="Least value of a feature.")
@click.option("-u", "--upper", type=float, default=1.0, help="Largest value of a feature.")
@click.option("-y", "targets", type=float, nargs=2, help="Least and largest target, of regression.")
@click.option(
    "-s",
    "save",
    type=FILE_TO_WRITE,
    help="Keep the ranges in this file.",
)
@click.option(
    "-r",
    "restore",
    type=FILE_TO_READ,
    help="Take them from it.",
)
@data_options
@click.argument("data", type=DATA)
def command(data: str, **options: Any) -> None:
    """Print the rows of DATA, in LIBSVM format, with features scaled to [lower, upper].

    DATA may have any format that budgetsvm train reads. Features that do not vary are left out, and test rows are scaled by the ranges of the training rows:

    \b
      budgetsvm scale -s ranges train > train.scaled
      budgetsvm scale -r ranges test > test.scaled
    """
    from budgetsvm.cli._scale.ranges import Ranges, scaled_lines

    warn_without_effect(options)
    lower, upper, targets, save, restore = (
        options.pop(name) for name in ("lower", "upper", "targets", "save", "restore")
    )
    if not lower < upper:
        message = f"-l {lower:g} must be below -u {upper:g}"
        raise click.UsageError(message)
    if targets is not None and not targets[0] < targets[1]:
        message = f"-y {targets[0]:g} {targets[1]:g} must be the least and the largest target"
        raise click.UsageError(message)
    if restore is not None and save is not None:
        raise click.UsageError("-r and -s cannot be used together")
    keep_apart(save, "the file of ranges", data=data, labels=options["labels"])
    with open_data(data, options, rows=1024) as blocks:
        if restore is not None:
            ranges = Ranges.read(restore)
        else:
            ranges = Ranges.of_blocks(blocks, lower, upper, targets)
        if save is not None:
            ranges.write(save)
        for lines in scaled_lines(blocks, ranges):
            click.echo(lines, nl=False)
