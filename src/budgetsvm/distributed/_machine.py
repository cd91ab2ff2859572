"""Both phases on a cluster: terms from a sample of the rows, the problem in their span on all of them."""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._estimators.fitting.training import Training
from budgetsvm._estimators.fitting.two_phases import BudgetMachine
from budgetsvm._estimators.fitting.warm_start import Origin
from budgetsvm._estimators.streaming.machine import StreamingMachine
from budgetsvm._estimators.user_input import generator
from budgetsvm._learn.settings import Settings
from budgetsvm._polish.polish import Polishing
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows, check_weights
from budgetsvm._problem.targets import Targets
from budgetsvm.distributed._cluster import Cluster
from budgetsvm.distributed._input import Data, load
from budgetsvm.distributed._matrix import spread_matrix
from budgetsvm.distributed._rounds.traffic import Traffic
from budgetsvm.distributed._rows import SpreadRows, SpreadX
from budgetsvm.kernels import Kernel
from budgetsvm.monitoring._observer import FitObserver, PolishMoment
from budgetsvm.monitoring._progress_bar import ProgressBar, shown_on

# Rows that terms are learned from, and the numbers that these have, at most: two epochs of them are the million visits that phase 1
# makes of any number of rows. docs/practice/dask.md has a figure.
_SAMPLE_ROWS, _SAMPLE_VALUES = 1 << 19, 1 << 25
_FEW = 4  # rows per term, up to which one machine solves the problem of all rows


