"""Training on a Dask cluster, for rows that no machine has to hold (``pip install "budgetsvm[dask]"``).

:class:`DaskBudgetSVC`, :class:`DaskBudgetSVR` and :class:`DaskBudgetOneClassSVM` take Dask arrays, Dask data frames or lists
of delayed blocks, and give the models that the estimators of :mod:`budgetsvm` would give, with the same certificate.
:func:`read_libsvm` reads LIBSVM files as such blocks; Parquet files are read by ``dask.dataframe.read_parquet``.
"""

from importlib import import_module

from budgetsvm._common.extras import extra

with extra("dask", "budgetsvm.distributed needs Dask"):
    import_module("distributed")

from budgetsvm.distributed._cluster import ClusterError
from budgetsvm.distributed._one_class import DaskBudgetOneClassSVM
from budgetsvm.distributed._read import read_libsvm
from budgetsvm.distributed._rounds.traffic import Traffic
from budgetsvm.distributed._svc import DaskBudgetSVC
from budgetsvm.distributed._svr import DaskBudgetSVR

__all__ = [
    "ClusterError",
    "DaskBudgetOneClassSVM",
    "DaskBudgetSVC",
    "DaskBudgetSVR",
    "Traffic",
    "read_libsvm",
]
