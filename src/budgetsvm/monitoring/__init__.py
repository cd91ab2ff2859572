"""Watch a fit while it runs.

A :class:`Trace` writes down objectives, test score, and what the solver does, at moments that you choose;
:func:`plot_trace` draws it. For anything else, derive a class from :class:`Monitor`.

>>> from sklearn.datasets import make_moons
>>> from budgetsvm import BudgetSVC
>>> from budgetsvm.monitoring import Trace
>>> X, y = make_moons(2000, noise=0.2, random_state=0)
>>> model = BudgetSVC(gamma=2, budget=30, polish=False, epochs=3, monitor=Trace("epoch"))
>>> print(model.fit(X, y).monitor_["epochs"])
[1. 2. 3.]
"""

from budgetsvm.monitoring._interface import Monitor, TrainingData, View
from budgetsvm.monitoring._plot import plot_trace
from budgetsvm.monitoring._trace import Observation, Trace

__all__ = ["Monitor", "Observation", "Trace", "TrainingData", "View", "plot_trace"]
