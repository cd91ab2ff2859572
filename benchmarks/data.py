"""The data sets of the benchmarks, with hyper-parameters: LIBSVM text files, scaled and split as in the paper.

The files lie in the folder that the environment variable BUDGETSVM_DATA names, plain or compressed. Reading, splitting and
scaling are those of `budgetsvm.datasets`, but by file: nothing is downloaded, and rows are always dense at first.
"""

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from budgetsvm.datasets._obtain import find_file
from budgetsvm.datasets._prepare import in_form, is_mostly_zero, scale, split_fifth
from budgetsvm.datasets._table_cache import read_table
from budgetsvm.streams._text import read_pieces

Array: TypeAlias = NDArray[np.float64]


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
        return is_mostly_zero(self.X)

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


def missing_files(folder: Path, spec: Spec) -> list[str]:
    """Return the names of the files that a data set lacks."""
    needed = [spec.file] if spec.test_file is None else [spec.file, spec.test_file]
    return [file for file in needed if find_file(folder, file) is None]


def load(folder: Path, spec: Spec) -> Problem:
    """Load, split and scale a data set. Rows are dense float64: what most users have."""
    X, y = _read(folder, spec.file, spec.n_features)
    if spec.test_file is None:
        X, y, X_test, y_test = split_fifth(X, y)
    else:
        X_test, y_test = _read(folder, spec.test_file, spec.n_features)
    X, X_test = scale(X, X_test, spec.scaling)
    return Problem(spec, X, y, X_test, y_test)


def read_text(folder: Path, spec: Spec) -> bytes:
    """Return the decompressed text of the training file."""
    return b"".join(read_pieces(_existing(folder, spec.file)))


def parse_text(stream: BinaryIO, n_features: int) -> tuple[Any, Array]:
    """Return rows in CSR form, and labels."""
    X, y = load_svmlight_file(stream, n_features=n_features, zero_based=False)
    return X, y


def _read(folder: Path, file: str, n_features: int) -> tuple[Array, Array]:
    table = read_table(_existing(folder, file), n_features)
    return in_form(table.X, "dense"), table.y


def _existing(folder: Path, file: str) -> Path:
    path = find_file(folder, file)
    if path is None:
        message = f"the data folder holds no {file}, plain or compressed"
        raise FileNotFoundError(message)
    return path
