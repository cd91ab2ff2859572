"""RelevanceScaler: standardised features, those that matter more than others first."""

from time import perf_counter
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils.sparsefuncs import inplace_column_scale
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from budgetsvm._common.checks import check_choice, check_count, check_number
from budgetsvm._common.progress.bars import progress
from budgetsvm._common.public import public_in
from budgetsvm._common.threads import count_threads, single_threaded_blas
from budgetsvm._estimators.machine import all_or_nothing
from budgetsvm._estimators.relevance.sample import (
    Aims,
    Sample,
    classes_to_aim_at,
    numbers_to_aim_at,
)
from budgetsvm._estimators.relevance.scales import Effort, find_scales
from budgetsvm._estimators.relevance.strength import STRENGTHS, choose_strength, strengthened
from budgetsvm._estimators.relevance.targets import labels_or_numbers
from budgetsvm._estimators.user_input import generator

_Array: TypeAlias = NDArray[np.float64]
_LEAST_ROWS = 20  # below, nothing can be said of features
_JUDGES, _MOST_JUDGES = (
    5,
    10_000,
)  # one row in so many judges; where there are more rows than are used, more do
_DTYPES = [np.float64, np.float32]


@public_in("budgetsvm")
class RelevanceScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Standardise features, and stretch those that matter: one gamma per feature.

    A Gaussian kernel takes all features for equally important. Trees do not, and that is where they win. This scaler takes
    the place of ``StandardScaler`` before a kernel machine: on a sample of the rows, it minimises the error on rows held out
    over one factor for each feature, by its gradient. Other rows decide how much of that is used: none of it, where it is no
    better than equal factors.

    Parameters
    ----------
    strength : "auto" or float, default="auto"
        The power of the factors that is used, from 0, which is ``StandardScaler``, to 1, for all of it. "auto":
        0, 0.5 or 1, as rows that were not used to find them say.
    task : {"auto", "classification", "regression"}, default="auto"
        What y is. "auto" takes whole numbers and words for labels, and warns if there are many different numbers.
    sample : int, default=10000
        The largest number of rows that factors are found with. More rows take longer, in proportion.
    max_iter : int, default=50
        The largest number of steps.
    time_limit : float or None, default=None
        Seconds after which no further step is begun. To choose the strength takes some more.
    random_state : int, RandomState, Generator or None, default=None
        Chooses the sample.
    n_jobs : int or None, default=None
        Threads; None: all cores. Factors do not depend on their number.
    verbose : int, default=0
        1 shows how far it is.

    Attributes
    ----------
    relevance_ : ndarray of shape (n_features,)
        The factors, with a mean square of 1; all 1 where nothing was gained.
    strength_ : float
        The power that was used.
    errors_ : dict of float
        Where `strength` is "auto": the error of each strength on rows that were not used to find the factors, as
        a share of wrong labels, or of the variance of the targets.
    mean_ : ndarray of shape (n_features,) or None
        What is subtracted from features; None if the rows were sparse.
    scale_ : ndarray of shape (n_features,)
        What features are divided by: their standard deviation, divided by their relevance.
    n_iter_ : int
        The number of steps.
    n_samples_seen_ : int
        The number of rows.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where they have any.

    Notes
    -----
    The factors see y: put the scaler into a pipeline, so that they are found anew for the training rows of every fold.
    The best gamma is often larger than without: tune it. In a file of :func:`save` the scaler becomes the
    ``StandardScaler`` that does the same.

    Examples
    --------
    Two of ten features matter:

    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from budgetsvm import BudgetSVC, RelevanceScaler
    >>> X = np.random.default_rng(0).normal(size=(4000, 10))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> for scaler in StandardScaler(), RelevanceScaler(random_state=0):
    ...     model = make_pipeline(scaler, BudgetSVC(budget=100, random_state=0))
    ...     print(model.fit(X[:2000], y[:2000]).score(X[2000:], y[2000:]) > 0.9)
    False
    True
    >>> np.sort(np.argsort(-model[0].relevance_)[:2])
    array([0, 1])
    """

    def __init__(
        self,
        *,
        strength: float | Literal["auto"] = "auto",
        task: Literal["auto", "classification", "regression"] = "auto",
        sample: int = 10_000,
        max_iter: int = 50,
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.strength = strength
        self.task = task
        self.sample = sample
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the factors.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            How much a row counts.

        Returns
        -------
        self : RelevanceScaler
        """
        self._check_parameters()
        if y is None:
            raise ValueError("RelevanceScaler requires y to be passed, but the target y is None")
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=_DTYPES, multi_output=True, y_numeric=False
        )
        y, labels = labels_or_numbers(y, self.task)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not weights.any():
            raise ValueError("all sample weights are zero: there is nothing to learn from")
        weights = weights / weights.max()
        plain = _standard(X, None if sample_weight is None else weights)
        sample = self._sample(plain, X, y, weights, labels=labels)
        strength, errors, factors, steps = self._search(sample)
        self.relevance_ = strengthened(factors, strength)
        self.strength_, self.errors_, self.n_iter_ = strength, errors, steps
        self.mean_ = None if plain.mean_ is None or sparse.issparse(X) else plain.mean_
        self.scale_ = np.asarray(plain.scale_, np.float64) / self.relevance_
        self.n_samples_seen_ = int(X.shape[0])
        return self

    def transform(self, X: Any) -> Any:
        """Scale rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
        """
        X = self._checked(X)
        if sparse.issparse(X):
            return _times_columns(X, 1 / self.scale_)
        return ((X if self.mean_ is None else X - self.mean_) / self.scale_).astype(X.dtype)

    def inverse_transform(self, X: Any) -> Any:
        """Undo the scaling.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Scaled rows.

        Returns
        -------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
        """
        X = self._checked(X)
        if sparse.issparse(X):
            return _times_columns(X, self.scale_)
        return (X * self.scale_ + (0.0 if self.mean_ is None else self.mean_)).astype(X.dtype)

    def _checked(self, X: Any) -> Any:
        """Return rows that can be scaled."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=_DTYPES)
        if sparse.issparse(X) and self.mean_ is not None:
            message = "the scaler was fitted to dense rows, whose mean it subtracts: these would not stay sparse; use X.toarray()"
            raise ValueError(message)
        return X

    def _check_parameters(self) -> None:
        if isinstance(self.strength, str):
            check_choice("strength", self.strength, ("auto",))
        elif not 0 <= check_number("strength", self.strength) <= 1:
            message = f"strength must be 'auto' or a number from 0 to 1, not {self.strength!r}"
            raise ValueError(message)
        if not isinstance(self.verbose, bool):
            check_number("verbose", self.verbose)
        check_choice("task", self.task, ("auto", "classification", "regression"))
        check_count("sample", self.sample, least=1)
        check_count("max_iter", self.max_iter, least=1)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, above=0)

    def _sample(
        self, plain: StandardScaler, X: Any, y: NDArray[Any], weights: _Array, *, labels: bool
    ) -> Sample:
        """Return some of the rows in no order, standardised."""
        rng, used = generator(self.random_state), np.flatnonzero(weights)
        rows = rng.permutation(used)
        some = min(len(rows), int(self.sample))
        learn = some - some // _JUDGES
        rows = rows[: learn + max(some // _JUDGES, min(len(rows) - some, _MOST_JUDGES))]
        aim = classes_to_aim_at if labels else numbers_to_aim_at
        aims: Aims = aim(y[rows], weights[rows])
        chosen = plain.transform(X[rows].astype(np.float64))
        return Sample(chosen, aims, weights[rows] / weights[rows].mean(), learn)

    def _search(self, sample: Sample) -> tuple[float, dict[float, float], _Array, int]:
        """Return the strength, errors of all, the factors, and the number of steps."""
        n_features = sample.X.shape[1]
        ones, started = np.ones(n_features), perf_counter()
        if (
            n_features < 2
            or sample.n_learn < _LEAST_ROWS
            or not sample.aims.Y.any()
            or self.strength == 0
        ):
            return 0.0, {}, ones, 0
        deadline = np.inf if self.time_limit is None else started + self.time_limit
        steps, threads = int(self.max_iter), count_threads(self.n_jobs)
        done = [0]

        def left() -> float | None:
            return (perf_counter() - started) * (steps - done[0]) / done[0] if done[0] else None

        with single_threaded_blas(), progress("relevance", left, shown=self.verbose > 0) as bar:

            def tell(step: int) -> None:
                done[0] = min(step, steps)
                if bar is not None:
                    bar.say(f"step {step}")

            effort = Effort(steps, deadline, threads, tell)
            factors, n_steps = find_scales(sample, effort)
            if self.strength != "auto":
                return float(self.strength), {}, factors, n_steps
            strength, errors = choose_strength(sample, factors, threads)
        return strength, dict(zip(STRENGTHS, errors.tolist(), strict=True)), factors, n_steps

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _standard(X: Any, weights: _Array | None) -> StandardScaler:
    """Return means and deviations of features, in double precision."""
    few = sparse.issparse(X)
    with np.errstate(over="ignore", invalid="ignore"):
        plain = StandardScaler(with_mean=not few)
        plain.fit(X.astype(np.float64) if few else X, sample_weight=weights)
        if not np.isfinite(plain.var_).all():
            raise ValueError("X has values too large for their squares; scale the features first")
    return plain


def _times_columns(X: Any, factors: _Array) -> Any:
    """Return sparse rows whose columns are multiplied, in double precision."""
    wide = X.astype(np.float64)
    inplace_column_scale(wide, factors)
    return wide.astype(X.dtype)
