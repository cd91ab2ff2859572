"""BudgetFeatures: the learned terms as features for any other estimator."""

from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from budgetsvm._common.checks import check_choice
from budgetsvm._common.public import public_in
from budgetsvm._common.records import Part, PlainPickles
from budgetsvm._common.threads import count_threads, for_each, single_threaded_blas
from budgetsvm._estimators.documentation import documented
from budgetsvm._estimators.familiar.attributes import without_effect
from budgetsvm._estimators.machine import all_or_nothing
from budgetsvm._estimators.one_class.estimator import BudgetOneClassSVM
from budgetsvm._estimators.saving import Saves
from budgetsvm._estimators.streaming.machine import StreamingMachine
from budgetsvm._estimators.svc import BudgetSVC
from budgetsvm._estimators.svr import BudgetSVR
from budgetsvm._estimators.user_input import Epochs, PrecisionName
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.basis import Basis, orthonormal_features
from budgetsvm._problem.points import Points
from budgetsvm._problem.rows import as_rows
from budgetsvm.kernels import Precomputed
from budgetsvm.kernels._interface import Gamma
from budgetsvm.monitoring._interface import Monitor

_ROWS_AT_ONCE = 1 << 12
# Common attributes that are of no use to a transformer.
_NOT_KEPT = (
    "support_vectors_",
    "duality_gap_",
    "objective_",
    "converged_",
    "certifies_",
    "C_",
    "validation_scores_",
    "support_",
    "n_support_",
    "coef_",
    "fit_status_",
    "shape_fit_",
    "n_iter_",
    "history_",
)
_OWN = {"task", "C"}  # parameters that not every machine gets


