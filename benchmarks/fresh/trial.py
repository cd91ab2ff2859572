"""One peer on one data set, in a process of its own: `measure` runs there."""

import pickle
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.measuring.memory import PeakMemory
from benchmarks.measuring.timing import clock
from benchmarks.models.rivals import PEERS, Peer, Setting
from benchmarks.problems.data_sets import Problem

_ENOUGH = 10.0  # seconds of fits: after that, no more repetitions
_PREDICTED_ROWS, _PREDICTION_SECONDS = 10_000, 2.0
_FEWEST_ROWS, _MOST_GUESSES, _CLOSE = 500, 12, 0.05


def save(problem: Problem, path: Path) -> None:
    """Write a problem for the processes to come, with the labels 0 and 1: some peers insist."""
    largest = problem.y.max()
    labels = {"y": problem.y == largest, "y_test": problem.y_test == largest}
    changed = {name: values.astype(np.int64) for name, values in labels.items()}
    path.write_bytes(pickle.dumps(replace(problem, **changed), protocol=5))


def measure(name: str, path: str, threads: int, repeat: int, rows: int | None) -> dict[str, Any]:
    """Train, several times if that is fast, and predict; `rows` limits the training rows."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    peer, problem = PEERS[name], _load(path, rows)
    try:
        model = peer.make(Setting(problem, threads, 0))
    except (ImportError, OSError) as error:  # OSError: a library it needs is missing
        return {"missing": str(error).splitlines()[0]}
    fits = [_fit(model, peer, problem)]
    while len(fits) < repeat and sum(fit["seconds"] for fit in fits) < _ENOUGH:
        model = peer.make(Setting(problem, threads, len(fits)))
        fits.append(_fit(model, peer, problem))
    return {
        "seconds": min(fit["seconds"] for fit in fits),
        "cpu": min(fit["cpu"] for fit in fits),
        "score": float(np.mean([fit["score"] for fit in fits])),
        "terms": peer.terms(model),
        "model_bytes": len(pickle.dumps(model)),
        "predict_us": _prediction_us(model, problem),
        "peak_bytes": fits[0]["peak_bytes"],
        "rows": len(problem.y),
        "fits": fits,
    }


def rows_in_time(name: str, path: str, threads: int, seconds: float) -> dict[str, Any]:
    """Return how many rows a peer can train in about so many seconds, if that grows as n²."""
    most = len(_load(path, None).y)
    rows = min(_FEWEST_ROWS, most)
    for _ in range(_MOST_GUESSES):
        taken = _training_seconds(PEERS[name], _load(path, rows), threads)
        factor = float(np.clip((seconds / taken) ** 0.5, 0.5, 2.0))
        better = min(most, round(rows * factor))
        if abs(better - rows) <= _CLOSE * rows:
            break
        rows = better
    return {"rows": rows}


def _training_seconds(peer: Peer, problem: Problem, threads: int) -> float:
    """Return the faster of two fits, as what is compared with is the fastest of several."""
    model = peer.make(Setting(problem, threads, 0))
    return min(clock(partial(model.fit, problem.X, problem.y)) for _ in range(2))


def _load(path: str, rows: int | None) -> Problem:
    """Return the problem; or some random rows of it."""
    problem: Problem = pickle.loads(Path(path).read_bytes())
    if rows is None:
        return problem
    chosen = np.random.default_rng(0).permutation(len(problem.y))[:rows]
    return replace(problem, X=problem.X[chosen], y=problem.y[chosen])


def _fit(model: Any, peer: Peer, problem: Problem) -> dict[str, Any]:
    """Train and test. Only the first peak of a process counts: later fits use memory again."""
    memory, cpu = PeakMemory(), process_time()
    seconds = clock(lambda: model.fit(problem.X, problem.y))
    found = {"seconds": seconds, "cpu": process_time() - cpu, "peak_bytes": memory.bytes()}
    return {**found, "score": peer.score(model, problem)}


def _prediction_us(model: Any, problem: Problem) -> float:
    rows = problem.X_test[:_PREDICTED_ROWS]
    times = [clock(lambda: model.predict(rows))]
    while sum(times) < _PREDICTION_SECONDS and len(times) < 20:
        times.append(clock(lambda: model.predict(rows)))
    return 1e6 * min(times) / int(rows.shape[0])
