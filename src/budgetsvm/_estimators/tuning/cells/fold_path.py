"""One machine of a search: its terms are learned once, and solved for one C after another."""

from time import perf_counter
from typing import Any

from budgetsvm._estimators.fitting.training import certify
from budgetsvm._estimators.fitting.two_phases import BudgetMachine
from budgetsvm._estimators.tuning.cells.held_out import HeldOutRows
from budgetsvm._estimators.user_input import SCALED, check_penalty, generator
from budgetsvm._exact.exact import solve_exactly
from budgetsvm._exact.kept import Kept
from budgetsvm._learn.learn import reduce_to_budget
from budgetsvm._polish.path.span_path import SpanPath
from budgetsvm._polish.polish import Outcome
from budgetsvm._problem.problem import Problem

_ENOUGH = 0.05  # a gap of the exact machine that tells a good cell from a bad one


class FoldPath:
    """A machine on some rows, for any C. It is fitted, as scorers want it, for the C that it was asked for last."""

    def __init__(self, machine: BudgetMachine, X: Any, y: Any, sample_weight: Any, C: Any) -> None:
        """Learn the terms, with this C: the machine will have them for all others, too."""
        machine.C = C
        self.machine, self._learned_at = machine, check_penalty(C)
        started, settings = perf_counter(), machine._settings()
        X, encoded, weights = machine._encode(X, y, sample_weight, settings)
        targets = machine._targets(encoded, weights)
        machine._begin(X, encoded, targets, settings)
        problem = machine._problem(X, targets)
        self._training = machine._training(settings, generator(machine.random_state), started)
        self._problem, self._empty = problem, machine._expansion
        machine.n_iter_ = 0  # visits, where there is no phase 1
        self._path: SpanPath | None = None
        self._alpha: Any = None  # of the exact machine before, as a share of its bounds
        self._kept, self._how = Kept(), machine._polishing(self._training, self._training.observers)
        few = len(problem.rows) <= machine._most_terms
        if not (few and machine._may_be_exact(problem, self._training, known=False)):
            self._learn_terms()

    def _learn_terms(self) -> None:
        machine, training = self.machine, self._training
        problem = machine._find_terms(self._problem, training)
        model = reduce_to_budget(machine._expansion, training.settings)
        self._path = SpanPath(model, problem, self._how)

    def solve(self, C: Any, held_out: HeldOutRows) -> BudgetMachine:
        """Return the machine with the solution for this C, for a look at the rows held out."""
        machine = self.machine
        machine.C = C
        scale = check_penalty(C) / self._learned_at
        outcome = self._solve_exactly(scale) if self._path is None else None
        if outcome is None:
            outcome = self._solve_in_span(scale)
        machine._expansion = held_out.known_by(outcome.model)
        certify(machine, outcome)
        return machine

    def close(self) -> None:
        """Let go of kernel values."""
        self._kept = Kept()
        if self._path is not None:
            self._path.close()

    def _solve_in_span(self, scale: float) -> Outcome:
        if self._path is None:
            self.machine._expansion = self._empty
            self._learn_terms()
        assert self._path is not None
        adapts = isinstance(self.machine.basis, str) and self.machine.C == SCALED
        return self._path.solve(scale, adapts_C=adapts)

    def _solve_exactly(self, scale: float) -> Outcome | None:
        """Solve the full problem, where all rows may be terms; None: that has led nowhere."""
        machine, how = self.machine, self._how
        machine._expansion = self._empty
        targets = self._problem.targets.scaled(scale)
        problem = Problem(self._problem.rows, targets, self._problem.n_total)
        alpha = None if self._alpha is None else self._alpha * targets.box
        budget = machine._most_terms
        outcome = solve_exactly(self._empty, problem, how, budget, alpha, kept=self._kept)
        if outcome is None or not (outcome.polished.gap <= _ENOUGH or how.limits.late()):
            return None
        found = outcome.polished.alpha
        self._alpha = None if found is None else found / targets.box
        return outcome
