"""The core's solvers against the plain NumPy ones, step by step, and what they report."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from oracles import reference
from oracles.problems import blobs, core_problem, core_rows, moons, noisy_xor, sparse_rows, weights
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from budgetsvm import BudgetSVC, _core, kernels
from budgetsvm._common.progress import Progress
from budgetsvm._learn.settings import Settings
from budgetsvm._learn.trainer import Trainer
from budgetsvm._model.term_store import TermStore
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import Targets
from budgetsvm.maintenance import Maintenance, Merge, Project, Remove
from budgetsvm.solvers import BSCA, BSGD

SOLVERS = {"bsca": (BSCA(), reference.BSCA), "bsgd": (BSGD(), reference.BSGD)}
MAINTENANCE: dict[str, tuple[Maintenance, reference.Maintenance]] = {
    "merge": (Merge(), reference.Merge()),
    "same-sign": (Merge(partners="same-sign"), reference.Merge(same_sign=True)),
    "golden": (Merge(search="golden"), reference.Merge(golden=True)),
    "paper": (
        Merge(search="golden", partners="same-sign"),
        reference.Merge(same_sign=True, golden=True),
    ),
    "merge-3": (Merge(n_terms=3), reference.Merge(3)),
    "merge-4": (Merge(n_terms=4, partners="same-sign"), reference.Merge(4, same_sign=True)),
    "merge-5": (Merge(n_terms=5), reference.Merge(5)),
    "project": (Project(), reference.Project()),
    "remove": (Remove(), reference.Remove()),
}
KERNELS: dict[str, tuple[kernels.Kernel, reference.Kernel]] = {
    "rbf": (kernels.Gaussian(0.15), reference.Kernel("rbf", 0.15)),
    "laplacian": (kernels.Laplacian(0.5), reference.Kernel("laplacian", 0.5)),
    "poly": (kernels.Polynomial(2, 0.7, 1.0), reference.Kernel("poly", 0.7, 1.0, 2)),
    "sigmoid": (kernels.Sigmoid(0.05, 0.2), reference.Kernel("sigmoid", 0.05, 0.2)),
    "linear": (kernels.Linear(), reference.Kernel("linear")),
}


class CoreRun:
    """Drives the core directly, in blocks of any length, and shows its state in between."""

    def __init__(
        self,
        X: Any,
        y: Any,
        C: Any,
        *,
        kernel: kernels.Kernel,
        solver: Any,
        maintenance: Maintenance,
        budget: int | None,
        dtype: Any = np.float64,
    ) -> None:
        self.X, self.y, self.C, self.dtype = X, y, np.asarray(C, float), dtype
        self.kernel, self.solver, self.maintenance, self.budget = (
            kernel,
            solver,
            maintenance,
            budget,
        )
        dense = X.toarray() if sparse.issparse(X) else X
        self.diagonal = kernel.diagonal((np.asarray(dense, dtype).astype(float) ** 2).sum(axis=1))
        self.terms = TermStore(len(y) + 1 if budget is None else budget + 1, X.shape[1], dtype)
        self.alpha_stored = np.zeros(len(y))
        self.slots = np.full(len(y) if budget is None else 0, -1, np.int32)
        self.t = 0
        self.batch_size, self.n_threads = 64, 1

    def visit(self, order: Any) -> tuple[int, int, int, int, float, float]:
        """Visit points; returns steps, violations, mistakes, merges, degradation, loss."""
        order = np.atleast_1d(np.asarray(order, np.int64))
        if self.budget is None:
            self.terms.reserve(self.terms.size + len(order))
        arguments = (
            core_rows(self.X[order], self.dtype),
            core_problem(
                order, self.diagonal[order], self.y, self.C, self.alpha_stored, self.slots
            ),
            self.terms.arrays,
            self.terms.size,
            self.budget or 0,
            self.terms.core_kernel(self.kernel),
            self.maintenance.core(),
            (self.batch_size, self.n_threads),
        )
        if isinstance(self.solver, BSGD):
            self.terms.size, *counts, self.lost = _core.bsgd(*arguments, self.t, float(len(self.y)))
        else:
            self.terms.size, *counts, self.lost = _core.bsca(*arguments)
        self.t += len(order)
        return tuple(counts)  # type: ignore[return-value]

    @property
    def scale(self) -> float:
        """BSGD stores coefficients as t times their value."""
        return 1 / max(1, self.t) if isinstance(self.solver, BSGD) else 1.0

    @property
    def coef(self) -> Any:
        return self.terms.coef[: self.terms.size] * self.scale

    @property
    def alpha(self) -> Any:
        return self.alpha_stored * self.scale

    def decision(self, X: Any) -> Any:
        out = np.zeros(X.shape[0])
        kernel = self.terms.core_kernel(self.kernel)
        _core.decision(core_rows(X, self.dtype), self.terms.arrays, self.terms.size, kernel, out)
        return out * self.scale


class Follow:
    """Lets the reference take the core's choice where it is as good as the best one.

    The core ranks partners by a table: where two are nearly as cheap it may take the other one, or
    fold them in another order. It may also break ties of |β| differently, as its sums are rounded
    differently. `wanted` are the terms that the core dropped in this visit, in the order to try.
    """

    def __init__(self, wanted: Sequence[int], tolerance: float) -> None:
        self.wanted, self.tolerance = list(wanted), tolerance
        self.followed = 0

    def __call__(self, candidates: Sequence[int], costs: Any) -> int:
        limit = costs.min() * (1 + self.tolerance) + 1e-15
        best = reference.argmin(candidates, costs)
        tied = {j for j, cost in zip(candidates, costs, strict=True) if cost <= limit}
        choice = next((j for j in self.wanted if j in tied), best)
        self.followed += choice != best
        return choice


def dropped(before: Any, after: Any) -> set[int]:
    """Rows of `before` that do not occur in `after`, bit by bit."""
    left = {row.tobytes() for row in after}
    return {j for j, row in enumerate(before) if row.tobytes() not in left}


def distance(model: reference.Model, coef: Any, points: Any) -> float:
    """How far two sets of terms are apart, whatever their order."""
    if len(model) != len(coef):
        return np.inf
    beta, z = reference.split(model, points.shape[1])
    scale = max(abs(beta).max(initial=0), 1e-300)
    apart = abs(points[:, np.newaxis] - z).max(axis=2)
    # where a term is light its place matters as little
    apart = apart * np.minimum(1, abs(coef) / scale)[:, np.newaxis]
    apart = np.maximum(apart, abs(coef[:, np.newaxis] - beta) / scale)
    return float(apart[linear_sum_assignment(apart)].max(initial=0))


def sum_duplicates(coef: Any, points: Any) -> tuple[Any, Any]:
    """One term per point. How a projection splits a coefficient over equal points is its affair."""
    unique, which = np.unique(points, axis=0, return_inverse=True)
    return np.bincount(which.ravel(), coef, len(unique)), unique


def visit_and_compare(
    core: CoreRun, plain: Any, i: int, *, probes: Any, tolerance: float, tie: float
) -> tuple[bool, int]:
    """One visit by both, from the same state; everything must agree. Returns (step?, near-ties)."""
    terms, point = core.terms, plain.X[i]
    before = np.column_stack([terms.coef[: terms.size], terms.points()])
    plain.model = list(zip(core.coef, terms.points(), strict=True))
    plain.alpha = core.alpha
    alpha = core.alpha_stored[i]
    steps, _, _, merges, degradation, _ = core.visit(i)
    if isinstance(core.solver, BSGD):
        inserted = core.y[i] * len(core.y) * core.C[i]
    else:
        inserted = core.y[i] * (core.alpha_stored[i] - alpha)
    before = np.vstack([before, [inserted, *point]])
    after = np.column_stack([terms.coef[: terms.size], terms.points()])
    if isinstance(core.maintenance, Project):  # changes all coefficients, but no point
        before[:, 0] = after[:, 0] = 0
    gone = dropped(before, after) if merges else set()
    stepped, followed = _visit_like_the_core(
        core, plain, i, gone=gone, tie=tie, tolerance=tolerance
    )
    assert stepped == bool(steps)
    np.testing.assert_allclose(core.alpha, plain.alpha, rtol=tolerance, atol=tolerance * plain.C[i])
    f = core.decision(probes)
    expected = reference.decision(plain.model, plain.kernel, _dense(probes))
    np.testing.assert_allclose(f, expected, rtol=0, atol=tolerance * (1 + abs(expected).max()))
    norm = float(abs(core.coef).sum()) ** 2 * plain.kernel(terms.points(), terms.points()).max()
    rounding = (1e-7 if core.maintenance.core()[1] else 1e-12) * (1 + norm)
    assert degradation == pytest.approx(plain.degradation, rel=100 * tolerance, abs=rounding)
    return stepped, followed


def _visit_like_the_core(
    core: CoreRun, plain: Any, i: int, *, gone: set[int], tie: float, tolerance: float
) -> tuple[bool, int]:
    """Visit by the reference, with the core's choices among near-ties; the terms must agree."""
    model, alpha, t = plain.model, plain.alpha, plain.t
    for wanted in itertools.permutations(sorted(gone)):
        plain.model, plain.alpha, plain.t = list(model), alpha.copy(), t
        choose, pick = Follow(wanted, 1e-9), Follow(wanted, tie)
        stepped = plain.visit(i, choose, pick)
        coef, points = core.coef, core.terms.points()
        reached = plain.model
        if isinstance(core.maintenance, Project):
            coef, points = sum_duplicates(coef, points)
            split = reference.split(reached, points.shape[1])
            reached = list(zip(*sum_duplicates(*split), strict=True))
        apart = distance(reached, coef, points)
        if apart <= tolerance:
            return stepped, pick.followed
    raise AssertionError(f"visit {core.t}: terms differ by {apart:.1e}")


