"""What all estimators share: the two phases of training."""

from abc import abstractmethod
from contextlib import ExitStack
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.limits import Limits
from budgetsvm._common.memory import LARGEST_LIMIT, default_limit
from budgetsvm._estimators.checkpoints.fit_run import FitRun
from budgetsvm._estimators.fitting.convergence import warn_of
from budgetsvm._estimators.fitting.training import CERTIFICATE, FULL, SPAN, TUNED, Training, certify
from budgetsvm._estimators.fitting.warm_start import Origin
from budgetsvm._estimators.machine import FittedMachine, has_callbacks
from budgetsvm._estimators.user_input import AUTO, SCALED, generator
from budgetsvm._exact.exact import better_outcome, solve_exactly, worth_trying
from budgetsvm._learn.early_stopping import EarlyStopping
from budgetsvm._learn.given_terms import cluster_centres, given_points, random_rows
from budgetsvm._learn.learn import learn_terms, phase_of, reduce_to_budget, visits_of_epochs
from budgetsvm._learn.settings import Plan, Settings
from budgetsvm._polish.polish import Outcome, Polishing, Solve, polish_model, solve_as_it_is
from budgetsvm._polish.result import Polished, Start
from budgetsvm._problem.problem import Problem
from budgetsvm.monitoring._observer import (
    FitObserver,
    Learned,
    Observers,
    Phase,
    PolishMoment,
    WorkOnly,
)
from budgetsvm.monitoring._progress_bar import current_bar
from budgetsvm.monitoring._sklearn_callbacks import CallbackSupport, callbacks_of
from budgetsvm.monitoring._watcher import watched_fit

# Of a time limit, for phase 1; a fraction of a second in any case: without terms there is no model.
_LEARNING_SHARE, _LEARNING_SECONDS = 0.5, 0.5
_EXACT_SHARE = 0.25  # for the full problem, where phase 1 may come after it


