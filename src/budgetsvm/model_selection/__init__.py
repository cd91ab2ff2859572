"""Model selection: C, gamma and the budget by cross-validation, in the time of a few fits.

:class:`BudgetSVCCV` and :class:`BudgetSVRCV` search a grid. For each gamma and fold the terms are learned once, and
one matrix of kernel values serves all C: then another C costs next to nothing.
"""

from budgetsvm.model_selection._svc import BudgetSVCCV
from budgetsvm.model_selection._svr import BudgetSVRCV

__all__ = ["BudgetSVCCV", "BudgetSVRCV"]
