"""The data sets: LIBSVM text files, scaled and split as in the paper.

The files lie in the folder that the environment variable BUDGETSVM_DATA names, plain or compressed.
Parsing text takes much longer than training, so the parsed arrays are kept in a cache.
"""

import bz2
import gzip
import lzma
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_file

Array: TypeAlias = NDArray[np.float64]

_OPENERS: dict[str, Callable[..., Any]] = {
    "": open,
    ".xz": lzma.open,
    ".gz": gzip.open,
    ".bz2": bz2.open,
}
# Part of the name of a cached file: raise it when the layout of the arrays changes.
_CACHE_LAYOUT = 1
_SPLIT_SEED = 0
_TEST_SHARE = 0.2
# With fewer entries that are not zero, CSR is a form that a user would choose, too.
_SPARSE_BELOW = 0.2


@dataclass(frozen=True)
class Spec:
    """A data set and the hyper-parameters for it."""

    name: str
    file: str
    n_features: int
    C: float
    gamma: float
    test_file: str | None = None  #: without one, a fifth of the rows is held out
    scaling: Literal["none", "range", "standard", "bytes"] = "none"
    big: bool = False  #: takes minutes where the others take seconds
    variant: bool = False  #: another scaling or other hyper-parameters than in the paper


SPECS = (
    Spec("ADULT", "a9a", 123, 2.0**5, 2.0**-7, "a9a.t"),
    Spec("IJCNN", "ijcnn1", 22, 2.0**5, 2.0, "ijcnn1.t"),
    Spec("COD-RNA", "cod-rna", 8, 2.0**5, 2.0**-3, "cod-rna.t", "range"),
    Spec("COD-RNA-STD", "cod-rna", 8, 2.0**5, 2.0**-3, "cod-rna.t", "standard", variant=True),
    Spec("SUSY", "SUSY.subset41k", 18, 2.0**5, 2.0**-7, scaling="standard"),
    Spec("COVTYPE", "covtype.libsvm.binary.scale", 54, 2.0**7, 2.0**-3, big=True),
    Spec("COVTYPE-G8", "covtype.libsvm.binary.scale", 54, 2.0**5, 8.0, big=True, variant=True),
)


@dataclass(frozen=True)
class Problem:
    """Training and test rows, ready to use, with C and gamma."""

    spec: Spec
    X: Any
    y: Array
    X_test: Any
    y_test: Array

    @property
    def name(self) -> str:
        """The name of the data set."""
        return self.spec.name

    @property
    def C(self) -> float:
        """The weight of the training errors."""
        return self.spec.C

    @property
    def gamma(self) -> float:
        """The coefficient of the Gaussian kernel."""
        return self.spec.gamma

    @property
    def majority(self) -> float:
        """Accuracy on the test set of always naming the more frequent training class."""
        labels, counts = np.unique(self.y, return_counts=True)
        return float(np.mean(self.y_test == labels[counts.argmax()]))

    @property
    def is_sparse(self) -> bool:
        """Whether the training rows are in CSR form."""
        return bool(sparse.issparse(self.X))

    @property
    def suits_csr(self) -> bool:
        """Whether most entries are zero."""
        nonzero = self.X.nnz if self.is_sparse else np.count_nonzero(self.X)
        return bool(nonzero < _SPARSE_BELOW * np.prod(self.X.shape))

    def as_csr(self) -> "Problem":
        """Return the same problem with sparse rows."""
        return replace(self, X=sparse.csr_array(self.X), X_test=sparse.csr_array(self.X_test))

    def usual_form(self) -> "Problem":
        """Return the problem as a user would have it: sparse where most entries are zero."""
        return self.as_csr() if self.suits_csr else self

    def first_rows(self, n: int) -> "Problem":
        """Return the problem with the first n training rows."""
        return replace(self, X=self.X[:n], y=self.y[:n])


def data_folder() -> Path:
    """Return the folder with the data sets, or exit with an explanation."""
    name = os.environ.get("BUDGETSVM_DATA", "")
    if not name or not Path(name).is_dir():
        sys.exit(
            "Set BUDGETSVM_DATA to a folder with LIBSVM data sets, such as a9a.xz and a9a.t.xz."
        )
    return Path(name)


