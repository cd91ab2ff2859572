"""Kernels: small frozen objects, or the names that scikit-learn uses for them.

>>> from budgetsvm import BudgetSVC, kernels
>>> BudgetSVC(kernel=kernels.Laplacian(gamma=0.5), maintenance="remove")
BudgetSVC(kernel=Laplacian(gamma=0.5), maintenance='remove')
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.checks import check_choice, check_integer, check_number
from budgetsvm.kernels._interface import CoreKernel, Gamma, Kernel, KernelWithGamma, RadialKernel
from budgetsvm.kernels._python import Callback, KernelInPython, Precomputed

__all__ = [
    "Callback",
    "Gaussian",
    "Kernel",
    "KernelInPython",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
]


@dataclass(frozen=True)
class Gaussian(RadialKernel):
    """``exp(-gamma ‖x - z‖²)``, the default. The only one whose terms can be merged."""

    gamma: Gamma = "scale"
    name: ClassVar[str] = "rbf"
    mergeable: ClassVar[bool] = True
    metric: ClassVar[str] = "sqeuclidean"


@dataclass(frozen=True)
class Laplacian(RadialKernel):
    """``exp(-gamma ‖x - z‖₁)``."""

    gamma: Gamma = "scale"
    name: ClassVar[str] = "laplacian"
    metric: ClassVar[str] = "cityblock"

    def norms(self, points: Any) -> NDArray[np.float64]:
        """Return ``Σ_k |z_k|`` of every term."""
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
        """Return the ``|<x, z>|`` up to which no value, nor what it is made of, exceeds this number."""
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


#: Names that estimators take.
NAMES = ("rbf", "laplacian", "poly", "sigmoid", "linear", "precomputed")


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
        case "precomputed":
            made = Precomputed()
        case _ if callable(kernel):
            made = Callback(kernel)
        case _:
            message = (
                f"kernel must be one of {', '.join(map(repr, NAMES))}, an object of "
                f"budgetsvm.kernels or a function k(X, Z), not {kernel!r}"
            )
            raise ValueError(message)
    made.check()
    _check_unused(gamma, degree, coef0)
    return made


def _check_unused(gamma: Gamma, degree: int, coef0: float) -> None:
    """Refuse what would make no sense for any kernel, as SVC does, though this one may have no use for it."""
    if not isinstance(gamma, str):
        check_number("gamma", gamma, at_least=0)
    else:
        check_choice("gamma", gamma, ("scale", "auto"))
    check_integer("degree", degree, least=0)
    check_number("coef0", coef0)
