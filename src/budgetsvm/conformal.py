"""Sets of classes, and intervals of targets, that hold the truth as often as is asked for.

Split conformal prediction (V. Vovk, A. Gammerman, G. Shafer: Algorithmic Learning in a Random World, 2005; J. Lei et al.:
Distribution-Free Predictive Inference for Regression, JASA 2018): rows that took no part in training tell how far off
predictions are, and the answer for a new row is all that would be no farther off than most of them. If these
rows and the new ones are drawn in the same way, the answer holds the truth with the probability asked for or
a little more, on average over rows, however good or bad the model is. A bad model has large sets.

>>> from sklearn.datasets import load_digits
>>> from budgetsvm import BudgetSVC
>>> from budgetsvm.conformal import ConformalClassifier
>>> X, y = load_digits(return_X_y=True)
>>> model = BudgetSVC(budget=50, random_state=0).fit(X[:800], y[:800])
>>> sets = ConformalClassifier(model).calibrate(X[800:1300], y[800:1300])
>>> sets.predict_set(X[1300:], coverage=0.99).shape
(497, 10)
"""

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_array, column_or_1d

from budgetsvm._common.checks import check_number
from budgetsvm._common.class_values import class_values
from budgetsvm._common.public import public_in

__all__ = ["ConformalClassifier", "ConformalRegressor"]

_ROUNDING = 1e-9  # of a number of rows


