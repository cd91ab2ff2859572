"""The data sets of the benchmarks: those of the paper, from the catalogue of `budgetsvm.datasets`, and variants of them.

The files lie in the folder that the environment variable BUDGETSVM_DATA names, plain or compressed. Reading, splitting and
scaling are those of `budgetsvm.datasets`, but nothing is downloaded, and rows are always dense at first.
"""

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from budgetsvm._common.files.complete import cache_folder
from budgetsvm.datasets._catalogue import find_entry
from budgetsvm.datasets._dataset import assemble
from budgetsvm.datasets._entry import Entry, Scaling
from budgetsvm.datasets._obtain import Places
from budgetsvm.datasets._prepare import is_mostly_zero
from budgetsvm.streams._text import read_pieces

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Spec:
    """A data set and the hyper-parameters for it."""

    name: str
    entry: Entry
    C: float
    gamma: float
    scaling: Scaling = "none"
    big: bool = False  #: takes minutes where the others take seconds
    variant: bool = False  #: another scaling or other hyper-parameters than in the paper

    @classmethod
    def of(cls, data: str, name: str | None = None, **different: Any) -> Self:
        """Return a data set as it is in the catalogue, except for what is given.

        Where the catalogue has a subset, that is it: figures should not depend on what else is at hand.
        """
        entry = find_entry(data)
        entry = entry.subset or entry
        usual = {"C": entry.C, "gamma": entry.gamma, "scaling": entry.scaling}
        return cls(name or data.upper(), entry, **{**usual, **different})

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return self.entry.n_features


SPECS = (
    Spec.of("adult"),
    Spec.of("ijcnn"),
    Spec.of("cod-rna"),
    Spec.of("cod-rna", "COD-RNA-STD", scaling="standard", variant=True),
    Spec.of("susy"),
    Spec.of("covtype", big=True),
    Spec.of("covtype", "COVTYPE-G8", C=2.0**5, gamma=8.0, big=True, variant=True),
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
    places = _places(folder)
    return [file.name for file in spec.entry.files if places.find(file.name) is None]


def load(folder: Path, spec: Spec) -> Problem:
    """Load, split and scale a data set. Rows are dense float64: what most users have."""
    data = assemble(spec.entry, _places(folder), spec.scaling, "dense")
    return Problem(spec, data.X, data.y, data.X_test, data.y_test)


def read_text(folder: Path, spec: Spec) -> bytes:
    """Return the decompressed text of the training file."""
    path = find_file(folder, spec.entry.train.name)
    return b"".join(text for _, text in read_pieces(path))


def find_file(folder: Path, name: str) -> Path:
    """Return a file, which is known to be there, plain or compressed."""
    path = _places(folder).find(name)
    assert path is not None, "it is missing"
    return path


def parse_text(stream: BinaryIO, n_features: int) -> tuple[Any, Array]:
    """Return rows in CSR form, and labels."""
    X, y = load_svmlight_file(stream, n_features=n_features, zero_based=False)
    return X, y


def _places(folder: Path) -> Places:
    return Places(folder, cache_folder("datasets"), base_url="", download=False)
