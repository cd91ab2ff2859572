"""What a model's terms were made from: a warm start may use them as they are if that is the same."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from budgetsvm._problem.rows import Rows


@dataclass(frozen=True)
class Origin:
    """A digest of rows and targets, and the options that decide which terms they get."""

    digest: bytes
    options: tuple[Any, ...]

    @classmethod
    def of(cls, X: Any, encoded: NDArray[Any], basis: Any, *options: Any) -> Self:
        """Take note of data, of a basis (its name, or points) and of other options."""
        digest = blake2b(repr((X.shape, encoded.shape)).encode(), digest_size=16)
        for part in (encoded, np.asarray(basis if not isinstance(basis, str) else basis.encode())):
            digest.update(np.ascontiguousarray(part).data)
        rows = Rows(X, np.float64, None)
        for chunk in rows.chunks():
            block = rows.block(chunk)
            for part in block if isinstance(block, tuple) else (block,):
                digest.update(np.ascontiguousarray(part).data)
        return cls(digest.digest(), options)
