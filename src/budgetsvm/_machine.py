"""What all estimators share: the two phases of training, and the fitted model."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from budgetsvm._basis import Basis
from budgetsvm._callbacks import CallbackSupport, EpochHooks, Task, phase
from budgetsvm._data import generator
from budgetsvm._early_stopping import EarlyStopping
from budgetsvm._expansion import KernelExpansion
from budgetsvm._landmarks import cluster_centres, given_points, random_rows
from budgetsvm._learning import Learned, learn_terms, most_epochs
from budgetsvm._memory import default_limit
from budgetsvm._parameters import MachineParameters
from budgetsvm._polish import Limits, Polished, Start, polish_in_span, warn_not_converged
from budgetsvm._progress import PolishProgress
from budgetsvm._rows import Rows, as_rows, centre_of, choose_precision, variance
from budgetsvm._span import SpanProblem
from budgetsvm._targets import Outputs
from budgetsvm._threads import count_threads
from budgetsvm._training import EpochRecord, Problem, phase_one_visits
from budgetsvm._watched_fit import watched_fit
from budgetsvm._watching import Watcher
from budgetsvm.kernels import Callback


class BudgetMachine(CallbackSupport, MachineParameters):
    """A kernel machine on a budget. Subclasses document the parameters and encode the targets."""

    _expansion: KernelExpansion
    _dual: NDArray[np.float64] | None  # α as a share of its box, for a warm start
    _watcher: Watcher | None = None  # while a fit is watched

    # ---- the fitted model ----

    @property
    def support_vectors_(self) -> NDArray[np.float64]:
        """The points z_j, in the coordinates of the data."""
        return self._fitted().original_points()

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """The coefficients β, one row per output."""
        return self._fitted().coef

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The bias of every output; zero unless `fit_intercept`."""
        return self._fitted().bias

    def _fitted(self) -> KernelExpansion:
        if not hasattr(self, "_expansion"):
            message = f"this {type(self).__name__} is not fitted yet"
            raise AttributeError(message)
        return self._expansion

    # ---- data ----

    @abstractmethod
    def _outputs(self, encoded: NDArray[Any], weights: NDArray[np.float64]) -> Outputs:
        """Return what rows with these targets, encoded by the subclass, and weights ask for."""

    def _validate(self, X: Any, *y: Any, reset: bool, **checks: Any) -> Any:
        """Check the data as scikit-learn does; dtypes and memory order stay what they are."""
        checks |= {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
        checked = validate_data(self, X, *y, reset=reset, **checks)
        return (as_rows(checked[0]), checked[1]) if y else as_rows(checked)

    @abstractmethod
    def _encode(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, NDArray[Any], NDArray[Any]]:
        """Check new data; returns rows, encoded targets and weights, without rows of no weight."""

    # ---- training ----

    def _fit_terms(self, X: Any, y: Any, rng: np.random.Generator) -> None:
        """Phase 1 alone, as before a polish."""
        self._settings()
        X, encoded, weights = self._encode(X, y, None)
        outputs = self._outputs(encoded, weights)
        self._start(X, outputs.count)
        self._rows_seen += len(outputs)
        problem = self._problem(X, outputs)
        with watched_fit(self, problem, perf_counter()):
            self._find_terms(problem, True, rng)

    def _fit_outputs(self, X: Any, outputs: Outputs, started: float) -> Polished | None:
        """Train on checked data, from scratch or from the fit before."""
        again = self._resume(X, outputs.count)
        if not again:
            self._start(X, outputs.count)
        self._rows_seen += len(outputs)
        problem = self._problem(X, outputs)
        with watched_fit(self, problem, started):
            return self._train(problem, started, again=again)

    def _resume(self, X: Any, n_outputs: int) -> bool:
        """Whether a warm start is wanted and possible; takes over a gamma that was changed."""
        model = getattr(self, "_expansion", None)
        if not (
            self.warm_start and model is not None and 0 < len(model) <= (self.budget or np.inf)
        ):
            return False
        kernel = self._settings().kernel.resolve(X.shape[1], variance(X))
        kept = (model.points.shape[1], type(model.kernel), self._precision, len(model.coef))
        if kept != (X.shape[1], type(kernel), self.precision, n_outputs):
            return False  # centre and precision were chosen for something else
        if kernel != model.kernel:
            self.kernel_ = kernel
            self._expansion = replace(model, kernel=kernel)
            self._dual = None
        return True

    def _start(self, X: Any, n_outputs: int) -> None:
        """Fix what depends on the first data: gamma, centre and precision; begin without terms."""
        with np.errstate(over="ignore"):  # choose_precision complains about what is too large
            kernel = self._settings().kernel.resolve(X.shape[1], variance(X))
            dense = isinstance(X, np.ndarray)
            centre = centre_of(X) if dense and kernel.translation_invariant else None
            wanted = "double" if isinstance(kernel, Callback) else self.precision
            dtype = choose_precision(X, float(getattr(kernel, "gamma", 1.0)), centre, wanted)
        self.history_: list[EpochRecord] = []
        self._dual = None
        self._precision = self.precision
        self._visits = self._rows_seen = 0
        self._terms_learned = True
        self._reservoir = None
        self.kernel_ = kernel
        points, coef = np.zeros((0, X.shape[1]), dtype), np.zeros((n_outputs, 0))
        self._expansion = KernelExpansion(kernel, points, coef, np.zeros(n_outputs), centre)

    def _problem(self, X: Any, outputs: Outputs) -> Problem:
        model = self._expansion
        return Problem(Rows(X, model.points.dtype.type, model.centre), outputs, self._rows_seen)

    def _train(self, problem: Problem, started: float, *, again: bool) -> Polished | None:
        """Both phases. `again`: from the terms of the fit before."""
        self._forget_certificate()
        self.n_iter_ = 0
        rng = generator(self.random_state)
        polish = self._polishes
        if not (again and polish and self._learns_terms and self._terms_learned):
            problem = self._find_terms(problem, polish, rng)
        self._terms_learned = self._learns_terms
        if not polish:
            return None
        with phase(self, "polish"):
            return self._polish(problem, rng, started)

    def _find_terms(self, problem: Problem, polish: bool, rng: np.random.Generator) -> Problem:
        """Phase 1, or what the user wants in its place; returns what is left for the polish."""
        rows, budget = problem.rows, self.budget or 0
        if not isinstance(self.basis, str):
            points = given_points(self.basis, rows, budget)
        elif self.basis == "random" or (polish and len(rows) <= budget):
            points = random_rows(rows, budget, rng)
        elif self.basis == "kmeans":
            points = cluster_centres(rows, budget, rng)
        else:
            stopping = None
            if self.early_stopping:
                share, patience = self.validation_fraction, self.n_iter_no_change
                problem, stopping = EarlyStopping.hold_out(problem, share, patience, rng)
            visits = phase_one_visits(self.epochs, len(problem.rows), budget, polish=polish)
            adapt = polish and self.epochs == "auto" and stopping is None
            most = most_epochs(problem.outputs, visits, self.budget, adapt=adapt)
            with phase(self, "learn-terms", most) as task:
                self._learn(problem, visits, rng, adapt=adapt, stopping=stopping, task=task)
            return problem
        n_outputs = problem.outputs.count
        self._keep(points, np.zeros((n_outputs, len(points))), np.zeros(n_outputs))
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
    ) -> None:
        """Phase 1, from the current terms."""
        self._forget_certificate()
        learned = learn_terms(
            self._expansion,
            problem,
            replace(self._settings(), kernel=self._expansion.kernel),
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
        )
        self.__dict__.update(self._state_after(learned))
        if stopping is not None:
            self.validation_scores_ = np.array(stopping.scores)

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

    def _keep(
        self, points: NDArray[Any], coef: NDArray[np.float64], bias: NDArray[np.float64]
    ) -> None:
        self._expansion = replace(self._expansion, points=points, coef=coef.copy(), bias=bias)

    def _polish(self, problem: Problem, rng: np.random.Generator, started: float) -> Polished:
        """Phase 2, on the current terms."""
        polished = self._solve_in_span(problem, rng, started, self._warm_point(problem))
        self.duality_gap_ = polished.gap
        self.objective_ = (polished.primal, polished.dual)
        self.converged_ = polished.converged
        if not polished.converged:
            warn_not_converged(polished, self.tol)
        return polished

    def _solve_in_span(
        self, problem: Problem, rng: np.random.Generator, started: float, start: Start | None
    ) -> Polished:
        """Solve the problem in the span of the current terms, and keep the solution."""
        model = self._expansion
        with PolishProgress(self.tol, shown=self.verbose > 0) as progress:
            basis = Basis.of(model.points, model.kernel, constant=self.fit_intercept)
            polished = polish_in_span(
                problem,
                basis,
                self._limits(started),
                rng,
                start=start,
                report=progress.report,
                watch=self._polish_watch(basis),
            )
        self._keep(polished.points.astype(model.points.dtype), polished.coef, polished.bias)
        if self._watcher is not None:
            state = self._expansion, polished.alpha
            objective = polished.primal, polished.dual
            self._watcher.look_at_polish(objective, polished.passes, lambda: state)
        if self.warm_start and polished.alpha is not None:
            self._dual = polished.alpha / problem.outputs.box
        return polished

    def _polish_watch(self, basis: Basis) -> Callable[[SpanProblem], None] | None:
        """Return what looks at a single output in the polish."""
        watcher, before = self._watcher, self._expansion
        if watcher is None:
            return None

        def watch(span: SpanProblem) -> None:
            def state() -> tuple[KernelExpansion, NDArray[np.float64]]:
                coef, bias = basis.expand([span.w])
                return replace(before, points=basis.points, coef=coef, bias=bias), span.alpha

            watcher.look_at_polish((span.primal, span.dual), span.passes, state)

        return watch

    def _warm_point(self, problem: Problem) -> Start | None:
        """Return where the polish of the fit before ended."""
        if not self.warm_start or self._dual is None or len(self._dual) != len(problem.outputs):
            return None
        # as a share of the box, which may have changed
        alpha = self._dual * problem.outputs.box
        return Start(self._expansion.coef, self._expansion.bias, alpha)

    def _limits(self, started: float) -> Limits:
        memory = default_limit() if self.memory_limit is None else float(self.memory_limit)
        deadline = np.inf if self.time_limit is None else started + self.time_limit
        clock = perf_counter if self._watcher is None else self._watcher.clock
        threads = count_threads(self.n_jobs)
        return Limits(self.tol, self.max_passes, deadline, memory, threads, clock)
