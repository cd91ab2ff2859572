"""Trace: a monitor that writes down how a fit goes."""

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from math import isnan, nan
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetsvm._common.checks import check_choice, check_integer, check_number
from budgetsvm._common.public import public_in
from budgetsvm.monitoring._interface import Monitor, TrainingData, View
from budgetsvm.monitoring._objectives import UNKNOWN, Estimate, Objectives

Every: TypeAlias = int | Literal["epoch"] | Sequence[int]

_OBJECTIVES = ("primal", "dual")
_ALL = (*_OBJECTIVES, "departure")


@public_in("budgetsvm.monitoring")
@dataclass(frozen=True)
class Observation:
    """A line of a trace; NaN is what was not asked for or does not apply."""

    phase: str  #: "learn" or "polish"
    visits: int  #: training points that phase 1 has looked at
    epochs: float  #: the same, in times that all rows were gone through
    passes: int  #: of the polish over all rows
    seconds: float  #: since the fit began, without the time of looking
    size: int  #: terms of the model
    steps: int  #: visits that changed the model
    violations: int  #: visits with a loss
    merges: int  #: visits with budget maintenance
    merging: float  #: share of the visits with maintenance, since the last observation
    violating: float  #: share of those with a loss
    degradation: float  #: sum of the ‖Δw‖² of maintenance
    primal: float  #: P(w̃)
    primal_error: float  #: standard error; zero: exact
    dual: float  #: D(α)
    dual_error: float
    departure: float  #: Σ (f̃ - f)², between the model and w(α)
    departure_error: float
    bound: (
        float  #: in the polish, a lower bound for P of all models with these terms: its certificate
    )
    score: float  #: on the test rows


