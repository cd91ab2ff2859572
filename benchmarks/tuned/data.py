"""Nine data sets, as they are for a stranger: raw features, some rows to learn from, others to score on.

They were named before any figure of a tuned machine was known, and nothing was chosen to suit them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.problems.data_sets import Spec, find_file, load, missing_files
from budgetsvm.streams import read_blocks

_MOST_ROWS, _MOST_TEST = 100_000, 20_000
_TEST_SHARE = 0.25  # of files that have no test rows


@dataclass(frozen=True, eq=False)
class Table:
    """Rows to train on, and rows to score on."""

    name: str
    X: NDArray[np.float64]
    y: NDArray[Any]
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]
    regression: bool


@dataclass(frozen=True)
class _Source:
    name: str
    file: str  #: of the catalogue; or of the folder, where there is no split
    listed: bool = True
    regression: bool = False
    first: int | None = None  #: rows of the file


_SOURCES = (
    _Source("ADULT", "adult"),
    _Source("COD-RNA", "cod-rna"),
    _Source("COVTYPE", "covtype"),
    _Source("LETTER", "letter"),
    _Source("SUSY", "susy"),
    _Source("CADATA", "cadata", regression=True),
    _Source("ABALONE", "abalone", regression=True),
    _Source("SPAMBASE", "spambase", listed=False),
    _Source("FLIGHTS", "flights-3m", listed=False, first=100_000),
)
NAMES = tuple(source.name for source in _SOURCES)


def tables(
    folder: Path, missing: Callable[[str], None], names: tuple[str, ...] = NAMES
) -> Iterator[Table]:
    """Read one after the other; says which are missing."""
    for source in _SOURCES:
        if source.name not in names:
            continue
        try:
            yield _read(folder, source)
        except FileNotFoundError as error:
            missing(f"{source.name} ({error})")


def _read(folder: Path, source: _Source) -> Table:
    rng = np.random.default_rng(0)
    if source.listed:
        spec = Spec.of(source.file, scaling="none")
        if files := missing_files(folder, spec):
            raise FileNotFoundError(", ".join(files))
        data = load(folder, spec)
        parts = data.X, data.y, data.X_test, data.y_test
    else:
        parts = _split(*_whole(folder, source), rng)
    X, y, X_test, y_test = parts
    train, test = (_some(len(y), _MOST_ROWS, rng), _some(len(y_test), _MOST_TEST, rng))
    return Table(source.name, X[train], y[train], X_test[test], y_test[test], source.regression)


def _whole(folder: Path, source: _Source) -> tuple[Any, Any]:
    """Return the rows of a file, or the first of them."""
    try:
        path = find_file(folder, source.file)
    except AssertionError as error:
        raise FileNotFoundError(source.file) from error
    rows: list[Any] = []
    labels: list[Any] = []
    for X, y in read_blocks(path, format="libsvm"):
        rows.append(X.toarray() if hasattr(X, "toarray") else X)
        labels.append(y)
        if source.first is not None and sum(map(len, labels)) >= source.first:
            break
    return np.vstack(rows)[: source.first], np.concatenate(labels)[: source.first]


def _split(X: Any, y: Any, rng: np.random.Generator) -> tuple[Any, Any, Any, Any]:
    order = rng.permutation(len(y))
    test, train = np.split(order, [int(_TEST_SHARE * len(y))])
    return X[train], y[train], X[test], y[test]


def _some(n: int, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the numbers of so many rows at most."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))
