"""BudgetSVRCV: the regression with the best C and gamma."""

from typing import Any, ClassVar, Self

from sklearn.base import MultiOutputMixin, RegressorMixin

from budgetsvm import BudgetSVR
from budgetsvm._common.public import public_in
from budgetsvm._estimators.user_input import Bias, Epochs, PrecisionName
from budgetsvm.model_selection._documentation import documented_search
from budgetsvm.model_selection._search import Search


@public_in("budgetsvm.model_selection")
@documented_search
class BudgetSVRCV(MultiOutputMixin, RegressorMixin, Search):
    """Kernel support vector regression with the C, gamma and budget that are best on rows held out.

    Finds what ``GridSearchCV(BudgetSVR(), ...)`` would, in a fraction of the time: for each gamma and fold, the terms are
    learned once, on the training rows of the fold alone, and the machine is solved in their span for all C, from small
    to large, each from the solution before.

    Parameters
    ----------
    epsilon : float, default=0.1
        Errors up to this, in units of `target_scale_`, cost nothing, as for :class:`budgetsvm.BudgetSVR`; all that
        follow are as there, too.

    Attributes
    ----------
    best_estimator_ : BudgetSVR
        With `refit`: the machine with the best parameters, trained on all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from budgetsvm.model_selection import BudgetSVRCV
    >>> X = np.linspace(0, 6, 300)[:, np.newaxis]
    >>> y = np.sin(X[:, 0])
    >>> from sklearn.model_selection import KFold
    >>> folds = KFold(3, shuffle=True, random_state=0)
    >>> search = BudgetSVRCV(
    ...     Cs=[1, 10], gammas=[0.1, 1], epsilon=0.02, budget=20, cv=folds, random_state=0
    ... ).fit(X, y)
    >>> bool(search.best_score_ > 0.99), len(search.best_estimator_.support_vectors_) <= 20
    (True, True)
    """

    _KIND: ClassVar[type[Any]] = BudgetSVR

    def __init__(
        self,
        Cs: Any = 10,
        gammas: Any = 10,
        *,
        budget: Any = "auto",
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        halving: bool = True,
        epsilon: float = 0.1,
        kernel: Any = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        solver: Any = "bsca",
        maintenance: Any = "auto",
        epochs: Epochs = "auto",
        basis: Any = "learned",
        fit_intercept: Bias = "auto",
        tol: float = 3e-3,
        max_passes: int = 500,
        time_limit: float | None = None,
        memory_limit: float | None = None,
        precision: PrecisionName = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._set_parameters(locals())

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Self:
        """Search, and fit the best machine to all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            What is to be predicted.
        groups : array-like of shape (n_samples,), default=None
            Groups that a splitter keeps together.
        sample_weight : array-like of shape (n_samples,), default=None
            C of a row is multiplied by its weight. Scores are not weighted, as for ``GridSearchCV``, but rows of
            weight 0 are not scored.

        Returns
        -------
        self : BudgetSVRCV
        """
        self._search(X, y, groups, sample_weight)
        return self
