"""Write a page about a model and the rows of a file."""

from pathlib import Path
from typing import Any

import click

from budgetsvm.cli._data import data_options, kind_of, load_for, names_of, set_names
from budgetsvm.cli._evaluate import known_labels
from budgetsvm.cli._files import DATA, FILE_TO_READ, FILE_TO_WRITE, keep_apart
from budgetsvm.cli._output import quiet_option
from budgetsvm.cli._stand_ins import import_sklearn


@click.command("report", context_settings={"show_default": True})
@data_options
@quiet_option
@click.argument("model", type=FILE_TO_READ)
@click.argument("data", type=DATA)
@click.argument("out", required=False, type=FILE_TO_WRITE)
def command(model: Path, data: str, out: Path | None, quiet: bool, **options: Any) -> None:
    """Write a page of HTML about MODEL, as it does on the labelled rows of DATA, to OUT; by default MODEL.html.

    It has advice, a summary of the data, confusion, calibration, the terms that matter, both phases, parameters and times,
    and needs nothing but a browser. A one-class model needs no labels.

    \b
      budgetsvm report ijcnn1.bsvm ijcnn1.t report.html
    """
    out = Path(f"{model.stem}.html") if out is None else out
    keep_apart(out, "the report", data=data, model=model, labels=options["labels"])
    import_sklearn()
    from budgetsvm import load
    from budgetsvm._report.report import check_target, write_report

    check_target(out)
    detector = kind_of(load(model)) == "BudgetOneClassSVM"
    machine, X, y = load_for(model, data, options, need_labels=not detector)
    names = names_of(machine)
    set_names(machine, None)
    labels = None if y is None else known_labels(machine, y)
    write_report(machine, X, labels, out, names)
    if not quiet:
        click.echo(f"report       {out}")
