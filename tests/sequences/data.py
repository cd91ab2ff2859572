"""Small awkward data sets that a line of text describes, so that a finding can be printed and run again."""

from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from scipy import sparse

#: Two sets of names for classes: a refit may bring other labels.
NAMES = (np.array([0, 1, 2]), np.array(["a", "b", "c"]))


@dataclass(frozen=True, repr=False)
class Data:
    """Rows, targets and weights, made anew from these numbers whenever they are asked for."""

    n: int = 40
    d: int = 2
    seed: int = 0
    form: Literal["dense", "fortran", "csr"] = "dense"
    dtype: Literal["float64", "float32"] = "float64"
    shift: float = 0.0
    scale: float = 1.0
    duplicates: bool = False
    constant: bool = False
    weights: Literal["none", "equal", "wide", "zeros", "huge"] = "none"
    names: int = 0  #: of the classes
    spread: float = 1.0  #: of the targets of regression

    def __repr__(self) -> str:
        """Write what is out of the ordinary."""
        chosen = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
        given = (f"{name}={value!r}" for name, value, usual in chosen if value != usual)
        return f"Data({', '.join(given)})"

    def rows(self) -> Any:
        """Return X as an estimator gets it."""
        X = self.dense().astype(self.dtype)
        if self.form == "csr":
            return sparse.csr_matrix(X)
        return np.asfortranarray(X) if self.form == "fortran" else X

    def exact_rows(self) -> Any:
        """Return X as float64, with the rounding that `rows` has."""
        return self.dense().astype(self.dtype).astype(np.float64)

    def dense(self) -> Any:
        """Return X before it is rounded."""
        return self.scale * self._base() + self.shift

    def _base(self) -> Any:
        """Return rows of the usual size; some entries are zero."""
        rng = np.random.default_rng(self.seed)
        X = rng.standard_normal((self.n, self.d)) * (rng.random((self.n, self.d)) < 0.9)
        if self.duplicates:
            X = X[rng.integers(max(1, self.n // 4), size=self.n)]
        if self.constant:
            X[:, -1] = 1.0
        return X

    def targets(self, subject: str) -> Any:
        """Return y for one of `sequences.SUBJECTS`, None where it has none."""
        rng = np.random.default_rng(self.seed + 1)
        X = self._base()
        values = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(self.n)
        match subject:
            case "two classes" | "features":
                return NAMES[self.names][self._codes(values, 2)]
            case "three classes":
                return NAMES[self.names][self._codes(values, 3)]
            case "one target":
                return 5 + self.spread * values
            case "two targets":
                return np.column_stack([5 + self.spread * values, X[:, 0] ** 2])
        return None

    def sample_weight(self) -> Any:
        """Return the weights, None for those that are not given."""
        rng = np.random.default_rng(self.seed + 2)
        match self.weights:
            case "equal":
                return np.full(self.n, 3.0)
            case "wide":
                return 10.0 ** rng.uniform(-3, 3, self.n)
            case "huge":
                return np.full(self.n, 1e300)
            case "zeros":
                return rng.integers(0, 3, self.n).astype(float)
        return None

    def _codes(self, values: Any, classes: int) -> Any:
        """Cut values into classes, all of which occur among the first rows."""
        codes = np.digitize(values, np.quantile(values, np.arange(1, classes) / classes))
        codes[:classes] = np.arange(classes)[: self.n]
        return codes
