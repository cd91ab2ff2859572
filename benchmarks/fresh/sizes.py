"""Fits of synthetic data of a given size, in a process of its own: `measure` runs there."""

from typing import Any

from benchmarks.measuring.memory import PeakMemory
from benchmarks.measuring.timing import clock
from benchmarks.problems import synthetic
from budgetsvm import BudgetSVC

_TEST_ROWS = 10_000
_FEWEST_RUNS, _ENOUGH = 2, 5.0  # and seconds: after both, no more repetitions


def measure(
    *, n: int, B: int, d: int, threads: int, repeat: int, memory_limit: float | None = None
) -> dict[str, Any]:
    """Fit n rows of d features on a budget B. The peak is that of the first fit."""
    X, y = synthetic.make(n + _TEST_ROWS, d)
    model = BudgetSVC(
        gamma=synthetic.GAMMA, budget=B, memory_limit=memory_limit, random_state=0, n_jobs=threads
    )
    memory = PeakMemory()
    runs = [_fit(model, X[:n], y[:n])]
    peak = memory.bytes()
    while len(runs) < repeat and (
        len(runs) < _FEWEST_RUNS or sum(run["seconds"] for run in runs) < _ENOUGH
    ):
        runs.append(_fit(model, X[:n], y[:n]))
    return {
        **min(runs, key=lambda run: run["seconds"]),
        "runs": len(runs),
        "terms": len(model.support_vectors_),
        "score": float(model.score(X[n:], y[n:])),
        "gap": model.duality_gap_,
        "data_mb": (X[:n].nbytes + y[:n].nbytes) / 1e6,
        "peak_mb": None if peak is None else peak / 1e6,
    }


def _fit(model: BudgetSVC, X: synthetic.Array, y: synthetic.Array) -> dict[str, float]:
    """Return the seconds of a fit and of its parts."""
    seconds = clock(lambda: model.fit(X, y))
    phase_one = sum(epoch["seconds"] for epoch in model.history_)
    return {"seconds": seconds, "phase_one": phase_one, "rest": seconds - phase_one}
