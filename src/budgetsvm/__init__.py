"""Kernel support vector machines on a budget.

Public names: the estimator :class:`BudgetSVC`, and the modules :mod:`budgetsvm.kernels`,
:mod:`budgetsvm.solvers` and :mod:`budgetsvm.maintenance` with its options.
"""

from importlib.metadata import version as _version

try:
    from budgetsvm import _core as _core
except ImportError as error:
    message = (
        "budgetsvm's compiled core (budgetsvm._core) cannot be loaded. In a source tree run "
        "`make test` or `pip install -e .` (both need a C++17 compiler) and use that environment; "
        "do not import budgetsvm from its src/ folder."
    )
    raise ImportError(message) from error

from budgetsvm import kernels, maintenance, solvers
from budgetsvm._svc import BudgetSVC

__version__ = _version("budgetsvm")

__all__ = ["BudgetSVC", "__version__", "kernels", "maintenance", "solvers"]
