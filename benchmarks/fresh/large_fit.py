"""A fit of COVTYPE with a large budget, in a process of its own: its memory counts."""

from time import process_time
from typing import Any

from benchmarks.measuring.memory import PeakMemory
from benchmarks.measuring.timing import clock
from benchmarks.problems.data_sets import SPECS, data_folder, load
from budgetsvm import BudgetSVC


def measure(*, name: str, budget: int, gamma: float, threads: int) -> dict[str, Any]:
    """Fit and test."""
    spec = next(spec for spec in SPECS if spec.name == name)
    problem = load(data_folder(), spec)
    model = BudgetSVC(C=spec.C, gamma=gamma, budget=budget, random_state=0, n_jobs=threads)
    memory, cpu = PeakMemory(), process_time()
    seconds = clock(lambda: model.fit(problem.X, problem.y))
    cpu, peak = process_time() - cpu, memory.bytes()
    return {
        "wall": seconds,
        "seconds": cpu,
        "peak_gb": None if peak is None else peak / 1e9,
        "score": float(model.score(problem.X_test, problem.y_test)),
        "terms": len(model.support_vectors_),
        "gap": model.duality_gap_,
    }