def _dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else X


def make_pair(
    X: Any, y: Any, *, kernel: str, solver: str, maintenance: str, budget: int | None
) -> tuple[CoreRun, Any]:
    """The same solver from the core and in plain NumPy, with different bounds C_i."""
    C_i = 8.0 * weights(len(y), 1) / (len(y) if solver == "bsgd" else 1)
    ours, theirs = KERNELS[kernel]
    core_solver, plain_solver = SOLVERS[solver]
    core_maintenance, plain_maintenance = MAINTENANCE[maintenance]
    core = CoreRun(
        X, y, C_i, kernel=ours, solver=core_solver, maintenance=core_maintenance, budget=budget
    )
    return core, plain_solver(theirs, _dense(X), y, C_i, budget, plain_maintenance)


def run_and_compare(
    core: CoreRun, plain: Any, order: Any, tolerance: float = 1e-9, tie: float = 0.03
) -> int:
    """Visit points one by one; returns the number of steps. Near-ties must be the exception."""
    probes = core.X[::7]
    results = []
    for i in order:
        plain.model = list(zip(core.coef, core.terms.points(), strict=True))
        # A point visited again before the model has changed has margin 1 up to rounding: whether
        # δ is 0 or 1e-17 is then a matter of luck.
        if abs(plain.margin(i) - 1) > 1e-10:
            results.append(
                visit_and_compare(core, plain, int(i), probes=probes, tolerance=tolerance, tie=tie)
            )
        assert core.budget is None or core.terms.size <= core.budget
    steps = sum(step for step, _ in results)
    assert len(results) >= 0.9 * len(order)
    assert sum(followed for _, followed in results) <= 0.1 * steps
    return steps


