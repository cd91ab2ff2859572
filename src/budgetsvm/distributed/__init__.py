"""Training on a Dask cluster, for rows that no machine has to hold (``pip install budgetsvm[dask]``).

:class:`DaskBudgetSVC`, :class:`DaskBudgetSVR` and :class:`DaskBudgetOneClassSVM` take Dask arrays, Dask data frames or lists
of delayed blocks, and give the models that the estimators of :mod:`budgetsvm` would give, with the same certificate.
"""

from budgetsvm.distributed._cluster import ClusterError, Traffic
from budgetsvm.distributed._one_class import DaskBudgetOneClassSVM
from budgetsvm.distributed._svc import DaskBudgetSVC
from budgetsvm.distributed._svr import DaskBudgetSVR

__all__ = ["ClusterError", "DaskBudgetOneClassSVM", "DaskBudgetSVC", "DaskBudgetSVR", "Traffic"]
