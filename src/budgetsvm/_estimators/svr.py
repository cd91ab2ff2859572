"""BudgetSVR: regression."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from budgetsvm._common.atomic import all_or_nothing
from budgetsvm._common.checks import check_number
from budgetsvm._common.threads import count_threads
from budgetsvm._estimators.parameters import Epochs, PrecisionName
from budgetsvm._estimators.streaming.machine import StreamingMachine
from budgetsvm._estimators.user_input import weighted_rows
from budgetsvm._learn.settings import Settings
from budgetsvm._problem.target_scale import TargetScale
from budgetsvm._problem.targets import ManyTargets, Outputs
from budgetsvm.kernels import Gamma
from budgetsvm.losses import make_insensitive
from budgetsvm.monitoring._interface import Monitor
from budgetsvm.monitoring._sklearn_callbacks import watched

_BEYOND_REACH = 1e6  # times the sum of C, in standard deviations


class BudgetSVR(MultiOutputMixin, RegressorMixin, StreamingMachine):
    """Kernel support vector regression with at most `budget` support vectors.

    Solves the problem of scikit-learn's ``SVR`` (ε-insensitive loss) in a time that grows linearly with
    the number of rows: the terms are learned by the solvers of "Dual SVM Training on a Budget", with one
    dual variable in [-C, C] per row (Ho & Lin 2012); then the problem is solved in their span, up to a
    duality gap that is known (`duality_gap_`). Several targets share their terms.

    Targets are standardised inside: `C` and `epsilon` are relative to targets of mean 0 and standard
    deviation 1, so that their defaults suit targets of any scale, and the mean takes the place of a bias.
    Where a few targets are far from all others (less than a tenth on a side), mean and standard deviation
    are those of the others, about: see `target_scale_`.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the training errors, in units of `target_scale_`, against the norm of the model: as C of
        scikit-learn's ``SVR`` on targets ``(y - target_mean_) / target_scale_``.
    epsilon : float, default=0.1
        Errors up to this size, in units of `target_scale_`, cost nothing: in standard deviations of the
        target, but for outliers.
    kernel : {"rbf", "laplacian", "poly", "sigmoid", "linear"}, Kernel or callable, default="rbf"
        The kernel: a name, an object of :mod:`budgetsvm.kernels`, or a function ``k(X, Z)`` (slow).
        All but "rbf" need ``maintenance="project"`` or ``"remove"``.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernels "rbf", "laplacian", "poly" and "sigmoid".
    degree : int, default=3
        Degree of the kernel "poly".
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    budget : int or None, default=500
        The largest number of terms that the model may have. None is no limit.
    solver : {"bsca", "bsgd"} or Solver, default="bsca"
        How the terms are learned: dual coordinate ascent or primal gradient descent.
    maintenance : {"merge", "multimerge", "project", "remove"} or Maintenance, default="merge"
        What to do when the budget is exceeded. See :mod:`budgetsvm.maintenance`.
    epochs : "auto" or float, default="auto"
        How many times phase 1 goes through the training data. "auto" is two before a polish, up to a
        million visits, and five without one.
    polish : bool, default=True
        Whether to solve the problem in the span of the terms after they are learned.
    basis : {"learned", "random", "kmeans"} or array of shape (n_terms, n_features), default="learned"
        Where the terms come from: phase 1, random rows, cluster centres, or these points.
    fit_intercept : bool, default=True
        Whether the model has a bias: a constant feature, whose coefficient counts for the norm.
    tol : float, default=1e-2
        The relative duality gap (P - D) / P at which the polish is done.
    max_passes : int, default=500
        The polish gives up after so many passes over the data, with a ``ConvergenceWarning``.
    time_limit : float or None, default=None
        Seconds after which ``fit`` ends with the best model it has; phase 1 takes half of them at most.
    memory_limit : float or None, default=None
        Bytes that kernel values may take. None is 8 GiB, or half of the memory that is free if that is less.
    early_stopping : bool, default=False
        Whether to hold rows out, and to end phase 1 when the loss on them does not get smaller.
    validation_fraction : float, default=0.1
        The share of rows that is held out.
    n_iter_no_change : int, default=5
        Epochs without an improvement after which phase 1 ends.
    reservoir : int, default=50000
        Rows that ``partial_fit`` keeps, a sample of all it has seen, for ``polish_now``.
    warm_start : bool, default=False
        Whether ``fit`` starts from the terms of the fit before, if rows, kernel and budget are the same.
    precision : {"auto", "single", "double"}, default="auto"
        Arithmetic for kernel values.
    random_state : int, RandomState, Generator or None, default=None
        Determines the order in which training points are visited.
    n_jobs : int or None, default=None
        Threads. None is all cores.
    monitor : Monitor or None, default=None
        Watches the fit, e.g. a :class:`budgetsvm.monitoring.Trace`; see `monitor_`.
    verbose : int, default=0
        1 shows a progress bar with the time left.

    Attributes
    ----------
    support_vectors_ : ndarray of shape (n_terms, n_features)
        The points z_j of the model.
    dual_coef_ : ndarray of shape (n_targets, n_terms)
        Their coefficients, for standardised targets.
    intercept_ : ndarray of shape (n_targets,)
        The bias, for standardised targets; zero unless `fit_intercept`.
    target_mean_, target_scale_ : ndarray of shape (n_targets,)
        Mean and standard deviation of the targets, each of which is taken as 10 robust standard deviations
        from the median if it is farther away: a prediction is ``mean + scale * value``. A robust standard
        deviation is the larger one of what the quartiles and what the deciles would have it be for a normal
        distribution. The scale of a constant target is 1.
    duality_gap_, objective_, converged_
        After a polish: its certificate, as of :class:`BudgetSVC`. Targets beyond a million times Σ C count as
        that; what targets beyond 20 standard deviations cost in any case is no excuse for a gap.
    n_iter_ : int
        Epochs done by the last call of ``fit`` or ``partial_fit``, counting one begun.
    history_ : list of dict
        What happened in every epoch.
    kernel_ : Kernel
        The kernel with its numbers resolved.
    monitor_ : Monitor
        With `monitor`: a copy of it that has watched this fit.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of str
        Their names, where X had any.

    Examples
    --------
    >>> import numpy as np
    >>> from budgetsvm import BudgetSVR
    >>> X = np.linspace(0, 6, 2000)[:, np.newaxis]
    >>> y = 100 + 50 * np.sin(X[:, 0])
    >>> model = BudgetSVR(C=10, gamma=1, epsilon=0.02, budget=20, random_state=0).fit(X, y)
    >>> len(model.support_vectors_) <= 20, bool(model.score(X, y) > 0.99)
    (True, True)
    """

    C: float
    epsilon: float

    def __init__(
        self,
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        kernel: Any = "rbf",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        budget: int | None = 500,
        solver: Any = "bsca",
        maintenance: Any = "merge",
        epochs: Epochs = "auto",
        polish: bool = True,
        basis: Any = "learned",
        fit_intercept: bool = True,
        tol: float = 1e-2,
        max_passes: int = 500,
        time_limit: float | None = None,
        memory_limit: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        reservoir: int = 50_000,
        warm_start: bool = False,
        precision: PrecisionName = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        monitor: Monitor | None = None,
        verbose: int = 0,
    ) -> None:
        self._set_parameters(locals())

    @watched
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Train on all rows, from scratch.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            What is to be predicted.
        sample_weight : array-like of shape (n_samples,), default=None
            C of a row is multiplied by its weight. Weight 0 is as good as leaving the row out.

        Returns
        -------
        self : BudgetSVR
        """
        self._fit(X, y, sample_weight)
        return self

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Go through new rows once, continuing with the terms of earlier calls.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows. The first call also fixes gamma="scale", the centre, the precision, and the scale
            of the targets, unless all of them are equal: then the first block in which they differ does.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            C of a row is multiplied by its weight.

        Returns
        -------
        self : BudgetSVR
        """
        settings = self._settings()
        first = not hasattr(self, "_expansion")
        X, y = self._validate(X, y, reset=first, multi_output=True, y_numeric=True)
        X, y, weights = weighted_rows(X, y, sample_weight, None)
        targets = _as_columns(y)
        if first:
            self._flat = y.ndim == 1
        elif targets.shape[1] != len(self.target_mean_):
            known = len(self.target_mean_)
            message = f"y has {targets.shape[1]} targets, but the first call had {known}"
            raise ValueError(message)
        scale = TargetScale.of if first else self._target_scale.after
        self._take_scale(scale(targets, weights))
        self._learn_block(X, targets, weights, settings)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the prediction for every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        check_is_fitted(self)
        values = self._expansion.decision(
            self._validate(X, reset=False), count_threads(self.n_jobs)
        )
        values *= self.target_scale_
        values += self.target_mean_
        return values[:, 0] if self._flat else values

    def _encode(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        settings: Settings,  # noqa: ARG002
    ) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
        X, y = self._validate(X, y, reset=True, multi_output=True, y_numeric=True)
        X, y, weights = weighted_rows(X, y, sample_weight, None)
        self._flat, targets = y.ndim == 1, _as_columns(y)
        self._take_scale(TargetScale.of(targets, weights))
        return X, targets, weights

    def _take_scale(self, scale: TargetScale) -> None:
        self._target_scale = scale
        self.target_mean_, self.target_scale_ = scale.mean, scale.scale

    def _settings(self) -> Settings:
        check_number("C", self.C, above=0)
        make_insensitive(self.epsilon)
        return super()._settings()

    def _outputs(self, encoded: NDArray[Any], weights: NDArray[np.float64]) -> Outputs:
        box = self.C * weights
        with np.errstate(over="ignore"):
            standardised = (encoded - self.target_mean_) / self.target_scale_
            # Values of a model are at most Σ C_i k(x, x_i). An outlier far beyond that has the same dual
            # variable however far it is, but the larger its loss, the fewer digits are left for others.
            farthest = _BEYOND_REACH * max(1.0, float(box.sum()))
        np.clip(standardised, -farthest, farthest, out=standardised)
        loss = make_insensitive(self.epsilon)
        return ManyTargets(box, loss, np.ascontiguousarray(standardised))


def _as_columns(y: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        targets = y.astype(np.float64).reshape(len(y), -1)
    if not np.isfinite(targets).all():
        raise ValueError("y has values that are too large for float64; scale the targets first")
    return targets
