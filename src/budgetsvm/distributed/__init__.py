"""Training on a Dask cluster, for rows that no machine has to hold (``pip install budgetsvm[dask]``).

:class:`DaskBudgetSVC` takes Dask arrays, Dask data frames or lists of delayed blocks, and gives the model that
:class:`budgetsvm.BudgetSVC` would give, with the same certificate.
"""

from budgetsvm.distributed._cluster import ClusterError, Traffic
from budgetsvm.distributed._svc import DaskBudgetSVC

__all__ = ["ClusterError", "DaskBudgetSVC", "Traffic"]
