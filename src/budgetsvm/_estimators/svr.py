"""BudgetSVR: regression."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import column_or_1d

from budgetsvm._common.public import public_in
from budgetsvm._common.records import Part
from budgetsvm._common.threads import count_threads
from budgetsvm._estimators.checkpoints.fit_run import fit_run
from budgetsvm._estimators.documentation import documented
from budgetsvm._estimators.familiar.attributes import without_effect
from budgetsvm._estimators.machine import all_or_nothing, watched
from budgetsvm._estimators.streaming.machine import StreamingMachine
from budgetsvm._estimators.tuning.tune import tune
from budgetsvm._estimators.user_input import (
    Bias,
    Budget,
    Epochs,
    Penalty,
    PrecisionName,
    check_penalty,
    weighted_rows,
)
from budgetsvm._learn.settings import Settings
from budgetsvm._model.decisions import precise_decision
from budgetsvm._problem.r_squared import r_squared
from budgetsvm._problem.target_scale import TargetScale
from budgetsvm._problem.targets import ManyTargets, Targets
from budgetsvm.kernels import make_kernel
from budgetsvm.kernels._interface import Gamma
from budgetsvm.losses import make_insensitive
from budgetsvm.monitoring._interface import Monitor

_BEYOND_REACH = 1e6  # times the sum of C, in standard deviations
_ANYTHING = 1e60  # that the square of can be computed with


@public_in("budgetsvm")
@documented(tuned=True)
class BudgetSVR(MultiOutputMixin, RegressorMixin, StreamingMachine):
    """Kernel support vector regression with at most `budget` support vectors.

    Solves the problem of scikit-learn's ``SVR`` (ε-insensitive loss) in a time that grows linearly with
    the number of rows: the terms are learned by the solvers of "Dual SVM Training on a Budget", with one
    dual variable in [-C, C] per row (Ho & Lin 2012); then the problem is solved in their span, up to a
    duality gap that is known (`duality_gap_`). Several targets share their terms.

    Targets are standardised inside: `C` and `epsilon` are relative to targets of mean 0 and standard
    deviation 1, so that their defaults suit targets of any scale. ``SVR(C=c, epsilon=e)`` is
    ``BudgetSVR(C=c / s, epsilon=e / s)``, where s is `target_scale_`, the standard deviation. Where a few targets are
    far from all others (half a percent of the rows at most), mean and standard deviation are those of the others, about.
    The mean is what a model without terms predicts; unless `fit_intercept` is False, the polish finds a bias beside it,
    since the best constant for this loss is near the median, and that of the errors of a model is another one still.

    Parameters
    ----------
    C : float, "scale" or "tune", default="scale"
        Weight of the training errors, in units of `target_scale_`, against the norm of the model: as C of
        scikit-learn's ``SVR`` on targets ``(y - target_mean_) / target_scale_``. "scale" is ``C=1.0`` of that: 1
        divided by the share of the kernel that learned terms span, as a small span regularises by itself; see `C_`. "tune": ``fit`` finds it by cross-validation.
    epsilon : float, default=0.1
        Errors up to this size, in units of `target_scale_`, cost nothing: in standard deviations of the
        target, but for a few outliers.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_targets, n_terms)
        Their coefficients β, in units of the targets: a prediction is Σ_j β_j k(x, z_j) + intercept, as of ``SVR``.
    intercept_ : ndarray of shape (n_targets,)
        The bias and `target_mean_` together, in units of the targets.
    target_mean_, target_scale_ : ndarray of shape (n_targets,)
        Mean and standard deviation of the targets. Outliers count as if they were as far from the median as the
        farthest one of the others, or 10 robust standard deviations, if that is more: at most half a percent of the
        rows, or a single one of a few rows, that are ten times as far away as all others. A robust standard deviation
        is the larger one of what the quartiles and what the deciles would have it be for a normal
        distribution. The scale of a constant target is 1.
    objective_ : tuple of float
        After a polish: P of the model and D of the dual point that proves the gap, for standardised targets.
        Targets beyond a million times Σ C count as that, and with kernels that are not bounded those beyond
        1e66; what targets beyond 20 standard deviations cost in any case is no excuse for a gap.

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

    _may_be_tuned: ClassVar[bool] = True
    _PARTS: ClassVar[Mapping[str, type[Part]]] = {
        **StreamingMachine._PARTS,
        "_target_scale": TargetScale,
    }

    C: Penalty
    epsilon: float

    def __init__(
        self,
        C: Penalty = "scale",
        *,
        epsilon: float = 0.1,
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
        fit_intercept: Bias = "auto",
        tol: float = 3e-3,
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
        y: Any,
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
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            What is to be predicted. A single column is taken for a vector, with a warning, as ``SVR`` does.
        sample_weight : array-like of shape (n_samples,), default=None
            C of a row is multiplied by its weight. Weight 0 is as good as leaving the row out.
        checkpoint : path-like, default=None
            A file to leave the state in while training. If it is there when the call begins, the run that has left it
            goes on, and ends in the same model, bit for bit: parameters and data must be the same. It is removed when
            the fit is done. See the section *Runs that may be killed* of the guide.
        checkpoint_every : float, default=60.0
            Seconds between two checkpoints, at least; more where writing them would take more than half a percent
            of the time. 0: whenever it is possible.

        Returns
        -------
        self : BudgetSVR
        """
        if self._tuned:
            return tune(self, X, y, sample_weight, checkpoint)
        with fit_run(self, checkpoint, checkpoint_every) as run:
            self._fit(X, y, sample_weight, run)
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
        settings = self._stream_settings()
        first = not hasattr(self, "_expansion")
        X, y = self._validate(X, y, reset=first, multi_output=True, y_numeric=True)
        y = one_or_more_targets(y)
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

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """The coefficients β, in units of the targets."""
        return without_effect(self._fitted().coef * self.target_scale_[:, np.newaxis])

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """What the sum of all terms is added to, in units of the targets."""
        return without_effect(self._fitted().bias * self.target_scale_ + self.target_mean_)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the prediction for every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Two-dimensional where there are several targets. Off by 1e-5 of ``target_scale_`` at most: where single precision would lose more, all is computed in
            double.
        """
        self._check_fitted()
        X = self._validate(X, reset=False)
        values = precise_decision(self._expansion, X, count_threads(self.n_jobs))
        values *= self.target_scale_
        values += self.target_mean_
        return values[:, 0] if self._flat else values

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R² of the predictions: the share of the variance that they explain.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts for.

        Returns
        -------
        score : float
            1 at best; 0 is what the mean of `y` would have. Of several targets it is the mean.
        """
        return float(r_squared(y, self.predict(X), sample_weight=sample_weight))

    def _encode(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        settings: Settings,  # noqa: ARG002
    ) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
        X, y = self._validate(X, y, reset=True, multi_output=True, y_numeric=True)
        X, y, weights = weighted_rows(X, one_or_more_targets(y), sample_weight, None)
        self._flat, targets = y.ndim == 1, _as_columns(y)
        self._take_scale(TargetScale.of(targets, weights))
        return X, targets, weights

    def _take_scale(self, scale: TargetScale) -> None:
        self._target_scale = scale
        self.target_mean_, self.target_scale_ = scale.mean, scale.scale

    def _settings(self) -> Settings:
        check_penalty(self.C, may_be_tuned=True)
        make_insensitive(self.epsilon)
        return super()._settings()

    def _targets(self, encoded: NDArray[Any], weights: NDArray[np.float64]) -> Targets:
        box = check_penalty(self.C) * weights
        with np.errstate(over="ignore"):
            standardised = (encoded - self.target_mean_) / self.target_scale_
        # Values of a model are at most Σ C_i k(x, x_i). An outlier far beyond that has the same dual variable however
        # far it is, but the larger its loss, the fewer digits are left for others. Some kernels reach anything.
        kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        reach = max(1.0, float(box.sum())) if kernel.translation_invariant else _ANYTHING
        farthest = _BEYOND_REACH * reach
        np.clip(standardised, -farthest, farthest, out=standardised)
        loss = make_insensitive(self.epsilon)
        return ManyTargets(box, loss, np.ascontiguousarray(standardised))


def one_or_more_targets(y: NDArray[Any]) -> NDArray[Any]:
    """Return targets, a single column of them as a vector: else ``y - predict(X)`` might be a square matrix."""
    return np.asarray(column_or_1d(y, warn=True)) if y.shape[1:] == (1,) else y


def _as_columns(y: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        targets = y.astype(np.float64).reshape(len(y), -1)
    if not np.isfinite(targets).all():
        raise ValueError("y has values that are too large for float64; scale the targets first")
    return targets
