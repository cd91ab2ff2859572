"""``budgetsvm cv``: how good a machine would be on rows that it has not seen."""

from typing import Any

import click

from budgetsvm.cli._data import data_options, read_data
from budgetsvm.cli._evaluate import accuracy, known_labels, r2, squared_correlation, squared_error
from budgetsvm.cli._files import DATA
from budgetsvm.cli._grid.options import grid_options
from budgetsvm.cli._grid.table import lines_of, words_for_train
from budgetsvm.cli._options.effects import warn_without_effect
from budgetsvm.cli._options.svm import SvmCommand, svm_options
from budgetsvm.cli._output import json_option, print_facts, quiet_option
from budgetsvm.cli._stand_ins import import_sklearn


@click.command("cv", cls=SvmCommand, context_settings={"show_default": True})
@svm_options
@data_options
@click.option("-v", "folds", type=click.IntRange(2), default=5, help="Number of folds.")
@grid_options
@quiet_option
@json_option
@click.argument("data", type=DATA)
def command(data: str, folds: int, **options: Any) -> None:
    """Cross-validate a machine on DATA: accuracy, or mean squared error, squared correlation and R² of regression.

    A one-class machine says which rows are like most others: 1, and the label of others is -1 or anything below 0.

    The options are those of budgetsvm train. With --grid, the best C and gamma are searched for, and --time-limit is
    that of the search; it takes a fraction of the time that a cross-validation of every cell would.

    \b
      budgetsvm cv -v 5 -c 32 -g 2 ijcnn1
      budgetsvm cv --grid --log2c -1,9,2 --log2g -5,3,2 -B 500 ijcnn1
    """
    warn_without_effect(options)
    (search_grid if options["grid"] else cross_validate)(data, folds, options)


def search_grid(data: str, folds: int, options: dict[str, Any]) -> None:
    """Print the scores of all cells of a search, and the best one in the words of ``budgetsvm train``."""
    if options["svm_type"] == "one-class":
        raise click.UsageError("--grid is for -s 0 and -s 3: a one-class machine has no C")
    if not options["polish"]:
        raise click.UsageError("--grid needs the polish: leave out --no-polish")
    import_sklearn()
    from budgetsvm.cli._grid.search import search

    X, y, _ = read_data(data, options, numbers=options["svm_type"] == "svr")
    facts = search(X, y, folds, options)
    print_facts(facts, as_json=options["as_json"], otherwise=lambda: _print_grid(facts, options))


def _print_grid(facts: dict[str, Any], options: dict[str, Any]) -> None:
    if not options["quiet"]:
        for line in lines_of(facts):
            click.echo(line)
        click.echo()
    score = facts["best"]["score"]
    shown = f"Accuracy = {100 * score:g}%" if facts["measure"] == "accuracy" else f"R² = {score:g}"
    click.echo(f"Cross Validation {shown}")
    click.echo(words_for_train(facts["best"]))
    if not (facts["complete"] or options["quiet"]):
        limit = options["time_limit"]
        message = f"budgetsvm: warning: --time-limit {limit:g} had no room for all cells that were worth it"
        click.echo(message, err=True)


def cross_validate(data: str, folds: int, options: dict[str, Any]) -> None:
    """Print the scores of all predictions together, as LIBSVM does, and those of the folds."""
    import_sklearn()
    from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict

    from budgetsvm.cli._machine import make_machine

    X, y, _ = read_data(data, options, numbers=options["svm_type"] == "svr")
    kind = options["svm_type"]
    machine = make_machine(options, X, y, verbose=0)
    splits = list(
        (StratifiedKFold if kind == "svc" else KFold)(
            folds, shuffle=True, random_state=options["seed"]
        ).split(X, y)
    )
    truth = known_labels(machine, y)
    found = cross_val_predict(machine, X, y, cv=splits)
    rows: list[Any] = [slice(None), *(test for _, test in splits)]
    scores = {
        name: [score(truth[part], found[part]) for part in rows]
        for name, score in (_ERRORS if kind == "svr" else _ACCURACY).items()
    }
    print_facts(
        {name: {"all": values[0], "folds": values[1:]} for name, values in scores.items()},
        as_json=options["as_json"],
        otherwise=lambda: _print(scores, quiet=options["quiet"]),
    )


def _print(scores: dict[str, list[float]], *, quiet: bool) -> None:
    """Print scores of all in svm-train's words, and those of the folds."""
    for name, (whole, *values) in scores.items():
        if name == "accuracy":
            click.echo(f"Cross Validation Accuracy = {100 * whole:g}%")
            shown = ", ".join(f"{100 * value:.2f}" for value in values)
        else:
            click.echo(f"Cross Validation {name} = {whole:g}")
            shown = ", ".join(f"{value:.4g}" for value in values)
        if not quiet:
            click.echo(f"  folds: {shown}", err=True)


_ACCURACY = {"accuracy": accuracy}
_ERRORS = {
    "Mean squared error": squared_error,
    "Squared correlation coefficient": squared_correlation,
    "R²": r2,
}