@public_in("budgetsvm.conformal")
class ConformalClassifier:
    """Sets of classes that hold the right one with a given probability.

    Parameters
    ----------
    estimator : classifier
        A fitted classifier with ``predict_proba`` or ``decision_function``: a ``BudgetSVC`` with any loss, a search, a
        pipeline, or one of scikit-learn's.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of the columns of sets.
    scores_ : ndarray of shape (n_samples,)
        How far off the rows were that it was calibrated with, in rising order.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from budgetsvm import BudgetSVC
    >>> from budgetsvm.conformal import ConformalClassifier
    >>> X, y = make_moons(3000, noise=0.3, random_state=0)
    >>> model = BudgetSVC(budget=30, random_state=0).fit(X[:1000], y[:1000])
    >>> sets = ConformalClassifier(model).calibrate(X[1000:2000], y[1000:2000])
    >>> found = sets.predict_set(X[2000:], coverage=0.95)
    >>> bool(abs(found[range(1000), y[2000:]].mean() - 0.95) < 0.02)
    True
    """

    scores_: NDArray[np.float64]

    def __init__(self, estimator: Any) -> None:
        if not hasattr(estimator, "classes_"):
            message = (
                f"this takes a fitted classifier, not a {type(estimator).__name__} without classes_"
            )
            raise TypeError(message)
        self.estimator = estimator
        self.classes_: NDArray[Any] = np.asarray(estimator.classes_)

    def calibrate(self, X: Any, y: Any) -> Self:
        """Look how far off the classifier is on rows that took no part in its training.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels. One that the classifier does not know is never in a set, which makes sets larger.

        Returns
        -------
        self : ConformalClassifier
        """
        labels, scores = column_or_1d(y), self._scores(X)
        _check_lengths(scores, labels)
        own = labels[:, np.newaxis] == self.classes_
        known = own.any(axis=1)
        if not known.any():
            message = f"no label in y is one of the classes {self.classes_.tolist()[:5]} of the classifier"
            raise ValueError(message)
        found = np.where(known, scores[np.arange(len(labels)), own.argmax(axis=1)], np.inf)
        self.scores_ = np.sort(found)
        return self

    def predict_set(self, X: Any, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Return which classes every row may have.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        coverage : float, default=0.9
            The probability with which sets are to hold the right class, between 0 and 1.

        Returns
        -------
        sets : ndarray of bool of shape (n_samples, n_classes)
            Columns as in `classes_`. Where the coverage asked for is less than the accuracy, some sets are
            empty: those of rows that are less clear than most.
        """
        limit = _limit(self, coverage)
        return np.asarray(self._scores(X) <= limit)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Return how far off each class would be, (rows, classes)."""
        if not np.array_equal(self.estimator.classes_, self.classes_):
            raise ValueError(
                "the classifier was fitted again, to other classes: make a new one of these of it, and calibrate that"
            )
        if hasattr(self.estimator, "predict_proba"):
            return 1.0 - np.asarray(self.estimator.predict_proba(X), np.float64)
        values = class_values(self.estimator, X)
        if values.ndim == 1:
            return np.column_stack([values, -values])
        return _largest_of_others(values) - values


def _largest_of_others(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for every class, the largest value of another one."""
    order = np.sort(values, axis=1)
    first, second = order[:, -1:], order[:, -2:-1]
    return np.where(values == first, second, first)


@public_in("budgetsvm.conformal")
class ConformalRegressor:
    """Intervals that hold the target with a given probability.

    Parameters
    ----------
    estimator : regressor
        A fitted regressor: a ``BudgetSVR``, a search, a pipeline, or one of scikit-learn's.

    Attributes
    ----------
    scores_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        The absolute errors of the rows that it was calibrated with, in rising order.

    Examples
    --------
    >>> import numpy as np
    >>> from budgetsvm import BudgetSVR
    >>> from budgetsvm.conformal import ConformalRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 6, (3000, 1))
    >>> y = np.sin(X[:, 0]) + 0.2 * rng.standard_normal(3000)
    >>> model = BudgetSVR(budget=20, random_state=0).fit(X[:1000], y[:1000])
    >>> intervals = ConformalRegressor(model).calibrate(X[1000:2000], y[1000:2000])
    >>> low, high = intervals.predict_interval(X[2000:], coverage=0.8).T
    >>> bool(abs(np.mean((low <= y[2000:]) & (y[2000:] <= high)) - 0.8) < 0.03)
    True
    """

    scores_: NDArray[np.float64]

    def __init__(self, estimator: Any) -> None:
        # The latter have clusters and detectors of outliers.
        others = hasattr(estimator, "classes_") or hasattr(estimator, "fit_predict")
        if others or not hasattr(estimator, "predict"):
            message = f"this takes a fitted regressor, not a {type(estimator).__name__}"
            raise TypeError(message)
        self.estimator = estimator

    def calibrate(self, X: Any, y: Any) -> Self:
        """Look how far off the regressor is on rows that took no part in its training.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their targets.

        Returns
        -------
        self : ConformalRegressor
        """
        found = np.asarray(self.estimator.predict(X), np.float64)
        targets = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        _check_lengths(found, targets)
        if targets.shape == (*found.shape, 1):  # a column, for which a machine predicts a vector
            targets = targets[:, 0]
        if found.shape != targets.shape:
            message = (
                f"predictions are of the shape {found.shape}, and y of the shape {targets.shape}"
            )
            raise ValueError(message)
        self.scores_ = np.sort(abs(targets - found), axis=0)
        return self

    def predict_interval(self, X: Any, coverage: float = 0.9) -> NDArray[np.float64]:
        """Return an interval for every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        coverage : float, default=0.9
            The probability with which intervals are to hold the target, between 0 and 1; of several targets, each
            for itself.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2) or (n_samples, n_targets, 2)
            Their ends. All have the same length.
        """
        limit = _limit(self, coverage)
        found = np.asarray(self.estimator.predict(X), np.float64)
        return np.stack([found - limit, found + limit], axis=-1)


def _check_lengths(found: NDArray[Any], y: NDArray[Any]) -> None:
    if len(found) != len(y):
        message = f"X has {len(found)} rows, and y {len(y)}"
        raise ValueError(message)


def _limit(conformal: Any, coverage: float) -> Any:
    """Return how far off the truth may be: of n + 1 rows, the new one among them, so many are no farther off."""
    if not hasattr(conformal, "scores_"):
        message = f"this {type(conformal).__name__} was not calibrated yet: call calibrate(X, y)"
        raise NotFittedError(message)
    if not 0 < check_number("coverage", coverage) < 1:
        message = f"coverage must be between 0 and 1, not {coverage!r}"
        raise ValueError(message)
    n = len(conformal.scores_)
    rank = math.ceil((n + 1) * coverage - _ROUNDING)
    if rank > n:
        needed = math.ceil(coverage / (1 - coverage) - _ROUNDING)
        message = f"{n} rows are too few for a coverage of {coverage:g}: calibrate with {needed:,} at least"
        raise ValueError(message)
    return conformal.scores_[rank - 1]
