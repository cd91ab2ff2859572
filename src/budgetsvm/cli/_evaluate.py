"""``budgetsvm evaluate``: how good a model is on a file."""

from pathlib import Path
from typing import Any

import click

from budgetsvm._problem.r_squared import r_squared
from budgetsvm.cli._data import data_options, kind_of, load_for, set_names, true_labels
from budgetsvm.cli._files import DATA, FILE_TO_READ
from budgetsvm.cli._output import json_option, print_facts, text_of

_MANY = 12  # classes: their confusion no longer fits the screen
_SHOWN = 6  # labels in a message


@click.command("evaluate", context_settings={"show_default": True})
@data_options
@json_option
@click.argument("data", type=DATA)
@click.argument("model", type=FILE_TO_READ)
def command(data: str, model: Path, as_json: bool, **options: Any) -> None:
    """Compare MODEL with the labels in DATA: accuracy, AUC and confusion, or errors of regression.

    \b
      budgetsvm evaluate ijcnn1.t ijcnn1.bsvm
    """
    machine, X, y = load_for(model, data, options)
    set_names(machine, None)
    facts = _facts(machine, X, y)
    print_facts(facts, as_json=as_json, otherwise=lambda: _print(facts))


def _print(facts: dict[str, Any]) -> None:
    labels, confusion = facts.pop("labels", None), facts.pop("confusion", None)
    for name, value in facts.items():
        click.echo(f"{name:20} {value:.6g}" if isinstance(value, float) else f"{name:20} {value}")
    if confusion is not None and len(confusion) <= _MANY:
        _print_confusion(labels, confusion)


def _facts(machine: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return all measures."""
    import numpy as np
    from sklearn import metrics

    found = machine.predict(X)
    facts: dict[str, Any] = {"rows": len(found)}
    if found.ndim > 1:
        message = f"the model has {found.shape[1]} targets, and a file one label per row: compare what it predicts"
        raise ValueError(message)
    if kind_of(machine) == "BudgetSVR":
        facts["mean squared error"] = float(metrics.mean_squared_error(y, found))
        facts["mean absolute error"] = float(metrics.mean_absolute_error(y, found))
        facts["R2"] = r2(y, found)
        return facts
    y = known_labels(machine, y)
    if not hasattr(machine, "classes_"):
        facts["share inside"] = float((found > 0).mean())
    facts["accuracy"] = accuracy(y, found)
    if not hasattr(machine, "classes_") or len(machine.classes_) == 2:
        both = np.array_equal(np.unique(y), getattr(machine, "classes_", (-1, 1)))
        facts["AUC"] = (
            float(metrics.roc_auc_score(y, machine.decision_function(X))) if both else float("nan")
        )
    if hasattr(machine, "classes_"):
        facts |= _class_facts(y, found, machine.classes_)
    return facts


def known_labels(machine: Any, y: Any) -> Any:
    """Return labels as a machine predicts them; complain where it knows none, and warn where it knows but some."""
    doubt, none = unknown_labels(machine, y)
    if none:
        message = f"{doubt}: is that the column of the labels?"
        raise ValueError(message)
    if doubt:
        warn_of_labels(doubt)
    return true_labels(machine, y)


def warn_of_labels(doubt: str) -> None:
    """Say so where rows count as mistakes for their labels alone."""
    click.echo(f"budgetsvm: warning: {doubt}", err=True)


def unknown_labels(machine: Any, y: Any) -> tuple[str, bool]:
    """Return what to say of labels that a machine does not know, if there are any, and whether it knows none."""
    import numpy as np

    y, kind = np.asarray(y), kind_of(machine)
    regresses, detects = kind == "BudgetSVR", kind == "BudgetOneClassSVM"
    classes = (-1, 1) if regresses or detects else getattr(machine, "classes_", y)
    words, known_words = (np.asarray(labels).dtype.kind not in "biuf" for labels in (y, classes))
    if words != known_words:
        file = f"{'words' if words else 'numbers'} ({_listed(y[:1])}, ...) in the file"
        model = "words" if known_words else "numbers"
        model += "" if regresses else f" ({_listed(classes)})"
        return f"labels are {file} and {model} in the model", True
    if regresses:
        return "", False
    if detects:
        others = np.unique(y[(y > 0) & (y != 1)])
        meant = "count as 1, as all above 0 do: 1 are rows like those of training, -1 are others"
        return f"labels {_listed(others)} {meant}" if len(others) else "", False
    unknown, counts = np.unique(y[~np.isin(y, classes)], return_counts=True)
    if not len(unknown):
        return "", False
    none = counts.sum() == len(y)
    what = f"labels that the model does not know: {_listed(unknown)}; it knows {_listed(classes)}"
    return f"{'all' if none else f'{counts.sum():,}'} rows have {what}", bool(none)


def _listed(labels: Any) -> str:
    """Return some labels as users write them."""
    shown = (repr(str(one)) if isinstance(one, str) else text_of(one) for one in labels[:_SHOWN])
    return ", ".join(shown) + (", ..." if len(labels) > _SHOWN else "")


def _class_facts(y: Any, found: Any, classes: Any) -> dict[str, Any]:
    """Return what there is to say of single classes: those of the model, and those that only the file has."""
    import numpy as np
    from sklearn.metrics import confusion_matrix

    labels = np.union1d(classes, y)
    confusion = confusion_matrix(y, found, labels=labels)
    rows = confusion.sum(axis=1)
    recalls = confusion.diagonal()[rows > 0] / rows[rows > 0]
    return {
        "balanced accuracy": float(recalls.mean()),
        "labels": labels.tolist(),
        "confusion": confusion.tolist(),
    }


def _print_confusion(classes: Any, confusion: list[list[int]]) -> None:
    """Print the table: a row per label, a column per prediction."""
    names = [text_of(label) for label in classes]
    width = max(map(len, [*names, *(str(n) for row in confusion for n in row)])) + 2
    click.echo("\nlabel \\ prediction")
    click.echo(" " * width + "".join(f"{name:>{width}}" for name in names))
    for name, row in zip(names, confusion, strict=True):
        click.echo(f"{name:>{width}}" + "".join(f"{n:>{width}}" for n in row))


def accuracy(y: Any, found: Any) -> float:
    """Return the share of labels that were found."""
    return float((y == found).mean())


def squared_error(y: Any, found: Any) -> float:
    """Return the mean of the squared errors."""
    return float(((y - found) ** 2).mean())


def squared_correlation(y: Any, found: Any) -> float:
    """Return the square of the correlation, as LIBSVM has it; nan of targets that are all the same."""
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.corrcoef(y, found)[0, 1] ** 2) if len(y) > 1 else float("nan")


def r2(y: Any, found: Any) -> float:
    """Return the share of the variance that is explained; nan of a single row."""
    return float(r_squared(y, found)) if len(y) > 1 else float("nan")
