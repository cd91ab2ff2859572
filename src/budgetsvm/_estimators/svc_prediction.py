"""From the values of a model to classes and probabilities."""

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from budgetsvm._common.threads import count_threads
from budgetsvm._estimators.two_phases import BudgetMachine
from budgetsvm.losses import BY_NAME, Logistic

_ROWS_AT_ONCE = 1 << 16


class _OfProbabilities:
    """A method that needs the logistic loss; without it, there is none, and the message says what to do.

    scikit-learn's ``available_if`` would show that message as the cause of another one, which says nothing.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, machine: Any, owner: Any = None) -> Callable[..., Any]:
        if machine is None:
            return self._method
        machine._needs_logistic(self._method.__name__)
        return MethodType(self._method, machine)


class ClassPrediction(BudgetMachine):
    """The methods of a classifier that look at new rows."""

    loss: Any
    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the values of the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive for ``classes_[1]``. More: the largest is that of the class predicted.
        """
        self._check_fitted()
        values = self._expansion.decision(
            self._validate(X, reset=False), count_threads(self.n_jobs)
        )
        return values if values.shape[1] > 1 else values[:, 0]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        self._check_fitted()
        X = self._validate(X, reset=False)
        codes, threads = np.empty(X.shape[0], np.intp), count_threads(self.n_jobs)
        for start in range(0, X.shape[0], _ROWS_AT_ONCE):  # not all rows × classes at once
            some = slice(start, start + _ROWS_AT_ONCE)
            values = self._expansion.decision(X[some], threads)
            codes[some] = values.argmax(axis=1) if values.shape[1] > 1 else values[:, 0] > 0
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    @_OfProbabilities
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of every class; with ``loss="log_loss"`` only.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Of more than two classes, each against the rest, scaled to sum up to 1.
        """
        values = self.decision_function(X)
        if values.ndim == 1:
            return np.column_stack([expit(-values), expit(values)])
        shares: NDArray[np.float64] = expit(values)
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        return shares

    @_OfProbabilities
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of the probability of every class; with ``loss="log_loss"`` only.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
        """
        probabilities: NDArray[np.float64] = self.predict_proba(X)
        return np.log(np.maximum(probabilities, np.finfo(float).tiny))

    def _needs_logistic(self, method: str) -> None:
        loss = self.loss
        if isinstance(loss, Logistic) or (
            isinstance(loss, str) and BY_NAME.get(loss) == Logistic()
        ):
            return
        message = (
            f"{method} needs loss='log_loss'; for other losses (this is {loss!r}) fit "
            "sklearn.calibration.CalibratedClassifierCV(BudgetSVC(...))"
        )
        raise AttributeError(message)
