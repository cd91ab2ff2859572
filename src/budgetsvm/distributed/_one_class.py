"""DaskBudgetOneClassSVM: novelty detection on a cluster."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.public import public_in
from budgetsvm._estimators.machine import all_or_nothing
from budgetsvm._estimators.one_class.estimator import BudgetOneClassSVM
from budgetsvm._estimators.user_input import weighted_rows
from budgetsvm._learn.settings import Settings
from budgetsvm._model.decisions import precise_decision
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm.distributed._lazy import lazy
from budgetsvm.distributed._machine import SpreadMachine
from budgetsvm.distributed._rows import SpreadX
from budgetsvm.distributed._workers.blocks import Block
from budgetsvm.distributed._workers.members import as_it_is


@public_in("budgetsvm.distributed")
class DaskBudgetOneClassSVM(SpreadMachine, BudgetOneClassSVM):
    """:class:`budgetsvm.BudgetOneClassSVM`, trained on a Dask cluster on rows that no machine has to hold.

    How that is done is said of :class:`DaskBudgetSVC`. The offset is a quantile of the scores of all rows.

    Parameters
    ----------
    nu, kernel, gamma, ... : as of :class:`budgetsvm.BudgetOneClassSVM`
        But for what :class:`DaskBudgetSVC` says.

    Attributes
    ----------
    dual_coef_, offset_, duality_gap_, ... : as of :class:`budgetsvm.BudgetOneClassSVM`
        `objective_` and `duality_gap_` are about all rows.
    traffic_ : Traffic
        How often the cluster was asked, and how many bytes went to and fro.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from budgetsvm.distributed import DaskBudgetOneClassSVM
    >>> X = da.random.default_rng(0).standard_normal((2000, 2), chunks=(500, 2))
    >>> with Client(
    ...     processes=False, n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ... ):
    ...     model = DaskBudgetOneClassSVM(nu=0.1, gamma=0.2, budget=30, random_state=0).fit(X)
    ...     outliers = (model.predict(X) < 0).mean().compute()
    >>> round(float(outliers), 2)
    0.1
    >>> print(model.predict([[0.0, 0.0], [5.0, 5.0]]))
    [ 1 -1]
    """

    _LOCAL: ClassVar[Any] = BudgetOneClassSVM

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, client: Any = None) -> Self:  # type: ignore[override]  # noqa: ARG002
        """Train on all rows of a Dask collection.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features), or list of delayed blocks
            Training rows. Chunks of an array may be dense or sparse.
        y : None
            Not used.
        sample_weight : dask array, series or list of delayed blocks, or array-like of shape (n_samples,), default=None
            A row counts as often as its weight says.
        client : distributed.Client, default=None
            The cluster to train on. None: the current one.

        Returns
        -------
        self : DaskBudgetOneClassSVM
        """
        return self._fit_on(client, X, None, sample_weight)

    predict = lazy(BudgetOneClassSVM.predict)
    decision_function = lazy(BudgetOneClassSVM.decision_function)
    score_samples = lazy(BudgetOneClassSVM.score_samples)

    def _encode(
        self,
        X: Any,
        y: Any,  # noqa: ARG002 - blocks may have targets all the same
        sample_weight: Any,
        settings: Settings,
    ) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
        self._name_features()
        n = len(sample_weight)
        _, _, weights = weighted_rows(np.empty((n, 1)), np.ones(n), sample_weight, None)
        self._find_level(X, weights, settings)
        return X, weights, weights

    def _scores(self, X: Any) -> NDArray[np.float64]:
        if not isinstance(X, SpreadX):
            return super()._scores(X)
        model = X.cluster.once("model", as_it_is, self._expansion)
        parts = X.cluster.ask("scores", _first_output, X.blocks, [model] * len(X.blocks))
        return np.concatenate(parts) * self._scale


def _first_output(block: Block, model: KernelExpansion) -> NDArray[np.float64]:
    return np.ascontiguousarray(precise_decision(model, block.X)[:, 0])
