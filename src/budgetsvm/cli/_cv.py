"""``budgetsvm cv``: how good a machine would be on rows that it has not seen."""

from typing import Any

import click

from budgetsvm.cli._data import data_options, read_data
from budgetsvm.cli._options.effects import warn_without_effect
from budgetsvm.cli._options.svm import SvmCommand, svm_options
from budgetsvm.cli._output import json_option, print_facts, quiet_option
from budgetsvm.cli._stand_ins import import_sklearn


@click.command("cv", cls=SvmCommand, context_settings={"show_default": True})
@svm_options
@data_options
@click.option("-v", "folds", type=click.IntRange(2), default=5, help="Number of folds.")
@quiet_option
@json_option
@click.argument("data")
def command(data: str, folds: int, **options: Any) -> None:
    """Cross-validate a machine on DATA: accuracy, or mean squared error and R² of regression.

    The options are those of budgetsvm train.

    \b
      budgetsvm cv -v 5 -c 32 -g 2 ijcnn1
    """
    warn_without_effect(options)
    cross_validate(data, folds, options)


def cross_validate(data: str, folds: int, options: dict[str, Any]) -> None:
    """Print the scores of all folds, and their mean."""
    import_sklearn()
    import numpy as np
    from sklearn.model_selection import KFold, StratifiedKFold
    from sklearn.model_selection import cross_validate as validate

    from budgetsvm.cli._machine import make_machine

    X, y, _ = read_data(data, options)
    kind = options["svm_type"]
    if kind == "one-class":
        raise ValueError("one-class machines have no labels to be cross-validated against")
    machine = make_machine(options, X, y, verbose=0)
    splits = (StratifiedKFold if kind == "svc" else KFold)(
        folds, shuffle=True, random_state=options["seed"]
    )
    scoring = {"accuracy": "accuracy"} if kind == "svc" else _ERRORS
    found = validate(machine, X, y, cv=splits, scoring=scoring, error_score="raise")
    scores = {
        name: np.abs(found[f"test_{name}"]) if "error" in name else found[f"test_{name}"]
        for name in scoring
    }
    print_facts(
        {name: values.tolist() for name, values in scores.items()},
        as_json=options["as_json"],
        otherwise=lambda: _print(scores, quiet=options["quiet"]),
    )


def _print(scores: dict[str, Any], *, quiet: bool) -> None:
    """Print means in svm-train's words, and what they are means of."""
    for name, values in scores.items():
        if name == "accuracy":
            click.echo(f"Cross Validation Accuracy = {100 * values.mean():g}%")
            shown = ", ".join(f"{100 * value:.2f}" for value in values)
        else:
            click.echo(f"Cross Validation {name} = {values.mean():g}")
            shown = ", ".join(f"{value:.4g}" for value in values)
        if not quiet:
            click.echo(f"  folds: {shown}", err=True)


_ERRORS = {"Mean squared error": "neg_mean_squared_error", "R²": "r2"}
