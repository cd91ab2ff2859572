"""What all estimators share: the two phases of training."""

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.memory import LARGEST_LIMIT, default_limit
from budgetsvm._common.progress import PolishProgress
from budgetsvm._common.threads import count_threads
from budgetsvm._estimators.machine import FittedMachine
from budgetsvm._estimators.user_input import generator
from budgetsvm._estimators.warm_start import Origin
from budgetsvm._learn.early_stopping import EarlyStopping
from budgetsvm._learn.given_terms import cluster_centres, given_points, random_rows
from budgetsvm._learn.learn import Learned, learn_terms, most_epochs
from budgetsvm._learn.reduction import reduce_to_budget
from budgetsvm._learn.settings import Settings
from budgetsvm._learn.trainer import EpochRecord, phase_one_visits
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.convergence import warn_not_converged, warn_not_precise
from budgetsvm._polish.limits import Limits
from budgetsvm._polish.polish import (
    Outcome,
    Polishing,
    Solve,
    in_precision,
    polish_model,
    solve_as_it_is,
)
from budgetsvm._polish.result import Polished, Start
from budgetsvm._problem.precision import check_weights, choose_precision
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Precision, Rows, centre_of, variance
from budgetsvm._problem.targets import Outputs
from budgetsvm.kernels import Kernel
from budgetsvm.monitoring._observer import FitObserver, PolishMoment
from budgetsvm.monitoring._sklearn_callbacks import CallbackSupport, EpochHooks, Task, phase
from budgetsvm.monitoring._watched_fit import watched_fit
from budgetsvm.monitoring._watcher import Watcher

# Of a time limit, for phase 1; a fraction of a second in any case: without terms there is no model.
_LEARNING_SHARE, _LEARNING_SECONDS = 0.5, 0.5


class _PolishObserver(FitObserver):
    """Shows phase 2 to a progress bar and a watcher."""

    def __init__(self, progress: PolishProgress, watcher: Watcher | None) -> None:
        self._progress = progress
        self._watcher = watcher

    def in_polish(self, moment: PolishMoment) -> None:
        """Report the gap, and let the watcher look where there is a state to look at."""
        self._progress.report(moment.gap)
        if self._watcher is not None and moment.objective is not None and moment.state is not None:
            self._watcher.look_at_polish(moment.objective, moment.passes, moment.state)


