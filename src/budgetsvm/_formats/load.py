"""Estimators from files of whatever format: that is told by their first bytes."""

import os
from pathlib import Path
from typing import Any

from budgetsvm._common.checks import check_integer
from budgetsvm._common.public import public_in
from budgetsvm._formats.libsvm.estimators import of_libsvm
from budgetsvm._formats.libsvm.read import is_libsvm
from budgetsvm._formats.native import of_native


@public_in("budgetsvm")
def load(path: str | os.PathLike[str], *, n_features: int | None = None) -> Any:
    """Read an estimator from a file: one that :func:`save` has written, or a model of LIBSVM.

    Nothing in a file is run, and nothing in it is trusted: a file from elsewhere does no harm. It is either the
    estimator that was written, which predicts and goes on training as that does, or an error.

    Parameters
    ----------
    path : str or path-like
        The file.
    n_features : int, default=None
        Of a model of LIBSVM, which does not say it: the number of columns of the rows that it is for. By default, up
        to the last feature that a support vector has.

    Returns
    -------
    estimator : estimator or Pipeline
        What was saved. A monitor, scikit-learn's callbacks and metadata requests are not part of it. A model of LIBSVM
        becomes a :class:`BudgetSVC`, :class:`BudgetSVR` or :class:`BudgetOneClassSVM` with the same decision values
        (of two classes, positive for the larger label), whose parameters are those that the file knows: not C,
        epsilon or nu. What it says of probabilities is left out, with a warning.

    Raises
    ------
    ValueError
        If the file is damaged, or something else, or of a newer version of this package.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import make_moons
    >>> import budgetsvm
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> model = budgetsvm.BudgetSVC(budget=20, random_state=0).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "moons.model")
    ...     _ = path.write_text(budgetsvm.to_libsvm(model))
    ...     again = budgetsvm.load(path)
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    where, buffer = os.fspath(path), Path(path).read_bytes()
    if not buffer:
        message = f"{where} is empty: it is not a model of budgetsvm, nor of LIBSVM"
        raise ValueError(message)
    if n_features is not None:
        n_features = check_integer("n_features", n_features, least=1)
    if is_libsvm(buffer):
        return of_libsvm(buffer, where, n_features)
    estimator = of_native(buffer, where)
    if n_features not in (None, estimator.n_features_in_):
        message = f"{where} is for {estimator.n_features_in_} features, and n_features={n_features}"
        raise ValueError(message)
    return estimator
