"""Kernel support vector machines on a budget.

Public names: the estimators :class:`BudgetSVC`, :class:`BudgetSVR` and :class:`BudgetOneClassSVM`, the
transformers :class:`BudgetFeatures` and :class:`RelevanceScaler`, the functions :func:`polish`, :func:`compress`, :func:`diagnose`, :func:`report`,
:func:`save`, :func:`load`, :func:`to_libsvm`, :func:`to_onnx` and :func:`to_c`, the modules :mod:`budgetsvm.kernels`,
:mod:`budgetsvm.losses`, :mod:`budgetsvm.solvers` and :mod:`budgetsvm.maintenance` with options,
:mod:`budgetsvm.model_selection` to find parameters, :mod:`budgetsvm.monitoring` to watch a fit, :mod:`budgetsvm.plots` with
pictures, :mod:`budgetsvm.conformal` for sets and intervals with a given coverage, :mod:`budgetsvm.streams` to read large files, and
:mod:`budgetsvm.datasets` with the usual data sets.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

try:
    from budgetsvm import _core as _core
except ImportError as error:
    message = (
        "budgetsvm's compiled core (budgetsvm._core) cannot be loaded. In a source tree run "
        "`make test` or `pip install -e .` (both need a C++17 compiler) and use that environment; "
        "do not import budgetsvm from its src/ folder."
    )
    raise ImportError(message) from error

if TYPE_CHECKING:
    from budgetsvm import (
        conformal,
        datasets,
        kernels,
        losses,
        maintenance,
        model_selection,
        monitoring,
        plots,
        solvers,
        streams,
    )
    from budgetsvm._diagnosis.diagnose import diagnose
    from budgetsvm._diagnosis.finding import Diagnosis, Finding
    from budgetsvm._estimators.compression.compress import Compressed, compress
    from budgetsvm._estimators.features import BudgetFeatures
    from budgetsvm._estimators.one_class.estimator import BudgetOneClassSVM
    from budgetsvm._estimators.polish_function import Polished, polish
    from budgetsvm._estimators.relevance.scaler import RelevanceScaler
    from budgetsvm._estimators.svc import BudgetSVC
    from budgetsvm._estimators.svr import BudgetSVR
    from budgetsvm._formats.c.export import CHeader, to_c
    from budgetsvm._formats.libsvm.estimators import to_libsvm
    from budgetsvm._formats.load import load
    from budgetsvm._formats.native import save
    from budgetsvm._formats.onnx.export import to_onnx
    from budgetsvm._report.report import report

    __version__: str

__all__ = [
    "BudgetFeatures",
    "BudgetOneClassSVM",
    "BudgetSVC",
    "BudgetSVR",
    "CHeader",
    "Compressed",
    "Diagnosis",
    "Finding",
    "Polished",
    "RelevanceScaler",
    "__version__",
    "compress",
    "conformal",
    "datasets",
    "diagnose",
    "kernels",
    "load",
    "losses",
    "maintenance",
    "model_selection",
    "monitoring",
    "plots",
    "polish",
    "report",
    "save",
    "solvers",
    "streams",
    "to_c",
    "to_libsvm",
    "to_onnx",
]

_HOMES = {
    "BudgetFeatures": "budgetsvm._estimators.features",
    "BudgetOneClassSVM": "budgetsvm._estimators.one_class.estimator",
    "BudgetSVC": "budgetsvm._estimators.svc",
    "BudgetSVR": "budgetsvm._estimators.svr",
    "CHeader": "budgetsvm._formats.c.export",
    "Compressed": "budgetsvm._estimators.compression.compress",
    "Diagnosis": "budgetsvm._diagnosis.finding",
    "Finding": "budgetsvm._diagnosis.finding",
    "Polished": "budgetsvm._estimators.polish_function",
    "RelevanceScaler": "budgetsvm._estimators.relevance.scaler",
    "compress": "budgetsvm._estimators.compression.compress",
    "diagnose": "budgetsvm._diagnosis.diagnose",
    "load": "budgetsvm._formats.load",
    "polish": "budgetsvm._estimators.polish_function",
    "report": "budgetsvm._report.report",
    "save": "budgetsvm._formats.native",
    "to_c": "budgetsvm._formats.c.export",
    "to_libsvm": "budgetsvm._formats.libsvm.estimators",
    "to_onnx": "budgetsvm._formats.onnx.export",
}


if not TYPE_CHECKING:  # which would take every name for one of ours

    def __getattr__(name: str) -> Any:
        """Import public names when they are asked for: the command line need not wait for them."""
        if name == "__version__":
            from importlib.metadata import version  # which is slow to import

            return version("budgetsvm")
        if name in _HOMES:
            return getattr(import_module(_HOMES[name]), name)
        if name in __all__:
            return import_module(f"budgetsvm.{name}")
        message = f"module 'budgetsvm' has no attribute {name!r}"
        raise AttributeError(message)


def __dir__() -> list[str]:
    return __all__
