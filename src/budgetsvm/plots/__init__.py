"""Pictures of searches and of fitted models, each on matplotlib axes.

:func:`plot_grid` and :func:`plot_budget_curve` show what a search has found, :func:`plot_confusion` and
:func:`plot_calibration` how good a model is on some rows. They need matplotlib: ``pip install "budgetsvm[plot]"``.
:func:`budgetsvm.monitoring.plot_trace` shows how a fit went.
"""

from budgetsvm.plots._calibration import plot_calibration
from budgetsvm.plots._confusion import plot_confusion
from budgetsvm.plots._search import plot_budget_curve, plot_grid

__all__ = ["plot_budget_curve", "plot_calibration", "plot_confusion", "plot_grid"]
