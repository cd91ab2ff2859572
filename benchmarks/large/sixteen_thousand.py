"""COVTYPE with B = 16,000, which takes the better part of an hour: accuracy, seconds and memory."""

from benchmarks.fresh import large_fit
from benchmarks.fresh.call import call
from benchmarks.large.figures import Figures, Target
from benchmarks.report.record import status

_DATA, _GAMMAS, _BUDGET, _LESS = "COVTYPE-G8", (8.0, 16.0, 32.0), 16_000, 4000
_SCORE, _GROWTH, _MEMORY = Target(0.945, at_least=True), Target(5), Target(10)
_PATIENCE = 4 * 3600.0


def add(figures: Figures) -> None:
    """Add the figures of the best gamma."""
    fits = {}
    for gamma in _GAMMAS:
        status(f"{_DATA}, gamma={gamma:g}, B={_BUDGET}")
        fits[gamma] = _fit(_BUDGET, gamma)
    gamma = max(fits, key=lambda gamma: float(fits[gamma]["score"]))
    best, less = fits[gamma], _fit(_LESS, gamma)
    name = f"COVTYPE, gamma={gamma:g}, B={_BUDGET}"
    figures.add(f"{name}: accuracy", best["score"], _SCORE, **best, fits=fits)
    growth = best["seconds"] / less["seconds"]
    figures.add(f"{name} / B={_LESS}: fit", growth, _GROWTH, against=less["seconds"], **best)
    if best["peak_gb"] is not None:
        figures.add(f"{name}: peak memory, GB", best["peak_gb"], _MEMORY, **best)


def _fit(budget: int, gamma: float) -> dict[str, float]:
    measure = large_fit.measure
    return call(measure, threads=1, patience=_PATIENCE, name=_DATA, budget=budget, gamma=gamma)
