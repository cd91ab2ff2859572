"""The paper's algorithms in plain NumPy, to be read beside the paper; the core must agree with them.

"Dual SVM Training on a Budget" (Qaadan, Schüler & Glasmachers 2018): Algorithm 1 (BSCA) and eq. 4
(BSGD), with two corrections. Line 9 of Algorithm 1 inserts (δ, x_i); with f = Σ β k it must be
(y_i δ, x_i). And "points of the same class" are merged there; a correction δ < 0 has the sign of the
other class, so what matters is the sign of the coefficient.

A model is a list of terms (β, z). Everything is float64, nothing is clever, and nothing is imported
from the package under test.
"""

from oracles.reference.joint_merge import (
    JointMerge,
    golden_joint_merge,
    joint_merge,
    joint_reductions,
)
from oracles.reference.joint_solvers import Joint, best_variable, bounded_slope, slope
from oracles.reference.maintenance import Maintenance, Merge, Project, Remove, smallest
from oracles.reference.merge_point import (
    exact_merge,
    golden_merge,
    merge_range,
    merge_slope,
    merge_value,
)
from oracles.reference.models import (
    Choose,
    Kernel,
    Model,
    Term,
    Vector,
    argmin,
    decision,
    split,
    squared_distance,
)
from oracles.reference.solvers import BSCA, BSGD, Solver

__all__ = [
    "BSCA",
    "BSGD",
    "Choose",
    "Joint",
    "JointMerge",
    "Kernel",
    "Maintenance",
    "Merge",
    "Model",
    "Project",
    "Remove",
    "Solver",
    "Term",
    "Vector",
    "argmin",
    "best_variable",
    "bounded_slope",
    "decision",
    "exact_merge",
    "golden_joint_merge",
    "golden_merge",
    "joint_merge",
    "joint_reductions",
    "merge_range",
    "merge_slope",
    "merge_value",
    "slope",
    "smallest",
    "split",
    "squared_distance",
]
