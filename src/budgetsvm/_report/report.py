"""report: the page as a file."""

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from budgetsvm._common.extras import extra
from budgetsvm._common.files.complete import replacing
from budgetsvm._common.public import public_in
from budgetsvm._diagnosis.subject import subject_of


@public_in("budgetsvm")
def report(estimator: Any, X: Any, y: Any, path: str | os.PathLike[str]) -> None:
    """Write all there is to say about a fitted model as one page of HTML.

    The page has everything in it: it needs no network, runs no script, and can be sent by mail. In it are advice, a
    summary of the data, confusion and calibration, the grid and the curve of a search, the terms that matter, both
    phases, parameters and times. It needs matplotlib: ``pip install "budgetsvm[plot]"``.

    Parameters
    ----------
    estimator : BudgetSVC, BudgetSVR or BudgetOneClassSVM
        A fitted machine, a search for one, or a pipeline that ends with one; maybe loaded from a file, which does not
        remember a search.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows, best those that took no part in training.
    y : array-like of shape (n_samples,) or (n_samples, n_targets), or None
        What is to be predicted for them. A one-class machine needs none, or labels 1 and -1.
    path : str or path-like
        The file, by custom with the suffix ``.html``. It is complete, or the one that was there before.

    See Also
    --------
    diagnose : The advice alone.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import make_moons
    >>> from budgetsvm import BudgetSVC, report
    >>> X, y = make_moons(600, noise=0.2, random_state=0)
    >>> model = BudgetSVC(gamma=2, budget=30, random_state=0).fit(X[:400], y[:400])
    >>> with TemporaryDirectory() as folder:
    ...     report(model, X[400:], y[400:], Path(folder, "moons.html"))
    ...     Path(folder, "moons.html").read_text("utf-8")[:15]
    '<!DOCTYPE html>'
    """
    write_report(estimator, X, y, path)


def write_report(
    estimator: Any, X: Any, y: Any, path: str | os.PathLike[str], names: Sequence[str] | None = None
) -> None:
    """Write a report; features may have names that the estimator does not know. Complains before it works."""
    target = Path(path)
    check_target(target)
    subject = subject_of(estimator, X, y, names)
    from budgetsvm._report.page import page  # which imports much

    made = page(subject).encode()
    with replacing(target, durable=True) as file:
        file.write(made)


def check_target(path: Path) -> None:
    """Complain about what would stop a report when all its work is done."""
    with extra("plot", "a report needs matplotlib"):
        import_module("matplotlib")
    if path.is_dir():
        message = f"{str(path)!r} is a folder, and not a file to write to"
        raise IsADirectoryError(message)
    if not path.absolute().parent.is_dir():
        message = f"there is no folder {str(path.absolute().parent)!r} for {path.name!r}"
        raise FileNotFoundError(message)