@public_in("budgetsvm.monitoring")
class Trace(Monitor):
    """Writes down objectives, test score and counts at chosen visits, and throughout the polish.

    Pass one to any estimator as ``monitor``; the fitted ``monitor_`` has the observations. The fit itself,
    and the seconds written down, are as without it.

    Parameters
    ----------
    every : "epoch", int or sequence of int, default="epoch"
        After how many visits of phase 1 to look: every so many, or these. A look takes place when the batch
        of some dozen visits that is running then is done.
    X_test, y_test : array-like, default=None
        Rows for the score: the estimator's own, or for novelty detection the share of correct labels.
    objectives : tuple of "primal", "dual" and "departure", default=("primal", "dual")
        Which objectives to compute: P(w̃) of the budgeted model, and D(α) of the dual variables that the
        solver keeps, with the exact kernel matrix. D is for a single output only. With BSGD α may leave its
        box; D then is a number, but bounds nothing. The polish solves the problem in the span of the terms,
        whose dual is another one; its value is the column "bound". The departure is Σ_i (f̃ - f)(x_i)² over
        the training rows, f being the function that α stands for: what the budget has cost so far; it takes as long
        as D.
    effort : float, default=3e7
        Kernel values that an objective may take: some 0.05 s of one thread, at every look. Where that is not enough
        for all rows, it is estimated on a random sample of them; its standard error is written down beside it, and
        is zero otherwise. The polish knows its P, which costs nothing; D is what takes time.
    random_state : int, default=0
        Determines the samples.

    Attributes
    ----------
    observations : list of Observation
        What was seen, in order. ``trace["primal"]`` is one column of it as an array.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from budgetsvm import BudgetSVC
    >>> from budgetsvm.monitoring import Trace
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> trace = Trace(every=500, X_test=X, y_test=y)
    >>> model = BudgetSVC(C=10, gamma=2, budget=30, random_state=0, monitor=trace).fit(X, y)
    >>> seen = model.monitor_
    >>> print(seen["phase"][[0, -1]])
    ['learn' 'polish']
    >>> bool((seen["dual"] <= seen["primal"]).all())
    True
    """

    def __init__(
        self,
        every: Every = "epoch",
        *,
        X_test: Any = None,
        y_test: ArrayLike | None = None,
        objectives: Sequence[str] = _OBJECTIVES,
        effort: float = 3e7,
        random_state: int = 0,
    ) -> None:
        self.every = every
        self.X_test = X_test
        self.y_test = y_test
        self.objectives = objectives
        self.effort = effort
        self.random_state = random_state
        self.observations: list[Observation] = []

    def __repr__(self) -> str:
        return f"Trace(every={self.every!r})"

    def __len__(self) -> int:
        return len(self.observations)

    def __getitem__(self, column: str) -> NDArray[Any]:
        """Return a column of the observations."""
        names = [field.name for field in fields(Observation)]
        if column not in names:
            message = f"a trace has no column {column!r}; it has {', '.join(names)}"
            raise KeyError(message)
        return np.array([getattr(line, column) for line in self.observations])

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write the observations into a file; what is not known is left empty.

        Parameters
        ----------
        path : path-like
            Where to.
        """
        with Path(path).open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(field.name for field in fields(Observation))
            for line in self.observations:
                values = asdict(line).values()
                writer.writerow("" if _is_nan(value) else value for value in values)

    def begin(self, data: TrainingData) -> None:
        """Prepare for a new fit; forget an earlier one."""
        self._check()
        self.observations = []
        self._n = len(data)
        rng = np.random.default_rng(self.random_state)
        self._of: Objectives | None = Objectives(data, self.effort, rng)

    def next_visit(self, visits: int) -> int:
        """Return after how many visits to observe next."""
        if isinstance(self.every, (str, int, np.integer)):
            step = self._n if isinstance(self.every, str) else int(self.every)
            return (visits // step + 1) * step
        later = [visit for visit in self.every if visit > visits]
        return min(later, default=np.iinfo(np.int64).max)

    def observe(self, view: View) -> None:
        """Write a line."""
        last = self.observations[-1] if self.observations else None
        visits = view.visits - (last.visits if last else 0)
        share = 1 / visits if view.phase == "learn" and visits else nan
        primal, dual, departure = self._objectives(view)
        line = Observation(
            phase=view.phase,
            visits=view.visits,
            epochs=view.visits / self._n,
            passes=view.passes,
            seconds=view.seconds,
            size=len(view.model),
            steps=view.steps,
            violations=view.violations,
            merges=view.merges,
            merging=share * (view.merges - (last.merges if last else 0)),
            violating=share * (view.violations - (last.violations if last else 0)),
            degradation=view.degradation,
            primal=primal.value,
            primal_error=primal.error,
            dual=dual.value,
            dual_error=dual.error,
            departure=departure.value,
            departure_error=departure.error,
            bound=view.bound,
            score=self._score(view),
        )
        self.observations.append(line)

    def end(self) -> None:
        """Let go of the training data."""
        self._of = None

    def _objectives(self, view: View) -> tuple[Estimate, Estimate, Estimate]:
        """Return P, D and the departure, as far as they are wanted; P is known in the polish."""
        assert self._of is not None  # the fit is running
        primal = UNKNOWN
        if "primal" in self.objectives:
            known = not isnan(view.objective)
            primal = Estimate(view.objective) if known else self._of.primal(view.model)
        dual = self._of.dual(view.alpha, view.model) if "dual" in self.objectives else UNKNOWN
        wanted = "departure" in self.objectives
        departure = self._of.departure(view.alpha, view.model) if wanted else UNKNOWN
        return primal, dual, departure

    def _score(self, view: View) -> float:
        if self.X_test is None or self.y_test is None:
            return nan
        estimator = view.estimator()
        if hasattr(estimator, "score"):
            return float(estimator.score(self.X_test, self.y_test))
        if not hasattr(estimator, "predict"):
            return nan
        return float(np.mean(estimator.predict(self.X_test) == np.asarray(self.y_test)))

    def _check(self) -> None:
        check_number("Trace.effort", self.effort, above=0)
        unknown = set(self.objectives) - set(_ALL)
        if unknown:
            names = "'primal', 'dual' and 'departure'"
            message = f"Trace.objectives may have {names}, not {sorted(unknown)}"
            raise ValueError(message)
        if (self.X_test is None) != (self.y_test is None):
            raise ValueError("Trace needs both X_test and y_test for a score, or none of them")
        if isinstance(self.every, str):
            check_choice("Trace.every", self.every, ("epoch",))
        else:
            for visits in np.atleast_1d(np.asarray(self.every, dtype=object)):
                check_integer("Trace.every", visits, least=1)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and isnan(value)