def iid(n: int, visits: int, seed: int = 5) -> Any:
    return np.random.default_rng(seed).integers(n, size=visits)


def data(form: str) -> tuple[Any, Any]:
    """Ninety points in five dimensions."""
    if form == "dense":
        return blobs(90, 5, 3, distance=0.6)
    X = sparse_rows(90, 5, 4, density=0.6)
    return X, np.where(np.random.default_rng(6).random(90) < 0.5, 1.0, -1.0)


# ---- agreement, step by step ----


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("maintenance", MAINTENANCE)
@pytest.mark.parametrize("solver", SOLVERS)
def test_steps_agree_with_the_reference(solver: str, maintenance: str, form: str) -> None:
    X, y = data(form)
    golden = MAINTENANCE[maintenance][0].core()[1]
    core, plain = make_pair(X, y, kernel="rbf", solver=solver, maintenance=maintenance, budget=12)
    steps = run_and_compare(core, plain, iid(len(y), 450), 1e-5 if golden else 1e-9)
    assert steps >= 300


@pytest.mark.parametrize(
    ("kernel", "maintenance"),
    [
        ("laplacian", "project"),
        ("laplacian", "remove"),
        ("poly", "project"),
        ("poly", "remove"),
        ("linear", "project"),
        ("linear", "remove"),
        ("sigmoid", "remove"),  # not positive definite: projection has no meaning
    ],
)
@pytest.mark.parametrize("solver", SOLVERS)
def test_other_kernels_agree_with_the_reference(solver: str, kernel: str, maintenance: str) -> None:
    X, y = data("dense")
    core, plain = make_pair(X, y, kernel=kernel, solver=solver, maintenance=maintenance, budget=4)
    tolerance = 1e-6 if maintenance == "project" else 1e-9  # the ridge of unequal k(z, z)
    assert run_and_compare(core, plain, iid(len(y), 450), tolerance) >= 150


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_without_a_budget(solver: str, kernel: str, form: str) -> None:
    """SCA and kernel Pegasos: one term per training point at most."""
    X, y = data(form)
    core, plain = make_pair(X, y, kernel=kernel, solver=solver, maintenance="remove", budget=None)
    assert run_and_compare(core, plain, iid(len(y), 400)) >= 150
    assert core.terms.size <= len(y)
    np.testing.assert_allclose(
        core.coef, [plain.y[i] * core.alpha[i] for i in plain.owner], rtol=1e-9, atol=1e-12
    )


