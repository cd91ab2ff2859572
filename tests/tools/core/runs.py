"""The core's solvers driven directly, and the same ones in plain NumPy."""

from typing import Any

import numpy as np
from oracles import reference
from oracles.problems import blobs, sparse_rows, weights
from scipy import sparse
from tools.core.arguments import core_problem, core_rows

from budgetsvm import _core, kernels
from budgetsvm._model.term_store import TermStore
from budgetsvm.maintenance import Maintenance, Merge, Project, Remove
from budgetsvm.solvers import BSCA, BSGD

SOLVERS = {"bsca": (BSCA(), reference.BSCA), "bsgd": (BSGD(), reference.BSGD)}
MAINTENANCE: dict[str, tuple[Maintenance, reference.Maintenance]] = {
    "merge": (Merge(), reference.Merge()),
    "same-sign": (Merge(partners="same-sign"), reference.Merge(same_sign=True)),
    "golden": (Merge(search="golden"), reference.Merge(golden=True)),
    "paper": (
        Merge(search="golden", partners="same-sign"),
        reference.Merge(same_sign=True, golden=True),
    ),
    "merge-3": (Merge(n_terms=3), reference.Merge(3)),
    "merge-4": (Merge(n_terms=4, partners="same-sign"), reference.Merge(4, same_sign=True)),
    "merge-5": (Merge(n_terms=5), reference.Merge(5)),
    "project": (Project(), reference.Project()),
    "remove": (Remove(), reference.Remove()),
}
KERNELS: dict[str, tuple[kernels.Kernel, reference.Kernel]] = {
    "rbf": (kernels.Gaussian(0.15), reference.Kernel("rbf", 0.15)),
    "laplacian": (kernels.Laplacian(0.5), reference.Kernel("laplacian", 0.5)),
    "poly": (kernels.Polynomial(2, 0.7, 1.0), reference.Kernel("poly", 0.7, 1.0, 2)),
    "sigmoid": (kernels.Sigmoid(0.05, 0.2), reference.Kernel("sigmoid", 0.05, 0.2)),
    "linear": (kernels.Linear(), reference.Kernel("linear")),
}


class CoreRun:
    """Drives the core directly, in blocks of any length, and shows its state in between."""

    def __init__(
        self,
        X: Any,
        y: Any,
        C: Any,
        *,
        kernel: kernels.Kernel,
        solver: Any,
        maintenance: Maintenance,
        budget: int | None,
        dtype: Any = np.float64,
    ) -> None:
        self.X, self.y, self.C, self.dtype = X, y, np.asarray(C, float), dtype
        self.kernel, self.solver, self.maintenance, self.budget = (
            kernel,
            solver,
            maintenance,
            budget,
        )
        self.diagonal = kernel.diagonal(
            (np.asarray(dense(X), dtype).astype(float) ** 2).sum(axis=1)
        )
        self.terms = TermStore(len(y) + 1 if budget is None else budget + 1, X.shape[1], dtype)
        self.alpha_stored = np.zeros(len(y))
        self.slots = np.full(len(y) if budget is None else 0, -1, np.int32)
        self.t = 0
        self.batch_size, self.n_threads = 64, 1

    def visit(self, order: Any) -> tuple[int, int, int, int, float, float]:
        """Visit points; returns steps, violations, mistakes, merges, degradation, loss."""
        order = np.atleast_1d(np.asarray(order, np.int64))
        if self.budget is None:
            self.terms.reserve(self.terms.size + len(order))
        arguments = (
            core_rows(self.X[order], self.dtype),
            core_problem(
                order, self.diagonal[order], self.y, self.C, self.alpha_stored, self.slots
            ),
            self.terms.arrays,
            self.terms.size,
            self.budget or 0,
            self.terms.core_kernel(self.kernel),
            self.maintenance.core(),
            (self.batch_size, self.n_threads),
        )
        if isinstance(self.solver, BSGD):
            self.terms.size, *counts, self.lost = _core.bsgd(*arguments, self.t, float(len(self.y)))
        else:
            self.terms.size, *counts, self.lost = _core.bsca(*arguments)
        self.t += len(order)
        return tuple(counts)  # type: ignore[return-value]

    @property
    def scale(self) -> float:
        """BSGD stores coefficients as t times their value."""
        return 1 / max(1, self.t) if isinstance(self.solver, BSGD) else 1.0

    @property
    def coef(self) -> Any:
        return self.terms.coef[: self.terms.size] * self.scale

    @property
    def alpha(self) -> Any:
        return self.alpha_stored * self.scale

    def decision(self, X: Any) -> Any:
        out = np.zeros(X.shape[0])
        kernel = self.terms.core_kernel(self.kernel)
        _core.decision(core_rows(X, self.dtype), self.terms.arrays, self.terms.size, kernel, out)
        return out * self.scale


def dense(X: Any) -> Any:
    """Rows as an array."""
    return X.toarray() if sparse.issparse(X) else X


def make_pair(
    X: Any, y: Any, *, kernel: str, solver: str, maintenance: str, budget: int | None
) -> tuple[CoreRun, Any]:
    """The same solver from the core and in plain NumPy, with different bounds C_i."""
    C_i = 8.0 * weights(len(y), 1) / (len(y) if solver == "bsgd" else 1)
    ours, theirs = KERNELS[kernel]
    core_solver, plain_solver = SOLVERS[solver]
    core_maintenance, plain_maintenance = MAINTENANCE[maintenance]
    core = CoreRun(
        X, y, C_i, kernel=ours, solver=core_solver, maintenance=core_maintenance, budget=budget
    )
    return core, plain_solver(theirs, dense(X), y, C_i, budget, plain_maintenance)


def iid(n: int, visits: int, seed: int = 5) -> Any:
    """Points to visit, any of them again and again."""
    return np.random.default_rng(seed).integers(n, size=visits)


def data(form: str) -> tuple[Any, Any]:
    """Ninety points in five dimensions."""
    if form == "dense":
        return blobs(90, 5, 3, distance=0.6)
    X = sparse_rows(90, 5, 4, density=0.6)
    return X, np.where(np.random.default_rng(6).random(90) < 0.5, 1.0, -1.0)
