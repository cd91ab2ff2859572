"""BudgetOneClassSVM: novelty detection."""

from copy import copy
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin

from budgetsvm._common.checks import check_number
from budgetsvm._common.public import public_in
from budgetsvm._common.saying import say
from budgetsvm._estimators.checkpoints.fit_run import fit_run
from budgetsvm._estimators.documentation import documented
from budgetsvm._estimators.fitting.training import Training
from budgetsvm._estimators.machine import all_or_nothing, watched
from budgetsvm._estimators.one_class.density import DensityTarget, typical_level, weighted_quantile
from budgetsvm._estimators.one_class.scores import TrainedDetector
from budgetsvm._estimators.user_input import Budget, Epochs, PrecisionName, generator, weighted_rows
from budgetsvm._learn.settings import Settings
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.polish import Outcome, Solve
from budgetsvm._polish.share import is_met, share_of, solve_for_share
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.targets import Targets
from budgetsvm.kernels._interface import Gamma
from budgetsvm.monitoring._interface import Monitor


@public_in("budgetsvm")
@documented()
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

    Attributes
    ----------
    dual_coef_ : ndarray of shape (1, n_terms)
        Their coefficients, scaled like those of ``OneClassSVM``.
    offset_ : float
        ``decision_function = score_samples - offset_``. After ``partial_fit`` it is the quantile of the
        rows in the reservoir, which are those since the last ``fit``, or of the last block if there is none.
    intercept_ : ndarray of shape (1,)
        The same as ``-offset_``.
    converged_ : bool
        After a polish: whether its certificate holds, as of :class:`BudgetSVC`, and the dual variables make up
        the share `nu` of their bounds.

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

    _may_have_all = False  # another problem is solved for every C on the way

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        budget: Budget = "auto",
        solver: Any = "bsca",
        maintenance: Any = "auto",
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
    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
    ) -> Self:
        """Train on all rows, from scratch.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            A row counts as often as its weight says.
        checkpoint : path-like, default=None
            A file to leave the state in while training. If it is there when the call begins, the run that has left it
            goes on, and ends in the same model, bit for bit: parameters and data must be the same. It is removed when
            the fit is done. See the section *Runs that may be killed* of the guide.
        checkpoint_every : float, default=60.0
            Seconds between two checkpoints, at least; more where writing them would take more than half a percent
            of the time. 0: whenever it is possible.

        Returns
        -------
        self : BudgetOneClassSVM
        """
        with fit_run(self, checkpoint, checkpoint_every) as run:
            self._fit(X, y, sample_weight, run)
        return self

    @all_or_nothing
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
        settings = self._stream_settings()
        first = not hasattr(self, "_expansion")
        X = self._validate(X, reset=first)
        X, _, weights = weighted_rows(X, np.ones(X.shape[0]), sample_weight, None)
        if first:
            self._find_level(X, weights, settings)
        self._learn_block(X, weights, weights, settings)
        self._set_scale()
        if self._reservoir is None:
            self._offset = weighted_quantile(self._scores(X), weights, self.nu)
        return self

    @all_or_nothing
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

    def _targets(self, encoded: NDArray[Any], weights: NDArray[np.float64]) -> Targets:  # noqa: ARG002
        # With α in [0, 1], as scikit-learn has it, rows at the margin have a score of ρ. Divided by ρ
        # they have a margin of 1, and α is in [0, 1/ρ].
        total = max(float(weights.sum()), self._weight_seen)
        return DensityTarget.of_labels(np.ones(len(weights)), weights / (self._level * total))

    def _encode(
        self,
        X: Any,
        y: Any,  # noqa: ARG002
        sample_weight: Any,
        settings: Settings,
    ) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
        X = self._validate(X, reset=True)
        X, _, weights = weighted_rows(X, np.ones(X.shape[0]), sample_weight, None)
        self._find_level(X, weights, settings)
        return X, weights, weights

    def _find_level(self, X: Any, weights: NDArray[np.float64], settings: Settings) -> None:
        self._weight_seen = 0.0
        kernel = self._resolved(settings.kernel, X)
        with np.errstate(over="ignore", invalid="ignore"):  # _start complains about these
            self._level = typical_level(X, weights, kernel, self.nu, generator(self.random_state))

    def _learn_block(
        self, X: Any, encoded: NDArray[Any], weights: NDArray[np.float64], settings: Settings
    ) -> None:
        self._weight_seen += float(weights.sum())
        super()._learn_block(X, encoded, weights, settings)

    def _finish(self, X: Any, weights: NDArray[np.float64]) -> None:
        self._weight_seen = float(weights.sum())
        self._set_scale()
        self._offset = weighted_quantile(self._scores(X), weights, self.nu)

    @property
    def _solve(self) -> Solve:
        return partial(solve_for_share, nu=self.nu)

    def _polish(self, problem: Problem, training: Training) -> Outcome:
        outcome = super()._polish(problem, training)
        factor = float(problem.targets.box[0] / outcome.problem.targets.box[0])
        self._level *= factor
        share = share_of(outcome.polished, outcome.problem)
        if outcome.polished.converged and not is_met(share, self.nu, factor):
            self.converged_ = False
            say(
                f"no C was found at which the dual variables make up the share nu={self.nu:g} of their bounds, "
                f"but {share:.3g}: the scores are not those of a one-class SVM with this nu, and the offset is "
                "the quantile that nu asks for all the same. A larger budget or another gamma may help."
            )
        return outcome

    def _derived(self, model: KernelExpansion, X: Any, sample_weight: Any) -> dict[str, Any]:
        other = copy(self)
        other._expansion = model
        X = self._validate(X, reset=False)
        X, _, weights = weighted_rows(X, np.ones(X.shape[0]), sample_weight, None)
        other._weight_seen = float(weights.sum())
        other._set_scale()
        offset = weighted_quantile(other._scores(X), weights, self.nu)
        return {"_scale": other._scale, "_offset": offset}
