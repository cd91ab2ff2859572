"""Ranges of features, as LIBSVM's svm-scale has them, and rows that are scaled by them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._common.files.complete import replacing
from budgetsvm.streams import Block, Blocks

_Vector = NDArray[np.float64]
_VALUES = 1 << 20  # that are scaled at once
# What a range file asks for is no more than this many times its size, and this many bytes.
_TIMES, _SMALL = 10, 1 << 26


@dataclass(frozen=True, eq=False)
class Ranges:
    """Least and largest values, and where they are to go."""

    lower: float
    upper: float
    least: _Vector  #: per feature
    largest: _Vector
    targets: tuple[float, float, float, float] | None = None  #: to and from where

    @classmethod
    def of_blocks(
        cls, blocks: Blocks, lower: float, upper: float, targets: tuple[float, float] | None
    ) -> Self:
        """Look at all rows of some files."""
        least, largest = np.full(blocks.n_features, np.inf), np.full(blocks.n_features, -np.inf)
        ends = [np.inf, -np.inf]
        for X, y in map(_numbered, blocks):
            least = np.minimum(least, _row(X.min(axis=0)))
            largest = np.maximum(largest, _row(X.max(axis=0)))
            ends = [min(ends[0], y.min()), max(ends[1], y.max())]
        kept = None if targets is None else (*targets, float(ends[0]), float(ends[1]))
        return cls(lower, upper, least, largest, kept)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a range file."""
        content = path.read_bytes()
        try:
            return cls._of_lines(content.decode().split("\n"), len(content))
        except (ValueError, IndexError) as error:
            message = f"{path} is not a file of ranges: {error}"
            raise ValueError(message) from error

    @classmethod
    def _of_lines(cls, lines: list[str], size: int) -> Self:
        targets = None
        if lines[0].strip() == "y":
            targets = (*_pair(lines[1]), *_pair(lines[2]))
            lines = lines[3:]
        if lines[0].strip() != "x":
            raise ValueError("it does not begin with x")
        lower, upper = _pair(lines[1])
        rows = [line.split() for line in lines[2:] if line.strip()]
        numbers = [int(row[0]) for row in rows]
        if not rows or min(numbers) < 1:
            raise ValueError("there must be features from 1 on")
        if 16 * max(numbers) > _TIMES * size + _SMALL:
            message = f"feature {max(numbers)} would take many times the memory of the file"
            raise ValueError(message)
        least, largest = np.zeros(max(numbers)), np.zeros(max(numbers))
        for number, row in zip(numbers, rows, strict=True):
            least[number - 1], largest[number - 1] = _pair(" ".join(row[1:]))
        return cls(lower, upper, least, largest, targets)

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


def _pair(text: str) -> tuple[float, float]:
    """Return two finite numbers."""
    words = text.split()
    numbers = [float(word) for word in words]
    if len(numbers) != 2 or not np.isfinite(numbers).all():
        message = f"{text[:40]!r} must be two finite numbers"
        raise ValueError(message)
    return numbers[0], numbers[1]


def _row(ends: Any) -> _Vector:
    """Return the least or largest values of columns, whatever kind of rows they are of."""
    found: _Vector = np.asarray(ends.toarray() if sparse.issparse(ends) else ends, float).ravel()
    return found


def _numbered(block: Block) -> Block:
    """Return a block with labels that LIBSVM files can have; zero where there are none."""
    X, y = block
    if y is None:
        return X, np.zeros(X.shape[0])
    if y.dtype.kind not in "biuf":
        message = f"labels of LIBSVM files are numbers, and these are words such as {str(y[0])!r}: scale by budgetsvm train --scale range"
        raise ValueError(message)
    return X, y


def scaled_lines(blocks: Blocks, ranges: Ranges) -> Iterator[str]:
    """Yield the text of scaled rows."""
    step = max(1, _VALUES // len(ranges.least))  # what was sparse is dense now
    for X, y in map(_numbered, blocks):
        for start in range(0, len(y), step):
            some = slice(start, start + step)
            scaled, targets = ranges.scale(X[some]), ranges.scale_targets(y[some])
            yield "".join(
                f"{label:.17g} "
                + "".join(f"{k + 1}:{row[k]:g} " for k in np.flatnonzero(row))
                + "\n"
                for row, label in zip(scaled, targets, strict=True)
            )
