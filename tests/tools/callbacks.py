"""scikit-learn's callbacks, if it has them: one that notes all it hears, and a fit to watch."""

from collections.abc import Callable
from typing import Any

import pytest
from oracles.problems import moons
from sklearn.base import BaseEstimator

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR

try:
    from sklearn.callback import ScoringMonitor
except ImportError:
    ScoringMonitor = None
needs_callbacks = pytest.mark.skipif(
    ScoringMonitor is None, reason="scikit-learn has callbacks since version 1.9"
)


X, Y = moons(300, 0, noise=0.2)
KINDS = [BudgetSVC, BudgetSVR, BudgetOneClassSVM]
#: Tasks of that fit, and how many of each.
NAMES = {"fit": 1, "learn-terms": 1, "epoch": 3, "polish": 1}


def machine(kind: type[BaseEstimator] = BudgetSVC, **parameters: Any) -> Any:
    return kind(**{"budget": 20, "gamma": 1.0, "epochs": 3, "random_state": 0, **parameters})


class Recorder:
    """Notes all hooks, with what they are told."""

    def __init__(
        self, *, stop_after: int | None = None, act: Callable[..., object] | None = None
    ) -> None:
        self.calls: list[tuple[str, str, int, Any]] = []
        self.told: list[dict[str, Any]] = []
        self.stop_after, self.act = stop_after, act

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "calls": [], "told": [], "act": None}

    def names(self, hook: str | None = None) -> list[str]:
        return [name for called, name, *_ in self.calls if hook in {None, called}]

    def setup(self, estimator: Any, context: Any) -> None:
        self._note("setup", estimator, context)

    def teardown(self, estimator: Any, context: Any) -> None:
        self._note("teardown", estimator, context)

    def on_fit_task_begin(
        self,
        estimator: Any,
        context: Any,
        *,
        X: Any = None,
        y: Any = None,
        metadata: Any = None,
        fitted_estimator: Any = None,
    ) -> None:
        self._note("begin", estimator, context, fitted_estimator)
        self.told.append({"X": X, "y": y, "metadata": metadata})

    def on_fit_task_end(
        self,
        estimator: Any,
        context: Any,
        *,
        X: Any = None,
        y: Any = None,
        metadata: Any = None,
        fitted_estimator: Any = None,
    ) -> bool:
        self._note("end", estimator, context, fitted_estimator)
        self.told.append({"X": X, "y": y, "metadata": metadata})
        return context.task_name == "epoch" and context.task_id + 1 == self.stop_after

    def _note(self, hook: str, estimator: Any, context: Any, fitted: Any = None) -> None:
        self.calls.append((hook, context.task_name, context.task_id, fitted))
        if self.act is not None:
            self.act(hook, estimator, context)


class Propagated(Recorder):
    """Handed down by meta-estimators."""

    max_propagation_depth = None


def watch(model: Any, *data: Any, recorder: Recorder | None = None, **named: Any) -> Recorder:
    recorder = recorder or Recorder()
    model.set_callbacks(recorder).fit(*(data or (X, Y)), **named)
    return recorder
