"""Phase 2 as a function, for points that come from elsewhere."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from budgetsvm._common.public import public_in
from budgetsvm._estimators.svc import BudgetSVC
from budgetsvm._polish.result import Polished

__all__ = ["Polished", "polish"]


@public_in("budgetsvm")
def polish(
    X: Any, y: Any, Z: Any, *, sample_weight: ArrayLike | None = None, **parameters: Any
) -> Polished:
    """Solve the SVM in the span of given points: phase 2 alone.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Training rows.
    y : array-like of shape (n_samples,)
        Labels.
    Z : array-like or sparse matrix of shape (n_points, n_features)
        The points; where they are linearly dependent in feature space, a subset is used.
    sample_weight : array-like of shape (n_samples,), default=None
        C of a row is multiplied by its weight.
    **parameters
        C, kernel, gamma, tol and other parameters of :class:`BudgetSVC`.

    Returns
    -------
    polished : Polished
        With attributes points, coef, bias, alpha, primal, dual, gap, converged and passes. If there are more
        than two classes, `coef` has one row per class, and `alpha` is None.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from budgetsvm import polish
    >>> X, y = make_moons(500, noise=0.1, random_state=0)
    >>> result = polish(X, y, X[:30], C=10, gamma=2, tol=1e-3)
    >>> result.converged, bool(result.dual <= result.primal)
    (True, True)
    """
    Z = check_array(Z, accept_sparse="csr", dtype=np.float64)
    model = BudgetSVC(**{**parameters, "basis": Z, "budget": Z.shape[0], "polish": True})
    polished = model._fit(X, y, sample_weight)
    assert polished is not None  # there is a budget
    alpha = polished.alpha
    if alpha is not None and sample_weight is not None:  # rows of weight zero were left out
        alpha = np.zeros(len(y))
        alpha[np.asarray(sample_weight) > 0] = polished.alpha
    coef = polished.coef if len(polished.coef) > 1 else polished.coef[0]
    return replace(polished, points=model.support_vectors_, coef=coef, alpha=alpha, evidence=None)
