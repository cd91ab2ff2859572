"""What is looked at: a fitted machine, whatever it is wrapped in, and rows with what is to be predicted for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d

from budgetsvm._common.threads import count_threads
from budgetsvm._estimators.features import BudgetFeatures
from budgetsvm._estimators.fitting.two_phases import BudgetMachine
from budgetsvm._estimators.svc import BudgetSVC
from budgetsvm._estimators.svr import BudgetSVR
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm.kernels import Precomputed

_CELLS = "cv_results_"


@dataclass(frozen=True, eq=False)
class Subject:
    """A machine, and rows as it sees them: behind the scaler of a pipeline."""

    machine: Any  #: BudgetSVC, BudgetSVR or BudgetOneClassSVM, fitted
    search: Any  #: who has searched for parameters, and knows the cells; None: nobody
    scaled_by: str  #: what stands before the machine in a pipeline; empty: nothing
    given: Any  #: rows as they were given to it
    X: Any  #: the same, as it computes with them
    y: NDArray[Any] | None  #: None only of a one-class machine
    names: tuple[str, ...] | None  #: of the features

    @property
    def model(self) -> KernelExpansion:
        """The model."""
        model: KernelExpansion = self.machine._expansion
        return model

    @property
    def classifies(self) -> bool:
        """Whether it is a classifier."""
        return isinstance(self.machine, BudgetSVC)

    @property
    def regresses(self) -> bool:
        """Whether it is a regression."""
        return isinstance(self.machine, BudgetSVR)

    @property
    def has_features(self) -> bool:
        """Whether rows have coordinates, and not kernel values or objects."""
        return not isinstance(self.model.kernel, Precomputed)

    @property
    def threads(self) -> int:
        """Threads to work with."""
        return count_threads(self.machine.n_jobs)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @cached_property
    def labels(self) -> NDArray[Any]:
        """The classes of the machine, and those that only the rows have."""
        return np.union1d(self.machine.classes_, np.asarray(self.y))

    @cached_property
    def predicted(self) -> NDArray[Any]:
        """What the machine predicts for every row."""
        return np.asarray(self.machine.predict(self.given))

    def sample(self, most: int) -> NDArray[np.int64]:
        """Return the numbers of so many rows at most, always the same ones."""
        rng = np.random.default_rng(0)
        chosen = rng.choice(len(self), min(most, len(self)), replace=False)
        return np.sort(chosen).astype(np.int64)

    def name(self, feature: int) -> str:
        """Return what a feature is called."""
        return f"{feature}" if self.names is None else repr(self.names[feature])


def subject_of(estimator: Any, X: Any, y: Any, names: Sequence[str] | None = None) -> Subject:
    """Return the machine in an estimator, and rows as it sees them; complains about both before any work."""
    named = _names(estimator) if names is None else tuple(names)
    search = estimator if hasattr(estimator, _CELLS) else None
    machine = _found(estimator)
    scaled_by = ""
    if hasattr(machine, "steps"):
        scaled_by = ", ".join(type(step).__name__ for _, step in machine.steps[:-1])
        if scaled_by:
            X, named = machine[:-1].transform(X), _names_behind(machine[:-1], named)
        machine = _found(machine[-1])
    _check_kind(machine)
    machine = machine.to_local() if hasattr(machine, "to_local") else machine  # of a Dask cluster
    check_is_fitted(machine, "_expansion")
    search = machine if search is None and hasattr(machine, _CELLS) else search
    rows = machine._validate(X, reset=False)
    y = _checked(machine, y, rows.shape[0])
    named = named if named is None or len(named) == rows.shape[1] else None
    return Subject(machine, search, scaled_by, X, rows, y, named)


def _found(estimator: Any) -> Any:
    """Return what a search has found, or the estimator itself."""
    if not hasattr(estimator, _CELLS) or isinstance(estimator, BudgetMachine):
        return estimator
    if not hasattr(estimator, "best_estimator_"):
        message = "the search has no machine of all rows: set refit=True, or pass a machine that was fitted with best_params_"
        raise ValueError(message)
    return estimator.best_estimator_


def _names(estimator: Any) -> tuple[str, ...] | None:
    """Return the names of the features."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def _names_behind(steps: Any, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the names of what comes out of a pipeline: steps may make other columns of those that go in."""
    if names is None:
        return None
    try:
        return tuple(map(str, steps.get_feature_names_out(np.array(names, dtype=object))))
    except (AttributeError, ValueError):  # a step that gives no names
        return names


def _check_kind(machine: Any) -> None:
    """Complain about what is no machine of this package."""
    if isinstance(machine, BudgetMachine):
        return
    kind = type(machine).__name__
    features = isinstance(machine, BudgetFeatures)
    hint = ", which makes features and no predictions" if features else ""
    message = (
        "this takes a fitted BudgetSVC, BudgetSVR or BudgetOneClassSVM, a search for one, or a pipeline that ends "
        f"with one; not a {kind}{hint}"
    )
    raise TypeError(message)


def _checked(machine: Any, y: Any, n: int) -> NDArray[Any] | None:
    """Return what is to be predicted, or say what is wrong with it."""
    if y is None:
        if isinstance(machine, BudgetSVC | BudgetSVR):
            message = f"a {type(machine).__name__} is judged by its predictions: y is needed"
            raise ValueError(message)
        return None
    if isinstance(machine, BudgetSVR):
        found = _checked_targets(machine, y)
    else:
        found = column_or_1d(y)
        _check_labels(machine, found)
    if len(found) != n:
        message = f"X has {n} rows, and y {len(found)}"
        raise ValueError(message)
    return found


def _checked_targets(machine: BudgetSVR, y: Any) -> NDArray[np.float64]:
    """Return the targets of a regression, of the shape of its predictions."""
    found = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    columns = found.reshape(len(found), -1)
    if columns.shape[1] != len(machine.target_mean_):
        message = f"y has {columns.shape[1]} targets, and the model {len(machine.target_mean_)}"
        raise ValueError(message)
    return np.asarray(columns[:, 0] if machine._flat else columns)


def _check_labels(machine: Any, labels: NDArray[Any]) -> None:
    """Complain about labels that cannot be compared with those of the machine, or that are none."""
    if isinstance(machine, BudgetSVC):
        if any(one is None or one != one for one in labels.tolist()):  # noqa: PLR0124 - of nan
            raise ValueError("y has labels that are missing")
        kinds = [isinstance(some.tolist()[0], str) for some in (labels, machine.classes_)]
        one, known = labels.tolist()[0], machine.classes_[:3].tolist()
        if kinds[0] != kinds[1]:
            message = f"y has labels like {one!r}, and those of the model are like {known}"
            raise ValueError(message)
        if not np.isin(labels, machine.classes_).any():
            message = f"y has no label that the model knows, but {one!r}; those of the model are like {known}"
            raise ValueError(message)
    elif not np.isin(labels, (-1, 1)).all():
        message = (
            "labels of a one-class machine are 1 (like the training rows) and -1 (outliers), not "
            f"{np.setdiff1d(labels, (-1, 1))[:3].tolist()}"
        )
        raise ValueError(message)
