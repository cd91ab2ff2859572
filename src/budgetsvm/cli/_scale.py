"""``budgetsvm scale``: LIBSVM's svm-scale, range files included."""

from pathlib import Path
from typing import Any

import click


@click.command("scale", context_settings={"show_default": True})
@click.option("-l", "--lower", type=float, default=-1.0, help="Least value of a feature.")
@click.option("-u", "--upper", type=float, default=1.0, help="Largest value of a feature.")
@click.option("-y", "targets", type=float, nargs=2, help="Least and largest target, of regression.")
@click.option(
    "-s",
    "save",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep the ranges in this file.",
)
@click.option(
    "-r",
    "restore",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Take them from it.",
)
@click.argument("data")
def command(data: str, **options: Any) -> None:
    """Print the rows of DATA, a LIBSVM file, with features scaled to [lower, upper].

    Features that do not vary are left out, and test rows are scaled by the ranges of the training rows:

    \b
      budgetsvm scale -s ranges train > train.scaled
      budgetsvm scale -r ranges test > test.scaled
    """
    from budgetsvm.cli._scaling import Ranges, scaled_lines

    if not options["lower"] < options["upper"]:
        message = f"-l {options['lower']:g} must be below -u {options['upper']:g}"
        raise click.UsageError(message)
    if options["restore"] is not None and options["save"] is not None:
        raise click.UsageError("-r and -s cannot be used together")
    if options["restore"] is not None:
        ranges = Ranges.read(options["restore"])
    else:
        ranges = Ranges.of_file(data, options["lower"], options["upper"], options["targets"])
    if options["save"] is not None:
        ranges.write(options["save"])
    for lines in scaled_lines(data, ranges):
        click.echo(lines, nl=False)
