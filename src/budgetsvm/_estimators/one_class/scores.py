"""What a trained one-class machine answers: scores, and which of them are those of outliers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.threads import count_threads
from budgetsvm._estimators.familiar.attributes import without_effect
from budgetsvm._estimators.one_class.density import weighted_quantile
from budgetsvm._estimators.streaming.machine import StreamingMachine
from budgetsvm._model.decisions import near_zero, precise_decision, sure_decision


class TrainedDetector(StreamingMachine):
    """A machine whose output, times a scale, is a score; the share `nu` has scores below the offset."""

    nu: float
    _level: float  # ρ per row
    _weight_seen: float
    _trained_nu: float
    _offset: float | None  # None: not known yet

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """The coefficients β of the scores."""
        return without_effect(self._fitted().coef * self._scale)

    @property
    def offset_(self) -> float:
        """The score below which rows are outliers."""
        self._fitted()
        if self._offset is None:  # after partial_fit: found when it is first asked for
            assert self._reservoir is not None
            X, _, weights = self._reservoir.rows()
            self._offset = weighted_quantile(self._scores(X), weights, self._trained_nu)
        return self._offset

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The same as ``-offset_``."""
        return without_effect(np.array([-self.offset_]))

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return f(x) for every row: the higher, the more normal it is.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Off by 1e-5 of the score that training aimed at, at most: where single precision would lose more, all is
            computed in double.
        """
        self._check_fitted()
        return self._scores(self._validate(X, reset=False))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores less the offset: negative for outliers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return +1 for every row that is like the training data, and -1 for outliers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        self._check_fitted()
        X, offset = self._validate(X, reset=False), self.offset_

        def doubtful(values: NDArray[np.float64], errors: NDArray[np.float64]) -> NDArray[np.bool_]:
            return near_zero(values * self._scale - offset, errors * self._scale)

        values = sure_decision(self._expansion, X, doubtful, count_threads(self.n_jobs))
        return np.where(values[:, 0] * self._scale - offset >= 0, 1, -1)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        values = precise_decision(self._expansion, X, count_threads(self.n_jobs))
        return values[:, 0] * self._scale

    def _set_scale(self) -> None:
        """Find what values of the model have to be multiplied with; the offset is then unknown."""
        self._scale = self._level * self._weight_seen
        self._trained_nu = self.nu  # a parameter may change before the offset is asked for
        self._offset = None
