"""By how much a header is off: what it computes, in NumPy, against the model itself, at some of its terms."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from budgetsvm._formats.scalers import Affine
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm.kernels import Gaussian, Kernel, Laplacian, Linear, Polynomial, Sigmoid

_Single = NDArray[np.float32]
_Double = NDArray[np.float64]

_MOST_ROWS, _FEWEST_ROWS = 300, 10
_MOST_WORK = 2e8  # rows × terms × features: some seconds


def largest_difference(
    model: KernelExpansion, scaler: Affine | None, single: Callable[[_Single], _Single]
) -> float:
    """Return the largest difference of values at terms, in standard deviations of the values of an output there.

    `single` has the values of a header for rows as it wants them. What the model says is computed in double precision, of
    the same rows.
    """
    size, n_features = model.points.shape
    n_rows = min(_MOST_ROWS, max(_FEWEST_ROWS, int(_MOST_WORK / max(1, size * n_features))))
    points = model.points[:: max(1, size // n_rows)][:n_rows].astype(np.float64)
    centre = np.zeros(n_features) if model.centre is None else model.centre
    factor, shift = (1.0, 0.0) if scaler is None else (scaler.factor, scaler.shift)
    with np.errstate(all="ignore"):  # what is not finite is said as such
        rows = ((points + centre - shift) / factor).astype(np.float32)
        seen = rows.astype(np.float64) * factor + shift
        if scaler is not None and scaler.clip is not None:
            seen = np.clip(seen, *scaler.clip)
        kernel_values = model.kernel.matrix(seen - centre, model.points.astype(np.float64))
        expected = kernel_values @ model.coef.T + model.bias
        worst = abs(single(rows) - expected).max(axis=0)
        # Of a single term, or values that are all the same, there is no deviation.
        spread = expected.std(axis=0)
        spread = np.where(spread > 0, spread, abs(expected).max(axis=0))
        return float(np.where(worst > 0, worst / spread, 0.0).max())


def single_values(
    kernel: Kernel, points: _Single, tables: Mapping[str, _Single], rows: _Single
) -> _Single:
    """Return what the function of a header finds: kernel values in single precision, summed up in double."""
    if "origin" in tables:
        rows = (rows - tables["origin"]) * tables["factor"]
    elif "centre" in tables:
        rows = rows - tables["centre"]
    if "least" in tables:
        rows = np.clip(rows, tables["least"], tables["largest"])
    sums = np.zeros((len(rows), len(points)), np.float32)
    for v, z in zip(
        rows.T[:, :, np.newaxis], points.T, strict=True
    ):  # one after the other, as in C
        if isinstance(kernel, Gaussian):
            sums += (v - z) ** 2
        elif isinstance(kernel, Laplacian):
            sums += abs(v - z)
        else:
            sums += v * z
    coef = tables["coef"].astype(np.float64)
    return np.asarray(_of_sums(kernel, sums).astype(np.float64) @ coef + tables["bias"], np.float32)


def _of_sums(kernel: Kernel, sums: _Single) -> _Single:
    single = np.float32
    match kernel:
        case Gaussian(gamma=gamma) | Laplacian(gamma=gamma):
            return np.asarray(np.exp(single(-float(gamma)) * sums))
        case Linear():
            return sums
        case Polynomial(gamma=gamma, coef0=coef0, degree=degree):
            base = single(gamma) * sums + single(coef0)
            value = base.copy()
            for _ in range(1, degree):
                value *= base
            return value
        case Sigmoid(gamma=gamma, coef0=coef0):
            return np.asarray(np.tanh(single(gamma) * sums + single(coef0)))
    message = f"C cannot express the kernel {kernel!r}"
    raise ValueError(message)
