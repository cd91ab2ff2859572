"""The door of tuning for a fit: what it needs of scikit-learn is slow to import, and most fits need none of it."""

from typing import Any, TypeVar

_Machine = TypeVar("_Machine")


def tune(machine: _Machine, X: Any, y: Any, sample_weight: Any, checkpoint: Any) -> _Machine:
    """Find C, gamma or both by cross-validation, and fit a machine with them."""
    from budgetsvm._estimators.tuning.tuned_fit import fit_tuned

    if checkpoint is not None:
        message = (
            f"checkpoint={checkpoint!r} must be None where parameters are 'tune': a checkpoint is of a fit "
            "whose parameters are known"
        )
        raise ValueError(message)
    fit_tuned(machine, X, y, sample_weight)
    return machine
