"""What any machine can do, to measure training and prediction against: kernel values by NumPy."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Single: TypeAlias = NDArray[np.float32]

_CHUNK = 256


class KernelBlocks:
    """Evaluates the Gaussian kernel k(X, Z) in chunks of 256 rows, in float32.

    One buffer that stays in the cache, all operations in place, the factor -2 folded into Z, and
    whatever can be prepared is: NumPy should not be made to look slow. Threads share the rows, as
    NumPy's own exp uses one only; so limit BLAS to one.
    """

    def __init__(self, X: Single, Z: Single, gamma: float, threads: int = 1) -> None:
        self.X, self.Z, self.gamma = X, Z, gamma
        self._row_norms = np.einsum("ij,ij->i", X, X)[:, np.newaxis]
        self._norms = np.einsum("ij,ij->i", Z, Z)
        self._factor = np.ascontiguousarray(-2 * Z.T)
        self._buffers = [np.empty((_CHUNK, len(Z)), np.float32) for _ in range(threads)]
        bounds = np.linspace(0, len(X), threads + 1).astype(int)
        self._shares = [range(a, b, _CHUNK) for a, b in pairwise(bounds)]
        self._pool = ThreadPoolExecutor(threads)
        self._check()

    def evaluate(self) -> None:
        """Compute all kernel values; each chunk replaces the one before."""
        self._each_chunk(lambda *_: None)

    def expand(self, coef: Single) -> Single:
        """Return Σ_j coef_j k(x, z_j) for all rows."""
        values = np.empty(len(self.X), np.float32)
        self._each_chunk(lambda chunk, part: np.matmul(chunk, coef, out=values[part]))
        return values

    def _each_chunk(self, use: Callable[[Single, slice], object]) -> None:
        def work(share: range, buffer: Single) -> None:
            for start in share:
                part = slice(start, min(start + _CHUNK, share.stop))
                use(self._chunk(part, buffer[: part.stop - part.start]), part)

        if len(self._shares) == 1:
            work(self._shares[0], self._buffers[0])
            return
        list(self._pool.map(work, self._shares, self._buffers))

    def _chunk(self, part: slice, out: Single) -> Single:
        np.matmul(self.X[part], self._factor, out=out)
        out += self._row_norms[part]
        out += self._norms
        np.maximum(out, 0, out=out)
        out *= np.float32(-self.gamma)
        np.exp(out, out=out)
        return out

    def _check(self) -> None:
        """Make sure that these are kernel values."""
        found = self._chunk(slice(0, 1), self._buffers[0][:1])[0]
        differences = self.X[0].astype(np.float64) - self.Z
        exact = np.exp(-self.gamma * np.sum(differences**2, axis=1))
        np.testing.assert_allclose(found, exact, rtol=1e-3, atol=1e-5)


def single(rows: Any) -> Single:
    """Return rows as NumPy likes them best: dense, float32, in C order."""
    dense = rows.toarray() if sparse.issparse(rows) else rows
    return np.ascontiguousarray(dense, dtype=np.float32)


def some_rows(X: Single, n: int) -> Single:
    """Return random rows."""
    return X[np.random.default_rng(0).choice(len(X), n, replace=False)]
