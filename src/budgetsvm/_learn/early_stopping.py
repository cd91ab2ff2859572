"""Stop phase 1 when rows that were held out say that it does not get better."""

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._common.records import Fields, Record
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.points import points_record, read_points
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.targets import ClassTargets, SingleTarget, Targets
from budgetsvm.monitoring._observer import FitObserver, LearnMoment

_Numbers = NDArray[np.int64]

_LEAST_GAIN = 1e-4  # of the score: less is no improvement


@dataclass
class EarlyStopping(FitObserver):
    """Scores the model after every epoch, and keeps the best."""

    held: Problem
    patience: int
    scores: list[float] = field(default_factory=list)
    best: KernelExpansion | None = None
    _best_score: float = -np.inf
    _idle: int = 0

    @classmethod
    def hold_out(
        cls, problem: Problem, share: float, patience: int, rng: np.random.Generator
    ) -> tuple[Problem, Self]:
        """Split the rows of a problem, class by class; returns the rest and what watches it."""
        n = len(problem.rows)
        count = round(share * n)
        held = np.zeros(n, bool)
        if 0 < count < n:
            held[_choose(_strata(problem.targets), count, rng)] = True
        if not held.any():
            message = (
                f"validation_fraction={share} of {n} rows leaves none to "
                f"{'train on' if count == n else 'hold out'}; change it, or set early_stopping=False"
            )
            raise ValueError(message)
        rest = _part(problem, np.flatnonzero(~held))
        return rest, cls(_part(problem, np.flatnonzero(held)), patience)

    def end_epoch(self, moment: LearnMoment) -> bool:
        """Score the model; returns whether to stop."""
        assert moment.learned is not None
        model, targets = moment.learned().model, self.held.targets
        self.scores.append(targets.score(model.decision(self.held.rows.X)))
        gain = self.scores[-1] - self._best_score
        if gain > 0:
            self._best_score, self.best = self.scores[-1], model
        self._idle = 0 if gain > _LEAST_GAIN else self._idle + 1
        return self._idle >= self.patience

    def record(self) -> Record:
        """Return what it has seen so far."""
        found = self.best
        best = None
        if found is not None:
            points = points_record(found.points)
            best = {"points": points, "coef": found.coef, "bias": found.bias}
        # The best score is one of them.
        return {"scores": np.array(self.scores), "idle": self._idle, "best": best}

    def restore(self, fields: Fields, model: KernelExpansion) -> None:
        """Take over what another one has seen of models like this one."""
        scores = fields.array("scores", (np.float64,), (None,), finite=True)
        self.scores, self._idle = scores.tolist(), int(fields.count("idle"))
        self._best_score = max(self.scores, default=-np.inf)
        self.best = fields.optional(lambda name: _read_best(fields.inside(name), model), "best")
        fields.end()


def _read_best(fields: Fields, model: KernelExpansion) -> KernelExpansion:
    """Return a model that is like another one but for its terms."""
    points, n_outputs = read_points(fields, "points"), len(model.coef)
    like = sparse.issparse(points) == model.sparse_points and points.dtype == model.points.dtype
    if not (like and points.shape[1] == model.points.shape[1]):
        fields.fail("points", "must be like those of the data")
    coef = fields.weights("coef", (n_outputs, points.shape[0]))
    bias = fields.weights("bias", (n_outputs,))
    fields.end()
    return replace(model, points=points, coef=coef, bias=bias)


def _strata(targets: Targets) -> _Numbers:
    """Return the class of every row, as a number; where there are none, all are of the same."""
    if isinstance(targets, ClassTargets):
        return np.unique(targets.labels, return_inverse=True)[1]
    if isinstance(targets, SingleTarget):
        return np.unique(targets.y, return_inverse=True)[1]
    return np.zeros(len(targets), np.int64)


def _choose(classes: _Numbers, count: int, rng: np.random.Generator) -> _Numbers:
    """Draw so many rows, of each class its share, but never all of it."""
    order = rng.permutation(len(classes))
    classes = classes[order]
    _, first, sizes = np.unique(classes, return_index=True, return_counts=True)
    wanted = _shares(sizes, count, first)
    by_class = np.argsort(classes, kind="stable")
    rank = np.empty_like(by_class)  # of a row among those of its class
    rank[by_class] = np.arange(len(classes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray(order[rank < wanted[classes]])


def _shares(sizes: _Numbers, count: int, first: _Numbers) -> _Numbers:
    """Share `count` among classes by their sizes; ties of what rounding leaves go by the order `first`."""
    if len(sizes) == 1:
        return np.array([count])
    quota = count * sizes / sizes.sum()
    most = sizes - 1  # one row at least is to train on
    # A class of which less than half a row is due keeps its few rows, unless all classes are like that.
    if (quota >= 0.5).any():
        most = np.where(quota >= 0.5, most, 0)
    shares = np.minimum(np.floor(quota).astype(np.int64), most)
    for c in np.lexsort((first, shares - quota)):
        if shares.sum() < count and shares[c] < most[c]:
            shares[c] += 1
    return np.asarray(shares)


def _part(problem: Problem, chosen: _Numbers) -> Problem:
    rows = replace(problem.rows, X=problem.rows.X[chosen])
    return Problem(rows, problem.targets.some(chosen), len(chosen))
