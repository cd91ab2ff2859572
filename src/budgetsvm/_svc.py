"""BudgetSVC: the classifier."""

from dataclasses import replace
from time import perf_counter
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_array, compute_class_weight
from sklearn.utils.validation import check_is_fitted

from budgetsvm._data import generator, two_classes, weighted_rows
from budgetsvm._machine import BudgetMachine
from budgetsvm._polish import Polished
from budgetsvm._threads import count_threads
from budgetsvm.kernels import Gamma


class BudgetSVC(ClassifierMixin, BudgetMachine):
    """Kernel support vector classifier with at most `budget` support vectors.

    Solves the problem of scikit-learn's ``SVC`` (hinge loss, without a bias) in a time that grows
    linearly with the number of rows, in two phases: the methods of "Dual SVM Training on a Budget"
    (Qaadan, Schüler & Glasmachers 2018) learn the terms; then the SVM is solved in their span, up to
    a duality gap that is known (`duality_gap_`). Two classes.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the training errors against the norm of the model, as for ``SVC``.
    kernel : {"rbf", "laplacian", "poly", "sigmoid", "linear"}, Kernel or callable, default="rbf"
        The kernel: a name, an object of :mod:`budgetsvm.kernels`, or a function ``k(X, Z)`` (slow).
        All but "rbf" need ``maintenance="project"`` or ``"remove"``.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernels "rbf", "laplacian", "poly" and "sigmoid", as for ``SVC``.
    degree : int, default=3
        Degree of the kernel "poly".
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    budget : int or None, default=500
        The largest number of terms that the model may have. None is no limit: training then
        approaches the exact SVM, at its cost.
    solver : {"bsca", "bsgd"} or Solver, default="bsca"
        Budgeted stochastic coordinate ascent on the dual problem (Algorithm 1 of the paper), or
        budgeted stochastic gradient descent on the primal one (eq. 4). See :mod:`budgetsvm.solvers`.
    maintenance : {"merge", "multimerge", "project", "remove"} or Maintenance, default="merge"
        What to do when the budget is exceeded. See :mod:`budgetsvm.maintenance`.
    epochs : "auto" or float, default="auto"
        How many times phase 1 goes through the training data. "auto" is five without a polish. Before
        one it is two, up to a million visits, after a trial: where the budget is too small for the
        kernel, phase 1 goes on with a smaller C, which then gives better terms.
    polish : bool, default=True
        Whether to solve the SVM in the span of the terms after they are learned. False leaves the
        paper's solver as it is. Without a budget there is no polish.
    basis : {"learned", "random", "kmeans"} or array of shape (n_terms, n_features), default="learned"
        Where the terms come from: phase 1, random rows, cluster centres, or these points. With a
        polish, all but the first are Nyström's method.
    tol : float, default=1e-2
        The relative duality gap (P - D) / P at which the polish is done.
    max_passes : int, default=500
        The polish gives up after so many passes over the data, with a ``ConvergenceWarning``.
    time_limit : float or None, default=None
        The polish gives up when ``fit`` has taken so many seconds.
    memory_limit : float or None, default=None
        Bytes that kernel values may take; beyond, they are computed again in every pass. None is half
        of the memory that is free.
    warm_start : bool, default=False
        Whether ``fit`` starts from the terms, and the dual variables, of the fit before: for the same
        rows and another C, say.
    class_weight : dict, "balanced" or None, default=None
        C of a class is multiplied by its weight.
    precision : {"auto", "single", "double"}, default="auto"
        Arithmetic for kernel values. "auto" takes single precision unless distances in the
        (centred) data would lose too many digits in it.
    random_state : int, RandomState, Generator or None, default=None
        Determines the order in which training points are visited.
    n_jobs : int or None, default=None
        Threads for prediction. None is all cores.
    verbose : int, default=0
        1 shows a progress bar with the time left.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels.
    support_vectors_ : ndarray of shape (n_terms, n_features)
        The points z_j of the model. After merging these are not training points any more.
    dual_coef_ : ndarray of shape (1, n_terms)
        The coefficients β_j; the decision function is Σ_j β_j k(x, z_j).
    intercept_ : ndarray of shape (1,)
        Zero: the model has no bias.
    duality_gap_ : float
        After a polish: (P - D) / P. The model's objective is within this share of the best possible
        with its terms.
    objective_ : tuple of float
        After a polish: P of the model and D of the dual point that proves the gap.
    converged_ : bool
        After a polish: whether `duality_gap_` is at most `tol`.
    n_iter_ : int
        Epochs done by the last call of ``fit`` or ``partial_fit``, counting one begun.
    history_ : list of dict
        Per epoch: visits, steps, violations, mistakes, merges, degradation, loss, size, seconds. See
        :class:`budgetsvm._training.EpochRecord`.
    kernel_ : Kernel
        The kernel with its numbers resolved.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of str
        Their names, where X had any.

    References
    ----------
    S. Qaadan, M. Schüler, T. Glasmachers: Dual SVM Training on a Budget. 2018. arXiv:1806.10182.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from budgetsvm import BudgetSVC
    >>> X, y = make_moons(2000, noise=0.1, random_state=0)
    >>> model = BudgetSVC(C=10, gamma=2, budget=30, random_state=0).fit(X, y)
    >>> len(model.support_vectors_) <= 30, model.duality_gap_ <= 0.01
    (True, True)
    >>> bool(model.score(X, y) > 0.99)
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "rbf",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        budget: int | None = 500,
        solver: Any = "bsca",
        maintenance: Any = "merge",
        epochs: float | Literal["auto"] = "auto",
        polish: bool = True,
        basis: Any = "learned",
        tol: float = 1e-2,
        max_passes: int = 500,
        time_limit: float | None = None,
        memory_limit: float | None = None,
        warm_start: bool = False,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        precision: Literal["auto", "single", "double"] = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.budget = budget
        self.solver = solver
        self.maintenance = maintenance
        self.epochs = epochs
        self.polish = polish
        self.basis = basis
        self.tol = tol
        self.max_passes = max_passes
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Train on all rows, from scratch.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            C of a row is multiplied by its weight. Weight 0 is as good as leaving the row out.

        Returns
        -------
        self : BudgetSVC
        """
        self._fit(X, y, sample_weight)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Go through new rows once, continuing with the terms of earlier calls.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows. The first call also fixes gamma="scale", the centre and the precision.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (2,), default=None
            Both labels; needed in the first call unless its y has both.
        sample_weight : array-like of shape (n_samples,), default=None
            C of a row is multiplied by its weight.

        Returns
        -------
        self : BudgetSVC
        """
        self._settings()
        if isinstance(self.class_weight, str):
            message = (
                "class_weight='balanced' needs all labels at once, which partial_fit does not have; "
                "give the weights as a dict, e.g. from sklearn.utils.compute_class_weight"
            )
            raise ValueError(message)
        first = not hasattr(self, "_expansion")
        X, y = self._validate(X, y, reset=first)
        if first:
            self.classes_ = two_classes(y if classes is None else np.asarray(classes))
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            message = f"classes={classes!r} differ from those of the first call, {self.classes_!r}"
            raise ValueError(message)
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            message = f"y has labels {unknown.tolist()} that are not among {self.classes_.tolist()}"
            raise ValueError(message)
        X, y, weights = weighted_rows(X, y, sample_weight, None)
        if first:
            self._start(X)
        problem = self._problem(X, self._signs(y), weights * self._class_weights(y))
        self._learn(problem, len(y), generator(self.random_state))
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return f(x) for every row: positive for ``classes_[1]``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        return self._expansion.decision(X, count_threads(self.n_jobs))

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
        values = self.decision_function(X)
        labels: NDArray[Any] = self.classes_[(values > 0).astype(np.intp)]
        return labels

    def _fit(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Polished | None:
        started = perf_counter()
        self._settings()  # complain about parameters before reading the data
        X, y = self._validate(X, y, reset=True)
        self.classes_ = two_classes(y)
        X, y, weights = weighted_rows(X, y, sample_weight, self.classes_)
        weights = weights * self._class_weights(y)
        again = self._resume(X)
        if not again:
            self._start(X)
        return self._train(self._problem(X, self._signs(y), weights), started, again=again)

    def _signs(self, y: NDArray[Any]) -> NDArray[np.float64]:
        return np.where(y == self.classes_[1], 1.0, -1.0)

    def _class_weights(self, y: NDArray[Any]) -> NDArray[np.float64]:
        weights = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        per_row: NDArray[np.float64] = weights[(y == self.classes_[1]).astype(np.intp)]
        if not (np.isfinite(per_row).all() and (per_row > 0).all()):
            message = f"class weights must be positive, not {self.class_weight!r}"
            raise ValueError(message)
        return per_row

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags


def polish(
    X: Any, y: Any, Z: Any, *, sample_weight: ArrayLike | None = None, **parameters: Any
) -> Polished:
    """Solve the SVM in the span of given points: phase 2 alone.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Training rows.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    Z : array-like of shape (n_points, n_features)
        The points; where they are linearly dependent in feature space, a subset is used.
    sample_weight : array-like of shape (n_samples,), default=None
        C of a row is multiplied by its weight.
    **parameters
        C, kernel, gamma, tol and other parameters of :class:`BudgetSVC`.

    Returns
    -------
    polished : Polished
        With attributes points, coef, alpha, primal, dual, gap, converged and passes.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from budgetsvm import polish
    >>> X, y = make_moons(500, noise=0.1, random_state=0)
    >>> result = polish(X, y, X[:30], C=10, gamma=2, tol=1e-3)
    >>> result.converged, bool(result.dual <= result.primal)
    (True, True)
    """
    Z = check_array(Z, dtype=np.float64)
    model = BudgetSVC(**{**parameters, "basis": Z, "budget": len(Z), "polish": True})
    polished = model._fit(X, y, sample_weight)
    assert polished is not None  # there is a budget
    alpha = polished.alpha
    if sample_weight is not None:  # rows of weight zero were left out
        alpha = np.zeros(len(y))
        alpha[np.asarray(sample_weight) > 0] = polished.alpha
    return replace(polished, points=model.support_vectors_, alpha=alpha)
