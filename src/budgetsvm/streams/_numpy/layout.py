"""Where rows and labels are among the arrays of a file."""

from dataclasses import dataclass
from pathlib import Path

from budgetsvm.streams._numpy.arrays import ArrayError, ArrayFile, RowReader
from budgetsvm.streams._table_columns import Column

ROWS, LABELS = "X", "y"
#: The arrays that scipy.sparse.save_npz writes of any matrix; of which format, whoever reads it will see.
SPARSE = ("format", "shape", "data")


@dataclass(frozen=True)
class Layout:
    """Where they are."""

    rows: str | None  #: the name of an array; None: that without a name
    sparse: bool = False
    column: int | None = None  #: of the rows, that holds the labels
    labels: str | None = None  #: the name of an array


def find_layout(file: ArrayFile, target: Column | None, *, elsewhere: bool) -> Layout:
    """Find rows and labels, which may be in a file of their own, or nowhere."""
    path, names = file.path, file.names
    if names is None:
        rows, is_sparse = None, False
    elif ROWS in names:
        rows, is_sparse = ROWS, False
    elif set(SPARSE) <= set(names):
        rows, is_sparse = "data", True
    else:
        shown = ", ".join(map(repr, names[:12])) or "none"
        message = (
            f"{path} must hold rows in an array X, and labels in y, as np.savez(path, X=X, y=y) writes them, or be of "
            f"scipy.sparse.save_npz; its arrays are: {shown}"
        )
        raise ArrayError(message)
    if target is None:
        within = LABELS in (names or ()) and not elsewhere
        return Layout(rows, is_sparse, labels=LABELS if within else None)
    if isinstance(target, str):
        return Layout(rows, is_sparse, labels=_named(path, names, target))
    if is_sparse:
        message = (
            f"{path} holds sparse rows, and its labels must be in an array or a file of their own"
        )
        raise ArrayError(message)
    return Layout(rows, column=int(target))


def _named(path: Path, names: list[str] | None, target: str) -> str:
    if target in (names or ()) and target != ROWS:
        return target
    held = "a single array" if names is None else f"the arrays {', '.join(map(repr, names))}"
    message = f"{path} has no array {target!r} for labels (target); it has {held}"
    raise ArrayError(message)


def check_rows(X: RowReader) -> None:
    """Raise an ArrayError unless an array is a table of numbers."""
    if len(X.shape) != 2 or 0 in X.shape[1:]:
        shown = " × ".join(map(str, X.shape)) or "a single number"
        message = (
            f"{X.where} must be a table, rows × features, and is {shown}: reshape it before it is saved, as by "
            "X.reshape(len(X), -1)"
        )
        raise ArrayError(message)
    if X.dtype.kind not in "biuf":
        message = f"{X.where} must hold numbers, not {X.dtype}"
        raise ArrayError(message)


def check_labels(y: RowReader, n_rows: int, of: str) -> None:
    """Raise an ArrayError unless an array has a label for every row."""
    if y.shape not in ((n_rows,), (n_rows, 1)):
        shown = " × ".join(map(str, y.shape)) or "a single number"
        message = f"{y.where} must be one column of labels, one for each of the {n_rows} rows of {of}, and is {shown}"
        raise ArrayError(message)
