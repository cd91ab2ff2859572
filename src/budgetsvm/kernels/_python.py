"""Kernels whose values come from Python: functions, and matrices that were computed before."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._common.public import public_in
from budgetsvm.kernels._interface import CoreKernel, Kernel

KernelFunction: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.float64]], Any]


@public_in("budgetsvm.kernels")
@dataclass(frozen=True)
class KernelInPython(Kernel):
    """A kernel whose values come from Python, row by row where terms are learned. Use one of its subclasses."""

    in_python: ClassVar[bool] = True

    def core(self) -> CoreKernel:
        """Return what the compiled core wants to know; which terms to call back with, it is told later."""
        return CoreKernel("callable")

    def diagonal(self, squared_norms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Norms say nothing about this kernel; see `of_itself`."""
        raise NotImplementedError("a kernel in Python needs points, not norms")

    @abstractmethod
    def matrix(self, X: NDArray[np.float64], Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return k(x, z) for all rows of X and Z, checked."""

    def of_itself(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return k(x, x) of points."""
        return np.array([self.row(x, x[np.newaxis])[0] for x in points])

    def row(self, x: NDArray[np.float64], Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return k(x, z) for every row z of Z."""
        values: NDArray[np.float64] = self.matrix(x[np.newaxis], Z)[0]
        return values

    @property
    def growth(self) -> int:
        """0: nothing is known, and its values are checked."""
        return 0


@public_in("budgetsvm.kernels")
@dataclass(frozen=True)
class Callback(KernelInPython):
    """Any Python function ``k(X, Z)`` that returns the matrix of kernel values, as for ``SVC``.

    This is the slow path: Python is called at every visit of a training point, which costs some ten
    microseconds and holds the interpreter's lock, so that threads do not help. The function gets
    dense float64 arrays of shapes (m, d) and (B, d).
    """

    function: KernelFunction
    name: ClassVar[str] = "callable"

    def matrix(self, X: NDArray[np.float64], Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Call the function and check what it returns; without rows or terms it is not asked, as few functions know an answer."""
        if not (len(X) and len(Z)):
            return np.zeros((len(X), len(Z)))
        return checked_values(self.function(X, Z), (len(X), len(Z)))


@public_in("budgetsvm.kernels")
@dataclass(frozen=True)
class Precomputed(KernelInPython):
    """Kernel values that are given in the place of rows, ``kernel="precomputed"``.

    Training rows are known by their numbers: the points of terms are numbers, in arrays of one column. Other rows
    are given by their kernel values with all training rows.
    """

    #: of the training rows, while a machine is trained; the machine does not keep it
    gram: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)
    name: ClassVar[str] = "precomputed"

    def matrix(self, X: NDArray[np.float64], Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Look the values up: X are numbers of training rows, or kernel values with all of them."""
        terms = Z[:, 0].astype(np.intp)
        if self.gram is None or X.shape[1] > 1:
            return np.ascontiguousarray(X[:, terms])
        return self.gram[X[:, 0].astype(np.intp)[:, np.newaxis], terms]

    def of_itself(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return k(x, x) of training rows, given by their numbers."""
        assert self.gram is not None
        numbers = points[:, 0].astype(np.intp)
        return self.gram[numbers, numbers]

    def row(self, x: NDArray[np.float64], Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values of a training row with others."""
        assert self.gram is not None
        values: NDArray[np.float64] = self.gram[int(x[0]), Z[:, 0].astype(np.intp)]
        return values


def checked_values(found: Any, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Return what a kernel function has returned, or say what is wrong with it."""
    if sparse.issparse(found):
        found = found.toarray()
    if np.iscomplexobj(found):  # NumPy would leave the imaginary part out
        raise ValueError("the kernel function returned complex numbers: values must be real")
    values: NDArray[np.float64] = np.asarray(found, dtype=np.float64)
    if values.shape != shape:
        message = f"the kernel function returned shape {values.shape}, not {shape}"
        raise ValueError(message)
    if not np.isfinite(values).all():
        raise ValueError("the kernel function returned NaN or infinity")
    return np.ascontiguousarray(values)
