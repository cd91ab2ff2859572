"""The problems that digests are taken of: small data made on the spot, in all forms that X may have."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits, make_classification, make_moons, make_regression

from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR

_HELD_OUT = 100  # rows for predictions
_DISTANCES = {
    "far": 1e15,
    "farther": 1e120,
}  # beyond what single and double precision can take to a power


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows to fit, and others to look at the model with."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any

    def blocks(self, count: int) -> list[tuple[Any, Any]]:
        """Return the rows as a stream of (X, y); y may be None."""
        edges = np.linspace(0, self.X.shape[0], count + 1).astype(int)
        spans = [slice(start, stop) for start, stop in pairwise(edges)]
        return [(self.X[span], None if self.y is None else self.y[span]) for span in spans]

    def weights(self, kind: str | None) -> Any:
        """Return weights of the rows: random ones, with zeros among them, or with a few that are heavy."""
        rng, n = np.random.default_rng(1), self.X.shape[0]
        if kind == "zeros":
            return rng.integers(0, 3, n).astype(float)
        if kind == "heavy":
            return np.where(np.arange(n) % 100 == 0, 1e3, 1.0)
        return None if kind is None else rng.uniform(0.2, 3.0, n)


def _moons(n: int) -> tuple[Any, Any]:
    X, y = make_moons((n - n // 3, n // 3), noise=0.25, random_state=0)
    return X, y


def _classes(n: int) -> tuple[Any, Any]:
    X, y = make_classification(
        n, n_features=6, n_informative=4, n_classes=3, class_sep=0.8, random_state=0
    )
    return X, y


def _digits(n: int) -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    return X[:n] / 16, y[:n]


def _regression(n: int, targets: int = 1) -> tuple[Any, Any]:
    X, y = make_regression(n, n_features=5, noise=20.0, n_targets=targets, random_state=0)
    return X, y + 30 * np.sin(3 * X[:, :targets].reshape(y.shape))


def _several_targets(n: int) -> tuple[Any, Any]:
    return _regression(n, 3)


def _density(n: int) -> tuple[Any, Any]:
    return _moons(n)[0], None


#: Estimators, each with data of a kind that it is for and parameters that suit them.
SUBJECTS: dict[str, tuple[type[Any], Callable[[int], tuple[Any, Any]], dict[str, Any]]] = {
    "svc": (BudgetSVC, _moons, {"C": 5.0, "gamma": 2.0}),
    "multi": (BudgetSVC, _classes, {"C": 5.0}),
    "digits": (BudgetSVC, _digits, {"C": 5.0, "budget": 60}),
    "svr": (BudgetSVR, _regression, {"C": 5.0}),
    "targets": (BudgetSVR, _several_targets, {"C": 5.0}),
    "one-class": (BudgetOneClassSVM, _density, {"nu": 0.2, "gamma": 1.0}),
    "features": (BudgetFeatures, _moons, {"C": 5.0, "gamma": 2.0}),
    "features-svr": (BudgetFeatures, _several_targets, {"C": 5.0}),
    "features-density": (BudgetFeatures, _density, {"gamma": 1.0}),
}


def estimator(subject: str, **parameters: Any) -> Any:
    """Return an estimator that is not fitted: small, and in one thread unless these say otherwise."""
    kind, _, suitable = SUBJECTS[subject]
    common = {"budget": 20, "random_state": 0, "n_jobs": 1}
    return kind(**{**common, **suitable, **parameters})


@cache
def problem(subject: str, rows: int = 300, form: str = "float64") -> Problem:
    """Return the problem of a subject, with X in a form."""
    X, y = SUBJECTS[subject][1](rows + _HELD_OUT)
    X[rows:] *= _DISTANCES.get(form, 1.0)
    X = _in_form(X, form)
    some, others = slice(0, rows), slice(rows, None)
    if y is None:
        return Problem(_rows(X, some), None, _rows(X, others), None)
    return Problem(_rows(X, some), y[some], _rows(X, others), y[others])


def _in_form(X: Any, form: str) -> Any:
    if form.startswith("cs"):
        return _sparse(np.where(abs(X) < 0.4 * X.std(), 0.0, X), form)
    if form in AWKWARD:
        return AWKWARD[form](X)
    if form == "frame":
        import pandas as pd

        return pd.DataFrame(X, columns=[f"column{j}" for j in range(X.shape[1])])
    if form == "strided":
        return np.repeat(X, 2, axis=1)[:, ::2]
    return np.asfortranarray(X) if form == "fortran" else X.astype(form)


#: Rows that need care: other arithmetic, fewer terms, or none at all.
AWKWARD: dict[str, Callable[[Any], Any]] = {
    "shifted": lambda X: X + 1e4,
    "tiny": lambda X: 1e-8 * X,
    "huge": lambda X: 1e8 * X,
    "repeated": lambda X: X[np.arange(len(X)) // 4],
    "constant": lambda X: np.column_stack([X, np.ones(len(X))]),
    "zeros": lambda X: 0.0 * X,
    "far": lambda X: X,  # those held out
    "farther": lambda X: X,
}


def _sparse(X: Any, form: str) -> Any:
    if form == "csc":
        return sparse.csc_array(X)
    rows = sparse.csr_matrix(X.astype(np.float32 if form == "csr32" else np.float64))
    if form == "csr-long":
        rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    return rows


def _rows(X: Any, some: slice) -> Any:
    return X.iloc[some] if hasattr(X, "iloc") else X[some]