@public_in("budgetsvm")
@documented(without=_NOT_KEPT)
class BudgetFeatures(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, Saves, PlainPickles, BaseEstimator
):
    """Kernel features on points that are learned for a task: at most `budget` of them.

    A drop-in for scikit-learn's ``Nystroem``, which takes random rows instead. A linear model on these
    features is a kernel machine in the span of the points: G Gᵀ approximates the kernel matrix.

    Parameters
    ----------
    budget : int, default=500
        The largest number of features.
    task : {"auto", "classification", "regression", "density"}, default="auto"
        What the points are learned for. "auto" looks at y: labels, numbers, or none.
    C : float, default=1.0
        As of the estimator that learns the points, :class:`BudgetSVC` or :class:`BudgetSVR`.
    epochs : "auto" or float, default="auto"
        How many times to go through the training data; "auto" is two, up to a million visits;
        more for more than a thousand points, as long as the loss falls.
    precision : {"auto", "single", "double"}, default="auto"
        Arithmetic for kernel values, and the type of the features.

    Attributes
    ----------
    components_ : ndarray or sparse array of shape (n_components, n_features)
        The points: a linearly independent subset of those learned.
    normalization_ : ndarray of shape (n_components, n_components)
        Kernel values with the points, times this matrix, are the features.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from budgetsvm import BudgetFeatures
    >>> X, y = make_moons(1000, noise=0.1, random_state=0)
    >>> model = make_pipeline(
    ...     BudgetFeatures(30, gamma=2, random_state=0), LogisticRegression(C=100)
    ... )
    >>> bool(model.fit(X, y).score(X, y) > 0.99)
    True
    """

    _PARTS: ClassVar[Mapping[str, type[Part]]] = {"_expansion": KernelExpansion}

    def __init__(
        self,
        budget: int = 500,
        *,
        task: Literal["auto", "classification", "regression", "density"] = "auto",
        C: float = 1.0,
        kernel: Any = "rbf",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        solver: Any = "bsca",
        maintenance: Any = "auto",
        epochs: Epochs = "auto",
        basis: Any = "learned",
        precision: PrecisionName = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        monitor: Monitor | None = None,
        verbose: int = 0,
    ) -> None:
        self.budget = budget
        self.task = task
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.maintenance = maintenance
        self.epochs = epochs
        self.basis = basis
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.monitor = monitor
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Labels or targets. None: the points follow the density of the rows.
        sample_weight : array-like of shape (n_samples,), default=None
            How much a row counts. Weight 0 is as good as leaving the row out.

        Returns
        -------
        self : BudgetFeatures
        """
        machine = self._machine(y)
        # The machine checks the data, and names itself in what it has to say about them.
        machine._fit(X, y, sample_weight, terms_only=True)
        self._adopt(machine)
        self.__dict__.pop("_learner", None)
        return self

    @all_or_nothing
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, **parameters: Any
    ) -> Self:
        """Go through new rows once, continuing with the points of earlier calls.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Their labels or targets. The first call decides on the task.
        sample_weight : array-like of shape (n_samples,), default=None
            How much a row counts.
        **parameters
            For ``partial_fit`` of the estimator that learns the points, e.g. `classes`.

        Returns
        -------
        self : BudgetFeatures
        """
        learner = self._continued(y)
        learner.partial_fit(X, y, sample_weight=sample_weight, **parameters)
        self._adopt(learner)
        self._learner = learner
        return self

    def _continued(self, y: Any) -> StreamingMachine:
        """Return what goes on learning the points: a copy, so that a call that fails changes nothing."""
        if not hasattr(self, "_learner"):
            machine = self._machine(y)
            machine.set_params(reservoir=0)
            return machine
        kind = type(self._learner)
        if self.task != "auto" and type(self._machine(y)) is not kind:
            message = f"task={self.task!r} differs from that of the first call, which needed a {kind.__name__}"
            raise ValueError(message)
        own = {"C": self.C} if "C" in self._learner.get_params(deep=False) else {}
        learner: StreamingMachine = copy(self._learner)
        learner.set_params(**self._common(), **own)
        return learner

    def _adopt(self, machine: StreamingMachine) -> None:
        """Take over the terms of a machine."""
        model = machine._expansion
        if isinstance(model.kernel, Precomputed):
            message = (
                "BudgetFeatures needs rows of numbers: the features of a precomputed kernel, or of one of objects, "
                "are those of sklearn.kernel_approximation.Nystroem or KernelPCA"
            )
            raise ValueError(message)
        basis = Basis.of(model.points, model.kernel)  # may fail: first of all
        self.n_features_in_ = machine.n_features_in_
        for name in ("feature_names_in_", "monitor_"):
            self.__dict__.pop(name, None)
            if hasattr(machine, name):
                setattr(self, name, getattr(machine, name))
        self.kernel_ = model.kernel
        with single_threaded_blas():
            self.normalization_ = basis.inverse
        self._expansion = KernelExpansion(
            model.kernel, basis.points, np.zeros((1, len(basis))), np.zeros(1), model.centre
        )

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the features of every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        G : ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
        X, threads = as_rows(X), count_threads(self.n_jobs)
        out = np.empty((X.shape[0], len(self._expansion)), self._expansion.points.dtype)
        slices = [slice(i, i + _ROWS_AT_ONCE) for i in range(0, X.shape[0], _ROWS_AT_ONCE)]

        def fill(some: slice) -> None:  # in double, but not all at once
            values = self._expansion.kernel_values(X[some])
            out[some] = orthonormal_features(self.normalization_, values)

        with single_threaded_blas():  # whose own threads would change the last digits
            for_each(fill, slices, threads)
        return out

    @property
    def components_(self) -> Points:
        """The points, in the coordinates of the data; a sparse array where the model's are sparse."""
        if not hasattr(self, "_expansion"):
            raise AttributeError("this BudgetFeatures is not fitted yet")
        return without_effect(self._expansion.original_points())

    @property
    def _n_features_out(self) -> int:
        return len(self._expansion)

    def _machine(self, y: Any) -> StreamingMachine:
        """Return what learns the points."""
        check_choice("task", self.task, ("auto", "classification", "regression", "density"))
        task = self.task
        if task == "auto":
            kind = "none" if y is None else type_of_target(y)
            task = "regression" if kind.startswith("continuous") else "classification"
            if kind in {"none", "unknown"}:
                task = "density"
        if task == "density":
            return BudgetOneClassSVM(**self._common())
        if task == "classification":  # of which terms alone are wanted: simple outputs will do
            return BudgetSVC(self.C, multi_class="ovr", fit_intercept=False, **self._common())
        return BudgetSVR(self.C, **self._common())

    def _common(self) -> dict[str, Any]:
        """Return the parameters that any machine gets."""
        return {k: v for k, v in self.get_params(deep=False).items() if k not in _OWN}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags
