"""A data set in memory: made of its files, split and scaled, with notes on where it comes from."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.public import public_in
from budgetsvm.datasets._entry import Entry
from budgetsvm.datasets._obtain import Found, Places, obtain
from budgetsvm.datasets._prepare import (
    Parts,
    in_form,
    is_mostly_zero,
    scale,
    split_fifth,
    split_last_tenth,
)

_SPLITS = {
    "file": "a file with test rows",
    "fifth": "no test file: a fifth of the rows at random, by numpy.random.default_rng(0)",
    "last tenth": "no test file: the last tenth of the rows",
}


@public_in("budgetsvm.datasets")
@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Training and test rows, ready to use. Made by :func:`load`.

    Attributes
    ----------
    name : str
        The name of the data set.
    X, X_test : ndarray or csr_array of shape (n_rows, n_features)
        Training and test rows, of dtype float64.
    y, y_test : ndarray of shape (n_rows,)
        Their labels or, for regression, targets, as they are in the files.
    notes : dict
        What is to be known about the data, ready for ``json.dump``: `name`, `files` (of each the name, the number of
        rows, the SHA-256 of the unpacked text and whether it is `verified`), `rows`, `test_rows`, `features`,
        `scaling`, `split`, `subset` (None, or which part of what it is) and `verified` (True if the checksums of
        all files are those of the LIBSVM data page, False if one is not, None if that of one is not known).
    C, gamma, epsilon : float or None
        What to give to :class:`~budgetsvm.BudgetSVC` or, with `epsilon`, to :class:`~budgetsvm.BudgetSVR`, with the
        Gaussian kernel: the values of the paper, and for other data sets those with which an exact SVM predicts best in
        cross-validation. None where they are not known, as with another scaling than the default; `epsilon` is for
        regression only.

    Examples
    --------
    Two small files in the place of ADULT:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from budgetsvm import BudgetSVC, datasets
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a9a").write_text("+1 3:1 11:1\\n-1 5:1 7:1\\n-1 5:1 123:1\\n")
    ...     _ = Path(folder, "a9a.t").write_text("-1 5:1 11:1\\n")
    ...     data = datasets.load("adult", folder=folder)
    >>> data.C, data.gamma
    (32.0, 0.0078125)
    >>> model = BudgetSVC(C=data.C, gamma=data.gamma, random_state=0).fit(data.X, data.y)
    >>> model.predict(data.X_test)
    array([-1.])
    """

    name: str
    X: Any
    y: NDArray[np.float64]
    X_test: Any
    y_test: NDArray[np.float64]
    notes: dict[str, Any]
    C: float | None = None
    gamma: float | None = None
    epsilon: float | None = None

    def __repr__(self) -> str:
        rows = f"{len(self.y)} + {len(self.y_test)} rows"
        return f"<data set {self.name}: {rows} of {self.X.shape[1]} features>"


def assemble(entry: Entry, places: Places, scaling: str = "default", form: str = "auto") -> Dataset:
    """Read the files of a data set, wherever they are, and make it ready."""
    found = [obtain(file, entry.n_features, places) for file in entry.files]
    X, y, X_test, y_test = _split(entry, found)
    chosen = entry.scaling if scaling == "default" else scaling
    X, X_test = scale(X, X_test, chosen)
    if form == "auto":
        form = "sparse" if is_mostly_zero(X) else "dense"  # the test rows follow
    notes = {
        "name": entry.name,
        **_notes_on_files(found),
        "rows": len(y),
        "test_rows": len(y_test),
        "features": entry.n_features,
        "scaling": chosen,
        "split": _SPLITS[entry.split],
    }
    good = (entry.C, entry.gamma, entry.epsilon) if chosen == entry.scaling else ()
    return Dataset(entry.name, in_form(X, form), y, in_form(X_test, form), y_test, notes, *good)


def _split(entry: Entry, found: list[Found]) -> Parts:
    train, *test = (each.table for each in found)
    if test:
        return train.X, train.y, test[0].X, test[0].y
    split = split_last_tenth if entry.split == "last tenth" else split_fifth
    return split(train.X, train.y)


def _notes_on_files(found: list[Found]) -> dict[str, Any]:
    files = [
        {
            "name": each.path.name,
            "rows": len(each.table.y),
            "sha256": each.table.sha256,
            "verified": each.verified,
        }
        for each in found
    ]
    verdicts = {each.verified for each in found}
    verified = False if False in verdicts else None if None in verdicts else True
    subset = "; ".join(filter(None, map(_missing_rows, found))) or None
    return {"files": files, "subset": subset, "verified": verified}


def _missing_rows(found: Found) -> str | None:
    """Say what a file is a part of, if it is one."""
    whole, rows = found.file.whole or (found.file.name, found.file.rows)
    if len(found.table.y) == rows:
        return None
    return f"{found.path.name}: {len(found.table.y):,} rows, where {whole} has {rows:,}"
