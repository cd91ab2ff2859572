"""Estimators as ``.bsvm`` files: their snapshot, and that of a scaler before them, in one file."""

import os
from pathlib import Path
from typing import Any

from budgetsvm._common.files.complete import replacing
from budgetsvm._common.files.records import FileKind, from_bytes, to_bytes
from budgetsvm._common.public import public_in
from budgetsvm._common.records import Fields, Record
from budgetsvm._estimators.snapshots import machine_of, snapshot_of
from budgetsvm._formats.scalers import is_pipeline, read_scaler, scaler_record

#: What a .bsvm file is.
MODEL = FileKind("budgetsvm", "a model of budgetsvm")
_SCALER = "scaler"


@public_in("budgetsvm")
def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file, from which :func:`budgetsvm.load` makes it again.

    The file is complete or not there at all: an older one stays in its place until the new one is on the disk.

    Parameters
    ----------
    estimator : estimator or Pipeline
        One of budgetsvm's estimators; or a pipeline of a StandardScaler, RelevanceScaler, MinMaxScaler or MaxAbsScaler and such an
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
    parts = to_bytes(_record(estimator), MODEL)
    with replacing(Path(path), durable=True) as file:
        for part in parts:
            file.write(part)


def of_native(buffer: bytes, where: str) -> Any:
    """Return the estimator of a file that `save` has written."""
    record = from_bytes(buffer, where, MODEL)
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
    if not is_pipeline(estimator):
        return snapshot_of(estimator)
    steps = [step for _, step in estimator.steps if step not in (None, "passthrough")]
    if len(steps) == 1:
        return snapshot_of(steps[0])
    if len(steps) != 2:
        message = f"a pipeline to be saved has a scaler and an estimator, not {len(steps)} steps"
        raise ValueError(message)
    return {**snapshot_of(steps[1]), _SCALER: scaler_record(steps[0])}


def _pipeline(scaler: Any, machine: Any) -> Any:
    from sklearn.pipeline import make_pipeline  # slow to import, as the scalers are

    if scaler.n_features_in_ != machine.n_features_in_:
        message = (
            f"the scaler has {scaler.n_features_in_} features, the model {machine.n_features_in_}"
        )
        raise ValueError(message)
    return make_pipeline(scaler, machine)
