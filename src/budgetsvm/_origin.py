"""What a model's terms were learned from: a warm start may use them as they are if that is the same."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._rows import Rows
from budgetsvm.kernels import Kernel


@dataclass(frozen=True)
class Origin:
    """A digest of rows and targets, and the options that decide which terms suit them."""

    digest: bytes
    kernel: Kernel
    budget: int | None

    @classmethod
    def of(cls, X: Any, encoded: NDArray[Any], kernel: Kernel, budget: int | None) -> Self:
        """Take note of data."""
        digest = blake2b(repr((X.shape, encoded.shape)).encode(), digest_size=16)
        digest.update(np.ascontiguousarray(encoded).data)
        rows = Rows(X, np.float64, None)
        for chunk in rows.chunks():
            block = rows.block(chunk)
            for part in block if sparse.issparse(X) else (block,):
                digest.update(np.ascontiguousarray(part).data)
        return cls(digest.digest(), kernel, budget)
