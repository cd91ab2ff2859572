"""Lemma 2 on all rows (`--thorough`): the rates of steps without a budget, five seeds.

A visit without a step costs nothing if the values f(x_i) of all rows are kept: a step changes them by one row of the kernel
matrix. Late in a run steps are few, so that this is far cheaper than evaluating thousands of terms at every visit; the
solvers are those of equations (3) and (4). Values are summed up in single precision, where a step takes a third of the time: its
errors, by estimate 10⁻⁴ at the end, are far below what decides about a step.
"""

from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import saxpy

from experiments.exact.dual import GaussianRows
from experiments.exact.solution import exact_job
from experiments.problems import Spec, load
from experiments.report.content import Section
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope
from experiments.tables.rate_claims import Rates, rates_claims
from experiments.tables.rates import rates_picture, rates_table

_EPOCHS, _QUICK_EPOCHS = {"sca": 1000, "sgd": 500}, 100
_MOST_ROWS = 60_000  # beyond, a run takes more than an hour
_MOST_BYTES = 7e9  # of kernel values, for each process
_COST = {"sca": 4e-6, "sgd": 1e-5}  # seconds per visit
_ABOUT = (
    "Lemma 2 speaks of the limit, which runs on a few thousand rows reach sooner. Here are all rows of the data sets "
    "on which a run takes less than an hour; solvers that keep f at all rows make that possible."
)


class KernelRows:
    """Rows of the kernel matrix in single precision, computed when they are asked for; the one used longest ago gives way."""

    def __init__(self, X: Any, gamma: float, most_bytes: float = _MOST_BYTES) -> None:
        self._rows = GaussianRows(X, gamma)
        n = len(self._rows)
        # Untouched rows take no memory.
        self._values = np.zeros((min(n, max(1, int(most_bytes / (4 * n)))), n), dtype=np.float32)
        self._places: OrderedDict[int, int] = OrderedDict()

    def __getitem__(self, i: int) -> NDArray[np.float32]:
        place = self._places.get(i)
        if place is None:
            full = len(self._places) == len(self._values)
            place = self._places.popitem(last=False)[1] if full else len(self._places)
            self._values[place] = self._rows.values(self._rows.pick([i]))[:, 0]
            self._places[i] = place
        else:
            self._places.move_to_end(i)
        return self._values[place]


def coordinate_ascent(
    kernel: KernelRows, y: NDArray[np.float64], C: float, epochs: int, seed: int
) -> dict[str, list[float]]:
    """Equation (3) at points drawn uniformly: per epoch, the shares of steps and of margins below 1."""
    n, rng = len(y), np.random.default_rng(seed)
    f, alpha = np.zeros(n, dtype=np.float32), [0.0] * n
    signs = y.tolist()
    found: dict[str, list[float]] = {"steps": [], "violations": []}
    for _ in range(epochs):
        steps = violations = 0
        for i in rng.integers(n, size=n).tolist():
            slope = 1.0 - signs[i] * float(f[i])
            violations += slope > 0
            old = alpha[i]
            new = min(max(old + slope, 0.0), C)
            if new != old:
                steps += 1
                alpha[i] = new
                saxpy(kernel[i], f, a=signs[i] * (new - old))
        found["steps"].append(steps / n)
        found["violations"].append(violations / n)
    return found


def gradient_descent(
    kernel: KernelRows, y: NDArray[np.float64], C: float, epochs: int, seed: int
) -> dict[str, list[float]]:
    """Equation (4): after t - 1 visits α is nC/(t - 1) times the number of steps of each point."""
    n, rng = len(y), np.random.default_rng(seed)
    total = np.zeros(n, dtype=np.float32)  # Σ y_i k(x_i, ·) over all steps
    signs, t = y.tolist(), 0
    shares = []
    for _ in range(epochs):
        steps = 0
        for i in rng.integers(n, size=n).tolist():
            if n * C * signs[i] * float(total[i]) < t:
                steps += 1
                saxpy(kernel[i], total, a=signs[i])
            t += 1
        shares.append(steps / n)
    return {"steps": shares, "violations": shares}


_SOLVERS = {"sca": coordinate_ascent, "sgd": gradient_descent}


def count_all(
    *, name: str, folder: str | None, C: float, gamma: float, solver: str, epochs: int, seed: int
) -> Result:
    """Run a solver without a budget on all rows."""
    problem = load(name, folder)
    return _SOLVERS[solver](KernelRows(problem.X, gamma), problem.y, C, epochs, seed)


def jobs(scope: Scope) -> list[Job]:
    """Return the exact solutions, and a run of each solver per seed."""
    return [
        job
        for spec in _specs(scope)
        for job in (
            exact_job(scope, spec),
            *(_run(scope, spec, s, seed) for s in _SOLVERS for seed in range(scope.seeds)),
        )
    ]


def _specs(scope: Scope) -> list[Spec]:
    return [spec for spec in scope.specs if spec.rows <= _MOST_ROWS and spec.exact_rows is None]


def _run(scope: Scope, spec: Spec, solver: str, seed: int) -> Job:
    epochs = _QUICK_EPOCHS if scope.quick else _EPOCHS[solver]
    arguments = {
        "name": spec.name,
        "folder": scope.folder,
        "C": spec.C,
        "gamma": spec.gamma,
        "solver": solver,
        "epochs": epochs,
        "seed": seed,
    }
    name = f"all-rows/{spec.name}-{solver}-{seed}"
    return Job(name, count_all, arguments, 1 + _COST[solver] * spec.rows * epochs)


def section(scope: Scope, results: Results) -> Section:
    """Compare the predictions with the measured rates."""
    found = [
        Rates(
            spec.name,
            results[exact_job(scope, spec).name],
            {
                s: [results[_run(scope, spec, s, seed).name] for seed in range(scope.seeds)]
                for s in _SOLVERS
            },
        )
        for spec in _specs(scope)
    ]
    parts = (rates_table(found, "all-rows"), rates_picture(found, "all-rows"))
    return Section("Lemma 2 on all rows", [_ABOUT], parts, rates_claims(found, " (all rows)"))