class Sample:
    """Rows that are here: those that terms are learned from, and their numbers among all."""

    def __init__(self, data: Data, rng: np.random.Generator) -> None:
        n, n_features = data.X.shape
        most = min(n, _SAMPLE_ROWS, max(1024, _SAMPLE_VALUES // max(1, n_features)))
        self.numbers = np.arange(n)
        if most < n:
            self.numbers = np.sort(rng.choice(n, most, replace=False))
        self.X = data.X[self.numbers]
        #: With a row of every partition that is far out: what is decided by these rows holds for all.
        stack = sparse.vstack if data.X.is_sparse else np.concatenate
        self.look = stack([self.X, *data.farthest])
        if data.X.is_sparse:
            self.X, self.look = sparse.csr_array(self.X), sparse.csr_array(self.look)


class SpreadMachine(StreamingMachine):
    """An estimator that is trained on a cluster; `_LOCAL` is what it is on one machine."""

    _LOCAL: ClassVar[Callable[..., Any]]

    traffic_: Traffic
    _data: Data  # while it is trained
    _sample_rows: Sample

    def to_local(self) -> Any:
        """Return the ordinary estimator, with the same parameters and the same model.

        Returns
        -------
        model : BudgetSVC, BudgetSVR or BudgetOneClassSVM
            It shares arrays with this one. Whoever is to use it needs no Dask.
        """
        self._check_fitted()
        return self._as_local(fitted=True)

    def _as_local(self, *, fitted: bool) -> Any:
        local = type(self)._LOCAL(**self.get_params(deep=False))
        if fitted:
            own = vars(self).keys() - {"traffic_"} - self.get_params(deep=False).keys()
            local.__dict__.update({name: vars(self)[name] for name in own})
        return local

    def save(self, path: Any) -> None:
        """Write the ordinary estimator to a file, from which :func:`budgetsvm.load` makes it again.

        Parameters
        ----------
        path : str or path-like
            The file, by custom with the suffix ``.bsvm``.
        """
        self.to_local().save(path)

    def to_c(self, **options: Any) -> Any:
        """Return the ordinary estimator as a header of C; see :func:`budgetsvm.to_c`.

        Parameters
        ----------
        **options
            As of :func:`budgetsvm.to_c`.

        Returns
        -------
        header : CHeader
        """
        return self.to_local().to_c(**options)

    # ---- training ----

    def _fit_on(self, client: Any, X: Any, y: Any, sample_weight: Any) -> Self:
        """Train on a cluster."""
        self._settings()  # complains before anybody works
        with _session(client) as cluster:
            self._data = load(cluster, X, y, sample_weight, self._most_terms)
            if self._data.X.shape[0] <= _FEW * self._most_terms:
                self._fit_here()
            else:
                rng = np.random.default_rng(generator(self.random_state).integers(2**31))
                self._sample_rows = Sample(self._data, rng)
                with shown_on(_RoundsBar(cluster.traffic)):
                    self._fit(self._data.X, self._data.y, self._data.weights)
            self.traffic_ = cluster.traffic
        for name in ("_data", "_sample_rows"):
            self.__dict__.pop(name, None)
        return self

    def _fit_here(self) -> None:
        """Train on one machine, for which there are few enough rows."""
        data = self._data
        local = self._as_local(fitted=False)
        X = data.X[slice(None)]
        local.fit(X, data.y, data.weights)
        self.__dict__.update(vars(local))
        self._name_features()

    def _name_features(self) -> None:
        self.n_features_in_ = self._data.X.n_features
        self.__dict__.pop("feature_names_in_", None)
        if self._data.names is not None:
            self.feature_names_in_ = self._data.names

    def _settings(self) -> Settings:
        settings = super()._settings()
        if not self._polishes:
            message = (
                "on a cluster, terms come from a sample of the rows, and the polish is what looks at all of them: set "
                "polish=True, and a budget"
            )
            raise ValueError(message)
        if self._takes_values:
            raise ValueError("kernel='precomputed' needs all pairs of rows on one machine")
        for name, nothing in (("warm_start", False), ("monitor", None)):
            if getattr(self, name) not in (nothing, None):
                message = f"{name} is for fits on one machine, and not for {type(self).__name__}"
                raise ValueError(message)
        return settings

    def _stream_settings(self) -> Settings:
        message = (
            f"a {type(self).__name__} is trained by fit alone; to_local() gives an estimator that can go on with "
            "partial_fit"
        )
        raise ValueError(message)

    def _begin(
        self, X: Any, encoded: NDArray[Any], targets: Targets, settings: Settings
    ) -> Origin | None:
        assert isinstance(X, SpreadX)
        return super()._begin(self._sample_rows.look, encoded, targets, settings)

    def _resolved(self, kernel: Kernel, X: Any) -> Kernel:
        spread = self._data.variance
        if not np.isfinite(spread):
            raise ValueError("X has values too large for their squares; scale the features first")
        return kernel.resolve(int(X.shape[1]), spread)

    def _problem(self, X: Any, targets: Targets) -> Problem:
        check_weights(targets.box)
        model = self._expansion
        X = X.as_sparse() if model.sparse_points else X
        rows = SpreadRows(X, model.points.dtype.type, model.centre, model.sparse_points)
        return Problem(rows, targets, self._rows_seen)

    def _sampled(self, problem: Problem) -> Problem:
        """Return the problem of the rows that are here."""
        rows = problem.rows
        X = sparse.csr_array(self._sample_rows.X) if rows.X.is_sparse else self._sample_rows.X
        own = Rows(X, rows.dtype, rows.centre, rows.sparse_points)
        return Problem(own, problem.targets.some(self._sample_rows.numbers), problem.n_total)

    def _may_be_exact(self, problem: Problem, training: Training, *, known: bool) -> bool:  # noqa: ARG002
        return False

    def _find_terms(self, problem: Problem, training: Training) -> Problem:
        super()._find_terms(self._sampled(problem), training)
        return problem

    def _polishing(self, training: Training, observer: FitObserver) -> Polishing:
        limit = self.memory_limit

        def make_matrix(problem: Problem, basis: Any, limits: Any) -> Any:
            return spread_matrix(problem, basis, limits, limit)

        return replace(
            super()._polishing(training, observer),
            make_matrix=make_matrix,
            make_in_double=make_matrix,
        )

    def _remember_terms(
        self,
        rows: Rows,
        encoded: NDArray[Any],
        sample_weight: Any,  # noqa: ARG002
        settings: Settings,
    ) -> None:
        sample = self._sample_rows
        here = Rows(sample.X, rows.dtype, rows.centre, rows.sparse_points)
        BudgetMachine._remember_terms(self, here, encoded[sample.numbers], None, settings)
        if "_support" in vars(self):
            self._support = sample.numbers[self._support]


class _RoundsBar(ProgressBar):
    """Shows how often the cluster was asked, too."""

    def __init__(self, traffic: Traffic) -> None:
        super().__init__()
        self._traffic = traffic

    def in_polish(self, moment: PolishMoment) -> None:
        """Show the gap and the rounds."""
        if self.bar is not None:
            self.bar.say(f"gap {moment.gap:.2g}, {self._traffic.rounds} rounds")


@contextmanager
def _session(client: Any) -> Any:
    """Lend a cluster; whatever happens, Ctrl-C included, nothing is left behind on it."""
    cluster = Cluster(client)
    try:
        yield cluster
    finally:
        cluster.close()