class BudgetMachine(CallbackSupport, FittedMachine):
    """A kernel machine on a budget. Subclasses document the parameters and encode the targets."""

    _dual: NDArray[np.float64] | None  # α as a share of its box, for a warm start
    _origin: Origin | None  # what the terms were learned from, for a warm start
    _kernel_wanted: Kernel  # gamma="scale" and all
    _watcher: Watcher | None = None  # while a fit is watched

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Polished | None:
        """Train from scratch, or from the fit before."""
        started = perf_counter()
        problem, origin, weights = self._begin(X, y, sample_weight)
        with watched_fit(self, problem, started):
            polished = self._train(problem, started, origin)
        self._finish(problem.rows.X, weights)
        return polished

    def _fit_terms(
        self, X: Any, y: Any, rng: np.random.Generator, sample_weight: Any = None
    ) -> None:
        """Phase 1 alone, as before a polish."""
        started = perf_counter()
        problem, *_ = self._begin(X, y, sample_weight)
        with watched_fit(self, problem, started):
            self._find_terms(problem, rng, started)

    def _begin(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Problem, Origin | None, NDArray[np.float64]]:
        """Check the data, and decide what to begin with.

        Returns the problem, what is to be remembered as the origin of its terms, and the rows' weights.
        """
        wanted = self._settings().kernel  # complain about parameters before reading the data
        X, encoded, weights = self._encode(X, y, sample_weight)
        outputs = self._outputs(encoded, weights)
        kernel = self._resolve(wanted, X)
        origin = self._origin_of(X, encoded, kernel) if self.warm_start else None
        if origin is not None and origin == getattr(self, "_origin", None):
            self._look_at(X, outputs)
        else:
            self._start(X, outputs, kernel)
        self._kernel_wanted = wanted
        self._rows_seen += len(outputs)
        return self._problem(X, outputs), origin, weights

    def _finish(self, X: Any, weights: NDArray[np.float64]) -> None:
        """Do what is left to do after both phases."""

    def _go_on(self, X: Any, outputs: Outputs) -> None:
        """Prepare for one more block of rows of a stream."""
        if hasattr(self, "_expansion"):
            self._check_kernel()
            self._look_at(X, outputs)
            return
        wanted = self._settings().kernel
        self._start(X, outputs, self._resolve(wanted, X))
        self._kernel_wanted = wanted

    def _check_kernel(self) -> None:
        """Complain if the kernel was changed while training goes on."""
        wanted = self._settings().kernel
        if wanted not in (self._kernel_wanted, self._expansion.kernel):
            message = (
                f"the kernel was {self._kernel_wanted!r} when training began and is {wanted!r} now, for which "
                "the terms of the model are of no use: set it back, or train anew by fit or fit_stream"
            )
            raise ValueError(message)

    @staticmethod
    def _resolve(kernel: Kernel, X: Any) -> Kernel:
        """Put numbers in the place of gamma="scale"."""
        with np.errstate(over="ignore", invalid="ignore"):
            spread = variance(X)
        if not np.isfinite(spread):
            raise ValueError("X has values too large for their squares; scale the features first")
        return kernel.resolve(X.shape[1], spread)

    def _origin_of(self, X: Any, encoded: NDArray[Any], kernel: Kernel) -> Origin:
        """Return what decides on the terms of a model. Not C and the loss: these may change."""
        settings = self._settings()
        stopping = (self.early_stopping, self.validation_fraction, self.n_iter_no_change)
        options = (
            kernel,
            self.budget,
            settings.solver,
            settings.maintenance,
            self.epochs,
            stopping,
        )
        return Origin.of(X, encoded, self.basis, *options)

    def _start(self, X: Any, outputs: Outputs, kernel: Kernel) -> None:
        """Begin without terms; the first data say where the centre is, and how precise to be."""
        with np.errstate(over="ignore", invalid="ignore"):
            dense = isinstance(X, np.ndarray)
            centre = centre_of(X) if dense and kernel.translation_invariant else None
        dtype = self._precision_for(X, outputs, kernel, centre)
        self.history_: list[EpochRecord] = []
        self._dual = self._origin = None
        self._reservoir: Any = None
        self._visits = self._rows_seen = 0
        self.kernel_ = kernel
        points, coef = np.zeros((0, X.shape[1]), dtype), np.zeros((outputs.count, 0))
        self._expansion = KernelExpansion(kernel, points, coef, np.zeros(outputs.count), centre)

    def _precision_for(
        self, X: Any, outputs: Outputs, kernel: Kernel, centre: NDArray[np.float64] | None
    ) -> Precision:
        most = float(outputs.box.max())
        return choose_precision(
            X, kernel, centre, self.precision, tol=self.tol, largest_weight=most
        )

    def _look_at(self, X: Any, outputs: Outputs) -> None:
        """Go over to double precision where new rows need it, or as the user says."""
        model = self._expansion
        dtype = self._precision_for(X, outputs, model.kernel, model.centre)
        if self.precision != "auto" or dtype == np.float64:
            self._expansion = in_precision(model, dtype)

    def _problem(self, X: Any, outputs: Outputs) -> Problem:
        check_weights(outputs.box)
        model = self._expansion
        return Problem(Rows(X, model.points.dtype.type, model.centre), outputs, self._rows_seen)

    def _train(self, problem: Problem, started: float, origin: Origin | None) -> Polished | None:
        """Both phases, the first one if there are no terms for these data yet."""
        self._forget_certificate()
        self.n_iter_ = 0
        rng = generator(self.random_state)
        known = origin is not None and origin == self._origin
        if not (known and self._polishes):
            problem = self._find_terms(problem, rng, started)
        self._origin = origin
        if not self._polishes:
            return None
        with phase(self, "polish"):
            return self._polish(problem, rng, started).polished

    def _find_terms(self, problem: Problem, rng: np.random.Generator, started: float) -> Problem:
        """Phase 1, or what the user wants in its place; returns what is left for the polish."""
        rows, budget = problem.rows, self.budget or 0
        all_rows = self._polishes and len(rows) <= budget and not self.early_stopping
        if not isinstance(self.basis, str):
            points = given_points(self.basis, rows, budget)
        elif self.basis == "random" or (self.basis == "learned" and all_rows):
            points = random_rows(rows, budget, rng)
        elif self.basis == "kmeans":
            points = cluster_centres(rows, budget, rng)
        else:
            return self._learn_terms(problem, rng, started)
        n_outputs = problem.outputs.count
        self._expansion = replace(
            self._expansion,
            points=points,
            coef=np.zeros((n_outputs, len(points))),
            bias=np.zeros(n_outputs),
        )
        return problem

    def _learn_terms(self, problem: Problem, rng: np.random.Generator, started: float) -> Problem:
        """Phase 1; returns the rows that were not held out."""
        polish, stopping = self._polishes, None
        if self.early_stopping:
            share, patience = self.validation_fraction, self.n_iter_no_change
            problem, stopping = EarlyStopping.hold_out(problem, share, patience, rng)
        visits = phase_one_visits(self.epochs, len(problem.rows), self.budget or 0, polish=polish)
        adapt = polish and self.epochs == "auto" and stopping is None
        most = most_epochs(problem.outputs, visits, self.budget, adapt=adapt)
        until = np.inf
        if self.time_limit is not None:
            share = _LEARNING_SHARE if polish else 1.0
            until = started + max(share * self.time_limit, _LEARNING_SECONDS)
        with phase(self, "learn-terms", most) as task:
            self._learn(
                problem, visits, rng, adapt=adapt, stopping=stopping, task=task, until=until
            )
        return problem

    def _learn(
        self,
        problem: Problem,
        visits: int,
        rng: np.random.Generator,
        *,
        adapt: bool = False,
        stopping: EarlyStopping | None = None,
        task: Task | None = None,
        until: float = np.inf,
    ) -> None:
        """Phase 1, from the current terms."""
        self._forget_certificate()
        settings = self._current_settings()
        learned = learn_terms(
            reduce_to_budget(self._expansion, settings),
            problem,
            settings,
            visits,
            rng,
            done=self._visits,
            n_threads=count_threads(self.n_jobs),
            intercept=self.fit_intercept,
            adapt=adapt,
            stopping=stopping,
            verbose=self.verbose > 0,
            epochs=None if task is None else EpochHooks(task, self._state_after),
            watcher=self._watcher,
            until=until,
        )
        self.__dict__.update(self._state_after(learned))
        if stopping is not None:
            self.validation_scores_ = np.array(stopping.scores)

    def _current_settings(self) -> Settings:
        """Return the settings with the numbers of the model's kernel."""
        return replace(self._settings(), kernel=self._expansion.kernel)

    def _state_after(self, learned: Learned) -> dict[str, Any]:
        """Return the attributes that phase 1 changes."""
        return {
            "_expansion": learned.model,
            "_visits": learned.visits,
            "n_iter_": learned.epochs,
            "history_": self.history_ + learned.history,
        }

    def _derived(self, model: KernelExpansion, X: Any, sample_weight: Any) -> dict[str, Any]:  # noqa: ARG002
        """Return what else a copy of this machine needs to predict with another model."""
        return {}

    def _forget_certificate(self) -> None:
        for name in ("duality_gap_", "objective_", "converged_", "validation_scores_"):
            self.__dict__.pop(name, None)

    def _polish(self, problem: Problem, rng: np.random.Generator, started: float) -> Outcome:
        """Phase 2, on the current terms."""
        model = reduce_to_budget(self._expansion, self._current_settings())
        with PolishProgress(self.tol, shown=self.verbose > 0) as progress:
            how = Polishing(
                self._limits(started),
                rng,
                intercept=self.fit_intercept,
                may_widen=self.precision == "auto",
                observer=_PolishObserver(progress, self._watcher),
                solve=self._solve,
            )
            outcome = polish_model(model, problem, how, self._warm_point(problem))
        self._take_over(outcome)
        return outcome

    @property
    def _solve(self) -> Solve:
        """How a problem is solved in the span of given terms."""
        return solve_as_it_is

    def _take_over(self, outcome: Outcome) -> None:
        """Keep a polished model and its certificate."""
        polished = outcome.polished
        self._expansion = outcome.model
        self._dual = None
        if self.warm_start and polished.alpha is not None:
            self._dual = polished.alpha / outcome.problem.outputs.box
        if self._watcher is not None:
            state, objective = (outcome.model, polished.alpha), (polished.primal, polished.dual)
            self._watcher.look_at_polish(objective, polished.passes, lambda: state)
        self.duality_gap_ = polished.gap
        self.objective_ = (polished.primal, polished.dual)
        self.converged_ = polished.converged
        single = outcome.model.points.dtype == np.float32
        if not outcome.trusted:
            warn_not_precise(polished, single=single)
        elif not polished.converged:
            warn_not_converged(polished, self.tol, single=single)

    def _warm_point(self, problem: Problem) -> Start | None:
        """Return where the polish of the fit before ended; it gets what is feasible of its α."""
        if not self.warm_start or self._dual is None or len(self._dual) != len(problem.outputs):
            return None
        # as a share of the box, which may have changed
        alpha = self._dual * problem.outputs.box
        return Start(self._expansion.coef, self._expansion.bias, alpha)

    def _limits(self, started: float) -> Limits:
        if self.memory_limit is None:
            memory, room = LARGEST_LIMIT, default_limit()
        else:
            memory = room = float(self.memory_limit)
        deadline = np.inf if self.time_limit is None else started + self.time_limit
        clock = perf_counter if self._watcher is None else self._watcher.clock
        threads = count_threads(self.n_jobs)
        return Limits(self.tol, self.max_passes, deadline, memory, threads, clock, room)
