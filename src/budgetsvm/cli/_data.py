"""Data files of commands: which formats there are, and how they are read."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from budgetsvm.cli._files import FILE_TO_READ, as_file
from budgetsvm.cli._stand_ins import import_sklearn

_OPTIONS = (
    click.option(
        "--format",
        type=click.Choice(["auto", "libsvm", "csv", "parquet", "arrow", "numpy"]),
        default="auto",
        show_default=True,
        help="Of DATA; auto goes by its name and its first row.",
    ),
    click.option(
        "--target",
        help="The column with the labels in tables: its name, or its number (0 is the first, -1 the last). Of .npz "
        "files, the array, by default y.",
    ),
    click.option(
        "--labels",
        type=FILE_TO_READ,
        help="The labels of NumPy files, if they are in another .npy file.",
    ),
    click.option(
        "--unlabelled",
        is_flag=True,
        help="The table has no labels: all columns are features. predict finds that out.",
    ),
    click.option(
        "--delimiter",
        help="Between the values of CSV files; \\t is a tab.  [default: , or a tab in .tsv files, or ; with --decimal ,]",
    ),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="Before the decimals of numbers in CSV files; with a comma, values have ; between them.  [default: .]",
    ),
    click.option("--header/--no-header", default=None, help="Whether CSV files begin with names."),
    click.option(
        "--zero-based/--one-based", default=None, help="Where indices in LIBSVM files start."
    ),
)


# Where a table has other columns than a model, one of them may be the labels.
_OTHER_COLUMNS = " feature columns, not ", " (features); "
#: What these options are called in Python.
DATA_OPTIONS = (
    *("format", "target", "labels", "unlabelled", "delimiter", "decimal", "header", "zero_based"),
)


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Declare the options of a command that say how DATA is to be read; see `read_data`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@contextmanager
def open_data(
    path: str,
    options: dict[str, Any],
    n_features: int | None = None,
    names: list[str] | None = None,
    *,
    bare: bool = False,
    numbers: bool = False,
    **more: Any,
) -> Iterator[Any]:
    """Make blocks of a file, or of standard input; takes the options of `data_options` from others.

    Columns that have names are taken by `names`, if these are given, whatever their order in the file. A `bare`
    table has no labels unless --target says which column they are in; others have none if --unlabelled says so.
    """
    given: dict[str, Any] = {"format": options.pop("format"), **more}
    unlabelled = options.pop("unlabelled")
    for name in ("delimiter", "decimal", "header", "zero_based", "target", "labels"):
        value = options.pop(name)
        if value is not None:
            given["y" if name == "labels" else name] = (
                _READ[name](value) if name in _READ else value
            )
    with as_file(path) as file:
        if unlabelled or (bare and "target" not in given and _is_table(file, given)):
            _check_unlabelled(file, given)
            given["target"] = False
        if numbers and _format_of(file, given) == "csv":
            given["labels"] = "number"
        yield _blocks(file, given, n_features, names)


def _blocks(
    file: str, given: dict[str, Any], n_features: int | None, names: list[str] | None
) -> Any:
    from budgetsvm.streams import read_blocks

    try:
        if names is not None and _columns_have_names(file, given):
            return read_blocks(file, features=names, **given)
        return read_blocks(file, n_features=n_features, **given)
    except ValueError as error:
        others = any(words in str(error) for words in _OTHER_COLUMNS)
        if given.get("target") is not False or not others:
            raise
        message = f"{error}; if one of the columns holds labels, say which by --target"
        raise ValueError(message) from error


def _columns_have_names(file: str, given: dict[str, Any]) -> bool:
    """Whether columns can be chosen by name; what is in others, words maybe, does not matter then."""
    from budgetsvm.streams import read_blocks

    if _format_of(file, given) in ("parquet", "arrow"):
        return True
    return read_blocks(file, **given).feature_names is not None


def _check_unlabelled(file: str, given: dict[str, Any]) -> None:
    if "target" in given or "y" in given:
        raise click.UsageError("--unlabelled and --target or --labels contradict each other")
    if not _is_table(file, given):
        raise click.UsageError(
            "--unlabelled is for CSV, Parquet and Arrow files: others say it themselves"
        )


def _is_table(file: str, given: dict[str, Any]) -> bool:
    """Whether a file is a table of columns, one of which may be the labels."""
    return _format_of(file, given) in ("csv", "parquet", "arrow")


def _format_of(file: str, given: dict[str, Any]) -> str:
    from budgetsvm.streams._find_files import find_files, find_format

    otherwise = "csv" if given.keys() & {"delimiter", "decimal"} else None
    return (
        find_format(find_files(file), otherwise)
        if given["format"] == "auto"
        else str(given["format"])
    )


def read_data(
    path: str,
    options: dict[str, Any],
    n_features: int | None = None,
    *,
    names: list[str] | None = None,
    least: int = 0,
    need_labels: bool = True,
    bare: bool = False,
    numbers: bool = False,
) -> tuple[Any, Any, list[str] | None]:
    """Return rows, labels and the names of columns, or None where there are none; see `open_data`.

    Where labels must be `numbers`, as targets of a regression, words in their place are named.
    Rows of LIBSVM files, which do not say how many features they have, get so many at least.
    """
    from budgetsvm.streams._libsvm.blocks import LibsvmBlocks

    with open_data(path, options, n_features, names, bare=bare, numbers=numbers) as blocks:
        X, y = blocks.whole()
    if y is None and need_labels:
        message = (
            f"{path} has no labels: say --labels FILE, or --target COLUMN if they are among its columns, or save "
            "them as an array y beside X in an .npz file"
        )
        raise ValueError(message)
    if numbers and y is not None and y.dtype.kind not in "biuf":
        message = f"{path}: labels are words ({str(y[0])!r}, ...), and targets of a regression are numbers"
        raise ValueError(message)
    if isinstance(blocks, LibsvmBlocks) and X.shape[1] < least:
        X = _widened(X, least)
    return X, y, blocks.feature_names


def _widened(X: Any, n_features: int) -> Any:
    import numpy as np

    if isinstance(X, np.ndarray):
        return np.pad(X, ((0, 0), (0, n_features - X.shape[1])))
    X.resize(X.shape[0], n_features)
    return X


def load_for(
    model: Path, data: str, options: dict[str, Any], *, need_labels: bool = True
) -> tuple[Any, Any, Any]:
    """Return a model, rows and labels; columns with names are those that the model was trained on.

    A model of LIBSVM does not say how many features it is for. Those that no support vector has count all the same,
    and those that no row has are zero. Tables need no labels where these are not needed, since the model knows its
    columns: those with names are found by them, and of others there must be exactly as many.
    """
    import_sklearn()
    from budgetsvm import load

    machine = load(model)
    given: dict[str, Any] = {"need_labels": need_labels, "bare": not need_labels}
    given["numbers"] = need_labels and kind_of(machine) == "BudgetSVR"
    if not hasattr(machine, "predict"):
        message = f"{model} is a {kind_of(machine)}, which makes features and no predictions"
        raise ValueError(message)
    if not is_model_of_libsvm(model):
        width, names = machine.n_features_in_, names_of(machine)
        X, y, _ = read_data(data, options, width, names=names, **given)
        return machine, X, y
    X, y, _ = read_data(data, options, least=machine.n_features_in_, **given)
    if X.shape[1] > machine.n_features_in_:
        machine = load(model, n_features=X.shape[1])
    return machine, X, y


def is_model_of_libsvm(model: Path) -> bool:
    """Whether a file is a model of LIBSVM."""
    from budgetsvm._formats.libsvm.read import is_libsvm

    with model.open("rb") as file:
        return is_libsvm(file.read(100))


def names_of(machine: Any) -> list[str] | None:
    """Return the names of the columns that a machine was trained on."""
    names = getattr(machine, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def set_names(machine: Any, names: list[str] | None) -> None:
    """Let a machine know the names of its columns, or none: rows that were read by them are mere numbers."""
    import numpy as np

    first = machine[0] if hasattr(machine, "steps") else machine
    if names is not None:
        first.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(first, "feature_names_in_"):
        del first.feature_names_in_


def last_of(machine: Any) -> Any:
    """Return the estimator itself, without the scaler of a pipeline."""
    return machine[-1] if hasattr(machine, "steps") else machine


def kind_of(machine: Any) -> str:
    """Return the name of an estimator's class."""
    return type(last_of(machine)).__name__


def true_labels(machine: Any, y: Any) -> Any:
    """Return labels as a machine predicts them: a detector says 1 of inliers, and -1 of all others."""
    import numpy as np

    if kind_of(machine) == "BudgetOneClassSVM":
        return np.where(np.asarray(y, float) > 0, 1, -1)
    return np.asarray(y)


def _delimiter(text: str) -> str:
    return {"\\t": "\t", "tab": "\t"}.get(text, text)  # which a shell does not make of it


def _column(text: str) -> str | int:
    try:
        return int(text)
    except ValueError:
        return text


_READ: dict[str, Callable[[str], Any]] = {"target": _column, "delimiter": _delimiter}
