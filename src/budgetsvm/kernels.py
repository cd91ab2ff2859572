"""Kernels: small frozen objects, or the names that scikit-learn uses for them.

>>> from budgetsvm import BudgetSVC, kernels
>>> BudgetSVC(kernel=kernels.Laplacian(gamma=0.5), maintenance="remove")
BudgetSVC(kernel=Laplacian(gamma=0.5), maintenance='remove')
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from budgetsvm._common.checks import check_integer, check_number

Gamma: TypeAlias = float | Literal["scale", "auto"]
KernelFunction: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.float64]], Any]
CoreKernel: TypeAlias = tuple[str, float, float, int, Callable[..., Any] | None]

__all__ = ["Callback", "Gaussian", "Kernel", "Laplacian", "Linear", "Polynomial", "Sigmoid"]


@dataclass(frozen=True)
class Kernel:
    """A kernel function k(x, z). Use one of its subclasses."""

    name: ClassVar[str]
    #: k(x + c, z + c) = k(x, z): the data may be centred.
    translation_invariant: ClassVar[bool] = False
    #: Two terms can be merged into one.
    mergeable: ClassVar[bool] = False

    def check(self) -> None:
        """Raise a ValueError if a parameter makes no sense."""
        gamma = getattr(self, "gamma", 1.0)
        if isinstance(gamma, str):
            if gamma not in ("scale", "auto"):
                message = f'gamma must be "scale", "auto" or a positive number, not {gamma!r}'
                raise ValueError(message)
        else:
            check_number("gamma", gamma, above=0)
        check_number("coef0", getattr(self, "coef0", 0.0))
        check_integer("degree", getattr(self, "degree", 3), least=1)

    def resolve(self, n_features: int, variance: float) -> Self:
        """Replace gamma="scale" and "auto" by the number they stand for, as scikit-learn does."""
        gamma = getattr(self, "gamma", None)
        if not isinstance(gamma, str):
            return self
        spread = variance if gamma == "scale" and variance > 0 else 1.0
        return replace(self, gamma=1.0 / (n_features * spread))  # type: ignore[call-arg]

    def diagonal(self, squared_norms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return k(x, x) for points of the given squared norms."""
        raise NotImplementedError

    def matrix(self, X: NDArray[np.float64], Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return k(x, z) for all rows of X and Z, by the formula: slow and precise, for checks."""
        raise NotImplementedError

    def relative_error(self, points: NDArray[Any]) -> float:  # noqa: ARG002
        """Return the error of kernel values near these points, in units of rounding errors."""
        return 1.0

    def core(self) -> CoreKernel:
        """Return what the compiled core wants to know."""
        gamma = float(getattr(self, "gamma", 1.0))
        return (
            self.name,
            gamma,
            float(getattr(self, "coef0", 0.0)),
            int(getattr(self, "degree", 1)),
            None,
        )


@dataclass(frozen=True)
class Gaussian(Kernel):
    """exp(-gamma ||x - z||²), the default. The only one whose terms can be merged."""

    gamma: Gamma = "scale"
    name: ClassVar[str] = "rbf"
    translation_invariant: ClassVar[bool] = True
    mergeable: ClassVar[bool] = True

    def diagonal(self, squared_norms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ones."""
        return np.ones_like(squared_norms)

    def matrix(self, X: NDArray[np.float64], Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return k(x, z) for all rows of X and Z."""
        return np.asarray(np.exp(-float(self.gamma) * cdist(X, Z, "sqeuclidean")))

    def relative_error(self, points: NDArray[Any]) -> float:
        """Return the error of kernel values near these points: distances are differences of norms."""
        norms = np.square(points, dtype=np.float64).sum(axis=1)
        return max(1.0, float(self.gamma) * float(norms.max(initial=0.0)))


@dataclass(frozen=True)
class Laplacian(Kernel):
    """exp(-gamma ||x - z||_1)."""

    gamma: Gamma = "scale"
    name: ClassVar[str] = "laplacian"
    translation_invariant: ClassVar[bool] = True

    def diagonal(self, squared_norms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ones."""
        return np.ones_like(squared_norms)

    def matrix(self, X: NDArray[np.float64], Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return k(x, z) for all rows of X and Z."""
        return np.asarray(np.exp(-float(self.gamma) * cdist(X, Z, "cityblock")))

    def relative_error(self, points: NDArray[Any]) -> float:
        """Return the error of kernel values near these points: distances are differences of norms."""
        norms = abs(points.astype(np.float64)).sum(axis=1)
        return max(1.0, float(self.gamma) * float(norms.max(initial=0.0)))


@dataclass(frozen=True)
class Polynomial(Kernel):
    """(gamma <x, z> + coef0)^degree."""

    degree: int = 3
    gamma: Gamma = "scale"
    coef0: float = 0.0
    name: ClassVar[str] = "poly"

    def diagonal(self, squared_norms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return k(x, x) for points of the given squared norms."""
        powers: NDArray[np.float64] = (
            float(self.gamma) * squared_norms + self.coef0
        ) ** self.degree
        return powers

    def matrix(self, X: NDArray[np.float64], Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return k(x, z) for all rows of X and Z."""
        return self.diagonal(X @ Z.T)


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """tanh(gamma <x, z> + coef0). Not positive definite in general."""

    gamma: Gamma = "scale"
    coef0: float = 0.0
    name: ClassVar[str] = "sigmoid"

    def diagonal(self, squared_norms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return k(x, x) for points of the given squared norms."""
        return np.tanh(float(self.gamma) * squared_norms + self.coef0)

    def matrix(self, X: NDArray[np.float64], Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return k(x, z) for all rows of X and Z."""
        return self.diagonal(X @ Z.T)


@dataclass(frozen=True)
class Linear(Kernel):
    """<x, z>. A linear SVM needs no terms at all: use ``LinearSVC`` if you want only this one."""

    name: ClassVar[str] = "linear"

    def diagonal(self, squared_norms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the squared norms."""
        return squared_norms

    def matrix(self, X: NDArray[np.float64], Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return k(x, z) for all rows of X and Z."""
        return np.asarray(X @ Z.T)


@dataclass(frozen=True)
class Callback(Kernel):
    """Any Python function ``k(X, Z)`` that returns the matrix of kernel values, as for ``SVC``.

    This is the slow path: Python is called at every visit of a training point, which costs some ten
    microseconds and holds the interpreter's lock, so that threads do not help. The function gets
    dense float64 arrays of shapes (m, d) and (B, d).
    """

    function: KernelFunction
    name: ClassVar[str] = "callable"

    def check(self) -> None:
        """Nothing to check before the function is called."""

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


_NAMES = ("rbf", "laplacian", "poly", "sigmoid", "linear")


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
                f"kernel must be one of {', '.join(map(repr, _NAMES))}, an object of "
                f"budgetsvm.kernels or a function k(X, Z), not {kernel!r}"
            )
            raise ValueError(message)
    made.check()
    return made
