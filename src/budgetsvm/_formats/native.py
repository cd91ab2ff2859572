"""Estimators as ``.bsvm`` files: their snapshot, and that of a scaler before them, in one file."""

import os
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline, make_pipeline

from budgetsvm._common.files import replacing
from budgetsvm._common.public import public_in
from budgetsvm._common.records import Fields, Record
from budgetsvm._estimators.snapshots import machine_of, snapshot_of
from budgetsvm._formats.record_file import from_bytes, to_bytes
from budgetsvm._formats.scalers import read_scaler, scaler_record

_SCALER = "scaler"


@public_in("budgetsvm")
def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file, from which :func:`load` makes it again.

    The file is complete or not there at all: an older one stays in its place until the new one is on the disk.

    Parameters
    ----------
    estimator : estimator or Pipeline
        One of budgetsvm's estimators; or a pipeline of a StandardScaler, MinMaxScaler or MaxAbsScaler and such an
        estimator.
    path : str or path-like
        The file, by custom with the suffix ``.bsvm``.

    Raises
    ------
    NotFittedError
        If there is nothing to write yet.
    ValueError
        If the estimator has parts that are not plain: a kernel function, a loss of your own, labels that are neither
        numbers nor strings. A pickle can hold those.
    OSError
        If the file cannot be written; what was there before is still there.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import make_moons
    >>> import budgetsvm
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> model = budgetsvm.BudgetSVC(budget=20, random_state=0).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "moons.bsvm")
    ...     budgetsvm.save(model, path)
    ...     again = budgetsvm.load(path)
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    parts = to_bytes(_record(estimator))
    with replacing(Path(path), durable=True) as file:
        for part in parts:
            file.write(part)


@public_in("budgetsvm")
def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator from a file that :func:`save` has written.

    Nothing in a file is run, and nothing in it is trusted: a file from elsewhere does no harm. It is either the
    estimator that was written, which predicts and goes on training as that does, or an error.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator : estimator or Pipeline
        What was saved. A monitor, scikit-learn's callbacks and metadata requests are not part of it.

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
    >>> import numpy as np
    >>> import budgetsvm
    >>> X = np.linspace(0, 6, 200)[:, np.newaxis]
    >>> model = budgetsvm.BudgetSVR(budget=10, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> with TemporaryDirectory() as folder:
    ...     model.save(Path(folder, "sine.bsvm"))
    ...     again = budgetsvm.load(Path(folder, "sine.bsvm"))
    >>> type(again).__name__, again.budget
    ('BudgetSVR', 10)
    """
    where = os.fspath(path)
    record = from_bytes(Path(path).read_bytes(), where)
    scaler = record.pop(_SCALER, None)
    try:
        machine = machine_of(record)
        if scaler is None:
            return machine
        return _pipeline(read_scaler(Fields(scaler, "the scaler")), machine)
    except ValueError as error:
        message = f"{where}: {error}"
        raise ValueError(message) from error


def _record(estimator: Any) -> Record:
    if not isinstance(estimator, Pipeline):
        return snapshot_of(estimator)
    steps = [step for _, step in estimator.steps if step not in (None, "passthrough")]
    if len(steps) == 1:
        return snapshot_of(steps[0])
    if len(steps) != 2:
        message = f"a pipeline to be saved has a scaler and an estimator, not {len(steps)} steps"
        raise ValueError(message)
    return {**snapshot_of(steps[1]), _SCALER: scaler_record(steps[0])}


def _pipeline(scaler: Any, machine: Any) -> Pipeline:
    if scaler.n_features_in_ != machine.n_features_in_:
        message = (
            f"the scaler has {scaler.n_features_in_} features, the model {machine.n_features_in_}"
        )
        raise ValueError(message)
    return make_pipeline(scaler, machine)
