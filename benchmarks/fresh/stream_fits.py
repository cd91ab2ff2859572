"""Fits of the stream, in a process of its own: `learn` and `hold` run there."""

from typing import Any

from benchmarks.measuring.memory import PeakMemory
from benchmarks.measuring.timing import clock
from benchmarks.problems import made_stream
from budgetsvm import BudgetSVC

_BLOCK = 20_000
_TEST_ROWS, _TEST_SEED = 20_000, 1_000_000


def learn(*, n: int, budget: int, threads: int, seed: int) -> dict[str, Any]:
    """Learn n rows in one pass, none of which is held."""
    model = _model(budget, threads, seed)
    memory = PeakMemory()
    seconds = clock(lambda: model.fit_stream(made_stream.blocks(n, _BLOCK, seed)))
    return _found(model, seconds, memory)


def hold(*, n: int, budget: int, threads: int, seed: int) -> dict[str, Any]:
    """Learn n rows that are held in memory, as usual."""
    model = _model(budget, threads, seed)
    memory = PeakMemory()
    X, y = made_stream.held(n, _BLOCK, seed)
    seconds = clock(lambda: model.fit(X, y))
    return _found(model, seconds, memory)


def _model(budget: int, threads: int, seed: int) -> BudgetSVC:
    return BudgetSVC(gamma=made_stream.GAMMA, budget=budget, random_state=seed, n_jobs=threads)


def _found(model: BudgetSVC, seconds: float, memory: PeakMemory) -> dict[str, Any]:
    peak = memory.bytes()
    score = model.score(*made_stream.held(_TEST_ROWS, _BLOCK, _TEST_SEED))
    return {
        "seconds": seconds,
        "peak_mb": None if peak is None else peak / 1e6,
        "score": float(score),
        "visits": sum(record["visits"] for record in model.history_),
        "terms": len(model.support_vectors_),
        "converged": model.converged_,
    }