def find(folder: Path, file: str) -> Path | None:
    """Return the path of a file, plain or compressed, or None."""
    candidates = (folder / f"{file}{suffix}" for suffix in _OPENERS)
    return next((path for path in candidates if path.is_file()), None)


def missing_files(folder: Path, spec: Spec) -> list[str]:
    """Return the names of the files that a data set lacks."""
    needed = [spec.file] if spec.test_file is None else [spec.file, spec.test_file]
    return [file for file in needed if find(folder, file) is None]


def load(folder: Path, spec: Spec) -> Problem:
    """Load, split and scale a data set. Rows are dense float64: what most users have."""
    X, y = _read_file(folder, spec.file, spec.n_features)
    if spec.test_file is None:
        X, y, X_test, y_test = _split(X, y)
    else:
        X_test, y_test = _read_file(folder, spec.test_file, spec.n_features)
    X, X_test = _scale(X, X_test, spec.scaling)
    return Problem(spec, X, y, X_test, y_test)


def read_text(folder: Path, spec: Spec) -> bytes:
    """Return the decompressed text of the training file."""
    with _open(_existing(folder, spec.file), spec.file) as stream:
        return stream.read()


def parse_text(stream: BinaryIO, n_features: int) -> tuple[Any, Array]:
    """Return rows in CSR form, and labels."""
    X, y = load_svmlight_file(stream, n_features=n_features, zero_based=False)
    return X, y


def _split(X: Array, y: Array) -> tuple[Array, Array, Array, Array]:
    order = np.random.default_rng(_SPLIT_SEED).permutation(len(y))
    test, train = np.split(order, [round(_TEST_SHARE * len(y))])
    return X[train], y[train], X[test], y[test]


def _scale(X: Array, X_test: Array, scaling: str) -> tuple[Array, Array]:
    """Scale by what the training rows show; test rows may leave the range."""
    if scaling == "none":
        return X, X_test
    if scaling == "bytes":
        return X / 255, X_test / 255
    if scaling == "range":
        shift, width = X.min(axis=0), np.ptp(X, axis=0)
    else:
        shift, width = X.mean(axis=0), X.std(axis=0)
    width = np.where(width > 0, width, 1.0)
    return (X - shift) / width, (X_test - shift) / width


def _read_file(folder: Path, file: str, n_features: int) -> tuple[Array, Array]:
    path = _existing(folder, file)
    cached = _cache_path(path)
    if cached.is_file():
        X, y = _read_cache(cached)
    else:
        with _open(path, file) as stream:
            X, y = parse_text(stream, n_features)
        _write_cache(cached, X, y)
    return X.toarray(), y


def _existing(folder: Path, file: str) -> Path:
    path = find(folder, file)
    if path is None:
        message = f"the data folder holds no {file}, plain or compressed"
        raise FileNotFoundError(message)
    return path


def _open(path: Path, file: str) -> BinaryIO:
    return cast(BinaryIO, _OPENERS[path.suffix if path.name != file else ""](path, "rb"))


def _cache_path(path: Path) -> Path:
    """Name the cached arrays of a file so that a changed file gets another name."""
    stat = path.stat()
    name = f"{path.name}-{stat.st_size}-{stat.st_mtime_ns}-{_CACHE_LAYOUT}.npz"
    return _cache_folder() / name


def _cache_folder() -> Path:
    user = (
        os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    )
    for parent in (Path(user), Path(tempfile.gettempdir())):
        folder = parent / "budgetsvm-benchmarks"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    raise OSError("neither the user's cache folder nor the temporary folder can be written to")


def _read_cache(path: Path) -> tuple[Any, Array]:
    with np.load(path) as arrays:
        parts = (arrays["values"], arrays["indices"], arrays["starts"])
        return sparse.csr_array(parts, shape=tuple(arrays["shape"])), arrays["y"]


def _write_cache(path: Path, X: Any, y: Array) -> None:
    with _replacing(path) as stream:
        np.savez(stream, values=X.data, indices=X.indices, starts=X.indptr, shape=X.shape, y=y)


@contextmanager
def _replacing(path: Path) -> Iterator[Any]:
    """Write a file that appears only when it is complete: another run may be reading."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as stream:
        temporary = Path(stream.name)
        try:
            yield stream
            stream.close()
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
