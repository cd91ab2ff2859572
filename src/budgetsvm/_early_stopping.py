"""Stop phase 1 when rows that were held out say that it does not get better."""

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from budgetsvm._expansion import KernelExpansion
from budgetsvm._targets import Outputs
from budgetsvm._training import Problem

_LEAST_GAIN = 1e-4  # of the score: less is no improvement


@dataclass
class EarlyStopping:
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
        """Split the rows of a problem; returns the rest and what watches it."""
        n = len(problem.rows)
        count = round(share * n)
        if not 0 < count < n:
            message = (
                f"validation_fraction={share} of {n} rows leaves none to "
                f"{'train on' if count else 'hold out'}; change it, or set early_stopping=False"
            )
            raise ValueError(message)
        order = rng.permutation(n)
        held, kept = np.sort(order[:count]), np.sort(order[count:])
        return _part(problem, kept), cls(_part(problem, held), patience)

    def after_epoch(self, model: KernelExpansion) -> bool:
        """Score the model; returns whether to stop."""
        outputs: Outputs = self.held.outputs
        self.scores.append(outputs.score(model.decision(self.held.rows.X)))
        gain = self.scores[-1] - self._best_score
        if gain > 0:
            self._best_score, self.best = self.scores[-1], model
        self._idle = 0 if gain > _LEAST_GAIN else self._idle + 1
        return self._idle >= self.patience


def _part(problem: Problem, chosen: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Problem:
    rows = replace(problem.rows, X=problem.rows.X[chosen])
    return Problem(rows, problem.outputs.some(chosen), len(chosen))
