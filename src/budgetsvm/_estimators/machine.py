"""A machine with a model: its fitted attributes, how data are checked, and what training begins with."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from budgetsvm._common.records import Part
from budgetsvm._estimators.familiar.numbered_rows import RowsByNumber
from budgetsvm._estimators.familiar.scaling import warn_of_spread
from budgetsvm._estimators.fitting.training import Training
from budgetsvm._estimators.fitting.warm_start import Origin, TermOptions
from budgetsvm._estimators.user_input import AUTO, check_budget
from budgetsvm._exact.budget import LEARNED, default_budget
from budgetsvm._learn.settings import Settings
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.points import sparse_pays, sparse_rows
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import (
    Precision,
    Rows,
    as_rows,
    centre_of,
    check_weights,
    choose_precision,
    variance,
)
from budgetsvm._problem.targets import Targets
from budgetsvm.kernels import Kernel
from budgetsvm.monitoring._observer import EpochRecord
from budgetsvm.monitoring._sklearn_callbacks import runner

_SMALL = 10_000  # values of an array
_DTYPES = (np.float64, np.float32)

_Method = TypeVar("_Method", bound=Callable[..., Any])


class FittedMachine(RowsByNumber, ABC):
    """A machine with a model. Subclasses say what their targets ask of it."""

    _PARTS: ClassVar[Mapping[str, type[Part]]] = {"_expansion": KernelExpansion, "_origin": Origin}

    _dual: NDArray[np.float64] | None  # α as a share of its box, for a warm start
    _origin: Origin | None  # what the terms were learned from, for a warm start
    _kernel_wanted: Kernel  # gamma="scale" and all
    _visits: int
    _may_have_all: ClassVar[bool] = True  # whether all rows are worth being terms, if there are few
    budget_: int | None

    # ---- data ----

    @abstractmethod
    def _targets(self, encoded: NDArray[Any], weights: NDArray[np.float64]) -> Targets:
        """Return what rows with these targets, encoded by the subclass, and weights ask for."""

    def _validate(self, X: Any, *y: Any, reset: bool, **checks: Any) -> Any:
        """Check the data as scikit-learn does; dtypes and memory order stay what they are."""
        if not (reset or y) and self._is_sound(X):
            return X
        if self._are_numbered(X, reset=reset):
            return self._validate_numbered(X, *y, reset=reset, **checks)
        checks |= {"accept_sparse": "csr", "dtype": list(_DTYPES)}
        checked = validate_data(self, X, *y, reset=reset, **checks)
        return (as_rows(checked[0]), checked[1]) if y else as_rows(checked)

    def _is_sound(self, X: Any) -> bool:
        """Whether a small array is what scikit-learn's checks, which take longer than a prediction, would return."""
        return (
            type(X) is np.ndarray
            and X.size <= _SMALL
            and X.dtype in _DTYPES
            and X.ndim == 2
            and len(X) > 0
            and X.shape[1] == self.__dict__.get("n_features_in_")
            and "feature_names_in_" not in self.__dict__
            and bool(np.isfinite(X).all())
        )

    def _check_fitted(self) -> None:
        if "_expansion" not in self.__dict__:
            check_is_fitted(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._takes_values
        tags.input_tags.pairwise = self._takes_values
        return tags

    def _ended(self, attributes: dict[str, Any], X: Any, sample_weight: Any) -> dict[str, Any]:
        """Return what these attributes, a new model among them, become if the fit ends with them."""
        model = attributes.get("_expansion", self._expansion)
        return attributes | self._derived(model, X, sample_weight)

    def _derived(self, model: KernelExpansion, X: Any, sample_weight: Any) -> dict[str, Any]:  # noqa: ARG002
        """Return what else a machine needs to predict with a model that was trained on X."""
        return {}

    # ---- what training begins with ----

    def _begin(
        self, X: Any, encoded: NDArray[Any], targets: Targets, settings: Settings
    ) -> Origin | None:
        """Begin with the terms of the fit before if they were learned from the same, or else with none.

        Returns what is to be remembered as the origin of the terms.
        """
        kernel = self._resolved(settings.kernel, X)
        before, self.budget_ = self.__dict__.get("budget_"), self._budget_for(X, targets, kernel)
        settings = replace(settings, budget=self.budget_)
        origin = self._origin_of(X, encoded, settings, kernel) if self.warm_start else None
        if origin is not None and origin == getattr(self, "_origin", None):
            self.budget_ = before  # which may be less, as these terms could not be more
            self._go_on_by_number(kernel)
            self._look_at(X, targets)
        else:
            warn_of_spread(X, getattr(self, "feature_names_in_", None), settings.kernel)
            self._start(X, targets, kernel)
        self._kernel_wanted = settings.kernel
        self._rows_seen += len(targets)
        return origin

    def _go_on(self, X: Any, targets: Targets, settings: Settings) -> None:
        """Prepare for one more block of rows of a stream; its budget does not depend on the data."""
        begins = not hasattr(self, "_expansion")
        least = 0 if begins or self.budget != AUTO else self.__dict__.get("budget_", 0)
        self.budget_ = settings.budget and max(settings.budget, least)
        if not begins:
            self._check_kernel(settings.kernel)
            self._look_at(X, targets)
            return
        warn_of_spread(X, getattr(self, "feature_names_in_", None), settings.kernel)
        self._start(X, targets, self._resolved(settings.kernel, X))
        self._kernel_wanted = settings.kernel

    def _budget_for(self, X: Any, targets: Targets, kernel: Kernel) -> int | None:
        """Return the budget of a fit to these rows."""
        if self.budget != AUTO:
            return check_budget(self.budget)
        if not isinstance(self.basis, str):
            return max(1, int(np.shape(self.basis)[0]))
        full = self._polishes and self._learns_terms and self._has_bias and not self.early_stopping
        return default_budget(X, targets, kernel) if full and self._may_have_all else LEARNED

    def _affordable(self, training: Training, n: int) -> Training:
        """Return what is to be learned with where the exact machine, for which the budget was to be n, is out of reach."""
        if self.budget != AUTO or not self._learns_terms or self._most_terms < n:
            return training
        self.budget_ = min(n, LEARNED)
        return replace(training, settings=replace(training.settings, budget=self.budget_))

    def _check_kernel(self, wanted: Kernel) -> None:
        """Complain if the kernel was changed while training goes on."""
        if wanted not in (self._kernel_wanted, self._expansion.kernel):
            message = (
                f"the kernel was {self._kernel_wanted!r} when training began and is {wanted!r} now, for which "
                "the terms of the model are of no use: set it back, or train anew by fit or fit_stream"
            )
            raise ValueError(message)

    def _origin_of(
        self, X: Any, encoded: NDArray[Any], settings: Settings, kernel: Kernel
    ) -> Origin:
        """Return what decides on the terms of a model. Not C and the loss: these may change."""
        options = TermOptions(
            kernel,
            settings.budget,
            settings.solver,
            settings.maintenance,
            self.epochs,
            self.early_stopping,
            self.validation_fraction,
            self.n_iter_no_change,
        )
        return Origin.of(self._given_rows(X), encoded, self.basis, options)

    def _given_rows(self, X: Any) -> Any:
        """Return the rows or, where these are numbers of others, kernel values with all."""
        return self._gram[X[:, 0].astype(np.intp)] if hasattr(self, "_gram") else X

    def _resolved(self, kernel: Kernel, X: Any) -> Kernel:
        """Put numbers in the place of gamma="scale", and values in that of a precomputed kernel."""
        return self._bound(kernel) if hasattr(self, "_gram") else resolve(kernel, X)

    def _start(self, X: Any, targets: Targets, kernel: Kernel) -> None:
        """Begin without terms; the first data say where the centre is, and how precise to be."""
        with np.errstate(over="ignore", invalid="ignore"):
            dense = isinstance(X, np.ndarray)
            centre = centre_of(X) if dense and kernel.translation_invariant else None
        dtype = self._precision_for(X, targets, kernel, centre)
        self.history_: list[EpochRecord] = []
        self._dual = self._origin = None
        self._reservoir: Any = None
        self._visits = self._rows_seen = 0
        self.kernel_ = kernel
        few = sparse_pays(X, kernel)
        self._expansion = KernelExpansion.empty(
            kernel, X.shape[1], targets.count, dtype, centre, sparse_points=few
        )

    def _precision_for(
        self, X: Any, targets: Targets, kernel: Kernel, centre: NDArray[np.float64] | None
    ) -> Precision:
        most = float(targets.box.max())
        return choose_precision(
            X, kernel, centre, self.precision, tol=self.tol, largest_weight=most
        )

    def _look_at(self, X: Any, targets: Targets) -> None:
        """Go over to double precision where new rows need it, or as the user says; and to dense points."""
        model = self._expansion
        if model.sparse_points and not sparse_pays(sparse_rows(X), model.kernel):
            model = self._expansion = model.with_dense_points()
        dtype = self._precision_for(X, targets, model.kernel, model.centre)
        if self.precision != "auto" or dtype == np.float64:
            self._expansion = model.in_precision(dtype)

    def _problem(self, X: Any, targets: Targets) -> Problem:
        check_weights(targets.box)
        model = self._expansion
        X = sparse_rows(X) if model.sparse_points else X
        rows = Rows(X, model.points.dtype.type, model.centre, model.sparse_points)
        return Problem(rows, targets, self._rows_seen)


def resolve(kernel: Kernel, X: Any) -> Kernel:
    """Put numbers in the place of gamma="scale"; where they are there already, the data are not looked at."""
    if kernel.resolve(1, 1.0) == kernel:
        return kernel
    with np.errstate(over="ignore", invalid="ignore"):
        spread = variance(X)
    if not np.isfinite(spread):
        raise ValueError("X has values too large for their squares; scale the features first")
    if 0 < spread < np.finfo(float).tiny:  # gamma would be infinite
        raise ValueError("X has values too small for their squares; scale the features first")
    return kernel.resolve(X.shape[1], spread)


# ---- what surrounds a call that trains a machine ----


def has_callbacks(machine: Any) -> bool:
    """Whether callbacks of scikit-learn watch a machine, or a meta-estimator that it is part of."""
    return hasattr(machine, "_skl_callbacks") or hasattr(machine, "_parent_callback_ctx")


def watched(fit: _Method) -> _Method:
    """Let callbacks watch a method ``fit(X, y, sample_weight)``; where there are none, it is just called."""
    run, signature = runner(fit), inspect.signature(fit)
    if run is None:
        return fit

    @wraps(fit)
    def method(machine: Any, *args: Any, **named: Any) -> Any:
        if not has_callbacks(machine):
            return fit(machine, *args, **named)
        arguments = signature.bind(machine, *args, **named)
        arguments.apply_defaults()
        return run(machine, arguments)

    return method  # type: ignore[return-value]


def all_or_nothing(method: _Method) -> _Method:
    """Let a method that raises anything, Ctrl-C included, leave its object as it was before the call.

    Attributes are put back as they were. What they hold must be replaced, and not changed in place.
    """

    @wraps(method)
    def call(self: Any, *args: Any, **named: Any) -> Any:
        before = self.__dict__.copy()
        try:
            return method(self, *args, **named)
        except BaseException:
            self.__dict__ = before
            raise

    return call  # type: ignore[return-value]
