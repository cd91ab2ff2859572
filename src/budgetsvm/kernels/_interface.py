"""What a kernel is, and what families of them have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._common.checks import check_number
from budgetsvm._common.public import public_in

_FEATURES_AT_ONCE = 1024  # of sparse points

Gamma: TypeAlias = float | Literal["scale", "auto", "tune"]


class CoreKernel(NamedTuple):
    """What the compiled core wants to know of a kernel; numbers that it has not are as good as any."""

    name: str
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 1
    function: Callable[..., Any] | None = None


@public_in("budgetsvm.kernels")
@dataclass(frozen=True)
class Kernel(ABC):
    """A kernel function k(x, z). Use one of its subclasses."""

    name: ClassVar[str]
    #: k(x + c, z + c) = k(x, z): the data may be centred.
    translation_invariant: ClassVar[bool] = False
    #: Two terms can be merged into one.
    mergeable: ClassVar[bool] = False
    #: Its values come from Python, one row at a time.
    in_python: ClassVar[bool] = False

    def check(self) -> None:  # noqa: B027 - not all have something to check
        """Raise a ValueError if a parameter makes no sense."""

    def resolve(self, n_features: int, variance: float) -> Self:  # noqa: ARG002
        """Replace gamma="scale" and "auto" by the number they stand for, as scikit-learn does."""
        return self

    @abstractmethod
    def core(self) -> CoreKernel:
        """Return what the compiled core wants to know."""

    @abstractmethod
    def diagonal(self, squared_norms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return k(x, x) for points of the given squared norms."""

    def matrix(self, X: NDArray[np.float64], Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return k(x, z) for all rows of X and Z, by the formula: slow and precise, for checks."""
        return self.diagonal(X @ Z.T)  # unless a kernel is a function of something else

    def norms(self, points: Any) -> NDArray[np.float64]:
        """Return what the core keeps of every term, dense or sparse: its norm, of the kind that distances are made of."""
        return np.asarray((points**2).sum(axis=1))

    def argument(self, squared_norm: float) -> float:
        """Return how large what the kernel is a function of gets, among points of this squared norm."""
        return squared_norm

    def relative_error(self, points: Any) -> float:  # noqa: ARG002
        """Return the error of kernel values near these points, in units of rounding errors."""
        return 1.0

    @property
    def growth(self) -> int:
        """The power of <x, z> that the kernel, or what it is made of, grows with; 0: it is bounded."""
        return 1

    def largest_product(self, most: float) -> float:
        """Return the ``|<x, z>|`` up to which no value, nor what it is made of, exceeds this number."""
        return most

    def of_shrunk_row(self, size: float) -> Self:
        """Return what times size^growth is the kernel of a row, if it is given the row divided by size."""
        message = f"the {self.name} kernel does not scale with its argument"
        raise NotImplementedError(message)


class KernelWithGamma(Kernel):
    """A kernel with a coefficient gamma. Not a dataclass: where gamma stands among its numbers, a kernel decides."""

    gamma: Gamma

    def check(self) -> None:
        """Raise a ValueError if gamma makes no sense."""
        if not isinstance(self.gamma, str):
            check_number("gamma", self.gamma, above=0)
        elif self.gamma not in ("scale", "auto"):
            message = f'gamma must be "scale", "auto" or a positive number, not {self.gamma!r}'
            raise ValueError(message)

    def resolve(self, n_features: int, variance: float) -> Self:
        """Replace gamma="scale" and "auto" by the number they stand for."""
        if not isinstance(self.gamma, str):
            return self
        spread = variance if self.gamma == "scale" and variance > 0 else 1.0
        return replace(self, gamma=1.0 / (n_features * spread))  # type: ignore[call-arg]

    def argument(self, squared_norm: float) -> float:
        """Return gamma times the squared norm."""
        return float(self.gamma) * squared_norm


class RadialKernel(KernelWithGamma):
    """A kernel that falls from 1 to 0 with a distance."""

    translation_invariant: ClassVar[bool] = True
    metric: ClassVar[str]  #: the name of the distance; both are sums over the features

    def matrix(self, X: Any, Z: Any) -> NDArray[np.float64]:
        """Return k(x, z) for all rows of X and Z, which may be sparse: then of some features at a time."""
        from scipy.spatial.distance import cdist  # slow to import, and hardly ever called

        if not sparse.issparse(X):
            return np.asarray(np.exp(-float(self.gamma) * cdist(X, Z, self.metric)))
        distances = np.zeros((X.shape[0], Z.shape[0]))
        used = np.union1d(X.indices, Z.indices)
        X, Z = X[:, used], Z[:, used]
        for start in range(0, len(used), _FEATURES_AT_ONCE):
            some = slice(start, start + _FEATURES_AT_ONCE)
            distances += cdist(X[:, some].toarray(), Z[:, some].toarray(), self.metric)
        return np.asarray(np.exp(-float(self.gamma) * distances))

    def core(self) -> CoreKernel:
        """Return what the compiled core wants to know."""
        return CoreKernel(self.name, float(self.gamma))

    def diagonal(self, squared_norms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ones."""
        return np.ones_like(squared_norms)

    def relative_error(self, points: Any) -> float:
        """Return the error of kernel values near these points: distances are differences of norms."""
        norms = self.norms(points.astype(np.float64))
        return max(1.0, float(self.gamma) * float(norms.max(initial=0.0)))

    @property
    def growth(self) -> int:
        """0: it is bounded."""
        return 0
