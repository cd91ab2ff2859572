"""What all estimators share: parameters, the two phases of training, the fitted model."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from budgetsvm._basis import Basis
from budgetsvm._data import generator
from budgetsvm._expansion import KernelExpansion
from budgetsvm._landmarks import cluster_centres, given_points, random_rows
from budgetsvm._memory import default_limit
from budgetsvm._polish import Limits, Polished, Start, polish_in_span, warn_not_converged
from budgetsvm._progress import PolishProgress, Progress
from budgetsvm._rows import Rows, as_rows, centre_of, choose_precision, variance
from budgetsvm._targets import Targets
from budgetsvm._terms import TermStore
from budgetsvm._threads import count_threads
from budgetsvm._training import EpochRecord, Problem, Settings, Trainer, phase_one_visits
from budgetsvm._validation import check_choice, check_integer, check_number
from budgetsvm.kernels import Callback, Gamma, make_kernel
from budgetsvm.maintenance import make_maintenance
from budgetsvm.solvers import make_solver


class BudgetMachine(BaseEstimator):
    """A kernel machine on a budget. Subclasses document the parameters and encode the targets."""

    C: float
    kernel: Any
    gamma: Gamma
    degree: int
    coef0: float
    budget: int | None
    solver: Any
    maintenance: Any
    epochs: float | Literal["auto"]
    polish: bool
    basis: Any
    tol: float
    max_passes: int
    time_limit: float | None
    memory_limit: float | None
    warm_start: bool
    precision: Literal["auto", "single", "double"]
    random_state: Any
    n_jobs: int | None
    verbose: int

    _expansion: KernelExpansion
    _dual: NDArray[np.float64] | None  # α as a share of its box, for a warm start

    @property
    def support_vectors_(self) -> NDArray[np.float64]:
        """The points z_j, in the coordinates of the data."""
        return self._fitted().original_points()

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """The coefficients β_j, as a row."""
        return self._fitted().coef[np.newaxis]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Zero: the model has no bias."""
        self._fitted()
        return np.zeros(1)

    def _fitted(self) -> KernelExpansion:
        if not hasattr(self, "_expansion"):
            message = f"this {type(self).__name__} is not fitted yet"
            raise AttributeError(message)
        return self._expansion

    def _settings(self) -> Settings:
        """Check all parameters, and return those that training needs."""
        check_number("C", self.C, above=0)
        if self.epochs != "auto":
            check_number("epochs", self.epochs, above=0)
        self._check_polish()
        check_choice("precision", self.precision, ("auto", "single", "double"))
        count_threads(self.n_jobs)
        if self.budget is not None:
            check_integer("budget", self.budget, least=1)
        kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        maintenance = make_maintenance(self.maintenance, kernel, self.budget)
        return Settings(kernel, make_solver(self.solver), maintenance, self.budget)

    def _check_polish(self) -> None:
        check_number("tol", self.tol, above=0)
        check_integer("max_passes", self.max_passes, least=1)
        for name in ("time_limit", "memory_limit"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), above=0)
        if isinstance(self.basis, str):
            check_choice("basis", self.basis, ("learned", "random", "kmeans"))
        if not (isinstance(self.basis, str) and self.basis == "learned") and not (
            self.polish and self.budget is not None
        ):
            message = (
                "terms that are not learned get their coefficients from the polish: set polish=True "
                "and a budget, or basis='learned'"
            )
            raise ValueError(message)

    def _validate(self, X: Any, *y: Any, reset: bool) -> Any:
        """Check the data as scikit-learn does; dtypes and memory order stay what they are."""
        checked = validate_data(
            self, X, *y, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        return (as_rows(checked[0]), checked[1]) if y else as_rows(checked)

    def _resume(self, X: Any) -> bool:
        """Whether a warm start is wanted and possible; takes over a gamma that was changed."""
        model = getattr(self, "_expansion", None)
        if not (
            self.warm_start and model is not None and 0 < len(model) <= (self.budget or np.inf)
        ):
            return False
        kernel = self._settings().kernel.resolve(X.shape[1], variance(X))
        kept = (model.points.shape[1], type(model.kernel), self._precision)
        if kept != (X.shape[1], type(kernel), self.precision):
            return False  # centre and precision were chosen for something else
        if kernel != model.kernel:
            self.kernel_ = kernel
            self._expansion = replace(model, kernel=kernel)
            self._dual = None
        return True

    def _start(self, X: Any) -> None:
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
        self.kernel_ = kernel
        self._expansion = KernelExpansion(
            kernel, np.zeros((0, X.shape[1]), dtype), np.zeros(0), centre
        )

    def _problem(self, X: Any, signs: NDArray[np.float64], weights: NDArray[np.float64]) -> Problem:
        """Return the binary problem for labels ±1 and weights."""
        model = self._expansion
        rows = Rows(X, model.points.dtype.type, model.centre)
        self._rows_seen += len(rows)
        return Problem(rows, Targets.of_labels(signs, self.C * weights), self._rows_seen)

    def _train(self, problem: Problem, started: float, *, again: bool) -> Polished | None:
        """Both phases. `again`: from the terms of the fit before."""
        self._forget_certificate()
        self.n_iter_ = 0
        rng = generator(self.random_state)
        polish = self.polish and self.budget is not None
        learned = isinstance(self.basis, str) and self.basis == "learned"
        if not (again and polish and learned and self._terms_learned):
            self._find_terms(problem, polish, rng)
        self._terms_learned = learned
        return self._polish(problem, rng, started) if polish else None

    def _find_terms(self, problem: Problem, polish: bool, rng: np.random.Generator) -> None:
        """Phase 1, or what the user wants in its place."""
        rows, budget = problem.rows, self.budget or 0
        if not isinstance(self.basis, str):
            points = given_points(self.basis, rows, budget)
        elif self.basis == "random" or (polish and len(rows) <= budget):
            points = random_rows(rows, budget, rng)
        elif self.basis == "kmeans":
            points = cluster_centres(rows, budget, rng)
        else:
            visits = phase_one_visits(self.epochs, len(rows), budget, polish=polish)
            self._learn(problem, visits, rng, adapt=polish and self.epochs == "auto")
            return
        self._keep(points, np.zeros(len(points)))

    def _learn(
        self,
        problem: Problem,
        visits: int,
        rng: np.random.Generator,
        *,
        adapt: bool = False,
    ) -> None:
        """Phase 1, from the current terms."""
        self._forget_certificate()
        model = self._expansion
        settings = replace(self._settings(), kernel=model.kernel)
        terms = TermStore.of(model.points, model.coef, model.kernel, self.budget or 0)
        trainer = Trainer(settings, problem, terms, rng, self._visits, count_threads(self.n_jobs))
        with Progress("training", visits, shown=self.verbose > 0) as progress:
            (trainer.learn_basis if adapt else trainer.run)(visits, progress)
        used = terms.coef[: terms.size] != 0
        self._keep(terms.points()[used], terms.coef[: terms.size][used])
        self._visits = trainer.t
        self.n_iter_ = len(trainer.history)
        self.history_ = self.history_ + trainer.history

    def _forget_certificate(self) -> None:
        for name in ("duality_gap_", "objective_", "converged_"):
            self.__dict__.pop(name, None)

    def _keep(self, points: NDArray[Any], coef: NDArray[np.float64]) -> None:
        self._expansion = replace(self._expansion, points=points, coef=coef.copy())

    def _polish(self, problem: Problem, rng: np.random.Generator, started: float) -> Polished:
        """Phase 2, on the current terms."""
        model = self._expansion
        previous = self._dual if self.warm_start else None
        start = None
        if previous is not None and len(previous) == len(problem.targets):
            # as a share of the box, which may have changed
            start = Start(previous * problem.targets.box, model.coef)
        with PolishProgress(self.tol, shown=self.verbose > 0) as progress:
            basis = Basis.of(model.points, model.kernel)
            polished = polish_in_span(
                problem, basis, self._limits(started), rng, start=start, report=progress.report
            )
        self._keep(polished.points.astype(model.points.dtype), polished.coef)
        self._dual = polished.alpha / problem.targets.box if self.warm_start else None
        self.duality_gap_ = polished.gap
        self.objective_ = (polished.primal, polished.dual)
        self.converged_ = polished.converged
        if not polished.converged:
            warn_not_converged(polished, self.tol)
        return polished

    def _limits(self, started: float) -> Limits:
        memory = default_limit() if self.memory_limit is None else float(self.memory_limit)
        deadline = np.inf if self.time_limit is None else started + self.time_limit
        return Limits(self.tol, self.max_passes, deadline, memory, count_threads(self.n_jobs))
