"""Fits of any estimator, measured alike: for the tasks beyond two classes."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from time import process_time
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.measuring.timing import clock, load_average


@dataclass(frozen=True)
class TaskFit:
    """What came out of one fit."""

    score: float  #: on the test rows
    seconds: float  #: of the whole fit
    cpu: float  #: processor time of the same, over all threads
    terms: int
    converged: bool
    flagged: float | None = None  #: one class: the share of training rows called outliers


def train(model: Any, X: Any, y: Any, score: Callable[[Any], float]) -> TaskFit:
    """Fit a model and test it by `score`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # `converged` says it
        cpu = process_time()
        seconds = clock(lambda: model.fit(X, y))
        cpu = process_time() - cpu
    terms = len(model.support_vectors_)
    return TaskFit(score(model), seconds, cpu, terms, bool(getattr(model, "converged_", True)))


def summary(fits: Sequence[TaskFit]) -> dict[str, Any]:
    """Return what a table tells of the fits with several seeds."""
    scores = [fit.score for fit in fits]
    return {
        "score": float(np.mean(scores)),
        "std": float(np.std(scores, ddof=1)) if len(scores) > 1 else None,
        "seconds": min(fit.seconds for fit in fits),
        "cpu": min(fit.cpu for fit in fits),
        "terms": max(fit.terms for fit in fits),
        "converged": f"{sum(fit.converged for fit in fits)}/{len(fits)}",
        "load": load_average(),
        "fits": [asdict(fit) for fit in fits],
    }


def exact_summary(fit: TaskFit) -> dict[str, Any]:
    """Return what a table tells of the exact machine, which needs no seeds."""
    return {
        "exact_score": fit.score,
        "exact_seconds": fit.seconds,
        "exact_cpu": fit.cpu,
        "exact_terms": fit.terms,
    }
