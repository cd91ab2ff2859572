"""What a model's terms were made from: a warm start may use them as they are if that is the same."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._common.records import Fields, Record
from budgetsvm._model.option_records import read_option
from budgetsvm._problem.rows import Rows
from budgetsvm.kernels import Kernel
from budgetsvm.maintenance import Maintenance
from budgetsvm.solvers import Solver

_DIGEST_BYTES = 16
_SCALARS = ("epochs", "early_stopping", "validation_fraction", "n_iter_no_change")


class TermOptions(NamedTuple):
    """The options that decide which terms data get."""

    kernel: Kernel
    budget: int | None
    solver: Solver
    maintenance: Maintenance
    epochs: Any
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int


@dataclass(frozen=True)
class Origin:
    """A digest of rows and targets, and the options that decide which terms they get."""

    digest: bytes
    options: TermOptions

    @classmethod
    def of(cls, X: Any, encoded: NDArray[Any], basis: Any, options: TermOptions) -> Self:
        """Take note of data, of a basis (its name, or points) and of other options."""
        digest = blake2b(repr((X.shape, encoded.shape)).encode(), digest_size=_DIGEST_BYTES)
        for part in (encoded, *_parts(basis)):
            digest.update(np.ascontiguousarray(part).data)
        rows = Rows(X, np.float64, None)
        for chunk in rows.chunks():
            block = rows.block(chunk)
            for part in block if isinstance(block, tuple) else (block,):
                digest.update(np.ascontiguousarray(part).data)
        return cls(digest.digest(), options)

    def record(self) -> Record:
        """Return what it is made of."""
        return {"digest": self.digest.hex(), **self.options._asdict()}

    @classmethod
    def of_record(cls, fields: Fields) -> Self:
        """Make an origin from its record."""
        text = fields.scalar("digest")
        try:
            digest = bytes.fromhex(text)
        except (TypeError, ValueError):
            digest = b""
        if len(digest) != _DIGEST_BYTES:
            fields.fail("digest", f"must be {2 * _DIGEST_BYTES} hexadecimal digits")
        options = TermOptions(
            read_option(Kernel, fields, "kernel"),  # type: ignore[type-abstract]
            fields.scalar("budget"),
            read_option(Solver, fields, "solver"),  # type: ignore[type-abstract]
            read_option(Maintenance, fields, "maintenance"),
            *(fields.scalar(name) for name in _SCALARS),
        )
        fields.end()
        return cls(digest, options)


def _parts(basis: Any) -> tuple[NDArray[Any], ...]:
    """Return the arrays that a basis is made of."""
    if sparse.issparse(basis):
        rows = basis.tocsr()
        return np.array(rows.shape), rows.data, rows.indices, rows.indptr
    return (np.asarray(basis.encode() if isinstance(basis, str) else basis),)