def test_comparison_notices_a_small_difference() -> None:
    """The comparison itself can fail: here because gamma is not quite the same."""
    X, y = data("dense")
    core, plain = make_pair(X, y, kernel="rbf", solver="bsca", maintenance="merge", budget=12)
    run_and_compare(core, plain, iid(len(y), 40))
    core.kernel = kernels.Gaussian(0.15 * (1 + 1e-4))
    with pytest.raises(AssertionError):
        run_and_compare(core, plain, iid(len(y), 5))


# ---- blocks ----


@pytest.mark.parametrize("maintenance", [*MAINTENANCE, None])
@pytest.mark.parametrize("solver", SOLVERS)
def test_block_length_does_not_matter(solver: str, maintenance: str | None) -> None:
    """The same visits, in one call or in many, with the same point twice in a block."""
    X, y = noisy_xor(120, 8)
    budget = None if maintenance is None else 12
    order = np.concatenate([np.random.default_rng(k).permutation(len(y)) for k in range(4)])
    assert len(np.unique(order[:300])) < 300  # points come more than once in a block
    results = []
    for length in (1, 2, 7, 300, len(order)):
        core, _ = make_pair(
            X, y, kernel="rbf", solver=solver, maintenance=maintenance or "remove", budget=budget
        )
        counts = np.sum(
            [core.visit(order[k : k + length]) for k in range(0, len(order), length)], axis=0
        )
        results.append((core.terms.size, core.decision(X), core.alpha, counts))
    for size, f, alpha, counts in results[1:]:
        assert size == results[0][0]
        # A projection's factor is kept in a block; golden section ends where it is sure of six digits.
        tolerance = {"project": 1e-6, "golden": 1e-5, "paper": 1e-5}.get(maintenance or "", 1e-9)
        np.testing.assert_allclose(f, results[0][1], rtol=0, atol=tolerance)
        np.testing.assert_allclose(alpha, results[0][2], rtol=0, atol=tolerance)
        np.testing.assert_array_equal(counts[:4], results[0][3][:4])
        np.testing.assert_allclose(counts[4:], results[0][3][4:], rtol=max(1e-6, tolerance))


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_point_visited_again_and_again(solver: str) -> None:
    """A block of one point: the later visits see what the earlier ones did."""
    X, y = blobs(5, 2, 0)
    for budget in (None, 1, 3):
        core, plain = make_pair(
            X,
            y,
            kernel="rbf",
            solver=solver,
            maintenance="merge" if budget else "remove",
            budget=budget,
        )
        core.visit([2] * 6)
        for _ in range(6):
            plain.visit(2)
        expected = reference.decision(plain.model, plain.kernel, X)
        np.testing.assert_allclose(core.decision(X), expected, rtol=1e-9)
        np.testing.assert_allclose(core.alpha, plain.alpha, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("maintenance", MAINTENANCE)
@pytest.mark.parametrize("budget", [1, 2, 3, 33])
def test_size_never_exceeds_the_budget(budget: int, maintenance: str, dtype: Any) -> None:
    X, y = moons(150, 2)
    core = CoreRun(
        X,
        y,
        np.ones(150),
        kernel=kernels.Gaussian(2.0),
        solver=BSCA(),
        maintenance=MAINTENANCE[maintenance][0],
        budget=budget,
        dtype=dtype,
    )
    sizes = []
    for i in iid(len(y), 150):
        core.visit(i)
        sizes.append(core.terms.size)
    assert max(sizes) == budget
    assert np.isfinite(core.coef).all()
    assert np.isfinite(core.terms.points()).all()


# ---- what is counted ----


def make_trainer(
    solver: Any, maintenance: Maintenance, budget: int | None, n: int = 200
) -> Trainer:
    X, y = moons(n, 3, noise=0.25)
    settings = Settings(kernels.Gaussian(1.5), solver, maintenance, budget)
    problem = Problem(Rows(X, np.float64, None), Targets.of_labels(y, 3.0 * weights(n, 2)))
    terms = TermStore(0 if budget is None else budget, 2, np.float64)
    return Trainer(settings, problem, terms, np.random.default_rng(11))


@pytest.mark.parametrize(
    ("maintenance", "order"),
    [
        ("golden", "permutation"),  # uniform: three terms on one point are a tie
        ("project", "permutation"),
        ("project", "uniform"),
        ("remove", "permutation"),
        ("remove", "uniform"),
    ],
)
@pytest.mark.parametrize("solver", [BSCA, BSGD])
def test_history_counts_what_happened(solver: Any, maintenance: str, order: Any) -> None:
    """The records of two epochs against the reference's count over the same visits."""
    ours, theirs = MAINTENANCE[maintenance]
    trainer = make_trainer(solver(order=order), ours, 15)
    with Progress("", 0, shown=False) as progress:
        trainer.run(2 * len(trainer.problem.outputs.y), progress)
    problem, n = trainer.problem, len(trainer.problem.outputs.y)
    plain_class = reference.BSGD if solver is BSGD else reference.BSCA
    plain = plain_class(
        reference.Kernel("rbf", 1.5),
        problem.rows.X,
        problem.outputs.y,
        problem.outputs.box,
        15,
        theirs,
    )
    rng = np.random.default_rng(11)
    assert len(trainer.history) == 2
    for record in trainer.history:
        margins, merges, steps, degradation = [], 0, 0, 0.0
        for i in solver(order=order).visiting_order(n, rng):
            margins.append(plain.margin(i))
            full = len(plain.model) == 15
            stepped = plain.visit(i)
            steps += stepped
            merges += stepped and full
            degradation += plain.degradation
        margin = np.array(margins)
        luck = np.sum(abs(margin - 1) < 1e-7)  # points seen again before the model has changed
        assert luck <= (5 if order == "uniform" else 0)
        assert record["visits"] == n
        assert abs(record["steps"] - steps) <= luck
        assert abs(record["violations"] - np.sum(margin < 1)) <= luck
        assert record["mistakes"] == np.sum(margin <= 0)
        assert abs(record["merges"] - merges) <= luck
        assert record["size"] == len(plain.model)
        assert record["degradation"] == pytest.approx(degradation, rel=1e-3)
        assert record["loss"] == pytest.approx(np.mean(np.maximum(0, 1 - margin)), rel=1e-3)
        assert record["seconds"] >= 0
    assert trainer.t == 2 * n


def test_steps_and_violations_are_different_counts() -> None:
    """BSCA steps without a violation (δ < 0) and violations without a step (α_i = C_i)."""
    trainer = make_trainer(BSCA(), Merge(), 30)
    with Progress("", 0, shown=False) as progress:
        trainer.run(4 * len(trainer.problem.outputs.y), progress)
    last = trainer.history[-1]
    assert last["steps"] != last["violations"]
    X, y = np.zeros((1, 2)), np.ones(1)
    core = CoreRun(
        X, y, [0.25], kernel=kernels.Gaussian(1.0), solver=BSCA(), maintenance=Merge(), budget=5
    )
    first, second = core.visit(0), core.visit(0)
    assert first[:4] == (1, 1, 1, 0)  # step, violation, mistake (f = 0), merge
    assert second[:4] == (0, 1, 0, 0)  # α = C already: a violation, no step
    core.terms.coef[0] = 3.0
    assert core.visit(0)[:4] == (1, 0, 0, 0)  # margin 3 > 1: a step back, no violation
    assert core.alpha[0] == 0


@pytest.mark.parametrize("order", ["permutation", "uniform"])
def test_visiting_order(order: Any) -> None:
    drawn = BSCA(order=order).visiting_order(500, np.random.default_rng(0))
    again = BSCA(order=order).visiting_order(500, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn, again)
    assert len(drawn) == 500
    distinct = len(np.unique(drawn))
    assert distinct == 500 if order == "permutation" else 250 < distinct < 375


def test_training_stops_when_an_epoch_changes_nothing() -> None:
    """One point per class, far apart: after the first epoch all is done."""
    X = np.array([[0.0], [100.0]])
    model = BudgetSVC(C=10, gamma=1.0, epochs=50, polish=False, random_state=0).fit(X, [0, 1])
    assert [record["steps"] for record in model.history_] == [2, 0]
    assert model.n_iter_ == 2


# ---- terms of coefficient zero ----


def test_terms_that_cancel_are_dropped_first() -> None:
    """A term of coefficient zero costs nothing to remove, whatever the strategy."""
    X = np.array([[0.0], [1.0], [2.0]])
    y = np.ones(3)
    for maintenance in ("merge", "same-sign", "golden", "merge-3", "project", "remove"):
        core = CoreRun(
            X,
            y,
            np.ones(3),
            kernel=kernels.Gaussian(1.0),
            solver=BSCA(),
            maintenance=MAINTENANCE[maintenance][0],
            budget=2,
        )
        core.visit([0, 1])
        core.terms.coef[0] = 0.0
        before = core.coef[1]
        *_, merges, degradation, _ = core.visit(2)
        assert (merges, degradation) == (1, pytest.approx(0, abs=1e-15))
        assert core.terms.size == 2
        assert before in core.coef


def test_weight_zero_terms_are_not_kept_by_the_estimator() -> None:
    """Without a budget α_i can return to 0; such terms are not support vectors."""
    X, y = moons(200, 1, noise=0.1)
    model = BudgetSVC(C=5, gamma=2.0, budget=None, epochs=30, random_state=0).fit(X, y)
    assert (model.dual_coef_ != 0).all()
    assert len(model.support_vectors_) < model.history_[-1]["size"]


def test_permutations_cover_all_orders_of_multimerge() -> None:
    """Folding is pairwise and in order of cost: another order gives another term."""
    rng = np.random.default_rng(1)
    members = [(b, rng.standard_normal(2)) for b in (0.1, 0.7, -0.5)]
    kernel = reference.Kernel("rbf", 0.5)
    folded = [
        reference.Merge(3).fold([members[0], *rest], kernel)[0]
        for rest in itertools.permutations(members[1:])
    ]
    assert abs(folded[0] - folded[1]) > 1e-6


# ---- the trial of learn_basis ----


@pytest.mark.parametrize("solver", ["bsca", "bsgd"])
def test_lost_shares_of_steps(solver: str) -> None:
    """Degradations as shares of what the step before inserted."""
    X, y = moons(60, 3, noise=0.25)
    core, _ = make_pair(X, y, kernel="rbf", solver=solver, maintenance="merge", budget=8)
    shares = []
    for i in iid(60, 150):
        alpha = core.alpha_stored[i]
        _, _, _, merges, degradation, _ = core.visit(i)
        inserted = core.alpha_stored[i] - alpha
        scale = core.t if solver == "bsgd" else 1.0
        expected = degradation * scale**2 / inserted**2 if merges else 0.0
        assert core.lost == pytest.approx(expected, rel=1e-9)
        assert 0 <= core.lost <= 1 + 1e-9
        shares.append(core.lost)
    assert np.count_nonzero(shares) > 20


def restarts(solver: Any, gamma: float, C: float, n_terms: int = 2) -> bool:
    """Whether the trial found that the budget is overwhelmed."""
    X, y = moons(2000, 3)
    settings = Settings(kernels.Gaussian(gamma), solver, Merge(n_terms=n_terms), 20)
    problem = Problem(Rows(X, np.float64, None), Targets.of_labels(y, np.full(2000, C)))
    trainer = Trainer(settings, problem, TermStore(21, 2, np.float64), np.random.default_rng(0))
    with Progress("", 0, shown=False) as progress:
        trainer.learn_basis(2000, progress)
    assert trainer.problem.outputs.box[0] in (C, pytest.approx(0.3))
    return trainer.problem is not problem


@pytest.mark.parametrize("C", [1.0, 32.0, 1000.0])
@pytest.mark.parametrize("solver", [BSCA(), BSGD()])
def test_the_trial_restarts_where_the_budget_is_overwhelmed(solver: Any, C: float) -> None:
    """Whatever the C and the solver: steps of BSGD are n C / t long, those of BSCA about 1."""
    assert not restarts(solver, 1.0, C)
    assert restarts(solver, 500.0, C)


def test_the_trial_with_multimerge() -> None:
    assert not restarts(BSGD(), 1.0, 32.0, n_terms=3)
    assert restarts(BSGD(), 500.0, 32.0, n_terms=3)
