"""A model of LIBSVM as it stands in its file, and the names that things have there."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._problem.points import Points
from budgetsvm.kernels import Gaussian, Kernel, Linear, Polynomial, Sigmoid

CLASSIFIERS = ("c_svc", "nu_svc")
REGRESSORS = ("epsilon_svr", "nu_svr")
ONE_CLASS = "one_class"
TYPES = (*CLASSIFIERS, ONE_CLASS, *REGRESSORS)
#: The kernels by their names, with the numbers that each has in a file.
KERNELS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "linear": (Linear, ()),
    "polynomial": (Polynomial, ("degree", "gamma", "coef0")),
    "rbf": (Gaussian, ("gamma",)),
    "sigmoid": (Sigmoid, ("gamma", "coef0")),
}


@dataclass(frozen=True, eq=False)
class LibsvmModel:
    """What is in a file.

    With k classes there are k - 1 rows of coefficients, and the support vectors of a class stand together. Those of
    class i know of the other classes j by row j - 1 if j > i, else by row j. Otherwise there is a single row.
    """

    kind: str  #: one of TYPES
    kernel: Kernel
    coef: NDArray[np.float64]  #: (k - 1, support vectors)
    points: Points
    rho: NDArray[np.float64]  #: per pair of classes, subtracted from sums
    labels: NDArray[np.int64] | None = (
        None  #: in LIBSVM's order: that in which training rows had them
    )
    counts: NDArray[np.int64] | None = None  #: support vectors of every class
    slopes: NDArray[np.float64] | None = None  #: probA, of a classifier: of every pair
    shifts: NDArray[np.float64] | None = None  #: probB
