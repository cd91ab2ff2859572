"""BudgetOneClassSVM: novelty detection."""

from copy import copy
from dataclasses import replace
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin

from budgetsvm._callbacks import watched
from budgetsvm._data import generator, weighted_rows
from budgetsvm._density import DensityTargets, typical_level, weighted_quantile
from budgetsvm._detector import TrainedDetector
from budgetsvm._expansion import KernelExpansion
from budgetsvm._monitor import Monitor
from budgetsvm._parameters import Epochs, PrecisionName
from budgetsvm._polish import Polished, Start
from budgetsvm._rows import variance
from budgetsvm._targets import Outputs
from budgetsvm._training import Problem, Settings
from budgetsvm._validation import check_number
from budgetsvm.kernels import Gamma

_MOST_TRIALS, _PRECISION = 8, 0.02


class BudgetOneClassSVM(OutlierMixin, TrainedDetector):
    """One-class support vector machine with at most `budget` support vectors.

    Finds where data are dense, as scikit-learn's ``OneClassSVM`` does: the fraction `nu` of the training
    rows with the lowest scores are outliers. Its dual has a constraint that couples all variables; here the
    problem is solved without it, for the C at which it holds by itself, so that both phases of
    :class:`BudgetSVC` apply. The offset is the quantile of the scores that `nu` asks for.

    Parameters
    ----------
    nu : float, default=0.5
        The share of the training rows to call outliers, in (0, 1).
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
    tol : float, default=1e-3
        The relative duality gap (P - D) / P at which the polish is done.
    max_passes : int, default=500
        The polish gives up after so many passes over the data, with a ``ConvergenceWarning``.
    time_limit : float or None, default=None
        The polish gives up when ``fit`` has taken so many seconds.
    memory_limit : float or None, default=None
        Bytes that kernel values may take. None is half of the memory that is free.
    early_stopping : bool, default=False
        Whether to hold rows out, and to end phase 1 when the loss on them does not get smaller.
    validation_fraction : float, default=0.1
        The share of rows that is held out.
    n_iter_no_change : int, default=5
        Epochs without an improvement after which phase 1 ends.
    reservoir : int, default=50000
        Rows that ``partial_fit`` keeps, a sample of all it has seen, for ``polish_now``.
    warm_start : bool, default=False
        Whether ``fit`` starts from the terms of the fit before.
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
    dual_coef_ : ndarray of shape (1, n_terms)
        Their coefficients, scaled like those of ``OneClassSVM``.
    offset_ : float
        ``decision_function = score_samples - offset_``. After ``partial_fit`` it is taken from the
        reservoir, or from the last block if there is none.
    intercept_ : ndarray of shape (1,)
        The same as ``-offset_``.
    duality_gap_, objective_, converged_
        After a polish: its certificate, as of :class:`BudgetSVC`.
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
    >>> from budgetsvm import BudgetOneClassSVM
    >>> X = np.random.default_rng(0).standard_normal((2000, 2))
    >>> model = BudgetOneClassSVM(nu=0.1, gamma=0.2, budget=30, random_state=0).fit(X)
    >>> print(model.predict([[0.0, 0.0], [5.0, 5.0]]))
    [ 1 -1]
    """

    nu: float

    def __init__(
        self,
        *,
        nu: float = 0.5,
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
        tol: float = 1e-3,
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
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Train on all rows, from scratch.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            A row counts as often as its weight says.

        Returns
        -------
        self : BudgetOneClassSVM
        """
        started = perf_counter()
        self._settings()  # complain about parameters before reading the data
        X, _, weights = self._encode(X, None, sample_weight)
        self._fit_outputs(X, self._outputs(weights, weights), started)
        self._weight_seen = float(weights.sum())
        self._set_scale()
        self._offset = weighted_quantile(self._scores(X), weights, self.nu)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Go through new rows once, continuing with the terms of earlier calls.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows. The first call also fixes gamma="scale", the centre and the precision.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            A row counts as often as its weight says.

        Returns
        -------
        self : BudgetOneClassSVM
        """
        self._settings()
        first = not hasattr(self, "_expansion")
        X = self._validate(X, reset=first)
        X, _, weights = weighted_rows(X, np.ones(X.shape[0]), sample_weight, None)
        if first:
            self._find_level(X, weights)
        offset = None if first else self._offset
        self._learn_block(X, weights, weights)
        self._set_scale()
        if self._reservoir is None:
            self._offset = weighted_quantile(self._scores(X), weights, self.nu)
        elif self._reservoir.seen < self._rows_seen:  # it lacks the rows of an earlier fit
            self._offset = offset
        return self

    def polish_now(self) -> Self:
        """Solve the machine in the span of its terms, on a sample of all rows that it has seen.

        Returns
        -------
        self : BudgetOneClassSVM
        """
        super().polish_now()
        self._set_scale()
        return self

    def _settings(self) -> Settings:
        if not 0 < check_number("nu", self.nu) < 1:
            message = f"nu must be between 0 and 1, not {self.nu!r}"
            raise ValueError(message)
        return super()._settings()

    def _outputs(self, encoded: NDArray[Any], weights: NDArray[np.float64]) -> Outputs:  # noqa: ARG002
        # With α in [0, 1], as scikit-learn has it, rows at the margin have a score of ρ. Divided by ρ
        # they have a margin of 1, and α is in [0, 1/ρ].
        total = max(float(weights.sum()), self._weight_seen)
        return DensityTargets.of_labels(np.ones(len(weights)), weights / (self._level * total))

    def _encode(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, NDArray[Any], NDArray[Any]]:  # noqa: ARG002
        X = self._validate(X, reset=True)
        X, _, weights = weighted_rows(X, np.ones(X.shape[0]), sample_weight, None)
        self._find_level(X, weights)
        return X, weights, weights

    def _find_level(self, X: Any, weights: NDArray[np.float64]) -> None:
        self._weight_seen = 0.0
        with np.errstate(
            over="ignore", invalid="ignore"
        ):  # _start complains about too large values
            kernel = self._settings().kernel.resolve(X.shape[1], variance(X))
            self._level = typical_level(X, weights, kernel, self.nu, generator(self.random_state))

    def _learn_block(self, X: Any, encoded: NDArray[Any], weights: NDArray[np.float64]) -> None:
        self._weight_seen += float(weights.sum())
        super()._learn_block(X, encoded, weights)

    def _solve_in_span(
        self, problem: Problem, rng: np.random.Generator, started: float, start: Start | None
    ) -> Polished:
        """Phase 2, for the C at which the dual variables make up the share nu of their bounds.

        That share falls as C grows. Each solution tells how far off it is, and the next one starts from
        it; a few are enough.
        """
        for _ in range(_MOST_TRIALS):
            polished = super()._solve_in_span(problem, rng, started, start)
            assert polished.alpha is not None  # there is one output
            share = float(polished.alpha.sum() / problem.outputs.box.sum())
            if abs(share - self.nu) <= _PRECISION * self.nu or share == 0 or not polished.converged:
                break
            # For small C all α are at their bounds; where ν has an effect, α falls about as 1 / C.
            factor = float(np.clip(share / self.nu, 0.2, 5.0))
            problem = replace(problem, outputs=problem.outputs.scaled(factor))
            start = Start(self._expansion.coef, self._expansion.bias, polished.alpha * factor)
            self._level /= factor
        return polished

    def _derived(self, model: KernelExpansion, X: Any, sample_weight: Any) -> dict[str, Any]:
        other = copy(self)
        other._expansion = model
        X = self._validate(X, reset=False)
        X, _, weights = weighted_rows(X, np.ones(X.shape[0]), sample_weight, None)
        other._weight_seen = float(weights.sum())
        other._set_scale()
        offset = weighted_quantile(other._scores(X), weights, self.nu)
        return {"_scale": other._scale, "_offset": offset}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
