"""Ranges of features, as LIBSVM's svm-scale has them, and rows that are scaled by them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._common.files import replacing
from budgetsvm.streams import read_blocks

_Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ranges:
    """Least and largest values, and where they are to go."""

    lower: float
    upper: float
    least: _Vector  #: per feature
    largest: _Vector
    targets: tuple[float, float, float, float] | None = None  #: to and from where

    @classmethod
    def of_file(
        cls, path: str, lower: float, upper: float, targets: tuple[float, float] | None
    ) -> Self:
        """Look at all rows of a file."""
        blocks = read_blocks(path, format="libsvm")
        least, largest = np.full(blocks.n_features, np.inf), np.full(blocks.n_features, -np.inf)
        ends = [np.inf, -np.inf]
        for X, y in blocks:
            least = np.minimum(least, X.min(axis=0).toarray().ravel())
            largest = np.maximum(largest, X.max(axis=0).toarray().ravel())
            ends = [min(ends[0], y.min()), max(ends[1], y.max())]
        kept = None if targets is None else (*targets, float(ends[0]), float(ends[1]))
        return cls(lower, upper, least, largest, kept)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a range file."""
        words = path.read_text(encoding="utf-8").split("\n")
        try:
            targets = None
            if words[0].strip() == "y":
                targets = tuple(float(one) for line in words[1:3] for one in line.split())
                words = words[3:]
            if words[0].strip() != "x":
                raise ValueError("it does not begin with x")
            lower, upper = (float(word) for word in words[1].split())
            rows = [line.split() for line in words[2:] if line.strip()]
            numbers = np.array([int(row[0]) for row in rows])
            ends = np.array([[float(row[1]), float(row[2])] for row in rows])
            if len(rows) == 0 or numbers.min() < 1 or not np.isfinite(ends).all():
                raise ValueError("there must be features from 1 on, with finite ranges")
        except (ValueError, IndexError) as error:
            message = f"{path} is not a file of ranges: {error}"
            raise ValueError(message) from error
        least, largest = np.zeros(numbers.max()), np.zeros(numbers.max())
        least[numbers - 1], largest[numbers - 1] = ends.T
        return cls(lower, upper, least, largest, targets)  # type: ignore[arg-type]

    def write(self, path: Path) -> None:
        """Write a range file."""
        lines = []
        if self.targets is not None:
            lines += [
                "y",
                "{:.17g} {:.17g}".format(*self.targets[:2]),
                "{:.17g} {:.17g}".format(*self.targets[2:]),
            ]
        lines += ["x", f"{self.lower:.17g} {self.upper:.17g}"]
        varying = np.flatnonzero(self.least != self.largest)
        lines += [f"{k + 1} {self.least[k]:.17g} {self.largest[k]:.17g}" for k in varying]
        with replacing(path, durable=True) as file:
            file.write(("\n".join(lines) + "\n").encode())

    def scale(self, X: Any) -> NDArray[np.float64]:
        """Return rows, dense; columns without a range are zero."""
        dense: NDArray[np.float64] = np.zeros((X.shape[0], len(self.least)))
        width = min(X.shape[1], len(self.least))
        dense[:, :width] = X[:, :width].toarray() if sparse.issparse(X) else X[:, :width]
        span = self.largest - self.least
        varying = span > 0
        scaled = self.lower + (self.upper - self.lower) * (dense - self.least) / np.where(
            varying, span, 1
        )
        # Rounding must not lead beyond the ends.
        scaled = np.where(dense == self.least, self.lower, scaled)
        scaled = np.where(dense == self.largest, self.upper, scaled)
        result: NDArray[np.float64] = np.where(varying, scaled, 0.0)
        return result

    def scale_targets(self, y: _Vector) -> _Vector:
        """Return targets, scaled if that was asked for."""
        if self.targets is None:
            return y
        lower, upper, least, largest = self.targets
        if least == largest:
            return y
        return lower + (upper - lower) * (y - least) / (largest - least)


def scaled_lines(path: str, ranges: Ranges) -> Iterator[str]:
    """Yield the text of scaled rows."""
    for X, y in read_blocks(path, format="libsvm", rows=1024):
        scaled, targets = ranges.scale(X), ranges.scale_targets(y)
        yield "".join(
            f"{label:g} " + "".join(f"{k + 1}:{row[k]:g} " for k in np.flatnonzero(row)) + "\n"
            for row, label in zip(scaled, targets, strict=True)
        )
