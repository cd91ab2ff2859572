"""Smaller models whose kernel has no Hilbert space, the sigmoid: all that can be near are the values of rows.

Terms are chosen one by one, each so that a combination of all comes nearest to the values of the larger model (orthogonal
matching pursuit: Y. C. Pati et al., Asilomar 1993); the coefficients are those of least squares on all rows.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.threads import single_threaded_blas
from budgetsvm._estimators.compression.terms import Smaller
from budgetsvm._model.expansion import KernelExpansion

_Matrix = NDArray[np.float64]

_VALUES = 1 << 24  # kernel values that are held to choose terms
_DEPENDENT = 1e-7  # of the length of a column: what is left of it says nothing any more


@dataclass(frozen=True, eq=False)
class _Columns:
    """Terms as they are: takes the place of a basis."""

    points: Any

    def __len__(self) -> int:
        return int(self.points.shape[0])

    def features(self, kernel_values: Any) -> _Matrix:
        return np.asarray(kernel_values, np.float64)


def nearest_on_rows(
    model: KernelExpansion, budget: int, X: Any, n_threads: int, *, bias: bool
) -> KernelExpansion:
    """Return the model of so many terms whose values of rows come nearest to those of a larger one."""
    smaller = Smaller(model, n_threads)
    chosen = _chosen(smaller.sums, _sample(X, len(model)), budget, n_threads, bias=bias)
    points = smaller.big.points[chosen]
    nothing = np.zeros((len(chosen), len(model.coef)))
    with single_threaded_blas():
        coef, shift, _ = smaller.on_rows(_Columns(points), nothing, X, bias)
    return replace(
        model,
        points=points.astype(model.points.dtype),
        coef=np.ascontiguousarray(coef.T),
        bias=model.bias + shift,
    )


def _sample(X: Any, n_terms: int) -> Any:
    """Return rows from everywhere, so many that their kernel values with all terms can be held."""
    step = -(-X.shape[0] // max(1, _VALUES // max(1, n_terms)))
    return X[::step]


def _chosen(
    sums: KernelExpansion, X: Any, budget: int, n_threads: int, *, bias: bool
) -> NDArray[np.int64]:
    """Choose terms whose values on rows, together, come nearest to the sums."""
    columns = np.array(sums.kernel_values(X, n_threads), np.float64)
    left = sums.decision(X, n_threads)
    if bias:  # which fits the means by itself
        columns, left = columns - columns.mean(axis=0), left - left.mean(axis=0)
    squares = (columns**2).sum(axis=0)
    least, chosen = _DEPENDENT**2 * squares, list[int]()
    for _ in range(min(budget, len(sums))):
        usable = (squares > least) & (squares > 0)
        gains = np.where(usable, ((columns.T @ left) ** 2).sum(axis=1), 0.0)
        gains /= np.where(usable, squares, 1.0)
        best = int(gains.argmax())
        if not gains[best] > 0:
            break
        chosen.append(best)
        direction = columns[:, best] / np.linalg.norm(columns[:, best])
        left -= np.outer(direction, direction @ left)
        columns -= np.outer(direction, direction @ columns)
        squares = (columns**2).sum(axis=0)
        squares[chosen] = 0.0
    return np.array(sorted(chosen) or [0])
