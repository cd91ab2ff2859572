"""Fewer terms for a trained estimator: a function."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from budgetsvm._common.checks import best_instead, check_integer
from budgetsvm._common.progress.bars import progress
from budgetsvm._common.progress.forecast import Forecast
from budgetsvm._common.public import public_in
from budgetsvm._common.threads import count_threads
from budgetsvm._estimators.compression.rows_only import nearest_on_rows
from budgetsvm._estimators.compression.terms import Smaller
from budgetsvm._estimators.fitting.training import CERTIFICATE
from budgetsvm._estimators.one_class.estimator import BudgetOneClassSVM
from budgetsvm._estimators.svc import BudgetSVC
from budgetsvm._estimators.svr import BudgetSVR
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.points import sparse_rows
from budgetsvm.kernels import Precomputed, Sigmoid


@public_in("budgetsvm")
@dataclass(frozen=True, eq=False)
class Compressed:
    """What :func:`compress` returns: the smaller estimator, and what it has lost.

    Attributes
    ----------
    estimator : estimator or Pipeline
        Of the same kind as the one given.
    n_terms : tuple of int
        How many terms there were, and are.
    distance : float
        ‖f_big - f_small‖ / ‖f_big‖ in the Hilbert space of the kernel, biases left out. NaN for the sigmoid kernel.
    difference : float or None
        Root mean square of the differences of decision values (of pairs of classes: one per pair), or of predictions of
        regression, on the rows given; without any, at the terms of the larger model. Support vectors lie where labels
        are hardest to tell: other rows often agree better. None for numbered rows.
    agreement : float or None
        The share of the same rows on which both predict the same label. None for a regression, too.
    """

    estimator: Any
    n_terms: tuple[int, int]
    distance: float
    difference: float | None = None
    agreement: float | None = None


@public_in("budgetsvm")
def compress(estimator: Any, budget: int, X: Any = None, *, verbose: bool = False) -> Compressed:
    """Return an estimator with at most `budget` terms, as near as can be to a larger one.

    Neither labels nor training data are needed: what is approximated is the model itself, e.g. one of LIBSVM with
    thousands of support vectors. Terms are merged (Gaussian kernel), or chosen among those of the larger model, whichever
    comes nearer; Gaussian terms then move to where they come nearest, and coefficients and biases are fitted to the
    values of the larger model. Where there are training data, ``fit`` with this budget gives a better model.

    Parameters
    ----------
    estimator : BudgetSVC, BudgetSVR, BudgetOneClassSVM, or a Pipeline that ends with one
        A fitted estimator; it is not changed.
    budget : int
        The largest number of terms.
    X : array-like or sparse matrix of shape (n_samples, n_features), default=None
        Rows like those that predictions will be asked for, to whose decision values the coefficients are fitted; by
        default the terms of the larger model.
    verbose : bool, default=False
        Whether to show progress on standard error: thousands of terms take some seconds.

    Returns
    -------
    compressed : Compressed
        With attributes estimator, n_terms, distance, difference and agreement.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from budgetsvm import BudgetSVC, compress
    >>> X, y = make_moons(1000, noise=0.2, random_state=0)
    >>> large = BudgetSVC(C=10, gamma=2, budget=200, random_state=0).fit(X, y)
    >>> small = compress(large, 30, X)
    >>> small.n_terms[1], bool(small.agreement > 0.98)
    (30, True)
    """
    budget = check_integer("budget", budget, least=1)
    if isinstance(estimator, Pipeline):
        rows = X if X is None or len(estimator) == 1 else estimator[:-1].transform(X)
        found = compress(estimator[-1], budget, rows, verbose=verbose)
        steps = [*estimator.steps[:-1], (estimator.steps[-1][0], found.estimator)]
        return replace(found, estimator=Pipeline(steps))
    if not isinstance(estimator, BudgetSVC | BudgetSVR | BudgetOneClassSVM):
        message = f"a {type(estimator).__name__} cannot be compressed: only machines of budgetsvm{best_instead(estimator)}"
        raise ValueError(message)
    if not hasattr(estimator, "_expansion"):
        message = f"this {type(estimator).__name__} is not fitted yet: there is nothing to compress"
        raise NotFittedError(message)
    if X is not None:
        X = estimator._validate(X, reset=False)
    return _compressed(estimator, budget, X, verbose)


def _compressed(estimator: Any, budget: int, X: Any, verbose: bool) -> Compressed:
    model = estimator._expansion
    if len(model) <= budget:
        model, distance = replace(model), 0.0
    elif isinstance(model.kernel, Precomputed):
        message = (
            "kernel values of pairs of terms are needed, which a model of numbered rows does not have: "
            "fit again with the smaller budget"
        )
        raise ValueError(message)
    else:
        dense = model.with_dense_points("compress")
        forecast = Forecast()
        tell = partial(forecast.at, "terms")
        tell(0.0)
        with progress("compressing", forecast.left, shown=verbose):
            found, distance = _smaller(estimator, dense, budget, X, tell)
        model = replace(found, points=sparse_rows(found.points)) if model.sparse_points else found
    small = with_model(estimator, model, budget)
    n_terms = len(estimator._expansion), len(model)
    return Compressed(small, n_terms, distance, *_compared(estimator, small, X))


def _smaller(
    estimator: Any, model: KernelExpansion, budget: int, X: Any, tell: Callable[[float], None]
) -> tuple[KernelExpansion, float]:
    """Return a model with fewer terms, and its distance."""
    settings, n_threads = (
        replace(estimator._untuned()._settings(), budget=budget),
        count_threads(estimator.n_jobs),
    )
    detector = isinstance(estimator, BudgetOneClassSVM)
    bias = detector or bool(settings.intercept or model.bias.any())
    if isinstance(model.kernel, Sigmoid):
        rows = model.original_points() if X is None else X
        return nearest_on_rows(model, budget, rows, n_threads, bias=bias), float("nan")
    smaller = Smaller(model, n_threads, keep_zeros=estimator._expansion.sparse_points)
    models = (smaller.nearest(points, X, bias=bias) for points in smaller.terms(settings, tell))
    found, squared, _ = min(models, key=lambda of: of[2])
    return found, _root_of_share(squared, smaller.squared_norm)


def _root_of_share(part: float, whole: float) -> float:
    return float(np.sqrt(part / whole)) if whole > 0 else 0.0


def with_model(estimator: Any, model: KernelExpansion, budget: int) -> Any:
    """Return a copy with another model, for which nothing has been proved."""
    small = copy(estimator)
    for name in (*CERTIFICATE, "validation_scores_"):
        small.__dict__.pop(name, None)
    if isinstance(estimator, BudgetOneClassSVM):  # whose scores have no bias, but an offset
        small._offset = estimator.offset_ - estimator._scale * float(model.bias[0])
        model = replace(model, bias=np.zeros(1))
    if len(model) < len(estimator._expansion):
        small._forget_rows()
    small._expansion, small._dual, small._origin = model, None, None
    small.budget_ = budget
    return small.set_params(budget=budget)


def _compared(big: Any, small: Any, X: Any) -> tuple[float | None, float | None]:
    """Return the difference of values and the agreement of labels, on rows or at the terms of the larger one."""
    if X is None:
        if isinstance(big._expansion.kernel, Precomputed):
            return None, None
        X = big._expansion.original_points()
    before, after = _values(big, X), _values(small, X)
    difference = float(np.sqrt(np.mean((before - after) ** 2)))
    same = np.mean(big.predict(X) == small.predict(X))
    return difference, None if isinstance(big, BudgetSVR) else float(same)


def _values(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Return what was fitted: of classifiers, the values of all outputs, which may be pairs of classes."""
    if isinstance(estimator, BudgetSVC):
        return estimator._expansion.decision(X, count_threads(estimator.n_jobs))
    found = estimator.predict if isinstance(estimator, BudgetSVR) else estimator.decision_function
    return np.asarray(found(X))
