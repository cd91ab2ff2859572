"""``budgetsvm predict``: what a model says of the rows of a file."""

from pathlib import Path
from typing import Any

import click

from budgetsvm.cli._data import data_options, kind_of, load_for, set_names, true_labels
from budgetsvm.cli._evaluate import (
    squared_correlation,
    squared_error,
    unknown_labels,
    warn_of_labels,
)
from budgetsvm.cli._files import DATA, FILE_TO_READ, FILE_TO_WRITE, keep_apart
from budgetsvm.cli._output import quiet_option, text_of
from budgetsvm.cli._stand_ins import import_sklearn

_Q = '"'
# Messages then go elsewhere, which they would not do if it was a file like others.
_STANDARD_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


@click.command("predict", context_settings={"show_default": True})
@data_options
@click.option(
    "-b",
    "--probability",
    type=click.Choice(["0", "1"]),
    default="0",
    help="1: the probabilities of all classes, too.",
)
@click.option("--decision", is_flag=True, help="Decision values instead of labels.")
@quiet_option
@click.argument("data", type=DATA)
@click.argument("model", type=FILE_TO_READ)
@click.argument("out", required=False, type=FILE_TO_WRITE)
def command(data: str, model: Path, out: Path | None, **options: Any) -> None:
    """Write what MODEL says of the rows of DATA to OUT, one line each, or to standard output, which - means, too.

    The labels in DATA are compared with the predictions, as LIBSVM's svm-predict does. A .npy file with nothing but
    rows needs none.

    \b
      budgetsvm predict ijcnn1.t ijcnn1.bsvm predictions
    """
    quiet, probability, decision = (
        options.pop(name) for name in ("quiet", "probability", "decision")
    )
    if decision and probability == "1":
        raise click.UsageError("--decision and -b 1 are two things: ask for one of them")
    out = None if out is None or str(out) in _STANDARD_OUTPUT else out
    import_sklearn()
    keep_apart(out, "the output", data=data, model=model, labels=options["labels"])
    machine, X, y = load_for(model, data, options, need_labels=False)
    set_names(machine, None)
    _check_offered(machine, model, probability == "1", decision)
    found = machine.predict(X)
    lines = _lines(machine, X, found, probability == "1", decision)
    if out is None:
        click.echo(lines, nl=False)
    else:
        from budgetsvm._common.files.complete import replacing

        with replacing(out, durable=True) as file:
            file.write(lines.encode())
    if y is not None and found.ndim == 1 and not quiet:
        doubt, none = unknown_labels(machine, y)
        if doubt:
            warn_of_labels(doubt)
        if not none:  # else there is nothing to compare
            click.echo(_agreement(machine, y, found), err=out is None)


def _check_offered(machine: Any, model: Path, probability: bool, decision: bool) -> None:
    """Complain if a model has no such values."""
    if probability and not hasattr(machine, "predict_proba"):
        message = f"{model} has no probabilities: train a classifier with -b 1"
        raise ValueError(message)
    if decision and not hasattr(machine, "decision_function"):
        message = f"{model} is a regression, whose values are its predictions: leave out --decision"
        raise ValueError(message)


def _lines(machine: Any, X: Any, found: Any, probability: bool, decision: bool) -> str:
    """Return the text of the file."""
    import numpy as np

    head = ""
    if decision:
        rows: Any = np.atleast_2d(machine.decision_function(X).T).T
    elif probability:
        head = f"labels {' '.join(map(_word_of, machine.classes_))}\n"
        rows = (
            [_word_of(label), *values]
            for label, values in zip(found, machine.predict_proba(X), strict=True)
        )
    else:
        rows = np.atleast_2d(found.T).T  # a regression may have several targets
    return head + "".join(f"{' '.join(map(text_of, row))}\n" for row in rows)


def _word_of(label: Any) -> str:
    """Return a label as one word of a line: in quotes where it has white space, or quotes."""
    text = text_of(label)
    return text if text.split() == [text] and '"' not in text else f'"{text.replace(_Q, 2 * _Q)}"'


def _agreement(machine: Any, y: Any, found: Any) -> str:
    """Compare with the labels in the file, in svm-predict's words."""
    if kind_of(machine) == "BudgetSVR":
        return (
            f"Mean squared error = {squared_error(y, found):g} (regression)\n"
            f"Squared correlation coefficient = {squared_correlation(y, found):g} (regression)"
        )
    right = int((true_labels(machine, y) == found).sum())
    return f"Accuracy = {100 * right / len(found):g}% ({right}/{len(found)}) (classification)"
