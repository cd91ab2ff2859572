"""A uniform sample of a stream of rows, in bounded memory (Vitter 1985, Algorithm R).

It is a value: rows that come make another one of it. So a call that fails leaves the old one as it was, copies
of an estimator may share it, and it can be read from a file that nobody may write to.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._common.records import LARGEST_COUNT, Fields, Record
from budgetsvm._problem.points import read_sparse, sparse_record

_Numbers = NDArray[np.int64]

_MOST = int(np.iinfo(np.int64).max)
_MANY = 16  # parts of similar size
_ANY = LARGEST_COUNT**16  # a capacity may be as good as none
_FLOATS = (np.float32, np.float64)


def _no_numbers() -> _Numbers:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Reservoir:
    """Keeps at most `capacity` of all rows that were added, each with equal probability.

    Every row that is kept has a slot; `places` says where it is stored, counting through all parts. Rows are
    stored in the order in which they came, and only now and then those are left out that lost their slot.
    """

    capacity: int
    seed: int
    seen: int = 0
    _parts: tuple["_Part", ...] = ()
    _places: _Numbers = field(default_factory=_no_numbers)

    @property
    def size(self) -> int:
        """How many rows are kept."""
        return len(self._places)

    def with_rows(self, X: Any, encoded: NDArray[Any], weights: NDArray[np.float64]) -> Self:
        """Return a sample in which these rows, with their targets and weights, had their chance, too."""
        rows, slots = self._draw(len(encoded))
        size = min(self.seen + len(encoded), self.capacity)
        places = np.concatenate([self._places, np.zeros(size - self.size, np.int64)])
        places[slots] = sum(map(len, self._parts)) + np.arange(len(slots))
        parts = self._parts
        if len(rows):
            parts = _few((*parts, _Part.of(X, encoded, weights, rows)))
        return replace(self, seen=self.seen + len(encoded), _parts=parts, _places=places)._compact()

    def with_capacity(self, capacity: int) -> Self:
        """Return a sample of another capacity; a larger one counts only if no row was dropped yet."""
        if capacity < self.size:
            rng = np.random.default_rng([self.seed, self.seen, capacity])
            slots = np.sort(rng.choice(self.size, capacity, replace=False))
            return replace(self, capacity=capacity, _places=self._places[slots])._compact()
        if self.seen > self.size:
            return self
        return replace(self, capacity=capacity)

    def rows(self) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
        """Return the rows that were kept, their targets and weights, in the order in which they came."""
        kept = self._kept()
        return kept.X, kept.encoded, kept.weights

    def _draw(self, count: int) -> tuple[_Numbers, _Numbers]:
        """Choose which of the coming rows go where."""
        numbers = np.arange(self.seen, self.seen + count)
        # One number for every row, whatever was drawn before: so the sample does not depend on where
        # blocks begin, and seed and count are all that has to be remembered.
        rng = np.random.Generator(np.random.PCG64(self.seed).advance(self.seen))
        drawn = (rng.random(count) * (numbers + 1)).astype(np.int64)
        capacity = min(self.capacity, _MOST)
        slots = np.where(numbers < capacity, numbers, drawn)
        rows = np.flatnonzero(slots < capacity)
        # Where one block fills a slot twice, the later row stays.
        _, last = np.unique(slots[rows][::-1], return_index=True)
        rows = np.sort(rows[len(rows) - 1 - last])
        return rows, slots[rows]

    def record(self) -> Record:
        """Return what it is made of, without rows that have no slot."""
        small = self._compact(at_most=1)
        return {
            "capacity": small.capacity,
            "seed": small.seed,
            "seen": small.seen,
            "places": small._places,
            "parts": [part.record() for part in small._parts],
        }

    @classmethod
    def of_record(cls, fields: Fields) -> Self:
        """Make a sample from its record."""
        capacity = fields.count("capacity", least=1, most=_ANY)
        seed, seen = fields.count("seed"), fields.count("seen", least=1)
        size = min(capacity, seen)
        places = fields.array("places", (np.int64,), (size,), finite=True)
        if not np.array_equal(np.sort(places), np.arange(size)):
            fields.fail("places", "must have the number of every row in it once")
        given, where = fields.take("parts"), f"{fields.where}['parts']"
        fields.end()
        if not (isinstance(given, list) and given):
            fields.fail("parts", "must be a list with something in it")
        parts = tuple(_Part.of_record(Fields(one, f"{where}[{i}]")) for i, one in enumerate(given))
        widths = {(part.X.shape[1], part.encoded.shape[1:], part.encoded.dtype) for part in parts}
        if len(widths) > 1 or sum(map(len, parts)) != size:
            fields.fail("parts", f"must have {size} rows of the same width")
        return cls(capacity, seed, seen, parts, places)

    @property
    def n_features(self) -> int:
        """How many features the rows have."""
        return int(self._parts[0].X.shape[1])

    def __getstate__(self) -> dict[str, Any]:
        """Leave out rows without a slot: files have no use for them."""
        return dict(self._compact(at_most=1).__dict__)

    def _compact(self, at_most: float = 2) -> Self:
        """Leave out the rows without a slot, if more than this many rows are stored per slot."""
        if sum(map(len, self._parts)) <= at_most * self.size:
            return self
        places = np.searchsorted(np.sort(self._places), self._places)
        return replace(self, _parts=(self._kept(),), _places=places)

    def _kept(self) -> "_Part":
        """Return the rows that have a slot."""
        places, ends = np.sort(self._places), np.cumsum([len(part) for part in self._parts])
        inside = np.split(places, np.searchsorted(places, ends[:-1]))
        chosen = [
            part.some(rows - (end - len(part)))
            for part, rows, end in zip(self._parts, inside, ends, strict=True)
            if len(rows)
        ]
        return _Part.joined(chosen)


@dataclass(frozen=True, eq=False)
class _Part:
    """Rows with their targets and weights."""

    X: Any  #: an array, or compressed sparse rows
    encoded: NDArray[Any]
    weights: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.weights)

    @classmethod
    def of(cls, X: Any, encoded: Any, weights: Any, rows: _Numbers) -> Self:
        """Return copies of some rows."""
        X = sparse.csr_matrix(X[rows]) if sparse.issparse(X) else np.ascontiguousarray(X[rows])
        return cls(X, encoded[rows], weights[rows])

    def record(self) -> Record:
        """Return what it is made of."""
        X = self.X
        if sparse.issparse(X):
            X = sparse_record(X)
        return {"X": X, "encoded": self.encoded, "weights": self.weights}

    @classmethod
    def of_record(cls, fields: Fields) -> Self:
        """Make rows from their record."""
        weights = fields.array("weights", (np.float64,), (None,), finite=True)
        if not (weights > 0).all():
            fields.fail("weights", "must be positive")
        n = len(weights)
        encoded = fields.array("encoded", (np.int32, np.float64), (n, ...), finite=True)
        if fields.has_array("X"):
            X = fields.array("X", _FLOATS, (n, None), finite=True)
        else:
            X = read_sparse(fields.inside("X"), n)
        fields.end()
        return cls(X, encoded, weights)

    def some(self, rows: _Numbers) -> Self:
        """Return some of the rows."""
        return self if len(rows) == len(self) else self.of(self.X, self.encoded, self.weights, rows)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return all rows of several parts; as sparse ones, if some are: that never takes much more."""
        if len(parts) == 1:
            return parts[0]
        tables = [part.X for part in parts]
        if any(map(sparse.issparse, tables)):
            rows = [X if sparse.issparse(X) else sparse.csr_matrix(X) for X in tables]
            X = sparse.vstack(rows, format="csr")
        else:
            X = np.concatenate(tables)
        encoded = np.concatenate([part.encoded for part in parts])
        return cls(X, encoded, np.concatenate([part.weights for part in parts]))


def _few(parts: tuple[_Part, ...]) -> tuple[_Part, ...]:
    """Join the last parts as soon as they are many of similar size: blocks may be small, and many.

    So there are some dozen parts at most, and a row is copied once more only when its part grows manifold.
    """
    while len(parts) >= _MANY and len(parts[-_MANY]) < _MANY * len(parts[-1]):
        parts = (*parts[:-_MANY], _Part.joined(parts[-_MANY:]))
    return parts