class BudgetMachine(CallbackSupport, FittedMachine):
    """A kernel machine on a budget. Subclasses document the parameters and encode the targets."""

    @abstractmethod
    def _encode(
        self, X: Any, y: Any, sample_weight: Any, settings: Settings
    ) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
        """Check new data; returns rows, encoded targets and weights, without rows of no weight."""

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        run: FitRun | None = None,
        *,
        terms_only: bool = False,
    ) -> Polished | None:
        """Train from scratch, or from the terms of the fit before; phase 1 alone if only these are wanted."""
        started = perf_counter()
        settings = self._settings()  # complains about parameters before the data are read
        X, encoded, weights = self._encode(X, y, sample_weight, settings)
        targets = self._targets(encoded, weights)
        origin = self._begin(X, encoded, targets, settings)
        problem = self._problem(X, targets)
        if run is not None:
            started = run.meet(self._given_rows(X), encoded, weights, started=started)
        self.__dict__.pop("monitor_", None)
        with ExitStack() as stack:
            others = callbacks_of(self) if has_callbacks(self) else []
            if self.monitor is not None:
                others.append(stack.enter_context(watched_fit(self, problem, started)))
            training = self._training(settings, generator(self.random_state), started, *others)
            training = training if run is None else replace(training, keeper=run)
            if terms_only:
                self._find_terms(problem, training)
                return None
            polished = self._train(problem, training, origin)
        self._finish(problem.rows.X, weights)
        self._remember_terms(problem.rows, encoded, sample_weight, settings)
        return polished

    def _training(
        self, settings: Settings, rng: np.random.Generator, started: float, *others: FitObserver
    ) -> Training:
        """Return what training has with it; its kernel has the numbers of the model's."""
        bars = (current_bar(),) if self.verbose > 0 else ()
        budget = self._most_terms or None
        settings = replace(settings, kernel=self._expansion.kernel, budget=budget)
        return Training(settings, rng, started, Observers(*others, *bars))

    def _finish(self, X: Any, weights: NDArray[np.float64]) -> None:
        """Do what is left to do after both phases."""

    def _train(
        self, problem: Problem, training: Training, origin: Origin | None
    ) -> Polished | None:
        """The full problem, or both phases: the first one if there are no terms for these data yet."""
        # A limit of time may have ended the fit before without a single term.
        known = origin is not None and origin == self._origin and self._polishes
        known = known and len(self._expansion) > 0
        # A run that was broken off in phase 1 has found that out before.
        tried = training.keeper.goes_on
        exact = not tried and self._may_be_exact(problem, training, known=known)
        self._forget_certificate()
        self.n_iter_ = 0
        few = len(problem.rows) <= self._most_terms
        if exact and few:  # there is no phase 1
            self._origin = origin
            with training.observers.during(Phase("polish")):
                return self._train_exactly(problem, training).polished
        if exact:  # nobody gets to see models of that: phase 1 may still come
            with training.observers.during(Phase("exact")):
                found = self._solve_exactly(problem, training, WorkOnly(training.observers))
            if found is not None:
                self._origin = origin
                with training.observers.during(Phase("polish", solved=True)):
                    return self._keep(found, training.observers).polished
            self._forget_terms()
        problem = self._find_terms(problem, training) if exact or not known else problem
        self._origin = origin
        if not self._polishes:
            return None
        with training.observers.during(Phase("polish")):
            return self._polish(problem, training).polished

    # ---- the full problem ----

    def _may_be_exact(self, problem: Problem, training: Training, *, known: bool) -> bool:
        """Whether to try the full problem first; not where terms are known since that was of no use."""
        wanted = self._polishes and self._learns_terms and not self.early_stopping
        if not (wanted and self._solve is solve_as_it_is):
            return False
        if known and getattr(self, "certifies_", FULL) == SPAN:
            return False
        limits, kernel = self._limits(training, look_up=False), self._expansion.kernel
        bias, at_will = self._has_bias, self.epochs == AUTO
        budget = self._most_terms
        return worth_trying(problem, kernel, budget, limits, intercept=bias, at_will=at_will)

    def _train_exactly(self, problem: Problem, training: Training) -> Outcome:
        """Solve the full problem where all rows may be terms, in one way or the other."""
        found = self._solve_exactly(problem, training, training.observers)
        late = found is not None and self._limits(training, look_up=False).late()
        if found is not None and (late or found.polished.converged):
            return self._keep(found, training.observers)
        self._forget_terms()
        second = self._polish(self._find_terms(problem, training), training)
        best = better_outcome(second, found)
        return best if best is second else self._keep(best, training.observers)

    def _solve_exactly(
        self, problem: Problem, training: Training, observer: FitObserver
    ) -> Outcome | None:
        """Solve the full problem, if that can be done within the budget and its share of the time."""
        how, start = self._polishing(training, observer), self._warm_point(problem)
        if self.time_limit is not None and len(problem.rows) > self._most_terms:
            doubtful = training.started + _EXACT_SHARE * self.time_limit
            how = replace(how, limits=replace(how.limits, doubtful=doubtful))
        alpha = None if start is None else start.alpha
        patient = self.budget != AUTO
        return solve_exactly(
            self._expansion, problem, how, self._most_terms, alpha, patient=patient
        )

    def _forget_terms(self) -> None:
        """Begin anew: the terms of an exact solution are those of its C."""
        model = self._expansion
        self._expansion = model.with_points(model.points[:0])
        self._dual, self._visits, self.history_ = None, 0, []

    # ---- phase 1 ----

    def _find_terms(self, problem: Problem, training: Training) -> Problem:
        """Phase 1, or what the user wants in its place; returns what is left for the polish."""
        training = self._affordable(training, len(problem.rows))
        rows, budget, rng = problem.rows, self._most_terms, training.rng
        all_rows = self._polishes and len(rows) <= budget and not self.early_stopping
        if not isinstance(self.basis, str):
            points = given_points(self.basis, rows, budget)
        elif self.basis == "random" or (self.basis == "learned" and all_rows):
            points = random_rows(rows, budget, rng)
        elif self.basis == "kmeans":
            points = cluster_centres(rows, budget, rng)
        else:
            return self._learn_anew(problem, training)
        self._expansion = self._expansion.with_points(points)
        return problem

    def _learn_anew(self, problem: Problem, training: Training) -> Problem:
        """Phase 1 on all rows; returns those that were not held out."""
        polish, stopping = self._polishes, None
        if self.early_stopping:
            share, patience = self.validation_fraction, self.n_iter_no_change
            problem, stopping = EarlyStopping.hold_out(problem, share, patience, training.rng)
        visits = visits_of_epochs(self.epochs, len(problem.rows), self._most_terms, polish=polish)
        adapt = polish and self.epochs == "auto" and stopping is None
        until = np.inf
        if self.time_limit is not None:
            share = _LEARNING_SHARE if polish else 1.0
            until = training.started + max(share * self.time_limit, _LEARNING_SECONDS)
        plan = Plan(visits.most, adapt, self._visits, until, visits.enough)
        if polish and not self._bias_helps_terms:
            training = replace(training, settings=replace(training.settings, intercept=False))
        self._learn(problem, plan, training, stopping)
        return problem

    def _learn(
        self,
        problem: Problem,
        plan: Plan,
        training: Training,
        stopping: EarlyStopping | None = None,
    ) -> None:
        """Phase 1, from the current terms."""
        self._forget_certificate()
        settings, observers = training.settings, training.observers
        with observers.during(phase_of(plan, problem.targets, settings.budget)):
            model = self._expansion
            learned = learn_terms(
                model,
                problem,
                settings,
                plan,
                training.rng,
                observers=observers,
                stopping=stopping,
                keeper=training.keeper,
            )
            self.__dict__.update(self._state_after(learned))
            if stopping is not None:
                self.validation_scores_ = np.array(stopping.scores)

    def _state_after(self, learned: Learned) -> dict[str, Any]:
        """Return the attributes that phase 1 changes."""
        history = self.history_ + learned.history
        now = {"_expansion": learned.model, "_visits": learned.visits, "n_iter_": learned.epochs}
        return now | {"history_": history}

    def _forget_certificate(self) -> None:
        self._forget_rows()
        for name in (*CERTIFICATE, *TUNED, "C_", "validation_scores_"):
            self.__dict__.pop(name, None)

    # ---- phase 2 ----

    @property
    def _bias_helps_terms(self) -> bool:
        """Whether phase 1 has a bias, too, where it learns terms for a polish that will have one."""
        return True

    @property
    def _solve(self) -> Solve:
        """How a problem is solved in the span of given terms."""
        return solve_as_it_is

    def _polish(self, problem: Problem, training: Training) -> Outcome:
        """Phase 2, on the current terms."""
        how = self._polishing(training, training.observers)
        model = reduce_to_budget(self._expansion, training.settings)
        outcome = polish_model(model, problem, how, self._warm_point(problem))
        return self._keep(outcome, training.observers)

    def _polishing(self, training: Training, observer: FitObserver) -> Polishing:
        return Polishing(
            self._limits(training),
            training.rng,
            intercept=self._has_bias,
            may_widen=self.precision == "auto",
            adapts_C=isinstance(self.basis, str) and getattr(self, "C", None) == SCALED,
            solve=self._solve,
            observer=observer,
        )

    def _keep(self, outcome: Outcome, observers: Observers) -> Outcome:
        """Keep what was found, and show it."""
        self._take_over(outcome)
        polished, state = outcome.polished, (outcome.model, outcome.polished.alpha)
        seen = polished.gap, polished.passes, (polished.primal, polished.dual)
        observers.in_polish(PolishMoment(*seen, lambda: state, last=True))
        return outcome

    def _take_over(self, outcome: Outcome) -> None:
        """Keep a polished model and its certificate."""
        polished = outcome.polished
        self._expansion = outcome.model
        self._forget_rows()
        if outcome.terms is not None:
            self._support = outcome.terms
        self._dual = None
        if self.warm_start and polished.alpha is not None:
            self._dual = polished.alpha / outcome.problem.targets.box
        certify(self, outcome)
        warn_of(outcome, self.tol)

    def _warm_point(self, problem: Problem) -> Start | None:
        """Return where the polish of the fit before ended; it gets what is feasible of its α."""
        if not self.warm_start or self._dual is None or len(self._dual) != len(problem.targets):
            return None
        # as a share of the box, which may have changed
        alpha = self._dual * problem.targets.box
        return Start(self._expansion.coef, self._expansion.bias, alpha)

    def _limits(self, training: Training, *, look_up: bool = True) -> Limits:
        """Return the limits of this call; without looking it up, there is room for all that may be used."""
        memory = room = float(self.memory_limit or LARGEST_LIMIT)
        if self.memory_limit is None and look_up:  # that takes a tenth of a small fit
            room = default_limit()
        deadline = np.inf if self.time_limit is None else training.started + self.time_limit
        threads, clock = training.settings.n_threads, training.observers.clock
        return Limits(self.tol, self.max_passes, deadline, memory, threads, clock, room)
