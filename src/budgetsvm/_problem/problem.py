"""A problem: rows, what they ask of a model, and in which arithmetic it is to be solved."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._problem.rows import Precision, Rows, squared_norms
from budgetsvm._problem.targets import Outputs
from budgetsvm.kernels import Kernel

# float32 distances carry an error of about 2⁻²³ times the squared norms they are the difference of.
# γ times that is the relative error of the Gaussian kernel; beyond this we compute in float64.
_TOLERATED_ERROR = 1e-3
# Squared norms and kernel values that float32 can hold, with a margin for sums and products of them.
_SMALLEST_NORM, _LARGEST_NORM, _LARGEST_VALUE = 1e-25, 1e25, 1e15
_SMALLEST_GAP, _LARGEST_WEIGHT = 1e-6, 1e5
# Where the kernel differs from 1 by less than this everywhere, float32 sees little of what there is to see.
_FLATTEST = 1e-2
# What float64 has room for, when it comes to products of sums over all rows.
_LARGEST, _SMALLEST_WEIGHT = 1e100, float(np.finfo(np.float64).tiny)


@dataclass
class Problem:
    """Rows, and what they ask of a model."""

    rows: Rows
    outputs: Outputs
    n_total: int = 0  #: rows that the model has seen, with earlier blocks of a stream; 0: these


def choose_precision(
    X: Any,
    kernel: Kernel,
    centre: NDArray[np.float64] | None,
    wanted: str,
    *,
    tol: float,
    largest_weight: float,
) -> Precision:
    """Return float32, unless that would ruin kernel values, or float64 was asked for.

    That is asked for by name, or by a duality gap `tol` that cannot be told from rounding errors, or by
    weights C_i so large that coefficients will be, too.
    """
    if kernel.in_python:
        return np.float64
    rows = Rows(X, np.float64, centre)
    with np.errstate(over="ignore", invalid="ignore"):
        largest = max(float(squared_norms(rows.block(c)).max(initial=0.0)) for c in rows.chunks())
        top = float(abs(kernel.diagonal(np.array([largest])))[0])
    if not np.isfinite(largest):
        raise ValueError("X has values too large for their squares; scale the features first")
    if not top <= _LARGEST:
        message = (
            f"kernel values reach {top:.2g}, too large to compute with; scale the features first"
        )
        raise ValueError(message)
    if wanted != "auto":
        return np.float64 if wanted == "double" else np.float32
    if tol < _SMALLEST_GAP or largest_weight * top > _LARGEST_WEIGHT:
        return np.float64
    argument = kernel.argument(largest)
    if kernel.translation_invariant and 0 < argument < _FLATTEST:
        return np.float64
    fits = largest == 0 or _SMALLEST_NORM < largest < _LARGEST_NORM
    error = argument * float(np.finfo(np.float32).eps)
    safe = fits and top <= _LARGEST_VALUE and error <= _TOLERATED_ERROR
    return np.float32 if safe else np.float64


def check_weights(box: NDArray[np.float64]) -> None:
    """Raise a ValueError if the weights C_i of the rows are beyond what can be computed with."""
    least, most = float(box.min()), float(box.max())
    if not (least >= _SMALLEST_WEIGHT and len(box) * most <= _LARGEST):
        message = (
            f"C times the weights of the rows reaches from {least:.3g} to {most:.3g}, too far to compute with; "
            "keep C and the weights between 1e-30 and 1e30, say"
        )
        raise ValueError(message)
