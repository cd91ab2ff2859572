"""BudgetSVC: the classifier."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.validation import check_is_fitted, validate_data

from budgetsvm._data import generator, two_classes, weighted_rows
from budgetsvm._expansion import KernelExpansion
from budgetsvm._progress import Progress
from budgetsvm._rows import Rows, as_rows, choose_precision, feature_means, variance
from budgetsvm._terms import TermStore
from budgetsvm._threads import count_threads
from budgetsvm._training import EpochRecord, Problem, Settings, Trainer
from budgetsvm._validation import check_choice, check_integer, check_number
from budgetsvm.kernels import Callback, Gamma, make_kernel
from budgetsvm.maintenance import make_maintenance
from budgetsvm.solvers import make_solver


class BudgetSVC(ClassifierMixin, BaseEstimator):
    """Kernel support vector classifier with at most `budget` support vectors.

    Solves the problem of scikit-learn's ``SVC`` (hinge loss, without a bias) approximately, in a time
    that grows linearly with the number of rows, by the methods of "Dual SVM Training on a Budget"
    (Qaadan, Schüler & Glasmachers 2018). Two classes.

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
    epochs : int, default=5
        How many times the training data are gone through.
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
    n_iter_ : int
        Epochs done by the last call of ``fit`` or ``partial_fit``.
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
    >>> model.support_vectors_.shape
    (30, 2)
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
        epochs: int = 5,
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
        self._settings()  # complain about parameters before reading the data
        X, y = self._validate(X, y, reset=True)
        self.classes_ = two_classes(y)
        X, y, weights = weighted_rows(X, y, sample_weight, self.classes_)
        self._start(X)
        self._train(X, y, weights, self.epochs)
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
        self._train(X, y, weights, 1)
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

    @property
    def support_vectors_(self) -> NDArray[np.float64]:
        """The points z_j, in the coordinates of the data."""
        return self._fitted().original_points()

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """The coefficients β_j, as a row."""
        return self._fitted().coef[np.newaxis]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Zero: the model has no bias."""
        self._fitted()
        return np.zeros(1)

    def _fitted(self) -> KernelExpansion:
        if not hasattr(self, "_expansion"):
            message = f"this {type(self).__name__} is not fitted yet"
            raise AttributeError(message)
        return self._expansion

    def _settings(self) -> Settings:
        """Check all parameters, and return those that training needs."""
        check_number("C", self.C, above=0)
        check_integer("epochs", self.epochs, least=1)
        check_choice("precision", self.precision, ("auto", "single", "double"))
        count_threads(self.n_jobs)
        if self.budget is not None:
            check_integer("budget", self.budget, least=1)
        kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        maintenance = make_maintenance(self.maintenance, kernel, self.budget)
        return Settings(kernel, make_solver(self.solver), maintenance, self.budget)

    def _validate(self, X: Any, *y: Any, reset: bool) -> Any:
        """Check the data as scikit-learn does; dtypes and memory order stay what they are."""
        checked = validate_data(
            self, X, *y, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        return (as_rows(checked[0]), checked[1]) if y else as_rows(checked)

    def _start(self, X: Any) -> None:
        """Fix what depends on the first data: gamma, centre and precision; begin without terms."""
        with np.errstate(over="ignore"):  # choose_precision complains about what is too large
            kernel = self._settings().kernel.resolve(X.shape[1], variance(X))
            dense = isinstance(X, np.ndarray)
            centre = feature_means(X) if dense and kernel.translation_invariant else None
            wanted = "double" if isinstance(kernel, Callback) else self.precision
            dtype = choose_precision(X, float(getattr(kernel, "gamma", 1.0)), centre, wanted)
        self.history_: list[EpochRecord] = []
        self._visits = self._rows_seen = 0
        self.kernel_ = kernel
        self._expansion = KernelExpansion(
            kernel, np.zeros((0, X.shape[1]), dtype), np.zeros(0), centre
        )

    def _train(self, X: Any, y: NDArray[Any], weights: NDArray[np.float64], epochs: int) -> None:
        """Train the current terms on rows with labels and weights."""
        settings = self._settings()
        model = self._expansion
        settings = Settings(model.kernel, settings.solver, settings.maintenance, settings.budget)
        rows = Rows(X, model.points.dtype.type, model.centre)
        self._rows_seen += len(rows)
        signs = np.where(y == self.classes_[1], 1.0, -1.0)
        box = self.C * weights * self._class_weights(y)
        trainer = Trainer(
            settings,
            Problem(rows, signs, box, self._rows_seen),
            TermStore.of(model.points, model.coef, model.kernel, self.budget or 0),
            generator(self.random_state),
            self._visits,
        )
        with Progress(epochs * len(rows), shown=self.verbose > 0) as progress:
            trainer.run(epochs, progress)
        self._visits = trainer.t
        self._keep(trainer)

    def _keep(self, trainer: Trainer) -> None:
        """Store what was trained, without terms of coefficient zero."""
        terms = trainer.terms
        coef = terms.coef[: terms.size]
        used = coef != 0
        model = self._expansion
        self._expansion = KernelExpansion(
            model.kernel, terms.points()[used], coef[used].copy(), model.centre
        )
        self.n_iter_ = len(trainer.history)
        self.history_ = self.history_ + trainer.history

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
