"""DaskBudgetSVR: regression on a cluster."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.public import public_in
from budgetsvm._estimators.machine import all_or_nothing
from budgetsvm._estimators.svr import BudgetSVR, one_or_more_targets
from budgetsvm._estimators.user_input import weighted_rows
from budgetsvm._learn.settings import Settings
from budgetsvm._problem.target_scale import TargetScale
from budgetsvm.distributed._lazy import lazy
from budgetsvm.distributed._machine import SpreadMachine


@public_in("budgetsvm.distributed")
class DaskBudgetSVR(SpreadMachine, BudgetSVR):
    """:class:`budgetsvm.BudgetSVR`, trained on a Dask cluster on rows that no machine has to hold.

    How that is done is said of :class:`DaskBudgetSVC`. Mean and scale of the targets are those of all rows.

    Parameters
    ----------
    C, epsilon, kernel, ... : as of :class:`budgetsvm.BudgetSVR`
        But for what :class:`DaskBudgetSVC` says.

    Attributes
    ----------
    dual_coef_, target_scale_, duality_gap_, ... : as of :class:`budgetsvm.BudgetSVR`
        `objective_` and `duality_gap_` are about all rows.
    traffic_ : Traffic
        How often the cluster was asked, and how many bytes went to and fro.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from budgetsvm.distributed import DaskBudgetSVR
    >>> X = da.linspace(0, 6, 2000, chunks=500)[:, None]
    >>> y = 100 + 50 * da.sin(X[:, 0])
    >>> with Client(
    ...     processes=False, n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ... ):
    ...     model = DaskBudgetSVR(C=10, gamma=1, epsilon=0.02, budget=20, random_state=0).fit(X, y)
    ...     error = abs(model.predict(X) - y).max().compute()
    >>> bool(error < 5)
    True
    """

    _LOCAL: ClassVar[Any] = BudgetSVR

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, client: Any = None) -> Self:  # type: ignore[override]
        """Train on all rows of a Dask collection.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features), or list of delayed blocks
            Training rows. Chunks of an array may be dense or sparse. Delayed blocks are X, (X, y) or (X, y, sample_weight).
        y : dask array, series or list of delayed blocks, or array-like, default=None
            What is to be predicted, of shape (n_samples,) or (n_samples, n_targets), in the partitions of X. None: blocks
            have it.
        sample_weight : as y, default=None
            C of a row is multiplied by its weight. Weight 0 is as good as leaving the row out.
        client : distributed.Client, default=None
            The cluster to train on. None: the current one.

        Returns
        -------
        self : DaskBudgetSVR
        """
        return self._fit_on(client, X, y, sample_weight)

    predict = lazy(BudgetSVR.predict)

    def _encode(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        settings: Settings,  # noqa: ARG002
    ) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
        if y is None:
            raise ValueError("y is missing: regression needs targets, as y or in the blocks of X")
        self._name_features()
        y = one_or_more_targets(y)
        _, y, weights = weighted_rows(np.empty((len(y), 1)), y, sample_weight, None)
        self._flat, targets = y.ndim == 1, y.astype(np.float64).reshape(len(y), -1)
        self._take_scale(TargetScale.of(targets, weights))
        return X, targets, weights
