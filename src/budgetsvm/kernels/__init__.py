"""Kernels: small frozen objects, or the names that scikit-learn uses for them.

>>> from budgetsvm import BudgetSVC, kernels
>>> BudgetSVC(kernel=kernels.Laplacian(gamma=0.5), maintenance="remove")
BudgetSVC(kernel=Laplacian(gamma=0.5), maintenance='remove')
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.checks import check_integer, check_number
from budgetsvm.kernels._interface import CoreKernel, Gamma, Kernel, KernelWithGamma, RadialKernel

KernelFunction: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.float64]], Any]

__all__ = ["Callback", "Gaussian", "Kernel", "Laplacian", "Linear", "Polynomial", "Sigmoid"]


@dataclass(frozen=True)
class Gaussian(RadialKernel):
    """exp(-gamma ||x - z||²), the default. The only one whose terms can be merged."""

    gamma: Gamma = "scale"
    name: ClassVar[str] = "rbf"
    mergeable: ClassVar[bool] = True
    metric: ClassVar[str] = "sqeuclidean"


@dataclass(frozen=True)
class Laplacian(RadialKernel):
    """exp(-gamma ||x - z||_1)."""

    gamma: Gamma = "scale"
    name: ClassVar[str] = "laplacian"
    metric: ClassVar[str] = "cityblock"

    def norms(self, points: Any) -> NDArray[np.float64]:
        """Return Σ_k |z_k| of every term."""
        return np.asarray(abs(points).sum(axis=1))


@dataclass(frozen=True)
class Polynomial(KernelWithGamma):
    """(gamma <x, z> + coef0)^degree."""

    degree: int = 3
    gamma: Gamma = "scale"
    coef0: float = 0.0
    name: ClassVar[str] = "poly"

    def check(self) -> None:
        """Raise a ValueError if a parameter makes no sense."""
        super().check()
        check_number("coef0", self.coef0)
        check_integer("degree", self.degree, least=1)

    def core(self) -> CoreKernel:
        """Return what the compiled core wants to know."""
        return CoreKernel(self.name, float(self.gamma), float(self.coef0), int(self.degree))

    def diagonal(self, squared_norms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return k(x, x) for points of the given squared norms."""
        return np.asarray((float(self.gamma) * squared_norms + self.coef0) ** self.degree)

    @property
    def growth(self) -> int:
        """The degree."""
        return self.degree

    def largest_product(self, most: float) -> float:
        """Return the |<x, z>| up to which no value, nor what it is made of, exceeds this number."""
        root = float(most ** (1 / self.degree))
        return min(most, (root - abs(self.coef0)) / float(self.gamma))

    def of_shrunk_row(self, size: float) -> Self:
        """Return k' of (γ <x, z> + c)^p = s^p k'(x / s, z), s being the size."""
        return replace(self, coef0=self.coef0 / size)


@dataclass(frozen=True)
class Sigmoid(KernelWithGamma):
    """tanh(gamma <x, z> + coef0). Not positive definite in general."""

    gamma: Gamma = "scale"
    coef0: float = 0.0
    name: ClassVar[str] = "sigmoid"

    def check(self) -> None:
        """Raise a ValueError if a parameter makes no sense."""
        super().check()
        check_number("coef0", self.coef0)

    def core(self) -> CoreKernel:
        """Return what the compiled core wants to know."""
        return CoreKernel(self.name, float(self.gamma), float(self.coef0))

    def diagonal(self, squared_norms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return k(x, x) for points of the given squared norms."""
        return np.tanh(float(self.gamma) * squared_norms + self.coef0)


@dataclass(frozen=True)
class Linear(Kernel):
    """<x, z>. A linear SVM needs no terms at all: use ``LinearSVC`` if you want only this one."""

    name: ClassVar[str] = "linear"

    def core(self) -> CoreKernel:
        """Return what the compiled core wants to know."""
        return CoreKernel(self.name)

    def diagonal(self, squared_norms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the squared norms."""
        return squared_norms


@dataclass(frozen=True)
class Callback(Kernel):
    """Any Python function ``k(X, Z)`` that returns the matrix of kernel values, as for ``SVC``.

    This is the slow path: Python is called at every visit of a training point, which costs some ten
    microseconds and holds the interpreter's lock, so that threads do not help. The function gets
    dense float64 arrays of shapes (m, d) and (B, d).
    """

    function: KernelFunction
    name: ClassVar[str] = "callable"
    in_python: ClassVar[bool] = True

    def core(self) -> CoreKernel:
        """Return what the compiled core wants to know; which terms to call the function with, it is told later."""
        return CoreKernel(self.name)

    def diagonal(self, squared_norms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Norms say nothing about this kernel; see `of_itself`."""
        raise NotImplementedError("a kernel function needs points, not norms")

    def of_itself(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return k(x, x) of points."""
        return np.array([self.row(x, x[np.newaxis])[0] for x in points])

    def matrix(self, X: NDArray[np.float64], Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Call the function and check what it returns."""
        values: NDArray[np.float64] = np.asarray(self.function(X, Z), dtype=np.float64)
        if values.shape != (len(X), len(Z)):
            message = f"the kernel function returned shape {values.shape}, not {(len(X), len(Z))}"
            raise ValueError(message)
        if not np.isfinite(values).all():
            raise ValueError("the kernel function returned NaN or infinity")
        return np.ascontiguousarray(values)

    def row(self, x: NDArray[np.float64], Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return k(x, z) for every row z of Z."""
        values: NDArray[np.float64] = self.matrix(x[np.newaxis], Z)[0]
        return values

    @property
    def growth(self) -> int:
        """0: nothing is known, and its values are checked."""
        return 0


#: Names that estimators take.
NAMES = ("rbf", "laplacian", "poly", "sigmoid", "linear")


def make_kernel(kernel: object, gamma: Gamma, degree: int, coef0: float) -> Kernel:
    """Turn an estimator's parameters into a checked Kernel."""
    made: Kernel
    match kernel:
        case Kernel():
            made = kernel
        case "rbf":
            made = Gaussian(gamma)
        case "laplacian":
            made = Laplacian(gamma)
        case "poly":
            made = Polynomial(degree, gamma, coef0)
        case "sigmoid":
            made = Sigmoid(gamma, coef0)
        case "linear":
            made = Linear()
        case _ if callable(kernel):
            made = Callback(kernel)
        case _:
            message = (
                f"kernel must be one of {', '.join(map(repr, NAMES))}, an object of "
                f"budgetsvm.kernels or a function k(X, Z), not {kernel!r}"
            )
            raise ValueError(message)
    made.check()
    return made
