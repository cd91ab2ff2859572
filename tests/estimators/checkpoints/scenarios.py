"""Fits that leave checkpoints, one for every way in which phase 1 is done; and what they lead to, as bits."""

from collections.abc import Callable
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy import sparse
from tools.frozen import frozen

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm._estimators.checkpoints.file import CheckpointFile
from budgetsvm._estimators.snapshots import snapshot_of
from budgetsvm._learn import trainer

_N = 1200


class Scenario(NamedTuple):
    """An estimator, and how it is trained."""

    make: Callable[..., Any]
    parameters: dict[str, Any]
    data: Callable[[], Any]  #: blocks of a stream, or (X, y)
    stream: bool = False

    def model(self, **parameters: Any) -> Any:
        """Return the estimator, not trained yet."""
        common = {"budget": 30, "gamma": 1.0, "random_state": 0, "n_jobs": 1}
        given = common | self.parameters | parameters
        if given["random_state"] in (np.random.default_rng, np.random.RandomState):
            given["random_state"] = given["random_state"](3)
        return self.make(**given)

    def train(self, model: Any, **checkpoint: Any) -> Any:
        """Train an estimator."""
        if self.stream:
            return model.fit_stream(iter(self.data()), **checkpoint)
        return model.fit(*self.data(), **checkpoint)


def rows(n: int = _N) -> np.ndarray:
    """Return the rows of dense data."""
    return np.random.default_rng(0).standard_normal((n, 4))


def _labels(n: int = _N) -> Any:
    return rows(n), (rows(n)[:, :2] > 0) @ [2, 1] % 3 % 2


def _quadrants(n: int = _N) -> Any:
    return rows(n), (rows(n)[:, :2] > 0) @ [2, 1]


def _targets() -> Any:
    return rows(), np.sin(rows()[:, 0]) + rows()[:, 1]


def _several_targets() -> Any:
    X, y = _targets()
    return X, np.column_stack([y, y**2])


def _wide() -> Any:
    X = sparse.random(600, 2000, density=0.01, format="csr", random_state=0)
    return X, np.asarray(X.sum(axis=1)).ravel() > 10


def _in_blocks(data: Callable[[], Any]) -> Callable[[], Any]:
    def blocks() -> Any:
        X, y = data()
        return [(X[i : i + 100], y[i : i + 100]) for i in range(0, len(y), 100)]

    return blocks


def _crowd() -> Any:
    """So many rows beside the budget that the full problem is tried, which does not fit into it."""
    X = rows(200)
    return X, np.random.default_rng(1).integers(2, size=200)


_PLAIN: dict[str, Any] = {"polish": False, "epochs": 3}
_STOPPED = {**_PLAIN, "epochs": 8, "early_stopping": True, "n_iter_no_change": 2}
_SEEDS = {"generator": np.random.default_rng, "old generator": np.random.RandomState}

SCENARIOS: dict[str, Scenario] = {
    "two classes": Scenario(BudgetSVC, {}, _labels),
    "too small a budget": Scenario(BudgetSVC, {"C": 100, "gamma": 20.0}, _labels),
    "full problem first": Scenario(BudgetSVC, {"budget": 60, "C": 100}, _crowd),
    "bsgd": Scenario(BudgetSVC, {**_PLAIN, "solver": "bsgd"}, _labels),
    "multimerge, double": Scenario(
        BudgetSVC, {"maintenance": "multimerge", "precision": "double"}, _labels
    ),
    "no budget": Scenario(BudgetSVC, {**_PLAIN, "budget": None}, lambda: _labels(300)),
    "early stopping": Scenario(BudgetSVC, _STOPPED, _labels),
    "pairs": Scenario(BudgetSVC, {}, _quadrants),
    "pairs, early stopping": Scenario(BudgetSVC, _STOPPED, _quadrants),
    "one against the rest": Scenario(BudgetSVC, {"multi_class": "ovr"}, _quadrants),
    "outputs one by one": Scenario(BudgetSVC, {**_PLAIN, "budget": None}, lambda: _quadrants(300)),
    "regression": Scenario(BudgetSVR, {}, _targets),
    "several targets": Scenario(BudgetSVR, {}, _several_targets),
    "one class": Scenario(BudgetOneClassSVM, {}, lambda: (rows(),)),
    "sparse terms": Scenario(BudgetSVC, {"gamma": 0.1}, _wide),
    **{
        f"{name}{', stream' if stream else ''}": Scenario(
            make, {"random_state": source}, _in_blocks(data) if stream else data, stream
        )
        for name, source in _SEEDS.items()
        for make, data, stream in ((BudgetSVC, _labels, False), (BudgetSVR, _targets, True))
    },
    "stream": Scenario(BudgetSVC, {}, _in_blocks(_labels), stream=True),
    "stream of pairs": Scenario(BudgetSVC, {"reservoir": 200}, _in_blocks(_quadrants), stream=True),
    "stream of one class": Scenario(
        BudgetOneClassSVM,
        {},
        lambda: [(X,) for X in np.split(rows(), 12)],
        stream=True,
    ),
}


@contextmanager
def short_calls(work: float = 3e5) -> Any:
    """Let the core make few visits at a time: so there are many moments between two calls."""
    before, trainer._CALL_WORK = trainer._CALL_WORK, work
    try:
        with catch_warnings():
            simplefilter("ignore")  # of what does not converge
            yield
    finally:
        trainer._CALL_WORK = before


def bits(model: Any) -> str:
    """Return a digest of all that a model is."""
    return sha256(repr(frozen(snapshot_of(model))).encode()).hexdigest()


class Breaks(BaseException):
    """Ends a run."""


class Breaking(CheckpointFile):
    """Ends a run as soon as so many checkpoints were written; the fit knows nothing of it."""

    def __init__(self, path: Path, after: float) -> None:
        super().__init__(path, 0)
        self.left = after

    def write(self, contents: Any) -> None:
        super().write(contents)
        self.left -= 1
        if self.left <= 0:
            raise Breaks


def broken(scenario: Scenario, path: Path, after: int = 1, **parameters: Any) -> None:
    """Train until so many checkpoints were written."""
    with short_calls():
        scenario.train(scenario.model(**parameters), checkpoint=Breaking(path, after))
