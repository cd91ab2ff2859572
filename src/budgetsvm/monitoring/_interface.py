"""What it takes to watch a fit: a Monitor chooses its moments, and gets a View of each."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from math import nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.public import public_in
from budgetsvm._common.records import Fields, Record
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.points import Points
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import Targets


@public_in("budgetsvm.monitoring")
@dataclass(frozen=True, eq=False)
class TrainingData:
    """What a model is fitted to: rows, and what they ask of it; both as training sees them."""

    rows: Rows
    targets: Targets
    intercept: bool = False  #: whether the model has a bias
    n_threads: int = 1  #: that a monitor may use

    def __len__(self) -> int:
        return len(self.rows)


@public_in("budgetsvm.monitoring")
@dataclass(frozen=True, eq=False)
class View:
    """A fit at one moment.

    Attributes
    ----------
    phase : {"learn", "polish"}
        Which of the two phases is running.
    visits : int
        Training points that phase 1 has looked at.
    passes : int
        How often the polish has gone through all rows.
    seconds : float
        Since the fit began, without the time that monitors took.
    steps, violations, merges : int
        Visits so far that changed the model, that had a loss, that ran budget maintenance.
    degradation : float
        Sum of the ‖Δw‖² that maintenance has caused.
    objective : float
        In the polish: P of the model. NaN in phase 1, which does not compute it.
    bound : float
        In the polish: no model with these terms has a smaller P than this. NaN in phase 1.
    alpha : ndarray of shape (n_samples,), (n_samples, n_outputs) or None
        The dual variables. In the polish: the best dual point so far, None if there are several outputs.
    model : KernelExpansion
        The model, with `points` in the coordinates of training.
    """

    phase: Literal["learn", "polish"]
    visits: int
    passes: int
    seconds: float
    steps: int
    violations: int
    merges: int
    degradation: float
    bound: float
    alpha: NDArray[Any] | None
    model: KernelExpansion
    _machine: Callable[[KernelExpansion], Any]
    objective: float = nan

    @property
    def points(self) -> Points:
        """The points z_j of the model, in the coordinates of the data; a sparse array where they are sparse."""
        return self.model.original_points()

    @property
    def coef(self) -> NDArray[np.float64]:
        """The coefficients β, (outputs, terms)."""
        return self.model.coef

    def estimator(self) -> Any:
        """Return a copy of the estimator as if its fit ended at this moment."""
        return self._machine(self.model)

    def __getstate__(self) -> Record:
        """Put the estimator in the place of the fit, and so of the training data: these stay out of files."""
        return {**self.__dict__, "model": self.model.record(), "_machine": self.estimator()}

    def __setstate__(self, state: Record) -> None:
        model = KernelExpansion.of_record(Fields(state["model"], "a pickled View: model"))
        remembered = _Remembered(state["_machine"])
        self.__dict__.update(state | {"model": model, "_machine": remembered})


@dataclass(frozen=True, eq=False)
class _Remembered:
    """The estimator of a view that comes from a file."""

    estimator: Any

    def __call__(self, model: KernelExpansion) -> Any:  # noqa: ARG002 - it is that of the estimator
        """Return a copy."""
        return copy(self.estimator)


@public_in("budgetsvm.monitoring")
class Monitor(ABC):
    """Watches a fit, as parameter ``monitor`` of any estimator.

    The estimator makes a shallow copy for every fit, ``monitor_``, and tells that. The time which a monitor
    takes counts for nothing that is measured, nor for ``time_limit``. Streams (``partial_fit``) are not
    watched.

    A pickle of the estimator has ``monitor_`` in it, with all that it keeps. `TrainingData` hold the rows: let
    go of them in ``end``. A View holds them as well while it is in memory, but not in a pickle.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from budgetsvm import BudgetSVC
    >>> from budgetsvm.monitoring import Monitor
    >>> class Sizes(Monitor):
    ...     def begin(self, data):
    ...         self.sizes = []
    ...
    ...     def next_visit(self, visits):
    ...         return visits + 100
    ...
    ...     def observe(self, view):
    ...         self.sizes.append((view.visits, len(view.model)))
    >>> X, y = make_moons(256, noise=0.2, random_state=0)
    >>> model = BudgetSVC(gamma=2, budget=20, epochs=1, polish=False, monitor=Sizes())
    >>> model.fit(X, y).monitor_.sizes
    [(128, 20), (256, 20)]
    """

    #: Training looks at several points at once. True: observe when such a batch is done, at or after the
    #: visit that was asked for, which leaves the result of the fit bit for bit as it is (up to rounding
    #: where maintenance projects). False: exactly there, which may change its rounding.
    aligned = True

    def begin(self, data: TrainingData) -> None:  # noqa: B027 - nothing to do is a good default
        """Prepare for a new fit; forget an earlier one."""

    @abstractmethod
    def next_visit(self, visits: int) -> int:
        """Return after how many visits to observe next, given that so many are done."""

    @abstractmethod
    def observe(self, view: View) -> None:
        """Look at a fit: at the visits chosen, at the end of phase 1, and whenever the polish gets on."""

    def end(self) -> None:  # noqa: B027 - nothing to do is a good default
        """Let go of what only the fit needs; called when it ends, if by an exception, too."""
