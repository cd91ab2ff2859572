"""The exact SVM as a job: scikit-learn's, which has a bias, and from there the paper's, which has none."""

from time import perf_counter, process_time
from typing import Any

import numpy as np
from sklearn.svm import SVC

from experiments.exact.dual import GaussianRows, Solution, solve_dual
from experiments.exact.projected_newton import Array
from experiments.problems import Problem, Spec, load
from experiments.running.jobs import Job, Result
from experiments.scope import Scope

#: The relative duality gap (P - D) / P that the solution is certified to have.
TOLERANCE = 1e-6
# Shares of C within which a variable counts as being at its bound: rounding errors of the steps.
_AT_BOUND = 1e-6
_BINS = 40
_CACHE = 1000  # megabytes for LIBSVM's kernel rows
_MOST_ROWS = 60_000  # as many as take minutes; of more, a random part
_COST = 5e-8  # seconds per pair of rows on one core, SVC and the rest


def exact_job(scope: Scope, spec: Spec, rows: int | None = None) -> Job:
    """Return the job that solves a problem exactly; of `rows` rows, or of all that are feasible."""
    rows = spec.exact_rows if rows is None else rows
    size = "all" if rows is None else str(rows)
    arguments = {
        "name": spec.name,
        "folder": scope.folder,
        "rows": rows,
        "C": spec.C,
        "gamma": spec.gamma,
    }
    n = rows or min(spec.rows, 40_000)
    return Job(f"exact/{spec.name}-{size}", solve_exact, arguments, cost=1 + _COST * n**2)


def solve_exact(name: str, folder: str | None, rows: int | None, C: float, gamma: float) -> Result:
    """Fit SVC, then solve the problem without a bias from its dual variables; test both."""
    problem = load(name, folder, rows or _MOST_ROWS)
    started, started_cpu = perf_counter(), process_time()
    svc = SVC(C=C, gamma=gamma, cache_size=_CACHE).fit(problem.X, problem.y)
    seconds, cpu = perf_counter() - started, process_time() - started_cpu
    started = perf_counter()
    train = GaussianRows(problem.X, gamma)
    solution = solve_dual(train, problem.y, C, _dual_variables(svc, len(problem.y)), TOLERANCE)
    result: Result = {
        "rows": len(problem.y),
        "test_rows": len(problem.y_test),
        "features": int(problem.X.shape[1]),
        "svc_seconds": seconds,
        "svc_cpu_seconds": cpu,
        "svc_terms": len(svc.support_),
        "svc_bias": float(svc.intercept_[0]),
        "seconds": perf_counter() - started,
        **_describe(solution),
        **_accuracies(svc, solution, train, problem),
    }
    return result


def _dual_variables(svc: SVC, n: int) -> Array:
    alpha = np.zeros(n)
    coefficients = svc.dual_coef_  # y_i alpha_i; sparse for sparse rows
    dense = coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients
    alpha[svc.support_] = np.abs(dense).ravel()
    return alpha


def _describe(solution: Solution) -> dict[str, Any]:
    """Return the optimum, and what lemma 2 makes of it."""
    share = solution.alpha / solution.C
    bounded = share >= 1 - _AT_BOUND
    free = (share > _AT_BOUND) & ~bounded
    margins = 1 - solution.gradient
    counts, edges = np.histogram(np.clip(margins, -3, 5), bins=_BINS, range=(-3, 5))
    return {
        "primal": solution.primal,
        "dual": solution.dual,
        "relative_gap": solution.gap / solution.primal,
        "parts": solution.parts,
        "free": int(free.sum()),
        "bounded": int(bounded.sum()),
        "p_sgd": float(share.mean()),
        "p_sca": float(free.mean()),
        "p_bounded": float(bounded.mean()),
        "margin_edges": edges.tolist(),
        "margin_counts": counts.tolist(),
        "alpha_counts": np.histogram(share[free], bins=_BINS, range=(0, 1))[0].tolist(),
    }


def _accuracies(
    svc: SVC, solution: Solution, train: GaussianRows, problem: Problem
) -> dict[str, float]:
    """Return the test accuracies in %: f of both machines takes the same kernel values."""
    with_bias = _dual_variables(svc, len(problem.y))
    used = np.flatnonzero((with_bias > 0) | (solution.alpha > 0))
    coefficients = np.column_stack([with_bias, solution.alpha])[used] * problem.y[used, np.newaxis]
    points = train.pick(used)
    right = np.zeros(2)
    n, step = len(problem.y_test), 8192
    for first in range(0, n, step):
        some = slice(first, first + step)
        f = GaussianRows(problem.X_test[some], train.gamma).expand(points, coefficients)
        f[:, 0] += svc.intercept_[0]
        right += ((f > 0) == (problem.y_test[some, np.newaxis] > 0)).sum(axis=0)
    return {
        "svc_accuracy": float(100 * right[0] / n),
        "accuracy": float(100 * right[1] / n),
        "terms": int(np.count_nonzero(solution.alpha)),
    }
