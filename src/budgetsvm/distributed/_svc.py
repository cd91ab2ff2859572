"""DaskBudgetSVC: the classifier on a cluster."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.public import public_in
from budgetsvm._estimators.machine import all_or_nothing
from budgetsvm._estimators.svc import BudgetSVC
from budgetsvm._estimators.svc_prediction import OfProbabilities
from budgetsvm._estimators.user_input import find_classes, weighted_rows
from budgetsvm._learn.settings import Settings
from budgetsvm.distributed._lazy import lazy
from budgetsvm.distributed._machine import SpreadMachine


@public_in("budgetsvm.distributed")
class DaskBudgetSVC(SpreadMachine, BudgetSVC):
    """:class:`budgetsvm.BudgetSVC`, trained on a Dask cluster on rows that no machine has to hold.

    Phase 1 learns terms on the client, from a sample of the rows. Phase 2 solves the problem of all rows in the span of
    these terms: each partition has its kernel values on its worker, and the client adds up what they contribute, with
    the same certificate as on one machine. The model depends on the partitions and on `random_state`, and neither on the
    number of workers nor on who does what, or dies meanwhile. The guide has a page about it, *Training on Dask*.

    Parameters
    ----------
    C, loss, multi_class, ... : as of :class:`budgetsvm.BudgetSVC`
        But for these: `memory_limit` is what a worker may use for kernel values, by default half of its memory; `n_jobs` are the
        threads of the client; with `early_stopping`, rows are held out of the sample. There is no `warm_start`, `monitor`,
        ``polish=False``, ``kernel="precomputed"`` or ``multi_class="weston-watkins"``.

    Attributes
    ----------
    classes_, dual_coef_, duality_gap_, ... : as of :class:`budgetsvm.BudgetSVC`
        `objective_` and `duality_gap_` are about all rows. `certifies_` is "span", unless there are so few rows that one
        machine solves the full problem.
    traffic_ : Traffic
        How often the cluster was asked, and how many bytes went to and fro.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import make_moons
    >>> from budgetsvm.distributed import DaskBudgetSVC
    >>> X, y = make_moons(2000, noise=0.1, random_state=0)
    >>> X, y = da.from_array(X, chunks=(500, 2)), da.from_array(y, chunks=500)
    >>> with Client(
    ...     processes=False, n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ... ) as client:
    ...     model = DaskBudgetSVC(C=10, gamma=2, budget=30, random_state=0).fit(X, y)
    ...     labels = model.predict(X)  # lazy, as X is
    ...     accuracy = (labels == y).mean().compute()
    >>> model.duality_gap_ <= 0.01, bool(accuracy > 0.99)
    (True, True)
    >>> model.to_local().predict([[0.0, 1.0]])
    array([0])
    """

    _LOCAL: ClassVar[Any] = BudgetSVC

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, client: Any = None) -> Self:  # type: ignore[override]
        """Train on all rows of a Dask collection.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features), or list of delayed blocks
            Training rows. Chunks of an array may be dense or sparse. Delayed blocks are X, (X, y) or (X, y, sample_weight).
        y : dask array, series or list of delayed blocks, or array-like of shape (n_samples,), default=None
            Labels, in the partitions of X. None: blocks have them.
        sample_weight : as y, default=None
            C of a row is multiplied by its weight. Weight 0 is as good as leaving the row out.
        client : distributed.Client, default=None
            The cluster to train on. None: the current one.

        Returns
        -------
        self : DaskBudgetSVC
        """
        return self._fit_on(client, X, y, sample_weight)

    predict = lazy(BudgetSVC.predict)
    decision_function = lazy(BudgetSVC.decision_function)
    predict_proba = OfProbabilities(lazy(BudgetSVC.predict_proba))
    predict_log_proba = OfProbabilities(lazy(BudgetSVC.predict_log_proba))

    def _settings(self) -> Settings:
        settings = super()._settings()
        if self.multi_class == "weston-watkins":
            message = "multi_class='weston-watkins' visits single rows, which are not here: choose 'ovo' or 'ovr' on a cluster"
            raise ValueError(message)
        return settings

    def _encode(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        settings: Settings,  # noqa: ARG002
    ) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
        if y is None:
            raise ValueError("y is missing: a classifier needs labels, as y or in the blocks of X")
        self._name_features()
        if y.ndim != 1:
            message = f"y must have one label per row, not the shape {y.shape}"
            raise ValueError(message)
        self.classes_ = find_classes(y)
        _, y, weights = weighted_rows(np.empty((len(y), 1)), y, sample_weight, self.classes_)
        return X, self._codes(y), weights
